"""A copy of a collection as of one moment, also while it is written to."""

import asyncio
import os
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from gossamer.archive.backup import BackedUp, Backup
from gossamer.archive.catalogue import opened
from gossamer.archive.database import open_for_writing
from gossamer.archive.disk import Disk
from gossamer.archive.forget import Forgetter, Target
from gossamer.archive.status import status
from gossamer.archive.verify import verify
from gossamer.clock import SystemClock
from gossamer.collection import Collection
from gossamer.errors import ArchiveError, UsageError
from gossamer.settings_files import load
from small import Careless, Small

A = "http://a.test/"


def backup(source: Path, target: Path, *, links: bool = False, disk: Disk | None = None) -> BackedUp:
    target.mkdir(exist_ok=True)
    with opened(source) as connection:
        return Backup(source, target, links=links, disk=disk).run(connection)


def check(folder: Path) -> None:
    with opened(folder) as connection:
        assert [str(problem) for problem in verify(connection, folder, at_rest=True)] == []


def known(folder: Path) -> set[str]:
    with opened(folder) as connection:
        return {str(url) for (url,) in connection.execute("SELECT url FROM url")}


@pytest.fixture
def small(tmp_path: Path) -> Small:
    made = Small.create(tmp_path / "c")
    made.page(A, "Start", "words", f"{A}a")
    (tmp_path / "c" / "gossamer.toml").write_text("delay = 1\n")
    return made


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_the_copy_is_a_collection(small: Small, tmp_path: Path) -> None:
    small.seal()
    done = backup(small.folder, tmp_path / "b")
    (segment,) = (small.folder / "warc").iterdir()
    assert files(tmp_path / "b") == {"crawl.db", "gossamer.toml", f"warc/{segment.name}"}
    check(tmp_path / "b")
    assert known(tmp_path / "b") == known(small.folder)
    assert (done.segments, done.copied, done.removed) == (1, 1, 0)


def test_a_copy_beside_a_crawl_has_what_was_committed(small: Small, tmp_path: Path) -> None:
    for number in range(3):
        small.page(f"{A}{number}", f"Page {number}", f"words {number}")
        done = backup(small.folder, tmp_path / "b")
        check(tmp_path / "b")
        assert (done.copied, known(tmp_path / "b")) == (1, known(small.folder))
    small.seal()


def test_a_copy_while_a_writer_does_not_pause(small: Small, tmp_path: Path) -> None:
    is_over = threading.Event()
    written: list[int] = []

    def write() -> None:
        number = 0
        while not is_over.is_set():
            number += 1
            small.page(f"{A}{number}", f"Page {number}", "words " * number)
            written.append(number)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(5):
            at_least = len(written)
            backup(small.folder, tmp_path / "b", disk=Careless())
            check(tmp_path / "b")
            assert len(known(tmp_path / "b")) > at_least
    finally:
        is_over.set()
        writer.join()
    small.seal()


def sealed(small: Small) -> None:
    """End the segment, as its size does."""
    small.connection.execute("UPDATE segment SET state = 'sealed'")


def test_finished_files_are_not_copied_again(small: Small, tmp_path: Path) -> None:
    sealed(small)
    small.seal()
    assert backup(small.folder, tmp_path / "b").copied == 1
    (path,) = (tmp_path / "b" / "warc").iterdir()
    before = path.stat()
    assert backup(small.folder, tmp_path / "b").copied == 0
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    path.write_bytes(b"shorter")
    assert backup(small.folder, tmp_path / "b").copied == 1
    check(tmp_path / "b")


def test_finished_files_can_be_shared(small: Small, tmp_path: Path) -> None:
    sealed(small)
    small.seal()
    done = backup(small.folder, tmp_path / "b", links=True)
    assert (done.copied, done.linked) == (0, 1)
    (one,), (other,) = ((folder / "warc").iterdir() for folder in (small.folder, tmp_path / "b"))
    assert one.samefile(other)
    check(tmp_path / "b")
    assert backup(small.folder, tmp_path / "b", links=True).linked == 0


