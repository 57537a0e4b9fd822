"""Bodies as they come: encodings, codings, sizes and types."""

import gzip
from collections.abc import Mapping
from urllib.parse import quote

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from fakeweb import Page, Site, recipes, wire
from fakeweb.page import Framing
from fakeweb.recipes import html, links
from gossamer.crawl.report import Progress

# encoding: title, text, a path that is not ASCII
ENCODINGS: Mapping[str, tuple[str, str, str]] = {
    "gbk": ("简体中文标题", "这是一个关于网络的页面", "页面"),
    "gb18030": ("简体中文㐀", "这是一个关于网络的页面", "页面二"),
    "big5": ("繁體中文標題", "這是一個關於網路的頁面", "頁面"),
    "shift_jis": ("日本語の題名", "これは蜘蛛についてのページです", "頁面一"),
    "euc-jp": ("日本語の題", "これは蜘蛛についてのページです", "頁面三"),
    "euc-kr": ("한국어 제목", "이것은 거미에 관한 페이지입니다", "쪽"),
    "windows-1251": ("Русский заголовок", "Это страница о пауках", "страница"),
    "koi8-r": ("Русский текст", "Это страница о пауках", "лист"),
    "windows-1252": ("Überschrift – “so”", "Spinnen € und Netze", "größe"),
    "windows-1253": ("Ελληνικός τίτλος", "Αυτή είναι μια σελίδα", "σελίδα"),
    "utf-8": ("Ünï – 網 🕸", "spider webs 🕷", "ñandú"),
    "utf-16": ("Ünï – 網 🕸", "spider webs 🕷", "πέντε"),
}


def document(encoding: str, *, meta: str = "") -> bytes:
    title, text, path = ENCODINGS[encoding]
    head = f'<meta charset="{meta}">' if meta else ""
    markup = f'<html><head>{head}<title>{title}</title></head><body><p>{text}<a href="/{path}?q={path}">{path}</a>'
    return markup.encode(encoding)


@pytest.mark.parametrize("way", ["header", "meta", "mark"])
def test_encodings(serve: Serve, crawl: CrawlIt, way: str) -> None:
    """Titles, text, anchors and the query of links are right, whoever declares the encoding."""
    encodings = list(ENCODINGS)
    if way == "meta":  # what a meta element says of UTF-16 can't be true where it could be read
        encodings.remove("utf-16")
    if way == "mark":
        encodings = ["utf-16"]
    pages: dict[str, Page] = {}
    for encoding in encodings:
        declared = f"text/html; charset={encoding}" if way == "header" else "text/html"
        pages[f"/{encoding}"] = Page(document(encoding, meta=encoding if way == "meta" else ""), content_type=declared)
    crawled = crawl(serve(Site({"/": links(*pages), **pages})))
    for encoding in encodings:
        title, text, path = ENCODINGS[encoding]
        row = crawled[f"/{encoding}"]
        assert row.page["title"] == title, encoding
        assert row.page["description"].startswith(text), encoding
        (link,) = row.links
        assert link.text == path, encoding
        in_query = "utf-8" if encoding == "utf-16" else encoding
        assert link.url.endswith(f"/{quote(path)}?q={escaped_query(path, in_query)}"), encoding


def escaped_query(text: str, encoding: str) -> str:
    """As browsers do: ASCII letters of multi-byte characters stay."""
    return "".join(
        chr(byte) if 0x21 <= byte < 0x7F and chr(byte) not in "\"#<>'" else f"%{byte:02X}"
        for byte in text.encode(encoding)
    )


def test_an_encoding_that_nobody_declared(serve: Serve, crawl: CrawlIt) -> None:
    body = ("<title>Русский</title><p>" + "Это страница о пауках и сетях, и ещё много слов. " * 20).encode(
        "windows-1251"
    )
    crawled = crawl(serve(Site({"/": Page(body, content_type="text/html")})))
    assert crawled["/"].page["title"] == "Русский"


def test_the_header_wins_over_meta(serve: Serve, crawl: CrawlIt) -> None:
    body = '<meta charset="utf-8"><title>жук</title>'.encode("koi8-r")
    crawled = crawl(serve(Site({"/": Page(body, content_type="text/html; charset=koi8-r")})))
    assert (crawled["/"].page["title"], crawled["/"].page["charset"]) == ("жук", "koi8-r")


CODINGS = ["gzip", "x-gzip", "deflate", "raw-deflate", "br", "zstd", "identity", "gzip, br", "deflate, gzip, zstd"]


@pytest.mark.parametrize("framing", list(Framing))
def test_codings(serve: Serve, crawl: CrawlIt, framing: Framing) -> None:
    body = links("/below", text="<p>" + "words " * 500).body
    pages: dict[str, Page] = {
        f"/{n}": Page(body + b"<!-- %d -->" % n, coding=coding, framing=framing) for n, coding in enumerate(CODINGS)
    }
    crawled = crawl(serve(Site({"/": links(*pages), **pages})))
    for n, coding in enumerate(CODINGS):
        row = crawled[f"/{n}"]
        assert row.is_done, coding
        assert row.page["size"] == len(body) + len(f"<!-- {n} -->"), coding
        assert [link.url.rpartition("/")[2] for link in row.links] == ["below"], coding
        (stored,) = [
            content for kind, url, content in crawled.records() if kind == "response" and url.endswith(f"/{n}")
        ]
        assert wire.encode(pages[f"/{n}"].body, coding)[-40:] in stored, "bytes as they came"


