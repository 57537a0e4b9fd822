"""What belongs to a crawl, and what becomes of the rest."""

from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import paths, release
from fakeweb import FakeWeb, Names, Site
from fakeweb.recipes import html, links, redirect, robots
from gossamer.records import Selection

MakeNames = Callable[..., Names]

NAMES = ("docs.site.test", "www.site.test", "site.test", "other.test")


@pytest.fixture
def four(serve: Serve, names: MakeNames) -> tuple[FakeWeb, Names]:
    """Four hosts on one port that all link to each other."""
    sites = [Site(fallback=lambda asked: links(text=asked.host + asked.path), name=name) for name in NAMES]
    web = serve(*sites)
    found = [web.url(path, site) for site in sites for path in ("/", "/guide/", "/guide/a/b", "/guide", "/blog")]
    for site in sites:
        site.pages["/guide/start"] = links(*found, text=site.name)
    return web, names(dict.fromkeys(NAMES, "127.0.0.1"))


@pytest.mark.parametrize(
    ("scope", "visited"),
    [
        ("page", {"docs.site.test/guide/start"}),
        ("prefix", {f"docs.site.test/guide/{rest}" for rest in ("start", "", "a/b")}),
        ("host", {f"docs.site.test/{rest}" for rest in ("guide/start", "", "guide/", "guide/a/b", "guide", "blog")}),
        (
            "domain",
            {"docs.site.test/guide/start"}
            | {f"{host}/{rest}" for host in NAMES[:3] for rest in ("", "guide/", "guide/a/b", "guide", "blog")},
        ),
        (
            "any",
            {"docs.site.test/guide/start"}
            | {f"{host}/{rest}" for host in NAMES for rest in ("", "guide/", "guide/a/b", "guide", "blog")},
        ),
    ],
)
def test_extent(four: tuple[FakeWeb, Names], crawl: CrawlIt, scope: str, visited: set[str]) -> None:
    web, servers = four
    crawled = crawl(web.url("/guide/start"), scope=scope, dns=(servers.server,), allow_private=True)
    asked = {visit.host.partition(":")[0] + visit.path for visit in web.log if visit.path != "/robots.txt"}
    assert asked == visited
    assert len(crawled.rows) == 21, "what is not fetched is known all the same"
    assert all(row.reason.startswith("out of scope: ") and row.held for row in crawled.rows.values() if not row.is_done)


