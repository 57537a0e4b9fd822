"""What a fake site answers: pages, and the handlers that make them on demand."""

import math
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

Headers = tuple[tuple[str, str], ...]

FOREVER = math.inf
"""As a delay: the answer never begins."""


class Framing(StrEnum):
    """How the client learns where the body ends (RFC 9112, section 6.3)."""

    LENGTH = "length"
    CHUNKED = "chunked"
    CLOSE = "close"


class Ending(StrEnum):
    """What happens to the connection after the last byte."""

    KEEP = "keep"
    CLOSE = "close"
    RESET = "reset"  # RST: the client sees "connection reset by peer"
    HANG = "hang"  # nothing more comes, and it stays open


@dataclass(frozen=True, slots=True)
class Page:
    """One answer. ``body`` is what it says; the codings in ``coding`` are put on it when it is sent."""

    body: bytes = b""
    status: int = 200
    content_type: str | None = "text/html; charset=utf-8"
    headers: Headers = ()
    coding: str = ""  # "gzip", "deflate", "raw-deflate", "br", "zstd", "identity"; several: "gzip, br" in that order
    framing: Framing = Framing.LENGTH
    trailers: Headers = ()  # of a chunked body
    delay: float = 0.0  # seconds before the first byte
    piece: int = 65536  # bytes sent at once
    drip: float = 0.0  # seconds between two pieces
    length: int | None = None  # what Content-Length says, when it lies
    cut: int | None = None  # bytes of the coded body that are sent, when not all are
    endless: bool = False  # the body is repeated until the client has gone
    before: bytes = b""  # sent before the status line: 1xx answers, stray bytes
    raw: bytes | None = None  # sent instead of an HTTP answer
    ending: Ending = Ending.KEEP

    @property
    def is_broken(self) -> bool:
        """True when no client can get the whole of it."""
        lies = self.length is not None or self.cut is not None or self.raw is not None
        return lies or self.endless or self.ending in (Ending.RESET, Ending.HANG) or self.delay == FOREVER


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the server read it."""

    method: str
    path: str  # the request target: with query
    host: str  # the Host header
    headers: Headers  # names lower-cased
    nth: int  # how often this path was asked for before
    at: float  # seconds since 1970

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key == name), "")

    def accepts(self, coding: str) -> bool:
        """True when Accept-Encoding lists ``coding``."""
        return coding in [part.partition(";")[0].strip() for part in self.header("accept-encoding").split(",")]


Handler = Callable[[Asked], Page]

NOT_FOUND = Page(b"<title>Not Found</title>nothing here", status=404)


def _not_found(_: Asked) -> Page:
    return NOT_FOUND


@dataclass(slots=True)
class Site:
    """One host of the fake web. ``pages`` may be changed while it is served.

    Sites with a ``name`` and the same ``address`` share one port and are told apart by the Host header; every other
    site has a port of its own.
    """

    pages: dict[str, Page | Handler] = field(default_factory=dict)  # request target (path with query) -> answer
    fallback: Handler = _not_found  # for all other targets
    name: str = ""
    address: str = "127.0.0.1"
    port: int = 0  # 0: any free one
    greeting: bytes | None = None  # sent to whoever connects, before the hang-up: not HTTP at all
    tls: ssl.SSLContext | None = None

    def answer(self, asked: Asked) -> Page:
        """What is sent for a request."""
        page = self.pages.get(asked.path, self.fallback)
        return page if isinstance(page, Page) else page(asked)
