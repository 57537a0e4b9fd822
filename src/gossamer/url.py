"""URLs: parsing, joining and comparing them as browsers do (WHATWG URL Standard, by ada).

A canonical URL is the WHATWG serialisation without fragment and without user info. Canonicalising twice changes
nothing. Nothing is folded by guess: no ``www.`` stripping, no sorting of queries, no decoding of reserved characters.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import ada_url
from publicsuffixlist import PSLFILE, PublicSuffixList

from gossamer.errors import UsageError

MAX_URL = 8192
"""Characters; a longer URL from the web is not taken (servers refuse them, and they are what traps are made of)."""

SHARDS = 4096

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_BAD_AUTHORITY = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:[/\\]*[^/\\?#]*:\d+@")
_TYPED_USER = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*:[/\\]+)?[^/\\?#]*@")
_SEGMENT = r"[\w~!$&'()*+,;=@%-][\w.~!$&'()*+,;=@%-]*"
_PLAIN_PATH = re.compile(rf"((?:\.\./)*)((?:{_SEGMENT}/)*(?:{_SEGMENT})?)(?:#.*)?", re.ASCII)
"""Segments of what stands in a path as it is, none of which begins with a dot, and a fragment, which is dropped."""

DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port: the unit of robots.txt, credentials and politeness (RFC 6454, RFC 9309)."""

    scheme: str
    hostname: str  # IPv6 addresses in brackets
    port: int

    def __str__(self) -> str:
        if DEFAULT_PORTS.get(self.scheme) == self.port:
            return f"{self.scheme}://{self.hostname}"
        return f"{self.scheme}://{self.hostname}:{self.port}"

    @property
    def host(self) -> str:
        """Hostname, and port where it is not the scheme's own."""
        return str(self).partition("://")[2]


def canonicalise(text: str, base: str | None = None) -> str | None:
    """``text`` as a canonical absolute http(s) URL, resolved against ``base``; None when it is no such URL.

    ``user:password@`` is dropped; ``host:port@evil`` is refused, not guessed.
    """
    try:
        parsed = ada_url.URL(text, base=base) if base is not None else ada_url.URL(text)
    except ValueError:
        return None
    href: str = parsed.href  # each attribute read costs microseconds, so one has to do
    if not href.startswith(("http://", "https://")):
        return None
    if "@" in href.split("/", 3)[2]:
        if _BAD_AUTHORITY.match(text.strip()):
            return None
        parsed.username = ""
        parsed.password = ""
        href = parsed.href
    href = href.partition("#")[0]
    return href if len(href) <= MAX_URL else None


