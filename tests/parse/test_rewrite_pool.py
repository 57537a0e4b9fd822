"""Files of the copy are made in parser workers, which read where each URL is saved from a table of their own."""

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from gossamer.errors import ArchiveError
from gossamer.parse.job import RewriteJob
from gossamer.parse.pool import ParserPool
from gossamer.parse.rewriting.contract import Rewritten
from gossamer.parse.rewriting.places import PlaceTable, write_places

from .copies import PLACE, SAVED, URL, rewritten


def made(jobs: Sequence[RewriteJob], timeout: float = 20) -> list[Rewritten]:
    """The files, as a pool of two workers makes them."""

    async def main() -> list[Rewritten]:
        async with ParserPool(2, b"", timeout, 1 << 30, 1 << 27) as pool:
            return await asyncio.gather(*map(pool.rewrite, jobs))

    return asyncio.run(main())


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "places"
    write_places(path, SAVED.items())
    return str(path)


def file(body: bytes, table: str, content_type: str = "text/html", charset: str = "utf-8") -> RewriteJob:
    return RewriteJob(URL, body, content_type, charset, PLACE, table)


def test_files_are_the_same_as_without_a_pool(table: str) -> None:
    bodies = [b"<a href=/a.html>%d<img src=no.png>" % number for number in range(40)]
    assert made([file(body, table) for body in bodies]) == [rewritten(body) for body in bodies]
    css = b"p{a:url(/a.png);content:'\xe9'}"
    assert made([file(css, table, "text/css", "windows-1252")]) == [rewritten(css, "text/css", charset="windows-1252")]


def test_what_takes_too_long_gets_its_encoding_and_a_note_and_costs_no_other_its_links(table: str) -> None:
    heavy = b"<p>\xe9" + b"<a href=x>" * 700_000
    slow, other = made([file(heavy, table, charset="windows-1252"), file(b"<a href=/a.html>", table)], timeout=0.5)
    assert slow.body == b"\xef\xbb\xbf" + heavy.replace(b"\xe9", b"\xc3\xa9")
    assert "too much processor time" in slow.note
    assert slow.references == ()
    assert b"../a.html" in other.body
    assert other.note == ""


def test_the_table_answers_with_places(table: str) -> None:
    with PlaceTable(table) as places:
        assert {url: places(url) for url in SAVED} == SAVED
        assert places(URL + "#x") is None
        assert places("") is None


def test_of_a_url_that_comes_twice_the_last_counts(tmp_path: Path) -> None:
    write_places(tmp_path / "places", [("u", "a"), ("u", "b")])
    with PlaceTable(str(tmp_path / "places")) as places:
        assert places("u") == "b"


def test_a_table_is_written_once(table: str, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="is there already"):
        write_places(Path(table), [])
    with pytest.raises(ArchiveError, match="can't be written"):
        write_places(tmp_path / "no" / "folder", [])


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="can't be read"):
        PlaceTable(str(tmp_path / "nothing"))
    (tmp_path / "text").write_text("no table")
    with pytest.raises(ArchiveError, match="can't be read"):
        PlaceTable(str(tmp_path / "text"))
    sqlite3.connect(tmp_path / "empty").close()
    with pytest.raises(ArchiveError, match="can't be read"):
        PlaceTable(str(tmp_path / "empty"))


def test_a_table_may_lie_in_any_folder(tmp_path: Path) -> None:
    folder = tmp_path / "a ?b=c#d%20é"
    folder.mkdir()
    write_places(folder / "places", SAVED.items())
    with PlaceTable(str(folder / "places")) as places:
        assert places(URL) == PLACE
