"""Every kind of failure that can be brought about, and what becomes of the URL."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import Crawled, Leaping, look, paths, run
from fakeweb import NXDOMAIN, SERVFAIL, Answer, Ending, FakeWeb, Names, Page, Site, recipes, tls
from fakeweb.page import FOREVER
from fakeweb.recipes import html, links, redirect, robots, status
from gossamer.cli.retry import retry
from gossamer.records import FailureKind
from oracle import check_archive

MakeNames = Callable[..., Names]
TRIES = 3
HALF = b"<title>half</title>" + b"<p>and so on" * 200

PAGES: dict[str, tuple[Page, FailureKind, int]] = {
    "/400": (status(400), FailureKind.HTTP_CLIENT, 1),
    "/404": (status(404), FailureKind.HTTP_CLIENT, 1),
    "/410": (status(410), FailureKind.HTTP_CLIENT, 1),
    "/451": (status(451), FailureKind.HTTP_CLIENT, 1),
    "/408": (status(408), FailureKind.HTTP_SERVER, TRIES),
    "/500": (status(500), FailureKind.HTTP_SERVER, TRIES),
    "/502": (status(502), FailureKind.HTTP_SERVER, TRIES),
    "/503": (status(503), FailureKind.HTTP_SERVER, TRIES),
    "/429": (recipes.busy(429, "0"), FailureKind.HTTP_BUSY, TRIES),
    "/503-busy": (recipes.busy(503, "0"), FailureKind.HTTP_BUSY, TRIES),
    "/304": (status(304), FailureKind.HTTP_OTHER, 1),
    "/600": (status(600), FailureKind.HTTP_OTHER, 1),
    "/silent": (Page(delay=FOREVER), FailureKind.FIRST_BYTE_TIMEOUT, TRIES),
    "/endless": (recipes.endless(drip=0.02), FailureKind.TIMEOUT, TRIES),
    "/hangs": (Page(HALF, cut=2000, ending=Ending.HANG), FailureKind.TIMEOUT, TRIES),
    "/closed": (Page(raw=b""), FailureKind.RESET, TRIES),
    "/closed-in-head": (Page(raw=b"HTTP/1.1 200 OK\r\nContent-"), FailureKind.RESET, TRIES),
    "/reset": (Page(raw=b"", ending=Ending.RESET), FailureKind.RESET, TRIES),
    "/garbage": (recipes.garbage(), FailureKind.NOT_HTTP, 1),
    "/headers": (recipes.huge_headers(), FailureKind.HEADERS_TOO_LARGE, 1),
    "/half": (recipes.truncated(HALF), FailureKind.BODY_TRUNCATED, TRIES),
    "/half-reset": (recipes.reset_midway(HALF), FailureKind.BODY_TRUNCATED, TRIES),
    "/half-chunks": (recipes.truncated_chunks(HALF), FailureKind.BODY_TRUNCATED, TRIES),
    "/half-gzip": (recipes.truncated_coding(HALF), FailureKind.BODY_TRUNCATED, TRIES),
    "/half-br": (recipes.truncated_coding(HALF, "br"), FailureKind.BODY_TRUNCATED, TRIES),
    "/half-zstd": (recipes.truncated_coding(HALF, "zstd"), FailureKind.BODY_TRUNCATED, TRIES),
    "/no-gzip": (Page(b"plain text " * 9, headers=(("Content-Encoding", "gzip"),)), FailureKind.BODY_UNDECODABLE, 1),
    "/no-coding": (Page(b"plain", headers=(("Content-Encoding", "rot13"),)), FailureKind.BODY_UNDECODABLE, 1),
    "/bomb": (recipes.bomb(30_000_000), FailureKind.BODY_BOMB, 1),
    "/bomb-br": (recipes.bomb(30_000_000, "br"), FailureKind.BODY_BOMB, 1),
    "/bomb-twice": (recipes.bomb(30_000_000, "gzip, gzip"), FailureKind.BODY_BOMB, 1),
    "/loop": (redirect("/loop"), FailureKind.REDIRECT_LOOP, 1),
    "/nowhere": (status(302), FailureKind.REDIRECT_NOWHERE, 1),
}


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Crawled, FakeWeb]]:
    """One crawl that meets them all."""
    site = Site({"/": links(*PAGES, "/fine"), "/fine": html("fine")})
    site.pages |= {path: page for path, (page, _, _) in PAGES.items()}
    folder = tmp_path_factory.mktemp("failures") / "c"
    settings = {"max_tries": TRIES, "first_byte_timeout": 0.3, "timeout": 0.6, "max_decoded": 10_000_000}
    with FakeWeb(site) as web:
        ended = run(folder, ((web.url(), False),), {**settings, "host_failures": 1000, "per_host": 8})
        yield look(ended, folder, web.origin()), web


@pytest.mark.parametrize("path", PAGES)
def test_failure(failed: tuple[Crawled, FakeWeb], path: str) -> None:
    crawled, web = failed
    _, kind, tries = PAGES[path]
    row = crawled[path]
    assert (row.state, row.held) == ("failed", False)
    assert row.reason == kind or row.reason.startswith(f"{kind}: ")
    assert row.attempts == tries
    # where a connection that was used before is closed without a word, it is asked once more (RFC 9112, 9.3.1)
    assert paths(web.log).count(path) == tries or (kind is FailureKind.RESET and paths(web.log).count(path) > tries)
    assert not row.page.get("is_kept")
    history = crawled.select("SELECT outcome FROM attempt WHERE url = (SELECT id FROM url WHERE url = ?)", row.url)
    assert len(history) == tries
    assert all(outcome.startswith(str(kind)) for (outcome,) in history)


def test_the_others_survive(failed: tuple[Crawled, FakeWeb]) -> None:
    crawled, _ = failed
    assert crawled["/fine"].is_done
    counts = crawled.report.progress.errors
    assert counts[FailureKind.HTTP_CLIENT] == 4
    assert counts[FailureKind.BODY_TRUNCATED] == 6 * TRIES
    assert crawled.report.progress.statistics.failed == len(PAGES)
    crawled.database.close()
    assert check_archive(crawled.folder, pages=None) == []


def test_every_kind_is_met_somewhere() -> None:
    """Here, below, or where the parts that find them are tested."""
    elsewhere = {
        FailureKind.UNREACHABLE,  # takes another network: tests of the transport
        FailureKind.CONNECT_TIMEOUT,
        FailureKind.TLS_PROTOCOL,
        FailureKind.CRASHED_US,  # tests of durability
        FailureKind.PARSER_CRASHED,  # test_parsers
        FailureKind.PARSER_HUNG,
        FailureKind.ROBOTS_UNREACHABLE,  # test_robots
        FailureKind.BODY_TOO_LARGE,  # test_bodies
        FailureKind.REDIRECT_LIMIT,  # test_redirects
        FailureKind.ADDRESS_REFUSED,  # test_addresses
        FailureKind.DNS_NO_NAME,
        FailureKind.DNS_FAILURE,
        FailureKind.CONNECT_REFUSED,
        FailureKind.TLS_CERTIFICATE,
        FailureKind.PROXY,
    }
    assert set(FailureKind) - elsewhere == {kind for _, kind, _ in PAGES.values()}


def test_a_failure_that_passes(serve: Serve, crawl: CrawlIt) -> None:
    ill = [status(500), recipes.reset_midway(), recipes.truncated(HALF), Page(raw=b"")]
    site = Site({f"/{n}": recipes.times(2, page, html(f"well {n}")) for n, page in enumerate(ill)})
    site.pages["/"] = links(*(f"/{n}" for n in range(4)))
    crawled = crawl(serve(site))
    assert [crawled[f"/{n}"].state for n in range(4)] == ["finished"] * 4
    assert [crawled[f"/{n}"].attempts for n in range(3)] == [3] * 3
    assert crawled["/3"].attempts in (2, 3), "a kept connection that is closed without a word is worth another request"
    assert crawled["/0"].reason == ""
    assert crawled.select("SELECT count(*) FROM page WHERE is_kept") == [(5,)]


def test_tries_are_counted_over_restarts(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": links("/ill"), "/ill": status(500)}))
    crawl(web, retry_pause=100, max_time=0.1)
    assert paths(web.log).count("/ill") == 1
    crawled = crawl(base=web.origin(), retry_pause=0.01, clock=Leaping(200))
    assert paths(web.log).count("/ill") == crawled["/ill"].attempts == 4


def test_a_host_that_fails_again_and_again_is_put_aside(serve: Serve, crawl: CrawlIt) -> None:
    ill = Site({"/": links(*(f"/{n}" for n in range(10)))}, lambda asked: status(500))
    ill.pages["/robots.txt"] = status(404)
    web = serve(ill, well := Site({"/": links("/a"), "/a": html("a")}))
    crawled = crawl(web.url("/", ill), web.url("/", well), host_failures=5)
    assert len([visit for visit in web.log if visit.port == web.port(ill)]) == 2 + 5
    held = [row for row in crawled.rows.values() if row.held]
    assert len(held) == 10
    assert {row.reason for row in held} == {"5 failures in a row: http server error: 500 Internal Server Error"}
    assert crawled.report.progress.statistics.held == 10
    assert crawled[web.url("/a", well)].is_done
    ill.fallback = lambda asked: html(asked.path)
    retry.main([str(crawled.folder)], standalone_mode=False)
    again = crawl(base=web.origin(ill))
    assert {row.state for row in again.rows.values()} == {"finished"}


def test_what_is_found_of_a_host_that_is_put_aside_is_held(serve: Serve, crawl: CrawlIt) -> None:
    ill = Site({"/robots.txt": status(500)})
    web = serve(ill, well := Site())
    well.pages |= {"/": links("/a"), "/a": html(f'<a href="{web.url("/late", ill)}">', delay=0.2)}
    crawled = crawl(web.url("/", ill), web.url("/", well), max_tries=1)
    assert crawled["/late"].held
    assert crawled["/late"].reason == crawled["/"].reason == "robots.txt unreachable: status 500"


def test_an_address_of_a_host_that_is_put_aside_waits_for_the_retry(serve: Serve, crawl: CrawlIt) -> None:
    """Whoever starts the same command again and again must not make the host be asked again and again."""
    ill = Site({"/robots.txt": recipes.times(1, status(500), robots("")), "/": html("well"), "/b": html("b")})
    web = serve(ill, Site({"/": html("x")}))
    crawl(web.url("/", ill), web.url("/", web.sites[1]), max_tries=1)
    crawled = crawl(web.url("/", ill), web.url("/b", ill))
    assert {(row.held, row.reason) for row in (crawled["/"], crawled["/b"])} == {
        (True, "robots.txt unreachable: status 500")
    }
    assert crawled.report.progress.statistics.waiting == 0
    retry.main([str(crawled.folder)], standalone_mode=False)
    assert crawl(base=web.origin(ill)).kept() >= {"/", "/b"}


@pytest.mark.parametrize(("entry", "kind"), [(NXDOMAIN, FailureKind.DNS_NO_NAME), (SERVFAIL, FailureKind.DNS_FAILURE)])
def test_names(serve: Serve, names: MakeNames, crawl: CrawlIt, entry: Answer, kind: FailureKind) -> None:
    web = serve(Site({"/": html("fine")}, name="well.test"))
    servers = names({"well.test": "127.0.0.1", "ill.test": entry})
    crawled = crawl(web, "http://ill.test/x", dns=(servers.server,), max_tries=2)
    row = crawled["http://ill.test/x"]
    assert row.held
    assert row.reason.startswith(f"robots.txt unreachable: {kind}")
    assert crawled["/"].is_done


def test_what_is_final_is_not_tried_again(serve: Serve, names: MakeNames, crawl: CrawlIt, tmp_path: Path) -> None:
    """A name that does not exist, a certificate that is bad, no HTTP at all: pauses would change nothing."""
    secure = Site({"/": html("x")}, tls=tls.self_signed(tmp_path))
    web = serve(Site({"/": html("fine")}), secure, banner := Site(greeting=recipes.ssh_banner()))
    others = ["http://no.test/", web.url("/", secure), web.url("/", banner)]
    servers = names({})
    crawled = crawl(web, *others, dns=(servers.server,), retry_pause=20)
    assert [crawled[url].reason.split(": ")[1:3] for url in others] == [
        ["dns", "no such name"],
        ["tls", "bad certificate"],
        ["not http", crawled[others[2]].reason.split(": ")[2]],
    ]


def test_a_refused_connection(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": html("fine")}), gone := Site())
    web.down(gone)
    crawled = crawl(web.url("/"), web.url("/", gone), max_tries=2)
    assert crawled[web.url("/", gone)].reason.startswith("robots.txt unreachable: connection refused: ")
