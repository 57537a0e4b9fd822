"""Sitemaps and feeds on the way through a crawl: where they are looked for, what is fetched of them, what is kept."""

import gzip
from collections.abc import Iterable

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import paths
from fakeweb import FakeWeb, Page, Site
from fakeweb.recipes import html, links, redirect, robots, sitemap, status, text
from gossamer.archive.search import search
from gossamer.frontier import hosts
from oracle import Expected, check

XML = "application/xml"


def index(urls: Iterable[str]) -> Page:
    return Page(
        "".join(["<sitemapindex>", *(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)]).encode(),
        content_type=XML,
    )


def dated(url: str, lastmod: str) -> Page:
    return Page(f"<urlset><url><loc>{url}</loc><lastmod>{lastmod}</lastmod></url></urlset>".encode(), content_type=XML)


@pytest.fixture
def web(serve: Serve) -> FakeWeb:
    """A start page that links to /linked; /orphan-N are pages that nothing links to."""
    web = serve(Site({"/": links("/linked"), "/linked": html("linked")}))
    web.sites[0].fallback = lambda asked: html(asked.path) if asked.path.startswith("/orphan") else status(404)
    return web


def test_the_usual_place(web: FakeWeb, crawl: CrawlIt) -> None:
    web.sites[0].pages["/sitemap.xml"] = sitemap([web.url("/orphan-1"), web.url("/linked"), web.url("/orphan-2")])
    crawled = crawl(web, sitemaps=True)
    assert crawled.kept() == {"/", "/linked", "/orphan-1", "/orphan-2"}
    assert {path for path, row in crawled.rows.items() if row.via == "listed"} == {"/orphan-1", "/orphan-2"}
    file = crawled["/sitemap.xml"]
    assert (file.state, file.reason, file.kind, file.via) == ("finished", "read as sitemap", "other", "sitemap")
    assert (crawled["/orphan-1"].depth, crawled["/orphan-1"].kind) == (1, "internal")
    assert [link.url for link in file.links] == [web.url(path) for path in ("/orphan-1", "/linked", "/orphan-2")]
    assert crawled.report.progress.statistics.pages == 4
    assert paths(web.log).count("/sitemap.xml") == 1
    expected = Expected(pages={web.url(path) for path in crawled.kept()})
    crawled.database.close()
    assert check(web.log, crawled.folder, expected, 0) == []


@pytest.mark.parametrize(
    "answer", [status(404), status(410), status(403), html("any page"), text("hello"), redirect("/")]
)
def test_no_sitemap_is_no_failure(web: FakeWeb, crawl: CrawlIt, answer: Page) -> None:
    web.sites[0].pages["/sitemap.xml"] = answer
    crawled = crawl(web, sitemaps=True)
    assert crawled["/sitemap.xml"].state == "finished"
    assert crawled["/sitemap.xml"].reason.startswith("no sitemap there")
    assert crawled.kept() == {"/", "/linked"}
    assert crawled.report.progress.statistics.failed == 0
    assert not crawled.report.progress.errors


def test_a_sitemap_that_a_server_fails_to_give_is_tried_again(web: FakeWeb, crawl: CrawlIt) -> None:
    web.sites[0].pages["/sitemap.xml"] = status(500)
    crawled = crawl(web, sitemaps=True, max_tries=2)
    assert paths(web.log).count("/sitemap.xml") == 2
    assert crawled["/sitemap.xml"].state == "failed"


def test_robots_names_them_and_then_nothing_is_guessed(web: FakeWeb, crawl: CrawlIt) -> None:
    """Relative, twice, with another scheme, and one that is not there: that one is a failure, for somebody said it is."""
    lines = ["/a.xml", web.url("/a.xml"), "b.txt", "ftp://x.test/s.xml", "/missing.xml"]
    web.sites[0].pages |= {
        "/robots.txt": robots("".join(f"Sitemap: {line}\n" for line in lines)),
        "/a.xml": sitemap([web.url("/orphan-a")]),
        "/b.txt": text(f"{web.url('/orphan-b')}\n"),
    }
    crawled = crawl(web, sitemaps=True)
    assert "/sitemap.xml" not in paths(web.log)
    assert paths(web.log).count("/a.xml") == 1
    assert {"/orphan-a", "/orphan-b"} <= crawled.kept()
    assert crawled["/b.txt"].reason == "read as text sitemap"
    assert crawled["/missing.xml"].state == "failed"


def test_robots_rules_hold_for_sitemaps_too(web: FakeWeb, crawl: CrawlIt) -> None:
    rules = "User-agent: *\nDisallow: /private/\nSitemap: /private/map.xml\nSitemap: /map.xml"
    web.sites[0].pages |= {
        "/robots.txt": robots(rules),
        "/map.xml": sitemap([web.url("/private/x"), web.url("/orphan")]),
    }
    crawled = crawl(web, sitemaps=True)
    assert not [path for path in paths(web.log) if path.startswith("/private/")]
    assert crawled["/private/map.xml"].reason == crawled["/private/x"].reason == "robots.txt: Disallow: /private/"
    assert crawled["/orphan"].is_done


