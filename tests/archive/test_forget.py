"""A URL or a host that is forgotten is gone from every file, and what stays is whole."""

import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from archive.samples import exchange
from gossamer import url as urls
from gossamer.archive import doomed
from gossamer.archive.answers import read_answer
from gossamer.archive.catalogue import opened
from gossamer.archive.database import SCHEMA, open_for_writing
from gossamer.archive.disk import Disk
from gossamer.archive.forget import Forgetter, Forgotten, Target
from gossamer.archive.search import search
from gossamer.archive.verify import verify
from gossamer.errors import ArchiveError
from gossamer.records import Claim, Failure, FailureKind, HostUpdate, Outcome, RobotsAnswer, Settlement, State
from small import Careless, Small

SECRET = "zebrasecret"
A, B = "http://a.test/", "http://b.test/"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pages of two hosts that link to each other, one of them with copies, redirects and failures."""
    small = Small.create(tmp_path / "c")
    small.page(A, "Start", "words of the start", f"{A}secret", f"{A}copy1", f"{B}x")
    small.page(f"{A}secret", SECRET, f"{SECRET} text that nobody may keep", f"{A}from-secret")
    small.page(f"{A}first", "Copy", "the same text", "http://a.test/z")
    small.page(f"{A}copy1", "Copy", "the same text", "http://a.test/z")
    small.page(f"{A}copy2", "Copy", "the same text", "http://a.test/z")
    small.answer(f"{A}old", status=301, redirect=f"{A}secret", headers=(("location", f"{A}secret"),))
    small.fail(f"{A}down", Failure(FailureKind.CONNECT_REFUSED))
    small.page(f"{B}x", "Other", "another host", A)
    robots(small, B)
    small.connection.execute(
        "INSERT INTO event (at, kind, body) VALUES (1, 'started', ?)",
        (json.dumps({"seeds": [A, f"{A}secret", "b.test"]}),),
    )
    small.seal()
    (tmp_path / "c" / "seen.bin").write_bytes(b"fingerprints")
    (tmp_path / "c" / "gossamer.log").write_text(f"fetched {A}secret: ok\nfetched {A}: ok\nhost b.test is slow\n")
    check(tmp_path / "c")
    return tmp_path / "c"


def robots(small: Small, origin: str) -> None:
    """Commit the robots.txt of a host."""
    host_id = small.claim(f"{origin}x").host_id
    body = b"User-agent: *\nDisallow: /hidden"
    claim = Claim(0, f"{origin}robots.txt", host_id, origin.rstrip("/"))
    update = HostUpdate(host_id, 1.0, robots=RobotsAnswer(body, 1.0, 2.0, 200))
    asked = exchange(url=claim.url, body=body)
    small.commit(Outcome(claim, Settlement(State.FINISHED), host=update, exchange=asked))


def check(folder: Path) -> None:
    with opened(folder) as connection:
        assert [str(problem) for problem in verify(connection, folder, at_rest=True)] == []


def forget(folder: Path, disk: Disk | None = None, **target: object) -> Forgotten:
    connection = open_for_writing(folder / "crawl.db")
    connection.set_busy_timeout(50)
    try:
        return Forgetter(connection, folder, 1.9e9, disk or Careless()).forget(Target(**target))  # type: ignore[arg-type]
    finally:
        connection.close()


def known(folder: Path) -> set[str]:
    with opened(folder) as connection:
        return {str(url) for (url,) in connection.execute("SELECT url FROM url")}


def found(folder: Path, words: str) -> list[str]:
    with opened(folder) as connection:
        return [hit.url for hit in search(connection, words, 10, 0)]


def unzipped(folder: Path) -> bytes:
    """All bytes of a collection's files, segments inflated."""
    parts = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            parts.append(
                subprocess.run(["zcat"], input=data, capture_output=True, check=True).stdout
                if path.suffix == ".gz"
                else data
            )
    return b"\n".join(parts)


def test_a_url_is_gone_from_every_file(folder: Path) -> None:
    assert SECRET.encode() in unzipped(folder)
    done = forget(folder, urls=(f"{A}secret",))
    assert (done.urls, done.pages, done.hosts, done.segments, done.is_clean) == (1, 1, 0, 1, True)
    check(folder)
    assert f"{A}secret" not in known(folder)
    assert SECRET.encode() not in unzipped(folder)
    assert found(folder, SECRET) == []
    assert not (folder / "seen.bin").exists()
    assert (
        folder / "gossamer.log"
    ).read_text() == "fetched [forgotten]: ok\nfetched http://a.test/: ok\nhost b.test is slow\n"


def test_what_others_have_of_it_is_let_go(folder: Path) -> None:
    forget(folder, urls=(f"{A}secret",))
    database = sqlite3.connect(folder / "crawl.db")
    assert database.execute("SELECT redirect_to FROM page WHERE redirect_to IS NOT NULL").fetchall() == []
    assert database.execute("SELECT parent FROM url WHERE url = ?", (f"{A}from-secret",)).fetchall() == [(None,)]
    ((body,),) = database.execute("SELECT body FROM event WHERE kind = 'started'").fetchall()
    assert json.loads(body) == {"seeds": [A, "[forgotten]", "b.test"]}
    database.close()


