"""The links of pages, as browsers find and resolve them; both HTML parsers agree."""

import pytest

from gossamer.records import Link, Via

from .pages import HTML, links, urls

HERE = "http://site.example/dir/page.html?q=1"


def test_every_kind_of_link_in_document_order() -> None:
    html = """<link rel=next href=n><link rel=stylesheet href=s.css><link rel='alternate stylesheet' href=t.css>
      <link rel=alternate href=feed><link rel=pingback href=no><link rel='SHORTCUT ICON' href=i.ico>
      <link rel=preload href=p imagesrcset="ps1, ps2 2x"><style>@import "im.css"; a{background:url( 'u.png' )}</style>
      <script src=j.js></script><body background=bg.png><a href=a>one</a><map><area href=ar alt=two></map>
      <iframe src=if></iframe><img src=i srcset="i1, i2 2x"><picture><source srcset="q 100w"></picture>
      <video src=v poster=po><source src=vs><track src=tr></video><audio src=au></audio><input type=image src=in>
      <object data=ob></object><embed src=em><p style="background:url(st.png)"><svg><image href=si /></svg>
      <form action=no></form><blockquote cite=no></blockquote><img longdesc=no>"""
    found = [(link.via.value, link.url.rpartition("/")[2]) for link in links(html)]
    order = (
        "link n, requisite s.css, requisite t.css, link feed, requisite i.ico, requisite p, requisite ps1,"
        " requisite ps2, requisite im.css, requisite u.png, requisite j.js, requisite bg.png, a a, area ar, iframe if,"
        " requisite i, requisite i1, requisite i2, requisite q, requisite v, requisite po, requisite vs, requisite tr,"
        " requisite au, requisite in, requisite ob, requisite em, requisite st.png, requisite si"
    )
    assert found == [tuple(each.split()) for each in order.split(", ")]


def test_frames_are_links() -> None:
    assert urls("<frameset><frame src=a><frame src=b></frameset>", Via.FRAME) == [
        "http://site.example/dir/a",
        "http://site.example/dir/b",
    ]


def test_each_url_once_a_kind_where_it_first_stood() -> None:
    html = "<a href=x>1</a><a href=y>2</a><a href=x#f>3</a><img src=x>"
    assert [(link.url[-1], link.via, link.text) for link in links(html)] == [
        ("x", Via.ANCHOR, "1"),
        ("y", Via.ANCHOR, "2"),
        ("x", Via.REQUISITE, ""),
    ]


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("other.html", "http://site.example/dir/other.html"),
        ("  x\n", "http://site.example/dir/x"),
        ("a\n\tb", "http://site.example/dir/ab"),
        ("/x", "http://site.example/x"),
        ("//host.example/x", "http://host.example/x"),
        ("///host.example/x", "http://host.example/x"),
        ("\\\\host.example\\x", "http://host.example/x"),
        ("http:/x", "http://site.example/x"),
        ("http:x", "http://site.example/dir/x"),
        ("http:?z", "http://site.example/dir/page.html?z"),
        ("HTTPS://HOST.example:443/%7Ex", "https://host.example/%7Ex"),
        ("?z=2", "http://site.example/dir/page.html?z=2"),
        ("#top", HERE),
        (".", "http://site.example/dir/"),
        ("../../..", "http://site.example/"),
        ("a/./b/../c", "http://site.example/dir/a/c"),
        ("x y", "http://site.example/dir/x%20y"),
        ("ä?ä", "http://site.example/dir/%C3%A4?%C3%A4"),
        ("x&copy=2", "http://site.example/dir/x&copy=2"),
        ("x?a&amp;b&copy=2", "http://site.example/dir/x?a&b&copy=2"),
        ("http://user:pw@host.example/", "http://host.example/"),
        ("http://müller.example/", "http://xn--mller-kva.example/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
    ],
)
def test_hrefs_are_resolved_as_browsers_do(href: str, url: str) -> None:
    assert urls(f'<a href="{href}">x</a>') == [url]


@pytest.mark.parametrize(
    "href",
    ["http://", "http://[", "http://a b/", "//:80/", "http://h.example:99999/", "http://h.example:80@evil.example/"],
)
def test_what_is_no_url_is_no_link(href: str) -> None:
    assert urls(f'<a href="{href}">x</a>') == []


@pytest.mark.parametrize(
    "href",
    ["mailto:a@b.example", "tel:+1", "javascript:void(0)", "ftp://h.example/", "data:,x", "about:blank", "x-y.z+1:a"],
)
def test_other_schemes_are_kept_as_written(href: str) -> None:
    assert links(f'<a href=" {href} ">x</a>') == [Link(href, Via.ANCHOR, "x", other=True)]


