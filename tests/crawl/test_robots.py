"""robots.txt in every state that the web knows."""

from collections.abc import Mapping

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import Crawled, Row, paths
from fakeweb import FakeWeb, Page, Site, recipes
from fakeweb.page import Framing, Handler
from fakeweb.recipes import html, links, redirect, robots, status
from gossamer.cli.retry import retry
from gossamer.crawl.report import Ending
from oracle import check_politeness, check_visits
from oracle.visits import is_robots

RULES = "User-agent: *\nDisallow: /private\n"
OK = robots(RULES)
PADDING = "# nothing\n" * 52_000  # 520,000 bytes: more than the 500 KiB that are read

Answer = Page | Handler


def site(answer: Answer, **more: Answer) -> Site:
    """A page, one that RULES forbid, and ``more`` at paths."""
    pages: dict[str, Answer] = {"/robots.txt": answer, "/": links("/private/x", "/open"), "/open": html("open")}
    return Site(pages | {"/private/x": html("private")} | {f"/{name}": page for name, page in more.items()})


def chain(length: int) -> dict[str, Answer]:
    return {f"hop{n}": redirect(f"/hop{n + 1}") if n < length else OK for n in range(1, length + 1)}


OBEYED: Mapping[str, Site] = {
    "plain": site(OK),
    "named group": site(robots("User-agent: *\nDisallow:\n\nUser-agent: Gossamer\nDisallow: /private\n")),
    "byte order mark": site(Page(b"\xef\xbb\xbf" + RULES.encode())),
    "utf-16": site(Page(RULES.encode("utf-16"))),
    "carriage returns": site(robots(RULES.replace("\n", "\r"))),
    "latin-1 and NULs": site(Page(b"# caf\xe9 \0\0\n" + RULES.encode())),
    "in the first 500 KiB": site(robots(RULES + PADDING)),
    "gzip": site(Page(RULES.encode(), coding="gzip")),
    "chunked": site(Page(RULES.encode(), framing=Framing.CHUNKED)),
    "wrong type": site(Page(RULES.encode(), content_type="application/octet-stream")),
    "after 500": site(recipes.times(2, status(500), OK)),
    "after 429": site(recipes.times(1, status(429, headers=(("Retry-After", "0"),)), OK)),
    "after 503": site(recipes.times(1, recipes.busy(503, "0"), OK)),
    "after silence": site(recipes.times(1, recipes.robots_hanging(), OK)),
    "after reset": site(recipes.times(1, recipes.reset_midway(RULES.encode()), OK)),
    "after half of it": site(recipes.times(1, recipes.truncated(b"User-agent: *\nDis"), OK)),
    "after half of its gzip": site(recipes.times(1, recipes.truncated_coding(RULES.encode() * 9), OK)),
    "redirected": site(redirect("/hop1"), **chain(1)),
    "redirected five times": site(redirect("/hop1"), **chain(5)),
}
ALLOWED: Mapping[str, Site] = {
    "404": site(status(404)),
    "403": site(status(403)),
    "401": site(status(401)),
    "410": site(status(410)),
    "empty": site(robots("")),
    "html": site(html("<p>User-agents are welcome<p>Disallow nothing")),
    "redirected to 404": site(redirect("/gone"), gone=status(404)),
    "behind 500 KiB": site(robots(PADDING + RULES)),
    "for others": site(robots("User-agent: nobody\nDisallow: /\n")),
}
ASIDE: Mapping[str, tuple[Site, str]] = {
    "500": (site(status(500)), "status 500"),
    "503": (site(status(503)), "status 503"),
    "429": (site(status(429, headers=(("Retry-After", "0"),))), "status 429"),
    "600": (site(status(600)), "status 600"),
    "redirected six times": (site(redirect("/hop1"), **chain(6)), "status 302"),
    "loop": (site(redirect("/robots.txt")), "status 302"),
    "redirect to nowhere": (site(status(302)), "status 302"),
    "redirect to mailto": (site(redirect("mailto:a@b.test")), "status 302"),
    "no http": (site(recipes.garbage()), "not http"),
    "reset": (site(recipes.reset_midway()), ""),
    "bomb": (site(recipes.bomb(50_000_000)), ""),
}


