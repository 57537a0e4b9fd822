"""Pages read to facts: what a reader of the page would say of it."""

import gzip
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.html import read, read_bare
from gossamer.parse.job import Limits
from gossamer.parse.markup import Reference
from gossamer.parse.resolve import Resolver
from gossamer.parse.table import LinkTable
from gossamer.records import Failure, FailureKind, Via
from gossamer.url import fingerprint, weaken

from .pages import HTML, SECRET, digest, facts, job, links


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> A \n b &amp; &#x41; </title><title>no</title>", "A b & A"),
        ("<body><svg><title>no</title></svg><title>late</title>", "late"),
        ("<title><b>raw</b></title>", "<b>raw</b>"),
        ("<p>none", ""),
        ("<title>" + "x" * 5000, "x" * 1000),
    ],
)
def test_the_title_is_the_first_one(html: str, title: str) -> None:
    assert facts(html).title == title


@pytest.mark.parametrize(
    ("html", "headers", "language"),
    [
        ("<html lang=de>", [("content-language", "en")], "de"),
        ("<html xml:lang='pt-BR'>", [], "pt-BR"),
        ("<p>", [("content-language", " en ")], "en"),
        ("<p>", [("content-language", "en, fr")], ""),
        ("<meta http-equiv=Content-Language content=it>", [("content-language", "en")], "it"),
        ("<html lang=''>", [], ""),
    ],
)
def test_the_language_is_that_of_the_root_or_else_the_headers(
    html: str, headers: list[tuple[str, str]], language: str
) -> None:
    assert facts(html, HTML, *headers).language == language


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a<p>b<div>c</div>d<ul><li>e<li>f</ul>g", "a b c d e f g"),
        ("a<br>b<hr>c", "a b c"),
        (
            "<table><caption>a</caption><tr><td>b<p>c<div>d</div>e<p>f</p>g<td><ul><li>h<li>i</ul>j</table>k",
            "a b c d e f g h i j k",
        ),
        ("<ul>a<div>b</div><li>c</ul><form>d</form>e<fieldset><legend>f</legend>g</fieldset>h", "a b c d e f g h"),
        ("a<center>b</center>c<hgroup>d</hgroup>e<dialog>f</dialog>g<xmp>h</xmp>i", "a b c d e f g h i"),
        ("<ol start=7><li>a<li>b<ol><li>c</ol></ol>", "a b c"),
        ("in<b>li</b>ne a<span>b</span>", "inline ab"),
        ("<table><tr><td>1<td>2<tr><th>3</table>", "1 2 3"),
        ("<select><option>one<option>two</select>x<textarea>t</textarea><button>b</button>", "one two x t b"),
        ("<title>no</title><script>no</script><style>no</style><p>yes<!-- no -->", "yes"),
        ("<template>no</template><iframe>no</iframe><object>no</object><video>no</video>yes", "yes"),
        ("<p>  a \n\t b&nbsp;&nbsp;c\u3000d  </p>", "a b c d"),
        ("<pre>a   b\n\n  c</pre>", "a b c"),
        ("soft&shy;hyphen and\0nul", "softhyphen andnul"),
        ("<noscript>without <b>scripts</b></noscript>", "without scripts"),
        ("&lt;b&gt; &copy; &#128512; &#xD800;", "<b> © 😀 \ufffd"),
        ("<dl><dt>t<dd>d</dl><blockquote>q</blockquote><h1>h</h1>x", "t d q h x"),
        ("漢字とかな", "漢字とかな"),
        ("", ""),
    ],
)
@pytest.mark.parametrize("fallback", [False, True])
def test_text_is_what_one_reads(html: str, text: str, *, fallback: bool) -> None:
    found = read(job(html), SECRET, fallback=fallback).text
    assert found.replace("\n", " ") == text
    assert "  " not in found
    assert "\n\n" not in found


def test_a_declared_shadow_root_is_read_and_a_template_is_not() -> None:
    html = '<div><template shadowrootmode="open"><p>shown <a href=in>x</a></template></div><template><a href=no>n</a></template>'
    found = read(job(html), SECRET)
    assert found.text == "shown x"
    assert len(found.fingerprints) == 8


