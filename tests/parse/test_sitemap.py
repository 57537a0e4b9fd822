"""Sitemaps and feeds: every kind, wrong in every known way, read as far as entries can be read."""

import gzip
import time
import zlib
from dataclasses import replace
from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.html import read as read_body
from gossamer.parse.job import DEFAULT_LIMITS, Limits, ParseJob
from gossamer.parse.links import unpack
from gossamer.parse.sitemap import Listing, read
from gossamer.records import Facts, Via
from gossamer.url import fingerprint, weaken
from parse.pages import SECRET

NOW = 1.8e9
AT = "http://site.example/maps/sitemap.xml"
XML = "application/xml"


def listing(source: str, *, announced: bool = True, limits: Limits = DEFAULT_LIMITS) -> Listing | None:
    return read(source, limits, NOW, announced=announced)


def urls(source: str) -> list[str]:
    found = listing(source)
    assert found is not None
    return [entry.url for entry in found.entries]


def facts(
    body: str | bytes,
    content_type: str = XML,
    *,
    via: Via = Via.SITEMAP,
    url: str = AT,
    limits: Limits = DEFAULT_LIMITS,
    headers: tuple[tuple[str, str], ...] = (),
) -> Facts:
    body = body.encode() if isinstance(body, str) else body
    return read_body(ParseJob(url, (("content-type", content_type), *headers), body, "", NOW, via), SECRET, limits)


def linked(found: Facts) -> list[str]:
    return [link.url for link in unpack(found.links)]


# XML sitemaps

TWO = ["http://a.example/1", "http://a.example/2"]
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


@pytest.mark.parametrize(
    "source",
    [
        f'<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="{NAMESPACE}">{{}}</urlset>',
        '<urlset xmlns="http://www.google.com/schemas/sitemap/0.84">{}</urlset>',
        "<urlset>{}</urlset>",
        "\n  <?xml version='1.0'?>\n<urlset>{}</urlset>",
        "<?xml version='1.0'><urlset>{}</urlset>",
        "<!-- <urlset> --><!DOCTYPE urlset [<!ENTITY x 'y'>]><urlset>{}</urlset>",
        "<urlset>{}",
        "{}</urlset>",
        "<wrapper><urlset>{}</urlset></wrapper>",
        "<URLSET>{}</URLSET>",
        "<urlset>&undefined; \x00\x08{}</urlset>",
        "<?xml-stylesheet href='a.xsl'?><urlset>{}</urlset><urlset></urlset>",
    ],
)
@pytest.mark.parametrize(
    "entries",
    [
        "<url><loc>http://a.example/1</loc></url><url><loc>http://a.example/2</loc></url>",
        "<url><loc> http://a.example/1\n</loc></url><url>\n<loc><![CDATA[http://a.example/2]]></loc></url>",
        "<url><loc>http://a.example/1</loc><url><loc>http://a.example/2</loc>",
        "<url><loc>http://a.example/1<lastmod>x</lastmod></url><url><loc>http://a.example/2<lastmod>",
        "<s:url><s:loc>http://a.example/1</s:loc></s:url><url xmlns='q'><LOC>http://a.example/2</LOC></url>",
        "<url><priority>1</priority><loc>http://a.example/1</loc></url></url><url/><url><loc/></url>"
        "<url><image:image><image:loc>http://a.example/i.png</image:loc></image:image>"
        "<loc>http://a.example/2</loc><video:video><video:url>http://a.example/v</video:url></video:video></url>",
        "<url><loc>http://a.example/1</loc></url><url><loc>http://a.example/2</loc></url>"
        "<url><loc>http://a.example/1</loc></url>",
    ],
)
def test_xml(source: str, entries: str) -> None:
    assert urls(source.format(entries)) == TWO


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("http://a.example/?x=1&amp;y=2", "http://a.example/?x=1&y=2"),
        ("http://a.example/?x=1&y=2", "http://a.example/?x=1&y=2"),
        ("http://a.example/?x=1&copy=2", "http://a.example/?x=1&copy=2"),
        ("http://a.example/?x=1&#38;y=&quot;", "http://a.example/?x=1&y=%22"),
        ("http://a.example/?x=1&amp;amp;y=2", "http://a.example/?x=1&amp;y=2"),
        ("http://a.example/ä b", "http://a.example/%C3%A4%20b"),
        ("http://a.exam\nple/x", "http://a.example/x"),
        ("/rooted", "http://site.example/rooted"),
        ("beside", "http://site.example/maps/beside"),
        ("//other.example/x", "http://other.example/x"),
        ("HTTP://A.Example:80/x#part", "http://a.example/x"),
        ("http://user:word@a.example/", "http://a.example/"),
    ],
)
def test_urls_are_unescaped_once_and_resolved(written: str, meant: str) -> None:
    assert linked(facts(f"<urlset><url><loc>{written}</loc></url></urlset>")) == [meant]


