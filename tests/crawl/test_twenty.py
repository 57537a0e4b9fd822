"""Twenty sites in one crawl, by names: with rules and delays, one dead, one slow, one endless, one that refuses."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from crawl.crawling import Crawled, look, run
from fakeweb import FakeWeb, GeneratedSite, Names, Site, Visit, generate, recipes
from fakeweb.page import Asked, Page
from fakeweb.recipes import html, links, robots, status
from gossamer.crawl.report import Ending
from oracle import check_archive, check_politeness, check_visits

DELAY = 0.02
CRAWL_DELAYS = {4: 0.06, 9: 0.04}  # of sites, by number
DEPTH = 25  # of the endless site


@dataclass
class Twenty:
    web: FakeWeb
    crawled: Crawled
    good: list[GeneratedSite]
    odd: dict[str, Site]

    def visits(self, site: Site) -> list[Visit]:
        return [visit for visit in self.web.log if visit.address == site.address]

    def host(self, site: Site) -> str:
        return self.web.origin(site).removeprefix("http://")


def good_site(number: int) -> GeneratedSite:
    return generate(
        100 + number,
        pages=12,
        flaky=number % 3,
        max_delay=0.01,
        crawl_delay=CRAWL_DELAYS.get(number),
        name=f"site{number}.test",
        address=f"127.0.1.{number + 1}",
    )


def next_page(asked: Asked) -> Page:
    """A site that goes on for ever: each page links to the next."""
    number = int(asked.path.strip("/") or 0)
    return links(f"/{number + 1}", text=f"page {number} of a book without end")


def odd_sites() -> dict[str, Site]:
    slow = Site({"/": links("/a", "/b")}, lambda asked: html(asked.path, delay=0.25))
    endless = Site({"/robots.txt": robots(""), "/7": recipes.endless()}, next_page)
    refusing = Site({"/robots.txt": status(503), "/": links("/a")})
    sites = {"dead": Site(), "slow": slow, "endless": endless, "refusing": refusing}
    for number, (name, site) in enumerate(sites.items()):
        site.name, site.address = f"{name}.test", f"127.0.1.{50 + number}"
    return sites


@pytest.fixture(scope="module")
def twenty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twenty]:
    good, odd = [good_site(number) for number in range(16)], odd_sites()
    sites = [*good, *odd.values()]
    folder = tmp_path_factory.mktemp("twenty") / "c"
    settings = {"delay": DELAY, "slow_factor": 0, "max_tries": 3, "max_depth": DEPTH, "max_size": 500_000}
    with FakeWeb(*sites) as web, Names({site.name: site.address for site in sites}) as servers:
        web.down(odd["dead"])
        seeds = tuple((web.url("/", site), False) for site in sites)
        report = run(folder, seeds, {**settings, "dns": (servers.server,), "exclude": ("*:*/files/*.zip",)})
        crawled = look(report, folder, "")
        yield Twenty(web, crawled, good, odd)
        crawled.database.close()


def test_it_ends(twenty: Twenty) -> None:
    assert twenty.crawled.report.ending is Ending.DONE
    assert twenty.crawled.report.progress.statistics.waiting == 0


def test_the_servers_logs_prove_politeness(twenty: Twenty) -> None:
    delays = {twenty.host(twenty.good[number]): delay for number, delay in CRAWL_DELAYS.items()}
    assert check_politeness(twenty.web.log, DELAY, delays=delays) == []


def test_rules_and_tries(twenty: Twenty) -> None:
    rules = {twenty.host(site): site.pages["/robots.txt"] for site in twenty.good}
    texts = {host: page.body.decode() for host, page in rules.items() if isinstance(page, Page)}
    assert len(texts) == 16
    assert check_visits(twenty.web.log, robots=texts, tries=3, robots_tries=3) == []


def test_the_others_finish(twenty: Twenty) -> None:
    for site in twenty.good:
        kept = {url.removeprefix(twenty.web.origin(site)) for url in twenty.crawled.kept()}
        assert site.reachable <= kept, site.name
        asked = {visit.path for visit in twenty.visits(site) if visit.path != "/robots.txt"}
        assert asked == {path for path in site.asked if not path.endswith(".zip")}, site.name


def test_the_dead_one_is_put_aside(twenty: Twenty) -> None:
    row = twenty.crawled[twenty.web.url("/", twenty.odd["dead"])]
    assert row.held
    assert row.reason.startswith("robots.txt unreachable: connection refused")


def test_the_refusing_one_is_asked_for_nothing_but_its_rules(twenty: Twenty) -> None:
    assert [visit.path for visit in twenty.visits(twenty.odd["refusing"])] == ["/robots.txt"] * 3


def test_the_slow_one_holds_up_nobody(twenty: Twenty) -> None:
    """While one of its answers is awaited, the others are asked many times."""
    slow = next(visit for visit in twenty.visits(twenty.odd["slow"]) if visit.path == "/a")
    assert slow.ended is not None
    others = [visit for visit in twenty.web.log if slow.at < visit.at < slow.ended]
    assert len({visit.host for visit in others}) >= 8


def test_the_endless_one_ends_at_the_depth_that_was_asked_for(twenty: Twenty) -> None:
    site = twenty.odd["endless"]
    seventh = twenty.crawled[twenty.web.url("/7", site)]
    assert seventh.reason == "body too large: the first 500000 bytes were kept"
    assert [visit.path for visit in twenty.visits(site)][-1] == "/7"


def test_the_archive_is_whole(twenty: Twenty) -> None:
    assert check_archive(twenty.crawled.folder) == []
