"""`save` and `check` as a person types them, against a web on real sockets."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from cli.programs import BIN, Ended, run
from conftest import Serve
from fakeweb import FakeWeb, Page, Site
from fakeweb.recipes import html, text
from gossamer.cli.check import FIELDS as CHECKED
from gossamer.cli.save import FIELDS
from small import Small


@pytest.fixture
def sites() -> tuple[Site, Site]:
    shop = Site({"/style.css": Page(b"@import 'more.css';", content_type="text/css")}, address="127.0.0.2")
    shop.pages["/more.css"] = Page(b"body{background:url(back.png)}", content_type="text/css")
    shop.pages["/back.png"] = Page(b"png", content_type="image/png")
    shop.pages["/"] = html("the shop")
    return Site({}), shop


def serve_both(serve: Serve, sites: tuple[Site, Site]) -> FakeWeb:
    site, shop = sites
    web = serve(site, shop)
    style = web.url("/style.css", shop)
    site.pages["/"] = html(
        f'<link rel=stylesheet href="{style}"><a href="/a">a</a><a href="{web.url("/", shop)}">shop</a>'
    )
    site.pages["/a"] = html('<title>A</title><img src="/i.png"><a href="/b">b</a><a href="/">home</a>')
    site.pages["/b"] = html("<title>B</title><a href=/c>c</a>")
    site.pages["/c"] = html("<title>C</title>")
    site.pages["/i.png"] = Page(b"png", content_type="image/png")
    return web


def gossamer(*command: str, cwd: Path) -> Ended:
    return run("gossamer", *command, cwd=cwd, GOSSAMER_ALLOW_PRIVATE="1", GOSSAMER_DELAY="0")


def names(folder: Path) -> set[str]:
    """The files that are of the web."""
    return {path.name for host in folder.glob("127*") for path in host.rglob("*") if path.is_file()}


def asked(web: FakeWeb) -> list[str]:
    return [visit.path for visit in web.log if visit.path not in ("/robots.txt", "/sitemap.xml")]


def test_one_step_for_the_impatient(serve: Serve, sites: tuple[Site, Site], tmp_path: Path) -> None:
    web = serve_both(serve, sites)
    done = gossamer("save", web.url(), "copy", cwd=tmp_path)
    assert done.code == 0, done.err
    assert {"a~.html", "b~.html", "c~.html", "i.png", "style.css", "more.css", "back.png"} <= names(tmp_path / "copy")
    assert "To be fetched first: " in done.err
    assert "Open: copy/index.html" in done.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "copy.collection"]
    assert len(asked(web)) == len(set(asked(web)))
    assert gossamer("check", "copy", cwd=tmp_path).code == 0
    assert gossamer("verify", "copy.collection", cwd=tmp_path).code == 0


def test_only_what_is_chosen_and_needed_is_fetched(serve: Serve, sites: tuple[Site, Site], tmp_path: Path) -> None:
    web = serve_both(serve, sites)
    assert gossamer("crawl", "-u", "1", "-o", "c", web.url(), cwd=tmp_path).code == 0
    before = len(asked(web))
    done = gossamer("save", "c", "copy", "--from", "-", "--json", cwd=tmp_path)
    assert done.code == 2
    (tmp_path / "list").write_text(f"# what I want\n{web.url('/a')}\n\n")
    done = gossamer("save", "c", "copy", "--from", "list", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    assert asked(web)[before:] == ["/a", "/i.png"]
    saved = json.loads(done.out)
    assert tuple(saved) == FIELDS
    assert (saved["pages"], saved["files"], saved["unresolved"]) == (1, 2, [])
    assert names(tmp_path / "copy") == {"a~.html", "i.png"}
    left = gossamer("urls", "c", "--state", "waiting", "--not-held", "--json", cwd=tmp_path).out.splitlines()
    assert {json.loads(line)["url"] for line in left} >= {web.url("/b")}  # a links to it, and nothing had wanted it
    assert "requisites" not in (tmp_path / "c" / "gossamer.toml").read_text()
    assert "max_urls = 1" in (tmp_path / "c" / "gossamer.toml").read_text()


def test_robots_are_obeyed_for_what_pages_need(serve: Serve, sites: tuple[Site, Site], tmp_path: Path) -> None:
    web = serve_both(serve, sites)
    sites[1].pages["/robots.txt"] = text("User-agent: *\nDisallow: /more.css\n")
    done = gossamer("save", web.url(), "copy", "--json", cwd=tmp_path)
    assert done.code == 0
    saved = json.loads(done.out.splitlines()[-1])
    assert [url.rpartition("/")[2] for url in saved["lacking"]] == ["more.css"]
    assert "/more.css" not in asked(web)


def test_without_fetching_nothing_is_asked_for(serve: Serve, sites: tuple[Site, Site], tmp_path: Path) -> None:
    web = serve_both(serve, sites)
    assert gossamer("crawl", "-o", "c", web.url(), cwd=tmp_path).code == 0
    before = len(web.log)
    done = gossamer("save", "c", "--all", "--no-fetch", cwd=tmp_path)
    assert done.code == 0
    assert len(web.log) == before
    assert "needed and not there: 2" in done.out


def test_a_folder_is_named_after_the_title(serve: Serve, tmp_path: Path) -> None:
    web = serve(Site({"/": html("", title='../A "strange" title: 1/2')}))
    assert gossamer("save", web.url(), cwd=tmp_path).code == 0
    assert "_A _strange_ title_ 1_2" in {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("command", "code", "says"),
    [
        (("save", "c", "copy"), 2, "nothing is chosen"),
        (("save", "c", "copy", "--under", "http://nobody.test/"), 2, "no URL of this collection begins"),
        (("save", "c", "copy", "--from", "list"), 2, "not in this collection"),
        (("save", "c", "copy", "--from", "nolist"), 2, "can't be read"),
        (("save", "c", "mine", "--all"), 2, "something else"),
        (("save", "c", ".", "--all"), 2, "holds the collection itself"),
        (("save", "mine", "copy", "--all"), 4, "no collection"),
        (("save", "c", "copy", "--include", "[z"), 2, ""),
        (("save", "ftp://a.test/", "copy"), 2, "not fetched"),
        (("check", "nothing"), 2, "no folder"),
        (("check", "list"), 2, "no zip file"),
        (("save", "c", "copy", "--all", "--format", "tar"), 2, "'tar' is not one of"),
        (("save", "c", "list", "--all", "--format", "zip"), 2, "something else"),
        (("save", "c", "list", "--all", "--format", "wacz"), 2, "something else"),
        (("save", "c", "list", "--all", "--format", "single"), 2, "something else"),
        (("save", "c", "c", "--all", "--format", "zip"), 2, "name it: c.zip"),
        (("save", "c", "copy/x.zip", "--all"), 2, "there is no folder copy"),
        (("save", "c", "x.html", "--all"), 2, "2 pages are chosen"),
    ],
)
def test_what_can_not_be_done_is_said(tmp_path: Path, command: tuple[str, ...], code: int, says: str) -> None:
    small = Small.create(tmp_path / "c")
    small.page("http://a.test/", "Start")
    small.page("http://a.test/b", "B")
    small.seal()
    (tmp_path / "list").write_text("http://nobody.test/page\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    done = gossamer(*command, cwd=tmp_path)
    assert done.code == code
    assert says in done.err
    assert len(done.err.splitlines()) <= 2
    assert (tmp_path / "mine" / "letter.txt").read_text() == "dear"
    assert not (tmp_path / "copy").exists()


@pytest.mark.parametrize(
    ("out", "options", "made"),
    [
        ("x.zip", (), "x.zip"),
        ("x.wacz", (), "x.wacz"),
        ("X.HTML", (), "X.HTML"),
        ("shelf", ("--format", "single"), "shelf/*.html"),
    ],
)
def test_files_are_made_of_a_site_and_checked(
    serve: Serve, sites: tuple[Site, Site], tmp_path: Path, out: str, options: tuple[str, ...], made: str
) -> None:
    web = serve_both(serve, sites)
    (tmp_path / "shelf").mkdir()
    start = web.url("/b") if "single" in options or out.endswith("HTML") else web.url("/a")
    done = gossamer("save", start, out, *options, cwd=tmp_path)
    assert done.code == 0, done.err
    (made,) = [str(path.relative_to(tmp_path)) for path in tmp_path.glob(made)]
    if start == web.url("/b"):
        assert asked(web) == ["/b"]  # a single page is not a whole site
    assert gossamer("check", made, cwd=tmp_path).code == 0
    again = gossamer("save", start, out, *options, "--json", cwd=tmp_path)
    assert again.code == 0, again.err
    assert json.loads(again.out.splitlines()[-1])["written"] == 0


def test_check_lists_what_does_not_resolve(tmp_path: Path) -> None:
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "a.html").write_text("<meta charset=utf-8><a href=a.html>here</a><img src=i.png>")
    done = gossamer("check", "copy", "--json", cwd=tmp_path)
    assert done.code == 1
    (found,) = [json.loads(line) for line in done.out.splitlines()]
    assert tuple(found) == CHECKED
    assert (found["reference"], found["reason"]) == ("i.png", "there is no such file")
    assert "img src 'i.png'" in gossamer("check", "copy", cwd=tmp_path).out


def test_a_full_disk_is_said_in_one_line(tmp_path: Path) -> None:
    small = Small.create(tmp_path / "c")
    for number in range(50):
        small.page(f"http://a.test/{number}", "Large", f"{number} " * 50_000)
    small.seal()
    command = f"ulimit -f 64; exec {BIN / 'gossamer'} save c copy --all --no-fetch"  # no file may be larger
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert "the disk is full" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["c"]


def test_an_interrupt_while_fetching_leaves_no_copy(serve: Serve, tmp_path: Path) -> None:
    site = Site({"/": html("".join(f"<a href=/{n}>x</a>" for n in range(200)))})
    for number in range(200):
        site.pages[f"/{number}"] = html(str(number))
    web = serve(site)
    command = [str(BIN / "gossamer"), "save", web.url(), "copy", "--delay", "0.1"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        web.wait(lambda log: len(log) > 5)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command goes on" in said
    assert [path.name for path in tmp_path.iterdir()] == ["copy.collection"]