def test_the_text_digest_is_of_the_words_alone() -> None:
    digests = {facts(html).text_digest for html in ("<p>ﬁne day", "<div>fine</div> day", "<b>fine</b>\n\n day")}
    assert len(digests) == 1
    assert facts("<p>another day").text_digest not in digests


def test_size_and_digest_are_of_the_decoded_body() -> None:
    found = facts(gzip.compress(b"<p>x"), HTML, ("content-encoding", "gzip"))
    assert (found.size, found.digest, found.text) == (4, digest(b"<p>x"), "x")


def test_fingerprints_are_those_of_the_links_in_their_order_weaker_for_weak_ones() -> None:
    html = "<a href=a>1</a><a href=mailto:x@y.example>2</a><a href=b rel=nofollow>3</a><img src=c>"
    strong = [fingerprint(link.url, SECRET) for link in links(html)]
    assert facts(html).fingerprints == b"".join([*strong[:2], weaken(strong[2]), weaken(strong[3])])
    asked = facts(f"<meta name=robots content=nofollow>{html}")
    assert asked.fingerprints == b"".join(map(weaken, strong))


def test_forms_are_counted_and_not_followed() -> None:
    html = "<form action=a><button formaction=b></form><form></form><input src=c>"
    assert facts(html).forms == 2
    assert links(html) == []


@pytest.mark.parametrize(
    ("html", "headers", "noindex", "nofollow"),
    [
        ("<meta name=robots content='noindex'>", [], True, False),
        ("<META NAME=ROBOTS CONTENT='NOFOLLOW'>", [], False, True),
        ("<meta name=Gossamer content=none>", [], True, True),
        ("<meta name=otherbot content=none>", [], False, False),
        ("<p>", [("x-robots-tag", "noindex"), ("x-robots-tag", "other: nofollow")], True, False),
        ("<p>", [("x-robots-tag", "gossamer: nofollow")], False, True),
        ("<meta name=robots content='unavailable_after: 2020-01-01'>", [], True, False),
    ],
)
def test_what_pages_ask_of_robots(html: str, headers: list[tuple[str, str]], *, noindex: bool, nofollow: bool) -> None:
    found = facts(html, HTML, *headers)
    assert (found.noindex, found.nofollow) == (noindex, nofollow)


def test_files_may_ask_too() -> None:
    assert facts(b"%PDF-", ("content-type", "application/pdf"), ("x-robots-tag", "noindex")).noindex
    assert facts(b"words", ("content-type", "text/plain"), ("x-robots-tag", "noindex")).noindex


def test_the_canonical_url_is_resolved() -> None:
    assert facts("<link rel='Canonical' href='/x?a#f'>").canonical == "http://site.example/x?a"
    assert facts("<link rel=canonical href='mailto:a@b.example'>").canonical == ""
    assert facts("<link rel=canonical href='http://['>").canonical == ""
    assert facts("<p>").canonical == ""


def test_xhtml_is_a_page_and_read_as_html() -> None:
    html = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><title>t</title><p>x<br/>y</p></html>'
    found = facts(html, ("content-type", "application/xhtml+xml"))
    assert (found.is_page, found.title, found.text) == (True, "t", "x\ny")


def test_a_text_file_has_text_and_nothing_else() -> None:
    found = facts(b"one\r\ntwo  <a href=x>\r\rthree", ("content-type", "text/plain"))
    assert (found.text, found.links, found.title, found.is_page) == ("one\ntwo <a href=x>\nthree", b"", "", False)
    assert found.text_digest
    assert facts("süß".encode("latin-1"), ("content-type", "text/plain; charset=latin1")).text == "süß"


def test_any_other_file_is_only_counted() -> None:
    found = facts(b"GIF89a...", ("content-type", "image/gif"))
    assert (found.content_type, found.size, found.digest) == ("image/gif", 9, digest(b"GIF89a..."))
    assert not (found.text or found.links or found.title or found.is_page or found.text_digest)


def test_the_type_is_sniffed_where_it_is_missing() -> None:
    assert facts("<!doctype html><p>x", ("server", "x")).is_page
    assert facts("<!doctype html><p>x", ("content-type", "text/plain")).is_page is False


