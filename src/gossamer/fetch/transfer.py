"""One libcurl handle, used for one transfer after the other: what is asked for, what came, and what it amounts to."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pycurl

from gossamer.fetch.heads import (
    Place,
    RequestHeaders,
    final_head,
    has_one_length,
    parse_headers,
    render_request,
    status_of,
)
from gossamer.fetch.proxy import PROXY_AUTHENTICATION_REQUIRED, failure_of
from gossamer.fetch.rate import RateLimit
from gossamer.fetch.reasons import kind_of
from gossamer.fetch.room import FREE, Room
from gossamer.fetch.tls_reasons import words
from gossamer.records import Exchange, Failure, FailureKind, Request
from gossamer.settings_secrets import Proxy

MAX_DETAIL = 300
_PROTOCOLS = {1: "http/1.0", 2: "http/1.1", 3: "h2"}  # of CURLINFO_HTTP_VERSION


@dataclass(frozen=True, slots=True)
class Road:
    """What all transfers of a transport have in common beside libcurl's options."""

    proxy: Proxy | None = None
    limit: RateLimit | None = None
    room: Room | None = None


@dataclass(frozen=True, slots=True)
class Connection:
    """What a transfer went over."""

    number: int  # of libcurl
    is_new: bool
    protocol: str  # of the answer; "" when none came


