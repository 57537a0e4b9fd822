"""Exchanges, a writer and a disk that breaks: what the tests of the WARC side share."""

import errno
import gzip
import itertools
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from gossamer.archive.disk import Disk
from gossamer.archive.segment_writer import SegmentRules, SegmentWriter
from gossamer.archive.warc import CrawlInfo, Original, digest_label
from gossamer.clock import Clock, ManualClock, timestamp
from gossamer.records import Exchange

NOON = 1_767_225_600.123  # 2026-01-01T00:00:00.123Z
INFO = CrawlInfo("Gossamer/0", "Gossamer/0 (+https://crawler.example/)", "obey")
RULES = SegmentRules(prefix="example.org", owner="local", epoch=3, max_bytes=1 << 30, max_age=86400.0)
PAGE = b"<!doctype html><title>Page</title><p>Hello"


def exchange(**changes: Any) -> Exchange:
    """A plain answer, with whatever is to be different."""
    values: dict[str, Any] = {
        "url": "http://example.org/",
        "request_head": b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n",
        "response_head": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
        "body": PAGE,
        "status": 200,
        "headers": (("content-type", "text/html"),),
        "address": "192.0.2.1",
        "protocol": "http/1.1",
        "started_at": NOON,
        "answered_at": NOON + 0.1,
        "ended_at": NOON + 0.2,
    }
    return Exchange(**{**values, **changes})


def head(*lines: str) -> bytes:
    return "".join(f"{line}\r\n" for line in (*lines, "")).encode("latin-1")


def chunked(body: bytes, size: int = 20) -> bytes:
    """``body`` as HTTP/1.1 sends it when the length is not known."""
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (*pieces, b""))


ZIPPED = gzip.compress(PAGE, mtime=0)
CHUNKED = head("HTTP/1.1 200 OK", "Content-Type: text/html", "Transfer-Encoding: chunked")
CHUNKED_ZIPPED = head(
    "HTTP/1.1 200 OK", "Content-Type: text/html", "Content-Encoding: gzip", "Transfer-Encoding: chunked"
)
ALL_KINDS = {
    "plain": exchange(),
    "chunked": exchange(url="http://example.org/chunked", response_head=CHUNKED, body=chunked(PAGE)),
    "gzip": exchange(
        url="http://example.org/gzip",
        response_head=head("HTTP/1.1 200 OK", "Content-Encoding: gzip", f"Content-Length: {len(ZIPPED)}"),
        body=ZIPPED,
    ),
    "chunked gzip": exchange(url="http://example.org/both", response_head=CHUNKED_ZIPPED, body=chunked(ZIPPED)),
    "trailers": exchange(
        url="http://example.org/trailers", response_head=CHUNKED, body=chunked(PAGE)[:-2] + b"X: y\r\n\r\n"
    ),
    "brotli": exchange(
        url="http://example.org/br",
        response_head=head("HTTP/1.1 200 OK", "Content-Encoding: br"),
        body=b"\x0b\x02\x80hello\x03",
    ),
    "empty": exchange(url="http://example.org/empty", body=b""),
    "empty chunked": exchange(url="http://example.org/nothing", response_head=CHUNKED, body=b"0\r\n\r\n"),
    "no content": exchange(
        url="http://example.org/204", response_head=head("HTTP/1.1 204 No Content"), body=b"", status=204
    ),
    "not modified": exchange(
        url="http://example.org/304", response_head=head("HTTP/1.1 304 Not Modified"), body=b"", status=304
    ),
    "redirect": exchange(
        url="http://example.org/old", response_head=head("HTTP/1.1 301 Moved", "Location: /"), body=b"", status=301
    ),
    "cut chunked gzip": exchange(
        url="http://example.org/cut",
        response_head=CHUNKED_ZIPPED,
        body=chunked(ZIPPED)[:30],
        truncated="disconnect",
    ),
    "too long": exchange(url="http://example.org/long", body=b"x" * 70_000, truncated="length"),
    "too slow": exchange(url="http://example.org/slow", truncated="time"),
    "http/2": exchange(
        url="https://example.org/h2",
        request_head=head("GET /h2 HTTP/2", "Host: example.org"),
        response_head=head("HTTP/2 200 ", "content-type: text/html"),
        protocol="h2",
    ),
    "http/1.0": exchange(url="http://example.org/old-server", response_head=head("HTTP/1.0 200"), protocol="http/1.0"),
    "bare LF": exchange(url="http://example.org/lf", response_head=b"HTTP/1.1 200 OK\nServer: old\n\n"),
    "white line": exchange(url="http://example.org/white", response_head=head("HTTP/1.1 200 OK", " ", "A: b")),
    "folded": exchange(url="http://example.org/fold", response_head=head("HTTP/1.1 200 OK", "A: b", " c")),
    "Latin-1": exchange(url="http://example.org/latin", response_head=head("HTTP/1.1 200 Schön", "A: \xa0\x85é")),
    "huge head": exchange(
        url="http://example.org/head", response_head=head("HTTP/1.1 200 OK", *(["X: " + "y" * 4000] * 12))
    ),
    "IPv6": exchange(url="http://[2001:db8::1]/", address="2001:db8::1"),
}


def original_of(sample: Exchange) -> Original:
    """What a later exchange with the same payload refers to."""
    return Original(sample.url, timestamp(sample.started_at), digest_label(sha256(sample.body).digest()))


def writer(collection: Path, **changes: Any) -> SegmentWriter:
    """A writer for ``collection`` that counts its segments from 1."""
    clock: Clock = ManualClock(NOON)
    values: dict[str, Any] = {"rules": RULES, "info": INFO, "clock": clock, "next_id": itertools.count(1).__next__}
    return SegmentWriter(collection, **{**values, **changes})


@dataclass
class BreakingDisk(Disk):
    """Fails its N-th operation, and all after it when ``for_good``; a failing write writes half."""

    fail_at: int
    for_good: bool = False
    error: int = errno.EIO
    calls: int = field(default=0, init=False)

    def _count(self) -> bool:
        self.calls += 1
        return self.calls == self.fail_at or (self.for_good and self.calls > self.fail_at)

    def _fail(self) -> None:
        if self._count():
            raise OSError(self.error, "broken")

    def create(self, path: Path) -> int:
        self._fail()
        return super().create(path)

    def write(self, descriptor: int, data: bytes) -> None:
        if self._count():
            super().write(descriptor, data[: len(data) // 2])
            raise OSError(self.error, "broken")
        super().write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        self._fail()
        super().sync(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        self._fail()
        super().truncate(descriptor, size)

    def sync_folder(self, folder: Path) -> None:
        self._fail()
        super().sync_folder(folder)
