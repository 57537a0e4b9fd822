"""What revisit records of an import stand for, found among what was taken in before them."""

import hashlib
from pathlib import Path

import apsw

from gossamer import url as urls
from gossamer.archive.answers import read_answer
from gossamer.archive.database import select, select_one
from gossamer.archive.reader import StoredRecord, read_record
from gossamer.intake.exchange import Reference
from gossamer.records import RecordPlace

_SAME_MOMENT = 1.0  # seconds: dates of WARC 1.0 have no fractions, those of the record referred to may


class Originals:
    """Payloads by the id and the digest of their records, in a database of its own that is gone with it: archives name
    millions of them.
    """

    def __init__(self, connection: apsw.Connection, folder: Path, secret: bytes) -> None:
        """``connection`` reads the collection in ``folder``; ``secret`` is the key of its fingerprints."""
        self._connection = connection
        self._folder = folder
        self._secret = secret
        self._notes = apsw.Connection("")
        self._notes.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF").fetchall()
        self._notes.execute("CREATE TABLE note (key BLOB PRIMARY KEY, url TEXT, at REAL) WITHOUT ROWID")

    def close(self) -> None:
        """Let go of what was noted."""
        self._notes.close()

    def note(self, url: str, at: float, *names: str) -> None:
        """Keep by which names the record of a page is referred to."""
        rows = [(_key(name), url, at) for name in names if name]
        self._notes.executemany("INSERT OR IGNORE INTO note VALUES (?, ?, ?)", rows)

    def find(self, reference: Reference) -> StoredRecord | None:
        """The answer a revisit stands for, if it is in the collection by now. Raises ArchiveError."""
        dated = (reference.url, reference.date) if reference.date is not None else None
        for place in (self._noted(reference.record_id), dated, self._noted(reference.digest)):
            answer = self._answer(*place) if place is not None else None
            if answer is not None:
                return answer
        return None

    def has(self, reference: Reference) -> bool:
        """Whether what a record was made of is in the collection by now as a page."""
        noted = self._noted(reference.record_id)
        dated = reference.date is not None and self._page(reference.url, reference.date) is not None
        return dated or (noted is not None and self._page(*noted) is not None)

    def _noted(self, name: str) -> tuple[str, float] | None:
        row = select_one(self._notes, "SELECT url, at FROM note WHERE key = ?", (_key(name),)) if name else None
        return None if row is None else (row[0], row[1])

    def _answer(self, url: str, at: float) -> StoredRecord | None:
        page_id = self._page(url, at)
        if page_id is not None:
            return read_answer(self._connection, self._folder, page_id)
        rows = select(
            self._connection,
            "SELECT uri, segment, offset, length FROM record JOIN segment ON segment.id = record.segment WHERE url = ?",
            (url,),
        )
        records = (read_record(self._folder, uri, RecordPlace(*place)) for uri, *place in rows)
        return next((record for record in records if abs(record.date - at) < _SAME_MOMENT), None)

    def _page(self, url: str, at: float) -> int | None:
        row = select_one(
            self._connection,
            "SELECT page.id FROM url JOIN page ON page.url = url.id"
            " WHERE url.id >> 17 IN block AND fingerprint = ? AND url.url = ?"
            " AND abs(fetched - ?) < ? ORDER BY abs(fetched - ?) LIMIT 1",
            (key_of(url, self._secret), url, at, _SAME_MOMENT, at),
        )
        return None if row is None else int(row[0])


def key_of(url: str, secret: bytes) -> int:
    """The fingerprint of a URL as the table ``url`` has it."""
    return int.from_bytes(urls.fingerprint(url, secret), "little", signed=True)


def _key(name: str) -> bytes:
    return hashlib.blake2b(name.encode(), digest_size=12).digest()
