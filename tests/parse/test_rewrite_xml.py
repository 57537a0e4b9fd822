"""SVG and XHTML: read as XML, where names have prefixes and case, and nothing is raw text."""

import pytest

from .copies import META, NOTHING, SITE, other, rewritten

SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
XHTML = '<html xmlns="http://www.w3.org/1999/xhtml">'


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<image href='/a.png'/>", "<image href='../a.png'/>"),
        ("<image xlink:href='/a.png'/>", "<image xlink:href='../a.png'/>"),
        ("<svg:image l:href='/a.png'/>", "<svg:image l:href='../a.png'/>"),
        ("<a href='/a.html#x'/>", "<a href='../a.html#x'/>"),
        ("<a xlink:href='/a.html'/>", "<a xlink:href='../a.html'/>"),
        ("<a href='no.html'/>", f"<a data-gossamer=\"live\" href='{SITE}/dir/no.html'/>"),
        ("<use href='#x'/><use href='/a.svg#x'/>", "<use href='#x'/><use href='../a.svg#x'/>"),
        ("<linearGradient href='/a.svg#x'/>", "<linearGradient href='../a.svg#x'/>"),
        ("<script href='/a.js'/>", "<script href='../a.js'/>"),
        ("<script>x = '/a.js' &lt; 1</script>", "<script>x = '/a.js' &lt; 1</script>"),
        ("<script type='module'>import '/a.js'</script>", "<script type='module'>import '../a.js'</script>"),
        (
            "<script type='module'><![CDATA[import '/a.js']]></script>",
            "<script type='module'><![CDATA[import '../a.js']]></script>",
        ),
        ("<rect style='fill:url(/a.svg#x)'/>", "<rect style='fill:url(../a.svg#x)'/>"),
        ("<rect fill='url(/a.svg#x)' mask='url(#y)'/>", "<rect fill='url(../a.svg#x)' mask='url(#y)'/>"),
        ("<style>p{a:url(/a.png)}</style>", "<style>p{a:url(../a.png)}</style>"),
        ("<style><![CDATA[p{a:url(/a.png)}]]></style>", "<style><![CDATA[p{a:url(../a.png)}]]></style>"),
        ("<style>p{a:url(&quot;/a.png&#34;)}</style>", "<style>p{a:url(&quot;../a.png&#34;)}</style>"),
        (
            "<style>/*<![CDATA[*/p{a:url(no?a&b)}/*]]>*/</style>",
            f"<style>/*<![CDATA[*/p{{a:url({NOTHING}/dir/no?a&b)}}/*]]>*/</style>",
        ),
        ("<style>p{a:url(no?a&amp;b)}</style>", f"<style>p{{a:url({NOTHING}/dir/no?a&amp;b)}}</style>"),
        ("<style><!-- url(/a.png) --></style>", "<style><!-- url(/a.png) --></style>"),
        ("<title><a href='/a.html'/></title>", "<title><a href='../a.html'/></title>"),
        ("<!-- <a href='/a.html'/> -->", "<!-- <a href='/a.html'/> -->"),
        ("<![CDATA[<a href='/a.html'/>]]>", "<![CDATA[<a href='/a.html'/>]]>"),
        ("<?x <a href='/a.html'/>?>", "<?x <a href='/a.html'/>?>"),
        ("<metadata rdf:about='/a.html' x:src='/a.png'/>", "<metadata rdf:about='/a.html' x:src='/a.png'/>"),
        (
            "<foreignObject><h:img src='/a.png'/></foreignObject>",
            "<foreignObject><h:img src='../a.png'/></foreignObject>",
        ),
        ("<image href='data:image/png;base64,AA'/>", "<image href='data:image/png;base64,AA'/>"),
    ],
)
def test_svg(source: str, expected: str) -> None:
    assert other(f"{SVG}{source}</svg>", "image/svg+xml") == f"{SVG}{expected}</svg>"


def test_style_sheets_of_xml() -> None:
    source = f'<?xml version="1.0"?>\n<?xml-stylesheet type="text/css" href="/a.css?a&amp;b"?><?xml-stylesheet href=\'/a.css\'?>\n{SVG}</svg>'
    found = other(source, "image/svg+xml")
    assert found == source.replace("/a.css?a&amp;b", f"{NOTHING}/a.css?a&amp;b").replace("'/a.css'", "'../a.css'")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<a href='/a.html'/><img src='/a.png'/>", "<a href='../a.html'/><img src='../a.png'/>"),
        ("<textarea><a href='/a.html'/></textarea>", "<textarea><a href='../a.html'/></textarea>"),
        ("<script src='/a.js'/><a href='/a.html'/>", "<script src='../a.js'/><a href='../a.html'/>"),
        ("<style/><a href='/a.html'/>", "<style/><a href='../a.html'/>"),
        ("<base href='/'/><a href='a.html'/>", "<base /><a href='../a.html'/>"),
        ("<link rel='stylesheet' href='/a.css'/>", "<link rel='stylesheet' href='../a.css'/>"),
        ("<p style='a:url(/a.png)'/>", "<p style='a:url(../a.png)'/>"),
        ("<a href='/q?x=1&amp;copy=2'/>", "<a href='../q.q-44444444.html?x=1&amp;copy=2'/>"),
    ],
)
def test_xhtml(source: str, expected: str) -> None:
    assert other(f"{XHTML}{source}</html>", "application/xhtml+xml") == f"{XHTML}{expected}</html>"


def test_the_encoding_of_xml() -> None:
    source = f'<?xml version="1.0" encoding="ISO-8859-1"?>{SVG}<title>é</title></svg>'
    assert rewritten(source.encode("latin-1"), "image/svg+xml", charset="").body.decode() == source.replace(
        "ISO-8859-1", "UTF-8"
    )
    assert rewritten(source.replace("ISO-8859-1", "utf-8"), "image/svg+xml").body.decode() == source.replace(
        "ISO-8859-1", "utf-8"
    )
    bare = f"{XHTML}<head><meta charset='koi8-r'/></head><a href='no.html'/></html>"
    assert META not in other(bare, "application/xhtml+xml")
    assert "charset='utf-8'" in other(bare, "application/xhtml+xml")


def test_links_to_the_live_web_are_shown_in_xhtml_too_but_not_in_svg() -> None:
    page = f"{XHTML}<head><title>x</title></head><a href='no.html'/></html>"
    assert "<head><style data-gossamer=" in other(page, "application/xhtml+xml")
    assert "<style" not in other(f"{SVG}<a href='no.html'/></svg>", "image/svg+xml")
    assert "<style" not in other(page.replace("<h", "<h:h").replace("</h", "</h:h"), "application/xhtml+xml")


def test_xml_is_what_its_root_is() -> None:
    svg = f"<?xml version='1.0'?><!-- x --><!DOCTYPE svg [<!ENTITY a '>'>]>{SVG}<image href='/a.png'/></svg>"
    assert "../a.png" in other(svg, "text/xml")
    feed = "<rss><link href='/a.html'/><a href='/a.html'/></rss>"
    assert other(feed, "application/xml") == feed
    assert other(feed, "application/rss+xml") == feed
    assert other("", "text/xml") == ""


def test_a_document_type_is_passed_over() -> None:
    source = f"<!DOCTYPE svg [<!ENTITY a \"<a href='/a.html'/>\"> <!-- ]> --> ]>{SVG}<image href='/a.png'/></svg>"
    assert "../a.png" in other(source, "image/svg+xml")
