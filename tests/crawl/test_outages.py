"""Things that go away in the middle of a crawl and come back: the link, a host, a name, a server of names."""

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import Leaping, Nothing, meanwhile, paths
from fakeweb import NXDOMAIN, SERVFAIL, Answer, Names, Page, Site, Visit
from fakeweb.names import HANG, Entry
from fakeweb.page import FOREVER, Asked
from fakeweb.recipes import html, links
from gossamer.crawl.report import Progress
from gossamer.fetch.hosts_file import HostsFile
from gossamer.fetch.resolver import Resolver
from oracle import check_archive, check_politeness

MakeNames = Callable[[dict[str, Entry | str]], Names]
PAGES = 20


def wide(name: str = "", *, delay: float = 0.0, address: str = "127.0.0.1", port: int = 0) -> Site:
    """A start page that links to ``PAGES`` others."""
    pages: dict[str, Page | Callable[[Asked], Page]] = {"/": links(*(f"/{number}" for number in range(PAGES)))}
    return Site(pages, lambda asked: html(asked.host + asked.path, delay=delay), name, address, port)


def silent_after(count: int, dead: list[bool], *sites: Site) -> None:
    """After so many pages of all of them together ``dead`` is said, by the server itself: no crawl is too quick for it.

    While it is said, who asks waits for ever.
    """
    pages = itertools.count(1)
    for site in sites:
        site.pages = {path: partial(_answer, dead, pages, count, page) for path, page in site.pages.items()}
        site.fallback = partial(_answer, dead, pages, count, site.fallback)
        site.pages["/robots.txt"] = partial(_answer, dead, itertools.repeat(0), 1, Page(b"", content_type="text/plain"))


def _answer(
    dead: list[bool], pages: Iterator[int], count: int, page: Page | Callable[[Asked], Page], asked: Asked
) -> Page:
    if dead[0]:
        return Page(delay=FOREVER)
    if next(pages) == count:
        dead[0] = True
    return page if isinstance(page, Page) else page(asked)


# the link


