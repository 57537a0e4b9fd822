"""Redirects: each hop an exchange of its own, through scope, robots, politeness and the seen test."""

from collections.abc import Callable

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import Nothing, paths
from fakeweb import FakeWeb, Names, Page, Site, recipes
from fakeweb.recipes import html, links, redirect, robots
from gossamer.crawl.report import Ending

MakeNames = Callable[..., Names]


def test_a_chain(serve: Serve, crawl: CrawlIt) -> None:
    chain = {f"/hop{n}": redirect(f"/hop{n + 1}", code) for n, code in enumerate((301, 302, 303, 307, 308))}
    web = serve(Site({"/": links("/hop0"), **chain, "/hop5": links("/below", title="there"), "/below": html("b")}))
    crawled = crawl(web)
    assert paths(web.log) == ["/", *(f"/hop{n}" for n in range(6)), "/below"]
    for n in range(5):
        row = crawled[f"/hop{n}"]
        assert (row.state, row.reason) == ("finished", f"redirects to {web.url(f'/hop{n + 1}')}")
        assert crawled.select("SELECT url FROM url WHERE id = ?", row.page["redirect_to"]) == [
            (web.url(f"/hop{n + 1}"),)
        ]
    assert crawled.kept() == {"/", "/hop5", "/below"}
    assert [crawled[f"/hop{n}"].via for n in range(6)] == ["a"] + ["redirect"] * 5
    assert [crawled[f"/hop{n}"].depth for n in range(6)] == [1] * 6, "a redirect is no step deeper"
    assert crawled["/below"].depth == 2
    answers = [url.removeprefix(web.origin()) for kind, url, _ in crawled.records() if kind == "response"]
    assert sorted(answers) == sorted(["/robots.txt", *paths(web.log)]), "each hop has its record"


def test_the_limit(serve: Serve, crawl: CrawlIt) -> None:
    chain = {f"/hop{n}": redirect(f"/hop{n + 1}") for n in range(9)}
    web = serve(Site({"/": links("/hop0"), **chain, "/hop9": html("end")}))
    crawled = crawl(web, max_redirects=5)
    assert paths(web.log) == ["/", *(f"/hop{n}" for n in range(6))]
    assert crawled["/hop5"].state == "failed"
    assert crawled["/hop5"].reason == "too many redirects: more than 5 in a row"


