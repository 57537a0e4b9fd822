"""Small proxies on real sockets: HTTP (plain and CONNECT) and SOCKS5, which send everything to one port here."""

import asyncio
import contextlib
import ssl
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from fakeweb.thread import LoopThread

OK_TUNNEL = b"HTTP/1.1 200 Connection established\r\nX-Proxy: here\r\n\r\n"


@dataclass
class Seen:
    """What a proxy was told."""

    heads: list[bytes] = field(default_factory=list)  # of HTTP
    targets: list[tuple[str, int]] = field(default_factory=list)  # of SOCKS
    logins: list[bytes] = field(default_factory=list)


class _Proxy:
    def __init__(self, to: int, tls: ssl.SSLContext | None = None) -> None:
        self._to = to
        self._tls = tls
        self.seen = Seen()

    def __enter__(self) -> Self:
        self._thread = LoopThread("proxy")
        self._server = self._thread.run(asyncio.start_server(self._guarded, "127.0.0.1", 0, ssl=self._tls))
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.run(_close(self._server))
        self._thread.stop()

    async def _guarded(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            try:
                await self.serve(reader, writer)
            finally:
                writer.close()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError

    async def join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, first: bytes = b"") -> None:
        """Carry bytes both ways until one side ends."""
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", self._to)
        there_writer.write(first)
        try:
            tasks = [asyncio.create_task(_carry(*pair)) for pair in ((reader, there_writer), (there_reader, writer))]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            there_writer.close()


async def _close(server: asyncio.Server) -> None:
    server.close()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


class HttpProxy(_Proxy):
    """``refusal``: what it answers instead. It asks for ``login`` (basic, base64) where there is one."""

    def __init__(self, to: int, *, refusal: bytes = b"", login: bytes = b"", tls: ssl.SSLContext | None = None) -> None:
        super().__init__(to, tls)
        self._refusal = refusal
        self._login = login

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        self.seen.heads.append(head)
        if self._login and b"Proxy-Authorization: Basic " + self._login not in head:
            writer.write(
                b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
        elif self._refusal:
            writer.write(self._refusal)
        elif head.startswith(b"CONNECT "):
            writer.write(OK_TUNNEL)
            await self.join(reader, writer)
            return
        else:
            method, url, rest = head.split(b" ", 2)
            path = b"/" + url.split(b"/", 3)[3]
            lines = [line for line in rest.split(b"\r\n") if not line.lower().startswith(b"proxy-")]
            lines.insert(1, b"Connection: close")
            await self._pass_on(b" ".join((method, path, b"\r\n".join(lines))), writer)
        await writer.drain()

    async def _pass_on(self, request: bytes, writer: asyncio.StreamWriter) -> None:
        """One request and its answer: the next one may be for another server."""
        reader, there = await asyncio.open_connection("127.0.0.1", self._to)
        there.write(request)
        try:
            await _carry(reader, writer)
        finally:
            there.close()


class SocksProxy(_Proxy):
    """RFC 1928; ``login``: user and password that it wants (RFC 1929). ``reply``: its answer to requests."""

    def __init__(self, to: int, *, login: tuple[bytes, bytes] | None = None, reply: int = 0) -> None:
        super().__init__(to)
        self._login = login
        self._reply = reply

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        method = 2 if self._login else 0
        writer.write(bytes([5, method if method in methods else 255]))
        if method not in methods:
            return
        if self._login and not await self._is_let_in(reader, writer):
            return
        _, _, _, kind = await reader.readexactly(4)
        length = {1: 4, 4: 16}.get(kind) or (await reader.readexactly(1))[0]
        host = await reader.readexactly(length)
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.seen.targets.append((host.decode() if kind == 3 else ".".join(map(str, host)), port))
        writer.write(bytes([5, self._reply, 0, 1, 0, 0, 0, 0, 0, 0]))
        await writer.drain()
        if not self._reply:
            await self.join(reader, writer)

    async def _is_let_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        _, length = await reader.readexactly(2)
        user = await reader.readexactly(length)
        password = await reader.readexactly((await reader.readexactly(1))[0])
        self.seen.logins.append(user + b":" + password)
        is_right = (user, password) == self._login
        writer.write(bytes([1, 0 if is_right else 1]))
        await writer.drain()
        return is_right
