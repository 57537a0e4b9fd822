"""The pages that were kept, read back: what is known of each, its text, its links, what was extracted from it."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from gossamer.archive.catalogue import CONDITIONS, Filter, conditions
from gossamer.archive.database import select
from gossamer.archive.index import inflate
from gossamer.errors import ArchiveError
from gossamer.parse.links import unpack
from gossamer.policy.patterns import Patterns
from gossamer.records import Link

_GROUP = 200  # rows that are read at once

Try = tuple[int, int]
"""Which fetch brought a page: the id of its URL, and the number of the try."""


@dataclass(frozen=True, slots=True)
class PageRow:
    """One version of one URL that was kept. Times in seconds since 1970, digests in hexadecimal."""

    id: int
    url: str
    notes: tuple[str, ...]
    is_html: bool
    is_indexed: bool
    status: int
    content_type: str
    charset: str
    language: str
    title: str
    description: str
    depth: int
    fetched: float
    size: int
    digest: str
    canonical: str
    duplicate_of: str | None
    truncated: str


def kept_pages(connection: apsw.Connection, wanted: Filter, *, newest: bool) -> Iterator[PageRow]:
    """The kept pages that the filter lets through, in the order fetched; ``newest``: of each URL the last one only."""
    patterns = Patterns(wanted.patterns) if wanted.patterns else None
    after = 0
    while rows := _group(connection, wanted, newest=newest, after=after):
        for row in rows:
            if patterns is None or patterns.first_match(row[1]) is not None:
                yield _page(row)
        after = rows[-1][0]


def pages_of(connection: apsw.Connection, tries: Sequence[Try]) -> list[PageRow]:
    """The pages that some fetches brought, in their order; those that are not there any more are left out."""
    found = [select(connection, f"{_PAGES} WHERE page.url = ? AND page.attempt = ?", each) for each in tries]
    return [_page(row) for rows in found for row in rows]


def newest_page(connection: apsw.Connection, url_id: int) -> PageRow | None:
    """The last kept version of a URL."""
    rows = select(connection, f"{_PAGES} WHERE page.url = ? AND is_kept ORDER BY attempt DESC LIMIT 1", (url_id,))
    return _page(rows[0]) if rows else None


def text_of(connection: apsw.Connection, page_id: int) -> str | None:
    """The readable text of a page; None where the page is not in the index. Raises ArchiveError when it is damaged."""
    rows = select(connection, "SELECT blob FROM text WHERE page = ?", (page_id,))
    try:
        return inflate(rows[0][0]) if rows else None
    except zlib.error as error:
        raise ArchiveError(f"the text of page {page_id} is damaged ({error})", hint="run gossamer verify") from error


def links_of(connection: apsw.Connection, page_id: int) -> tuple[Link, ...]:
    """The links of a page, in document order. Raises ArchiveError when they are damaged."""
    rows = select(connection, "SELECT blob FROM links WHERE page = ?", (page_id,))
    return unpack(bytes(rows[0][0])) if rows else ()


def extracted_of(connection: apsw.Connection, page_id: int) -> str:
    """What a person's own function found in a page, as JSON; "" for nothing."""
    rows = select(connection, "SELECT json FROM extracted WHERE page = ?", (page_id,))
    return str(rows[0][0]) if rows else ""


def _group(connection: apsw.Connection, wanted: Filter, *, newest: bool, after: int) -> list[tuple[Any, ...]]:
    values = conditions(wanted) | {"newest": newest, "after": after, "limit": _GROUP}
    return connection.execute(_KEPT, values).fetchall()


def _page(row: tuple[Any, ...]) -> PageRow:
    number, url, notes, is_html, is_indexed, *rest = row
    return PageRow(number, url, tuple(str(notes).splitlines()), bool(is_html), bool(is_indexed), *rest)


_PAGES = """
SELECT page.id, url.url, page.notes, page.is_page, page.is_indexed, page.status, page.content_type, page.charset,
    page.language, page.title, page.description, url.depth, page.fetched, page.size, lower(hex(page.digest)),
    page.canonical, (SELECT url.url FROM page AS first JOIN url ON url.id = first.url WHERE first.id = page.duplicate_of),
    page.truncated
FROM page JOIN url ON url.id = page.url
"""

_KEPT = f"""{_PAGES} LEFT JOIN host ON host.id = url.host
WHERE page.id > :after AND page.is_kept AND {CONDITIONS}
    AND (NOT :newest OR page.attempt =
        (SELECT max(attempt) FROM page AS each WHERE each.url = page.url AND each.is_kept))
ORDER BY page.id LIMIT :limit
"""  # noqa: S608 - all of it stands here