def test_several_seeds_make_one_scope(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/a/": links("/a/x", "/b/x", "/c/x"), "/b/": links("/a/y", "/b/y", "/c/y")}))
    crawled = crawl(web.url("/a/"), web.url("/b/"), scope="prefix")
    assert {path for path, row in crawled.rows.items() if row.held} == {"/c/x", "/c/y"}


def test_kinds(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": links("/in", "http://elsewhere.test/", "mailto:a@b.test", "tel:+49", "ftp://x.test/f")}))
    crawled = crawl(web)
    kinds = {row.url.removeprefix(web.origin()): row.kind for row in crawled.rows.values()}
    assert kinds == {
        "/": "internal",
        "/in": "internal",
        "http://elsewhere.test/": "external",
        "mailto:a@b.test": "other",
        "tel:+49": "other",
        "ftp://x.test/f": "other",
    }
    assert crawled["mailto:a@b.test"].reason == "not fetched: mailto"
    assert crawled["http://elsewhere.test/"].reason == "out of scope: another host"


def test_include_and_exclude(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": links("/keep/a.html", "/keep/a.pdf", "/drop/a.html", "/keep/n42")}, lambda _: html("x")))
    crawled = crawl(web, include=("*/keep/*",), exclude=("*.pdf", r"re:/n\d+$"))
    assert {path: row.reason for path, row in crawled.rows.items() if row.held} == {
        "/keep/a.pdf": "excluded by *.pdf",
        "/drop/a.html": "not included by any pattern",
        "/keep/n42": r"excluded by re:/n\d+$",
    }
    assert paths(web.log) == ["/", "/keep/a.html"], "what a person names needs to match no pattern"


def test_redirects_go_through_scope(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(
        Site({"/": links("/out", "/no"), "/out": redirect("http://elsewhere.test/"), "/no": redirect("/x.pdf")})
    )
    crawled = crawl(web, exclude=("*.pdf",))
    assert crawled["/out"].reason == "redirects to http://elsewhere.test/"
    assert crawled["http://elsewhere.test/"].reason == "out of scope: another host"
    assert crawled["/x.pdf"].reason == "excluded by *.pdf"


def test_another_scope_at_the_next_start_judges_anew(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/a/": links("/a/x", "/b/x", "/a/y.pdf")}, lambda asked: links(text=asked.path)))
    first = crawl(web.url("/a/"), scope="prefix", exclude=("*.pdf",))
    assert paths(web.log) == ["/a/", "/a/x"]
    assert first["/b/x"].held
    second = crawl(scope="host", base=web.origin())
    assert paths(web.log)[2:] == ["/b/x"]
    assert second["/a/y.pdf"].held, "settings that are not given again are those of the start"
    crawl(exclude=("*.zip",), base=web.origin())
    assert paths(web.log)[3:] == ["/a/y.pdf"]


def test_a_narrower_scope_at_the_next_start(serve: Serve, crawl: CrawlIt, tmp_path: Path) -> None:
    web = serve(Site({"/": links(*(f"/{n}" for n in range(6)))}, lambda asked: links(text=asked.path)))
    crawl(web, max_urls=2)
    crawled = crawl(max_urls=0, exclude=("*/4",), base=web.origin())
    assert "/4" not in paths(web.log)
    assert crawled["/4"].reason == "excluded by */4"
    assert crawled.report.progress.statistics.held == 1


def test_an_address_added_at_the_next_start(serve: Serve, crawl: CrawlIt) -> None:
    other = Site({"/": links("/more"), "/more": html("more")})
    web = serve(Site({"/": html("first")}), other)
    crawl(web)
    crawled = crawl(web.url("/", other), base=web.origin(other))
    assert crawled.states() | {"/": "finished", "/more": "finished"} == crawled.states()
    assert len(crawled.rows) == 3


def test_an_address_that_was_held_is_fetched_when_a_person_names_it(serve: Serve, crawl: CrawlIt) -> None:
    other = Site({"/": html("there"), "/next": html("n")})
    web = serve(Site(), other)
    web.sites[0].pages["/"] = links(web.url("/", other), web.url("/next", other))
    first = crawl(web)
    assert first[web.url("/", other)].held
    second = crawl(web.url("/", other), base=web.origin(other))
    assert second["/"].is_done
    assert second["/next"].is_done, "its host belongs to the scope now"


# --- refused is not parked


def test_a_release_without_conditions_leaves_what_was_refused(serve: Serve, crawl: CrawlIt) -> None:
    """Parked is what a rule of thumb or a limit keeps; refused is what somebody does not want, here or there."""
    web = serve(site := Site(fallback=lambda asked: html(asked.path)))
    loose = '<a rel=nofollow href="/loose">'
    site.pages["/"] = html(f"{loose}<a href=/a><a href=/no><a href=/robotic><a href=http://elsewhere.test/>")
    site.pages["/a"] = links("/a/deep")
    site.pages["/robots.txt"] = robots("User-agent: *\nDisallow: /robotic\n")
    first = crawl(web, exclude=("*/no",), max_depth=1)
    assert {path for path, row in first.rows.items() if row.held} == {
        "/no",
        "/robotic",
        "http://elsewhere.test/",
        "/a/deep",
        "/loose",
    }
    assert release(first, Selection()) == 2
    second = crawl(base=web.origin())
    assert {path for path, row in second.rows.items() if row.held} == {"/no", "/robotic", "http://elsewhere.test/"}
    assert second["/a/deep"].is_done


def test_what_was_refused_is_released_by_name(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": links("/no", "/nor", "/yes")}, lambda asked: html(asked.path)))
    first = crawl(web, exclude=("*/no", "*/nor"))
    assert release(first, Selection(patterns=("*/no",))) == 1
    second = crawl(base=web.origin())
    assert second["/no"].is_done
    assert second["/nor"].reason == "excluded by */nor"


def test_what_was_refused_is_judged_anew_with_other_settings(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(site := Site({"/": links("/no", "/nor", "/robotic")}, lambda asked: html(asked.path)))
    site.pages["/robots.txt"] = robots("User-agent: *\nDisallow: /robotic\n")
    crawl(web, exclude=("*/no", "*/nor"))
    second = crawl(base=web.origin(), exclude=("*/nor",))
    assert {path: row.reason for path, row in second.rows.items() if row.held} == {
        "/nor": "excluded by */nor",
        "/robotic": "robots.txt: Disallow: /robotic",
    }
    third = crawl(base=web.origin(), ignore_robots=True)
    assert third["/robotic"].is_done
    assert third["/nor"].held


def test_what_was_released_stays_so_when_the_scope_changes(serve: Serve, crawl: CrawlIt) -> None:
    """Unless there is another reason against it than the one that it was released in spite of."""
    web = serve(Site({"/": links(*(f"/{n}" for n in range(6)))}, lambda asked: html(asked.path)))
    first = crawl(web, exclude=("*/4", "*/5"), max_urls=1)
    assert release(first, Selection(patterns=("*/4", "*/5"))) == 2
    last = crawl(web.url("/more"), max_urls=0, exclude=("re:/5$", "*/4"), base=web.origin())
    assert last["/4"].is_done
    assert (last["/5"].held, last["/5"].reason) == (True, "excluded by re:/5$")


def test_a_link_that_was_not_to_be_followed_is_not_when_the_scope_grows(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(site := Site(fallback=lambda asked: html(asked.path)))
    site.pages["/a/"] = html("<a href=/b/yes>a</a><a rel=nofollow href=/b/no>b</a>")
    site.pages["/a/more"] = links("/b/no")
    crawl(web.url("/a/"), scope="prefix")
    second = crawl(scope="host", base=web.origin())
    assert second["/b/yes"].is_done
    assert (second["/b/no"].held, second["/b/no"].reason) == (True, "nofollow")
    third = crawl(web.url("/a/more"), base=web.origin())
    assert third["/b/no"].is_done, "another page links to it without that"