@pytest.mark.parametrize(
    ("html", "noted"),
    [
        ("<div id=root></div><script src=a></script>", True),
        (
            "<body><noscript>You need to enable JavaScript to run this app.</noscript><div></div><script src=a></script>",
            True,
        ),
        ("<p>Loading…</p><script></script><script></script><script type=module></script>", True),
        (
            "<title>x</title><noscript>This app works with JavaScript.</noscript><div></div><script src=a></script>",
            True,
        ),
        ("<p>Loading…</p><link rel=stylesheet href=x><script type=module src=a></script>", True),
        ("<p>Loading times of pages <a href=x>compared</a></p><script></script>", False),
        (
            "<nav><a href=x>Home</a> <a href=y>About us</a></nav><div></div><p>© ACME</p>"
            + "<script src=a></script>" * 3,
            True,
        ),
        (
            "<a href=x>Back</a><p>Enable JavaScript to be able to update your settings.</p>"
            + "<script src=a></script>" * 3,
            True,
        ),
        (  # rustdoc writes hundreds of such pages
            "<a href=x>In core::arch::x86</a><h1>Constant <a href=y>core</a>::<a href=z>arch</a>::_CMP_FALSE_OQ</h1>"
            "<p>pub const _CMP_FALSE_OQ: <a href=i>i32</a> = 0x0b; Available on x86 only. False (ordered, non-signaling)"
            + "<script src=a></script>"
            * 4,
            False,
        ),
        ("<p>A page on JavaScript.</p>", False),
        ("<p>A short page.</p><script></script>", False),
        ("<script type='application/ld+json'>{}</script>", False),
        ("<p>" + "word " * 100 + "<script></script>" * 10, False),
        ("", False),
    ],
)
def test_a_page_that_is_empty_without_scripts_is_noted(html: str, *, noted: bool) -> None:
    for fallback in (False, True):
        assert ("empty without JavaScript" in read(job(html), SECRET, fallback=fallback).notes) is noted


def test_the_fallback_is_noted() -> None:
    assert read(job("<p>x"), SECRET, fallback=True).notes == ("read by the fallback parser",)


def test_too_many_links_are_cut() -> None:
    html = "".join(f"<a href={number}>x</a>" for number in range(30))
    found = facts(html, limits=Limits(max_links=10))
    assert found.notes == ("links cut after 10",)
    assert len(found.fingerprints) == 80


def test_a_long_base_cannot_make_much_of_little() -> None:
    html = f"<base href='/{'x' * 5000}/'>" + "".join(f"<a href={number}></a>" for number in range(100))
    found = facts(html, limits=Limits(max_link_characters=100_000))
    assert found.notes == ("links cut after 19: their URLs have more than 100000 characters",)


def test_what_stands_behind_the_limit_is_not_looked_at() -> None:
    def references() -> Iterator[Reference]:
        yield from ((Via.ANCHOR, f"/{number}", "", False) for number in range(11))
        raise AssertionError("it was")

    table = LinkTable(Resolver("http://a.test/", None, "utf-8", SECRET), Limits(max_links=10))
    table.fill(references())
    table.fill(references())
    assert table.notes() == ["links cut after 10"]


def test_long_text_is_cut() -> None:
    found = facts("<p>" + "word " * 100, limits=Limits(max_text=50))
    assert (len(found.text), found.notes) == (50, ("text cut at 50 characters",))
    assert facts(b"word " * 100, ("content-type", "text/plain"), limits=Limits(max_text=50)).notes == found.notes


def test_links_that_are_no_urls_are_counted() -> None:
    found = facts("<a href='http://['>1</a><a href='//a b/'>2</a><a href='" + "x" * 9000 + "'>3</a><a href=ok>4</a>")
    assert found.notes == ("3 links that are no URLs",)
    assert len(found.fingerprints) == 8


def test_a_body_that_is_cut_in_its_coding_is_a_failure_and_read_as_far_as_it_goes() -> None:
    cut = gzip.compress(b"<p>begin " + bytes(range(33, 127)) * 200)[:-20]
    found = facts(cut, HTML, ("content-encoding", "gzip"))
    assert found.failure is not None
    assert found.failure.kind is FailureKind.BODY_TRUNCATED
    assert found.text.startswith("begin")


