"""The text of XML files that are no pages."""

import pytest

from gossamer.parse.html import read as read_body
from gossamer.parse.job import ParseJob
from gossamer.parse.xmltext import is_xml, read
from gossamer.records import Facts
from parse.pages import SECRET


def facts(body: str | bytes, content_type: str = "application/xml", *headers: tuple[str, str]) -> Facts:
    body = body.encode() if isinstance(body, str) else body
    return read_body(ParseJob("http://h.example/a.xml", (("content-type", content_type), *headers), body), SECRET)


def test_title_and_text() -> None:
    found = facts(
        "<?xml version='1.0'?><book><title>Air <b>ships</b></title><para>Zeppelin\n  flies</para><title>2</title></book>"
    )
    assert found.title == "Air ships"
    assert found.text == "Air\nships\nZeppelin\nflies\n2"
    assert (found.is_page, found.links, found.charset, found.listing) == (False, b"", "utf-8", "")
    assert found.text_digest


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<a b='attribute'><!-- comment --><?php x ?>text</a>", "text"),
        ("<a>&lt;p&gt;one&lt;/p&gt;&amp;nbsp;two &amp;eacute;</a>", "one\ntwo é"),
        ("<a><![CDATA[<p>one</p>two < three]]></a>", "one\ntwo < three"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b; &unknown; &#233;</a>", "&b; &unknown; é"),
        ("<a>broken <b>and & left", "broken\nand & left"),
        ("", ""),
    ],
)
def test_text(source: str, text: str) -> None:
    assert read(source, 1000)[1] == text


def test_long_files_are_read_in_part() -> None:
    assert len(read("<a>word</a>" * 1000, 100)[1]) < 600


@pytest.mark.parametrize(
    ("content_type", "yes"),
    [
        ("text/xml", True),
        ("application/xml", True),
        ("application/docbook+xml", True),
        ("application/rss+xml", True),
        ("image/svg+xml", False),
        ("text/html", False),
        ("application/json", False),
    ],
)
def test_types(content_type: str, yes: bool) -> None:
    assert is_xml(content_type) is yes
    if content_type != "text/html":
        assert bool(facts("<a>word</a>", content_type).text) is yes


def test_headers_speak_for_it() -> None:
    found = facts("<a>word</a>", "text/xml", ("x-robots-tag", "noindex"), ("content-language", "de"))
    assert (found.noindex, found.language) == (True, "de")


def test_encodings() -> None:
    assert facts("<?xml version='1.0' encoding='koi8-r'?><a>слово</a>".encode("koi8-r")).text == "слово"
    assert facts("<a>слово</a>".encode("windows-1251"), "text/xml; charset=windows-1251").text == "слово"
