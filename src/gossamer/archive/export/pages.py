"""Chosen pages as rows: what was fetched when, what it says, where it leads."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from zlib import error as InflateError  # noqa: N812 - an exception's name

import apsw

from gossamer.archive.database import select
from gossamer.archive.index import inflate
from gossamer.errors import ArchiveError
from gossamer.parse.links import unpack

_GROUP = 100


@dataclass(frozen=True, slots=True)
class PageRow:
    """A page for other programs. Times in seconds since 1970, durations in seconds, sizes in bytes, digests in hexadecimal;
    None is not known.
    """

    url: str
    title: str
    text: str | None  # readable text; None where the page is not in the index
    links: tuple[dict[str, object], ...]  # url, kind, text, nofollow; in document order
    is_page: bool  # HTML
    status: int
    content_type: str
    charset: str
    language: str
    description: str
    canonical: str | None
    depth: int
    via: str
    parent: str | None
    fetched: float
    duration: float
    size: int
    wire_size: int
    digest: str | None
    payload_digest: str | None
    text_digest: str | None
    etag: str
    last_modified: str
    redirect_to: str | None
    duplicate_of: str | None
    address: str
    protocol: str
    truncated: str
    notes: str
    segment: str
    offset: int
    length: int


def page_rows(connection: apsw.Connection) -> Iterator[PageRow]:
    """The pages that were chosen, in the order of the archive. Raises ArchiveError for a damaged one."""
    after: tuple[int, int] = (0, -1)
    while rows := select(connection, _ROWS, (*after, _GROUP)):
        for segment, offset, page, url, title, text, links, is_page, *rest in rows:
            yield PageRow(url, title, _text(page, text), _links(links), bool(is_page), *rest)
            after = (segment, offset)


def _text(page: int, blob: bytes | None) -> str | None:
    try:
        return None if blob is None else inflate(blob)
    except InflateError as error:
        raise ArchiveError(f"the text of page {page} is damaged ({error})", hint="run gossamer verify") from error


def _links(blob: bytes | None) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"url": link.url, "kind": str(link.via), "text": link.text, "nofollow": link.nofollow}
        for link in unpack(blob or b"")
    )


_ROWS = """
SELECT chosen.segment, chosen.offset, page.id, url.url, title, text.blob, links.blob, is_page, status, content_type,
    charset, language, description, nullif(canonical, ''), url.depth, url.via, parent.url, fetched, duration, size, wire_size,
    lower(hex(nullif(digest, x''))), lower(hex(nullif(payload_digest, x''))), lower(hex(nullif(text_digest, x''))),
    etag, last_modified, target.url,
    (SELECT url.url FROM page AS first JOIN url ON url.id = first.url WHERE first.id = page.duplicate_of),
    address, protocol, truncated, notes, segment.uri, page.offset, page.length
FROM chosen JOIN page ON page.id = chosen.page JOIN url ON url.id = page.url
JOIN segment ON segment.id = page.segment
LEFT JOIN url AS parent ON parent.id = url.parent
LEFT JOIN url AS target ON target.id = page.redirect_to
LEFT JOIN text ON text.page = page.id LEFT JOIN links ON links.page = page.id
WHERE (chosen.segment, chosen.offset) > (?, ?)
ORDER BY chosen.segment, chosen.offset LIMIT ?
"""
