"""`export`, `import`, `forget` and `backup` as a person types them."""

import csv
import io
import json
import subprocess
import time
import zipfile
from pathlib import Path

import pytest

from archive.foreign import pages
from cli.programs import BIN, run
from conftest import Serve
from fakeweb import Site, generate
from fakeweb.recipes import html, links, redirect, text
from gossamer.cli.export import FIELDS
from gossamer.lock import FolderLock
from small import Small

A = "http://a.test/"
SECRET = "zebrasecret"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    small = Small.create(tmp_path / "c")
    small.page(A, "Start", "words of the start", f"{A}secret", "http://b.test/x")
    small.page(f"{A}secret", "=SUM(A1)", SECRET)
    small.answer(f"{A}lost", b"nothing", status=404)
    small.seal()
    return tmp_path / "c"


def is_whole(folder: Path) -> bool:
    return run("gossamer", "verify", str(folder)).code == 0


# --- export


def test_rows_go_to_standard_output(folder: Path) -> None:
    done = run("gossamer", "export", str(folder), "--format", "jsonl")
    assert done.code == 0
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["url"] for row in rows] == [A, f"{A}secret"]
    assert tuple(rows[0]) == FIELDS
    lost = run("gossamer", "export", str(folder), "--format", "jsonl", "--status", "4xx", "-o", "-")
    assert [json.loads(line)["status"] for line in lost.out.splitlines()] == [404]


def test_csv_is_safe_for_spreadsheets(folder: Path) -> None:
    done = run("gossamer", "export", str(folder), "--format", "csv", "*secret")
    head, row = csv.reader(io.StringIO(done.out, newline=""))
    assert tuple(head) == FIELDS
    assert row[1] == "'=SUM(A1)"


def test_a_filtered_warc_and_a_package(folder: Path, tmp_path: Path) -> None:
    assert (
        run("gossamer", "export", str(folder), "--format", "warc", "-o", "x.warc.gz", "*secret", cwd=tmp_path).code == 0
    )
    assert run("gossamer", "export", str(folder), "--format", "wacz", "-o", "x.wacz", cwd=tmp_path).code == 0
    assert "archive/data.warc.gz" in zipfile.ZipFile(tmp_path / "x.wacz").namelist()
    done = run("gossamer", "import", "x.warc.gz", "x.wacz", "-o", "in", "--json", cwd=tmp_path)
    assert done.code == 0
    assert json.loads(done.out)["captures"] == 3
    assert json.loads(done.out)["known"] == 1
    assert is_whole(tmp_path / "in")


def test_where_nothing_matches_that_is_said(folder: Path, tmp_path: Path) -> None:
    options = ("--format", "warc", "-o", "x.warc.gz", "--fetched-since", "9000-01-01")
    done = run("gossamer", "export", str(folder), *options, cwd=tmp_path)
    assert (done.code, done.err) == (0, "no answer matches, so there is nothing to write\n")


def test_parquet_says_what_it_needs_or_works(folder: Path, tmp_path: Path) -> None:
    done = run("gossamer", "export", str(folder), "--format", "parquet", "-o", str(tmp_path / "x.parquet"))
    if done.code:
        assert done.code == 2
        assert "-m pip install pyarrow" in done.err
        assert not (tmp_path / "x.parquet").exists()
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        table = parquet.read_table(tmp_path / "x.parquet")
        assert tuple(table.column_names) == FIELDS
        assert table.column("url").to_pylist() == [A, f"{A}secret"]


def test_damage_is_told_and_the_rest_is_there(folder: Path, tmp_path: Path) -> None:
    (path,) = (folder / "warc").iterdir()
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 0xFF
    path.write_bytes(data)
    done = run("gossamer", "export", str(folder), "--format", "warc", "-o", str(tmp_path / "x.warc.gz"))
    assert done.code == 1
    assert "could not be written as they should" in done.err
    assert (tmp_path / "x.warc.gz").exists()


# --- import


