"""A page's answer as it came, wherever its bytes lie: a revisit has its payload with the first page of the same bytes."""

from dataclasses import replace
from pathlib import Path

import apsw

from gossamer.archive.database import select
from gossamer.archive.reader import StoredRecord, read_record
from gossamer.errors import ArchiveError
from gossamer.records import RecordPlace


def read_answer(connection: apsw.Connection, folder: Path, page_id: int) -> StoredRecord:
    """Head and body of a page, the body that of its original where that is where it was kept.

    Raises ArchiveError when a record is damaged or not there.
    """
    record, original = _read(connection, folder, page_id)
    if record.type != "revisit":
        return record
    if original is None:
        raise ArchiveError(f"page {page_id} is a revisit of no page that is known", hint="run gossamer verify")
    return replace(record, body=_read(connection, folder, original)[0].body)


def _read(connection: apsw.Connection, folder: Path, page_id: int) -> tuple[StoredRecord, int | None]:
    found = select(
        connection,
        "SELECT segment.uri, page.segment, offset, length, duplicate_of FROM page"
        " JOIN segment ON segment.id = page.segment WHERE page.id = ?",
        (page_id,),
    )
    if not found:
        raise ArchiveError(f"there is no page {page_id}", hint="run gossamer verify")
    ((uri, *place, original),) = found
    return read_record(folder, uri, RecordPlace(*place)), original
