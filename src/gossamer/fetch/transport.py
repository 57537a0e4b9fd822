"""The transport: one request, one exchange. No redirects, no cookies, no look-ups, no decoding: bytes as they came.

libcurl does HTTP, TLS, connections and their reuse; here its handles meet the event loop. When a connection
that was used before is closed without an answer, libcurl would ask again at once (RFC 9112, section 9.3.1); the server
may have seen the first request, and politeness counts requests, so here a pause comes between the two.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pycurl

from gossamer.clock import Clock
from gossamer.errors import GossamerError
from gossamer.fetch import proxy as proxies
from gossamer.fetch.heads import place, request_headers
from gossamer.fetch.multi import Ending, Multi
from gossamer.fetch.rate import RateLimit
from gossamer.fetch.reasons import NO_FIRST_BYTE
from gossamer.fetch.room import Room
from gossamer.fetch.transfer import Connection, Road, Transfer
from gossamer.fetch.trust import Authorities
from gossamer.records import Exchange, Failure, Request
from gossamer.settings_secrets import Proxy

SWEEP = 0.1
"""Seconds between two looks for overdue first bytes."""

BUFFER = 128 * 1024
"""Bytes libcurl reads at once: a typical page in one piece. One buffer serves all transfers of a transport."""


_NO_LENGTH = "Invalid Content-Length"  # as libcurl says it


@dataclass(frozen=True, slots=True)
class TransportStatistics:
    """What went through a transport so far, and what is on its way now."""

    running: int  # transfers
    exchanges: int
    failures: int
    connections: int  # opened
    bytes: int  # of bodies


@dataclass(frozen=True, slots=True)
class _Watch:
    """A transfer that waits for the first byte of its answer."""

    future: "asyncio.Future[Ending]"
    started: float
    limit: float

    def is_overdue(self, now: float, transfer: Transfer) -> bool:
        """Whether the answer is overdue; the time until the request could be sent is connect_timeout's matter."""
        if now - self.started < self.limit:
            return False
        sent_after = transfer.sent_after
        return sent_after > 0 and now - self.started - sent_after >= self.limit