def join(directory: str, href: str) -> str | None:
    """`canonicalise` for what most links are: a plain path below ``directory``, the base up to its last slash.

    ``../`` goes up; nothing in such a path has to be encoded, resolved or looked at twice (URL Standard 4.4, path
    state). None when ``href`` is anything else, or ``directory`` is no canonical http(s) URL.
    """
    plain = _PLAIN_PATH.fullmatch(href)
    if plain is None or not directory.startswith(("http://", "https://")):
        return None
    if "%" in href and "%2e" in href.lower():
        return None  # another spelling of a dot
    ups, path = plain[1], plain[2]
    if ups:
        start = directory.find("/", 8)  # the path of the base
        for _ in range(len(ups) // 3):
            above = directory.rfind("/", 0, len(directory) - 1)
            directory = directory[: max(above, start) + 1]
    url = directory + path
    return url if len(url) <= MAX_URL else None


def shown(text: str) -> str:
    """An address as a person typed it, fit to be repeated: without user and password, whatever else is wrong with it."""
    return _TYPED_USER.sub(r"\1", text.strip())


def typed(text: str) -> tuple[str, bool]:
    """The canonical URL a person means, and whether its scheme was guessed (https; http is to be tried after it).

    Raises UsageError for what is empty or no http(s) URL.
    """
    text = text.strip()
    if not text:
        raise UsageError("an empty address was given", hint="give an address such as https://example.org/")
    guessed = "://" not in text.split("?", 1)[0] and not text.lower().startswith(("http:", "https:"))
    if guessed and _SCHEME.match(text) and not _looks_like_host_and_port(text):
        raise UsageError(f"{shown(text)!r} has a scheme that is not fetched", hint="only http and https are")
    url = canonicalise(f"https://{text.lstrip('/')}" if guessed else text)
    if url is None:
        scheme = text.partition(":")[0].lower()
        if "://" in text and scheme not in ("http", "https"):
            raise UsageError(
                f"{shown(text)!r} has the scheme {scheme!r}, which is not fetched", hint="only http and https are"
            )
        is_user = "@" in text and shown(text) != text
        hint = "give credentials with --credential" if is_user else "give an address such as https://example.org/"
        raise UsageError(f"{shown(text)!r} is not a web address", hint=hint)
    return url, guessed


def _looks_like_host_and_port(text: str) -> bool:
    return re.match(r"[^:/?#@]+:\d{1,5}([/?#]|$)", text) is not None


@lru_cache(maxsize=8192)
def _origin_of_prefix(prefix: str) -> Origin:
    parsed = ada_url.URL(prefix)
    scheme = parsed.protocol.rstrip(":")
    return Origin(scheme, parsed.hostname, int(parsed.port) if parsed.port else DEFAULT_PORTS[scheme])


def origin(url: str) -> Origin:
    """The origin of a canonical http(s) URL."""
    end = url.find("/", url.index("://") + 3)
    return _origin_of_prefix(url if end < 0 else url[:end])


def path_and_query(url: str) -> str:
    """What stands after the host of a canonical URL; starts with a slash."""
    return url[url.index("/", url.index("://") + 3) :]


@lru_cache(maxsize=8192)
def registrable_domain(hostname: str) -> str:
    """The domain somebody registered (public suffix plus one label); the host itself where there is none (IPs)."""
    bare = hostname.rstrip(".")
    if bare.startswith("[") or bare.replace(".", "").isdigit():
        return hostname
    return _public_suffixes(_top(bare)).privatesuffix(bare) or bare or hostname


@cache
def _public_suffixes(top: str) -> PublicSuffixList:
    """The rules of one top-level domain: to parse all of them takes longer than everything else that a small command does."""
    rules = _suffix_rules().get(top, [])
    # names that are not ASCII in both spellings: the library would encode all the others as well
    encoded = [rule.encode("idna").decode("ascii") for rule in rules if not rule.isascii()]
    return PublicSuffixList([*rules, *encoded], accept_encoded_idn=False)


@cache
def _suffix_rules() -> dict[str, list[str]]:
    """The library's list, by top-level domain."""
    found: dict[str, list[str]] = {}
    for line in Path(PSLFILE).read_text(encoding="utf-8").splitlines():
        rule = line.partition(" ")[0]
        if rule and not rule.startswith("//"):
            found.setdefault(_top(rule), []).append(rule)
    return found


def _top(hostname: str) -> str:
    """The last label, in ASCII."""
    top = hostname.rpartition(".")[2]
    if top.isascii():
        return top.lower()
    try:
        return top.encode("idna").decode("ascii")
    except UnicodeError:
        return top


@lru_cache(maxsize=4096)
def is_public_suffix(hostname: str) -> bool:
    """Whether anybody may register names directly below it (``co.uk``, ``github.io``), with a dot at the end as well."""
    bare = hostname.rstrip(".")
    return bool(_public_suffixes(_top(bare)).publicsuffix(bare) == bare)


def shard(hostname: str) -> int:
    """Which of the 4096 shards a host belongs to: by registrable domain, the same on every machine."""
    digest = hashlib.blake2b(registrable_domain(hostname).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") % SHARDS


def fingerprint(url: str, secret: bytes) -> bytes:
    """64 bits of a keyed hash of a canonical URL, little endian.

    Keyed with the collection's secret: otherwise a site could be made whose URLs hide another's.
    """
    return hashlib.blake2b(url.encode("utf-8", "surrogatepass"), digest_size=8, key=secret).digest()


def weaken(fingerprint: bytes) -> bytes:
    """The key by which the URL-seen test knows a weak mention of the URL with this fingerprint; its own inverse.

    A weak link (nofollow, or a requisite) makes a URL known but does not get it fetched; a strong one to the same URL
    must still be noticed. So the weak mention of a URL is another key in the set of seen ones.
    """
    return (int.from_bytes(fingerprint, "little") ^ _WEAK).to_bytes(8, "little")


_WEAK = 0x9E3779B97F4A7C15
