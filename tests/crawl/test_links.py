"""Kinds of links: which are followed, which are recorded, which are neither."""

from collections.abc import Callable

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import Crawled, paths
from fakeweb import FakeWeb, Names, Page, Site
from fakeweb.recipes import html, links

MakeNames = Callable[..., Names]

HEAD = """
<link rel=next href=/next><link rel=prev href=/prev><link rel="alternate" hreflang=de href=/de>
<link rel=canonical href=/canonical><link rel=stylesheet href=/style.css><link rel=icon href=/icon.ico>
<link rel="preload" as=font href=/font.woff2><link rel="license" href=/license><link rel=contents href=/contents><script src=/script.js></script>
<meta http-equiv=refresh content="5; url=/refreshed"><style>@import "/imported.css"; p {background: url(/bg.png)}</style>
"""
BODY = """
<a href=/anchor>text of it</a> <a href=/nofollowed rel=nofollow>n</a> <a href="#part">p</a> <a href="">e</a>
<map><area href=/area></map> <iframe src=/iframe></iframe> <img src=/image.png srcset="/image2.png 2x">
<video src=/film.mp4 poster=/poster.png></video> <form action=/form method=get><input name=q></form>
<form action=/form2><button formaction=/form3></form> <p data-href=/data>d</p> <!-- <a href=/comment>c</a> -->
<a href="mailto:a@b.test">m</a> <a href="tel:+49">t</a> <a href="javascript:void(0)">j</a> <a href="data:,x">d</a>
<a href="ftp://f.test/x">f</a> <a href="http://[broken">b</a> <a ping=/ping href=/anchor#again>again</a>
<template><a href=/template>t</a></template> <noscript><a href=/noscript>n</a></noscript>
"""
PAGE = Page(f"<html><head><title>t</title>{HEAD}</head><body>{BODY}</body></html>".encode())
FRAMES = Page(b"<frameset><frame src=/framed></frameset>")

FOLLOWED = {
    "/anchor": "a",
    "/area": "area",
    "/iframe": "iframe",
    "/framed": "frame",
    "/next": "link",
    "/prev": "link",
    "/contents": "link",
    "/de": "link",
    "/canonical": "link",
    "/refreshed": "refresh",
    "/noscript": "a",
}
REQUISITES = {
    "/style.css",
    "/icon.ico",
    "/font.woff2",
    "/script.js",
    "/imported.css",
    "/bg.png",
    "/image.png",
    "/image2.png",
    "/film.mp4",
    "/poster.png",
}
OTHER = {"mailto:a@b.test", "tel:+49", "ftp://f.test/x"}
NOWHERE = {"/form", "/form2", "/form3", "/data", "/comment", "/ping", "/template", "/license"}


def site() -> Site:
    return Site({"/": PAGE, "/anchor": FRAMES}, lambda asked: html(asked.path))