def test_a_link_that_goes_silent_and_comes_back(serve: Serve, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections stand, and nothing comes. With two tries for each URL all is fetched: the outage burnt none."""
    monkeypatch.setattr("gossamer.crawl.heartbeat.PERIOD", 0.05)
    dead, clock = [False], Leaping()
    sites = [wide(address=f"127.0.0.{n}", delay=0.005) for n in range(1, 9)]
    silent_after(40, dead, *sites)
    web = serve(*sites)
    during: list[int] = []

    def observe(progress: Progress) -> None:
        if progress.pause == "the link is down":
            during.append(len(web.log))
            clock.ahead += 2.0  # the first look comes after 5 s, further ones later
            if len(during) == 20:
                dead[0] = False

    seeds = [web.url("/", site) for site in sites]
    crawled = crawl(*seeds, clock=clock, observe=observe, max_tries=2, first_byte_timeout=1.0, retry_pause=1.0)
    assert len(during) >= 20
    assert during[19] - during[0] <= 4 * len(sites)  # only looks whether it is back
    assert Counter(row.state for row in crawled.rows.values()) == {"finished": len(sites) * (PAGES + 1)}
    crawled.database.close()
    assert check_archive(crawled.folder) == []


@pytest.mark.parametrize("host_failures", [8, 1])
def test_what_failed_before_the_outage_was_known_is_forgiven(
    serve: Serve, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch, host_failures: int
) -> None:
    """With one try for each URL, and one failure for each host, the first that fail would be lost for good."""
    monkeypatch.setattr("gossamer.crawl.heartbeat.PERIOD", 0.05)
    dead, clock = [False], Leaping()
    sites = [wide(address=f"127.0.0.{n}", delay=0.005) for n in range(1, 9)]
    silent_after(40, dead, *sites)
    web = serve(*sites)

    def observe(progress: Progress) -> None:
        if progress.pause == "the link is down":
            clock.ahead += 2.0
            dead[0] = False

    seeds = [web.url("/", site) for site in sites]
    options = {"max_tries": 1, "first_byte_timeout": 1.0, "retry_pause": 1.0, "host_failures": host_failures}
    crawled = crawl(*seeds, clock=clock, observe=observe, **options)
    assert crawled.select("SELECT count(*) > 0 FROM attempt") == [(1,)]
    assert Counter(row.state for row in crawled.rows.values()) == {"finished": len(sites) * (PAGES + 1)}
    assert {row.attempts for row in crawled.rows.values()} == {1}
    crawled.database.close()
    assert check_archive(crawled.folder) == []


def test_a_link_that_is_down_from_the_start(serve: Serve, names: MakeNames, crawl: CrawlIt) -> None:
    """Nothing was ever fetched: a person hears of it at once."""
    began = time.monotonic()
    with pytest.raises(Nothing) as told:
        crawl(*(f"http://h{n}.test/" for n in range(8)), dns=(names({"*.test": SERVFAIL}).server,), retry_pause=60)
    assert time.monotonic() - began < 20
    assert len(told.value.reasons) == 8
    assert all("dns: server failure" in reason for reason in told.value.reasons)


# a host


@pytest.mark.parametrize("how", ["down", "silent"])
def test_a_host_fails_and_recovers(serve: Serve, crawl: CrawlIt, how: str) -> None:
    """One that can't be reached is asked more and more rarely, the other host does not wait, and nothing is lost."""
    dead, began = [False], time.monotonic()
    ill, well = wide(), wide(address="127.0.0.2", delay=0.02)
    silent_after(8, dead, ill)
    web = serve(ill, well)

    def work() -> None:
        web.wait(lambda _: dead[0])
        if how == "down":
            web.down(ill)
        web.wait(lambda log: _of(log, well) >= PAGES + 2)  # it has all of its pages meanwhile
        dead[0] = False
        if how == "down":
            web.up(ill)

    timeout, pause = 0.3, 0.1
    options = {"first_byte_timeout": timeout, "retry_pause": pause, "max_tries": 100, "host_failures": 100}
    with meanwhile(work):
        crawled = crawl(web.url("/", ill), web.url("/", well), **options)
    assert Counter(row.state for row in crawled.rows.values()) == {"finished": 2 * (PAGES + 1)}
    failures = sum(row.attempts - 1 for url, row in crawled.rows.items() if not url.startswith("http"))
    assert failures > 0
    lasted = time.monotonic() - began
    assert failures <= 3 + (math.log2(1 + lasted / pause) if how == "down" else lasted / timeout)
    assert check_politeness(web.log) == []


def _of(log: list[Visit], site: Site) -> int:
    return sum(visit.address == site.address for visit in log)


# names


@pytest.fixture
def _short_lived(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are kept as long as they say, and failures not at all."""
    for name in ("MIN_TTL", "FAILURE_TTL"):
        monkeypatch.setattr(f"gossamer.fetch.resolver.{name}", 0.0)


@pytest.mark.usefixtures("_short_lived")
def test_a_name_that_moves(serve: Serve, names: MakeNames, crawl: CrawlIt) -> None:
    """The old address is dead the moment the name has another."""
    first = serve(before := wide("a.test", delay=0.01))
    second = serve(wide("a.test", delay=0.01, address="127.0.0.2", port=first.port()))
    servers = names({"a.test": Answer(("127.0.0.1",), ttl=0)})

    def count(asked: Asked) -> Page:
        if asked.path == "/7":
            servers.table["a.test"] = Answer(("127.0.0.2",), ttl=0)
        return html(asked.path)

    before.fallback = count
    crawled = crawl(first, dns=(servers.server,))
    assert {row.state for row in crawled.rows.values()} == {"finished"}
    assert paths(first.log) == ["/", *(f"/{n}" for n in range(8))]
    assert paths(second.log) == [f"/{n}" for n in range(8, PAGES)]


@pytest.mark.usefixtures("_short_lived")
@pytest.mark.parametrize("failure", [SERVFAIL, HANG])
def test_a_name_that_fails_for_a_while(
    serve: Serve, names: MakeNames, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch, failure: Answer
) -> None:
    monkeypatch.setattr("gossamer.network.Resolver", partial(Resolver, timeout=0.3))
    web = serve(site := wide("a.test"))
    good = Answer(("127.0.0.1",), ttl=0)
    servers = names({"a.test": good})
    asked_before = [0]

    def fail(asked: Asked) -> Page:
        if asked.path == "/7":
            asked_before[0] = len(servers.queries)
            servers.table["a.test"] = failing
        return html(asked.path)

    def failing(_: int) -> Answer:
        return failure if len(servers.queries) < asked_before[0] + 12 else good

    site.fallback = fail
    crawled = crawl(web, dns=(servers.server,), retry_pause=0.1)
    assert {row.state for row in crawled.rows.values()} == {"finished"}
    assert len(web.log) == PAGES + 2
    assert max(row.attempts for row in crawled.rows.values()) > 1


def test_names_that_hang_hold_up_nobody(
    serve: Serve, names: MakeNames, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That so many fail looks like a dead link at first; but none of them has ever answered."""
    monkeypatch.setattr("gossamer.crawl.heartbeat.PERIOD", 0.05)
    monkeypatch.setattr("gossamer.network.Resolver", partial(Resolver, timeout=3.0))
    web = serve(site := wide("well.test"))
    hanging = [f"http://h{n}.test/" for n in range(30)]
    servers = names({"well.test": "127.0.0.1", "*.test": HANG})
    began, clock = time.time(), Leaping()

    def observe(progress: Progress) -> None:
        clock.ahead += 5.0 * (progress.pause == "the link is down")

    crawled = crawl(web, *hanging, dns=(servers.server,), max_tries=1, downloaders=64, clock=clock, observe=observe)
    assert all(crawled[f"/{n}"].is_done for n in range(PAGES))
    assert max(visit.at for visit in web.log if visit.address == site.address) - began < 3.0
    assert {crawled[url].reason for url in hanging} == {"robots.txt unreachable: dns: server failure: no answer"}


def test_a_name_that_is_gone(serve: Serve, names: MakeNames, crawl: CrawlIt) -> None:
    """What links to it is not harmed, and it is not asked for again and again."""
    web = serve(site := wide("well.test"))
    site.pages["/0"] = links(*(f"http://gone.test/{n}" for n in range(50)))
    servers = names({"well.test": "127.0.0.1", "gone.test": NXDOMAIN})
    crawled = crawl(web, dns=(servers.server,), scope="any", retry_pause=30.0)
    assert sum(row.is_done for row in crawled.rows.values()) == PAGES + 1
    assert Counter(query.type for query in servers.queries if query.name == "gone.test") == {"A": 1, "AAAA": 1}


# addresses by the thousand

MANY = tuple(f"127.{n // 65536 + 1}.{n // 256 % 256}.{n % 256}" for n in range(4000))
"""No message of the DNS holds more (RFC 1035, section 4.2.2: its length is a number of 16 bits)."""


@pytest.mark.parametrize("works", [True, False])
def test_a_name_with_thousands_of_addresses(serve: Serve, names: MakeNames, crawl: CrawlIt, works: bool) -> None:
    """A few of them are tried. Nothing waits for the others."""
    web = serve(wide("well.test"), wide("many.test"))
    many = Answer((*MANY[:1], "127.0.0.1", *MANY[1:]) if works else MANY, only_tcp=True)
    servers = names({"well.test": "127.0.0.1", "many.test": many})
    began = time.monotonic()
    crawled = crawl(web.url("/", web.sites[0]), url := web.url("/", web.sites[1]), dns=(servers.server,), max_tries=2)
    assert time.monotonic() - began < 20
    assert crawled[url].is_done == works
    if not works:
        assert crawled[url].reason.startswith("robots.txt unreachable: connection refused: ")


def test_a_hosts_file_with_ten_thousand_addresses(
    serve: Serve, crawl: CrawlIt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = tmp_path / "hosts"
    lines = ["127.0.0.1 many.test", *(f"127.9.{n // 250}.{n % 250 + 1} many.test" for n in range(10_000))]
    hosts.write_text("\n".join(lines), encoding="ascii")
    monkeypatch.setattr("gossamer.fetch.lookup.HostsFile", partial(HostsFile, hosts))
    crawled = crawl(serve(wide("many.test")))
    assert len(crawled.kept()) == PAGES + 1
