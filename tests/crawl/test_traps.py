"""Real pages among traps: all of them are found, and little else is fetched."""

from collections.abc import Callable
from random import Random

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import paths, release, trapped
from fakeweb import Names, Site
from fakeweb.names import Entry
from fakeweb.page import Page
from fakeweb.prose import unique_word
from fakeweb.recipes import by_prefix, html, links, redirect
from fakeweb.shapes import SHAPES, beset, tracked
from fakeweb.traps import TRAPS, counter, endless_hosts, page, surrounded, with_sessions, with_variants
from gossamer.crawl.report import Ending
from gossamer.records import Selection

REAL = 300
BESET = 150
MakeNames = Callable[[dict[str, Entry | str]], Names]


@pytest.mark.parametrize("names", [*([name] for name in TRAPS), list(TRAPS)], ids=[*TRAPS, "all"])
def test_real_pages_among_traps(serve: Serve, crawl: CrawlIt, names: list[str]) -> None:
    site = surrounded(REAL, *names)
    web = serve(site)
    crawled = crawl(web, max_urls=0)
    assert crawled.report.ending is Ending.DONE
    assert crawled.kept() >= site.pages.keys()
    assert len(paths(web.log)) <= 1.25 * REAL
    reasons = {row.reason.partition(":")[0] for row in crawled.rows.values() if row.held}
    assert reasons
    assert reasons <= {"trap", "found only on a duplicate page"}


@pytest.mark.parametrize("below_each", [1, REAL])
def test_lines_and_stars_of_real_pages(serve: Serve, crawl: CrawlIt, below_each: int) -> None:
    """Whether the traps are found one by one, or all of their doors before any of them was looked at."""
    site = surrounded(REAL, *TRAPS, below_each=below_each)
    web = serve(site)
    crawled = crawl(web, max_urls=0)
    assert crawled.kept() >= site.pages.keys()
    assert len(paths(web.log)) <= 1.25 * REAL


@pytest.mark.parametrize("name", SHAPES)
def test_traps_of_other_shapes(serve: Serve, crawl: CrawlIt, name: str) -> None:
    site = beset(BESET, name)
    web = serve(site)
    crawled = crawl(web, max_urls=0)
    assert crawled.report.ending is Ending.DONE
    assert crawled.kept() >= site.pages.keys()
    assert len(paths(web.log)) <= 1.3 * BESET


def test_pages_with_parameters_that_change_nothing(serve: Serve, crawl: CrawlIt) -> None:
    site = tracked(BESET, "utm_source=news&utm_campaign=", "ref=", "print=", "action=edit&section=")
    web = serve(site)
    crawled = crawl(web, max_urls=0)
    assert crawled.kept() >= {path for path in site.pages if "?" not in path}
    assert len(paths(web.log)) <= 1.3 * BESET


def test_a_word_of_its_own_is_enough(serve: Serve, crawl: CrawlIt) -> None:
    """Real pages that differ in a number and one word, and a counter that differs in a number."""

    def with_a_word(number: int, links: list[str]) -> Page:
        return page(f"Page {number}", f"<p>This is page {number}, and its word is {unique_word(number)}.", links)

    site = beset(BESET, "constant", with_a_word)
    web = serve(site)
    crawled = crawl(web, max_urls=0)
    assert crawled.kept() >= site.pages.keys()
    assert len(paths(web.log)) <= 1.1 * BESET


def test_many_in_flight(serve: Serve, crawl: CrawlIt) -> None:
    """However many are asked for before it is known what the first of them said."""
    site = surrounded(REAL, "archive", "basket", "items")
    web = serve(site)
    crawled = crawl(web, max_urls=0, per_host=32, downloaders=64)
    assert crawled.kept() >= site.pages.keys()
    assert len(paths(web.log)) <= 1.3 * REAL