@pytest.mark.parametrize(
    "path", ["it's.html", "a(b)", "x).,", "q?a='b'&c=\\d", "p|q", "[1]", "semi;", "e%27nc", "a.b...", "'"]
)
@pytest.mark.parametrize("around", ["fetched {}: ok", "to '{}', which", "({}).", "at {}", '"{}"', "<{}>", "{} it's"])
def test_a_mention_is_found_whatever_stands_around_it(folder: Path, path: str, around: str) -> None:
    url = urls.canonicalise(path, A)
    assert url is not None
    database = sqlite3.connect(folder / "crawl.db")
    with database:
        database.execute("UPDATE url SET reason = ? WHERE url = ?", (around.format(url), A))
        database.execute("UPDATE url SET url = ? WHERE url = ?", (url, f"{A}old"))
        database.execute("INSERT INTO event (at, kind, body) VALUES (1, 'x', ?)", (json.dumps([around.format(url)]),))
    database.close()
    other = f"{url}x"
    (folder / "gossamer.log").write_text(f"{around.format(url)}\n{around.format(other)}\n")
    forget(folder, urls=(url,))
    database = sqlite3.connect(folder / "crawl.db")
    ((reason,),) = database.execute("SELECT reason FROM url WHERE url = ?", (A,))
    ((body,),) = database.execute("SELECT body FROM event WHERE kind = 'x'")
    database.close()
    clean = around.format("[forgotten]")
    assert (reason, json.loads(body)) == (clean, [clean])
    assert (folder / "gossamer.log").read_text() == f"{clean}\n{around.format(other)}\n"


def test_a_mention_in_another_spelling_is_found(folder: Path) -> None:
    (folder / "gossamer.log").write_text("to HTTP://A.TEST:80/secret, which\n")
    forget(folder, urls=(f"{A}secret",))
    assert (folder / "gossamer.log").read_text() == "to [forgotten], which\n"


def test_every_table_was_thought_of() -> None:
    """A new one may hold what is to be forgotten: let `forget` know, then this."""
    assert set(re.findall(r"CREATE (?:VIRTUAL )?TABLE (\w+)", SCHEMA)) == {
        *("url", "page", "attempt", "links", "text", "page_index", "dictionary", "extracted", "essence", "template"),
        *("host", "record", "segment", "event", "command", "counter", "doomed"),
        *("meta", "lease", "heartbeat"),  # say nothing of any URL
    }


def test_others_stay_as_they_are(folder: Path) -> None:
    before = bodies(folder)
    forget(folder, urls=(f"{A}secret",))
    del before[f"{A}secret"]
    assert bodies(folder) == before
    assert found(folder, "another host") == [f"{B}x"]


def bodies(folder: Path) -> dict[str, bytes]:
    """The body of each answer as the archive has it."""
    with opened(folder) as connection:
        pages = connection.execute("SELECT page.id, url.url FROM page JOIN url ON url.id = page.url").fetchall()
        return {str(url): read_answer(connection, folder, int(str(page))).body for page, url in pages}


def test_the_first_copy_of_a_forgotten_page_gets_its_bytes(folder: Path) -> None:
    before = bodies(folder)
    assert before[f"{A}copy1"] == before[f"{A}first"] != b""
    forget(folder, urls=(f"{A}first",))
    check(folder)
    assert f"{A}first".encode() not in unzipped(folder)
    del before[f"{A}first"]
    assert bodies(folder) == before
    with opened(folder) as connection:
        copies = connection.execute(
            "SELECT url.url, first.url FROM page JOIN url ON url.id = page.url"
            " LEFT JOIN page AS original ON original.id = page.duplicate_of LEFT JOIN url AS first ON first.id = original.url"
            " WHERE url.url GLOB '*copy*' ORDER BY 1"
        ).fetchall()
    assert copies == [(f"{A}copy1", None), (f"{A}copy2", f"{A}copy1")]
    forget(folder, urls=(f"{A}copy1",))
    check(folder)
    assert bodies(folder)[f"{A}copy2"] == before[f"{A}copy2"]


def test_a_host_goes_with_all_that_is_known_of_it(folder: Path) -> None:
    done = forget(folder, host="b.test")
    assert (done.urls, done.hosts, done.records) == (1, 1, 1)
    check(folder)
    assert all("b.test" not in url for url in known(folder))
    everything = unzipped(folder)
    assert b"another host" not in everything
    assert b"Disallow" not in everything
    assert "b.test" not in (folder / "gossamer.log").read_text()


def test_a_pattern_on_a_host(folder: Path) -> None:
    assert forget(folder, host="a.test", patterns=("*copy*",)).urls == 2
    assert forget(folder, host="b.test", patterns=("*copy*",)).urls == 0
    assert forget(folder, patterns=("re:/(first|old)$",)).urls == 2
    check(folder)