@pytest.mark.parametrize(
    "written", ["ftp://a.example/", "mailto:a@b.example", "javascript:x()", "file:///etc/passwd", "http://[", ""]
)
def test_only_web_addresses(written: str) -> None:
    found = facts(f"<urlset><url><loc>{written}</loc></url><url><loc>http://a.example/1</loc></url></urlset>")
    assert linked(found) == TWO[:1]


def test_lastmod() -> None:
    entry = "<url><loc>http://a.example/{}</loc><lastmod>{}</lastmod></url>"
    dates = ["2020-01-01", "2020-01-01T01:00:00+01:00", "2999-01-01", "1950-01-01", "soon", ""]
    found = facts("<urlset>" + "".join(entry.format(number, date) for number, date in enumerate(dates)) + "</urlset>")
    assert [link.lastmod for link in unpack(found.links)] == [1577836800, 1577836800, None, None, None, None]


def test_a_date_beside_a_url_that_was_named_without_one() -> None:
    alternate = "<xhtml:link rel='alternate' hreflang='de' href='http://a.example/2'/>"
    found = listing(
        f"<urlset><url><loc>http://a.example/1</loc>{alternate}</url>"
        "<url><loc>http://a.example/2</loc><lastmod>2020-01-01</lastmod></url></urlset>"
    )
    assert found is not None
    assert [(entry.url, entry.lastmod) for entry in found.entries] == [(TWO[0], None), (TWO[1], 1577836800)]


def test_an_index_names_sitemaps() -> None:
    found = facts(
        "<sitemapindex><sitemap><loc>http://a.example/s1.xml.gz</loc><lastmod>2020-01-01</lastmod></sitemap>"
        "<sitemap><loc>/s2.xml</loc></sitemap><url><loc>/page</loc></url></sitemapindex>"
    )
    assert found.listing == "sitemap index"
    assert [(link.url, link.via, link.lastmod) for link in unpack(found.links)] == [
        ("http://a.example/s1.xml.gz", Via.SITEMAP, 1577836800),
        ("http://site.example/s2.xml", Via.SITEMAP, None),
        ("http://site.example/page", Via.LISTED, None),
    ]


def test_the_facts_of_a_sitemap() -> None:
    found = facts(f"<urlset><url><loc>{TWO[0]}</loc></url></urlset>", headers=(("x-robots-tag", "noindex, nofollow"),))
    assert (found.listing, found.is_page, found.text, found.nofollow) == ("sitemap", False, "", False)
    assert found.fingerprints == fingerprint(TWO[0], SECRET)
    assert found.notes == ("sitemap: 1 URLs",)


# other kinds


def test_text() -> None:
    found = facts(
        "\ufeffhttp://a.example/1\r\n\r\n  https://a.example/2  \nsome words\nftp://x\n"
        + "http://a.example/"
        + "a" * 9000,
        "text/plain",
    )
    assert found.listing == "text sitemap"
    assert linked(found) == ["http://a.example/1", "https://a.example/2"]


RSS = """<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
 <title>t</title><link>http://a.example/</link><atom:link rel="self" href="http://a.example/feed"/>
 <image><url>http://a.example/i.png</url><title>t</title><link>http://a.example/of-image</link></image>
 <item><title>x</title><link>http://a.example/1</link><guid isPermaLink="false">7</guid>
  <description>&lt;a href="http://a.example/no"&gt;</description><enclosure url="http://a.example/a.mp3"/>
  <pubDate>Wed, 01 Jan 2020 00:00:00 GMT</pubDate></item>
 <item><guid>http://a.example/2</guid><source url="http://b.example/">b</source><dc:date>2020-01-01</dc:date></item>
 <item><guid isPermaLink="false">http://a.example/no</guid></item>
 <item><media:content><media:player><link>http://a.example/no</link></media:player></media:content></item>
</channel></rss>"""

RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
 <channel rdf:about="http://a.example/feed"><link>http://a.example/</link><items><rdf:Seq><rdf:li resource="x"/></rdf:Seq></items></channel>
 <item rdf:about="http://a.example/1"><link>http://a.example/1</link><dc:date>2020-01-01</dc:date></item>
 <item rdf:about="http://a.example/2"><dc:date>2020-01-01</dc:date></item></rdf:RDF>"""

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:x</id><link href="http://a.example/"/>
 <link rel="self" href="http://a.example/feed"/>
 <entry><id>http://a.example/no</id><link rel="alternate" type="text/html" href="http://a.example/1"/>
  <published>2019-01-01T00:00:00Z</published><updated>2020-01-01T00:00:00Z</updated>
  <source><link href="http://b.example/"/></source><link rel="enclosure" href="http://a.example/a.mp3"/></entry>
 <entry><link href="http://a.example/2"/><updated>2020-01-01</updated>
  <content type="xhtml"><div><a href="http://a.example/no">x</a><link href="http://a.example/no"/></div></content></entry>
</feed>"""


