"""Verify finds nothing in a sound collection, and in a damaged one what was damaged."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from gossamer.archive import database
from gossamer.archive.verify import Problem, verify
from gossamer.records import Exchange, Failure, FailureKind, HostUpdate, Outcome, RobotsAnswer, Settlement, State
from small import Small


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with everything in it, closed."""
    small = Small.create(tmp_path_factory.mktemp("sound") / "site")
    small.page("http://a.test/", "Home", "welcome", "http://a.test/1", "http://far.test/", "http://a.test/private")
    small.page("http://a.test/1", "One", "first", "http://a.test/2")
    small.page("http://a.test/2", "One", "first", "http://a.test/2")
    small.answer("http://a.test/old", status=301, redirect="http://a.test/1")
    failure = Failure(FailureKind.HTTP_CLIENT, "404")
    small.answer("http://a.test/gone", b"no", status=404, settlement=Settlement(State.FAILED, "404", failure=failure))
    small.answer("http://a.test/cut", b"x" * 100, truncated="length")
    small.fail("http://b.a.test/x", Failure(FailureKind.RESET), state=State.WAITING, put_aside="reset 8 times")
    robots(small)
    small.page("http://a.test/", "Home", "welcome again", "http://a.test/1")
    small.page("http://a.test/same", "One", "first", "http://a.test/2")
    small.seal()
    return small.folder


def robots(small: Small) -> None:
    """A robots.txt lies in the archive as well, with a row of another kind."""
    now = small.clock.now()
    claim = small.claim("http://a.test/")
    body = b"User-agent: *\n"
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    url = "http://a.test/robots.txt"
    exchange = Exchange(
        url, b"GET /robots.txt HTTP/1.1\r\n\r\n", head, body, 200, (), "127.0.0.1", "http/1.1", now, now, now
    )
    answer = RobotsAnswer(body, now, now + 9, 200)
    update = HostUpdate(claim.host_id, now, robots=answer)
    about = type(claim)(0, url, claim.host_id, claim.origin)
    small.commit(Outcome(about, Settlement(State.FINISHED), host=update, exchange=exchange))


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    """A copy to be damaged."""
    return Path(shutil.copytree(sound, tmp_path / "site"))


def change(folder: Path, statement: str) -> None:
    connection = apsw.Connection(str(folder / database.NAME))
    connection.execute(statement)
    assert connection.total_changes()
    connection.close()


def problems(folder: Path, *, at_rest: bool = True) -> list[Problem]:
    connection = database.open_for_reading(folder / database.NAME)
    try:
        return list(verify(connection, folder, at_rest=at_rest))
    finally:
        connection.close()


def test_a_sound_collection_has_no_problem(folder: Path) -> None:
    assert problems(folder) == []


