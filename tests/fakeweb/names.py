"""A small DNS server on loopback, over UDP and TCP (RFC 1035), for ``--dns ADDR:PORT``."""

import asyncio
import contextlib
import ipaddress
import itertools
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self, cast

from fakeweb.thread import LoopThread

_A, _CNAME, _AAAA = 1, 5, 28
_TYPES = {_A: "A", _CNAME: "CNAME", _AAAA: "AAAA"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of a name. IPv4 and IPv6 addresses may be mixed: each query gets its own kind."""

    addresses: tuple[str, ...] = ()
    ttl: int = 60  # seconds
    rcode: int = 0
    cname: str = ""  # the addresses are those of this name
    delay: float = 0.0  # seconds
    hangs: bool = False  # no answer ever
    only_tcp: bool = False  # over UDP: truncated, ask again by TCP


NXDOMAIN = Answer(rcode=3)
SERVFAIL = Answer(rcode=2)
HANG = Answer(hangs=True)

Entry = Answer | Callable[[int], Answer]
"""An answer, or a function of how often this name and type was asked before: names that change."""


@dataclass(frozen=True, slots=True)
class Query:
    """One question as it arrived."""

    at: float  # seconds since 1970
    name: str  # lower case, without the last dot
    type: str
    transport: str  # udp or tcp


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, names: "Names") -> None:
        self._names = names
        self._tasks: set[asyncio.Task[None]] = set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        task = asyncio.ensure_future(self._answer(data, addr))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, data: bytes, client: tuple[str, int]) -> None:
        answer = await self._names.respond(data, "udp")
        if answer:
            self._transport.sendto(answer, client)


class Names:
    """Answers from a table; a name that is not in it, nor as ``*.parent``, does not exist.

    The table may be changed while it is served.
    """

    def __init__(self, table: Mapping[str, Entry | str], address: str = "127.0.0.1") -> None:
        self.table: dict[str, Entry] = {
            name: Answer((entry,)) if isinstance(entry, str) else entry for name, entry in table.items()
        }
        self._address = address
        self._queries: list[Query] = []
        self._counts: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._thread = LoopThread("fake names")
        self._thread.run(self._listen())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.run(self._close())
        self._thread.stop()

    @property
    def server(self) -> str:
        """ADDR:PORT, as --dns wants it."""
        return f"{self._address}:{self.port}"

    @property
    def queries(self) -> list[Query]:
        """All questions up to now."""
        with self._lock:
            return list(self._queries)

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        self._tcp = await asyncio.start_server(self._converse, self._address, 0)
        self.port: int = self._tcp.sockets[0].getsockname()[1]
        self._udp, _ = await loop.create_datagram_endpoint(
            lambda: _Datagrams(self), local_addr=(self._address, self.port)
        )

    async def _close(self) -> None:
        self._tcp.close()
        self._udp.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                (size,) = struct.unpack("!H", await reader.readexactly(2))
                answer = await self.respond(await reader.readexactly(size), "tcp")
                if answer:
                    writer.write(struct.pack("!H", len(answer)) + answer)
                    await writer.drain()
        writer.close()

    async def respond(self, message: bytes, transport: str) -> bytes:
        """The reply to a query message; empty when there is none."""
        try:
            name, kind, question = _question(message)
        except (IndexError, struct.error):
            return b""
        answer = self._find(name, kind, transport)
        if answer.hangs:
            return b""
        await asyncio.sleep(answer.delay)
        if answer.only_tcp and transport == "udp":
            return _message(message, question, 0, [], is_truncated=True)
        return _message(message, question, answer.rcode, list(_records(answer, kind)))

    def _find(self, name: str, kind: int, transport: str) -> Answer:
        type_name = _TYPES.get(kind, str(kind))
        with self._lock:
            self._queries.append(Query(time.time(), name, type_name, transport))
            count = self._counts[name, type_name]
            self._counts[name, type_name] += 1
        labels = name.split(".")
        wildcards = (".".join(["*", *labels[start:]]) for start in range(1, len(labels)))
        found = (self.table[key] for key in itertools.chain((name,), wildcards) if key in self.table)
        entry = next(found, NXDOMAIN)
        return entry if isinstance(entry, Answer) else entry(count)


def _question(message: bytes) -> tuple[str, int, bytes]:
    """Name, type and the bytes of the first question; the bytes go back as they came (their case, too)."""
    labels, position = [], 12
    while message[position]:
        end = position + 1 + message[position]
        labels.append(message[position + 1 : end].decode("latin-1"))
        position = end
    (kind,) = struct.unpack_from("!H", message, position + 1)
    return ".".join(labels).lower(), kind, message[12 : position + 5]


def _records(answer: Answer, kind: int) -> Iterator[bytes]:
    owner = b"\xc0\x0c"  # a pointer to the question's name
    if answer.cname:
        target = b"".join(bytes([len(label)]) + label.encode() for label in answer.cname.split(".")) + b"\0"
        yield owner + struct.pack("!HHIH", _CNAME, 1, answer.ttl, len(target)) + target
        owner = target
    for text in answer.addresses:
        address = ipaddress.ip_address(text)
        if kind == (_A if address.version == 4 else _AAAA):
            yield owner + struct.pack("!HHIH", kind, 1, answer.ttl, len(address.packed)) + address.packed


def _message(query: bytes, question: bytes, rcode: int, records: list[bytes], *, is_truncated: bool = False) -> bytes:
    flags = 0x8180 | (0x0200 if is_truncated else 0) | rcode  # an answer, recursion desired and available
    return query[:2] + struct.pack("!HHHHH", flags, 1, len(records), 0, 0) + question + b"".join(records)
