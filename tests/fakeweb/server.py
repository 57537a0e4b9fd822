"""The server of the fake web: plain asyncio streams, so that it can misbehave down to the socket."""

import asyncio
import contextlib
import itertools
import socket
import struct
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from fakeweb import wire
from fakeweb.log import AccessLog, Visit
from fakeweb.page import Asked, Ending, Headers, Page, Site
from fakeweb.thread import LoopThread

_MAX_HEAD = 1024 * 1024
_TICK = 0.005  # seconds between two looks at how late this server is
_REMEMBERED = 40  # looks


class _Protocol(asyncio.StreamReaderProtocol):
    """Streams that also tell, at once and while an answer is being sent, when the client has gone."""

    def __init__(self, serve: Callable[[asyncio.StreamReader, asyncio.StreamWriter], object]) -> None:
        super().__init__(asyncio.StreamReader(limit=_MAX_HEAD), serve)  # type: ignore[arg-type]  # a coroutine function
        self.gone = asyncio.Event()
        self.gone_at = 0.0

    def eof_received(self) -> bool:
        self._leave()
        return bool(super().eof_received())

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave()
        super().connection_lost(exc)

    def _leave(self) -> None:
        # stamped here and not by who waits: a request that the client sends next must not seem to come before this
        self.gone_at = self.gone_at or time.time()
        self.gone.set()


@dataclass(slots=True)
class _Listener:
    """One address and port, with the sites that share it."""

    sites: list[Site]
    port: int
    server: asyncio.Server | None = None
    writers: set[asyncio.StreamWriter] = field(default_factory=set)

    def site(self, host: str) -> Site:
        name = host.rpartition(":")[0] or host
        return next((site for site in self.sites if site.name == name), self.sites[0])


