"""What the settings look like that say who we are: credentials, certificates of ours, proxies.

Each is bound to where it may be sent. What is secret shows in no repr, and no message repeats it.
"""

import re
import shlex
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from gossamer import url as urls
from gossamer.url import Origin

_SCHEMES = ("basic", "digest", "bearer")
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # RFC 6750, section 2.1
_DIGEST_USER = re.compile(r'[^"\\\x00-\x1f\x7f-\U0010ffff]*')  # it is sent within quotes
_PROXIES = {"http": 8080, "https": 443, "socks5": 1080, "socks5h": 1080}


@dataclass(frozen=True, slots=True)
class Credential:
    """How one origin knows us."""

    origin: Origin
    scheme: str  # "basic", "digest" or "bearer"
    user: str = field(default="", repr=False)
    secret: str = field(default="", repr=False)  # the password, or the token


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate of ours that one origin is shown: files in PEM format."""

    origin: Origin
    file: str
    key: str


@dataclass(frozen=True, slots=True)
class Proxy:
    """Whom all requests go through."""

    scheme: str  # "http", "https", "socks5" or "socks5h"
    host: str
    port: int
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"


def credential(text: str) -> Credential:
    """What ``ORIGIN basic|digest USER:PASSWORD`` or ``ORIGIN bearer TOKEN`` says. Raises ValueError."""
    where, scheme, secret = _words(text, 3)
    scheme = scheme.lower()
    if scheme not in _SCHEMES:
        raise ValueError(scheme)
    if scheme == "bearer":
        if not _TOKEN.fullmatch(secret):
            raise ValueError(scheme)
        return Credential(_origin(where), scheme, secret=secret)
    user, has_password, password = secret.partition(":")  # RFC 7617, section 2: no colon in a user's name
    if not has_password or (scheme == "digest" and not _DIGEST_USER.fullmatch(user)):
        raise ValueError(scheme)
    return Credential(_origin(where), scheme, user, password)


def certificate(text: str) -> Certificate:
    """What ``ORIGIN FILE [KEYFILE]`` says; names with spaces stand in quotes. Raises ValueError."""
    where, file, *key = shlex.split(text)
    if len(key) > 1:
        raise ValueError(text)
    origin = _origin(where)
    if origin.scheme != "https":
        raise ValueError(text)
    return Certificate(origin, file, key[0] if key else file)


def proxy(text: str) -> Proxy:
    """What ``SCHEME://[USER:PASSWORD@]HOST[:PORT]`` says. Raises ValueError."""
    parts = urlsplit(text)
    if parts.scheme not in _PROXIES or not parts.hostname or parts.path not in ("", "/") or parts.query:
        raise ValueError(parts.scheme)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = parts.port if parts.port is not None else _PROXIES[parts.scheme]
    return Proxy(parts.scheme, host, port, unquote(parts.username or ""), unquote(parts.password or ""))


def typed_credential(address: str) -> str:
    """The ``credential`` that ``http://user:password@host/``, as a person typed it, means; "" where there is none."""
    scheme, is_url, rest = address.strip().partition("://")
    user_info, has_user, host = re.split(r"[/?#\\]", rest, maxsplit=1)[0].rpartition("@")
    url = urls.canonicalise(f"{scheme}://{host}/") if is_url and has_user else None
    if url is None:
        return ""
    user, _, password = (unquote(part) for part in user_info.partition(":"))
    return f"{urls.origin(url)} basic {user}:{password}"


def _words(text: str, count: int) -> list[str]:
    words = text.split(None, count - 1)
    if len(words) != count:
        raise ValueError("too few words")
    return words


def _origin(text: str) -> Origin:
    """An origin as a person writes it: ``https://host``, with a port or a slash at its end."""
    url = urls.canonicalise(text)
    if url is None or "@" in text or urls.path_and_query(url) != "/":
        raise ValueError(text)
    return urls.origin(url)
