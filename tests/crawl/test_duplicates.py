"""Equal bytes: the second is a row and a revisit record that point to the first; its links are mostly let be."""

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import Crawled
from fakeweb import Page, Site
from fakeweb.recipes import html, links

SAME = links("/shared", "relative", text="the same words everywhere", title="same")


def dirs(count: int) -> list[str]:
    return [f"/d{number}/" for number in range(count)]


def site(count: int, page: Page = SAME) -> Site:
    """A start page with ``count`` folders whose pages have the same bytes and a relative link."""
    known = {"/": links(*dirs(count)), "/shared": html("shared")}
    return Site({**known, **dict.fromkeys(dirs(count), page)}, lambda asked: html(asked.path))


def test_a_duplicate_points_to_the_first(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(site(2))
    crawled = crawl(web)
    first, second = (crawled[path].page for path in dirs(2))
    assert second["duplicate_of"] == first["id"]
    assert first["duplicate_of"] is None
    assert (second["is_kept"], second["digest"], second["title"]) == (1, first["digest"], "same")
    kinds = {url.removeprefix(web.origin()): kind for kind, url, _ in crawled.records() if kind != "request"}
    assert (kinds["/d0/"], kinds["/d1/"]) == ("response", "revisit")
    revisit = next(content for kind, _, content in crawled.records() if kind == "revisit")
    assert b"the same words" not in revisit


def test_the_same_bytes_in_another_coding_are_the_same_page(serve: Serve, crawl: CrawlIt) -> None:
    packed = Page(SAME.body, coding="gzip")
    web = serve(Site({"/": links("/a/", "/b/"), "/a/": SAME, "/b/": packed}, lambda asked: html(asked.path)))
    crawled = crawl(web)
    assert crawled["/b/"].page["duplicate_of"] == crawled["/a/"].page["id"]
    kinds = {url.removeprefix(web.origin()): kind for kind, url, _ in crawled.records() if kind != "request"}
    assert kinds["/b/"] == "response", "its payload is another"


def parked(crawled: Crawled) -> dict[str, str]:
    return {path: row.reason for path, row in crawled.rows.items() if row.held}


@pytest.mark.parametrize("delay", [0.0, 0.02])
def test_links_of_further_duplicates_are_parked(serve: Serve, crawl: CrawlIt, delay: float) -> None:
    """The first and three duplicates are followed, whether they are committed together or one by one."""
    web = serve(site(8, Page(SAME.body, delay=delay)))
    crawled = crawl(web)
    assert parked(crawled) == {
        f"/d{n}/relative": f"found only on a duplicate page: {web.url(f'/d{n}/')}" for n in range(4, 8)
    }
    assert all(crawled[f"/d{n}/relative"].is_done for n in range(4))
    assert crawled["/shared"].is_done


def test_duplicates_that_come_in_one_group(serve: Serve, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch) -> None:
    web = serve(site(8))
    crawled = crawl(web, per_host=8)
    assert len(parked(crawled)) == 4
    assert all(crawled[path].is_done for path in dirs(8))


def test_what_was_parked_can_be_found_in_a_better_way(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(every := site(6))
    every.pages["/"] = links(*dirs(6), "/end")
    every.pages["/end"] = links("/d5/relative")
    crawled = crawl(web)
    assert crawled["/d5/relative"].is_done
    assert set(parked(crawled)) == {"/d4/relative"}


def test_each_host_has_its_own_three(serve: Serve, crawl: CrawlIt) -> None:
    """A mirror is no trap."""
    web = serve(site(5), site(5))
    crawled = crawl(*(web.url("/", each) for each in web.sites))
    by_host = [
        sum(row.url.startswith(web.origin(each)) for row in crawled.rows.values() if row.held) for each in web.sites
    ]
    assert sorted(by_host) == [1, 2], (
        "where the first stands on the other host, three duplicates are followed all the same"
    )


def test_errors_are_no_duplicates(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": links("/a", "/b")}))
    crawled = crawl(web)
    assert crawled.select("SELECT count(*) FROM page WHERE duplicate_of IS NOT NULL") == [(0,)]
    assert [kind for kind, _, _ in crawled.records()].count("revisit") == 0
