"""One libcurl handle, used for one transfer after the other: what is asked for, what came, and what it amounts to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pycurl

from gossamer.fetch.heads import Place, RequestHeaders, final_head, parse_headers, render_request, status_of
from gossamer.fetch.reasons import kind_of
from gossamer.records import Exchange, Failure, FailureKind, Request

MAX_DETAIL = 300
_PROTOCOLS = {1: "http/1.0", 2: "http/1.1", 3: "h2"}  # of CURLINFO_HTTP_VERSION


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
        "_lines",
        "_on_sent",
        "_options",
        "_over",
        "_place",
        "_request",
        "_started_at",
        "curl",
    )

    def __init__(self, options: Mapping[int, Any]) -> None:
        self.curl = pycurl.Curl()
        for option, value in options.items():
            self.curl.setopt(option, value)
        self.curl.setopt(pycurl.WRITEFUNCTION, self._on_body)
        self._options: dict[int, Any] = {}
        self._lines: list[bytes] = []
        self._body = bytearray()
        self._on_sent: Callable[[], None] | None = None
        # libcurl ends a transfer at 300 KiB of header lines (5,000 of them), interim ones and trailers included.
        self.curl.setopt(pycurl.HEADERFUNCTION, self._lines.append)

    def begin(
        self,
        request: Request,
        place: Place,
        headers: RequestHeaders,
        started_at: float,
        on_sent: Callable[[], None] | None = None,
    ) -> None:
        """Prepare the handle for ``request``. ``on_sent`` is called when it is about to go over the wire."""
        self._request = request
        self._place = place
        self._headers = headers
        self._started_at = started_at
        self._over = False
        # The target is given apart: in a URL libcurl would turn %2e into %2E.
        self._option(pycurl.URL, f"{place.scheme}://{place.authority}/")
        self._option(pycurl.REQUEST_TARGET, place.target)
        # Every name is connected to the checked address, whatever its spelling; nothing is ever looked up.
        ip = f"[{request.address.ip}]" if ":" in request.address.ip else request.address.ip
        self._option(pycurl.CONNECT_TO, [f"::{ip}:{place.port}"])
        # Rather one more stream on an HTTP/2 connection than one more connection. Not over plain HTTP, where libcurl would
        # wait for the first answer to learn that there are no streams.
        self._option(pycurl.PIPEWAIT, int(place.scheme == "https"))
        self._option(pycurl.TIMEOUT_MS, max(1, int(request.timeout * 1000)))
        self._option(pycurl.CONNECTTIMEOUT_MS, max(1, int(request.connect_timeout * 1000)))
        self._option(pycurl.HTTPHEADER, headers.lines)
        self._on_sent = on_sent
        if on_sent is not None:
            self._option(pycurl.PREREQFUNCTION, self._on_ready)

    def _option(self, option: int, value: Any) -> None:
        if self._options.get(option) != value:
            self._options[option] = value
            self.curl.setopt(option, value)

    def _on_ready(self, *_: object) -> int:
        """The connection stands, and the request is sent at once."""
        if self._on_sent is not None:
            self._on_sent()
        return int(pycurl.PREREQFUNC_OK)

    def _on_body(self, data: bytes) -> int | None:
        room = self._request.max_body - len(self._body)
        if len(data) > room:
            self._body += data[:room]
            self._over = True
            return 0
        self._body += data
        return None

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
            return self._failure(code, text, now)
        if protocol == "h2":  # archives have no form for HTTP/2: request and answer are shown as HTTP/1.1
            lines[0] = lines[0].replace(b"HTTP/2", b"HTTP/1.1", 1)
        head = b"".join(lines)
        getinfo = self.curl.getinfo
        return Exchange(
            url=self._request.url,
            request_head=render_request(self._place, self._headers, b"HTTP/1.0" if sent_as_1_0 else b"HTTP/1.1"),
            response_head=head,
            body=bytes(self._body),
            status=status,
            headers=parse_headers(head),
            address=getinfo(pycurl.PRIMARY_IP),
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

    def _failure(self, code: int, text: str, now: float) -> Failure:
        if code == pycurl.E_OK and final_head(self._lines):
            return Failure(FailureKind.NOT_HTTP, "a status line without a status", now)
        system_error = self.curl.getinfo(pycurl.OS_ERRNO)
        # not by the time of sending: libcurl sets that at the end where it is not set
        is_sent = self.curl.getinfo(pycurl.REQUEST_SIZE) > 0
        kind = kind_of(code, text, system_error=system_error, is_sent=is_sent)
        return Failure(kind, (text or "closed inside the headers")[:MAX_DETAIL], now)

    def end(self) -> None:
        """Let go of what came; the handle waits for its next transfer."""
        self._lines.clear()
        self._body = bytearray()