def test_kinds(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(site())
    crawled = crawl(web)
    assert set(paths(web.log)) == {"/", *FOLLOWED}
    assert {path: crawled[path].via for path in FOLLOWED} == FOLLOWED
    for path in REQUISITES:
        assert (crawled[path].held, crawled[path].reason, crawled[path].via) == (True, "requisite", "requisite"), path
    assert {path for path, row in crawled.rows.items() if row.kind == "other"} >= OTHER
    assert crawled["/nofollowed"].reason == "nofollow"
    assert not NOWHERE & set(crawled.rows)
    assert {link.text for link in crawled["/"].links if link.url.endswith("/anchor")} >= {"text of it"}
    assert crawled["/"].page["canonical"] == web.url("/canonical")


def test_requisites_are_fetched_when_asked_for_from_any_host(serve: Serve, names: MakeNames, crawl: CrawlIt) -> None:
    """Also those of pages at the last depth, but not what hangs on them."""
    here, there = Site(name="here.test"), Site(fallback=lambda asked: links("/page", text=asked.path), name="cdn.test")
    web = serve(here, there)
    image = web.url("/image.png", there)
    here.pages |= {"/": html(f'<img src="{image}"><link rel=stylesheet href=/s.css><a href="/deep">d</a>')}
    here.pages["/s.css"] = Page(b"p {}", content_type="text/css")
    servers = names({"here.test": "127.0.0.1", "cdn.test": "127.0.0.1"})
    settings = {"dns": (servers.server,), "allow_private": True, "max_depth": 0}
    crawled = crawl(web.url("/", here), requisites=True, **settings)
    asked = {visit.url for visit in web.log if visit.path != "/robots.txt"}
    assert asked == {web.url("/", here), web.url("/s.css", here), image}
    assert crawled["/deep"].reason == "deeper than 0"


def test_what_style_sheets_need_is_a_requisite_too(serve: Serve, names: MakeNames, crawl: CrawlIt) -> None:
    """From any host, imports in imports (also in a circle), and robots.txt is obeyed there."""
    here, there = (
        Site(name="here.test"),
        Site(name="cdn.test", fallback=lambda asked: Page(b"x", content_type="image/png")),
    )
    web = serve(here, there)
    here.pages["/"] = html(f'<link rel=stylesheet href="{web.url("/css/main.css", there)}">')
    main = b'@import "two.css"; p {background: url(../main.png)} q {background: url(/private/no.png)}'
    two = b"@import url(main.css); @font-face {src: url(two.woff)} p {background: image-set('two.png' 1x)}"
    there.pages |= {
        f"/css/{name}.css": Page(text, content_type="text/css") for name, text in (("main", main), ("two", two))
    }
    there.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /private/", content_type="text/plain")
    servers = names({"here.test": "127.0.0.1", "cdn.test": "127.0.0.1"})
    crawled = crawl(web.url("/", here), requisites=True, dns=(servers.server,), allow_private=True)
    asked = [visit.path for visit in web.log if visit.host.startswith("cdn.test")]
    assert sorted(asked) == [
        *("/css/main.css", "/css/two.css", "/css/two.png", "/css/two.woff", "/main.png", "/robots.txt"),
    ]
    assert crawled[web.url("/private/no.png", there)].reason == "robots.txt: Disallow: /private/"


def test_a_requisite_may_redirect_to_another_host(serve: Serve, names: MakeNames, crawl: CrawlIt) -> None:
    """robots.txt counts there; a page that redirects there stays out of scope."""
    here, there = (
        Site(name="here.test"),
        Site(name="cdn.test", fallback=lambda asked: Page(b"x", content_type="image/png")),
    )
    web = serve(here, there)
    here.pages["/"] = html("<img src=/1.png><img src=/2.png><a href=/page>p</a>")
    for path, target in (("/1.png", "/a.png"), ("/2.png", "/private/b.png"), ("/page", "/page")):
        here.pages[path] = Page(status=302, headers=(("Location", web.url(target, there)),))
    there.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /private/", content_type="text/plain")
    servers = names({"here.test": "127.0.0.1", "cdn.test": "127.0.0.1"})
    crawled = crawl(web.url("/", here), requisites=True, dns=(servers.server,), allow_private=True)
    assert crawled[web.url("/a.png", there)].is_done
    assert crawled[web.url("/private/b.png", there)].reason == "robots.txt: Disallow: /private/"
    assert crawled[web.url("/page", there)].reason == "out of scope: another host"
    assert crawled.select("SELECT count(*) FROM page WHERE redirect_to IS NOT NULL") == [(3,)]


def test_a_requisite_that_is_linked_to_as_well(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": html("<img src=/i.png><a href=/i.png>large</a>")}, lambda asked: html(asked.path)))
    assert crawl(web)["/i.png"].is_done
    web = serve(Site({"/": html("<img src=/i.png><a href=/b>b</a>"), "/b": links("/i.png")}, lambda asked: html("i")))
    assert crawl(web, folder="later")["/i.png"].is_done


def test_requisites_at_the_next_start(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": html("<img src=/i.png>"), "/i.png": Page(b"\x89PNG", content_type="image/png")}))
    assert crawl(web)["/i.png"].held
    assert crawl(base=web.origin(), requisites=True)["/i.png"].is_done


# nofollow, noindex


def indexed(crawled: Crawled, path: str) -> bool:
    found = crawled.select("SELECT 1 FROM page_index WHERE page_index MATCH 'word'")
    assert bool(crawled[path].page["is_indexed"]) == bool(
        crawled.select("SELECT 1 FROM text WHERE page = ?", crawled[path].page["id"])
    )
    return bool(crawled[path].page["is_indexed"]) and bool(found)


DIRECTIVES: dict[str, tuple[Page, bool, bool]] = {  # page, indexed, followed
    "/meta-noindex": (html("<meta name=robots content=noindex><a href=/b1>word</a>"), False, True),
    "/meta-nofollow": (html('<meta name=ROBOTS content="NOFOLLOW"><a href=/b2>word</a>'), True, False),
    "/meta-none": (html("<meta name=robots content=none><a href=/b3>word</a>"), False, False),
    "/meta-ours": (html("<meta name=gossamer content='noindex, nofollow'><a href=/b4>word</a>"), False, False),
    "/meta-others": (html("<meta name=googlebot content=none><a href=/b5>word</a>"), True, True),
    "/header-noindex": (html("<a href=/b6>word</a>", headers=(("X-Robots-Tag", "noindex"),)), False, True),
    "/header-nofollow": (html("<a href=/b7>word</a>", headers=(("X-Robots-Tag", "nofollow"),)), True, False),
    "/header-ours": (html("<a href=/b8>word</a>", headers=(("X-Robots-Tag", "gossamer: none"),)), False, False),
    "/header-others": (html("<a href=/b9>word</a>", headers=(("X-Robots-Tag", "otherbot: none"),)), True, True),
    "/expired": (
        html("<meta name=robots content='unavailable_after: 2001-01-01'><a href=/b10>word</a>"),
        False,
        True,
    ),
    "/not-expired": (
        html("<meta name=robots content='unavailable_after: 2999-01-01'><a href=/b11>word</a>"),
        True,
        True,
    ),
}


@pytest.fixture
def directed(serve: Serve, crawl: CrawlIt) -> tuple[FakeWeb, Crawled]:
    pages = {path: page for path, (page, _, _) in DIRECTIVES.items()}
    web = serve(Site({"/": links(*pages), **pages}, lambda asked: html(asked.path)))
    return web, crawl(web)


def test_directives(directed: tuple[FakeWeb, Crawled]) -> None:
    _, crawled = directed
    for number, (path, (_, is_indexed, followed)) in enumerate(DIRECTIVES.items(), 1):
        assert crawled[path].page["is_kept"], path
        assert indexed(crawled, path) is is_indexed, path
        target = crawled[f"/b{number}"]
        assert (target.is_done, target.reason) == ((True, "") if followed else (False, "nofollow")), path
        assert crawled[path].links, "the link graph has them all"


def test_a_nofollowed_link_that_another_page_follows(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": html("<a rel=nofollow href=/x>x</a><a href=/b>b</a>"), "/b": links("/x"), "/x": html("x")}))
    crawled = crawl(web)
    assert crawled["/x"].is_done
    assert (crawled["/x"].reason, crawled["/x"].depth) == ("", 2)


def test_forms_are_counted(serve: Serve, crawl: CrawlIt) -> None:
    crawled = crawl(serve(site()))
    assert "2 forms" in crawled["/"].page["notes"]


# how links are written


def test_links_as_the_web_writes_them(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(pages := Site({}, lambda asked: html(asked.path)))
    host = web.origin().removeprefix("http://")
    written = {
        "/a?x=1&copy=2": "/a?x=1&copy=2",  # &copy= stays: an attribute's reference needs its semicolon
        "/b?x=1&amp;y=2": "/b?x=1&y=2",
        " \n/c\t ": "/c",
        "/d\ne": "/de",
        "\\f\\g": "/f/g",
        f"///{host}/h": "/h",
        "http:/i": "/i",
        f"HTTP://{host}/j": "/j",
        "/k/../l/./m": "/l/m",
        "/n%2fo": "/n%2fo",
        "/p%7Eq": "/p%7Eq",
        "/r s": "/r%20s",
        "/t#part": "/t",
        "/u?": "/u?",
        "//user:secret@" + host + "/v": "/v",
        "/w|x{y}": "/w|x%7By%7D",
    }
    pages.pages["/"] = html("".join(f'<a href="{each}">x</a>' for each in written))
    pages.pages["/based/page"] = html("x")
    crawl(web)
    asked = set(paths(web.log)) - {"/"}
    assert asked == set(written.values())


def test_base(serve: Serve, crawl: CrawlIt) -> None:
    body = b'<base href="/based/x"><base href="/second/"><a href="rel">r</a><a href="?q">q</a><a href="/abs">a</a>'
    web = serve(Site({"/": Page(body)}, lambda asked: html(asked.path)))
    crawl(web)
    assert set(paths(web.log)) == {"/", "/based/rel", "/based/x?q", "/abs"}
