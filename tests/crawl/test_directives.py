"""What pages and headers ask for, from the parser worker to the search: not to be found, not to be followed, another name.

That noindex and nofollow are obeyed in each of their spellings is tested with the links.
"""

import gzip

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import Crawled
from fakeweb import Page, Site
from fakeweb.page import Headers
from fakeweb.recipes import html, links
from gossamer.archive.search import Hit, search
from parse.make_pdf import pdf


def found(crawled: Crawled, query: str) -> list[str]:
    return [hit.url.removeprefix(crawled.base) for hit in search(crawled.database, query, 20)]


def one(crawled: Crawled, query: str) -> Hit:
    (hit,) = search(crawled.database, query, 20)
    return hit


def test_a_page_that_says_nofollow_has_links_that_say_so(serve: Serve, crawl: CrawlIt) -> None:
    page = html("<meta name=robots content=nofollow><a href=/x>x</a><a href=/y rel=nofollow>y</a>")
    crawled = crawl(serve(Site({"/": page})))
    assert [(link.url.removeprefix(crawled.base), link.nofollow) for link in crawled["/"].links] == [
        ("/x", True),
        ("/y", True),
    ]


@pytest.fixture
def named(serve: Serve, crawl: CrawlIt) -> Crawled:
    """Pages that name another as the one they are better known by."""

    def page(text: str, canonical: str = "", headers: Headers = ()) -> Page:
        return html(f"<link rel=canonical href={canonical}>{text}" if canonical else text, title="t", headers=headers)

    pages: dict[str, Page] = {
        "/same?1": page("zeppelin", "/same"),
        "/same?2": page("zeppelin", "/same"),
        "/same": page("zeppelin"),
        "/liar": page("balloon", "/same"),
        "/lost?1": page("glider", "/lost"),
        "/far?1": page("kite", "http://elsewhere.test/"),
        "/hidden?1": page("drone", "/hidden"),
        "/hidden": page("drone", headers=(("X-Robots-Tag", "noindex"),)),
        "/header?1": page("rocket", headers=(("Link", '</header>; rel="canonical"'),)),
        "/header": page("rocket"),
    }
    return crawl(serve(Site({"/": links(*(path for path in pages if path != "/lost")), **pages})))


def test_duplicates_fold_to_the_canonical_page(named: Crawled) -> None:
    hit = one(named, "zeppelin -http")
    assert (hit.url, hit.duplicates) == (named.base + "/same", 2)
    assert one(named, "rocket").url == named.base + "/header"


def test_but_only_when_it_was_fetched_may_be_found_and_agrees(named: Crawled) -> None:
    assert found(named, "balloon") == ["/liar"]
    assert found(named, "glider") == ["/lost?1"]
    assert found(named, "kite") == ["/far?1"]
    assert found(named, "drone") == ["/hidden?1"]
    assert named["/lost"].state == "failed"
    assert named["/far?1"].page["canonical"] == "http://elsewhere.test/"
    assert named["http://elsewhere.test/"].held


FILES = {
    "/a.pdf": Page(pdf("zeppelin", title="Airships"), content_type="application/pdf"),
    "/b.pdf": Page(pdf("balloon"), content_type="application/pdf", headers=(("X-Robots-Tag", "noindex"),)),
    "/c.xml": Page(b"<book><title>Gliders</title><p>glider</p></book>", content_type="text/xml"),
    "/d.txt": Page(b"kite", content_type="text/plain"),
    "/e.gz": Page(gzip.compress(b"drone"), content_type="application/gzip"),
}


def test_the_text_of_files(serve: Serve, crawl: CrawlIt) -> None:
    crawled = crawl(serve(Site({"/": links(*FILES), **FILES})), real_parsers=True)
    assert found(crawled, "zeppelin") == ["/a.pdf"]
    assert found(crawled, "glider") == ["/c.xml"]
    assert found(crawled, "kite") == ["/d.txt"]
    assert found(crawled, "balloon") == found(crawled, "drone") == []
    assert crawled.kept() == {"/", *FILES}
    assert {(crawled[path].kind, crawled[path].page["is_page"]) for path in FILES} == {("other", 0)}
    assert [crawled[path].page["title"] for path in ("/a.pdf", "/c.xml")] == ["Airships", "Gliders"]
    assert crawled["/e.gz"].page["size"] == len(FILES["/e.gz"].body), "a packed file is a file"
