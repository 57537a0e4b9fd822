"""The Link header names the canonical URL of what has no markup."""

import time

import pytest

from gossamer.parse.linkheader import canonical
from gossamer.records import Via
from parse.pages import HTML, facts, links

URL = "http://h.example/dir/a.pdf"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('<http://h.example/b>; rel="canonical"', "http://h.example/b"),
        ("</b>;rel=canonical", "http://h.example/b"),
        ("<b#c> ; type=x ; REL = 'x' ; rel=\"next Canonical\"", ""),
        ('<b#c> ; type=x ; REL = "next Canonical" ; rel=prev', "http://h.example/dir/b"),
        ('<a,b>; rel=next; title="x;y, <z>", <c>; rel=canonical, <d>; rel=canonical', "http://h.example/dir/c"),
        ("<ftp://h.example/b>; rel=canonical", ""),
        ("<b>; rel=alternate", ""),
        ("<b>", ""),
        ("", ""),
        ("<b>; rel=canonicalised", ""),
        ('<b>; rel=canonical; anchor="/other"', ""),
        ('<b>; anchor="#x"; rel=canonical, <c>; rel=canonical', "http://h.example/dir/c"),
    ],
)
def test_canonical(value: str, expected: str) -> None:
    assert canonical((("link", value),), URL) == expected


@pytest.mark.parametrize("kind", ["text/html", "application/pdf", "text/plain", "text/css", "application/xml"])
def test_links_in_headers_are_links_of_the_file(kind: str) -> None:
    headers = (
        ("content-type", kind),
        ("link", '<https://de.example/>; rel="alternate"; hreflang="de", <fr>; rel=alternate; hreflang=fr'),
        ("link", "<3>; rel=next, <style.css>; rel=preload; as=style, </c>; rel=canonical, <no>; rel=pingback"),
        ("link", '<no2>; rel=next; anchor="/x", <no3>; rel=alternate; type="application/json"'),
        ("link", '<feed>; rel=alternate; type="application/atom+xml", <page>; rel=alternate; type=text/html'),
    )
    found = [(link.via, link.url.rpartition("/")[2] or link.url) for link in links("", *headers)]
    assert found == [
        (Via.LINK, "https://de.example/"),
        (Via.LINK, "fr"),
        (Via.LINK, "3"),
        (Via.REQUISITE, "style.css"),
        (Via.LINK, "c"),
        (Via.LINK, "feed"),
        (Via.LINK, "page"),
    ]


def test_links_in_headers_do_not_depend_on_base() -> None:
    found = [link.url for link in links("<base href=/b/><a href=x>", HTML, ("link", "<y>; rel=next"))]
    assert found == ["http://site.example/dir/y", "http://site.example/b/x"]


def test_several_headers() -> None:
    assert canonical((("link", "<a>; rel=next"), ("link", "</b>; rel=canonical")), URL) == "http://h.example/b"


def test_the_markup_of_a_page_is_heard_before_its_header() -> None:
    header = ("link", "</header>; rel=canonical")
    assert facts("<title>x</title>", HTML, header).canonical == "http://site.example/header"
    assert facts("<link rel=canonical href=/markup>", HTML, header).canonical == "http://site.example/markup"
    assert facts("x", ("content-type", "text/plain"), header).canonical == "http://site.example/header"


@pytest.mark.parametrize("unit", ["<", "<>;", '<a>;x="', "<a>; rel=", '<a>;x="" ', "<a>;x;x;x", '"'])
def test_the_time_is_linear(unit: str) -> None:
    started = time.process_time()
    canonical((("link", unit * (300_000 // len(unit))),), URL)
    assert time.process_time() - started < 2
