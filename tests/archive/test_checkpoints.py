"""The write-ahead log comes into the database while that is written to."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from gossamer.archive.checkpoints import Checkpoints
from gossamer.archive.database import create
from gossamer.archive.transaction import transaction

LOG_LIMIT = 40_000 * 4096
"""Bytes at which the writer waits; a transaction is written whole."""


class Written:
    """A database with checkpoints beside it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "crawl.db"
        self.log = folder / "crawl.db-wal"
        self.connection = create(self.path, 0.0)
        self.connection.execute("CREATE TABLE filler (id INTEGER PRIMARY KEY, content)")
        self.checkpoints = Checkpoints(self.connection, self.path)

    def write(self, pages: int) -> None:
        """One transaction."""
        with transaction(self.connection):
            rows = [(bytes(4000),)] * pages
            self.connection.executemany("INSERT INTO filler (content) VALUES (?)", rows)

    def close(self) -> None:
        self.checkpoints.close()
        self.connection.close()


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Written]:
    written = Written(tmp_path)
    yield written
    written.close()


def test_the_log_begins_anew(written: Written) -> None:
    for _ in range(150):
        written.write(500)
    assert written.log.stat().st_size < LOG_LIMIT
    assert written.path.stat().st_size > 30_000 * 4096


def test_a_small_log_is_left_alone(written: Written) -> None:
    before = written.path.stat().st_size
    written.write(100)
    assert written.path.stat().st_size == before


def test_a_reader_of_an_old_state_stops_no_commit(written: Written) -> None:
    reader = apsw.Connection(str(written.path), flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM filler").get == 0
    for _ in range(30):
        written.write(500)
    assert reader.execute("SELECT count(*) FROM filler").get == 0
    reader.close()
    written.write(1)
    assert written.connection.execute("SELECT count(*) FROM filler").get == 15_001


def test_all_is_there_after_the_end(tmp_path: Path) -> None:
    written = Written(tmp_path)
    for _ in range(30):
        written.write(500)
    written.close()
    assert not written.log.exists()
    connection = apsw.Connection(str(written.path), flags=apsw.SQLITE_OPEN_READONLY)
    assert connection.execute("SELECT count(*) FROM filler").get == 15_000
    assert connection.execute("PRAGMA integrity_check").get == "ok"
    connection.close()