def test_none_may_be_followed(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": links("/hop"), "/hop": redirect("/x"), "/x": html("x")}))
    assert crawl(web, max_redirects=0)["/hop"].reason == "too many redirects: more than 0 in a row"


@pytest.mark.parametrize("length", [1, 2, 3])
def test_loops_end_in_a_reason(serve: Serve, crawl: CrawlIt, length: int) -> None:
    around = [f"/loop{n}" for n in range(length)]
    web = serve(Site({"/": links("/loop0"), **recipes.redirect_loop(*around)}))
    crawled = crawl(web)
    assert paths(web.log) == ["/", *around]
    assert crawled[around[-1]].state == "failed"
    assert crawled[around[-1]].reason.startswith("redirect loop: ")


def test_a_loop_all_of_whose_pages_were_linked_to(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": links("/b", "/a"), **recipes.redirect_loop("/a", "/b")}))
    assert [crawl(web)[path].state for path in ("/b", "/a")] == ["finished", "failed"]


def test_two_ways_to_one_page_are_no_loop(serve: Serve, crawl: CrawlIt) -> None:
    pages = {"/a": redirect("/c"), "/b": redirect("/c"), "/c": redirect("/d"), "/d": html("d")}
    web = serve(Site({"/": links("/a", "/b", "/d"), **pages}))
    crawled = crawl(web)
    assert set(crawled.states().values()) == {"finished"}
    assert sorted(paths(web.log)) == ["/", "/a", "/b", "/c", "/d"], "each is fetched once"


def test_a_wall_of_cookies(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": links("/wall"), "/wall": recipes.cookie_wall(html("inside"))}))
    crawled = crawl(web)
    assert "/wall" in crawled.kept(), "the cookie opens it, as it does in a browser"
    assert paths(web.log) == ["/", "/wall", "/wall"]


def test_a_wall_of_cookies_for_who_keeps_none(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": links("/wall"), "/wall": recipes.cookie_wall(html("inside"))}))
    crawled = crawl(web, accept_cookies=False)
    assert crawled["/wall"].reason == "redirect loop: it redirects to itself"
    assert paths(web.log) == ["/", "/wall"]


def test_a_url_that_grows_at_each_hop(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": links("/grow"), "/robots.txt": robots("")}, recipes.growing_redirect))
    crawled = crawl(web, trap_budget=0)
    assert len(paths(web.log)) == 1 + 21
    assert list(crawled.rows.values())[-1].reason == "too many redirects: more than 20 in a row"


@pytest.mark.parametrize("to", ["mailto:a@b.test", "ftp://b.test/x", "file:///etc/passwd", "javascript:x()", ""])
def test_to_what_is_no_web_address(serve: Serve, crawl: CrawlIt, to: str) -> None:
    web = serve(Site({"/": links("/away"), "/away": redirect(to)}))
    crawled = crawl(web)
    assert crawled["/away"].state == "failed"
    assert crawled["/away"].reason.startswith("redirect without location: ")
    assert len(crawled.rows) == 2


def test_robots_count_for_each_hop(serve: Serve, crawl: CrawlIt) -> None:
    rules = robots("User-agent: *\nDisallow: /no\n")
    web = serve(Site({"/robots.txt": rules, "/": links("/hop"), "/hop": redirect("/no/x"), "/no/x": html("x")}))
    crawled = crawl(web)
    assert crawled["/no/x"].reason == "robots.txt: Disallow: /no"
    assert crawled["/no/x"].held
    assert paths(web.log) == ["/", "/hop"]


def test_locations_as_the_web_writes_them(serve: Serve, crawl: CrawlIt) -> None:
    utf8 = "/é".encode().decode("latin-1")
    pages: dict[str, Page] = {
        "/d/relative": redirect("target?a=1#part"),
        "/utf8": redirect(utf8),
        "/query": redirect("?b=2"),
    }
    web = serve(site := Site({"/": links(*pages), **pages}, lambda asked: html(asked.path)))
    site.pages["/slashes"] = redirect(f"//{web.origin().removeprefix('http://')}/by-slashes")
    site.pages["/"] = links(*pages, "/slashes")
    crawl(web)
    assert set(paths(web.log)[len(pages) + 2 :]) == {
        "/d/target?a=1",
        "/%C3%A9",
        "/query?b=2",
        "/by-slashes",
    }


def test_a_url_reached_by_redirect_and_by_link_is_fetched_once(serve: Serve, crawl: CrawlIt) -> None:
    pages = {"/old": redirect("/new"), "/older": redirect("/new"), "/new": html("new")}
    web = serve(Site({"/": links("/old", "/new", "/older"), **pages}))
    crawl(web)
    assert paths(web.log) == ["/", "/old", "/new", "/older"]


def test_a_redirect_with_a_body(serve: Serve, crawl: CrawlIt) -> None:
    """Its links are not followed: it is no page."""
    body = b'<a href="/hidden">hidden</a>'
    web = serve(Site({"/": Page(body, 302, headers=(("Location", "/x"),)), "/x": html("x")}))
    crawled = crawl(web)
    assert set(crawled.rows) == {"/", "/x"}
    assert crawled.kept() == {"/x"}


# seeds


def named(serve: Serve, names: MakeNames, *sites: Site) -> tuple[FakeWeb, dict[str, object]]:
    web = serve(*sites)
    table = {site.name: "127.0.0.1" for site in sites}
    return web, {"dns": (names(table).server,), "allow_private": True}


def test_a_seed_that_moved_to_www(serve: Serve, names: MakeNames, crawl: CrawlIt) -> None:
    """It is what was asked for, with all of its pages."""
    bare, www = Site(name="site.test"), Site({"/": links("/a"), "/a": html("a")}, name="www.site.test")
    web, settings = named(serve, names, bare, www)
    bare.pages["/"] = redirect(web.url("/", www))
    crawled = crawl(web.url("/", bare), **settings)
    assert {row.url for row in crawled.rows.values() if row.page.get("is_kept")} == {
        web.url("/", www),
        web.url("/a", www),
    }
    assert crawled.report.ending is Ending.DONE


def test_a_seed_that_moved_to_another_domain(serve: Serve, names: MakeNames, crawl: CrawlIt) -> None:
    """Nothing of it could be fetched; where it is within the scope of another seed it is."""
    old, new = Site(name="old.test"), Site({"/": html("new")}, name="new.test")
    web, settings = named(serve, names, old, new)
    old.pages["/"] = redirect(web.url("/", new))
    crawled = crawl(web.url("/", old), web.url("/x", new), **settings)
    assert crawled[web.url("/", new)].is_done
    with pytest.raises(Nothing) as raised:
        crawl(web.url("/", old), **settings, folder="alone")
    assert raised.value.reasons == (
        f"{web.url('/', old)}: redirects to {web.url('/', new)}",
        f"{web.url('/', new)}: out of scope: another host",
    )


def test_a_linked_page_that_moved_to_another_host(serve: Serve, names: MakeNames, crawl: CrawlIt) -> None:
    here, there = Site(name="www.site.test"), Site({"/": html("x")}, name="other.site.test")
    web, settings = named(serve, names, here, there)
    here.pages |= {"/": links("/moved"), "/moved": redirect(web.url("/", there))}
    crawled = crawl(web.url("/", here), **settings)
    assert crawled[web.url("/", there)].reason == "out of scope: another host"
    crawled = crawl(web.url("/", here), **settings, scope="domain", folder="domain")
    assert crawled[web.url("/", there)].is_done
