"""A web of any number of hosts on one port, cheap to serve, with the name server that leads to it.

    python bench/origin.py FOLDER        serves until it is terminated; then FOLDER/log has every request

What a host does is in its name, the kind before the number (KINDS), and how many pages it has in the path:

    http://fast7.example:PORT/20/3.html           the fourth of 20 pages; it links to others of them
    http://hub0.example:PORT/fast:10,slow:2/20    a page that links to the first of 20 pages of each of these hosts
"""

import asyncio
import json
import random
import re
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import made_site


@dataclass(frozen=True, slots=True)
class Kind:
    """How hosts of a kind behave."""

    wait: float = 0.0  # seconds before each answer
    is_large: bool = False  # pages as of a real site, else small ones
    drips: bool = False  # a byte a second
    resets: float = 0.0  # of the answers that are no answer
    at_once: int = 0  # requests, on all hosts of the kind; 503 beyond; 0: any number


KINDS = {
    "fast": Kind(),
    "large": Kind(is_large=True),
    "late": Kind(wait=0.3),
    "slow": Kind(wait=5.0),
    "drip": Kind(drips=True),
    "lossy": Kind(wait=0.02, resets=0.05),
    "busy": Kind(wait=0.1, at_once=24),
    "hub": Kind(),
}

ROBOTS = b"User-agent: *\nDisallow: /private/\n"
_KIND = re.compile(r"[a-z]+")
_PAGE = re.compile(r"/(\d+)/(\d+)\.html")
_HUB = re.compile(r"/([a-z0-9:,]+)/(\d+)")


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, stamped when it had arrived."""

    at: float  # seconds since 1970
    host: str
    target: str
    status: int  # 0: the connection was reset

    @property
    def is_page(self) -> bool:
        """Whether a page of a site was served."""
        return self.status == 200 and self.target.endswith(".html")


class Pages:
    """The bodies of pages: a little of their own, and a rest that is drawn from a few."""

    def __init__(self) -> None:
        dice = random.Random(1)
        words = made_site.vocabulary(dice)
        self._paragraphs = [" ".join(dice.choices(words, k=40)) for _ in range(1000)]
        targets = [f"{number}.html" for number in range(20)]
        self._large = [made_site.paragraphs(dice.choices(targets, k=87), words, dice) for _ in range(50)]

    def page(self, host: str, number: int, count: int, *, is_large: bool) -> bytes:
        """Page ``number`` of ``count``: each leads to two more."""
        links = "".join(
            f' <a href="{each}.html">page {each}</a>' for each in (2 * number + 1, 2 * number + 2) if each < count
        )
        text = f"<p>{host} {number} {self._paragraphs[number % 1000]} {self._paragraphs[number * 7 % 991]}{links}</p>\n"
        rest = self._large[number % 50] if is_large else ""
        return made_site.document(f"{host} {number}", text + rest).encode()


class Web:
    """What all connections share."""

    def __init__(self) -> None:
        self.port = 0
        self.log: list[tuple[float, str, str, int]] = []
        self.under_way = dict.fromkeys(KINDS, 0)
        self._pages = Pages()
        self._dice = random.Random(1)

    def answer(self, host: str, target: str, kind: str) -> tuple[int, bytes]:
        """Status and body; 0: none, the connection is to be reset."""
        behaviour = KINDS[kind]
        if target == "/robots.txt":
            return 200, ROBOTS
        if behaviour.at_once and self.under_way[kind] >= behaviour.at_once:
            return 503, b"too many"
        if behaviour.resets and self._dice.random() < behaviour.resets:
            return 0, b""
        if kind == "hub" and (hub := _HUB.fullmatch(target)):
            return 200, self._hub(hub[1], hub[2])
        page = _PAGE.fullmatch(target)
        if page is None or int(page[2]) >= int(page[1]):
            return 404, b"not here"
        return 200, self._pages.page(host, int(page[2]), int(page[1]), is_large=behaviour.is_large)

    def _hub(self, kinds: str, pages: str) -> bytes:
        counts = (each.partition(":") for each in kinds.split(","))
        hosts = [f"{kind}{number}" for kind, _, count in counts for number in range(int(count))]
        random.Random(1).shuffle(hosts)
        links = (f'<a href="http://{host}.example:{self.port}/{pages}/0.html">{host}</a>' for host in hosts)
        return made_site.document("Hub", "\n".join(links)).encode()


class Connection(asyncio.Protocol):
    """HTTP/1.1 as far as crawlers need it: requests without bodies, one after the other."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, end, rest = self._buffer.partition(b"\r\n\r\n")
        if end:
            self._buffer = rest
            self._answer(head.decode("latin-1"))

    def _answer(self, head: str) -> None:
        target = head.split(" ", 2)[1]
        host = head.partition("\r\nHost: ")[2].partition("\r\n")[0].partition(":")[0]
        name = _KIND.match(host)
        kind = name[0] if name and name[0] in KINDS else "fast"
        status, body = self._web.answer(host, target, kind)
        self._web.log.append((time.time(), host, target, status))
        if KINDS[kind].wait and status == 200:
            self._web.under_way[kind] += 1
            asyncio.get_running_loop().call_later(KINDS[kind].wait, self._finish, kind, status, body)
        else:
            self._send(kind, status, body)

    def _finish(self, kind: str, status: int, body: bytes) -> None:
        self._web.under_way[kind] -= 1
        self._send(kind, status, body)

    def _send(self, kind: str, status: int, body: bytes) -> None:
        if not status:
            self._transport.abort()
            return
        head = f"HTTP/1.1 {status} -\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        if KINDS[kind].drips:
            self._drip(head + body, 0)
        else:
            self._transport.write(head + body)

    def _drip(self, data: bytes, at: int) -> None:
        if at < len(data) and not self._transport.is_closing():
            self._transport.write(data[at : at + 1])
            asyncio.get_running_loop().call_later(1.0, self._drip, data, at + 1)


