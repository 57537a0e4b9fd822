"""Collections that were damaged, moved, or are none: repaired where nothing is lost, refused in one line otherwise."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from durability.crawling import Ended, assert_whole, run, start
from fakeweb import FakeWeb, GeneratedSite, Page, Site, generate
from oracle import check_archive


@pytest.fixture(scope="module")
def site() -> GeneratedSite:
    return generate(11, pages=14, missing=1, files=1)


@pytest.fixture(scope="module")
def web(site: GeneratedSite) -> Iterator[FakeWeb]:
    with FakeWeb(site) as served:
        yield served


@pytest.fixture(scope="module")
def template(web: FakeWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("half") / "crawl"
    run("crawl", "-u", "6", "--no-sitemaps", "-o", folder, web.url("/")).assert_said_clearly(0)
    return folder


@pytest.fixture
def half(template: Path, tmp_path: Path) -> Path:
    """A crawl that was ended after six pages."""
    return Path(shutil.copytree(template, tmp_path / "crawl"))


def go_on(folder: Path) -> Ended:
    return run("crawl", "-u", "0", "--no-sitemaps", folder)


def assert_comes_to_its_end(folder: Path, web: FakeWeb, site: GeneratedSite) -> None:
    before = len(web.log)
    go_on(folder).assert_said_clearly(0)
    asked_again = [visit.path for visit in web.log[before:]]
    assert len(asked_again) == len(set(asked_again))
    assert check_archive(folder, pages={web.url(path) for path in site.reachable}) == []
    assert_whole(folder)


def segment(folder: Path) -> Path:
    (path,) = (folder / "warc").iterdir()
    return path


def refused(ended: Ended, *words: str | Path, code: int = 4) -> None:
    ended.assert_said_clearly(code)
    for word in words:
        assert str(word) in ended.complaints[0]


# --- the archive


@pytest.mark.parametrize("tail", [b"\x1f\x8b\x08", b"\0" * 5000, b"WARC/1.1\r\n"])
def test_a_torn_tail_is_cut(half: Path, web: FakeWeb, site: GeneratedSite, tail: bytes) -> None:
    with segment(half).open("ab") as file:
        file.write(tail)
    assert_comes_to_its_end(half, web, site)
    assert f"cut {len(tail)} bytes" in (half / "gossamer.log").read_text()


def test_a_segment_that_no_row_knows_is_set_aside(half: Path, web: FakeWeb, site: GeneratedSite) -> None:
    stray = segment(half).with_name(segment(half).name.replace("-00001.", "-00099."))
    stray.write_bytes(b"begun, and never committed")
    assert_comes_to_its_end(half, web, site)
    assert stray.with_name(stray.name + ".stray").read_bytes() == b"begun, and never committed"


def test_lost_bytes_are_named(half: Path) -> None:
    path = segment(half)
    size = path.stat().st_size
    with path.open("rb+") as file:
        file.truncate(size - 10)
    refused(go_on(half), path.name, "lost")
    assert path.stat().st_size == size - 10
    verified = run("verify", half)
    verified.assert_said_clearly(1)
    assert path.name in verified.out


def test_a_lost_segment_is_named(half: Path) -> None:
    path = segment(half)
    path.unlink()
    refused(go_on(half), path.name, "lost")
    verified = run("verify", half)
    verified.assert_said_clearly(1)
    assert path.name in verified.out


# --- what can be made anew


def _nothing(path: Path) -> None:
    path.unlink(missing_ok=True)


def _noise(path: Path) -> None:
    path.write_bytes(Random(5).randbytes(40_000))


def _halved(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _noise_inside(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:64] + Random(6).randbytes(len(data) - 64))


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("seen.bin", _nothing),
        ("seen.bin", _noise),
        ("seen.bin", _halved),
        ("seen.bin", _noise_inside),
        ("running.ring", _noise),
        ("running.ring", _noise_inside),
        ("lock", _noise),
    ],
)
def test_what_can_be_made_anew(
    half: Path, web: FakeWeb, site: GeneratedSite, name: str, damage: Callable[[Path], None]
) -> None:
    damage(half / name)
    if name == "running.ring":  # it is only read after an unclean end
        _end_uncleanly(half)
    assert_comes_to_its_end(half, web, site)


def test_another_collections_set_of_seen_urls(half: Path, web: FakeWeb, site: GeneratedSite, tmp_path: Path) -> None:
    other = tmp_path / "other"
    run("crawl", "-u", "0", "-o", other, web.url("/")).assert_said_clearly(0)
    shutil.copy(other / "seen.bin", half / "seen.bin")
    assert_comes_to_its_end(half, web, site)


def _end_uncleanly(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "crawl.db")) as database:
        database.execute("UPDATE heartbeat SET clean = 0")
        database.commit()


# --- the database


def test_a_newer_schema(half: Path) -> None:
    with closing(sqlite3.connect(half / "crawl.db")) as database:
        database.execute("PRAGMA user_version = 99")
    refused(go_on(half), "newer", "99")
    refused(run("verify", half), "newer", "99")


@pytest.mark.parametrize("content", [b"", b"no database" * 1000])
def test_no_database(half: Path, content: bytes) -> None:
    for path in half.glob("crawl.db*"):
        path.unlink()
    (half / "crawl.db").write_bytes(content)
    refused(go_on(half), half)


@pytest.mark.parametrize("page", [0, 1, 3, 7])
def test_a_damaged_database_is_never_our_fault(half: Path, page: int) -> None:
    with (half / "crawl.db").open("rb+") as file:
        file.seek(page * 4096)
        file.write(Random(page).randbytes(4096))
    go_on(half).assert_said_clearly(0, 4)
    run("verify", half).assert_said_clearly(1, 4)


# --- the folder


def test_a_second_process_is_told_of_the_first(tmp_path: Path) -> None:
    endless = Site({"/": Page(b"<p>", delay=60.0)})
    with FakeWeb(endless) as web:
        first = start("crawl", "-o", tmp_path / "crawl", web.url("/"))
        web.wait(lambda log: any(visit.path == "/" for visit in log))
        refused(run("crawl", tmp_path / "crawl"), "in use", f"process {first.popen.pid}")
        looks = (json.loads(run("status", "--json", tmp_path / "crawl").out) for _ in range(100))
        assert any(look["running"] == 1 for look in looks), "the heartbeat says so within a second"
        first.kill()


@pytest.mark.parametrize("name", ["a file", "crawl.db.bak", ".hidden"])
def test_a_folder_that_holds_something_else(tmp_path: Path, name: str, web: FakeWeb) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / name).write_text("precious")
    refused(run("crawl", "-o", tmp_path / "folder", web.url("/")), "no collection")
    assert [path.name for path in (tmp_path / "folder").iterdir()] == [name]


def test_a_file_where_a_folder_should_be(tmp_path: Path, web: FakeWeb) -> None:
    (tmp_path / "file").write_text("precious")
    refused(run("crawl", "-o", tmp_path / "file", web.url("/")), "no folder")
    refused(run("crawl", "-o", tmp_path / "file" / "below", web.url("/")), tmp_path / "file" / "below")
    assert (tmp_path / "file").read_text() == "precious"
