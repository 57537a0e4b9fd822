"""Sites whose pages say hardly a word: whatever looks like a trap there may be all there is."""

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import paths, trapped
from fakeweb import Site
from fakeweb.page import Asked, Page
from fakeweb.recipes import by_prefix, html, links
from fakeweb.shapes import beset
from fakeweb.sparse import SPARSE, sparse
from fakeweb.traps import counter, page
from gossamer.crawl.report import Ending
from gossamer.frontier import putoff


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_sites_are_crawled_whole(serve: Serve, crawl: CrawlIt, name: str) -> None:
    site, reachable = sparse(name)
    web = serve(site)
    crawled = crawl(web, max_urls=0)
    assert crawled.report.ending is Ending.DONE
    assert {path for path, row in crawled.rows.items() if row.is_done} == reachable
    assert trapped(crawled) == set()


def test_as_many_as_were_asked_for(serve: Serve, crawl: CrawlIt) -> None:
    """A line without end is no trap to who wants fifty pages of it."""
    web = serve(Site(fallback=by_prefix(items=counter)))
    crawled = crawl(web.url("/items/0"), max_urls=50)
    assert crawled.report.ending is Ending.MAX_URLS
    assert len(crawled.kept()) == 50


def test_lists_are_no_traps(serve: Serve, crawl: CrawlIt) -> None:
    """Pages with hardly a word, which one page lists; pages of a list that lead to real pages."""
    listed = [f"/station/{number}" for number in range(400)]
    pages = {"/": links(*listed, "/list?page=1")}
    for number in range(1, 60):
        pages[f"/list?page={number}"] = links(f"/list?page={number + 1}", f"/{'ab'[number % 2] * number}.html")
    site = Site(pages, lambda asked: html(f"Station {asked.path[9:]}" if "station" in asked.path else asked.path))  # type: ignore[arg-type]
    web = serve(site)
    crawled = crawl(web, max_urls=0)
    assert trapped(crawled) == set()
    assert len(crawled.kept()) == 1 + 400 + 60 + 59


def numbered(count: int, *steps: int) -> Site:
    """Pages that differ in nothing but numbers, each with links to those so many further on."""

    def answer(asked: Asked) -> Page:
        number = int(asked.path[6:])
        return links(*(f"/page/{number + step}" for step in steps if 0 <= number + step < count), text=f"{number}")

    return Site({"/": links("/page/0")}, by_prefix(page=answer))


@pytest.mark.parametrize("steps", [(1, 20, -1), (1, 7, 40, -40)])
def test_all_that_a_site_has(serve: Serve, crawl: CrawlIt, steps: tuple[int, ...]) -> None:
    """Where there is nothing else, pages that say hardly a word are not held to be a trap."""
    web = serve(numbered(250, *steps))
    crawled = crawl(web, max_urls=0)
    assert len(crawled.kept()) == 251
    assert trapped(crawled) == set()
    assert len(paths(web.log)) == 251


def test_a_long_line_is_a_trap_wherever_it_is(serve: Serve, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(putoff, "LINE", 30)
    web = serve(Site({"/": links("/items/0")}, by_prefix(items=counter)))
    crawled = crawl(web, max_urls=0)
    assert crawled.report.ending is Ending.DONE
    assert 30 < len(crawled.kept()) < 100


def test_what_is_put_off_is_remembered(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(numbered(200, 1, 20, -1))
    for limit in range(10, 200, 30):
        crawl(web, max_urls=limit)
    assert len(crawl(web, max_urls=0).kept()) == 201
    assert len(paths(web.log)) == 201


def test_real_pages_come_before_what_they_lead_to(serve: Serve, crawl: CrawlIt) -> None:
    """Where real pages say no more than the trap's do, they can't be told apart; but those that lead on are first."""

    def numbers_only(number: int, links: list[str]) -> Page:
        return page(f"Page {number}", f"<p>This is page {number}.", links)

    site = beset(100, "constant", numbers_only)
    web = serve(site)
    crawled = crawl(web, max_urls=200)
    assert crawled.kept() >= site.pages.keys()