def test_a_site_with_session_ids_in_every_link(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(with_sessions(REAL))
    crawled = crawl(web, max_urls=0)
    fetched = {path.partition("?")[0] for path in crawled.kept()}
    assert fetched == {"/", *(f"/{number}" for number in range(REAL))}
    assert len(paths(web.log)) <= 1.1 * REAL
    assert {crawled[path].reason for path in trapped(crawled)} == {
        f"trap: pages of {web.origin()[7:]}?PHPSESSID brought no new text"
    }


def test_variants_of_every_page(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(with_variants(REAL))
    crawled = crawl(web.url("/page0.html"), max_urls=0, scope="host")
    assert {path for path in crawled.kept() if "?" not in path} == {f"/page{number}.html" for number in range(REAL)} | {
        "/"
    }
    assert len(paths(web.log)) <= 1.3 * REAL


def test_endless_hosts(serve: Serve, crawl: CrawlIt, names: MakeNames) -> None:
    """Names that are no numbers; two hosts beside them are real, and so is all that they have."""
    rng = Random(5)
    made_up = ["".join(rng.choices("abcdefghij", k=8)) for _ in range(150)]
    web = serve(*endless_hosts(100, "shop.test", made_up))
    server = names({"*.shop.test": "127.0.0.1", "shop.test": "127.0.0.1"})
    seed = f"http://shop.test:{web.port()}"
    crawled = crawl(f"{seed}/", scope="domain", max_urls=0, dns=(server.server,), allow_private=True)
    assert crawled.report.ending is Ending.DONE
    real = {"/", *(f"/p{number}" for number in range(1, 100))}
    for name in ("docs", "blog"):
        origin = f"http://{name}.shop.test:{web.port()}"
        real |= {f"{origin}/", *(f"{origin}/p{number}" for number in range(1, 40))}
    assert crawled.kept() >= real
    assert len(paths(web.log)) <= 1.3 * len(real)


def test_what_was_released_is_fetched(serve: Serve, crawl: CrawlIt) -> None:
    site = surrounded(20, "archive")
    web = serve(site)
    crawled = crawl(web, max_urls=0)
    held = trapped(crawled)
    assert len(held) > 1000
    assert not any(crawled[path].page for path in held)
    count = release(crawled, Selection((web.url("/archive/1?"),), "trap"))
    assert count > 0
    before = len(paths(web.log))
    again = crawl(base=web.origin(), max_urls=0)
    asked = set(paths(web.log)[before:])
    assert len(asked) == count
    assert asked <= held
    assert again.kept() >= asked
    assert trapped(again) > held - asked, "what they lead to is judged as before"


def test_decisions_are_remembered(serve: Serve, crawl: CrawlIt) -> None:
    """A crawl in many runs fetches hardly more than one in one."""
    site = surrounded(REAL, "calendar", "items", "basket", "token")
    web = serve(site)
    for limit in range(20, REAL, 20):
        crawl(web, max_urls=limit)
    crawled = crawl(web, max_urls=0)
    assert crawled.kept() >= site.pages.keys()
    assert len(paths(web.log)) <= 1.3 * REAL


def test_growing_redirects_end(serve: Serve, crawl: CrawlIt) -> None:
    def onwards(asked: object) -> object:
        return redirect(f"{asked.path}x/")  # type: ignore[attr-defined]

    web = serve(Site({"/": links(*(f"/r/{number}/" for number in range(200)))}, by_prefix(r=onwards)))  # type: ignore[arg-type]
    crawled = crawl(web, max_urls=0)
    assert crawled.report.ending is Ending.DONE
    assert len(paths(web.log)) < 4100


def test_traps_can_be_left_alone(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": links("/items/0")}, by_prefix(items=counter)))
    crawled = crawl(web, trap_budget=0, max_urls=100)
    assert crawled.report.ending is Ending.MAX_URLS
    assert trapped(crawled) == set()


def test_long_urls_and_long_paths(serve: Serve, crawl: CrawlIt) -> None:
    long, deep, circle = "/" + "x" * 200, "/a/b/c/d/e/f", "/x/y/x/y/x/y/"
    web = serve(Site({"/": links(long, deep, circle, "/1/1/1/1")}, lambda asked: html(asked.path)))
    crawled = crawl(web, max_url_length=150, max_path_segments=5)
    assert crawled[long].reason == "trap: the URL has more than 150 characters"
    assert crawled[deep].reason == "trap: the path has more than 5 segments"
    assert crawled["/1/1/1/1"].is_done
    assert crawl(web, folder="d")[circle].reason == "trap: segments repeat: x/y"


def test_budgets_of_hosts_and_domains(serve: Serve, crawl: CrawlIt, names: MakeNames) -> None:
    sites = [Site(fallback=lambda asked: html(asked.host + asked.path), name=f"{name}.test") for name in ("a.x", "b.x")]
    for site in sites:
        site.pages["/"] = links(*(f"/{'abcdefgh'[:number]}" for number in range(1, 9)), text=site.name)
    web = serve(*sites)
    options = {"dns": (names({"*.x.test": "127.0.0.1"}).server,)}
    seeds = [web.url("/", site) for site in sites]
    crawled = crawl(*seeds, max_host_urls=5, **options)
    assert len(crawled.kept()) == 10
    held = {row.reason for row in crawled.rows.values() if row.held}
    assert held == {"over the budget of 5 URLs for a host"}
    crawled = crawl(*seeds, folder="d", max_domain_urls=7, **options)
    assert len(crawled.kept()) == 7
    held = {row.reason for row in crawled.rows.values() if row.held}
    assert held == {"over the budget of 7 URLs for the domain x.test"}
    more = crawl(*seeds, folder="d", max_domain_urls=9, **options)
    assert len(more.kept()) == 7, "parked is parked, until it is released"


def test_a_thousand_links_at_once(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(surrounded(30, "archive"))
    crawled = crawl(web, max_urls=0)
    assert len(crawled.kept()) < 40
    assert len(trapped(crawled)) > 2000
