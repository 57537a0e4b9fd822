"""What the server's own log says about how it was treated."""

from email.utils import formatdate
from time import time

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import paths
from fakeweb import FakeWeb, Page, Site, generate, recipes
from fakeweb.page import Asked
from fakeweb.recipes import html, links, redirect, status
from gossamer.crawl.manager import Crawl
from gossamer.crawl.report import Progress
from oracle import check_politeness


def wide(count: int, delay: float = 0.0) -> Site:
    """A start page and ``count`` pages that it links to, whose first byte takes ``delay`` seconds."""
    found = [f"/{number}" for number in range(count)]
    return Site({"/": links(*found)}, lambda asked: html(asked.path + asked.host, delay=delay))


def test_gap_and_one_at_a_time(serve: Serve, crawl: CrawlIt) -> None:
    """Robots, redirects, errors, retries and requisites count, too."""
    site = wide(2)
    site.pages |= {
        "/": links("/0", "/moved", "/bad", "/missing", "/half", "/1", text="<img src=/i.png>"),
        "/moved": redirect("/target"),
        "/bad": recipes.times(1, status(500), html("good")),
        "/half": recipes.times(1, recipes.reset_midway(), html("whole")),
        "/missing": status(404),
    }
    web = serve(site)
    crawled = crawl(web, delay=0.06, slow_factor=0, requisites=True)
    assert check_politeness(web.log, 0.06) == []
    assert len(web.log) == 12
    assert crawled["/i.png"].is_done


def test_a_crawl_delay_is_known_after_a_restart(serve: Serve, crawl: CrawlIt) -> None:
    """From the first request on: with two at once the second does not wait for the first to teach it."""
    site = wide(6, delay=0.02)
    site.pages["/robots.txt"] = recipes.robots("User-agent: *\nCrawl-delay: 0.3")
    web = serve(site)
    crawl(web, delay=0.0, per_host=2, max_urls=2)
    crawl(base=web.origin(), delay=0.0, per_host=2, max_urls=0)
    assert len(web.log) == 8
    assert check_politeness(web.log, 0.3, per_host=2) == []


