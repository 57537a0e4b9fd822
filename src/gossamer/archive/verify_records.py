"""Checks that the WARC files and the rows that point into them say the same."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import apsw

from gossamer.archive import store
from gossamer.archive.reader import ScannedRecord, read_record, scan
from gossamer.archive.segments import FOLDER, Segment, segment_path
from gossamer.errors import ArchiveError
from gossamer.parse.body import undo
from gossamer.records import RecordPlace

_ANSWERS = frozenset({"response", "revisit"})
_MAX_DECODED = 1 << 30


class _Row(NamedTuple):
    """A row that points at a record: a page, or with no ``page`` another answer."""

    offset: int
    length: int
    url: str
    page: int | None
    status: int
    size: int
    wire_size: int
    digest: bytes | None
    payload_digest: bytes | None
    duplicate_of: int | None
    truncated: str


@dataclass(frozen=True, slots=True)
class _Trouble:
    offset: int
    message: str


_ROWS = """
SELECT offset, length, url.url, page.id, status, size, wire_size, digest, payload_digest, duplicate_of, truncated
    FROM page JOIN url ON url.id = page.url WHERE segment = ?1
UNION ALL
SELECT offset, length, url, NULL, 0, 0, 0, NULL, NULL, NULL, '' FROM record WHERE segment = ?1
ORDER BY 1
"""


def verify(connection: apsw.Connection, folder: Path, *, at_rest: bool) -> Iterator[tuple[str, str]]:
    """What is wrong, as (place, message)."""
    known = {str(uri) for (uri,) in connection.execute("SELECT uri FROM doomed")}
    for segment in store.load_segments(connection):
        known.add(segment.uri)
        for trouble in _segment(connection, folder, segment, at_rest=at_rest):
            yield f"{segment.uri}:{trouble.offset}", trouble.message
    if at_rest:
        yield from ((uri, "no row speaks of this file") for uri in _files(folder) if uri not in known)


def _files(folder: Path) -> list[str]:
    try:
        names = sorted(os.listdir(folder / FOLDER))  # noqa: PTH208 - of a stranger's folder only the names
    except OSError:
        return []
    return [f"{FOLDER}/{name}" for name in names if name.endswith(".warc.gz")]


def _segment(connection: apsw.Connection, folder: Path, segment: Segment, *, at_rest: bool) -> Iterator[_Trouble]:
    try:
        path = segment_path(folder, segment.uri)
        records = scan(path, end=segment.bytes)
        rows = (_Row(*row) for row in connection.execute(_ROWS, (segment.id,)))
        yield from _compare(connection, folder, segment.uri, records, rows)
        size = path.lstat().st_size
    except ArchiveError as error:
        yield _Trouble(0, error.message)
        return
    if size > segment.bytes and (at_rest or segment.sealed):
        yield _Trouble(segment.bytes, f"no row speaks of the last {size - segment.bytes} bytes")


def _compare(
    connection: apsw.Connection,
    folder: Path,
    uri: str,
    records: Iterator[ScannedRecord],
    rows: Iterator[_Row],
) -> Iterator[_Trouble]:
    """Both come in the order of their offsets."""
    row = next(rows, None)
    for record in records:
        while row is not None and row.offset < record.offset:
            yield _Trouble(row.offset, f"no record begins here, where that of {row.url} should")
            row = next(rows, None)
        yield from (_Trouble(record.offset, problem) for problem in record.problems)
        mine = row if row is not None and row.offset == record.offset else None
        if mine is not None:
            yield from (_Trouble(record.offset, message) for message in _pair(record, mine))
            if record.type and not record.problems and mine.page is not None:
                yield from (_Trouble(record.offset, text) for text in _body(connection, folder, uri, mine))
            row = next(rows, None)
        elif record.type in _ANSWERS:
            yield _Trouble(record.offset, f"no row speaks of this {record.type} of {record.target_uri}")
    while row is not None:
        yield _Trouble(row.offset, f"no record begins here, where that of {row.url} should")
        row = next(rows, None)


def _pair(record: ScannedRecord, row: _Row) -> Iterator[str]:
    """What the head of a record says, against its row."""
    if not record.type:
        return  # it is damaged, and that was said
    if record.length != row.length:
        yield f"the record is {record.length} bytes long, and the row of {row.url} says {row.length}"
    if record.type not in _ANSWERS:
        yield f"this is a {record.type}, and should be the answer of {row.url}"
    elif record.target_uri != row.url:
        yield f"this is the answer of {record.target_uri}, and should be that of {row.url}"
    if record.type == "revisit" and row.page is not None and row.duplicate_of is None:
        yield f"this is a revisit, and the row of {row.url} speaks of no original"


def _body(connection: apsw.Connection, folder: Path, uri: str, row: _Row) -> Iterator[str]:
    """The body of a page's record, against what its row says of it."""
    record = read_record(folder, uri, RecordPlace(0, row.offset, row.length))
    if record.status != row.status:
        yield f"the answer's status is {record.status}, and the row of {row.url} says {row.status}"
    if record.type == "revisit":
        yield from _original(connection, row)
        return
    if len(record.body) != row.wire_size:
        yield f"the body is {len(record.body)} bytes long, and the row of {row.url} says {row.wire_size}"
    if row.payload_digest is not None and sha256(record.body).digest() != row.payload_digest:
        yield f"the payload digest of the row of {row.url} is wrong"
    if row.digest is not None:
        limit = min(max(row.size, row.wire_size), _MAX_DECODED)
        body = undo(record.http_headers, record.body, limit, url=row.url).data
        if sha256(body).digest() != row.digest:
            yield f"the digest of the row of {row.url} is not that of the decoded body"


def _original(connection: apsw.Connection, row: _Row) -> Iterator[str]:
    payload = connection.execute("SELECT payload_digest FROM page WHERE id = ?", (row.duplicate_of,)).get
    if payload != row.payload_digest:
        yield f"the page that {row.url} is a duplicate of has another payload"