def test_archives_of_wget(serve: Serve, tmp_path: Path) -> None:
    """With its index of duplicates, which makes revisits of other files' records."""
    site = Site(
        {
            "/": links("/a", "/old", "/notes.txt", title="Start"),
            "/a": html("<p>words of a", title="A"),
            "/b": html("<p>words of b", title="B"),
            "/old": redirect("/b"),
            "/notes.txt": text("words in a file"),
            "/robots.txt": text("User-agent: *\nDisallow: /hidden\n"),
        }
    )
    web = serve(site)
    wget = ["wget", "-q", "-r", "--no-parent", web.url()]
    try:
        subprocess.run([*wget, "--warc-file=one", "--warc-cdx"], cwd=tmp_path, check=True)
    except FileNotFoundError:
        pytest.skip("wget is not here")
    again = [*wget, "--warc-file=two", "--warc-dedup=one.cdx", "--no-warc-compression"]
    subprocess.run(again, cwd=tmp_path, check=True)
    done = run("gossamer", "import", "two.warc", "one.warc.gz", "-o", "c", cwd=tmp_path)
    assert done.code == 0, done.err
    assert is_whole(tmp_path / "c")
    listed = run("gossamer", "urls", str(tmp_path / "c"), "--state", "finished", "--json")
    rows = {json.loads(line)["url"].removeprefix(web.url()): json.loads(line) for line in listed.out.splitlines()}
    assert set(rows) == {"", "a", "b", "old", "notes.txt"}
    assert rows["old"]["redirect_to"] == web.url("/b")
    found = run("gossamer", "search", str(tmp_path / "c"), "words", "--json")
    assert {json.loads(line)["url"] for line in found.out.splitlines()} >= {web.url("/a"), web.url("/b")}
    before = done.out
    done = run("gossamer", "import", "two.warc", "one.warc.gz", "-o", "c", cwd=tmp_path)
    assert done.code == 0
    assert before != done.out
    assert "taken in                                         0" in done.out


def test_what_is_left_out_is_told_with_its_place(tmp_path: Path) -> None:
    archive = pages(3)
    (tmp_path / "x.warc.gz").write_bytes(archive.data[:-20])
    done = run("gossamer", "import", "x.warc.gz", "-o", "c", cwd=tmp_path)
    assert done.code == 1
    assert f"x.warc.gz:{archive.offsets[2]}: the file ends within compressed data\n" in done.err
    assert "Error: one thing was left out; the rest was taken in" in done.err
    as_json = run("gossamer", "import", "x.warc.gz", "-o", "c", "--json", cwd=tmp_path)
    problem, summary = map(json.loads, as_json.out.splitlines())
    assert problem["place"] == f"x.warc.gz:{archive.offsets[2]}"
    assert (summary["known"], summary["problems"]) == (2, 1)


def test_what_holds_nothing_makes_no_collection(tmp_path: Path) -> None:
    (tmp_path / "urls.txt").write_text("http://a.test/\nhttp://b.test/\n")
    done = run("gossamer", "import", "urls.txt", "-o", "c", cwd=tmp_path)
    assert (done.code, done.err.splitlines()[-2:]) == (
        1,
        [
            "urls.txt:0: no WARC record begins here",
            "Error: nothing was taken in; give WARC or WACZ files that hold answers of web servers",
        ],
    )
    assert not (tmp_path / "c").exists()


def test_a_crawl_and_an_import_do_not_work_at_once(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "x.warc.gz").write_bytes(pages(1).data)
    lock = FolderLock(folder, "gossamer crawl", 0.0)
    try:
        for command in (["import", str(tmp_path / "x.warc.gz"), "-o", str(folder)], ["forget", str(folder), A]):
            done = run("gossamer", *command)
            assert done.code == 4
            assert "is in use by process" in done.err
    finally:
        lock.close()