class FakeWeb:
    """Serves sites on loopback from a thread of its own, and keeps the access log.

    ``on_visit`` is called in that thread for each request, before it is answered: the place to kill a crawler at an
    exact moment. ``log_file`` gets a JSON line for each request that has ended.
    """

    def __init__(
        self, *sites: Site, on_visit: Callable[[Visit], None] | None = None, log_file: Path | None = None
    ) -> None:
        self.sites = sites
        self._on_visit = on_visit
        self._log = AccessLog(log_file)
        self._connections = itertools.count()
        self._counts: Counter[tuple[int, str]] = Counter()
        self._lateness: deque[float] = deque([0.0], maxlen=_REMEMBERED)
        self._looked_at = 0.0
        self._listeners = [_Listener(group, group[0].port) for group in _by_port(sites)]

    def __enter__(self) -> Self:
        self._thread = LoopThread("fake web")
        for listener in self._listeners:
            self._thread.run(self._listen(listener))
        self._thread.run(self._begin_to_watch())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for listener in self._listeners:
            self._thread.run(_hang_up(listener))
        self._thread.stop()
        self._log.close()

    @property
    def log(self) -> list[Visit]:
        """All requests up to now, in the order of arrival."""
        return self._log.snapshot()

    def wait(self, condition: Callable[[list[Visit]], bool], timeout: float = 30.0) -> list[Visit]:
        """The log, as soon as ``condition`` holds for it. Raises TimeoutError."""
        return self._log.wait(condition, timeout)

    def port(self, site: Site | None = None) -> int:
        return self._listener(site or self.sites[0]).port

    def origin(self, site: Site | None = None) -> str:
        """scheme://host:port of a site; of the first where none is named."""
        site = site or self.sites[0]
        return f"{'https' if site.tls else 'http'}://{site.name or site.address}:{self.port(site)}"

    def url(self, path: str = "/", site: Site | None = None) -> str:
        return self.origin(site) + path

    def down(self, site: Site | None = None) -> None:
        """Stop listening and reset what is open: the site is dead."""
        self._thread.run(_hang_up(self._listener(site or self.sites[0])))

    def up(self, site: Site | None = None) -> None:
        """Listen again, on the same port."""
        self._thread.run(self._listen(self._listener(site or self.sites[0])))

    def _listener(self, site: Site) -> _Listener:
        return next(listener for listener in self._listeners if any(site is one for one in listener.sites))

    async def _begin_to_watch(self) -> None:
        self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        """Measure how late this thread comes to what it has to do: on a busy machine it does not read at once."""
        while True:
            self._looked_at = time.monotonic()
            await asyncio.sleep(_TICK)
            self._lateness.append(time.monotonic() - self._looked_at - _TICK)

    async def _listen(self, listener: _Listener) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._converse(listener, reader, writer)

        site = listener.sites[0]
        listener.server = await asyncio.get_running_loop().create_server(
            lambda: _Protocol(serve), site.address, listener.port, ssl=site.tls, backlog=1024
        )
        listener.port = listener.server.sockets[0].getsockname()[1]

    async def _converse(self, listener: _Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = next(self._connections)
        listener.writers.add(writer)
        try:
            if listener.sites[0].greeting is not None:
                await self._greet(listener, connection, writer, listener.sites[0].greeting)
                return
            while await self._exchange(listener, connection, reader, writer):
                pass
        finally:
            listener.writers.discard(writer)
            writer.close()

    async def _greet(self, listener: _Listener, connection: int, writer: asyncio.StreamWriter, greeting: bytes) -> None:
        visit = self._arrived(listener, connection, Asked("", "", "", (), 0, time.time()))
        self._log.update(visit.number, ended=time.time(), outcome="broken")
        self._log.write(visit.number)
        writer.write(greeting)
        await writer.drain()

    async def _exchange(
        self, listener: _Listener, connection: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """One request and its answer; True when another may follow."""
        client = writer.transport.get_protocol()
        assert isinstance(client, _Protocol)
        head = await reader.readuntil(b"\r\n\r\n")
        asked = self._read(listener, head)
        visit = self._arrived(listener, connection, asked)
        page = listener.site(asked.host).answer(asked)
        self._log.update(
            visit.number,
            status=0 if page.raw is not None else page.status,
            content_type=page.content_type or "",
            retry_after=dict(page.headers).get("Retry-After", ""),
        )
        try:
            sending = asyncio.create_task(self._send(visit.number, page, asked.method == "HEAD", writer))
            await _until_gone(sending, client)
        finally:
            self._ended(visit.number, page, sending, client.gone_at)
        return wire.keeps_open(page) and asked.header("connection").lower() != "close"

    def _read(self, listener: _Listener, head: bytes) -> Asked:
        at = time.time()
        request_line, *lines = head.decode("latin-1").split("\r\n")[:-2]
        method, path, *_ = [*request_line.split(" "), "", ""]
        headers: Headers = tuple(
            (name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines)
        )
        host = next((value for name, value in headers if name == "host"), "")
        key = (id(listener.site(host)), path)
        self._counts[key] += 1
        return Asked(method, path, host, headers, self._counts[key] - 1, at)

    def _arrived(self, listener: _Listener, connection: int, asked: Asked) -> Visit:
        site = listener.site(asked.host)
        visit = self._log.arrived(
            lambda number: Visit(
                number=number,
                at=asked.at,
                at_monotonic=time.monotonic(),
                connection=connection,
                address=site.address,
                port=listener.port,
                host=asked.host or f"{site.name or site.address}:{listener.port}",
                method=asked.method,
                path=asked.path,
                user_agent=asked.header("user-agent"),
                headers=asked.headers,
                scheme="https" if site.tls else "http",
                late=max(*self._lateness, time.monotonic() - self._looked_at - _TICK),
            )
        )
        if self._on_visit:
            self._on_visit(visit)
        return visit

    async def _send(self, number: int, page: Page, head_only: bool, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(min(page.delay, 1e6))
        for piece, is_last in _mark_last(wire.answer(page, head_only=head_only)):
            if is_last:  # who has received it may look at the log at once
                self._log.update(number, ended=time.time(), outcome="broken" if page.is_broken else "whole")
            writer.write(piece)
            await writer.drain()
            if page.drip and not is_last:
                await asyncio.sleep(page.drip)
        if page.ending == Ending.HANG:
            await asyncio.Event().wait()
        elif page.ending == Ending.RESET:
            _reset(writer)

    def _ended(self, number: int, page: Page, sending: "asyncio.Task[None]", gone_at: float) -> None:
        was_sent = sending.done() and not sending.cancelled() and sending.exception() is None
        sending.cancel()
        visit = self._log.visit(number)
        outcome = "broken" if page.is_broken else "whole" if was_sent else "gone"
        ended = visit.ended if was_sent and visit.ended else gone_at or time.time()
        self._log.update(number, ended=ended, outcome=outcome)
        self._log.write(number)


def _by_port(sites: tuple[Site, ...]) -> list[list[Site]]:
    shared: dict[tuple[str, int], list[Site]] = {}
    alone: list[list[Site]] = []
    for site in sites:
        if site.name and not site.tls:
            shared.setdefault((site.address, site.port), []).append(site)
        else:
            alone.append([site])
    return [*shared.values(), *alone]


async def _hang_up(listener: _Listener) -> None:
    if listener.server:
        listener.server.close()
        listener.server = None
    for writer in list(listener.writers):
        _reset(writer)


async def _until_gone(sending: "asyncio.Task[None]", client: _Protocol) -> None:
    gone = asyncio.create_task(client.gone.wait())
    try:
        await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()
    if not sending.done():
        raise ConnectionResetError("the client has gone")
    await sending


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close with RST: SO_LINGER with a time of 0 (socket(7))."""
    with contextlib.suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


def _mark_last(pieces: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    current = next(pieces, None)
    while current is not None:
        following = next(pieces, None)
        yield current, following is None
        current = following