@pytest.mark.parametrize("source", [RSS, RDF, ATOM], ids=["rss", "rdf", "atom"])
def test_feeds(source: str) -> None:
    found = listing(source, announced=False)
    assert found is not None
    assert found.kind == "feed"
    assert [(entry.url, entry.lastmod) for entry in found.entries] == [
        ("http://a.example/", None),
        ("http://a.example/1", 1577836800),
        ("http://a.example/2", 1577836800),
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<feed><link href='x'/><entry><link href='y'/></entry></feed>", ["/maps/x", "/maps/y"]),
        ("<feed xml:base='/b/'><link href='x'/><entry><link href='y'/></entry></feed>", ["/b/x", "/b/y"]),
        (
            "<feed xml:base='b/'><entry xml:base='c/'><link href='y'/></entry><entry><link href='z'/></entry></feed>",
            ["/maps/b/c/y", "/maps/b/z"],
        ),
        (
            "<feed xml:base='/b/'><entry xml:base='c/'><link xml:base='../d/' href='y'/><link href='z'/></entry></feed>",
            ["/b/d/y", "/b/c/z"],
        ),
        (
            "<rss xml:base='/b/'><channel xml:base='c/'><link>x</link><item><link>y</link></item></channel></rss>",
            ["/b/c/x", "/b/c/y"],
        ),
        (
            "<rss><channel><item xml:base='/b/'><link>y</link></item><item><link>y</link></item></channel></rss>",
            ["/b/y", "/maps/y"],
        ),
        ("<feed xml:base='http://other.example/'><entry><link href='y'/></entry></feed>", ["http://other.example/y"]),
        ("<feed xml:base='http://['><entry><link href='y'/></entry></feed>", ["/maps/y"]),
        (
            "<feed xml:base='file:///etc/'><entry><link href='passwd'/><link href='http://a.example/'/></entry></feed>",
            ["http://a.example/"],
        ),
        ("<entry xml:base='/b/'><link href='y'/></entry>", ["/b/y"]),
    ],
)
def test_what_the_links_of_a_feed_are_relative_to(source: str, expected: list[str]) -> None:
    """XML Base; "y" is not always the same "y"."""
    found = unpack(facts(source, "application/atom+xml", via=Via.SITEMAP).links)
    assert [link.url for link in found] == [urljoin(AT, url) for url in expected]


@pytest.mark.parametrize("source", [RSS, RDF, ATOM], ids=["rss", "rdf", "atom"])
def test_feeds_that_break_off(source: str) -> None:
    for end in range(len(source)):
        found = listing(source[:end])
        assert found is None or {entry.url for entry in found.entries} <= set(urls(source)), "half a URL is another one"


@pytest.mark.parametrize(
    ("content_type", "via", "is_read"),
    [
        ("application/rss+xml", Via.ANCHOR, True),
        ("application/atom+xml; charset=utf-8", Via.ANCHOR, True),
        ("text/xml", Via.LINK, True),
        (XML, Via.SEED, True),
        (XML, Via.ANCHOR, True),
        ("text/xml", Via.REDIRECT, True),
        ("text/xml", Via.REQUISITE, False),
        ("text/xml", Via.NEEDED, False),
        ("text/plain", Via.LINK, False),
        ("image/svg+xml", Via.ANCHOR, False),
    ],
)
def test_what_has_the_type_and_the_root_of_a_list_is_read_as_one(content_type: str, via: Via, is_read: bool) -> None:
    found = facts(RSS, content_type, via=via)
    assert (found.listing == "feed") is bool(found.links) is is_read


def test_what_leads_to_a_feed_may_lead_to_anything() -> None:
    assert not facts("<book><item><link>http://a.example/</link></item></book>", via=Via.ANCHOR).links
    assert not facts("<svg><url><loc>http://a.example/</loc></url></svg>", via=Via.LINK).links
    assert not facts("http://a.example/\n", "text/plain", via=Via.LINK).links


def test_a_feed_is_text_too_and_may_say_nofollow() -> None:
    found = facts(RSS, "application/rss+xml", via=Via.LINK, headers=(("x-robots-tag", "nofollow"),))
    assert "x" in found.text.split()
    assert found.nofollow
    assert found.fingerprints[:8] == weaken(fingerprint("http://a.example/", SECRET))