def test_an_exact_url_is_no_pattern(folder: Path) -> None:
    assert forget(folder, urls=("http://a.test/*",)).urls == 0
    assert forget(folder, urls=("http://a.test/copy?",)).urls == 0


def test_everything_can_go(folder: Path) -> None:
    forget(folder, patterns=("*",))
    check(folder)
    assert known(folder) == set()
    assert list((folder / "warc").iterdir()) == []


def test_a_rehearsal_changes_nothing(folder: Path) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with opened(folder) as connection:
        done = Forgetter(connection, folder, 1.9e9).forget(Target(host="a.test"), is_rehearsal=True)
    assert done.urls > 5
    assert {path: path.read_bytes() for path in before} == before


def test_files_set_aside_go_when_they_may_hold_it(folder: Path) -> None:
    segment = next((folder / "warc").iterdir())
    (folder / "warc" / "a.warc.gz.stray").write_bytes(segment.read_bytes())
    (folder / "warc" / "b.warc.gz.stray").write_bytes(b"damaged")
    forget(folder, urls=(f"{A}secret",))
    assert [path.name for path in (folder / "warc").glob("*.stray")] == []


def test_damage_that_may_hold_what_is_forgotten_is_told_and_nothing_is_changed(folder: Path) -> None:
    segment = next((folder / "warc").iterdir())
    with opened(folder) as connection:
        place = connection.execute(
            "SELECT offset FROM page WHERE url = (SELECT id FROM url WHERE url = ?)", (f"{B}x",)
        ).get
    data = bytearray(segment.read_bytes())
    data[int(str(place)) + 30] ^= 0xFF
    segment.write_bytes(data)
    with pytest.raises(ArchiveError, match="may hold what is to be forgotten"):
        forget(folder, urls=(f"{A}secret",))
    assert f"{A}secret" in known(folder)
    forget(folder, urls=(f"{A}secret", f"{B}x"))
    check(folder)
    assert SECRET.encode() not in unzipped(folder)


def test_a_reader_keeps_the_bytes_for_a_while_and_that_is_said(folder: Path) -> None:
    with opened(folder) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM url").get
        done = forget(folder, urls=(f"{A}secret",))
        assert not done.is_clean
    again = forget(folder, urls=(f"{A}secret",))
    assert again.urls == 0
    assert SECRET.encode() not in unzipped(folder)


class Dying(Disk):
    """Ends the process at the N-th thing that is asked of it."""

    def __init__(self, left: int) -> None:
        self._left = left

    def _step(self) -> None:
        self._left -= 1
        if not self._left:
            os._exit(9)

    def create(self, path: Path) -> int:
        self._step()
        return super().create(path)

    def write(self, descriptor: int, data: bytes) -> None:
        super().write(descriptor, data[: len(data) // 2])
        self._step()
        super().write(descriptor, data[len(data) // 2 :])

    def sync(self, descriptor: int) -> None:
        self._step()

    def sync_folder(self, folder: Path) -> None:
        self._step()


def in_child(work: Callable[[], object]) -> int:
    """The exit code of a child process that does something."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - it must not get back into pytest
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_it_may_die_at_any_step(folder: Path, tmp_path: Path) -> None:
    target = (f"{A}secret", f"{A}first")
    step = 1
    while True:
        copy = tmp_path / "dying"
        subprocess.run(["cp", "-r", folder, copy], check=True)
        code = in_child(partial(forget, copy, Dying(step), urls=target))
        assert code in (0, 9)
        check(copy)
        if code == 0:
            break
        forget(copy, urls=target)
        check(copy)
        everything = unzipped(copy)
        assert SECRET.encode() not in everything
        assert f"{A}first".encode() not in everything
        subprocess.run(["rm", "-r", copy], check=True)
        step += 1
    assert step > 15


STRACE = "fsync,fdatasync,pwrite64,rename,unlink,ftruncate"


@pytest.mark.skipif(
    subprocess.run(["which", "strace"], capture_output=True, check=False).returncode != 0, reason="no strace"
)
@pytest.mark.parametrize("at", [1, 12, 30, 60, 90])
def test_it_may_be_killed_at_any_system_call(folder: Path, at: int) -> None:
    """The database's own steps as well, from its first page to the end of VACUUM."""
    program = str(Path(sys.executable).with_name("gossamer"))
    command = [program, "forget", str(folder), f"{A}secret"]
    killed = subprocess.run(
        [
            "strace",
            "-f",
            "-qq",
            "-o",
            "/dev/null",
            "-e",
            f"trace={STRACE}",
            "-e",
            f"inject={STRACE}:signal=KILL:when={at}",
            *command,
        ],
        capture_output=True,
        check=False,
    )
    if killed.returncode == 0:
        pytest.skip(f"it needs fewer than {at} calls")
    with opened(folder) as connection:
        is_done = doomed.is_pending(connection)
    check(folder)
    again = subprocess.run(command, capture_output=True, check=False)
    assert again.returncode == 0 or (again.returncode == 1 and not is_done), again.stderr
    check(folder)
    assert SECRET.encode() not in unzipped(folder)