class Transfer:
    """A handle with its buffers. ``begin``, then libcurl calls back, then ``outcome``, then ``end``; again and again.

    Handles cost more to make than to reuse, and options are set only where they differ from the last transfer's.
    No callback raises (an exception would print a traceback from C); they abort by returning 0.
    """

    __slots__ = (
        "_body",
        "_headers",
        "_is_sent",
        "_lines",
        "_on_sent",
        "_options",
        "_over",
        "_place",
        "_request",
        "_road",
        "_started_at",
        "_waited",
        "_waits_since",
        "curl",
    )

    def __init__(self, options: Mapping[int, Any], road: Road) -> None:
        self.curl = pycurl.Curl()
        self._road = road
        for option, value in options.items():
            self.curl.setopt(option, value)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._on_limited_body if road.limit else self._on_body)
        self._options: dict[int, Any] = {}
        self._lines: list[bytes] = []
        self._body = bytearray()
        self._on_sent: Callable[[], None] | None = None
        self._is_sent = False
        self._waited = 0.0  # for room, seconds
        self._waits_since: float | None = None
        self.curl.setopt(pycurl.PREREQFUNCTION, self._on_ready)
        # libcurl ends a transfer at 300 KiB of header lines (5,000 of them), interim ones and trailers included.
        self.curl.setopt(pycurl.HEADERFUNCTION, self._lines.append)

    def begin(
        self,
        request: Request,
        place: Place,
        headers: RequestHeaders,
        started_at: float,
        on_sent: Callable[[], None] | None = None,
        *,
        is_fresh: bool = False,
        by_close: bool = False,
    ) -> None:
        """Prepare the handle for ``request``. ``on_sent`` is called when it is about to go over the wire.

        ``is_fresh``: over no connection that was used before. ``by_close``: the body ends with the connection, whatever
        length is said.
        """
        self._lines.clear()
        self._body = bytearray()
        self._option(pycurl.FRESH_CONNECT, int(is_fresh))
        self._option(pycurl.IGNORE_CONTENT_LENGTH, int(by_close))
        self._request = request
        self._place = place
        self._headers = headers
        self._started_at = started_at
        self._over = False
        # The target is given apart: in a URL libcurl would turn %2e into %2E.
        self._option(pycurl.URL, f"{place.scheme}://{place.authority}/")
        self._option(pycurl.REQUEST_TARGET, self._target(place))
        if self._road.proxy is None:
            # Every name is connected to the checked address, whatever its spelling; nothing is ever looked up.
            ip = f"[{request.address.ip}]" if ":" in request.address.ip else request.address.ip
            self._option(pycurl.CONNECT_TO, [f"::{ip}:{place.port}"])
        # Rather one more stream on an HTTP/2 connection than one more connection. Not over plain HTTP, where libcurl would
        # wait for the first answer to learn that there are no streams.
        self._option(pycurl.PIPEWAIT, int(place.scheme == "https"))
        self._set_time()
        self._option(pycurl.CONNECTTIMEOUT_MS, max(1, int(request.connect_timeout * 1000)))
        self._option(pycurl.HTTPHEADER, headers.lines)
        self._on_sent = on_sent
        self._is_sent = False

    def _target(self, place: Place) -> str:
        """An HTTP proxy that makes no tunnel is told the whole URL (RFC 9112, section 3.2.2)."""
        proxy = self._road.proxy
        is_whole = proxy is not None and proxy.scheme in ("http", "https") and place.scheme == "http"
        return f"http://{place.authority}{place.target}" if is_whole else place.target

    def _option(self, option: int, value: Any) -> None:
        if self._options.get(option) != value:
            self._options[option] = value
            self.curl.setopt(option, value)

    def _on_ready(self, *_: object) -> int:
        """The connection stands, and the request is sent at once; but not twice.

        libcurl would ask again without a pause when a connection that was used before is closed without an answer.
        """
        if self._is_sent:
            return int(pycurl.PREREQFUNC_ABORT)
        self._is_sent = True
        if self._on_sent is not None:
            self._on_sent()
        return int(pycurl.PREREQFUNC_OK)

    def _on_body(self, data: bytes) -> int | None:
        return self._add(data) if self._has_room(len(data)) else int(pycurl.WRITEFUNC_PAUSE)

    def _add(self, data: bytes) -> int | None:
        room = self._request.max_body - len(self._body)
        if len(data) > room:
            self._body += data[:room]
            self._over = True
            return 0
        self._body += data
        return None

    def _on_limited_body(self, data: bytes) -> int | None:
        limit = self._road.limit
        if not self._has_room(len(data)) or (limit is not None and not limit.admits(self, len(data), self._resume)):
            return int(pycurl.WRITEFUNC_PAUSE)  # the same piece comes again
        return self._add(data)

    def _resume(self) -> None:
        self.curl.pause(pycurl.PAUSE_CONT)

    def _has_room(self, more: int) -> bool:
        """Whether there is memory for more of the body; while there is none, the time for the whole stands still."""
        size = min(len(self._body) + more, self._request.max_body)
        if size <= FREE or self._road.room is None or self._road.room.admits(self, size, self._on_room):
            return True
        if self._waits_since is None:
            loop = asyncio.get_running_loop()
            self._waits_since = loop.time()
            loop.call_soon(self._set_time)  # not within a callback of libcurl
        return False

    def _on_room(self) -> None:
        if self._waits_since is not None:
            self._waited += asyncio.get_running_loop().time() - self._waits_since
            self._waits_since = None
            self._set_time()
        self._resume()

    def _set_time(self) -> None:
        """libcurl counts from the start of the transfer; 0 is no limit."""
        limit = self._request.timeout + self._waited
        self._option(pycurl.TIMEOUT_MS, 0 if self._waits_since is not None else max(1, int(limit * 1000)))

    @property
    def is_answered(self) -> bool:
        """Whether the server has begun to answer."""
        return bool(self._lines)

    @property
    def sent_after(self) -> float:
        """While the transfer runs: seconds from its start until the request was sent; 0: not yet."""
        return float(self.curl.getinfo(pycurl.PRETRANSFER_TIME))

    def connection(self) -> Connection:
        """What the transfer that ended went over."""
        getinfo = self.curl.getinfo
        protocol = _PROTOCOLS.get(getinfo(pycurl.INFO_HTTP_VERSION), "")
        return Connection(getinfo(pycurl.CONN_ID), getinfo(pycurl.NUM_CONNECTS) > 0, protocol)

    def outcome(self, code: int, text: str, protocol: str, *, sent_as_1_0: bool, now: float) -> Exchange | Failure:
        """What the transfer amounts to, after libcurl ended it with ``code`` (0: well).

        Times are counted back from ``now``, its end: libcurl's own clock starts some time after `begin`, and a time
        that is too early would let the next request go out too early.
        """
        lines = final_head(self._lines)
        status = status_of(lines[0]) if lines else None
        if lines is None or status is None:
            return self.failure(code, text, now)
        if status == PROXY_AUTHENTICATION_REQUIRED and self._road.proxy is not None:
            return Failure(FailureKind.PROXY, "the proxy answered 407", now)
        if protocol == "h2":  # archives have no form for HTTP/2: request and answer are shown as HTTP/1.1
            lines[0] = lines[0].replace(b"HTTP/2", b"HTTP/1.1", 1)
        head = b"".join(lines)
        received = parse_headers(head)
        if not has_one_length(received):
            return Failure(FailureKind.NOT_HTTP, "Content-Length says two different things", now)
        getinfo = self.curl.getinfo
        return Exchange(
            url=self._request.url,
            request_head=render_request(self._place, self._headers, b"HTTP/1.0" if sent_as_1_0 else b"HTTP/1.1"),
            response_head=head,
            body=bytes(self._body),
            status=status,
            headers=received,
            address=getinfo(pycurl.PRIMARY_IP) if self._road.proxy is None else "",
            protocol=protocol,
            started_at=self._started_at,
            answered_at=max(self._started_at, now - getinfo(pycurl.TOTAL_TIME) + getinfo(pycurl.STARTTRANSFER_TIME)),
            ended_at=now,
            truncated=self._truncated(code),
        )

    def _truncated(self, code: int) -> str:
        if code == pycurl.E_OK:
            return ""
        if self._over:
            return "length"
        return "time" if code == pycurl.E_OPERATION_TIMEDOUT else "disconnect"

    def failure(self, code: int, text: str, now: float) -> Failure:
        """Why there is no answer, after libcurl ended the transfer with ``code``."""
        if code == pycurl.E_OK and final_head(self._lines):
            return Failure(FailureKind.NOT_HTTP, "a status line without a status", now)
        if code == pycurl.E_ABORTED_BY_CALLBACK:  # by `_on_ready`
            return Failure(FailureKind.RESET, "a kept connection was closed without an answer", now)
        by_proxy = failure_of(code, text, self.curl.getinfo(pycurl.PROXY_ERROR)) if self._road.proxy else None
        if by_proxy is not None:
            return Failure(*by_proxy, at=now)
        system_error = self.curl.getinfo(pycurl.OS_ERRNO)
        # not by the time of sending: libcurl sets that at the end where it is not set
        is_sent = self.curl.getinfo(pycurl.REQUEST_SIZE) > 0
        kind = kind_of(code, text, system_error=system_error, is_sent=is_sent)
        detail = words(text) if kind in (FailureKind.TLS_CERTIFICATE, FailureKind.TLS_PROTOCOL) else text
        return Failure(kind, (detail or "closed inside the headers")[:MAX_DETAIL], now)

    def end(self) -> None:
        """Let go of what came; the handle waits for its next transfer."""
        if self._road.limit is not None:
            self._road.limit.forget(self)
        if self._road.room is not None:
            self._road.room.forget(self)
        self._waited, self._waits_since = 0.0, None
        self._lines.clear()
        self._body = bytearray()
