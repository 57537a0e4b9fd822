"""A collection that somebody else sent: it does nothing that only its owner may wish, and says so."""

import tomllib
from pathlib import Path

import apsw
import pytest

import gossamer
from cli.programs import run
from conftest import Serve
from fakeweb import FakeWeb, Site
from fakeweb.recipes import html, links, robots

AGENT = "Mozilla/5.0 (stranger)"


@pytest.fixture
def web(serve: Serve) -> FakeWeb:
    site = Site({"/": links("/a", "/b", "/private")}, lambda asked: html(asked.path))
    site.pages["/robots.txt"] = robots("User-agent: *\nDisallow: /private\n")
    return serve(site)


@pytest.fixture
def folder(web: FakeWeb, tmp_path: Path) -> Path:
    """A crawl that was begun elsewhere, with what a stranger could have put into it."""
    folder = tmp_path / "c"
    options = ("--delay", "0", "--per-host", "4", "--user-agent", AGENT, "--max-urls", "1", "--exclude", "*/b")
    assert run("gossamer", "crawl", "-o", str(folder), *options, web.url()).code == 0
    send(folder)
    return folder


def send(folder: Path) -> None:
    """Make a collection one of another machine."""
    change(folder, "UPDATE meta SET value = 'elsewhere' WHERE name = 'home'")


def change(folder: Path, query: str, *values: object) -> None:
    connection = apsw.Connection(str(folder / "crawl.db"))
    connection.execute(query, values)
    connection.close()


def go_on(folder: Path, *options: str) -> str:
    """What is told beside the result."""
    ended = run("gossamer", "crawl", str(folder), "--allow-private", "--max-urls", "0", *options)
    assert ended.code == 0, ended.err
    return ended.err


def kept(folder: Path) -> dict[str, object]:
    return tomllib.loads((folder / "gossamer.toml").read_text())


def test_what_could_hurt_is_not_taken_and_told_once(web: FakeWeb, folder: Path) -> None:
    before = len(web.log)
    told = go_on(folder, "--delay", "0")
    assert "comes from another machine" in told
    assert f"per_host = 4, user_agent = {AGENT} (give --per-host --user-agent)" in told
    agents = {dict(visit.headers)["user-agent"] for visit in web.log[before:]}
    assert agents == {f"Mozilla/5.0 (compatible; Gossamer/{gossamer.__version__})"}
    assert kept(folder).keys() == {"delay", "max_urls", "exclude"}
    assert "another machine" not in go_on(folder)


def test_also_where_something_else_is_done_first(web: FakeWeb, folder: Path, tmp_path: Path) -> None:
    """An import makes the collection one's own, and must not make its settings so."""
    out = tmp_path / "c.warc.gz"
    assert run("gossamer", "export", str(folder), "--format", "warc", "-o", str(out)).code == 0
    assert "another machine" in run("gossamer", "import", "-o", str(folder), str(out)).err
    assert {"user_agent", "per_host", "delay"}.isdisjoint(kept(folder))
    assert kept(folder)["exclude"] == ["*/b"]


def test_private_addresses_are_not_allowed(web: FakeWeb, folder: Path) -> None:
    before = len(web.log)
    ended = run("gossamer", "crawl", str(folder), "--max-urls", "0")
    assert ended.code == 0
    assert web.log[before:] == []


def test_commands_that_wait_are_not_carried_out(serve: Serve, folder: Path) -> None:
    inside = serve(Site({"/": html("inside")}, address="127.0.0.2"))
    query = "INSERT INTO command (at, verb, arguments) VALUES (9e12, ?, ?)"
    change(folder, query, "add", f'{{"urls": ["{inside.url()}"]}}')
    change(folder, query, "set_rate", '{"delay": 0}')
    go_on(folder, "--delay", "0")
    assert inside.log == []


def test_every_robots_txt_is_asked_for_anew(web: FakeWeb, folder: Path) -> None:
    change(folder, "UPDATE host SET robots_body = x'', robots_expires = 9e12, robots_status = 404")
    go_on(folder, "--delay", "0")
    asked = [visit.path for visit in web.log]
    assert asked.count("/robots.txt") == 2
    assert "/a" in asked
    assert "/private" not in asked


def test_from_python(web: FakeWeb, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with gossamer.open(folder) as collection:
        collection.crawl(allow_private=True, delay=0, max_urls=0)
    assert AGENT not in {dict(visit.headers)["user-agent"] for visit in web.log[2:]}
    assert "comes from another machine" in caplog.text