# what is none


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<!DOCTYPE html><html><body><url><loc>http://a.example/</loc></url>", "text/html"),
        ("<html><head><title>404</title>", XML),
        ("nothing here", "text/plain"),
        ('{"loc": "http://a.example/"}', "application/json"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "image/png"),
        ("", XML),
        ("<a/>", XML),
    ],
)
def test_no_list_of_urls(body: str | bytes, content_type: str) -> None:
    found = facts(body, content_type, url="http://site.example/sitemap.xml")
    assert (found.listing, found.links, found.is_page) == ("", b"", False)


def test_a_type_that_is_wrong_is_no_reason() -> None:
    for content_type in ("text/html", "text/plain", "application/octet-stream", "image/png", ""):
        assert linked(facts(f"<urlset><url><loc>{TWO[0]}</loc></url></urlset>", content_type)) == TWO[:1]


def test_an_html_page_that_was_named_is_a_page() -> None:
    found = facts("<title>All pages</title><a href=/x>x</a>", "text/html", url="http://site.example/map.html")
    assert (found.is_page, found.title, linked(found)) == (True, "All pages", ["http://site.example/x"])


# limits


def test_so_many_entries_and_no_more() -> None:
    many = "<urlset>" + "".join(f"<url><loc>/{number}</loc></url>" for number in range(30)) + "</urlset>"
    found = facts(many, limits=replace(DEFAULT_LIMITS, max_entries=10))
    assert len(linked(found)) == 10
    assert "not all of its entries were read" in found.notes
    assert len(linked(facts(many, limits=replace(DEFAULT_LIMITS, max_entries=30)))) == 30
    assert (
        len(
            linked(
                facts(
                    "http://a.example/1\nhttp://a.example/2\n",
                    "text/plain",
                    limits=replace(DEFAULT_LIMITS, max_entries=1),
                )
            )
        )
        == 1
    )


def test_so_many_bytes_and_no_more() -> None:
    many = "<urlset>" + "".join(f"<url><loc>http://a.example/{number:05}</loc></url>" for number in range(1000))
    for body in (many.encode(), gzip.compress(many.encode()), gzip.compress(gzip.compress(many.encode()))):
        found = facts(body, limits=replace(DEFAULT_LIMITS, max_listing=4000))
        assert 50 < len(linked(found)) < 100
        assert "not all of its entries were read" in found.notes


def test_packed_files_that_are_broken_give_what_came() -> None:
    many = "<urlset>" + "".join(
        f"<url><loc>http://a.example/{zlib.crc32(bytes([n]))}{n}</loc></url>" for n in range(250)
    )
    packed = gzip.compress(many.encode())
    assert 50 < len(linked(facts(packed[: len(packed) // 2], "application/gzip"))) < 250
    assert not linked(facts(b"\x1f\x8b\x08nonsense", "application/gzip"))


def test_a_packed_bomb_stays_small() -> None:
    bomb = gzip.compress(b"<urlset><url><loc>http://a.example/1</loc></url>" + b" " * 200_000_000)
    assert linked(facts(bomb, "application/gzip")) == TWO[:1]


@pytest.mark.parametrize(
    "unit",
    [
        "<url>",
        "<url/>",
        "<url><loc>",
        "</url>",
        "<a>",
        "<link href='x'>",
        "<loc>http://a/",
        "&amp;",
        "<url><loc>/</loc>",
    ],
)
def test_long_files_take_a_while_and_no_more(unit: str) -> None:
    started = time.process_time()
    facts("<urlset>" + unit * (2_000_000 // len(unit)))
    assert time.process_time() - started < 5


def test_encodings() -> None:
    source = '<?xml version="1.0" encoding="{}"?><urlset><url><loc>http://a.example/ä</loc></url></urlset>'
    for label, codec in [
        ("utf-8", "utf-8-sig"),
        ("UTF-16", "utf-16"),
        ("ISO-8859-1", "latin-1"),
        ("iso-8859-1", "utf-8"),
        ("wrong", "utf-8"),
    ]:
        assert linked(facts(source.format(label).encode(codec))) == ["http://a.example/%C3%A4"]


PIECES = ["<urlset>", "<url>", "</url>", "<loc>", "</loc>", "<lastmod>", "2020-01-01", "http://a.example/1", "&amp;", "<![CDATA[", "]]>", "<!--", "-->", "<sitemap>", "<item>", "<link>", "<link href='/x'>", "<rss>", "<feed>", "<entry>", "<guid>", "<", ">", "x"]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.sampled_from([Via.SITEMAP, Via.LINK]))
def test_nothing_raises_and_all_is_web_addresses(source: str, via: Via) -> None:
    found = facts(source, via=via)
    assert found.failure is None
    assert len(found.fingerprints) == 8 * len(linked(found))
    assert all(url.startswith(("http://", "https://")) for url in linked(found))
