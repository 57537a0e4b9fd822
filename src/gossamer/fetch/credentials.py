"""Credentials: what one origin is told so that it knows us (RFC 7617 basic, RFC 7616 digest, RFC 6750 bearer).

Digest needs the server's challenge first. It is answered here and not by libcurl, which would send two requests at once
where politeness asks for a pause, would hide the first answer from the archive, and keeps what it learnt by handle.
"""

import hashlib
import re
import secrets
from base64 import b64encode
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.request import parse_http_list

from gossamer import url as urls
from gossamer.records import Exchange
from gossamer.settings_secrets import Credential
from gossamer.url import Origin

UNAUTHORIZED = 401

_HASHES = {
    name: by
    for name, by in {"MD5": "md5", "SHA-256": "sha256", "SHA-512-256": "sha512_256"}.items()
    if by in hashlib.algorithms_available
}
_DIGEST = re.compile(r"(?:^|,)[ \t]*Digest[ \t]+", re.IGNORECASE)
_MAX_CHALLENGE = 4096
_NO_QUOTES = re.compile(r'[^"\\\x00-\x1f\x7f]*')


@dataclass(slots=True)
class _Challenge:
    """What a server said of the digest it wants, and how often it was answered."""

    realm: str
    nonce: str
    opaque: str
    algorithm: str  # as the server wrote it, "MD5-sess"
    has_qop: bool
    hides_user: bool
    is_stale: bool
    count: int = 0


class Credentials:
    """The credentials of a crawl, by origin."""

    def __init__(self, credentials: Iterable[Credential] = ()) -> None:
        self._credentials = {credential.origin: credential for credential in credentials}
        self._challenges: dict[Origin, _Challenge] = {}

    def __bool__(self) -> bool:
        return bool(self._credentials)

    def authorization(self, url: str) -> str:
        """The Authorization header for a request; "" where there is none, or a digest can't be made yet."""
        origin = urls.origin(url)
        credential = self._credentials.get(origin)
        if credential is None:
            return ""
        if credential.scheme == "bearer":
            return f"Bearer {credential.secret}"
        if credential.scheme == "basic":
            return "Basic " + b64encode(f"{credential.user}:{credential.secret}".encode()).decode("ascii")
        challenge = self._challenges.get(origin)
        return _digest(credential, challenge, urls.path_and_query(url)) if challenge else ""

    def challenge(self, url: str) -> str:
        """The challenge that a digest for ``url`` would answer now; "" before there is one."""
        challenge = self._challenges.get(urls.origin(url))
        return challenge.nonce if challenge else ""

    def learn(self, answer: Exchange, *, was_told: bool) -> None:
        """Keep the challenge of a refusal, but for one that says that we are wrong: it would be answered for ever."""
        origin = urls.origin(answer.url)
        credential = self._credentials.get(origin)
        if answer.status != UNAUTHORIZED or credential is None or credential.scheme != "digest":
            return
        challenge = _challenge(answer)
        if challenge is not None and (challenge.is_stale or not was_told):
            self._challenges[origin] = challenge


def _challenge(answer: Exchange) -> _Challenge | None:
    """The first digest challenge that we can answer: the server's order is its preference (RFC 7616, section 3.7)."""
    for name, value in answer.headers:
        if name == "www-authenticate" and len(value) <= _MAX_CHALLENGE:
            for said in _DIGEST.split(value)[1:]:
                challenge = _understood(said)
                if challenge is not None:
                    return challenge
    return None


def _understood(said: str) -> _Challenge | None:
    pairs = (part.partition("=") for part in parse_http_list(said))
    parameters = {name.strip().lower(): value.strip().removeprefix('"').removesuffix('"') for name, _, value in pairs}
    challenge = _Challenge(
        realm=parameters.get("realm", ""),
        nonce=parameters.get("nonce", ""),
        opaque=parameters.get("opaque", ""),
        algorithm=parameters.get("algorithm", "MD5"),
        has_qop="qop" in parameters,
        hides_user=parameters.get("userhash", "").lower() == "true",
        is_stale=parameters.get("stale", "").lower() == "true",
    )
    quoted = challenge.realm + challenge.nonce + challenge.opaque
    offers = [offer.strip().lower() for offer in parameters.get("qop", "auth").split(",")]
    is_known = challenge.algorithm.upper().removesuffix("-SESS") in _HASHES and "auth" in offers
    return challenge if is_known and challenge.nonce and _NO_QUOTES.fullmatch(quoted) else None


def _digest(credential: Credential, challenge: _Challenge, uri: str) -> str:
    """The answer to a challenge (RFC 7616, section 3.4) for a GET of ``uri``."""
    challenge.count += 1
    count, client_nonce = f"{challenge.count:08x}", secrets.token_hex(8)
    name = challenge.algorithm.upper()
    hashed = _hash(name.removesuffix("-SESS"))
    realm = _as_text(challenge.realm)
    key = hashed(f"{credential.user}:{realm}:{credential.secret}")
    if name.endswith("-SESS"):
        key = hashed(f"{key}:{challenge.nonce}:{client_nonce}")
    middle = f"{count}:{client_nonce}:auth:" if challenge.has_qop else ""
    response = hashed(f"{key}:{challenge.nonce}:{middle}{hashed(f'GET:{uri}')}")
    user = hashed(f"{credential.user}:{realm}") if challenge.hides_user else credential.user
    parts = [
        f'username="{user}"',
        f'realm="{challenge.realm}"',
        f'nonce="{challenge.nonce}"',
        f'uri="{uri}"',
        f"algorithm={challenge.algorithm}",
        f'response="{response}"',
        *(["userhash=true"] if challenge.hides_user else []),
        *([f'opaque="{challenge.opaque}"'] if challenge.opaque else []),
        *([f"qop=auth, nc={count}", f'cnonce="{client_nonce}"'] if challenge.has_qop else []),
    ]
    return "Digest " + ", ".join(parts)


def _as_text(value: str) -> str:
    """Header values are read as Latin-1; what was UTF-8 is to be hashed as the bytes that came."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value


def _hash(name: str) -> Callable[[str], str]:
    def hashed(text: str) -> str:
        return hashlib.new(_HASHES[name], text.encode(), usedforsecurity=False).hexdigest()

    return hashed
