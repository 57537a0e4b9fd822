"""References in CSS: what each spelling becomes in the copy, and what only looks like one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.css import references
from gossamer.url import canonicalise

from .copies import NOTHING, SITE, URL, mirrored, other, rewritten


def css(source: str) -> str:
    return other(source, "text/css")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("url(/a.png)", "url(../a.png)"),
        ("URL(/a.png)", "URL(../a.png)"),
        ("url( \n/a.png\t)", "url( \n../a.png\t)"),
        ('url("/a.png")', 'url("../a.png")'),
        ("url('/a.png')", "url('../a.png')"),
        ("url( '/a.png' )", "url( '../a.png' )"),
        ("url('/a.png' integrity('x'))", "url('../a.png' integrity('x'))"),
        (r"\75rl(/a.png)", r"\75rl(../a.png)"),
        (r"u\72 l(/a.png)", r"u\72 l(../a.png)"),
        (r"ur\00006C(/a.png)", r"ur\00006C(../a.png)"),
        ("ur\\6c (/a.png)", "ur\\6c (../a.png)"),
        (r"\55\52\4c(/a.png)", r"\55\52\4c(../a.png)"),
        (r"url(\/a.png)", "url(../a.png)"),
        (r"url(/\61.png)", "url(../a.png)"),
        (r"url(/\61 .png)", "url(../a.png)"),
        (r"url('/\000061.png')", "url('../a.png')"),
        ("url('/a\\\n.png')", "url('../a.png')"),
        (r"url(/par\(en\).png)", "url(../par%28en%29.png)"),
        (r"url('/quo\'te.png')", "url('../quo%27te.png')"),
        ('url("/quo\'te.png")', 'url("../quo%27te.png")'),
        ("url(/com,ma.png)", "url(../com%2Cma.png)"),
        (r"url(/odd\ name%23%3F%25.png)", "url(../odd%20name%23%3F%25.png)"),
        ("url(/%E5%9B%BE.png)", "url(../%E5%9B%BE.png)"),
        ("url(/a.svg#x)", "url(../a.svg#x)"),
        ("url(/a.css?v=1)", "url(../a.q-22222222.css)"),
        ("url(/a.png), url(c.png), url('/a.png')", "url(../a.png), url(c.png), url('../a.png')"),
        ("url(/a.png", "url(../a.png"),
        ("url('/a.png", "url('../a.png"),
        ("url(/*x*/a.png)", f"url({NOTHING}/*x*/a.png)"),
        ("image-set('/a.png' 1x, \"/a.png\" 2x)", "image-set('../a.png' 1x, \"../a.png\" 2x)"),
        ("image-set('/a.png' type('image/png'))", "image-set('../a.png' type('image/png'))"),
        ("image-set('/a.png' type(')') 1x, '/a.png' 2x)", "image-set('../a.png' type(')') 1x, '../a.png' 2x)"),
        ("image-set(url(/a.png) 1x, url('/a.png') 2x)", "image-set(url(../a.png) 1x, url('../a.png') 2x)"),
        ("-webkit-image-set(url(/a.png)1x,'/a.png' 2x)", "-webkit-image-set(url(../a.png)1x,'../a.png' 2x)"),
        (r"image-se\74('/a.png' 1x)", r"image-se\74('../a.png' 1x)"),
        (
            "image-set(linear-gradient(red, blue) 1x, '/a.png' 2x)",
            "image-set(linear-gradient(red, blue) 1x, '../a.png' 2x)",
        ),
        ("image-set(/*')'*/'/a.png' 1x)", "image-set(/*')'*/'../a.png' 1x)"),
        ("cross-fade(url(/a.png), red)", "cross-fade(url(../a.png), red)"),
        ("url(no.png)", f"url({NOTHING}/dir/no.png)"),
        (r"url(no\(1\).png)", rf"url({NOTHING}/dir/no\(1\).png)"),
        ("url('no\\'1.png')", f"url('{NOTHING}/dir/no\\'1.png')"),
        ("url(//other.example/x.png)", "url(about:invalid#http://other.example/x.png)"),
        ("url(http://other.example/x.png)", "url(about:invalid#http://other.example/x.png)"),
        ('@import "no.css"', f'@import "{NOTHING}/dir/no.css"'),
    ],
)
def test_urls_in_all_spellings(source: str, expected: str) -> None:
    assert css(f"p{{a:{source}") == f"p{{a:{expected}"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("@import '/a.css';", "@import '../a.css';"),
        ('@import"/a.css"', '@import"../a.css"'),
        ("@IMPORT url(/a.css) screen;", "@IMPORT url(../a.css) screen;"),
        (
            "@import url('/a.css') layer(x) supports(display: grid);",
            "@import url('../a.css') layer(x) supports(display: grid);",
        ),
        ("@import/**/'/a.css';", "@import/**/'../a.css';"),
        ("@import /* 'x' */ '/a.css' print;", "@import /* 'x' */ '../a.css' print;"),
        (r"@\69mport '/a.css';", r"@\69mport '../a.css';"),
        ("@import 'b.css'; @import '/a.css';", "@import 'b.css'; @import '../a.css';"),
        ("<!-- @import '/a.css'; -->", "<!-- @import '../a.css'; -->"),
        (
            "@font-face{src:url(/a.svg#x) format('x'), local('/a.png')}",
            "@font-face{src:url(../a.svg#x) format('x'), local('/a.png')}",
        ),
        ("@media print{a{b:url(/a.png)}}", "@media print{a{b:url(../a.png)}}"),
        ("p{--x:url(/a.png)}", "p{--x:url(../a.png)}"),
        ("@supports (a:url(/a.png)){}", "@supports (a:url(../a.png)){}"),
    ],
)
def test_statements(source: str, expected: str) -> None:
    assert css(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "/* url(/a.png) */",
        "/* url(/a.png)",
        "p::before{content:'url(/a.png)'}",
        'p::before{content:"\\"url(/a.png)"}',
        "p{content:'/a.png'}",
        "@namespace svg url(/a.html);",
        "@namespace '/a.html';",
        "@charset 'x';",
        "@document url(/a.html), url-prefix('/a.html') {}",
        "@-moz-document domain(h.example), url(/a.html) {}",
        "p{a:url(#x)}",
        "p{a:url('#x')}",
        "p{a:url()}",
        "p{a:url('')}",
        "p{a:url(data:image/png;base64,/a.png)}",
        "p{a:url(DATA:,x)}",
        "p{a:my-url(/a.png)}",
        "p{a:src('/a.png')}",
        "p{a:curl(/a.png)}",
        "p{a:url (/a.png)}",
        "p{a:é\\75rl(/a.png)}",
        "p{a:format('/a.png')}",
        "p{a:url(/a .png)}",
        "p{a:url(/a'.png)}",
        "p{a:url(/a(.png)}",
        "p{a:url('/a\n.png')}",
        "@import /a.css;",
        "@importx '/a.css';",
        "p{import:'/a.css'}",
    ],
)
def test_what_is_no_reference_stays(source: str) -> None:
    prefix = "" if source.isascii() else '@charset "utf-8";\n'
    assert css(source) == prefix + source


def test_what_follows_something_broken_is_read() -> None:
    assert css("p{a:url(x y) url(/a.png)}") == "p{a:url(x y) url(../a.png)}"
    assert css("p{a:'x\n;b:url(/a.png)}") == "p{a:'x\n;b:url(../a.png)}"
    assert css("p{a:image-set('x';b:url(/a.png)}").endswith("url(../a.png)}")


def test_a_style_sheet_resolves_against_its_own_url() -> None:
    found = rewritten(
        "p{a:url(b.png)}", "text/css", url=f"{SITE}/dir/style.css?x", place="h.example/dir/style.q-00000000.css"
    )
    assert found.body == b"p{a:url(b.png)}"
    assert [(each.url, each.kind, each.saved) for each in found.references] == [
        (f"{SITE}/dir/b.png", "requisite", True)
    ]


_BROKEN = st.lists(
    st.sampled_from(
        (
            *(
                "url(",
                "URL( ",
                "\\75rl(",
                "image-set(",
                "@import ",
                "@namespace ",
                "@document ",
                "type(",
                "'",
                '"',
                "(",
                ")",
            ),
            *(";", "{", "}", "/*", "*/", "\\", "\n", " ", "a.png", "b", "é", "data:,x", ",", "#f", "1x"),
        )
    ),
    max_size=25,
).map("".join)

_URLS = st.sampled_from(
    ("a.png", "/a.png", "x/y.png?z", "#f", "data:,a", "http://other.example/", r"\61 .png", r"a\(b", "")
)
_VALUES = st.builds(
    str.format,
    st.sampled_from(
        ("url({})", "URL( '{}' )", 'u\\72l("{}")', "image-set('{}' 1x, url({}) 2x)", "'{}'", "/* {} */ {}")
    ),
    _URLS,
    _URLS,
)
_SOUND = st.lists(
    st.one_of(
        st.builds("p{{a:{};b:{}}}".format, _VALUES, _VALUES),
        st.builds("@media x{{p{{a:{}}}}}".format, _VALUES),
        st.builds("@import '{}';".format, _URLS),
        st.builds("@import url({}) x;".format, _URLS),
        st.builds("@namespace x url({});".format, _URLS),
    ),
    max_size=6,
).map("\n".join)


@given(_BROKEN)
def test_nothing_that_is_broken_raises_or_is_changed_twice(source: str) -> None:
    once = mirrored(source.encode(), "text/css")
    assert mirrored(once, "text/css") == once


@given(_SOUND)
def test_it_finds_what_the_crawl_fetches(source: str) -> None:
    """The scanner that tells the crawl what a style sheet needs is another one."""
    meant = [canonicalise(url, URL) for url in references(source) if url[0] != "#"]
    assert [each.url for each in rewritten(source, "text/css").references] == [url for url in meant if url]