class Transport:
    """Fetches over HTTP/1.1, and HTTP/2 where a server offers it over TLS.

    ``max_connections``: open at once, idle ones included; more transfers than that wait for their turn (their time
    counts). ``ca_file``: PEM certificates that are trusted beside the system's; UsageError when it can't be read.
    ``proxy``: all requests go through it, and it looks the names up. ``limit_rate``: bytes a second, of all transfers
    together; 0: no limit. ``room``: for large bodies while they come.
    """

    def __init__(
        self,
        user_agent: str,
        clock: Clock,
        *,
        http2: bool = True,
        max_connections: int = 512,
        ca_file: str | None = None,
        proxy: Proxy | None = None,
        limit_rate: int = 0,
        room: Room | None = None,
    ) -> None:
        self._user_agent = user_agent
        self._clock = clock
        self._limit = RateLimit(limit_rate) if limit_rate else None
        self._road = Road(proxy, self._limit, room)
        self._authorities = Authorities(ca_file)
        self._options = {
            **_options(http2=http2),
            **self._authorities.options,
            **(proxies.options(proxy, user_agent, self._authorities.options) if proxy else {}),
            **({pycurl.BUFFERSIZE: _buffer(limit_rate)} if limit_rate else {}),
        }
        self._max_connections = max_connections
        self._multi: Multi | None = None  # made by the first fetch: it belongs to the event loop
        self._is_closed = False
        # Handles by the certificate of ours that they show: libcurl can't be told to show none any more.
        self._idle: dict[tuple[str, str] | None, list[Transfer]] = {}
        self._unanswered: dict[Transfer, _Watch] = {}
        self._sweeper: asyncio.TimerHandle | None = None
        self._http_1_0: dict[int, None] = {}  # connections, oldest first, whose last answer was HTTP/1.0
        self._running = self._exchanges = self._failures = self._connections = self._bytes = 0

    async def fetch(self, request: Request, on_sent: Callable[[], None] | None = None) -> Exchange | Failure:
        """The answer to one GET, or why there is none. UsageError when the request itself is not well formed.

        ``on_sent`` is called, and must not raise, at the moment the request goes over the wire.
        It may be asked twice, ``pause`` seconds apart: where a kept connection was closed without an answer, and where the
        length of the body is said to be what no number is, so that only the end of a connection can tell it.
        A body cut short, by ``max_body``, by ``timeout`` or by the server, is an Exchange that says so.
        Cancelling it closes the connection and leaves nothing behind.
        """
        if self._is_closed:
            raise GossamerError("the transport is closed")
        where = place(request.url)
        headers = request_headers(self._user_agent, request.headers)
        if self._multi is None:
            self._multi = Multi(self._max_connections)
        idle = self._idle.get(request.certificate)
        transfer = idle.pop() if idle else Transfer(self._options_of(request), self._road)
        transfer.begin(request, where, headers, self._clock.now(), on_sent)
        self._running += 1
        try:
            code, text = await self._perform(self._multi, transfer, request.first_byte_timeout)
            has_no_length = code == pycurl.E_FTP_WEIRD_SERVER_REPLY and _NO_LENGTH in text
            if (code == pycurl.E_ABORTED_BY_CALLBACK or has_no_length) and request.pause is not None:
                await asyncio.sleep(request.pause)
                headers = headers.closing() if has_no_length else headers
                now = self._clock.now()
                transfer.begin(request, where, headers, now, on_sent, is_fresh=True, by_close=has_no_length)
                code, text = await self._perform(self._multi, transfer, request.first_byte_timeout)
            return self._conclude(transfer, code, text)
        finally:
            self._running -= 1
            self._put_back(transfer, request.certificate)

    def _options_of(self, request: Request) -> Mapping[int, Any]:
        if request.certificate is None:
            return self._options
        certificate, key = request.certificate
        return {**self._options, pycurl.SSLCERT: certificate, pycurl.SSLKEY: key}

    async def reach(self, request: Request) -> Failure | None:
        """Why no connection can be made for a request, TLS included; None when it can. Nothing is asked."""
        if self._multi is None:
            self._multi = Multi(self._max_connections)
        transfer = Transfer({**self._options_of(request), pycurl.CONNECT_ONLY: 1}, self._road)
        try:
            transfer.begin(request, place(request.url), request_headers(self._user_agent, ()), self._clock.now())
            code, text = await self._perform(self._multi, transfer, request.first_byte_timeout)
            return None if code == pycurl.E_OK else transfer.failure(code, text, self._clock.now())
        finally:
            transfer.curl.close()

    async def _perform(self, multi: Multi, transfer: Transfer, first_byte_timeout: float) -> Ending:
        future = multi.start(transfer.curl)
        if future.done():
            return future.result()
        self._unanswered[transfer] = _Watch(future, asyncio.get_running_loop().time(), first_byte_timeout)
        if self._sweeper is None:
            self._sweep()
        try:
            return await future
        finally:
            self._unanswered.pop(transfer, None)
            multi.drop(transfer.curl)

    def _sweep(self) -> None:
        """End transfers whose first byte is overdue: libcurl has no limit for that. One timer serves them all."""
        loop = asyncio.get_running_loop()
        for transfer, watch in list(self._unanswered.items()):
            if transfer.is_answered:
                del self._unanswered[transfer]
            elif watch.is_overdue(loop.time(), transfer) and not watch.future.done():
                watch.future.set_result((NO_FIRST_BYTE, f"no answer within {watch.limit:g} s"))
        self._sweeper = loop.call_later(SWEEP, self._sweep) if self._unanswered else None

    def _conclude(self, transfer: Transfer, code: int, text: str) -> Exchange | Failure:
        connection = transfer.connection()
        sent_as_1_0 = not connection.is_new and connection.number in self._http_1_0
        self._note(connection)
        outcome = transfer.outcome(code, text, connection.protocol, sent_as_1_0=sent_as_1_0, now=self._clock.now())
        if isinstance(outcome, Exchange):
            self._exchanges += 1
            self._bytes += len(outcome.body)
            if self._limit is not None:
                self._limit.spend(len(outcome.response_head))
        else:
            self._failures += 1
        return outcome

    def _note(self, connection: Connection) -> None:
        """Count it, and remember what it spoke.

        After an answer in HTTP/1.0 libcurl asks in HTTP/1.0 on that connection, and the archive shows what was sent.
        """
        self._connections += connection.is_new
        if connection.protocol == "http/1.0":
            self._http_1_0[connection.number] = None
            if len(self._http_1_0) > self._max_connections:
                del self._http_1_0[next(iter(self._http_1_0))]
        elif self._http_1_0:
            self._http_1_0.pop(connection.number, None)

    def _put_back(self, transfer: Transfer, certificate: tuple[str, str] | None) -> None:
        transfer.end()
        if self._is_closed:
            transfer.curl.close()
        else:
            self._idle.setdefault(certificate, []).append(transfer)

    def statistics(self) -> TransportStatistics:
        """A snapshot of the counters."""
        return TransportStatistics(self._running, self._exchanges, self._failures, self._connections, self._bytes)

    async def aclose(self) -> None:
        """Close every connection. Fetches that still run are cancelled, new ones raise. Closing twice does nothing."""
        self._is_closed = True
        if self._sweeper is not None:
            self._sweeper.cancel()
        if self._multi is not None:
            self._multi.close()
        if self._limit is not None:
            self._limit.close()
        while self._idle:
            for transfer in self._idle.popitem()[1]:
                transfer.curl.close()
        self._authorities.close()


def _buffer(limit_rate: int) -> int:
    """Pieces so small that several of them come in a second; libcurl wants a kilobyte at least."""
    return max(1024, min(BUFFER, limit_rate // 8))


def _options(*, http2: bool) -> Mapping[int, Any]:
    """What is the same for every transfer."""
    return {
        pycurl.HTTP_VERSION: pycurl.CURL_HTTP_VERSION_2TLS if http2 else pycurl.CURL_HTTP_VERSION_1_1,
        pycurl.PROTOCOLS: pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS,
        pycurl.PROXY: "",  # else the environment's proxy would override the pinned address
        pycurl.NOPROXY: "*",
        pycurl.HTTP_TRANSFER_DECODING: 0,
        pycurl.HTTP_CONTENT_DECODING: 0,
        pycurl.FOLLOWLOCATION: 0,
        pycurl.NETRC: pycurl.NETRC_IGNORED,
        pycurl.NOSIGNAL: 1,
        pycurl.BUFFERSIZE: BUFFER,
        pycurl.SSL_VERIFYPEER: 1,
        pycurl.SSL_VERIFYHOST: 2,
    }