class Names(asyncio.DatagramProtocol):
    """A name server (RFC 1035): every name has the address 127.0.0.1, and no other."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        end = data.index(0, 12) + 5  # of the question: a name, its type and class
        has_answer = data[end - 4 : end - 2] == b"\0\1"
        header = data[:2] + struct.pack("!HHHHH", 0x8180, 1, has_answer, 0, 0)
        address = struct.pack("!HHHIH4B", 0xC00C, 1, 1, 3600, 4, 127, 0, 0, 1) if has_answer else b""
        self._transport.sendto(header + data[12:end] + address, addr)


async def serve(folder: Path) -> None:
    """Until SIGTERM."""
    loop, ended, web = asyncio.get_running_loop(), asyncio.Event(), Web()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    server = await loop.create_server(partial(Connection, web), "127.0.0.1", 0, backlog=4096)
    names, _ = await loop.create_datagram_endpoint(Names, local_addr=("127.0.0.1", 0))
    web.port = server.sockets[0].getsockname()[1]
    print(web.port, names.get_extra_info("sockname")[1], flush=True)
    await ended.wait()
    (folder / "log").write_text("\n".join(map(json.dumps, web.log)), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class Served:
    """Where it is, and afterwards what was asked."""

    port: int
    names: str  # ADDR:PORT, as --dns wants it
    folder: Path

    def url(self, host: str, target: str) -> str:
        """Of a page."""
        return f"http://{host}.example:{self.port}{target}"

    def log(self) -> list[Asked]:
        """Every request; when the server has ended."""
        with (self.folder / "log").open(encoding="utf-8") as lines:
            return [Asked(*json.loads(line)) for line in lines]


@contextmanager
def serving(folder: Path) -> Iterator[Served]:
    """The web, in a process of its own; its log goes to ``folder``."""
    command = [sys.executable, str(Path(__file__).resolve()), str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port, names = process.stdout.readline().split()
        try:
            yield Served(int(port), f"127.0.0.1:{names}", folder)
        finally:
            process.terminate()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