def test_a_body_that_was_cut_on_the_way_is_read_as_far_as_it_goes() -> None:
    cut = gzip.compress(b"<p>begin " + bytes(range(33, 127)) * 200)[:-20]
    found = read(job(cut, HTML, ("content-encoding", "gzip"), truncated="length"), SECRET)
    assert (found.failure, found.notes) == (None, ("body truncated: length",))
    assert found.text.startswith("begin")


def test_a_character_that_was_cut_does_not_change_the_encoding() -> None:
    body = "<p>Größe 中".encode()[:-1]
    found = read(job(body, ("content-type", "text/html"), truncated="length"), SECRET)
    assert (found.charset, found.text) == ("utf-8", "Größe")


@pytest.mark.parametrize(
    ("coding", "kind"), [("gzip", FailureKind.BODY_UNDECODABLE), ("sdch", FailureKind.BODY_UNDECODABLE)]
)
def test_an_undecodable_body_is_counted_as_it_came(coding: str, kind: FailureKind) -> None:
    body = b"<p>this is neither"
    found = facts(body, HTML, ("content-encoding", coding))
    assert found.failure is not None
    assert (found.failure.kind, found.size, found.digest) == (kind, len(body), digest(body))
    assert (found.content_type, found.is_page, found.text) == ("text/html", True, "")


def test_a_bomb_is_a_failure() -> None:
    found = facts(gzip.compress(bytes(100_000)), HTML, ("content-encoding", "gzip"), limits=Limits(max_decoded=1000))
    assert found.failure is not None
    assert found.failure.kind is FailureKind.BODY_BOMB


def test_what_no_parser_survives_still_has_size_type_and_digest() -> None:
    lost = Failure(FailureKind.PARSER_HUNG)
    found = read_bare(job("<p>x"), Limits(), lost)
    assert (found.failure, found.size, found.digest, found.is_page) == (lost, 4, digest("<p>x"), True)


TAGS = st.sampled_from(
    [
        "a",
        "p",
        "div",
        "b",
        "table",
        "tr",
        "td",
        "select",
        "option",
        "svg",
        "math",
        "style",
        "script",
        "title",
        "template",
        "base",
        "meta",
        "link",
        "form",
        "img",
        "iframe",
    ]
)
PIECES = st.one_of(
    st.text(max_size=10),
    st.builds("<{}>".format, TAGS),
    st.builds("</{}>".format, TAGS),
    st.builds(
        "<{} href='{}' src='{}' content='{}'>".format,
        TAGS,
        st.text(max_size=9),
        st.text(max_size=9),
        st.text(max_size=9),
    ),
)


@given(st.lists(PIECES, max_size=15).map("".join))
def test_the_fallback_reads_anything(html: str) -> None:
    found = read(job(html.encode("utf-8", "replace")), SECRET, fallback=True)
    assert found.failure is None
    found.text.encode()


def test_documents_in_attributes_have_links_of_their_own_relative_to_the_page_around_them() -> None:
    html = """<base href="/b/"><iframe srcdoc="<a href=one>1</a><img src='i.png'>
        <iframe srcdoc='<base href=c/><a rel=nofollow href=&amp;quot;two&amp;quot;>2</a>'></iframe>"></iframe>"""
    found = {(link.url.removeprefix("http://site.example"), link.text, link.nofollow) for link in links(html)}
    assert found == {("/b/one", "1", False), ("/b/i.png", "", False), ("/b/c/two", "2", True)}


@pytest.mark.parametrize(
    "html",
    [
        "<style>@\\69mport 'x'</style>",
        "<svg><filter><feImage href=x></filter></svg>",
        "<svg><rect fill='url(x#g)'></svg>",
        "<script type=module>import 'http://site.example/dir/x'</script>",
        """<script type="importmap">{"imports": {"lib": "./x"}}</script>""",
        "<table><tbody background=x>",
    ],
)
def test_what_only_rewriting_knows_is_needed_as_well(html: str) -> None:
    assert [link.url for link in links(html)] == ["http://site.example/dir/x"]
