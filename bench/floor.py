"""The floor: what a page costs in the bare libraries, step by step, with nothing of ours between them.

    python bench/floor.py FILE

FILE has a URL a line, of pages that are being served. Prints JSON: step -> seconds of CPU of all pages together.
"""

import json
import sys
import tempfile
import time
from functools import lru_cache
from hashlib import blake2b, sha256
from pathlib import Path

import ada_url
import apsw
import msgpack
import pycurl
import turbohtml
from isal import isal_zlib

GROUP = 64
"""Pages in one transaction."""

AT_ONCE = 16
"""Transfers."""

SCHEMA = """
PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -65536; PRAGMA wal_autocheckpoint = 4000;
CREATE VIRTUAL TABLE page_index USING fts5(
    title, text, content='', contentless_delete=1, tokenize="porter unicode61 remove_diacritics 2"
);
CREATE TABLE links (page INTEGER PRIMARY KEY, blob BLOB NOT NULL);
CREATE TABLE url (id INTEGER PRIMARY KEY, fingerprint INTEGER NOT NULL, url TEXT NOT NULL, state INTEGER NOT NULL);
CREATE INDEX url_fingerprint ON url(fingerprint);
"""

STEPS = ("fetch", "parse", "links", "join", "text", "digest", "gzip", "link rows", "index", "URL rows", "commit")

Page = tuple[str, str, bytes]  # title, text, links
Links = dict[str, tuple[int, str]]  # URL -> its key, and the text of the first link to it


class Stopwatch:
    """CPU time by step."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STEPS, 0.0)
        self._last = time.process_time()

    def lap(self, step: str) -> None:
        """What went by since the last lap belongs to ``step``."""
        now = time.process_time()
        self.seconds[step] += now - self._last
        self._last = now


def fetch(urls: list[str]) -> dict[str, bytes]:
    """Everything, with some transfers at once on connections that are kept."""
    multi = pycurl.CurlMulti()
    multi.setopt(pycurl.M_MAX_HOST_CONNECTIONS, AT_ONCE)
    bodies: dict[str, list[bytes]] = {}
    to_start = iter(urls)

    def start(curl: pycurl.Curl) -> bool:
        url = next(to_start, None)
        if url is not None:
            bodies[url] = []
            curl.setopt(pycurl.URL, url)
            curl.setopt(pycurl.WRITEFUNCTION, bodies[url].append)
            multi.add_handle(curl)
        return url is not None

    handles = [pycurl.Curl() for _ in range(AT_ONCE)]
    running = sum(map(start, handles))
    while running:
        multi.perform()
        for curl in multi.info_read()[1]:
            multi.remove_handle(curl)
            running -= not start(curl)
        multi.select(1.0)
    return {url: b"".join(parts) for url, parts in bodies.items()}


@lru_cache(maxsize=65536)
def key(url: str) -> int:
    """64 bits by which a URL is known; kept by URL, which pages of other directories name in other words."""
    return int.from_bytes(blake2b(url.encode(), digest_size=8).digest(), "little", signed=True)


@lru_cache(maxsize=16384)
def join(directory: str, href: str) -> tuple[str, int] | None:
    """What the pages of a directory ask again and again: an absolute URL, and its key."""
    try:
        url = ada_url.join_url(directory, href).partition("#")[0]
    except ValueError:
        return None
    return url, key(url)


def read(url: str, body: bytes, watch: Stopwatch) -> tuple[Page, Links]:
    """One page as the libraries read it."""
    document = turbohtml.parse(body, detect_encoding=True, positions=False)
    watch.lap("parse")
    found = [(href, element.text if element.tag == "a" else "") for element, _, href in document.links()]
    watch.lap("links")
    directory = url[: url.rfind("/") + 1]
    links: Links = {}
    for href, text in found:
        joined = join(directory, href)
        if joined is not None:
            links.setdefault(joined[0], (joined[1], text))
    watch.lap("join")
    title, text = document.find("title"), document.to_text()
    watch.lap("text")
    sha256(body).digest()
    watch.lap("digest")
    isal_zlib.compress(body, 1, 31)
    watch.lap("gzip")
    blob = msgpack.packb([(target, text) for target, (_, text) in links.items()])
    watch.lap("link rows")
    return (title.text if title is not None else "", text, blob), links


def write(connection: apsw.Connection, first: int, pages: list[Page], fresh: Links, watch: Stopwatch) -> None:
    """A group of pages in one transaction, synced."""
    with connection:
        connection.executemany(
            "INSERT INTO page_index(rowid, title, text) VALUES (?, ?, ?)",
            ((number, title, text) for number, (title, text, _) in enumerate(pages, first)),
        )
        watch.lap("index")
        connection.executemany("INSERT INTO links VALUES (?, ?)", enumerate((blob for _, _, blob in pages), first))
        watch.lap("link rows")
        rows = ((key, url) for url, (key, _) in fresh.items())
        connection.executemany("INSERT INTO url (fingerprint, url, state) VALUES (?, ?, 0)", rows)
        watch.lap("URL rows")
    watch.lap("commit")


def measure(urls: list[str], folder: Path) -> dict[str, float]:
    """All steps over all pages."""
    watch = Stopwatch()
    bodies = list(fetch(urls).items())
    watch.lap("fetch")
    connection = apsw.Connection(str(folder / "floor.db"))
    connection.execute(SCHEMA).fetchall()  # the first pragma answers: what stands behind it waits for that to be read
    seen: set[str] = set()
    for start in range(0, len(bodies), GROUP):
        pages: list[Page] = []
        fresh: Links = {}
        for url, body in bodies[start : start + GROUP]:
            page, links = read(url, body, watch)
            pages.append(page)
            fresh |= {target: links[target] for target in links.keys() - seen}
            seen |= links.keys()
            watch.lap("join")
        write(connection, start + 1, pages, fresh, watch)
    connection.close()
    watch.lap("commit")
    return watch.seconds


def main() -> None:
    urls = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(urls, Path(folder))))


if __name__ == "__main__":
    main()
