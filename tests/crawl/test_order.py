"""In which order, how deep and how many."""

from random import Random

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import paths
from fakeweb import Site, generate
from fakeweb.recipes import links, redirect, robots, status
from gossamer.crawl.report import Ending
from oracle import Expected, check


def tree(width: int, depth: int) -> Site:
    """Pages called by their path in the tree: /1/2 is the second of the first."""

    def page(path: str, level: int) -> None:
        below = [f"{path}{number}/" for number in range(1, width + 1)] if level < depth else []
        site.pages[path] = links(*below, text=path)
        for child in below:
            page(child, level + 1)

    site = Site()
    page("/", 0)
    return site


def test_breadth_first_in_the_order_found(serve: Serve, crawl: CrawlIt) -> None:
    site = tree(3, 3)
    web = serve(site)
    crawled = crawl(web)
    by_level = sorted(site.pages, key=lambda path: (path.count("/"), path))
    assert paths(web.log) == by_level
    assert [row.url for row in crawled.rows.values()] == [web.url(path) for path in by_level]
    assert crawled["/1/2/3/"].depth == 3
    assert crawled.report.ending is Ending.DONE


def test_order_is_kept_over_many_refills(serve: Serve, crawl: CrawlIt) -> None:
    """More URLs than a host keeps in memory at once."""
    numbers = list(range(700))
    Random(1).shuffle(numbers)
    found = [f"/p{number}" for number in numbers]
    web = serve(Site({"/": links(*found)}, lambda asked: links(text=asked.path)))
    crawl(web)
    assert paths(web.log) == ["/", *found]


@pytest.mark.parametrize("limit", [1, 2, 7])
def test_max_urls_is_exact_also_over_resumes(serve: Serve, crawl: CrawlIt, limit: int) -> None:
    web = serve(site := tree(3, 2))
    site.pages |= {"/missing": status(404), "/moved": redirect("/1/")}
    site.pages["/"] = links("/missing", "/moved", "/1/", "/2/", "/3/")
    crawled = crawl(web, max_urls=limit)
    assert len(crawled.kept()) == crawled.report.progress.statistics.pages == limit
    assert crawled.report.ending is Ending.MAX_URLS
    assert paths(web.log).count("/") == 1
    again = crawl(max_urls=limit, base=web.origin())
    assert len(again.kept()) == limit, "the number is in total"
    assert paths(web.log).count("/") == 1
    more = crawl(max_urls=limit + 2, base=web.origin())
    assert len(more.kept()) == limit + 2
    rest = crawl(max_urls=0, base=web.origin())
    assert len(rest.kept()) == 13
    assert rest.report.ending is Ending.DONE
    assert len(paths(web.log)) == len(set(paths(web.log)))


def test_max_urls_is_exact_with_many_hosts_at_once(serve: Serve, crawl: CrawlIt) -> None:
    """Failures and redirects among the fetches under way must not count, nor be counted on."""
    sites = [
        Site(
            {"/": links("/bad", "/moved", *(f"/{n}" for n in range(9))), "/moved": redirect("/1"), "/bad": status(500)}
        )
        for _ in range(12)
    ]
    for site in sites:
        site.fallback = lambda asked: (
            links(text=asked.path + asked.host, title="x") if asked.path[1:].isdigit() else status(404)
        )
    web = serve(*sites)
    crawled = crawl(*(web.url("/", site) for site in sites), max_urls=50, max_tries=2)
    assert crawled.report.progress.statistics.pages == 50
    assert crawled.select("SELECT count(*) FROM page WHERE is_kept") == [(50,)]


def test_depth(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(tree(2, 3))
    crawled = crawl(web, max_depth=1)
    assert paths(web.log) == ["/", "/1/", "/2/"]
    assert crawled["/1/1/"].reason == "deeper than 1"
    assert crawled["/1/1/"].held
    deeper = crawl(max_depth=2, base=web.origin())
    assert paths(web.log)[3:] == ["/1/1/", "/1/2/", "/2/1/", "/2/2/"]
    assert deeper["/1/1/1/"].reason == "deeper than 2"


def test_a_shorter_way_found_later_counts(serve: Serve, crawl: CrawlIt) -> None:
    """Of two hosts the slower one knows the short way."""
    quick = Site({"/": links("/1"), "/1": links("/2"), "/2": links("/x"), "/x": links("/below")})
    web = serve(quick, slow := Site())
    slow.pages["/"] = links(web.url("/x", quick), text="slow")
    slow.pages["/robots.txt"] = robots("", delay=0.3)
    crawled = crawl(web.url("/", quick), web.url("/", slow), max_depth=2)
    assert (crawled["/x"].depth, crawled["/x"].is_done, crawled["/x"].held) == (1, True, False)
    assert crawled["/below"].depth == 2


@pytest.mark.parametrize("seed", [11, 12])
def test_a_generated_site_whole(serve: Serve, crawl: CrawlIt, seed: int) -> None:
    site = generate(seed, pages=120, flaky=6)
    web = serve(site)
    crawled = crawl(web, retry_pause=0.001)
    crawled.database.close()
    expected = Expected(pages={web.url(path) for path in site.reachable}, asked={web.url(path) for path in site.asked})
    assert check(web.log, crawled.folder, expected, 0) == []
    assert {path.removeprefix(web.origin()) for path in crawled.kept()} >= site.reachable
