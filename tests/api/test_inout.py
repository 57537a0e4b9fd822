"""Archives in and out of a collection, from programs."""

import asyncio
import gzip
from pathlib import Path

import pytest

import gossamer
from conftest import Serve

from .webs import small


def test_what_goes_out_comes_in_again(serve: Serve, collection: gossamer.Collection, tmp_path: Path) -> None:
    web = serve(small())
    collection.crawl(web.url())
    assert collection.export(tmp_path / "all.wacz", "wacz") == ()
    assert collection.export(tmp_path / "part.warc.gz", "warc", "*/a", "*/b") == ()

    async def notebook(file: str) -> gossamer.Imported:
        return other.import_archives(tmp_path / file)

    with gossamer.open(tmp_path / "other", create=True) as other:
        first = asyncio.run(notebook("part.warc.gz"))
        assert (first.captures, first.known, first.problems) == (2, 0, ())
        assert {page.title for page in other.pages()} == {"A", "B"}
        assert asyncio.run(notebook("part.warc.gz")).known == 2
        other.import_archives(tmp_path / "all.wacz")
        assert {page.text for page in other.pages()} == {page.text for page in collection.pages()}
        assert other.verify() == []


def test_what_can_t_be_read_is_told(collection: gossamer.Collection, tmp_path: Path) -> None:
    (tmp_path / "x.warc").write_bytes(b"WARC/1.0\r\nnonsense")
    assert collection.import_archives(tmp_path / "x.warc").problems == (f"{tmp_path}/x.warc:0: the record has no head",)
    (tmp_path / "x.html").write_bytes(b"<p>nonsense")
    assert collection.import_archives(tmp_path / "x.html").problems == (
        f"{tmp_path}/x.html:0: no WARC record begins here",
    )
    (tmp_path / "x.warc.gz").write_bytes(gzip.compress(b""))
    assert collection.import_archives(tmp_path / "x.warc.gz").problems == (
        f"{tmp_path}/x.warc.gz: there is no WARC record in it",
    )
    with pytest.raises(gossamer.GossamerError):
        collection.import_archives(tmp_path / "nowhere.warc")
    with pytest.raises(gossamer.CollectionError):
        gossamer.open(tmp_path / "nothing", create=True).export(tmp_path / "x.wacz", "wacz")