def test_without_robots_txt_the_usual_place_is_tried(web: FakeWeb, crawl: CrawlIt) -> None:
    web.sites[0].pages["/sitemap.xml"] = sitemap([web.url("/orphan")])
    assert "/orphan" in crawl(web, sitemaps=True, ignore_robots=True).kept()
    assert "/robots.txt" not in paths(web.log, robots=True)


def test_switched_off(web: FakeWeb, crawl: CrawlIt) -> None:
    web.sites[0].pages["/robots.txt"] = robots("Sitemap: /map.xml")
    web.sites[0].pages["/map.xml"] = sitemap([web.url("/orphan")])
    crawled = crawl(web, sitemaps=False)
    assert paths(web.log) == ["/", "/linked"]
    assert crawled["/map.xml"].reason == "sitemaps are not asked for"
    assert crawl(sitemaps=True, base=web.origin())["/orphan"].is_done, "another crawl may be told otherwise"


def test_indexes_are_nested_three_deep_and_each_file_is_read_once(web: FakeWeb, crawl: CrawlIt) -> None:
    web.sites[0].pages["/robots.txt"] = robots("Sitemap: /index-1.xml")
    for level in range(1, 6):
        web.sites[0].pages[f"/index-{level}.xml"] = index(
            web.url(path) for path in (f"/index-{level + 1}.xml", f"/map-{level}.xml", "/index-1.xml")
        )
        web.sites[0].pages[f"/map-{level}.xml"] = sitemap([web.url(f"/orphan-{level}")])
    crawled = crawl(web, sitemaps=True, max_depth=1)
    asked = paths(web.log)
    assert {path for path in asked if "orphan" in path} == {"/orphan-1", "/orphan-2", "/orphan-3"}
    assert "/index-5.xml" not in asked, "what the third names is read, but not what that names"
    assert crawled["/index-5.xml"].reason == "in sitemap indexes nested more than 3 deep"
    assert len(asked) == len(set(asked))
    assert {crawled[f"/orphan-{level}"].depth for level in (1, 2, 3)} == {1}


def test_an_endless_supply_of_sitemaps_is_parked(web: FakeWeb, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "MAX_SITEMAPS", 5)
    web.sites[0].pages["/sitemap.xml"] = index(web.url(f"/map-{number}.xml") for number in range(20))
    web.sites[0].fallback = lambda asked: (
        sitemap([web.url(f"/orphan{asked.path}")]) if "map" in asked.path else status(404)
    )
    crawled = crawl(web, sitemaps=True)
    assert len([path for path in paths(web.log) if path.startswith("/map-")]) == 4
    assert {row.reason for row in crawled.rows.values() if row.held} == {"more than 5 sitemaps on this host"}


def test_packed_files(web: FakeWeb, crawl: CrawlIt) -> None:
    """A .gz file as it is, one that the server also names gzip, and one that it packs once more for the way."""
    pages = web.sites[0].pages
    packed = {number: gzip.compress(sitemap([web.url(f"/orphan-{number}")]).body) for number in range(4)}
    pages["/robots.txt"] = robots("".join(f"Sitemap: /{number}.xml.gz\n" for number in packed))
    pages["/0.xml.gz"] = Page(packed[0], content_type="application/gzip")
    pages["/1.xml.gz"] = Page(packed[1], content_type="application/x-gzip", headers=(("Content-Encoding", "gzip"),))
    pages["/2.xml.gz"] = Page(packed[2], content_type="application/octet-stream", coding="gzip")
    pages["/3.xml.gz"] = Page(packed[3], content_type=XML, headers=(("Content-Encoding", "gzip"),))
    assert {f"/orphan-{number}" for number in packed} <= crawl(web, sitemaps=True).kept()


def test_scope_decides_about_other_hosts(serve: Serve, crawl: CrawlIt) -> None:
    other = Site({"/map.xml": Page(b"never"), "/page": html("never")})
    own = Site({"/docs/": html("start"), "/docs/in": html("in"), "/out": html("out")})
    web = serve(own, other)
    own.pages["/robots.txt"] = robots(f"Sitemap: /map.xml\nSitemap: {web.url('/map.xml', other)}")
    own.pages["/map.xml"] = sitemap([web.url("/docs/in"), web.url("/out"), web.url("/page", other)])
    crawled = crawl(web.url("/docs/"), sitemaps=True, scope="prefix")
    assert not [visit for visit in web.log if visit.host == web.origin(other).partition("://")[2]]
    assert crawled.kept() == {"/docs/", "/docs/in"}, "the sitemap itself may lie outside the folder"
    assert crawled["/out"].reason.startswith("out of scope: not under")
    assert crawled[web.url("/map.xml", other)].reason == "out of scope: another host"
    assert crawled[web.url("/page", other)].reason == "out of scope: another host"


def test_hosts_that_are_no_seeds_are_not_guessed_at(serve: Serve, crawl: CrawlIt) -> None:
    other = Site({"/": html("there")})
    web = serve(Site(), other)
    web.sites[0].pages["/"] = links(web.url("/", other))
    crawl(web, sitemaps=True, scope="any", allow_private=True)
    asked = {(visit.host, visit.path) for visit in web.log}
    host, elsewhere = (web.origin(site).partition("://")[2] for site in (web.sites[0], other))
    assert (elsewhere, "/") in asked
    assert (host, "/sitemap.xml") in asked
    assert (elsewhere, "/sitemap.xml") not in asked


