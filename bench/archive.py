"""What the archive costs a page, in microseconds: digests, compression, the whole of an append, reading back.

    python bench/archive.py [FILE.html ...]

Without files a page of 37 KB is made up from words. Best of several rounds: the machine's noise only adds.
"""

import hashlib
import itertools
import random
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path

from isal import isal_zlib

from gossamer.archive.reader import read_record, scan
from gossamer.archive.segment_writer import SegmentRules, SegmentWriter
from gossamer.archive.warc import CrawlInfo, Original, digest_label
from gossamer.clock import SystemClock, timestamp
from gossamer.records import Exchange, RecordPlace

HEAD = b'HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Type: text/html\r\nContent-Length: 37000\r\nETag: "abc"\r\n\r\n'
REQUEST = b"GET /page HTTP/1.1\r\nHost: example.org\r\nUser-Agent: Gossamer\r\nAccept: */*\r\n\r\n"
ROUNDS = 7
REPEATS = 40


def made_up_page(size: int = 37_000) -> bytes:
    dice = random.Random(1)
    letters = "etaoinshrdlucmfw"
    words = ["".join(dice.choices(letters, k=dice.randint(2, 9))) for _ in range(800)]
    links = itertools.count()
    text = ""
    while len(text) < size:
        text += f'<p><a href="/docs/{dice.choice(words)}/{next(links)}.html">{dice.choice(words)}</a> '
        text += " ".join(dice.choices(words, k=40)) + "</p>\n"
    return text[:size].encode()


def microseconds(job: Callable[[], object]) -> float:
    """CPU time of one call, the best of several rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        for _ in range(REPEATS):
            job()
        best = min(best, (time.process_time() - started) / REPEATS)
    return best * 1e6


def show(name: str, cost: float, remark: str = "") -> None:
    print(f"{name:<34}{cost:9.1f}  {remark}".rstrip())


def bench_digests(page: bytes) -> None:
    for name in ("sha256", "sha1", "md5", "blake2b"):
        show(name, microseconds(lambda name=name: hashlib.new(name, page).digest()))  # type: ignore[misc]


def bench_compression(page: bytes) -> None:
    for level in (0, 1, 2, 3):
        packed = isal_zlib.compress(page, level, 31)
        cost = microseconds(lambda level=level: isal_zlib.compress(page, level, 31))  # type: ignore[misc]
        show(f"gzip, isal level {level}", cost, f"{len(page) / len(packed):.1f} : 1")
    for level in (1, 6):
        packed = zlib.compress(page, level, 31)
        cost = microseconds(lambda level=level: zlib.compress(page, level, 31))  # type: ignore[misc]
        show(f"gzip, zlib level {level}", cost, f"{len(page) / len(packed):.1f} : 1")


def bench_segment(page: bytes, collection: Path) -> None:
    archive = SegmentWriter(
        collection,
        rules=SegmentRules(prefix="bench", owner="local", epoch=1, max_bytes=1 << 40, max_age=1e9),
        info=CrawlInfo("bench", "bench", "obey"),
        clock=SystemClock(),
        next_id=itertools.count(1).__next__,
    )
    exchange = Exchange("http://example.org/page", REQUEST, HEAD, page, 200, (), "192.0.2.1", "http/1.1", 1e9, 1e9, 1e9)
    places: list[RecordPlace] = []
    show("append: two records, written", microseconds(lambda: places.append(archive.append(exchange))))
    started = time.perf_counter()
    (segment,) = archive.sync()
    show("sync of all of them, wall time", (time.perf_counter() - started) * 1e6, f"{segment.bytes:,} bytes")
    original = Original(exchange.url, timestamp(1e9), digest_label(hashlib.sha256(page).digest()))
    show("append of a duplicate", microseconds(lambda: archive.append(exchange, original=original)))
    show("read one record", microseconds(lambda: read_record(collection, segment.uri, places[0])))
    started = time.process_time()
    found = sum(not record.problems for record in scan(collection / segment.uri, end=segment.bytes))
    show("scan, a record, digests checked", (time.process_time() - started) / found * 1e6, f"{found} records")
    archive.close()


def main() -> None:
    pages = [Path(name).read_bytes() for name in sys.argv[1:]] or [made_up_page()]
    for page in pages:
        print(f"page of {len(page):,} bytes: microseconds")
        bench_digests(page)
        bench_compression(page)
        with tempfile.TemporaryDirectory() as folder:
            bench_segment(page, Path(folder))


if __name__ == "__main__":
    main()
