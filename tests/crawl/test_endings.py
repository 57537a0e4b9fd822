"""When a crawl ends, and what is left then."""

import errno
import itertools
import os
from collections.abc import Callable

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import Leaping, paths
from fakeweb import SERVFAIL, Answer, Names, Site, recipes
from fakeweb.recipes import html, links, robots, status
from gossamer.clock import SystemClock
from gossamer.collection import Collection
from gossamer.crawl.report import Ending, Progress
from gossamer.errors import CollectionError
from gossamer.policy.politeness import LINK_HOSTS
from oracle import check_archive

MakeNames = Callable[..., Names]


def wide(count: int, delay: float = 0.0) -> Site:
    return Site({"/": links(*(f"/{n}" for n in range(count)))}, lambda asked: html(asked.path, delay=delay))


def test_max_time(serve: Serve, crawl: CrawlIt) -> None:
    """What is in flight then is finished."""
    web = serve(wide(100, delay=0.03))
    crawled = crawl(web, max_time=0.3)
    assert crawled.report.ending is Ending.MAX_TIME
    assert len(crawled.kept()) == len(paths(web.log)) < 90
    assert {visit.outcome for visit in web.log} == {"whole"}
    assert "max_time" not in (crawled.folder / "gossamer.toml").read_text()
    crawled = crawl(base=web.origin())
    assert (crawled.report.ending, len(crawled.kept())) == (Ending.DONE, 101)


def test_nothing_to_do(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(wide(2))
    crawl(web)
    count = len(web.log)
    crawled = crawl(base=web.origin())
    assert crawled.report.ending is Ending.DONE
    assert len(web.log) == count


def test_the_same_command_again_fetches_nothing_again(serve: Serve, crawl: CrawlIt) -> None:
    site = wide(3)
    site.pages |= {"/0": status(404), "/1": status(500)}
    web = serve(site)
    crawl(web)
    count = len(web.log)
    crawl(web)
    assert len(web.log) == count


def test_the_numbers_agree_with_the_rows(serve: Serve, crawl: CrawlIt) -> None:
    site = wide(6)
    site.pages |= {
        "/0": status(404),
        "/1": recipes.times(2, status(500), html("x")),
        "/2": links("http://elsewhere.test/", "/3", "mailto:a@b.test"),
        "/robots.txt": robots("User-agent: *\nDisallow: /4\n"),
    }
    crawled = crawl(serve(site))
    said = crawled.report.progress.statistics
    states = list(crawled.states().values())
    assert (said.finished, said.failed, said.held, said.waiting, said.running) == (
        states.count("finished"),
        states.count("failed"),
        states.count("held"),
        0,
        0,
    )
    assert crawled.select("SELECT sum(wire_size) FROM page") == [(said.bytes,)]
    assert said.pages == len(crawled.kept()) == 5
    assert crawled.report.progress.errors == {"http client error": 1, "http server error": 2}
    counters = dict(crawled.select("SELECT name, value FROM counter"))
    assert counters["held"] == said.held


def test_a_second_crawl_of_the_same_folder_is_refused(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(wide(5))
    seen: list[str] = []

    def started(_: object) -> None:
        with pytest.raises(CollectionError) as raised:
            Collection(folder, SystemClock())
        seen.append(str(raised.value))

    folder = crawl(web, max_urls=1).folder
    crawl(base=web.origin(), max_urls=2, started=started)
    assert str(os.getpid()) in seen[0]


def test_a_disk_that_fails_ends_the_crawl_with_its_reason(
    serve: Serve, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what was committed is whole."""
    web = serve(wide(30))
    syncs = itertools.count()

    def sync(descriptor: int) -> None:
        if next(syncs) > 5:
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("gossamer.archive.disk.os.fdatasync", sync)
    with pytest.raises(CollectionError, match="Input/output error"):
        crawl(web)
    monkeypatch.undo()
    crawled = crawl(base=web.origin())
    assert len(crawled.kept()) == 31
    crawled.database.close()
    assert check_archive(crawled.folder) == []


def test_an_error_of_our_own_ends_the_crawl_with_its_cause(
    serve: Serve, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    def conclude(*_: object, **__: object) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr("gossamer.crawl.pipeline.conclude", conclude)
    with pytest.raises(ZeroDivisionError, match="ours"):
        crawl(serve(wide(3)))


# the link


def test_a_dead_link_pauses_everything(
    serve: Serve, names: MakeNames, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than half of many hosts fail at once: it is ours. Only the failures that told it count as tries."""
    monkeypatch.setattr("gossamer.fetch.resolver.MIN_TTL", 0.0)
    monkeypatch.setattr("gossamer.crawl.heartbeat.PERIOD", 0.05)
    hosts = [f"h{n}.test" for n in range(8)]
    sites = [wide_named(name) for name in hosts]
    web = serve(*sites)
    dead = [False]

    def answer(count: int) -> Answer:
        return SERVFAIL if dead[0] else Answer(("127.0.0.1",), ttl=0)

    servers = names(dict.fromkeys(hosts, answer))
    clock = Leaping()
    pauses: list[str] = []

    def observe(progress: Progress) -> None:
        pauses.append(progress.pause)
        if progress.statistics.pages >= 16 and not dead[1:]:
            dead[:] = [True, True]
        if progress.pause == "the link is down":
            dead[0] = False
            clock.ahead += 60

    settings = {"dns": (servers.server,), "retry_pause": 1.0}
    crawled = crawl(*(web.url("/", site) for site in sites), clock=clock, observe=observe, **settings)
    assert "the link is down" in pauses
    assert {row.state for row in crawled.rows.values()} == {"finished"}
    tries = [row.attempts for row in crawled.rows.values()]
    assert max(tries) <= 2
    assert tries.count(2) < 5 * LINK_HOSTS
    assert crawled.report.progress.errors["dns: server failure"] >= LINK_HOSTS


def wide_named(name: str) -> Site:
    site = wide(40, delay=0.02)
    site.name = name
    return site
