"""The heads of requests and answers: what is sent, and what came back, as bytes and as headers (RFC 9110, RFC 9112)."""

import re
from dataclasses import dataclass
from functools import lru_cache

from gossamer.errors import UsageError
from gossamer.records import Headers

DEFAULT_HEADERS: Headers = (
    ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8"),
    ("Accept-Encoding", "gzip, deflate"),
)
"""Beside User-Agent. ``br`` and ``zstd`` are not asked for because few WARC readers know them; they are undone if sent."""

_URL = re.compile(
    r"(https?)://((?:\[[0-9a-f:.]+\]|[^\x00-\x20\x7f-\U0010ffff/?#@:\[\]]+)(?::([0-9]{1,5}))?)(/[!-\"$-~]*)"
)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, section 5.6.2
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")  # RFC 9110, section 5.5; CR, LF and NUL are what attacks are made of
_OURS = frozenset({"host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect"})
_STATUS = re.compile(rb"HTTP/[0-9](?:\.[0-9])? ([0-9]{3})(?=[ \r\n])")
_SWITCHING_PROTOCOLS = 101
_EMPTY_LINES = (b"\r\n", b"\n")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a request goes and what it asks for there."""

    scheme: str
    authority: str  # host and port as they stand in the URL
    port: int
    target: str  # path and query, to be sent as they are


@dataclass(frozen=True, slots=True)
class RequestHeaders:
    """The headers of a request but for Host: as libcurl takes them and as they look on the wire."""

    lines: list[bytes]
    block: bytes

    def closing(self) -> "RequestHeaders":
        """The same, and the server is to close the connection after its answer."""
        line = b"Connection: close"
        return RequestHeaders([*self.lines, line], self.block + line + b"\r\n")


def place(url: str) -> Place:
    """The parts of a canonical URL. UsageError for what is none: nothing but printable ASCII reaches the wire."""
    match = _URL.fullmatch(url)
    if match is None:
        raise UsageError(f"{url!r} is not a canonical http(s) URL", hint="canonicalise it first")
    scheme, authority, port, target = match.groups()
    return Place(scheme, authority, int(port) if port else (443 if scheme == "https" else 80), target)


@lru_cache(maxsize=256)
def request_headers(user_agent: str, extra: Headers) -> RequestHeaders:
    """Our headers with ``extra`` added; those of the same name replace ours.

    UsageError for names and values that are not allowed, and for headers that frame the message.
    """
    for name, value in extra:
        _check_header(name, value)
    _check_header("User-Agent", user_agent)
    named = {name.lower() for name, _ in extra}
    ours = (("User-Agent", user_agent), *DEFAULT_HEADERS)
    headers = [*(header for header in ours if header[0].lower() not in named), *extra]
    pairs = [(name.encode("ascii"), value.strip(" \t").encode("latin-1")) for name, value in headers]
    return RequestHeaders(
        lines=[name + b": " + value if value else name + b";" for name, value in pairs],  # "Name;": sent without value
        block=b"".join(name + (b": " + value if value else b":") + b"\r\n" for name, value in pairs),
    )


def _check_header(name: str, value: str) -> None:
    if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
        raise UsageError(f"the header {name!r} has characters that are not allowed", hint="write 'Name: value'")
    if name.lower() in _OURS:
        raise UsageError(f"the header {name!r} can't be set", hint="it belongs to the connection, not to the request")


def render_request(place: Place, headers: RequestHeaders, version: bytes) -> bytes:
    """The request as it went over the wire; ``version`` is "HTTP/1.1" for HTTP/2 too, which archives can't hold."""
    line = f"GET {place.target} ".encode("ascii") + version
    return line + b"\r\nHost: " + place.authority.encode("ascii") + b"\r\n" + headers.block + b"\r\n"


def status_of(line: bytes) -> int | None:
    """The status code of a status line; None when it has none."""
    match = _STATUS.match(line)
    return int(match[1]) if match else None


def final_head(lines: list[bytes]) -> list[bytes] | None:
    """Of all header lines that came: the status line and headers of the answer itself, and its empty line.

    Interim answers (1xx) before it and trailers after it are left out. None when it did not come whole. 101 is an
    answer: we never ask for another protocol, so nothing in HTTP can follow it.
    """
    start = 0
    while (end := _end_of_head(lines, start)) is not None:
        status = status_of(lines[start])
        if status is None or status >= 200 or status == _SWITCHING_PROTOCOLS:
            return lines[start:end]
        start = end
    return None


def _end_of_head(lines: list[bytes], start: int) -> int | None:
    for number in range(start, len(lines)):
        if lines[number] in _EMPTY_LINES:
            return number + 1
    return None


def has_one_length(headers: Headers) -> bool:
    """Whether all that is said of the length of a body is the same text (Fetch Standard, "extract a length").

    Of two lengths one is a lie, and who believes the other one takes a part of the body for the next answer.
    """
    names = {name for name, _ in headers}
    if "transfer-encoding" in names:  # RFC 9112, section 6.3: it overrides the length
        return True
    values = (value for name, value in headers if name == "content-length")
    return len({part.strip(" \t") for value in values for part in value.split(",")}) <= 1


def parse_headers(head: bytes) -> Headers:
    """The headers of a head as pairs: names lower-cased, values Latin-1, in order."""
    lines = [line.partition(":") for line in head.decode("latin-1").split("\n")[1:-2]]
    return tuple([(name.rstrip(" \t").lower(), value.strip(" \t\r")) for name, _, value in lines])
