"""One Set-Cookie header and the cookie it means: the rules of browsers (RFC 6265bis, section 5).

Stricter in three points. A cookie without a name is not taken (RFC 6265, section 5.2): nothing needs them, and attacks on
name prefixes are made of them. An empty Domain attribute is ignored, as in RFC 6265, section 5.2.3. And a cookie goes back
to the port that it came from: "cookies do not provide isolation by port" (RFC 6265, section 8.5) is what others regret.
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

from gossamer import url as urls
from gossamer.url import DEFAULT_PORTS, Origin

MAX_SIZE = 4096
"""Octets of name and value together (RFC 6265bis, section 5.6)."""

MAX_AGE = 400 * 86400.0
"""Seconds; what is to be kept longer is kept so long (RFC 6265bis, section 5.5)."""

_MAX_ATTRIBUTE = 1024
_FORBIDDEN = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_SECONDS = re.compile(r"-?[0-9]+")
_ADDRESS = re.compile(r"\[.*\]|[0-9.]+")  # of a canonical URL: IPv6, or IPv4 in its one notation

# RFC 6265bis, section 5.1.1
_DELIMITERS = re.compile(r"[\t\x20-/;-@\[-`{-~]+")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{1,2}):([0-9]{1,2})(?![0-9])")
_DAY = re.compile(r"([0-9]{1,2})(?![0-9])")
_YEAR = re.compile(r"([0-9]{2,4})(?![0-9])")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


Key = tuple[str, str, str, int | None]


@dataclass(frozen=True, slots=True)
class Cookie:
    """What a server wants to be told again. Its value never shows in a repr: it may be all that a session needs."""

    name: str  # as all text of headers, Latin-1
    value: str = field(repr=False)
    domain: str  # a host, without a dot in front
    host_only: bool  # not for hosts below the domain
    path: str
    secure: bool = False
    http_only: bool = False
    expires: float | None = None  # None: with the session
    port: int | None = None  # that it is for; 0: the schemes' own; None: any, for files of cookies know no ports

    @property
    def key(self) -> Key:
        """What makes it the same cookie as another (RFC 6265bis, section 5.7)."""
        return self.domain, self.path, self.name, self.port

    def is_expired(self, now: float) -> bool:
        """Whether its time is over."""
        return self.expires is not None and self.expires <= now


@dataclass(slots=True)
class _Attributes:
    """Those of a cookie that we know, the last of each kind."""

    expires: float | None = None
    max_age: float | None = None
    domain: str = ""
    path: str = ""
    secure: bool = False
    http_only: bool = False


def parse(header: str, url: str, now: float) -> Cookie | None:
    """The cookie that the value of a Set-Cookie header sets, which ``url`` answered with; None where it may not."""
    if _FORBIDDEN.search(header):
        return None
    pair, _, rest = header.partition(";")
    name, has_name, value = (part.strip(" \t") for part in pair.partition("="))
    if not has_name or not name or len(name) + len(value) > MAX_SIZE:
        return None
    origin = urls.origin(url)
    said = _attributes(rest)
    domain = _domain(said.domain, origin.hostname)
    if domain is None or (said.secure and origin.scheme != "https"):
        return None
    cookie = Cookie(
        name,
        value,
        domain or origin.hostname,
        not domain,
        said.path or default_path(url),
        said.secure,
        said.http_only,
        _expiry(said, now),
        port_of(origin),
    )
    return cookie if _keeps_promise(cookie, said.domain) else None


def _attributes(text: str) -> _Attributes:
    said = _Attributes()
    for part in text.split(";"):
        name, _, value = (piece.strip(" \t") for piece in part.partition("="))
        if len(value) <= _MAX_ATTRIBUTE:
            _note(said, name.lower(), value)
    return said


def _note(said: _Attributes, name: str, value: str) -> None:
    if name == "expires":
        date = cookie_date(value)
        said.expires = said.expires if date is None else date
    elif name == "max-age" and _SECONDS.fullmatch(value):
        said.max_age = float(value)
    elif name == "domain" and value:
        said.domain = value.removeprefix(".").lower()
    elif name == "path":
        said.path = value if value.startswith("/") else ""
    elif name == "secure":
        said.secure = True
    elif name == "httponly":
        said.http_only = True


def _expiry(said: _Attributes, now: float) -> float | None:
    if said.max_age is not None:
        return now + min(said.max_age, MAX_AGE) if said.max_age > 0 else 0.0
    return None if said.expires is None else min(said.expires, now + MAX_AGE)


def _domain(said: str, host: str) -> str | None:
    """The domain a cookie is for; empty: the host alone; None: it is not the host's to set."""
    if not said or (said == host and (_ADDRESS.fullmatch(host) or urls.is_public_suffix(host))):
        return ""
    if urls.is_public_suffix(said) or not is_within(host, said):
        return None
    return said


def is_within(host: str, domain: str) -> bool:
    """Whether a cookie of ``domain`` is for ``host`` as well (RFC 6265bis, section 5.1.3)."""
    return host == domain or (host.endswith("." + domain) and not _ADDRESS.fullmatch(host))


def _keeps_promise(cookie: Cookie, domain: str) -> bool:
    """What the prefix of a name promises must be so (RFC 6265bis, section 4.1.3)."""
    name = cookie.name.lower()
    if name.startswith("__host-"):
        return cookie.secure and cookie.path == "/" and not domain
    return cookie.secure or not name.startswith("__secure-")


def port_of(origin: Origin) -> int:
    """The port that a cookie of an origin is for: 80 and 443 are one, as a site is that is reached by both."""
    return 0 if origin.port == DEFAULT_PORTS[origin.scheme] else origin.port


def path_of(url: str) -> str:
    """The path of a canonical URL, without its query."""
    return urls.path_and_query(url).partition("?")[0]


def default_path(url: str) -> str:
    """The path of a cookie that names none: the folder of the URL (RFC 6265bis, section 5.1.4)."""
    return path_of(url).rpartition("/")[0] or "/"


def cookie_date(text: str) -> float | None:
    """Seconds since 1970 of a date as servers write them, in any order; None for none (RFC 6265bis, section 5.1.1)."""
    time = day = month = year = None
    for token in _DELIMITERS.split(text):
        if time is None and (found := _TIME.match(token)):
            time = int(found[1]), int(found[2]), int(found[3])
        elif day is None and (found := _DAY.match(token)):
            day = int(found[1])
        elif month is None and token[:3].lower() in _MONTHS:
            month = _MONTHS.index(token[:3].lower()) + 1
        elif year is None and (found := _YEAR.match(token)):
            year = int(found[1])
    if time is None or day is None or month is None or year is None:
        return None
    year += 1900 if 70 <= year <= 99 else 2000 if year < 70 else 0
    try:
        date = datetime(year, month, day, *time, tzinfo=UTC)
    except ValueError:  # 30 February, 25:00
        return None
    return date.timestamp() if year >= 1601 else None
