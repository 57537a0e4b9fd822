"""Looking into a collection: opening it to read, and the list of its URLs with what is known of each."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from gossamer.archive import database
from gossamer.errors import ArchiveError, CollectionError
from gossamer.policy.patterns import Patterns
from gossamer.records import Hold, State

STRANGE = (TypeError, ValueError, OverflowError, AttributeError)
"""What comes of values that no crawl writes: SQLite takes any value in any column, and a stranger may have put it there."""

_GROUP = 1000  # rows that are read at once: a reader that pauses must not hold the database's log from being emptied


@contextmanager
def opened(folder: Path) -> Iterator[apsw.Connection]:
    """The database of the collection in ``folder``, to be read, also while a crawl writes to it.

    Raises CollectionError when there is none or it can't be read; errors inside the block that come from the database
    become ours.
    """
    path = database_path(folder)
    connection = database.open_for_reading(path)
    try:
        with readable(path):
            yield connection
    finally:
        connection.close()


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Errors inside the block that come from the database at ``path`` become ours."""
    try:
        yield
    except apsw.Error as error:
        raise database.database_error(path, error) from error
    except STRANGE as error:
        raise ArchiveError(
            f"{path} holds a value that no crawl writes ({error})", hint="look with: gossamer verify"
        ) from error


def database_path(folder: Path) -> Path:
    """Where the database of a collection lies. Raises CollectionError when ``folder`` is none."""
    path = folder / database.NAME
    try:
        exists = path.exists()
    except OSError as error:  # a folder above may not be entered
        raise CollectionError(f"{folder} can't be read ({error.strerror})", hint="look at its permissions") from error
    if not exists:
        what = "is no collection" if folder.exists() else "does not exist"
        raise CollectionError(f"{folder} {what}", hint="name the folder that a crawl made")
    return path


@dataclass(frozen=True, slots=True)
class Entry:
    """One URL with what is known of it, and of the newest answer it gave."""

    id: int
    url: str
    state: State
    reason: str
    held: bool
    refused: bool  # held by the scope or by robots.txt
    kind: str
    via: str
    depth: int
    hops: int
    attempts: int
    host: str | None  # hostname, and port where it is not the scheme's own
    parent: str | None  # the URL it was first found on
    due: float | None
    lastmod: float | None  # when it last changed, as a sitemap or feed says
    found: float
    settled: float | None
    status: int | None
    content_type: str | None
    charset: str | None
    language: str | None
    title: str | None
    size: int | None  # decoded bytes
    digest: str | None  # hexadecimal sha256 of the decoded body
    fetched: float | None
    duplicate_of: str | None
    redirect_to: str | None
    canonical: str | None


@dataclass(frozen=True, slots=True)
class Filter:
    """Which entries are wanted; what is None or empty says nothing."""

    patterns: tuple[str, ...] = ()  # any of these: see policy.patterns
    state: State | None = None
    reason: str | None = None  # part of it
    held: bool | None = None
    statuses: tuple[int, int] | None = None  # from, to
    content_type: str | None = None  # GLOB
    kind: str | None = None
    depth: int | None = None
    host: str | None = None  # hostname, with or without its port
    digest: str | None = None  # how it begins
    due_before: float | None = None
    fetched_since: float | None = None
    fetched_before: float | None = None


def entries(connection: apsw.Connection, wanted: Filter) -> Iterator[Entry]:
    """The URLs that the filter lets through, in the order found; memory does not grow with their number."""
    patterns = Patterns(wanted.patterns) if wanted.patterns else None
    after = 0
    while rows := _group(connection, wanted, after):
        for row in rows:
            if patterns is None or patterns.first_match(row[1]) is not None:
                yield _entry(row)
        after = rows[-1][0]


def entry(connection: apsw.Connection, url_id: int) -> Entry:
    """What is known of one URL."""
    (row,) = _group(connection, Filter(), url_id - 1, 1)
    return _entry(row)


def _group(connection: apsw.Connection, wanted: Filter, after: int, limit: int = _GROUP) -> list[tuple[Any, ...]]:
    return connection.execute(_ENTRIES, conditions(wanted) | {"after": after, "limit": limit}).fetchall()


def conditions(wanted: Filter) -> dict[str, str | int | float | None]:
    """The values of CONDITIONS for a filter; its patterns are the caller's to match."""
    first, last = wanted.statuses or (None, None)
    return {
        "state": None if wanted.state is None else int(wanted.state),
        "reason": wanted.reason,
        "held": wanted.held,
        "first_status": first,
        "last_status": last,
        "content_type": wanted.content_type,
        "kind": wanted.kind,
        "depth": wanted.depth,
        "host": wanted.host,
        "digest": wanted.digest.lower() if wanted.digest else None,
        "due_before": wanted.due_before,
        "fetched_since": wanted.fetched_since,
        "fetched_before": wanted.fetched_before,
    }


def _entry(row: tuple[Any, ...]) -> Entry:
    number, url, state, reason, held, *rest = row
    return Entry(number, url, State(state), reason, bool(held), held == Hold.REFUSED, *rest)


CONDITIONS = """
    (:state IS NULL OR url.state = :state)
    AND (:reason IS NULL OR instr(url.reason, :reason))
    AND (:held IS NULL OR (url.held != 0) = :held)
    AND (:first_status IS NULL OR page.status BETWEEN :first_status AND :last_status)
    AND (:content_type IS NULL OR page.content_type GLOB :content_type)
    AND (:kind IS NULL OR url.kind = :kind)
    AND (:depth IS NULL OR url.depth = :depth)
    AND (:host IS NULL OR host.hostname = :host OR substr(host.origin, instr(host.origin, '://') + 3) = :host)
    AND (:digest IS NULL OR substr(lower(hex(page.digest)), 1, length(:digest)) = :digest)
    AND (:due_before IS NULL OR url.due < :due_before)
    AND (:fetched_since IS NULL OR page.fetched >= :fetched_since)
    AND (:fetched_before IS NULL OR page.fetched < :fetched_before)
"""
"""What a filter means, for a query over ``url`` with its ``host`` and a ``page``."""

_ENTRIES = f"""
SELECT url.id, url.url, url.state, url.reason, url.held, url.kind, url.via, url.depth, url.hops, url.attempts,
    substr(host.origin, instr(host.origin, '://') + 3), parent.url, url.due, url.lastmod, url.found, url.settled,
    page.status, page.content_type, page.charset, page.language, page.title, page.size,
    iif(page.digest IS NULL, NULL, lower(hex(page.digest))),
    page.fetched, (SELECT url.url FROM page AS first JOIN url ON url.id = first.url WHERE first.id = page.duplicate_of),
    target.url, nullif(page.canonical, '')
FROM url
LEFT JOIN host ON host.id = url.host
LEFT JOIN url AS parent ON parent.id = url.parent
LEFT JOIN page ON page.id = (SELECT id FROM page AS newest WHERE newest.url = url.id ORDER BY attempt DESC LIMIT 1)
LEFT JOIN url AS target ON target.id = page.redirect_to
WHERE url.id > :after AND {CONDITIONS}
ORDER BY url.id LIMIT :limit
"""  # noqa: S608 - all of it stands here