def test_a_compressed_file_stays_one(serve: Serve, crawl: CrawlIt) -> None:
    """Servers label downloads as coded that are compressed in themselves."""
    packed = gzip.compress(b"text " * 100)
    label = (("Content-Encoding", "gzip"),)
    pages = {
        "/a.tar.gz": Page(packed, content_type="application/x-gzip", headers=label),
        "/b.gz": Page(packed, content_type="application/octet-stream", headers=label),
    }
    crawled = crawl(serve(Site({"/": links(*pages), **pages})))
    assert crawled["/a.tar.gz"].page["size"] == crawled["/b.gz"].page["size"] == len(packed)


def test_too_large_is_kept_up_to_the_limit_and_marked(serve: Serve, crawl: CrawlIt) -> None:
    large = links("/early", text="x " * 200_000).body + b'<a href="/late">late</a>'
    pages = {
        "/plain": Page(b'<title>T</title><a href="/early">e</a>' + large),
        "/gzip": Page(b'<title>T</title><a href="/early2">e</a>' + bytes(range(256)) * 3000, coding="gzip"),
        "/endless": recipes.endless(b'<p><a href="/early3">more</a>' * 100),
        "/fits": Page(b"<title>fits</title>" + b"y" * (50_000 - 19)),
    }
    web = serve(Site({"/": links(*pages), **pages}, lambda asked: html(asked.path)))
    crawled = crawl(web, max_size=50_000)
    for path in ("/plain", "/endless"):
        row = crawled[path]
        assert (row.state, row.reason) == ("finished", "body too large: the first 50000 bytes were kept")
        assert (row.page["truncated"], row.page["is_kept"]) == ("length", 1)
        assert row.page["wire_size"] <= 50_000 + 1000
    assert crawled["/fits"].reason == ""
    assert crawled["/early"].is_done, "links of the part that was kept are followed"
    assert "/late" not in crawled.rows
    assert [kind for kind, _, _ in crawled.records()].count("response") == len(web.log)


def test_types(serve: Serve, crawl: CrawlIt) -> None:
    """By header, and by sniffing when the header is missing or generic."""
    page = b'<!DOCTYPE html><title>t</title><a href="/from%d">x</a>'
    answers = {
        "/html": ("text/html", page),
        "/xhtml": ("application/xhtml+xml", page),
        "/upper": ("TEXT/HTML; Charset=UTF-8", page),
        "/missing": (None, page),
        "/empty": ("", page),
        "/octets": ("application/octet-stream", page),
        "/wrong": ("application/pdf", page),
        "/plain": ("text/plain", page),
        "/png": (None, b"\x89PNG\r\n\x1a\n%d"),
        "/pdf": ("application/octet-stream", b"%%PDF-1.4 %d"),
        "/json": ("application/json", b'{"a": "<a href=/no>%d"}'),
    }
    pages = {path: Page(body % n, content_type=kind) for n, (path, (kind, body)) in enumerate(answers.items())}
    crawled = crawl(serve(Site({"/": links(*pages), **pages}, lambda asked: html(asked.path))))
    sniffed = {path: crawled[path].page["content_type"] for path in pages}
    assert sniffed == {
        "/html": "text/html",
        "/xhtml": "application/xhtml+xml",
        "/upper": "text/html",
        "/missing": "text/html",
        "/empty": "text/html",
        "/octets": sniffed["/octets"],
        "/wrong": "application/pdf",
        "/plain": "text/plain",
        "/png": "image/png",
        "/pdf": "application/pdf",
        "/json": "application/json",
    }
    assert {path for path in pages if crawled[path].links} >= {"/html", "/xhtml", "/upper", "/missing", "/empty"}
    assert not crawled["/wrong"].links
    assert not crawled["/plain"].links
    assert all(crawled[path].page["is_kept"] for path in pages), "what is no page is kept all the same"
    assert {path for path in pages if crawled[path].kind == "other"} >= {"/wrong", "/plain", "/png", "/pdf", "/json"}


def test_text_is_searchable(serve: Serve, crawl: CrawlIt) -> None:
    crawled = crawl(serve(Site({"/": links("/a.txt"), "/a.txt": recipes.text("arachnology of webs")})))
    found = crawled.select("SELECT rowid FROM page_index WHERE page_index MATCH 'arachnology'")
    assert found == [(crawled["/a.txt"].page["id"],)]


def test_an_empty_body(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": links("/none", "/204"), "/none": Page(b""), "/204": Page(b"", 204, content_type=None)}))
    crawled = crawl(web)
    assert set(crawled.states().values()) == {"finished"}
    assert crawled.kept() == {"/", "/none", "/204"}


def test_interim_answers_and_trailers_are_left_out(serve: Serve, crawl: CrawlIt) -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n"
    page = Page(b"<title>whole</title>", before=hints, framing=Framing.CHUNKED, trailers=(("X-Checksum", "1"),))
    crawled = crawl(serve(Site({"/": page})))
    assert crawled["/"].page["title"] == "whole"
    assert crawled["/"].page["status"] == 200


def test_many_large_bodies_at_once(serve: Serve, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are never all in memory, and all of them are whole."""
    monkeypatch.setattr("gossamer.crawl.heartbeat.PERIOD", 0.01)
    size = 2 * 1024 * 1024
    large = Page(bytes(size), content_type="application/zip", drip=0.01, piece=size // 8)
    sites = [Site({"/": links("/large.zip"), "/large.zip": large}, address=f"127.0.0.{n}") for n in range(1, 13)]
    web = serve(*sites)
    pending: list[int] = []

    def observe(progress: Progress) -> None:
        pending.append(progress.depths.bytes)

    crawled = crawl(*(web.url("/", site) for site in sites), observe=observe, body_memory="6M", max_size="4M")
    assert {crawled[url].page["size"] for url in (web.url("/large.zip", site) for site in sites[1:])} == {size}
    assert 2 * size < max(pending) <= 4 * size
