"""Reading a collection: pages with everything that belongs to them, search, URLs and why."""

import gzip
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import gossamer
from fakeweb import FakeWeb

from .webs import small


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    with FakeWeb(small()) as started:
        yield started


@pytest.fixture(scope="module")
def crawled(web: FakeWeb, tmp_path_factory: pytest.TempPathFactory) -> Iterator[gossamer.Collection]:
    with gossamer.open(tmp_path_factory.mktemp("api") / "c", create=True) as collection:
        collection.crawl(web.url(), min_free=0)
        yield collection


def page(collection: gossamer.Collection, address: str) -> gossamer.Page:
    found = collection.page(address)
    assert found is not None
    return found


def test_a_page_has_its_text_and_its_links(web: FakeWeb, crawled: gossamer.Collection) -> None:
    start = page(crawled, web.url())
    assert start.text == "where it begins /a /b /notes.txt /old /lost /shy"
    assert (start.links[0].url, start.links[0].text, start.links[0].via) == (web.url("/a"), "/a", "a")
    assert len(start.links) == 6
    assert (start.status, start.content_type, start.charset, start.depth) == (200, "text/html", "utf-8", 0)
    assert start.description.startswith("where it begins")


def test_text_that_is_not_in_the_index_is_derived(web: FakeWeb, crawled: gossamer.Collection) -> None:
    assert page(crawled, web.url("/shy")).text == "not to be found a"
    assert page(crawled, web.url("/notes.txt")).text == "plain notes"


def test_the_answer_is_there_as_it_came_and_decoded(web: FakeWeb, crawled: gossamer.Collection) -> None:
    response = page(crawled, web.url("/new")).response
    assert response.status == 200
    assert response.header("Content-Encoding") == "gzip"
    assert gzip.decompress(response.raw) == response.body
    assert b"moved here" in response.body
    assert response.head.startswith(b"HTTP/1.1 200")
    assert dict(response.record)["warc-target-uri"] == web.url("/new")


def test_the_markup_is_there_as_it_came_and_cleaned(web: FakeWeb, crawled: gossamer.Collection) -> None:
    found = page(crawled, web.url("/a"))
    assert found.source() == "<!DOCTYPE html><title>A</title><style>p{}</style><p class=x>the first letter "
    assert (
        found.cleaned()
        == "<!DOCTYPE html><html><head><title>A</title></head><body><p>the first letter </p></body></html>"
    )
    assert page(crawled, web.url("/notes.txt")).cleaned() == ""


def test_pages_are_chosen_by_pattern_host_and_type(web: FakeWeb, crawled: gossamer.Collection) -> None:
    def paths(*patterns: str, host: str | None = None, content_type: str | None = None) -> set[str]:
        found = crawled.pages(*patterns, host=host, content_type=content_type)
        return {each.url.removeprefix(web.origin()) for each in found}

    assert paths() == {"/", "/a", "/b", "/notes.txt", "/new", "/shy"}
    assert paths("*/a", "re:/b$") == {"/a", "/b"}
    assert paths(content_type="text/plain") == {"/notes.txt"}
    assert paths(host="elsewhere.test") == set()
    assert crawled.page(web.url("/lost")) is None
    assert crawled.page("http://nobody.test/") is None


def test_it_can_be_searched_and_asked_why(web: FakeWeb, crawled: gossamer.Collection) -> None:
    (hit,) = crawled.search("second letter", limit=1)
    assert (hit.url, hit.title) == (web.url("/b"), "B")
    why = crawled.why(web.url("/lost"))
    assert why is not None
    assert "404" in why.entry.reason
    assert [linker.url for linker in why.linkers] == [web.url()]
    assert crawled.why("http://nobody.test/") is None
    assert [entry.url for entry in crawled.urls(state="failed")] == [web.url("/lost")]
    assert [entry.url for entry in crawled.urls(status=301)] == [web.url("/old")]
    assert {entry.status for entry in crawled.urls(status=(400, 499))} == {404}
    with pytest.raises(gossamer.UsageError, match="is no state"):
        crawled.urls(state="lost")
    assert crawled.status().pages == 6
    assert crawled.verify() == []


def test_threads_can_share_it(web: FakeWeb, crawled: gossamer.Collection) -> None:
    texts: list[str] = []

    def read() -> None:
        texts.extend(each.text + each.cleaned() for each in crawled.pages())

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 8 * 6
    assert len(set(texts)) == 6


def test_damage_is_an_error_of_ours(web: FakeWeb, tmp_path: Path) -> None:
    with gossamer.open(tmp_path / "c", create=True) as collection:
        collection.crawl(web.url(), min_free=0, max_urls=1)
        found = page(collection, web.url())
        for file in (collection.folder / "warc").glob("*.gz"):
            file.write_bytes(b"\0" * file.stat().st_size)
        with pytest.raises(gossamer.ArchiveError):
            _ = found.response
        with pytest.raises(gossamer.ArchiveError):
            found.cleaned()
        (collection.folder / "crawl.db").write_bytes(b"no database")
    with gossamer.open(tmp_path / "c") as collection, pytest.raises(gossamer.CollectionError):
        collection.status()


def test_a_closed_one_opens_again_when_it_is_read(web: FakeWeb, crawled: gossamer.Collection) -> None:
    with gossamer.open(crawled.folder) as again:
        found = page(again, web.url("/a"))
        assert found.cleaned()
    assert found.text == "the first letter"
    assert found.cleaned()
    again.close()
    assert repr(again) == f"gossamer.open({str(crawled.folder)!r})"
