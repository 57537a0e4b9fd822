"""The CDXJ index of web archives: a sorted line a capture, with the field names of pywb, cdxj-indexer and WACZ."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import apsw

from gossamer.archive.export.chosen import Capture, captures
from gossamer.archive.export.surt import surt
from gossamer.archive.export.warc import Trouble
from gossamer.archive.reader import read_record
from gossamer.archive.warc import digest_label
from gossamer.errors import ArchiveError
from gossamer.parse.sniff import declared_type


class SortedLines:
    """Lines in the order of their bytes, which lookups need; sorted on disk, in a database that is gone with it."""

    def __init__(self) -> None:
        self._lines = apsw.Connection("")
        self._lines.execute(
            "CREATE TABLE line (text BLOB); PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF"
        ).fetchall()

    def add(self, line: str) -> None:
        """Take a line, without its end. Raises ArchiveError when there is no room among the temporary files."""
        with _in_temporary_files():
            self._lines.execute("INSERT INTO line VALUES (?)", (line.encode("utf-8", "replace"),))

    def __iter__(self) -> Iterator[str]:
        """Raises ArchiveError as `add` does."""
        with _in_temporary_files():
            lines = self._lines.execute("SELECT text FROM line ORDER BY text")
        while True:
            with _in_temporary_files():
                row = lines.fetchone()
            if row is None:
                return
            assert isinstance(row[0], bytes)
            yield row[0].decode()

    def close(self) -> None:
        """Let go of the lines."""
        self._lines.close()


@contextmanager
def _in_temporary_files() -> Iterator[None]:
    try:
        yield
    except (apsw.FullError, apsw.IOError) as error:
        raise ArchiveError(
            f"lines can't be sorted among the temporary files ({error})",
            hint="make room there, or name another folder in the environment as SQLITE_TMPDIR",
        ) from error


def index_line(capture: Capture, *, type: str, offset: int, length: int, filename: str) -> str:
    """The line of a capture whose record of a ``type`` lies at ``offset`` of the file ``filename``."""
    values = {
        "url": capture.url,
        "mime": "warc/revisit" if type == "revisit" else capture.content_type or "unk",
        "status": str(capture.status),
        "digest": digest_label(capture.payload_digest),
        "length": str(length),
        "offset": str(offset),
        "filename": filename,
    }
    return f"{surt(capture.url)} {_moment(capture.fetched)} {json.dumps(values, ensure_ascii=False)}"


def index_of_segments(connection: apsw.Connection, folder: Path, tell: Callable[[Trouble], None]) -> Iterator[str]:
    """The index of what was chosen where it lies, in the collection's own segments, in its order."""
    lines = SortedLines()
    try:
        for capture in captures(connection):
            try:
                kind, capture = looked_up(folder, capture)
            except ArchiveError as error:
                tell(Trouble(f"{capture.uri}:{capture.place.offset}", error.message))
                continue
            name = capture.uri.rpartition("/")[2]
            place = capture.place
            lines.add(index_line(capture, type=kind, offset=place.offset, length=place.length, filename=name))
        yield from lines
    finally:
        lines.close()


def looked_up(folder: Path, capture: Capture) -> tuple[str, Capture]:
    """The type of a capture's record, and the capture with what only the record knows. Raises ArchiveError."""
    if capture.page is not None and capture.duplicate_of is None:
        return "response", capture
    record = read_record(folder, capture.uri, capture.place)
    if capture.page is not None:
        return record.type, capture
    return record.type, replace(
        capture,
        fetched=record.date,
        status=record.status,
        content_type=declared_type(record.http_headers),
        payload_digest=sha256(record.body).digest(),
    )


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y%m%d%H%M%S")