def test_what_a_seed_redirects_to_is_guessed_at(serve: Serve, crawl: CrawlIt) -> None:
    www = Site({"/": html("the site"), "/orphan": html("orphan")})
    web = serve(Site(), www)
    www.pages["/sitemap.xml"] = sitemap([web.url("/orphan", www)])
    web.sites[0].pages["/"] = redirect(web.url("/", www))
    assert web.url("/orphan", www) in crawl(web, sitemaps=True, allow_private=True).kept()


def test_pages_deeper_than_allowed_are_not_listed_into_the_crawl(web: FakeWeb, crawl: CrawlIt) -> None:
    web.sites[0].pages["/sitemap.xml"] = sitemap([web.url("/orphan")])
    crawl(web, sitemaps=True, max_depth=0)
    assert paths(web.log) == ["/"]
    crawl(base=web.origin(), sitemaps=True, max_depth=1)
    assert set(paths(web.log)) >= {"/orphan", "/linked"}


def test_max_urls_does_not_count_them(web: FakeWeb, crawl: CrawlIt) -> None:
    web.sites[0].pages["/sitemap.xml"] = sitemap(web.url(f"/orphan-{number}") for number in range(30))
    crawled = crawl(web, sitemaps=True, max_urls=7)
    assert len(crawled.kept()) == 7
    assert "/sitemap.xml" not in crawled.kept()


def test_a_moved_sitemap_is_still_one(web: FakeWeb, crawl: CrawlIt) -> None:
    web.sites[0].pages |= {
        "/sitemap.xml": redirect("/maps/all.xml", 301),
        "/maps/all.xml": sitemap([web.url("/orphan")]),
    }
    crawled = crawl(web, sitemaps=True)
    assert crawled["/orphan"].is_done
    assert crawled["/maps/all.xml"].reason == "read as sitemap"
    assert crawled["/sitemap.xml"].page["redirect_to"]


def test_a_page_that_robots_names_as_sitemap_is_a_page(web: FakeWeb, crawl: CrawlIt) -> None:
    web.sites[0].pages |= {"/robots.txt": robots("Sitemap: /all.html"), "/all.html": links("/orphan")}
    crawled = crawl(web, sitemaps=True)
    assert {"/all.html", "/orphan"} <= crawled.kept()


def test_what_they_say_of_changes_is_kept_for_known_and_new_pages(web: FakeWeb, crawl: CrawlIt) -> None:
    web.sites[0].pages |= {
        "/robots.txt": robots("Sitemap: /a.xml\nSitemap: /b.xml\nSitemap: /c.xml"),
        "/a.xml": dated(web.url("/"), "2024-05-06"),
        "/b.xml": dated(web.url("/orphan"), "2023-01-01T00:00:00Z"),
        "/c.xml": dated("http://elsewhere.test/", "2022"),
    }
    crawled = crawl(web, sitemaps=True)
    known = dict(crawled.select("SELECT url, lastmod FROM url WHERE lastmod IS NOT NULL"))
    assert known == {web.url("/"): 1714953600, web.url("/orphan"): 1672531200, "http://elsewhere.test/": 1640995200}
    assert [link.lastmod for link in crawled["/a.xml"].links] == [1714953600]


def test_feeds_give_their_entries_whatever_led_to_them(web: FakeWeb, crawl: CrawlIt) -> None:
    rss = "<rss><channel><title>News</title><item><title>Zeppelin</title><link>{}</link></item></channel></rss>"
    pages = web.sites[0].pages
    pages["/"] = html('<link rel="alternate" type="application/rss+xml" href="/feed"><a href="/data.xml">data</a>')
    pages["/feed"] = Page(rss.format(web.url("/orphan-1")).encode(), content_type="text/xml")
    pages["/data.xml"] = Page(rss.format(web.url("/orphan-2")).encode(), content_type="text/xml")
    crawled = crawl(web)
    assert (crawled["/orphan-1"].via, crawled["/orphan-1"].depth) == ("listed", 2)
    assert "/orphan-2" in crawled.kept()
    assert "/feed" in crawled.kept()
    assert {hit.url for hit in search(crawled.database, "zeppelin", 10)} == {web.url("/feed"), web.url("/data.xml")}


def test_a_sitemap_as_seed(web: FakeWeb, crawl: CrawlIt) -> None:
    web.sites[0].pages["/all.xml"] = sitemap([web.url("/orphan"), web.url("/linked")])
    crawled = crawl(web.url("/all.xml"))
    assert crawled.kept() == {"/all.xml", "/orphan", "/linked"}


def test_other_languages_are_links(web: FakeWeb, crawl: CrawlIt) -> None:
    web.sites[0].pages["/"] = html('<link rel="alternate" hreflang="de" href="/orphan-de">')
    assert crawl(web)["/orphan-de"].via == "link"
