"""Which answers an export is about: chosen once, as of one moment, so that a crawl may go on beside it."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import apsw

from gossamer.archive.catalogue import CONDITIONS, Filter, conditions
from gossamer.archive.database import select
from gossamer.policy.patterns import Patterns
from gossamer.records import RecordPlace

_GROUP = 500


@dataclass(frozen=True, slots=True)
class Choice:
    """What is wanted: of which URLs, and which of their versions."""

    wanted: Filter
    newest_only: bool = False  # of those that were fetched in the time that is wanted
    kept_only: bool = False  # successes whose body is content
    with_robots: bool = True  # also the records of robots.txt, where the filter says nothing of pages


@dataclass(frozen=True, slots=True)
class Capture:
    """An answer that was chosen, and where it lies."""

    uri: str  # of the segment
    end: int  # of the segment's durable bytes
    place: RecordPlace
    url: str
    page: int | None  # None: a record that belongs to no page
    fetched: float = 0.0
    status: int = 0
    content_type: str = ""
    payload_digest: bytes = b""
    duplicate_of: int | None = None


@contextmanager
def chosen(connection: apsw.Connection, choice: Choice) -> Iterator[None]:
    """What is chosen as the table ``chosen`` of this connection, in the order of the archive.

    Raises SettingsError for a bad pattern.
    """
    patterns = Patterns(choice.wanted.patterns)

    def is_meant(*url: Any) -> bool:
        return not choice.wanted.patterns or patterns.first_match(str(url[0])) is not None

    connection.create_scalar_function("is_meant", is_meant, 1)
    with _table(connection):
        with connection:
            _choose(connection, choice)
        yield


@contextmanager
def chosen_pages(connection: apsw.Connection, pages: Iterable[int]) -> Iterator[None]:
    """The same, of pages that somebody else chose, by the ids of their rows."""
    with _table(connection):
        with connection:
            connection.executemany(
                "INSERT INTO chosen SELECT segment, offset, id FROM page WHERE id = ?", ((page,) for page in pages)
            )
        yield


@contextmanager
def _table(connection: apsw.Connection) -> Iterator[None]:
    connection.execute(
        "CREATE TEMP TABLE chosen (segment INTEGER, offset INTEGER, page INTEGER, PRIMARY KEY (segment, offset))"
        " WITHOUT ROWID; CREATE INDEX temp.chosen_page ON chosen(page) WHERE page IS NOT NULL"
    )
    try:
        yield
    finally:
        connection.execute("DROP TABLE chosen")


def _choose(connection: apsw.Connection, choice: Choice) -> None:
    values = conditions(choice.wanted) | {"newest": choice.newest_only, "kept": choice.kept_only}
    connection.execute(_PAGES, values)
    if choice.with_robots and choice.wanted == _of_urls_only(choice.wanted):
        connection.execute(_RECORDS, {"host": choice.wanted.host})


def _of_urls_only(wanted: Filter) -> Filter:
    return replace(Filter(), patterns=wanted.patterns, host=wanted.host)


def is_anything_chosen(connection: apsw.Connection) -> bool:
    """Whether there is something to be written."""
    return bool(connection.execute("SELECT EXISTS (SELECT 1 FROM chosen)").get)


def captures(connection: apsw.Connection) -> Iterator[Capture]:
    """What was chosen, in the order of the archive."""
    after: tuple[int, int] = (0, -1)
    while rows := select(connection, _CAPTURES, (*after, _GROUP)):
        for uri, end, segment, offset, length, url, *page in rows:
            yield Capture(uri, end, RecordPlace(segment, offset, length), url, *page)
            after = (segment, offset)


def is_chosen(connection: apsw.Connection, page: int) -> bool:
    """Whether a page is among what was chosen."""
    return bool(select(connection, "SELECT 1 FROM chosen WHERE page = ?", (page,)))


_PAGES = f"""
INSERT INTO chosen SELECT page.segment, page.offset, page.id
FROM page JOIN url ON url.id = page.url LEFT JOIN host ON host.id = url.host
WHERE {CONDITIONS} AND is_meant(url.url) AND (NOT :kept OR page.is_kept)
    AND (NOT :newest OR page.attempt = (SELECT max(attempt) FROM page AS each WHERE each.url = url.id
        AND (:fetched_since IS NULL OR each.fetched >= :fetched_since)
        AND (:fetched_before IS NULL OR each.fetched < :fetched_before)))
"""  # noqa: S608 - all of it stands here

_RECORDS = """
INSERT INTO chosen SELECT segment, offset, NULL FROM record
WHERE is_meant(url) AND (:host IS NULL OR instr(url, '://' || :host || '/') OR instr(url, '://' || :host || ':'))
"""

_CAPTURES = """
SELECT segment.uri, segment.bytes, chosen.segment, chosen.offset, ifnull(page.length, record.length),
    ifnull(url.url, record.url), page.id, ifnull(fetched, 0), ifnull(status, 0), ifnull(content_type, ''),
    ifnull(payload_digest, x''), duplicate_of
FROM chosen JOIN segment ON segment.id = chosen.segment
LEFT JOIN page ON page.id = chosen.page LEFT JOIN url ON url.id = page.url
LEFT JOIN record ON record.segment = chosen.segment AND record.offset = chosen.offset
WHERE (chosen.segment, chosen.offset) > (?, ?) AND (page.id IS NOT NULL OR record.offset IS NOT NULL)
ORDER BY chosen.segment, chosen.offset LIMIT ?
"""
