"""Whole crawls within the test: what came of them, as rows and records."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import apsw
from fastwarc.warc import ArchiveIterator

from fakeweb import FakeWeb, Visit
from gossamer import session
from gossamer.archive import requests
from gossamer.archive.database import open_for_reading, open_for_writing, select
from gossamer.clock import Clock, SystemClock
from gossamer.crawl.manager import Crawl
from gossamer.crawl.report import Progress, Report
from gossamer.parse.html import read
from gossamer.parse.job import DEFAULT_LIMITS, OwnCode, ParseJob
from gossamer.parse.links import unpack
from gossamer.records import Facts, Link, Selection, State
from gossamer.session import Order
from gossamer.settings_files import load

QUICK: Mapping[str, object] = {"delay": 0.0, "retry_pause": 0.02, "min_free": 0, "sitemaps": False}
"""Settings of a crawl that nobody has to be polite to, and that asks for nothing but robots.txt and what is linked."""


class Nothing(Exception):
    """A new crawl ended without a page, and left nothing behind; ``reasons`` are what a person is told."""

    def __init__(self, reasons: tuple[str, ...]) -> None:
        super().__init__(*reasons)
        self.reasons = reasons


class ParsersInThreads:
    """Parses as a worker does, but in a thread: starting a process takes longer than most of these crawls."""

    def __init__(
        self,
        workers: int,
        secret: bytes,
        parse_timeout: float,
        memory: int,
        max_decoded: int,
        own_code: OwnCode | None = None,
        max_links: int = DEFAULT_LIMITS.max_links,
        max_text: int = DEFAULT_LIMITS.max_text,
    ) -> None:
        assert own_code is None
        self._secret = secret
        self._limits = replace(DEFAULT_LIMITS, max_decoded=max_decoded, max_links=max_links, max_text=max_text)

    async def start(self) -> None: ...

    async def aclose(self) -> None: ...

    async def parse(self, job: ParseJob) -> Facts:
        return await asyncio.to_thread(read, job, self._secret, self._limits)


@dataclass(frozen=True)
class Row:
    """A URL's row with its newest page's, in the words of the documentation."""

    url: str
    state: str
    held: bool
    reason: str
    attempts: int
    kind: str
    via: str
    depth: int
    page: Mapping[str, Any]  # the columns of the page table; empty without a page
    links: tuple[Link, ...] = ()

    @property
    def is_done(self) -> bool:
        return self.state == "finished"


@dataclass
class Crawled:
    """A crawl that ended."""

    report: Report
    folder: Path
    database: apsw.Connection
    base: str
    rows: dict[str, Row] = field(default_factory=dict)  # by path on the first seed's origin, else by whole URL

    def __getitem__(self, path: str) -> Row:
        return self.rows[path]

    def states(self) -> dict[str, str]:
        """What became of each URL: its state, or "held"."""
        return {path: "held" if row.held else row.state for path, row in self.rows.items()}

    def kept(self) -> set[str]:
        """The URLs with a page that counts."""
        return {path for path, row in self.rows.items() if row.page.get("is_kept")}

    def select(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return select(self.database, query, values)

    def records(self) -> list[tuple[str, str, bytes]]:
        """Type, URL and content (HTTP heads included) of every record of the archive."""
        found = []
        for path in sorted((self.folder / "warc").rglob("*.warc.gz")):
            with path.open("rb") as file:
                for record in ArchiveIterator(file, parse_http=False):
                    headers = record.headers
                    uri = headers.get("WARC-Target-URI") or ""
                    found.append((str(headers["WARC-Type"]), uri, record.reader.read()))
        return found

    def read(self) -> None:
        """Read the rows."""
        query = "SELECT id, url, state, held, reason, attempts, kind, via, depth FROM url ORDER BY id"
        for number, url, state, held, reason, attempts, kind, via, depth in self.select(query):
            page = self._page(number)
            name, links = State(state).name.lower(), self._links(page)
            row = Row(url, name, bool(held), reason, attempts, kind, via, depth, page, links)
            self.rows[row.url.removeprefix(self.base)] = row

    def _page(self, url_id: int) -> dict[str, Any]:
        cursor = self.database.execute("SELECT * FROM page WHERE url = ? ORDER BY id DESC LIMIT 1", (url_id,))
        for values in cursor:
            return {column[0]: value for column, value in zip(cursor.get_description(), values, strict=True)}
        return {}

    def _links(self, page: Mapping[str, Any]) -> tuple[Link, ...]:
        return tuple(
            link
            for (blob,) in self.select("SELECT blob FROM links WHERE page = ?", page.get("id"))
            for link in unpack(blob)
        )


class Leaping(SystemClock):
    """A clock that a test pushes forward."""

    def __init__(self, ahead: float = 0.0) -> None:
        self.ahead = ahead

    def now(self) -> float:
        return super().now() + self.ahead


def paths(visits: list[Visit], *, robots: bool = False) -> list[str]:
    """What was asked for, in order."""
    return [visit.path for visit in visits if robots or visit.path != "/robots.txt"]


def trapped(crawled: Crawled) -> set[str]:
    """What was parked as part of a trap."""
    return {path for path, row in crawled.rows.items() if row.held and row.reason.startswith("trap:")}


Started = Callable[[Crawl], None]
Observe = Callable[[Progress], None]


def run(
    folder: Path,
    addresses: tuple[tuple[str, bool], ...],
    settings: Mapping[str, object],
    *,
    clock: Clock | None = None,
    started: Started = lambda _: None,
    observe: Observe = lambda _: None,
    real_parsers: bool = False,
) -> Report:
    """One crawl, with the settings that the folder has as well."""
    known = folder if (folder / "crawl.db").exists() else None
    loaded = load({**QUICK, **settings}, collection=known, environment={}, user_file=None)
    with nullcontext() if real_parsers else patch.object(session, "ParserPool", ParsersInThreads):
        return asyncio.run(session.crawl(Order(folder, addresses, loaded), observe, started, clock))


def look(report: Report, folder: Path, base: str) -> Crawled:
    """A crawl's rows."""
    crawled = Crawled(report, folder, open_for_reading(folder / "crawl.db"), base)
    crawled.read()
    return crawled


def release(crawled: Crawled, selection: Selection) -> int:
    """Let held URLs of a crawl that ended wait again; its rows are to be read anew."""
    with closing(open_for_writing(crawled.folder / "crawl.db")) as connection:
        connection.execute("BEGIN")
        count = requests.release(connection, selection)
        connection.execute("COMMIT")
    return count


@contextmanager
def meanwhile(work: Callable[[], None]) -> Iterator[None]:
    """Do something while a crawl runs; what it raises is raised at the end."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # raised below
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    if errors:
        raise errors[0]


def address(target: "FakeWeb | str") -> str:
    return target if isinstance(target, str) else target.url()