def test_other_schemes_are_cut() -> None:
    assert [len(link.url) for link in links(f"<img src='data:image/png;base64,{'x' * 9999}'>")] == [200]


@pytest.mark.parametrize(
    ("html", "url"),
    [
        ("<base href='/b/'><a href=x>", "http://site.example/b/x"),
        ("<a href=x></a><base href='/late/'>", "http://site.example/late/x"),
        ("<base href='/one/'><base href='/two/'><a href=x>", "http://site.example/one/x"),
        ("<base target=_top><base href='/two/'><a href=x>", "http://site.example/two/x"),
        ("<base href='http://['><a href=x>", "http://site.example/dir/x"),
        ("<base href='data:,x'><a href=x>", "http://site.example/dir/x"),
        ("<base href='javascript:0'><a href=x>", "http://site.example/dir/x"),
        ("<base href='\n//cdn.example/d/e?f\t'><a href=x>", "http://cdn.example/d/x"),
        ("<base href='/b/c?d'><a href='?x'>", "http://site.example/b/c?x"),
        ("<base href='/b/c'><a href='#x'>", "http://site.example/b/c"),
        ("<base href='/b/c'><a href='http:?x'>", "http://site.example/b/c?x"),
    ],
)
def test_the_first_base_with_a_href_counts_wherever_it_stands(html: str, url: str) -> None:
    assert urls(html) == [url]


def test_nothing_is_relative_to_a_base_that_is_not_fetched() -> None:
    assert urls(
        "<base href='file:///c/'><a href=x>1</a><a href=//h.example/>2</a><a href=http://h.example/y>3</a>"
    ) == ["http://h.example/y"]


def test_queries_are_sent_in_the_encoding_of_the_page() -> None:
    body = "<a href='ä?q=ä&r=中'>x</a>".encode("latin-1", "xmlcharrefreplace")
    found = links(body, ("content-type", "text/html; charset=iso-8859-1"))
    assert [link.url for link in found] == ["http://site.example/dir/%C3%A4?q=%E4&r=%26%2320013%3B"]
    body = "<a href='表?q=表'>x</a>".encode("cp932")
    found = links(body, ("content-type", "text/html; charset=shift_jis"))
    assert [link.url for link in found] == ["http://site.example/dir/%E8%A1%A8?q=%95\\"]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<a href=x> one\n <b>two</b> </a>", "one two"),
        ("<a href=x><img src=i alt=' a  picture '></a>", "a picture"),
        ("<a href=x> <img src=i></a>", ""),
        ("<a href=x>" + "word " * 100 + "</a>", ("word " * 100)[:200]),
        ("<a name=y>no</a><a href=x>yes</a><a>no</a>", "yes"),
        ("<area href=x alt='the area'>", "the area"),
    ],
)
def test_anchor_text(html: str, text: str) -> None:
    assert [link.text for link in links(html) if link.via in (Via.ANCHOR, Via.AREA)] == [text]


def test_nofollow_counts_unless_another_link_to_the_same_place_goes_without() -> None:
    html = """<a href=a rel="noopener NOFOLLOW">1</a><a href=b>2</a><a href=b rel=nofollow>3</a>
      <a href=c rel=nofollow>4</a><a href=c>5</a><area href=d rel=nofollow>"""
    assert [(link.url[-1], link.nofollow) for link in links(html)] == [
        ("a", True),
        ("b", False),
        ("c", False),
        ("d", True),
    ]


def test_a_refresh_is_a_link_and_the_first_valid_one_counts() -> None:
    html = "<meta http-equiv=Refresh content='x'><meta http-equiv=refresh content='1; URL=\"two words\"'><meta http-equiv=refresh content='0;no'>"
    assert links(html) == [Link("http://site.example/dir/two%20words", Via.REFRESH)]
    assert links("<meta http-equiv=refresh content=5>") == []
    assert links("<p>", HTML, ("refresh", "0;url=/x")) == [Link("http://site.example/x", Via.REFRESH)]


def test_what_fetches_nothing_is_no_requisite() -> None:
    assert urls("<img src=''><link rel=next href=''><a href=''>x</a><svg><use href='#id' /></svg><img src='#f'>") == []


def test_links_in_noscript_count_and_those_in_templates_do_not() -> None:
    assert urls("<noscript><a href=x>1</a></noscript><template><a href=y>2</a></template>") == [
        "http://site.example/dir/x"
    ]


def test_the_memory_of_hrefs_does_not_mix_up_directories_or_pages() -> None:
    html = "<a href=x>1</a><a href=?q>2</a><a href=../y>3</a>"
    for directory in ("a", "b", "a/c"):
        base = f"http://site.example/{directory}/"
        for name in ("one", "two"):
            assert urls(html, url=base + name)[:2] == [base + "x", f"{base}{name}?q"]
