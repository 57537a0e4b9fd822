"""What goes out comes in again as it was."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archive.foreign import Archive
from conftest import Serve
from crawl.crawling import run
from fakeweb import Site, generate
from fakeweb.recipes import html, links
from gossamer.archive.catalogue import Filter, opened
from gossamer.archive.export.chosen import Choice, chosen
from gossamer.archive.export.wacz import write_wacz
from gossamer.archive.export.warc import Trouble, write_warc
from gossamer.clock import timestamp
from intake.importing import check, contents, found, import_data, import_files, rows, said, states

WORDS = st.text("abcdefgh ", max_size=40)
PATHS = st.sampled_from([f"/{name}" for name in "abcdefgh"])
STATUS = st.sampled_from(["200 OK", "200 OK", "200 OK", "404 Not Found", "301 Moved", "500 Oops"])


def export_warc(folder: Path, wanted: Filter | None = None) -> bytes:
    pieces: list[bytes] = []
    troubles: list[Trouble] = []

    class Sink:
        def write(self, data: bytes, /) -> None:
            pieces.append(data)

    with opened(folder) as connection, chosen(connection, Choice(wanted or Filter())):
        for _ in write_warc(connection, folder, Sink(), filename="x.warc.gz", now=1.8e9, tell=troubles.append):
            pass
    assert troubles == []
    return b"".join(pieces)


@st.composite
def archives(draw: st.DrawFn) -> bytes:
    """Some answers: pages with equal and different texts that link to each other, redirects, errors, versions."""
    archive = Archive()
    for second in range(draw(st.integers(1, 12))):
        links = "".join(f"<a href={path}>x</a>" for path in draw(st.lists(PATHS, max_size=3)))
        status = draw(STATUS)
        headers = [("Content-Type", "text/html"), *([("Location", draw(PATHS))] if status.startswith("301") else [])]
        body = f"<title>{draw(WORDS)}</title>{draw(WORDS)}{links}".encode()
        date = f"2026-01-01T00:00:{second:02}Z"
        archive.add(f"http://a.test{draw(PATHS)}", body, status=status, headers=headers, date=date)
    return archive.data


@settings(max_examples=15)
@given(archives())
def test_import_export_import(data: bytes) -> None:
    with TemporaryDirectory() as name:
        first, second = Path(name, "first"), Path(name, "second")
        assert import_data(first, data).problems == []
        assert import_data(second, export_warc(first)).problems == []
        check(first)
        check(second)
        assert contents(first) == contents(second)
        for word in ("a", "bc", "d e f"):
            assert found(first, word) == found(second, word)
        again = import_data(first, export_warc(second))
        assert again.tally.captures == 0


@pytest.fixture
def crawled(tmp_path: Path, serve: Serve) -> Path:
    """A crawl of a generated site: encodings, copies, redirects, files, dead ends, robots.txt."""
    web = serve(generate(3, pages=40, copies=4))
    run(tmp_path / "crawled", ((web.url(), False),), {})
    return tmp_path / "crawled"


def pages(folder: Path) -> dict[tuple[str, str], dict[str, object]]:
    """What was kept, and what it says."""
    return {(row.url, timestamp(row.fetched)): said(row) for row in rows(folder)}


def test_a_crawl_out_as_warc_and_in(tmp_path: Path, crawled: Path) -> None:
    imported = import_data(tmp_path / "in", export_warc(crawled))
    assert imported.problems == []
    check(tmp_path / "in")
    assert pages(tmp_path / "in") == pages(crawled)
    assert len(pages(crawled)) > 40
    words = "the of page"
    assert found(tmp_path / "in", words) == found(crawled, words) != []
    settled = {url: state for url, (state, _) in states(crawled).items() if state in ("finished", "failed")}
    assert {url: state for url, (state, _) in states(tmp_path / "in").items() if state != "held"} == settled


def test_a_crawl_out_as_wacz_and_in(tmp_path: Path, crawled: Path) -> None:
    path = tmp_path / "x.wacz"
    with path.open("wb") as file, opened(crawled) as connection, chosen(connection, Choice(Filter())):
        count = write_wacz(connection, crawled, file, now=1.8e9, tell=lambda trouble: pytest.fail(str(trouble)))
    imported = import_files(tmp_path / "in", path)
    assert (imported.tally.captures, imported.problems) == (count, [])
    check(tmp_path / "in")
    assert pages(tmp_path / "in") == pages(crawled)


def test_a_part_stands_by_itself(tmp_path: Path, crawled: Path) -> None:
    """Copies whose original is not in the part come with their bytes."""
    copies = tuple(row.url for row in rows(crawled) if row.duplicate_of)
    assert len(copies) > 1
    imported = import_data(tmp_path / "in", export_warc(crawled, Filter(patterns=copies)))
    assert imported.problems == []
    check(tmp_path / "in")
    parts = {row.url: row.text for row in rows(tmp_path / "in")}
    assert parts == {row.url: row.text for row in rows(crawled) if row.url in copies}


def test_a_crawl_goes_on_where_an_import_was(tmp_path: Path, serve: Serve) -> None:
    """A seed that is added makes what belongs to its site wait; what the archive has is not fetched again."""
    web = serve(Site({"/": links("/a", "/b"), "/a": links("/c"), "/b": html("b"), "/c": html("c")}))
    archive = Archive()
    archive.add(web.url(), b"<a href=/a>a</a><a href=/b>b</a>")
    archive.add(web.url("/a"), b"<a href=/c>c</a>")
    import_data(tmp_path / "c", archive.data)
    run(tmp_path / "c", ((web.url(), False),), {})
    assert sorted(visit.path for visit in web.log) == ["/b", "/c", "/robots.txt"]
    run(tmp_path / "c", (), {})  # the seed is still one
    assert {state for state, _ in states(tmp_path / "c").values()} == {"finished"}
    check(tmp_path / "c")