def test_rules_are_obeyed_however_they_come(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(*OBEYED.values())
    crawled = crawl(*(web.url("/", each) for each in OBEYED.values()), first_byte_timeout=0.3)
    for name, each in OBEYED.items():
        assert crawled_there(crawled, web, each) == {"/": "finished", "/open": "finished", "/private/x": "held"}, name
        assert row_of(crawled, web, each, "/private/x").reason == "robots.txt: Disallow: /private", name
    check_robots_first(web)


def test_no_rules_allow_everything(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(*ALLOWED.values())
    crawled = crawl(*(web.url("/", each) for each in ALLOWED.values()))
    for name, each in ALLOWED.items():
        assert set(crawled_there(crawled, web, each).values()) == {"finished"}, name
    check_robots_first(web)


def test_an_error_is_never_permission(serve: Serve, crawl: CrawlIt) -> None:
    """After a bounded number of tries the host is put aside; nothing of it was fetched."""
    good = site(OK)
    web = serve(good, *(each for each, _ in ASIDE.values()))
    crawled = crawl(web.url("/", good), *(web.url("/", each) for each, _ in ASIDE.values()), max_tries=3)
    for name, (each, detail) in ASIDE.items():
        assert crawled_there(crawled, web, each) == {"/": "held"}, name
        assert row_of(crawled, web, each, "/").reason.startswith(f"robots.txt unreachable: {detail}"), name
        seen = [visit.path for visit in web.log if visit.port == web.port(each)]
        assert not {"/", "/open"} & set(seen), name
        assert seen.count("/robots.txt") == {"loop": 3 * 6, "no http": 1}.get(name, 3), name
    assert crawled_there(crawled, web, good)["/open"] == "finished"


def test_a_host_that_is_put_aside_comes_back_with_a_retry(serve: Serve, crawl: CrawlIt) -> None:
    """Never is an error cached as permission, nor as a refusal."""
    web = serve(site(OK), ill := site(recipes.times(2, status(500), OK)))
    crawled = crawl(web.url("/"), web.url("/", ill), max_tries=2)
    assert crawled_there(crawled, web, ill) == {"/": "held"}
    again = crawl(base=web.origin(ill))
    assert again["/"].held, "a resume alone does not take it back"
    retry.main([str(again.folder), "--host", web.origin(ill).removeprefix("http://")], standalone_mode=False)
    there = crawled_there(crawl(base=web.origin(ill)), web, ill)
    assert there == {"/": "finished", "/private/x": "held", "/open": "finished"}


def test_rules_of_a_redirect_belong_to_the_host_that_asked(serve: Serve, crawl: CrawlIt) -> None:
    central = site(robots("User-agent: *\nDisallow: /open\n"), rules=OK)
    web = serve(central, asking := site(status(404)))
    asking.pages["/robots.txt"] = redirect(web.url("/rules", central))
    crawled = crawl(web.url("/", asking), web.url("/", central))
    assert crawled_there(crawled, web, asking)["/private/x"] == "held"
    assert crawled_there(crawled, web, asking)["/open"] == "finished"
    assert crawled_there(crawled, web, central)["/open"] == "held"


def test_a_redirect_to_a_host_of_its_own_network_is_refused(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(inside := site(OK), asking := site(status(404)), site(OK))
    asking.pages["/robots.txt"] = redirect(web.url("/robots.txt", inside))
    crawled = crawl(web.url("/", asking), web.url("/", web.sites[2]), max_tries=2)
    assert crawled["/"].held
    assert "address refused" in crawled["/"].reason
    assert not [visit for visit in web.log if visit.port == web.port(inside)]


@pytest.mark.parametrize("per_host", [1, 3])
def test_redirects_of_robots_are_polite_to_the_other_host(serve: Serve, crawl: CrawlIt, per_host: int) -> None:
    """Many hosts keep their rules at one place, which is being crawled itself."""
    central = site(robots("User-agent: *\nAllow: /\n"), rules=OK)
    asking = [site(status(404)) for _ in range(4)]
    web = serve(central, *asking)
    for each in asking:
        each.pages["/robots.txt"] = redirect(web.url("/rules", central))
    central.pages["/"] = links(*(f"/{n}" for n in range(4)))
    crawl(web.url("/", central), *(web.url("/", each) for each in asking), delay=0.05, slow_factor=0, per_host=per_host)
    assert check_politeness(web.log, 0.05, per_host=per_host) == []
    assert paths(web.log).count("/rules") == 4


def test_crawl_delay(serve: Serve, crawl: CrawlIt) -> None:
    slow = site(robots(RULES + "Crawl-delay: 0.15\n"))
    capped = site(robots(RULES + "Crawl-delay: 3600\n"))
    web = serve(slow, capped, site(OK))
    crawl(*(web.url("/", each) for each in web.sites), max_delay=0.3)
    delays = {host(web, slow): 0.15, host(web, capped): 0.3}
    assert check_politeness(web.log, delays=delays) == []
    assert len(paths(web.log)) == 6


def test_crawl_delay_holds_over_a_restart(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(site(robots("User-agent: *\nCrawl-delay: 0.4\n")))
    crawl(web, max_urls=1)
    crawl(base=web.origin(), max_urls=0)
    assert check_politeness(web.log, 0.4) == []
    assert paths(web.log, robots=True) == ["/robots.txt", "/", "/private/x", "/open"], "rules are kept as well"


def test_rules_are_asked_for_again_when_they_are_old(serve: Serve, crawl: CrawlIt) -> None:
    """What changed meanwhile counts from then on."""
    pages: dict[str, Answer] = {"/robots.txt": recipes.times(1, robots(""), robots("User-agent: *\nDisallow: /z"))}
    pages |= {"/": links(*(f"/{n}" for n in range(8)), *(f"/z{n}" for n in range(3)))}
    web = serve(Site(pages, lambda asked: html(asked.path, delay=0.05)))
    crawled = crawl(web, robots_age=0.2)
    assert {path for path, state in crawled.states().items() if state == "held"} == {"/z0", "/z1", "/z2"}
    assert paths(web.log, robots=True).count("/robots.txt") >= 2


def test_old_rules_are_no_permission_when_new_ones_cannot_be_had(serve: Serve, crawl: CrawlIt) -> None:
    pages: dict[str, Answer] = {"/robots.txt": recipes.times(1, robots(""), status(500))}
    web = serve(Site(pages | {"/": links(*(f"/{n}" for n in range(9)))}, lambda asked: html(asked.path, delay=0.05)))
    crawled = crawl(web, robots_age=0.2, max_tries=2)
    asked = paths(web.log, robots=True)
    second = asked.index("/robots.txt", 1)
    assert asked[second:] == ["/robots.txt", "/robots.txt"]
    assert {row.reason for row in crawled.rows.values() if row.held} == {"robots.txt unreachable: status 500"}


def test_rules_that_are_old_at_once(serve: Serve, crawl: CrawlIt) -> None:
    """They hold for one page at least, or nothing would ever be fetched."""
    web = serve(site(OK))
    crawled = crawl(web, robots_age=0)
    assert crawled.states() == {"/": "finished", "/private/x": "held", "/open": "finished"}


def test_robots_may_be_ignored(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(site(OK))
    crawled = crawl(web, ignore_robots=True)
    assert crawled["/private/x"].is_done
    assert not any(map(is_robots, web.log))


def test_each_hop_of_robots_is_archived(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(site(redirect("/hop1"), **chain(1)))
    crawled = crawl(web)
    answers = {url.removeprefix(web.origin()) for kind, url, _ in crawled.records() if kind == "response"}
    assert {"/robots.txt", "/hop1", "/", "/open"} == answers
    assert crawled.select("SELECT count(*) FROM record WHERE what = 'robots'") == [(2,)]


def test_a_seed_that_robots_forbids(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(site(robots("User-agent: *\nDisallow: /\n")), site(OK))
    crawled = crawl(*(web.url("/", each) for each in web.sites))
    assert crawled.report.ending is Ending.DONE
    assert crawled["/"].reason == "robots.txt: Disallow: /"


def crawled_there(crawled: Crawled, web: FakeWeb, each: Site) -> dict[str, str]:
    """What became of the URLs of one site, by path."""
    origin = web.origin(each)
    return {
        row.url.removeprefix(origin): "held" if row.held else row.state
        for row in crawled.rows.values()
        if row.url.startswith(f"{origin}/")
    }


def row_of(crawled: Crawled, web: FakeWeb, each: Site, path: str) -> Row:
    return next(row for row in crawled.rows.values() if row.url == web.url(path, each))


def host(web: FakeWeb, each: Site) -> str:
    return web.origin(each).removeprefix("http://")


def check_robots_first(web: FakeWeb) -> None:
    """Of each host robots.txt first, and nothing else until it was answered."""
    assert [line for line in check_visits(web.log) if line.startswith("robots:")] == []
