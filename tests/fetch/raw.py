"""A server that says exactly the bytes it is told to, over plain sockets or TLS, and keeps the requests it got."""

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from fakeweb.thread import LoopThread

Handler = Callable[[asyncio.StreamWriter], Awaitable[None]]


def reply(*pieces: bytes, pause: float = 0.0) -> Handler:
    """Send ``pieces`` with pauses between them."""

    async def handler(writer: asyncio.StreamWriter) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return handler


def reply_and_hang(*pieces: bytes, pause: float = 0.0) -> Handler:
    """As ``reply``, then keep the connection open and silent."""

    async def handler(writer: asyncio.StreamWriter) -> None:
        await reply(*pieces, pause=pause)(writer)
        await asyncio.Event().wait()

    return handler


def reply_and_reset(*pieces: bytes) -> Handler:
    """As ``reply``, then close with RST (SO_LINGER with a time of 0, socket(7))."""

    async def handler(writer: asyncio.StreamWriter) -> None:
        await reply(*pieces, pause=0.05)(writer)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return handler


def endless(piece: bytes, first: bytes = b"", pause: float = 0.0) -> Handler:
    """``first``, then ``piece`` again and again until the client goes."""

    async def handler(writer: asyncio.StreamWriter) -> None:
        writer.write(first)
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return handler


class RawServer:
    """Answers every request with the same handler.

    ``keeps``: several requests on a connection. ``at_once``: does not wait for a whole head.
    """

    def __init__(
        self,
        handler: Handler,
        *,
        keeps: bool = False,
        at_once: bool = False,
        tls: ssl.SSLContext | None = None,
        address: str = "127.0.0.1",
    ) -> None:
        self._handler = handler
        self._keeps = keeps
        self._at_once = at_once
        self._tls = tls
        self._address = address
        self.heads: list[bytes] = []
        self.connections = 0
        self.open = 0
        self._tasks: set[asyncio.Task[None] | None] = set()  # the loop itself holds no task that waits for ever

    def __enter__(self) -> Self:
        self._thread = LoopThread("raw server")
        self._server = self._thread.run(
            asyncio.start_server(self._converse, self._address, 0, ssl=self._tls, backlog=1024)
        )
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.run(self._close())
        self._thread.stop()

    async def _close(self) -> None:
        self._server.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        self._tasks.add(asyncio.current_task())
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while True:
                    self.heads.append(await (reader.read(1) if self._at_once else reader.readuntil(b"\r\n\r\n")))
                    await self._handler(writer)
                    if not self._keeps:
                        break
        except asyncio.CancelledError:
            writer.transport.abort()  # what is not sent yet would keep it open
            raise
        finally:
            self.open -= 1
            self._tasks.discard(asyncio.current_task())
            writer.close()


def refused_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