def test_a_crawl_delay_holds_after_an_answer_that_was_not_waited_for(
    serve: Serve, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Started again and stopped at once: the next start keeps its distance from the request that was dropped."""
    monkeypatch.setattr("gossamer.crawl.heartbeat.PERIOD", 0.02)
    site = Site({"/robots.txt": recipes.robots("User-agent: *\nCrawl-delay: 1"), "/": links("/0", "/1")})
    site.pages["/0"] = recipes.times(1, Page(delay=30.0), html("0"))
    site.fallback = lambda asked: html(asked.path)
    web = serve(site)
    running: list[Crawl] = []

    def observe(_: Progress) -> None:
        if running and web.log[-1].path == "/0":
            running.pop().abort()

    crawl(web, delay=0.0, max_urls=1)
    crawl(base=web.origin(), delay=0.0, max_urls=0, started=running.append, observe=observe)
    crawl(base=web.origin(), delay=0.0, max_urls=0)
    assert paths(web.log) == ["/", "/0", "/0", "/1"]
    assert check_politeness(web.log, 1.0) == []


@pytest.mark.parametrize("per_host", [1, 2])
def test_a_connection_that_is_closed_without_an_answer(serve: Serve, crawl: CrawlIt, per_host: int) -> None:
    """libcurl would ask again at once; and where others ask meanwhile, the second request keeps its distance from theirs."""
    site = Site({"/": links("/bad", "/0", "/1", "/2")}, lambda asked: html(asked.path, delay=0.04))
    site.pages["/bad"] = recipes.times(2, Page(raw=b""), html("good"))
    web = serve(site)
    crawled = crawl(web, delay=0.06, slow_factor=0, per_host=per_host)
    assert check_politeness(web.log, 0.06, per_host=per_host) == []
    assert crawled["/bad"].is_done


def test_slow_answers_count_from_their_end(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(wide(4, delay=0.1))
    crawl(web, delay=0.05, slow_factor=0)
    ends = [visit.ended or 0 for visit in web.log]
    starts = [visit.at for visit in web.log]
    assert all(start - end >= 0.05 - 0.001 for end, start in zip(ends, starts[1:], strict=False))


def test_a_slow_host_is_given_more_time(serve: Serve, crawl: CrawlIt) -> None:
    """The pause is a multiple of the last response time, capped; not where the setting is 0."""
    web = serve(slow := wide(3, delay=0.1), capped := wide(3, delay=0.15))
    crawl(web.url("/", slow), web.url("/", capped), delay=0.01, slow_factor=3, max_delay=0.35)
    assert check_politeness(pages_of(web, slow), 0.1 + 0.3) == []
    assert check_politeness(pages_of(web, capped), 0.15 + 0.35) == []
    web = serve(wide(3, delay=0.1))
    crawl(web, slow_factor=3, folder="at once")
    assert web.log[-1].at - web.log[0].at < 1.0


def pages_of(web: FakeWeb, site: Site) -> list:  # type: ignore[type-arg]
    """The visits of the slow pages of a site."""
    return [visit for visit in web.log if visit.port == web.port(site) and visit.path[1:].isdigit()]


def test_several_seeds_of_one_host_are_one_host(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(wide(6))
    crawl(*(web.url(f"/{n}") for n in range(6)), delay=0.05, slow_factor=0)
    assert check_politeness(web.log, 0.05) == []
    assert paths(web.log) == [f"/{n}" for n in range(6)]


@pytest.mark.parametrize("per_host", [2, 3])
def test_more_at_once_where_the_settings_say_so(serve: Serve, crawl: CrawlIt, per_host: int) -> None:
    """The gap holds between any two of them, counted from when they were sent: the server may stamp the first one late."""
    web = serve(wide(12, delay=0.25))
    crawl(web, per_host=per_host, delay=0.07, slow_factor=0)
    assert check_politeness(web.log, 0.05, per_host=per_host) == []
    assert any("concurrency" in line for line in check_politeness(web.log, per_host=per_host - 1))


def test_without_delay_hosts_are_busy_but_not_more_than_that(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(*(wide(5, delay=0.02) for _ in range(6)))
    crawl(*(web.url("/", site) for site in web.sites))
    assert check_politeness(web.log) == []


def test_a_host_is_hostname_and_port(serve: Serve, crawl: CrawlIt) -> None:
    """Two ports of one machine do not wait for each other."""
    web = serve(wide(3), wide(3))
    crawl(*(web.url("/", site) for site in web.sites), delay=0.1, slow_factor=0)
    assert check_politeness(web.log, 0.1) == []
    assert web.log[-1].at - web.log[0].at < 7 * 0.1


@pytest.mark.parametrize("code", [429, 503])
@pytest.mark.parametrize("form", ["seconds", "date"])
def test_retry_after_holds_the_whole_host(serve: Serve, crawl: CrawlIt, code: int, form: str) -> None:
    def busy(asked: Asked) -> Page:
        value = "1" if form == "seconds" else formatdate(int(time()) + 2, usegmt=True)
        return recipes.busy(code, value) if asked.nth == 0 else html("now")

    site = wide(2)
    site.pages |= {"/": links("/0", "/busy", "/1"), "/busy": busy}
    web = serve(site)
    crawled = crawl(web)
    assert check_politeness(web.log) == []
    assert paths(web.log) == ["/", "/0", "/busy", "/busy", "/1"]
    assert crawled["/busy"].is_done
    assert crawled["/busy"].attempts == 2


def test_retry_after_is_capped(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": recipes.times(1, recipes.busy(503, "86400"), html("at last"))}))
    crawled = crawl(web, max_retry_after=0.3)
    assert crawled["/"].is_done
    assert web.log[-1].at - web.log[-2].at >= 0.3


def test_what_a_host_asked_for_holds_over_a_restart(serve: Serve, crawl: CrawlIt) -> None:
    site = wide(2)
    site.pages |= {"/0": recipes.times(1, recipes.busy(503, "1"), html("later"))}
    web = serve(site)
    crawl(web, max_time=0.3)
    assert paths(web.log) == ["/", "/0"]
    crawl(base=web.origin())
    assert check_politeness(web.log) == []
    assert sorted(paths(web.log)[2:]) == ["/0", "/1"]


def test_the_delay_holds_over_a_restart(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(wide(3))
    for limit in (1, 2, 3, 4):
        crawl(*([web] if limit == 1 else []), delay=0.4, slow_factor=0, max_urls=limit, base=web.origin())
    assert check_politeness(web.log, 0.4) == []
    assert paths(web.log) == ["/", "/0", "/1", "/2"]


def test_a_generated_site_with_a_delay(serve: Serve, crawl: CrawlIt) -> None:
    site = generate(5, pages=25, flaky=3, max_delay=0.01, crawl_delay=0.03)
    web = serve(site)
    crawl(web, retry_pause=0.01)
    assert check_politeness(web.log, 0.03) == []
    assert set(paths(web.log)) == set(site.asked)
