"""status, urls, why, search, verify, retry and release: as a person and as another program use them."""

import contextlib
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from cli.programs import BIN, run
from conftest import Serve
from fakeweb import FakeWeb, Handler, Page, Site
from fakeweb.recipes import html, links
from gossamer.cli import search, status, urls, verify, why
from gossamer.cli.main import cli
from gossamer.errors import CollectionError, GossamerError, ProblemFound, UsageError
from gossamer.records import Failure, FailureKind, Settlement, State
from small import Small

ROOT = Path(__file__).resolve().parents[2]
Shown = Callable[..., str]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A closed collection; its titles come from nasty people."""
    small = Small.create(tmp_path / "site")
    home = "http://a.test/"
    small.page(home, "Home\x1b[31m", "welcome to the vector", "http://a.test/1", "http://far.test/", "mailto:x@y")
    small.page("http://a.test/1", "=1+1", "the vector of things", "http://a.test/private", "http://a.test/1")
    small.page("http://a.test/%E7%88%AC%E8%99%AB", "爬虫", "网络爬虫", "http://a.test/1")
    failure = Failure(FailureKind.HTTP_CLIENT, "404")
    small.answer("http://a.test/gone", b"no", status=404, settlement=Settlement(State.FAILED, "404", failure=failure))
    small.fail("http://b.a.test/x", Failure(FailureKind.RESET), state=State.WAITING, put_aside="reset 8 times")
    small.seal()
    return str(small.folder)


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str]) -> Shown:
    """``shown(arguments)`` runs a command in this process and gives what it printed."""

    def call(*arguments: str) -> str:
        capsys.readouterr()
        cli.main(list(arguments), standalone_mode=False)
        return capsys.readouterr().out

    return call


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


def documented(command: str) -> tuple[str, ...]:
    text = (ROOT / "docs" / "json.md").read_text(encoding="utf-8").partition(f"## gossamer {command}\n")[2]
    return tuple(re.findall(r"^\| `(\w+)` \|", text.partition("\n## ")[0], re.MULTILINE))


# --- each command


def test_the_fields_of_every_command_are_documented() -> None:
    for command, module in (("status", status), ("urls", urls), ("why", why), ("search", search), ("verify", verify)):
        assert documented(command) == module.FIELDS


def test_status(folder: str, shown: Shown) -> None:
    (row,) = lines(shown("status", folder, "--json"))
    assert tuple(row) == status.FIELDS
    assert [row[name] for name in ("state", "waiting", "running", "finished", "failed", "held", "pages")] == [
        "stopped", 0, 0, 3, 1, 4, 3,
    ]  # fmt: skip
    assert row["errors"] == {"connection reset": 1, "http client error": 1}
    text = shown("status", folder)
    assert re.search(r"^finished +3$", text, re.MULTILINE)
    assert re.search(r"^put aside: http://b.a.test +reset 8 times$", text, re.MULTILINE)


def test_what_pages_say_of_themselves_and_lack(serve: Serve, tmp_path: Path, shown: Shown) -> None:
    """Pages that are empty without JavaScript are counted, those that are not in the index say why."""
    app = html("<div id=root></div><script src=a.js></script>")
    quiet = html('<meta name=robots content="noindex; nofollow"><link rel=canonical href=/x>word')
    web = serve(Site({"/": links("/app", "/app2", "/quiet", "/x"), "/app": app, "/app2": app, "/quiet": quiet}))
    folder = str(tmp_path / "c")
    done = run("gossamer", "crawl", "--delay", "0", "-o", folder, web.url("/"))
    assert done.code == 0, done.err
    (row,) = lines(shown("status", folder, "--json"))
    assert (row["pages"], row["empty"]) == (4, 2)
    assert re.search(r"^empty without JavaScript +2 of them$", shown("status", folder), re.MULTILINE)
    told = shown("why", folder, web.url("/quiet"))
    for text in ("noindex: it is not searched", "nofollow: its links are not followed", f"canonical: {web.url('/x')}"):
        assert text in told
    assert "in the index" not in told
    assert "empty without JavaScript" in shown("why", folder, web.url("/app2"))
    assert "no problem was found" in shown("verify", folder)


def test_urls_in_three_formats(folder: str, shown: Shown) -> None:
    rows = lines(shown("urls", folder, "--json"))
    assert rows == lines(shown("urls", folder, "--format", "jsonl"))
    assert [tuple(row) for row in rows] == [urls.FIELDS] * 8
    table = csv.DictReader(io.StringIO(shown("urls", folder, "--format", "csv")))
    titles = {row["url"]: row["title"] for row in table}
    assert titles["http://a.test/1"] == "'=1+1"
    assert "\x1b" not in titles["http://a.test/"]
    text = shown("urls", folder).splitlines()
    assert len(text) == 9
    assert text[0].split() == ["state", "status", "content", "type", "depth", "url", "reason"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--state", "failed"], ["http://a.test/gone"]),
        (["--status", "4xx"], ["http://a.test/gone"]),
        (["--status", "200", "--limit", "1"], ["http://a.test/"]),
        (["--held", "--kind", "external"], ["http://far.test/"]),
        (["--not-held", "--depth", "1"], ["http://a.test/1"]),
        (["--reason", "8 times"], ["http://b.a.test/x"]),
        (["--host", "b.a.test"], ["http://b.a.test/x"]),
        (["--content-type", "text/html", "re:gone|/1$"], ["http://a.test/1", "http://a.test/gone"]),
        (["*/private"], ["http://a.test/private"]),
        (["--due-before", "now"], []),
        (["--fetched-since", "9000-01-01"], []),
        (["--fetched-before", "2000-01-01"], []),
        (["--fetched-since", "1970-01-01", "--fetched-before", "9000-01-01", "*/1"], ["http://a.test/1"]),
        (["--digest", "00ff00ff"], []),
    ],
)
def test_urls_filtered(folder: str, shown: Shown, options: list[str], expected: list[str]) -> None:
    assert [row["url"] for row in lines(shown("urls", folder, "--json", *options))] == expected


def test_when_a_page_changed_as_a_sitemap_says(serve: Serve, tmp_path: Path, shown: Shown) -> None:
    """Where one says it."""
    web = serve(site := Site({"/": html("home")}))
    entry = f"<url><loc>{web.url()}</loc><lastmod>2024-05-06</lastmod></url>"
    site.pages["/sitemap.xml"] = Page(f"<urlset>{entry}</urlset>".encode(), content_type="application/xml")
    folder = str(tmp_path / "dated")
    assert run("gossamer", "crawl", "--delay", "0", "-o", folder, web.url()).code == 0
    dates = {row["url"]: row["lastmod"] for row in lines(shown("urls", folder, "--json"))}
    assert dates == {web.url(): 1714953600, web.url("/sitemap.xml"): None}
    told = shown("why", folder, web.url())
    assert "as a sitemap or feed says" in told
    (row,) = lines(shown("why", folder, web.url(), "--json"))
    assert isinstance(row["entry"], dict)
    assert row["entry"]["lastmod"] == 1714953600


def test_why(folder: str, shown: Shown) -> None:
    (row,) = lines(shown("why", folder, "a.test/private", "--json"))
    assert tuple(row) == why.FIELDS
    assert row["answer"] == "refused, not fetched: excluded by *private*"
    assert row["way"] == ["http://a.test/", "http://a.test/1"]
    text = shown("why", folder, "http://a.test/1")
    assert "answer:       fetched" in text
    assert "linked from:  http://a.test/  link text" in text
    assert "404" in shown("why", folder, "http://a.test/gone")
    assert "not fetched: mailto" in shown("why", folder, "mailto:x@y")
    with pytest.raises(ProblemFound, match="is not known here"):
        shown("why", folder, "http://a.test/nowhere")


def test_search(folder: str, shown: Shown) -> None:
    rows = lines(shown("search", folder, "vectors", "things", "--json"))
    assert [tuple(row) for row in rows] == [search.FIELDS] * 2
    assert rows[0]["url"] == "http://a.test/1"
    assert lines(shown("search", folder, "vectors", "things", "--json", "--limit", "1")) == rows[:1]
    assert [row["url"] for row in lines(shown("search", folder, "爬虫", "--json"))] == [
        "http://a.test/%E7%88%AC%E8%99%AB"
    ]
    assert [row["url"] for row in lines(shown("search", folder, "vector", "-things", "--json"))] == ["http://a.test/"]
    text = shown("search", folder, "vector")
    assert "\x1b" not in text
    assert "the vector of things" in text


@pytest.mark.parametrize(
    "words", [["it's"], ["a", "AND"], ["-"], ["--"], ["-x"], ['"'], ["\ud800"], ["site:"], ["-help"]]
)
def test_nothing_typed_is_an_error_but_nothing_at_all(folder: str, shown: Shown, words: list[str]) -> None:
    shown("search", folder, *words, "zz")


def test_verify(folder: str, shown: Shown) -> None:
    assert shown("verify", folder).endswith("no problem was found\n")
    assert shown("verify", folder, "--json") == ""
    (segment,) = (Path(folder) / "warc").iterdir()
    segment.unlink()
    ended = run("gossamer", "verify", folder, "--json")
    assert ended.code == 1
    assert [tuple(row) for row in lines(ended.out)] == [verify.FIELDS]
    assert ended.err.startswith("Error: 1 problem was found")


def test_retry_and_release(folder: str, shown: Shown) -> None:
    assert shown("retry", folder, "--host", "nowhere.test") == "0 URLs wait again\n"
    assert lines(shown("retry", folder, "--json")) == [{"urls": 2}]
    assert shown("release", folder, "--reason", "excluded") == "1 URL waits again\n"
    assert shown("release", folder, "http://far.test/*") == "1 URL waits again\n"
    waiting = [row["url"] for row in lines(shown("urls", folder, "--state", "waiting", "--not-held", "--json"))]
    assert waiting == ["http://far.test/", "http://a.test/private", "http://a.test/gone", "http://b.a.test/x"]
    assert shown("verify", folder).endswith("no problem was found\n")


# --- bad input


@pytest.mark.parametrize("command", ["status", "urls", "why", "search", "verify", "retry", "release"])
def test_a_folder_that_is_no_collection(command: str, tmp_path: Path, shown: Shown) -> None:
    more = ["x"] if command in ("why", "search") else []
    for place, message in ((tmp_path, "is no collection"), (tmp_path / "none", "does not exist")):
        with pytest.raises(CollectionError, match=message):
            shown(command, str(place), *more)
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (["urls", "--status", "9xx9"], UsageError),
        (["urls", "--due-before", "soon"], UsageError),
        (["urls", "--fetched-since", "long ago"], UsageError),
        (["urls", "re:("], UsageError),
        (["retry", "re:("], UsageError),
        (["release", ""], UsageError),
    ],
)
def test_what_makes_no_sense_is_an_error_of_one_line(
    folder: str,
    shown: Shown,
    arguments: list[str],
    kind: type[GossamerError],
) -> None:
    with pytest.raises(kind):
        shown(arguments[0], folder, *arguments[1:])


def test_a_damaged_database_ends_with_4_and_one_line(folder: str) -> None:
    (Path(folder) / "crawl.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 8192)
    ended = run("gossamer", "status", folder)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (4, "", 1)


def columns(path: Path) -> list[tuple[str, str]]:
    connection = apsw.Connection(str(path))
    tables = connection.execute(
        "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE TABLE%' AND name NOT LIKE '%!_%' ESCAPE '!'"
    )
    found = [
        (str(table), str(row[1]))
        for (table,) in tables.fetchall()
        for row in connection.execute(f"PRAGMA table_info({table})")
    ]
    connection.close()
    return found


@pytest.mark.parametrize("value", ["x'ff00'", "'zzz'", "9e999", "-1", "1 << 62"])
def test_a_stranger_can_put_any_value_into_any_column(folder: str, shown: Shown, tmp_path: Path, value: str) -> None:
    path = tmp_path / "strange" / "crawl.db"
    shutil.copytree(folder, path.parent)
    whole = path.read_bytes()
    for number, (table, column) in enumerate(columns(path)):
        connection = apsw.Connection(str(path))
        with contextlib.suppress(apsw.ConstraintError, apsw.MismatchError):
            connection.execute(f"UPDATE {table} SET {column} = {value}")
        connection.close()
        command = [["status"], ["urls"], ["why", "a.test/1"], ["search", "vector things"], ["verify"]][number % 5]
        with contextlib.suppress(CollectionError, ProblemFound):
            shown(command[0], str(path.parent), *command[1:])
        path.write_bytes(whole)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not write")
def test_a_collection_that_can_not_be_written_can_be_read(folder: str) -> None:
    for path in (Path(folder), *Path(folder).rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    parents = [parent for parent in Path(folder).parents if parent.is_relative_to("/tmp") and parent != Path("/tmp")]
    for parent in parents:
        parent.chmod(0o755)
    for command in (["status"], ["urls"], ["verify"], ["search"]):
        arguments = [command[0], folder, *(["vector"] if command == ["search"] else [])]
        done = subprocess.run(
            [sys.executable, "-c", _AS_NOBODY, *arguments], capture_output=True, text=True, timeout=60, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), arguments
        assert done.stdout
    Path(folder, "crawl.db-wal").write_bytes(b"what a killed crawl left")
    done = subprocess.run(
        [sys.executable, "-c", _AS_NOBODY, "status", folder], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 4
    assert "copy it to a place where you can write" in done.stderr


_AS_NOBODY = """
import os, sys
from gossamer.cli.main import cli, main
list(cli.commands.values())  # they are imported when they are wanted; then nobody may not read the library any more
os.setgid(65534)
os.setuid(65534)
sys.argv[0] = "gossamer"
main()
"""


# --- beside a crawl that runs


@contextlib.contextmanager
def crawling(web: FakeWeb, folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    command = [str(BIN / "gossamer"), "crawl", web.url("/"), "-o", str(folder), "--delay", "0.05", "--min-free", "0"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_everything_works_beside_a_running_crawl_and_after_it_was_killed(
    serve: Serve, tmp_path: Path, shown: Shown
) -> None:
    pages: dict[str, Page | Handler] = {f"/{n}": links(f"/{n + 1}", text=f"{n} spiders") for n in range(1, 2000)}
    web = serve(Site({"/": links("/1", "/missing"), "/robots.txt": Page(status=404), **pages}))
    folder = str(tmp_path / "site")

    def until(what: str, *arguments: str) -> str:
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if Path(folder, "crawl.db").exists() and re.search(
                what, text := shown(arguments[0], folder, *arguments[1:])
            ):
                return str(text)
            time.sleep(0.05)
        pytest.fail(f"{arguments} never said {what}")

    with crawling(web, Path(folder)) as process:
        (row,) = lines(until(r'"state": "running".*"pages": [1-9]', "status", "--json"))
        assert row["pid"] == process.pid
        assert isinstance(row["pages_per_second"], int | float)
        (row,) = lines(until(r'"commit_seconds": \d*\.?\d*[1-9]', "status", "--json"))
        assert isinstance(row["parse_seconds"], float)
        assert row["parse_seconds"] > 0
        assert all(isinstance(row[depth], int) for depth in ("parsing", "committing", "pending_bytes", "ready_hosts"))
        until("spiders", "search", "spiders")
        until("404", "urls", "--state", "failed")
        assert shown("verify", folder).endswith("no problem was found\n")
        assert "given up after 1 try" in shown("why", folder, web.url("/missing"))
        assert shown("retry", folder) == "1 URL waits again\n"
        process.kill()
        process.wait()
    (row,) = lines(shown("status", folder, "--json"))
    assert (row["state"], row["pid"], row["running"]) == ("interrupted", None, 0)
    assert shown("verify", folder).endswith("no problem was found\n")