def test_a_killed_import_goes_on(tmp_path: Path) -> None:
    (tmp_path / "x.warc.gz").write_bytes(pages(900, size=20_000).data)
    command = [str(BIN / "gossamer"), "import", "x.warc.gz", "-o", "c"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while process.poll() is None and not list((tmp_path / "c" / "warc").glob("*")):
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert is_whole(tmp_path / "c")
    done = run("gossamer", "import", "x.warc.gz", "-o", "c", "--json", cwd=tmp_path)
    assert done.code == 0
    summary = json.loads(done.out)
    assert summary["captures"] + summary["known"] == 900
    assert is_whole(tmp_path / "c")
    listed = run("gossamer", "urls", "c", "--state", "finished", "--json", cwd=tmp_path)
    assert len(listed.out.splitlines()) == 900


# --- forget


def test_forgetting(folder: Path) -> None:
    before = {path: path.read_bytes() for path in (folder / "warc").iterdir()}
    rehearsal = run("gossamer", "forget", str(folder), "a.test/secret", "--dry-run")
    assert (rehearsal.code, rehearsal.out) == (0, "1 URLs, 1 versions of them, 0 hosts would be forgotten\n")
    assert {path: path.read_bytes() for path in (folder / "warc").iterdir()} == before
    done = run("gossamer", "forget", str(folder), "a.test/secret", "--json")
    assert done.code == 0
    assert json.loads(done.out)["urls"] == 1
    assert "--exclude https://a.test/secret --exclude http://a.test/secret" in done.err
    assert is_whole(folder)
    assert SECRET not in run("gossamer", "search", str(folder), SECRET).out
    again = run("gossamer", "forget", str(folder), f"{A}secret")
    assert (again.code, "nothing is known of it" in again.err) == (1, True)


def test_how_to_exclude_what_was_forgotten_is_said_as_it_works(folder: Path) -> None:
    done = run("gossamer", "forget", str(folder), "--host", "a.test")
    assert done.err.endswith("gossamer crawl " + str(folder) + r" --exclude 're:^https?://a\.test(?::\d+)?/'" + "\n")
    done = run("gossamer", "forget", str(folder), "--host", "b.test", "--pattern", "*/x")
    assert "--exclude PATTERN" in done.err


@pytest.mark.parametrize("arguments", [(), (A, "--host", "a.test"), ("--pattern", "re:(")])
def test_what_is_to_be_forgotten_must_be_clear(folder: Path, arguments: tuple[str, ...]) -> None:
    assert run("gossamer", "forget", str(folder), *arguments).code == 2


# --- backup


def test_a_backup_can_be_crawled_searched_and_made_again(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    done = run("gossamer", "backup", str(folder), str(copy))
    assert done.code == 0
    assert "1 WARC files, 1 copied and 0 linked this time" in done.out
    assert is_whole(copy)
    assert SECRET in run("gossamer", "search", str(copy), SECRET).out
    assert json.loads(run("gossamer", "backup", str(folder), str(copy), "--json").out)["segments"] == 1


def test_a_backup_beside_a_crawl(serve: Serve, tmp_path: Path) -> None:
    web = serve(generate(9, pages=60, max_delay=0.02))
    crawl = subprocess.Popen(
        [BIN / "gossamer", "crawl", "-o", "c", "--delay", "0", web.url()],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        copies = 0
        while crawl.poll() is None:
            if (tmp_path / "c" / "crawl.db").exists():
                assert run("gossamer", "backup", "c", "copy", cwd=tmp_path).code == 0
                assert is_whole(tmp_path / "copy")
                copies += 1
    finally:
        crawl.wait()
    assert copies
    assert run("gossamer", "backup", "c", "copy", cwd=tmp_path).code == 0
    assert is_whole(tmp_path / "copy")


def test_a_folder_that_holds_something_else_is_not_written_to(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    assert run("gossamer", "backup", str(folder), str(tmp_path / "mine")).code == 4
    assert run("gossamer", "backup", str(folder), str(folder / "copy")).code == 2
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["letter.txt"]