@pytest.mark.parametrize(
    ("statement", "check", "message"),
    [
        ("UPDATE page SET offset = offset + 1 WHERE id = 1", "warc", "no record begins here"),
        ("UPDATE page SET length = length + 1 WHERE id = 1", "warc", "bytes long"),
        ("UPDATE page SET digest = randomblob(32) WHERE id = 1", "warc", "not that of the decoded body"),
        ("UPDATE page SET payload_digest = randomblob(32) WHERE id = 1", "warc", "payload digest of the row"),
        ("UPDATE page SET status = 500 WHERE id = 1", "warc", "status is 200"),
        ("UPDATE page SET wire_size = 1 WHERE id = 1", "warc", "the row of http://a.test/ says 1"),
        ("UPDATE page SET url = 3 WHERE id = 1", "warc", "this is the answer of http://a.test/"),
        ("UPDATE page SET duplicate_of = NULL WHERE duplicate_of IS NOT NULL", "warc", "speaks of no original"),
        ("UPDATE page SET duplicate_of = 1 WHERE duplicate_of IS NOT NULL", "urls", "of one with other bytes"),
        ("UPDATE page SET duplicate_of = 99 WHERE duplicate_of IS NOT NULL", "urls", "or of none"),
        ("DELETE FROM record", "warc", "no row speaks of this response"),
        ("DELETE FROM page WHERE id = 3", "urls", "it is finished and has no page"),
        ("UPDATE segment SET bytes = bytes - 1", "warc", "does not end where"),
        ("UPDATE segment SET bytes = bytes + 1", "warc", "are missing"),
        ("UPDATE segment SET uri = '../../etc/passwd'", "warc", "is no name of a segment"),
        ("UPDATE segment SET uri = 'warc/other.warc.gz'", "warc", "can't be read"),
        ("DELETE FROM page_index WHERE rowid = 1", "index", "a version of it is not in the index"),
        ("INSERT INTO page_index (rowid, title) VALUES (77, 'x')", "index", "it is in the index and should not be"),
        ("DELETE FROM text WHERE page = 1", "index", "not among the texts"),
        ("INSERT INTO text VALUES (77, x'789c')", "index", "among the texts and should not be"),
        ("UPDATE text SET blob = x'00' WHERE page = 1", "index", "its text is damaged"),
        ("UPDATE links SET blob = x'c1' WHERE page = 1", "links", "damaged"),
        ("INSERT INTO links VALUES (77, x'90')", "database", "refers to a page that is not there"),
        ("UPDATE counter SET value = value + 1 WHERE name = 'waiting'", "totals", "it says"),
        ("DELETE FROM counter WHERE name = 'bytes'", "totals", "it says 0"),
        ("UPDATE url SET state = 3 WHERE id = 1", "totals", "and there are"),
        ("UPDATE url SET fingerprint = 1 WHERE id = 1", "urls", "its fingerprint is wrong"),
        ("UPDATE url SET fingerprint = (SELECT fingerprint FROM url WHERE id = 2)", "urls", "more than once"),
        ("DELETE FROM meta WHERE name = 'secret'", "database", "secret"),
        ("UPDATE page_index_data SET block = x'00' WHERE id > 10", "database", "fts5"),
    ],
)  # fmt: skip
def test_what_was_changed_is_found(folder: Path, statement: str, check: str, message: str) -> None:
    change(folder, statement)
    found = problems(folder)
    assert [problem for problem in found if problem.check == check and message in problem.message], found


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x10
    path.write_bytes(data)


def shorten(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 7)


def lengthen(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"more")


def lead_astray(path: Path) -> None:
    path.rename(path.with_suffix(".moved"))
    path.symlink_to(path.with_suffix(".moved"))


@pytest.mark.parametrize("damage", [flip, shorten, lengthen, lead_astray, Path.unlink])
def test_what_happened_to_a_file_is_found(folder: Path, damage: Callable[[Path], None]) -> None:
    (path,) = (folder / "warc").iterdir()
    damage(path)
    found = problems(folder)
    assert {problem.check for problem in found} == {"warc"}
    assert all(problem.place.startswith(f"warc/{path.name}") for problem in found)


def test_a_file_that_no_row_speaks_of_is_found(folder: Path) -> None:
    (folder / "warc" / "stray.warc.gz").touch()
    assert problems(folder) == [Problem("warc", "warc/stray.warc.gz", "no row speaks of this file")]


def test_beside_a_running_crawl_files_may_be_longer(folder: Path) -> None:
    (path,) = (folder / "warc").iterdir()
    lengthen(path)
    (folder / "warc" / "next.warc.gz").touch()
    assert problems(folder, at_rest=False) == []


def test_a_database_that_breaks_under_the_check_is_a_problem_and_not_an_error(folder: Path) -> None:
    path = folder / database.NAME
    data = bytearray(path.read_bytes())
    for start in range(4096, len(data), 4096):
        data[start : start + 64] = b"\xff" * 64
    path.write_bytes(data)
    found = problems(folder)
    assert {problem.check for problem in found} >= {"database"}


def test_everything_is_seen_as_of_one_moment(sound: Path, tmp_path: Path) -> None:
    small = Small.create(tmp_path / "live")
    small.page("http://a.test/", "Home", "welcome", "http://a.test/1")
    connection = database.open_for_reading(small.folder / database.NAME)
    running = verify(connection, small.folder, at_rest=False)
    small.connection.execute("INSERT INTO counter VALUES ('bogus', 1)")
    small.page("http://a.test/1", "One", "first")
    assert list(running) == []
    connection.close()
