"""The Link header names the canonical URL of what has no markup."""

import time

import pytest

from gossamer.parse.linkheader import canonical
from parse.pages import HTML, facts

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
    ],
)
def test_canonical(value: str, expected: str) -> None:
    assert canonical((("link", value),), URL) == expected


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