def test_open_files_are_never_shared(small: Small, tmp_path: Path) -> None:
    assert backup(small.folder, tmp_path / "b", links=True).linked == 0
    small.seal()


def test_what_was_forgotten_goes_from_the_next_copy(small: Small, tmp_path: Path) -> None:
    small.page(f"{A}secret", "Secret", "nobody may keep this")
    small.seal()
    backup(small.folder, tmp_path / "b")
    connection = open_for_writing(small.folder / "crawl.db")
    Forgetter(connection, small.folder, 1.9e9, Careless()).forget(Target(urls=(f"{A}secret",)))
    connection.close()
    assert backup(small.folder, tmp_path / "b").removed == 1
    check(tmp_path / "b")
    assert f"{A}secret" not in known(tmp_path / "b")


def test_a_log_beside_an_older_copy_is_not_taken_for_the_new_ones(small: Small, tmp_path: Path) -> None:
    backup(small.folder, tmp_path / "b")
    user = sqlite3.connect(tmp_path / "b" / "crawl.db")
    user.execute("CREATE TABLE mine (x)")
    user.commit()
    wal = (tmp_path / "b" / "crawl.db-wal").read_bytes()
    user.close()
    (tmp_path / "b" / "crawl.db-wal").write_bytes(wal)
    small.page(f"{A}more", "More", "more words")
    backup(small.folder, tmp_path / "b")
    check(tmp_path / "b")
    assert known(tmp_path / "b") == known(small.folder)
    small.seal()


def test_another_collection_is_not_written_over(small: Small, tmp_path: Path) -> None:
    small.seal()
    other = Small.create(tmp_path / "other")
    other.seal()
    with pytest.raises(UsageError, match="holds another collection"):
        backup(small.folder, tmp_path / "other")


def test_a_file_that_lost_bytes_is_told(small: Small, tmp_path: Path) -> None:
    small.seal()
    (path,) = (small.folder / "warc").iterdir()
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(ArchiveError, match="10 bytes shorter"):
        backup(small.folder, tmp_path / "b")
    assert not (tmp_path / "b" / "crawl.db").exists()


class Broken(Disk):
    """Fails at its N-th sync of a folder."""

    def __init__(self, at: int) -> None:
        self._left = at

    def sync_folder(self, folder: Path) -> None:
        self._left -= 1
        if not self._left:
            raise OSError(5, "Input/output error", str(folder))


@pytest.mark.parametrize("at", [1, 2])
def test_a_copy_that_failed_is_made_by_the_next(small: Small, tmp_path: Path, at: int) -> None:
    backup(small.folder, tmp_path / "b")
    small.page(f"{A}more", "More", "more words")
    with pytest.raises(ArchiveError, match="can't be written"):
        backup(small.folder, tmp_path / "b", disk=Broken(at))
    backup(small.folder, tmp_path / "b")
    check(tmp_path / "b")
    assert known(tmp_path / "b") == known(small.folder)
    small.seal()


def test_a_copy_of_a_running_crawl_does_not_run(small: Small, tmp_path: Path) -> None:
    small.connection.execute(
        "INSERT OR REPLACE INTO heartbeat VALUES (1, ?, ?, 'running', 0, 1, '{}')", (time.time(), os.getpid())
    )
    backup(small.folder, tmp_path / "b")
    with opened(tmp_path / "b") as connection:
        assert status(connection, time.time()).state == "interrupted"


def test_what_was_worked_on_is_not_written_over(small: Small, tmp_path: Path) -> None:
    backup(small.folder, tmp_path / "b")
    backup(small.folder, tmp_path / "b")
    with pytest.raises(UsageError, match="worked on since"):
        backup(tmp_path / "b", small.folder)  # the other way round
    loaded = load({"min_free": 0}, collection=None, environment={}, user_file=None)
    collection = Collection(tmp_path / "b", SystemClock())
    asyncio.run(collection.open(loaded.settings, (), lambda: None).frontier.aclose())
    collection.close()
    with pytest.raises(UsageError, match="worked on since"):
        backup(small.folder, tmp_path / "b")
