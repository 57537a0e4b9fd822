"""What a killed process leaves of the set of seen URLs, and what is made of it."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import numpy as np
import pytest

from gossamer.archive.database import create
from gossamer.frontier import seen_file
from gossamer.frontier.seen import AS_FOUND, Fingerprints
from gossamer.frontier.seen_file import SeenFile

SECRET = bytes(range(32))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[apsw.Connection]:
    connection = create(tmp_path / "crawl.db", 0.0)
    yield connection
    connection.close()


def add(database: apsw.Connection, start: int, count: int, held: int = 0) -> Fingerprints:
    """Rows, and their fingerprints."""
    numbers = range(start, start + count)
    database.executemany(
        "INSERT INTO url (id, fingerprint, url, shard, state, held, kind, via, depth, found)"
        " VALUES (?, ?, ?, 0, 0, ?, 'internal', 'a', 1, 0)",
        [(number, number * 7919 - 2**40, f"http://a/{number}", held) for number in numbers],
    )
    return (np.array(numbers, dtype=np.int64) * 7919 - 2**40).view(np.uint64)


@pytest.mark.parametrize("part", [1, 3, 1000])
def test_it_is_built_anew_from_the_rows(
    database: apsw.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    monkeypatch.setattr(seen_file, "_PART", part)
    final, as_found = add(database, 1, 10), add(database, 11, 5, held=2)
    seen = SeenFile(database, tmp_path / "seen.bin", SECRET).load()
    assert len(seen) == 15
    assert seen.contains(final).all()
    assert not seen.contains(as_found).any()
    assert seen.contains(as_found ^ np.uint64(AS_FOUND)).all()
    assert all(seen.holds(int(key)) for key in final)
    assert not any(seen.holds(int(key)) for key in as_found)


def test_it_is_saved_when_it_has_grown_and_completed_after_a_kill(
    database: apsw.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen_file, "WORTH_SAVING", 10)
    path = tmp_path / "seen.bin"
    file = SeenFile(database, path, SECRET)
    seen = file.load()
    seen.add(add(database, 1, 9))
    file.save_grown(seen)
    assert not path.exists()
    seen.add(add(database, 10, 91))
    file.save_grown(seen)
    saved = path.stat().st_mtime_ns
    late = add(database, 101, 24)
    seen.add(late)
    file.save_grown(seen)
    assert path.stat().st_mtime_ns == saved, "not a quarter more"
    database.execute("DELETE FROM url WHERE id <= 100")  # what is in the file is not read again
    after = SeenFile(database, path, SECRET).load()
    assert len(after) == 124
    assert after.contains(late).all()


def test_a_database_that_is_older_than_the_file(database: apsw.Connection, tmp_path: Path) -> None:
    path = tmp_path / "seen.bin"
    file = SeenFile(database, path, SECRET)
    seen = file.load()
    seen.add(add(database, 1, 20))
    file.save(seen)
    database.execute("DELETE FROM url WHERE id > 10")
    assert len(SeenFile(database, path, SECRET).load()) == 10


def test_where_it_cannot_be_saved_the_crawl_goes_on(
    database: apsw.Connection, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = SeenFile(database, tmp_path / "nowhere" / "seen.bin", SECRET)
    file.save(file.load())
    assert "can't be saved" in caplog.text
