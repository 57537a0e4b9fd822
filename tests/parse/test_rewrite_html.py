"""Every construct of HTML that holds a URL, and many that look like one: what each becomes in the copy."""

import re
from urllib.parse import unquote

import pytest

from .copies import META, NOTHING, SITE, STYLE, URL, html, rewritten

LIVE = 'data-gossamer="live"'


def becomes(cases: list[tuple[str, str]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("source", "expected"), cases, ids=[source[:60] for source, _ in cases])


@becomes(
    [
        ('<a href="b.html">', '<a href="b.html">'),
        ('<a href="/a.html">', '<a href="../a.html">'),
        ('<a href="/dir/b.html">', '<a href="b.html">'),
        (f'<a href="{SITE}/a.html">', '<a href="../a.html">'),
        ('<a href="//h.example/a.html">', '<a href="../a.html">'),
        ('<a href="HTTP://H.Example:80/a.html">', '<a href="../a.html">'),
        ('<a href="http:b.html">', '<a href="b.html">'),
        ('<a href="./../dir/./b.html">', '<a href="b.html">'),
        ('<a href="../../../a.html">', '<a href="../a.html">'),
        ('<a href="..">', '<a href="../index.html">'),
        ('<a href="/">', '<a href="../index.html">'),
        ('<a href="./">', '<a href="index.html">'),
        ('<a href="sub/">', '<a href="sub/index.html">'),
        ('<a href="%2e/b.html">', '<a href="b.html">'),
        ('<a href="\\a.html">', '<a href="../a.html">'),
        ('<a href="sub\\..\\b.html">', '<a href="b.html">'),
        ('<a href=" \n\t/a.html\r\n ">', '<a href="../a.html">'),
        ('<a href="/a.\n\tht\rml">', '<a href="../a.html">'),
        ('<a href="b.html#part">', '<a href="b.html#part">'),
        ('<a href="/a.html#part">', '<a href="../a.html#part">'),
        ('<a href="/a.html#two words">', '<a href="../a.html#two%20words">'),
        ('<a href="/a.html#%C3%A9">', '<a href="../a.html#%C3%A9">'),
        ('<a href="/a.html#é">', '<a href="../a.html#%C3%A9">'),
        ('<a href="#part">', '<a href="#part">'),
        ('<a href=" #part">', '<a href=" #part">'),
        ('<a href="page.html#part">', '<a href="#part">'),
        ('<a href="page.html">', '<a href="page.html">'),
        ('<a href="">', '<a href="">'),
        ("<a href>", "<a href>"),
        ("<a>", "<a>"),
        ('<a href="/q?x=1&copy=2">', '<a href="../q.q-44444444.html?x=1&amp;copy=2">'),
        ('<a href="/q?x=1&amp;copy=2#y">', '<a href="../q.q-44444444.html?x=1&amp;copy=2#y">'),
        ('<a href="?x=1">', '<a href="page.html?x=1">'),
        ('<a href="?x=1#y">', '<a href="page.html?x=1#y">'),
        ('<a href="/moved#y">', '<a href="#y">'),
        ('<a href="c:d.html">', '<a href="c:d.html">'),
        ('<a href="./c:d.html">', '<a href="c_d-33333333.html">'),
        ('<a href="http://cdn.example:8080/x.js">', '<a href="../../cdn.example_8080/x.js">'),
    ],
)
def test_what_is_saved_is_pointed_to_where_it_stands(source: str, expected: str) -> None:
    assert html(source) == expected


@becomes(
    [
        ('<a href="no.html">', f'<a {LIVE} href="{SITE}/dir/no.html">'),
        ('<a href="/no?a=1&b=2#c">', f'<a {LIVE} href="{SITE}/no?a=1&amp;b=2#c">'),
        ("<a href=no.html>", f'<a {LIVE} href="{SITE}/dir/no.html">'),
        ("<a href='no.html' class=x>", f"<a {LIVE} href='{SITE}/dir/no.html' class=x>"),
        ('<a href="http://other.example/x?a&b">', f'<a {LIVE} href="http://other.example/x?a&b">'),
        ('<a href="//other.example">', f'<a {LIVE} href="http://other.example/">'),
        ('<a href="HTTPS://Other.example/%7e">', f'<a {LIVE} href="HTTPS://Other.example/%7e">'),
        ('<a href="http:\\\\other.example\\x">', f'<a {LIVE} href="http://other.example/x">'),
        ('<a href="http://other.example/é">', f'<a {LIVE} href="http://other.example/%C3%A9">'),
        ('<link rel=author href="no.html">', f'<link {LIVE} rel=author href="{SITE}/dir/no.html">'),
        ('<form action="no">', f'<form {LIVE} action="{SITE}/dir/no">'),
        (
            '<link rel=dns-prefetch href="//cdn.example">',
            f'<link {LIVE} data-gossamer-rel=dns-prefetch href="http://cdn.example/">',
        ),
        (
            '<link rel="preconnect icon" href=no.ico>',
            f'<link {LIVE} data-gossamer-rel="preconnect icon" href="{NOTHING}/dir/no.ico">',
        ),
        (
            '<link rel="prerender next" href=no>',
            f'<link {LIVE} data-gossamer-rel="prerender next" href="{SITE}/dir/no">',
        ),
        ('<link rel="prerender next" href=/a.html>', '<link rel="prerender next" href="../a.html">'),
    ],
)
def test_what_is_not_saved_is_pointed_to_on_the_live_web_and_marked(source: str, expected: str) -> None:
    assert html(source) == expected


@becomes(
    [
        ('<img src="no.png#x" alt=a>', f'<img {LIVE} src="{NOTHING}/dir/no.png#x" alt=a>'),
        ("<img src=//cdn.example/y?a&b>", f'<img {LIVE} src="about:invalid#http://cdn.example/y?a&amp;b">'),
        ("<img src=http://cdn.example/y>", f'<img {LIVE} src="about:invalid#http://cdn.example/y">'),
        ('<link rel=stylesheet href="no.css">', f'<link {LIVE} rel=stylesheet href="{NOTHING}/dir/no.css">'),
        ("<link rel=manifest href=no>", f'<link {LIVE} rel=manifest href="{NOTHING}/dir/no">'),
        ("<link rel=preload as=font href=no>", f'<link {LIVE} rel=preload as=font href="{NOTHING}/dir/no">'),
        ("<script src=no.js></script>", f'<script {LIVE} src="{NOTHING}/dir/no.js"></script>'),
        ("<body background=no.png>", f'<body {LIVE} background="{NOTHING}/dir/no.png">'),
        ("<video poster=no.png>", f'<video {LIVE} poster="{NOTHING}/dir/no.png">'),
        ("<input type=image src=no.png>", f'<input {LIVE} type=image src="{NOTHING}/dir/no.png">'),
        ("<svg><use href='no.svg#x'/></svg>", f"<svg><use {LIVE} href='{NOTHING}/dir/no.svg#x'/></svg>"),
        (
            "<object data=no.svg>instead</object>",
            f'<object {LIVE} data-gossamer-data="{NOTHING}/dir/no.svg">instead</object>',
        ),
        ("<embed src=no.pdf>", f'<embed {LIVE} data-gossamer-src="{NOTHING}/dir/no.pdf">'),
        ("<object data=/a.svg></object>", '<object data="../a.svg"></object>'),
    ],
)
def test_of_what_is_needed_and_not_saved_nothing_is_asked(source: str, expected: str) -> None:
    assert html(source) == expected


@pytest.mark.parametrize("value", ["//", "///", "\\\\\\", " /\\?x", "//#y", "/\n/"])
@pytest.mark.parametrize(
    "tag", ['<a href="{}">', '<img src="{}">', '<p style="background:url({})">', '<form action="{}">']
)
def test_what_names_no_host_is_not_taken_for_a_folder_of_the_disk(tag: str, value: str) -> None:
    """``//`` is no URL on the web; on file:// it is the root of the disk."""
    written = value.replace("\\", "\\\\").replace("\n", "") if "style" in tag else value
    found = html(tag.format(written))
    assert f'{value}"' not in found
    assert f"({written})" not in found
    assert "about:invalid" in found


@pytest.mark.parametrize("source", ['<iframe src="no.html?a&b#c" title=x>', "<frameset><frame src='no.html?a&b#c'>"])
def test_a_frame_whose_page_is_not_saved_shows_a_link_to_it(source: str) -> None:
    found = re.search(r"""data-gossamer="live" src=["'](data:text/html;charset=utf-8,[\w.%~-]+)["']""", html(source))
    assert found is not None
    shown = unquote(found[1])
    assert shown.endswith(f'<a href="{SITE}/dir/no.html?a&amp;b#c" target=_blank>{SITE}/dir/no.html?a&amp;b</a>')


@becomes(
    [
        (source, source)
        for source in (
            '<a href="mailto:a@h.example">',
            '<a href="javascript:void(0)">',
            '<a href="JavaScript:void(0)">',
            '<a href=" java\nscript:void(0)">',
            '<a href="data:text/html,<a href=/a.html>">',
            '<a href="tel:1">',
            '<a href="about:blank">',
            '<a href="ftp://h.example/a.html">',
            '<a href="http://[bad/">',
            '<a href="http://">',
            '<img src="data:image/png;base64,AAAA">',
            '<img src="">',
            '<img src="#x">',
            '<iframe src="">',
            '<iframe src="about:blank">',
            '<link href="">',
            '<form action="">',
            "<form>",
        )
    ],
)
def test_what_leads_nowhere_on_the_web_stays(source: str, expected: str) -> None:
    assert html(source) == expected


@becomes(
    [
        ("<a href=/a.html>", '<a href="../a.html">'),
        ("<a href=/a.html/>", f'<a {LIVE} href="{SITE}/a.html/">'),
        ("<a href='/a.html'>", "<a href='../a.html'>"),
        ('<A HREF = "/a.html" >', '<A HREF = "../a.html" >'),
        ('<a\nhref\n=\n"/a.html"\n>', '<a\nhref\n=\n"../a.html"\n>'),
        ('<a/href="/a.html"/>', '<a/href="../a.html"/>'),
        ('<a class="x"href="/a.html"title="y">', '<a class="x"href="../a.html"title="y">'),
        ('<a href="/a.html" href="no.html">', '<a href="../a.html" href="no.html">'),
        ('<a HREF="b.html" href="/a.html">', '<a HREF="b.html" href="/a.html">'),
        ('<a title="a > b" href="/a.html">', '<a title="a > b" href="../a.html">'),
        ("<a title='<a href=\"/a.html\">' href=/a.html>", '<a title=\'<a href="/a.html">\' href="../a.html">'),
        ('<a =href="/a.html" href="/a.html">', '<a =href="/a.html" href="../a.html">'),
        ('<a href=="/a.html">', f'<a {LIVE} href="{SITE}/dir/=%22/a.html%22">'),
        ('<a href="/a&#46;html">', '<a href="../a.html">'),
        ('<a href="/&#x61;.htm&#108">', '<a href="../a.html">'),
        ('<a href="&sol;a&period;html">', '<a href="../a.html">'),
        ('<a href="/q?x=1&COPY;=2">', f'<a {LIVE} href="{SITE}/q?x=1%C2%A9=2">'),
        ('<a href="/a.html\0">', f'<a {LIVE} href="{SITE}/a.html%EF%BF%BD">'),
        (
            '<a data-href="/a.html" href="b.html" xmlns="/a.html">',
            '<a data-href="/a.html" href="b.html" xmlns="/a.html">',
        ),
        ('<p href="/a.html" src=/a.png>', '<p href="/a.html" src=/a.png>'),
        ('<q cite="/a.html"><div data-src="/a.png">', '<q cite="/a.html"><div data-src="/a.png">'),
        ("<a href=/a.html", "<a href=/a.html"),
        ('<a href="/a.html', '<a href="/a.html'),
        ("x < y <a href=/a.html>", 'x < y <a href="../a.html">'),
        ("<<a href=/a.html>", '<<a href="../a.html">'),
        ("<b><i><a href=/a.html></b></i><p></div>", '<b><i><a href="../a.html"></b></i><p></div>'),
        ("</a href=/a.html>", "</a href=/a.html>"),
        ("<lin\u212a href=/a.html>", "<lin\u212a href=/a.html>"),
        ("<a hre\u017f=/a.html href=b.html>", "<a hre\u017f=/a.html href=b.html>"),
    ],
)
def test_tags_are_read_as_browsers_read_them(source: str, expected: str) -> None:
    assert html(source) == expected


@becomes(
    [
        (source, source)
        for source in (
            "<!-- <a href=/a.html> -->",
            "<!--><!-- <a href=/a.html> -->",
            "<!--x--!><!-- > <a href=/a.html>-->",
            "<!--[if IE]><link href=/a.css rel=stylesheet><![endif]-->",
            "<! <a href=/a.html>",
            "<?php <a href='/a.html'?>",
            "</ <a href=/a.html>",
            "<![CDATA[<a href=/a.html>",
            "<textarea><a href=/a.html></textarea>",
            "<title><a href=/a.html></title>",
            "<xmp><a href=/a.html></xmp>",
            "<noembed><a href=/a.html></noembed>",
            "<iframe><a href=/a.html></iframe>",
            "<plaintext><a href=/a.html></plaintext><a href=/a.html>",
            "<style>/* <a href=/a.html> */</style>",
            "<script>x = '<a href=/a.html>'; y = '../a.png'</script>",
            "<script><!-- <script></script><a href=/a.html> --></script>",
            "<script><!-- <script> </script ><a href=/a.html>",
            "<script type=text/template><a href=/a.html></script>",
            '<script type="application/ld+json">{"url": "/a.html"}</script>',
            "<title><a href=/a.html>",
            "<base target=_blank>",
        )
    ],
)
def test_what_is_no_markup_stays(source: str, expected: str) -> None:
    assert html(source) == expected


@becomes(
    [
        ("<!--><a href=/a.html>", '<!--><a href="../a.html">'),
        ("<!---><a href=/a.html>", '<!---><a href="../a.html">'),
        ("<!--x--!><a href=/a.html>", '<!--x--!><a href="../a.html">'),
        ("<!x><a href=/a.html>", '<!x><a href="../a.html">'),
        ("<![if !IE]><a href=/a.html><![endif]>", '<![if !IE]><a href="../a.html"><![endif]>'),
        ("<![CDATA[x]]><a href=/a.html>", '<![CDATA[x]]><a href="../a.html">'),
        ("<textarea></TEXTAREA ><a href=/a.html>", '<textarea></TEXTAREA ><a href="../a.html">'),
        ("<title></titlex></title><a href=/a.html>", '<title></titlex></title><a href="../a.html">'),
        ("<script>/*<!--*/</script><a href=/a.html>", '<script>/*<!--*/</script><a href="../a.html">'),
        ("<script><!--<script>--></script><a href=/a.html>", '<script><!--<script>--></script><a href="../a.html">'),
        ("<script><!--></script><a href=/a.html>", '<script><!--></script><a href="../a.html">'),
        ("<noscript><img src=/a.png></noscript>", '<noscript><img src="../a.png"></noscript>'),
        ("<noscript><!-- </noscript><a href=/a.html> -->", '<noscript><!-- </noscript><a href="../a.html"> -->'),
        ("<noframes><a href=/a.html></noframes>", '<noframes><a href="../a.html"></noframes>'),
        ("<template><img src=/a.png></template>", '<template><img src="../a.png"></template>'),
        ("<select><option><a href=/a.html></select>", '<select><option><a href="../a.html"></select>'),
        ("<table><a href=/a.html><tr>", '<table><a href="../a.html"><tr>'),
        ("<svg><title><a href=/a.html></a></title></svg>", '<svg><title><a href="../a.html"></a></title></svg>'),
        ("<svg><g/><title/><style/></svg><a href=/a.html>", '<svg><g/><title/><style/></svg><a href="../a.html">'),
        ("<svg><p><style></style><a href=/a.html>", '<svg><p><style></style><a href="../a.html">'),
        ("<svg><![CDATA[<a href=/a.html>]]></svg>", "<svg><![CDATA[<a href=/a.html>]]></svg>"),
        ("<math><mi><a href=/a.html></mi></math>", '<math><mi><a href="../a.html"></mi></math>'),
        (
            "<svg><foreignObject><title><a href=/a.html></title><img src=/a.png></foreignObject></svg>",
            '<svg><foreignObject><title><a href=/a.html></title><img src="../a.png"></foreignObject></svg>',
        ),
    ],
)
def test_what_is_markup_is_found_behind_what_is_none(source: str, expected: str) -> None:
    assert html(source) == expected


@becomes(
    [
        ("<area href=/a.html>", '<area href="../a.html">'),
        ("<img src=/a.png>", '<img src="../a.png">'),
        ("<image src=/a.png>", '<image src="../a.png">'),
        ("<img src=/a.png longdesc=/a.html>", '<img src="../a.png" longdesc="../a.html">'),
        ("<img src=/a.png usemap=#map data-src=/a.png>", '<img src="../a.png" usemap=#map data-src=/a.png>'),
        ("<source src=/v.mp4>", '<source src="../v.mp4">'),
        ("<video src=/v.mp4 poster=/a.png>", '<video src="../v.mp4" poster="../a.png">'),
        ("<audio src=/v.mp4>", '<audio src="../v.mp4">'),
        ("<track src=/v.mp4>", '<track src="../v.mp4">'),
        ("<embed src=/a.svg>", '<embed src="../a.svg">'),
        ("<object data=/a.svg>", '<object data="../a.svg">'),
        ("<iframe src=/a.html#x>", '<iframe src="../a.html#x">'),
        ("<frameset><frame src=/a.html longdesc=b.html>", '<frameset><frame src="../a.html" longdesc=b.html>'),
        ("<input type=image src=/a.png>", '<input type=image src="../a.png">'),
        ("<input type=' IMAGE ' src=/a.png>", "<input type=' IMAGE ' src=\"../a.png\">"),
        ("<input type=text src=/a.png>", "<input type=text src=/a.png>"),
        ("<body background=/a.png>", '<body background="../a.png">'),
        ("<table background=/a.png><tr background=/a.png>", '<table background="../a.png"><tr background="../a.png">'),
        ("<td background=/a.png><th background=/a.png>", '<td background="../a.png"><th background="../a.png">'),
        (
            "<tbody background=/a.png><thead background=/a.png>",
            '<tbody background="../a.png"><thead background="../a.png">',
        ),
        ("<tfoot background=/a.png>", '<tfoot background="../a.png">'),
        ("<div background=/a.png>", "<div background=/a.png>"),
        ("<script src=/a.js></script>", '<script src="../a.js"></script>'),
        ("<script src=/a.js?v=1></script>", '<script src="../a.q-11111111.js?v=1"></script>'),
        ("<script type=module src=/a.js></script>", '<script type=module src="../a.js"></script>'),
        ("<link rel=stylesheet href=/a.css?v=1>", '<link rel=stylesheet href="../a.q-22222222.css">'),
        ("<link rel=icon href=/a.png>", '<link rel=icon href="../a.png">'),
        ("<link rel=modulepreload href=/a.js>", '<link rel=modulepreload href="../a.js">'),
        (
            "<link rel=canonical href=/q?x=1&amp;copy=2>",
            '<link rel=canonical href="../q.q-44444444.html?x=1&amp;copy=2">',
        ),
        ("<link rel=alternate hreflang=de href=/a.html>", '<link rel=alternate hreflang=de href="../a.html">'),
        (
            "<link rel=preload as=image href=/a.png imagesrcset='/a.png 1x, c.png 2x'>",
            "<link rel=preload as=image href=\"../a.png\" imagesrcset='../a.png 1x, c.png 2x'>",
        ),
        ("<svg><image href=/a.png /></svg>", '<svg><image href="../a.png" /></svg>'),
        ("<svg><image xlink:href=/a.png /></svg>", '<svg><image xlink:href="../a.png" /></svg>'),
        ("<svg><use href='/a.svg#x'/><use href='#y'/></svg>", "<svg><use href='../a.svg#x'/><use href='#y'/></svg>"),
        ("<svg><a href=/a.html></a></svg>", '<svg><a href="../a.html"></a></svg>'),
        ("<svg><feImage xlink:href=/a.png /></svg>", '<svg><feImage xlink:href="../a.png" /></svg>'),
        ("<svg><script href=/a.js></script></svg>", '<svg><script href="../a.js"></script></svg>'),
        (
            "<svg><rect fill='url(/a.svg#g) red' stroke=url(#g) />",
            "<svg><rect fill='url(../a.svg#g) red' stroke=url(#g) />",
        ),
    ],
)
def test_the_attributes_that_hold_one_url(source: str, expected: str) -> None:
    assert html(source) == expected


@becomes(
    [
        ('<img srcset="/a.png 1x, c.png 2x">', '<img srcset="../a.png 1x, c.png 2x">'),
        ('<img srcset="/a.png, c.png 2x">', '<img srcset="../a.png, c.png 2x">'),
        ('<img srcset="/a.png,/a.png 2x">', f'<img {LIVE} data-gossamer-srcset="{SITE}/a.png,/a.png 2x">'),
        ('<img srcset="/com,ma.png 100w">', '<img srcset="../com%2Cma.png 100w">'),
        ('<img srcset="data:image/png,%00 1x,/a.png 2x">', '<img srcset="data:image/png,%00 1x,../a.png 2x">'),
        ("<img srcset=/a.png>", '<img srcset="../a.png">'),
        (
            '<img srcset="\n  /a.png  640w,\n  no.png 1x">',
            f'<img {LIVE} srcset="\n  ../a.png  640w,\n  ">',
        ),
        ('<img srcset="&#47;a.png 1x, b.png 2x">', '<img srcset="../a.png 1x, b.png 2x">'),
        ('<img srcset="/a.png 1w 1x">', '<img srcset="/a.png 1w 1x">'),
        ('<source srcset="/a.png" media=print>', '<source srcset="../a.png" media=print>'),
    ],
)
def test_srcset(source: str, expected: str) -> None:
    assert html(source) == expected


@becomes(
    [
        ('<p style="a:url(/a.png)">', '<p style="a:url(../a.png)">'),
        ('<p style="a:url(&quot;/a.png&quot;)">', '<p style="a:url(&quot;../a.png&quot;)">'),
        ("<p style='a:url(\"/a.png\")'>", "<p style='a:url(\"../a.png\")'>"),
        ("<p style=a:url(/a.png)>", '<p style="a:url(../a.png)">'),
        ('<p style="a&#58;url&lpar;/a.png)">', '<p style="a&#58;url&lpar;../a.png)">'),
        ('<p style="a:url(/q?x=1&copy=2)">', '<p style="a:url(../q.q-44444444.html)">'),
        ('<p style="a:url(no?x=1&copy=2)">', f'<p style="a:url({NOTHING}/dir/no?x=1&amp;copy=2)">'),
        ('<p style="color:red">', '<p style="color:red">'),
        ("<style>p{a:url(/a.png)}</style>", "<style>p{a:url(../a.png)}</style>"),
        ("<style>p{a:url(&quot;/a.png&quot;)}</style>", f"<style>p{{a:url({NOTHING}/dir/&quot;/a.png&quot;)}}</style>"),
        ("<style>@import '/a.css'</style>", "<style>@import '../a.css'</style>"),
        ("<style type=text/less>p{a:url(/a.png)}</style>", "<style type=text/less>p{a:url(/a.png)}</style>"),
        ("<style><!--\np{a:url(/a.png)}\n--></style>", "<style><!--\np{a:url(../a.png)}\n--></style>"),
        ("<svg><style>p{a:url(&quot;/a.png&quot;)}</style>", "<svg><style>p{a:url(&quot;../a.png&quot;)}</style>"),
        ("<svg><style><![CDATA[p{a:url(/a.png)}]]></style>", "<svg><style><![CDATA[p{a:url(../a.png)}]]></style>"),
    ],
)
def test_styles(source: str, expected: str) -> None:
    assert html(source) == expected


@becomes(
    [
        (
            '<iframe srcdoc="&lt;a href=&quot;/q?x=1&amp;amp;copy=2&quot;&gt;x&lt;/a&gt;">',
            '<iframe srcdoc="&lt;a href=&quot;../q.q-44444444.html?x=1&amp;amp;copy=2&quot;&gt;x&lt;/a&gt;">',
        ),
        ("<iframe srcdoc='<img src=\"/a.png\">'>", "<iframe srcdoc='<img src=\"../a.png\">'>"),
        ("<iframe srcdoc=<img&#32;src=/a.png&gt;>", '<iframe srcdoc="&lt;img src=&quot;../a.png&quot;&gt;">'),
        ("<iframe srcdoc=<img&#32;src=/a.png>", "<iframe srcdoc=<img&#32;src=/a.png>"),
        ("<iframe srcdoc='<base href=/><a href=a.html>'>", "<iframe srcdoc='<base><a href=&quot;../a.html&quot;>'>"),
        (
            "<iframe srcdoc=\"<iframe srcdoc='<img src=&amp;quot;/a.png&amp;quot;>'>\">",
            "<iframe srcdoc=\"<iframe srcdoc='<img src=&amp;quot;../a.png&amp;quot;>'>\">",
        ),
        ('<iframe srcdoc="<a href=page.html#x><a href=#y>">', '<iframe srcdoc="<a href=page.html#x><a href=#y>">'),
    ],
)
def test_documents_in_attributes(source: str, expected: str) -> None:
    assert html(source) == expected


def test_a_document_in_an_attribute_shows_its_own_links_to_the_live_web() -> None:
    inner = html('<iframe srcdoc="<a href=no.html>">')
    assert inner.count("dotted") == 2
    assert f"href=&quot;{SITE}/dir/no.html&quot;" in inner


def test_documents_in_attributes_of_documents_end() -> None:
    source = "<a href=/a.html>"
    for _ in range(20):
        source = '<iframe srcdoc="' + source.replace("&", "&amp;").replace('"', "&quot;") + '">'
        if len(source) > 1_000_000:
            break
    assert "a.html" in html(source)


@becomes(
    [
        ('<meta http-equiv=refresh content="5; url=/a.html">', '<meta http-equiv=refresh content="5; url=../a.html">'),
        (
            "<meta http-equiv=Refresh content='0;URL=\"/a.html\"'>",
            "<meta http-equiv=Refresh content='0;URL=\"../a.html\"'>",
        ),
        ('<meta http-equiv=refresh content="1, /a.html">', '<meta http-equiv=refresh content="1, ../a.html">'),
        (
            '<meta http-equiv=refresh content="1;url=no?a&b">',
            f'<meta {LIVE} data-gossamer-http-equiv=refresh content="1;url={SITE}/dir/no?a&amp;b">',
        ),
        ("<meta http-equiv=refresh content=5>", "<meta http-equiv=refresh content=5>"),
        ('<meta http-equiv=refresh content="x;url=/a.html">', '<meta http-equiv=refresh content="x;url=/a.html">'),
        ('<meta name=refresh content="5;url=/a.html">', '<meta name=refresh content="5;url=/a.html">'),
        ('<meta property=og:image content="/a.png">', '<meta property=og:image content="/a.png">'),
        (
            "<meta http-equiv=Content-Security-Policy content=\"default-src 'self'\">",
            "<meta data-gossamer-http-equiv=Content-Security-Policy content=\"default-src 'self'\">",
        ),
        (
            '<meta content="upgrade-insecure-requests" http-equiv=" content-security-policy">',
            '<meta content="upgrade-insecure-requests" data-gossamer-http-equiv=" content-security-policy">',
        ),
    ],
)
def test_metas(source: str, expected: str) -> None:
    assert html(source) == expected


@becomes(
    [
        ("<script src=/a.js integrity=x crossorigin nonce=y></script>", '<script src="../a.js" ></script>'),
        ("<script integrity=x src=/a.js></script>", '<script src="../a.js"></script>'),
        ('<script integrity="x"src=/a.js></script>', '<script src="../a.js"></script>'),
        ("<script src=/a.js crossorigin/></script>", '<script src="../a.js" /></script>'),
        ("<script src=no.js integrity=x></script>", f'<script {LIVE} src="{NOTHING}/dir/no.js" integrity=x></script>'),
        ("<script integrity=x nonce=y>1</script>", "<script integrity=x nonce=y>1</script>"),
        ("<link rel=stylesheet href=/a.css integrity=x>", '<link rel=stylesheet href="../a.css">'),
        ("<link rel=stylesheet integrity=x\n href=/a.css>", '<link rel=stylesheet href="../a.css">'),
        ("<img crossorigin=anonymous src=/a.png>", '<img src="../a.png">'),
        ("<img crossorigin src=no.png>", f'<img {LIVE} crossorigin src="{NOTHING}/dir/no.png">'),
        ("<iframe csp=x src=/a.html>", '<iframe src="../a.html">'),
        ("<video crossorigin src=/v.mp4>", '<video src="../v.mp4">'),
        ("<video crossorigin><source src=/v.mp4></video>", '<video><source src="../v.mp4"></video>'),
        (
            "<video crossorigin poster=/a.png src=no.mp4>",
            f'<video {LIVE} crossorigin poster="../a.png" src="{NOTHING}/dir/no.mp4">',
        ),
        (
            "<video crossorigin></video><source src=/v.mp4>",
            '<video crossorigin></video><source src="../v.mp4">',
        ),
        (
            "<picture><source srcset=/a.png><img src=data:, crossorigin></picture>",
            '<picture><source srcset="../a.png"><img src=data:,></picture>',
        ),
        ("<script charset=koi8-r src=/a.js></script>", '<script charset="utf-8" src="../a.js"></script>'),
    ],
)
def test_what_a_browser_would_hold_against_a_file_goes(source: str, expected: str) -> None:
    assert html(source) == expected


@becomes(
    [
        ("<a href=/a.html ping=/p>", '<a href="../a.html">'),
        (
            '<a ping=" /p  http://other.example/q" href=no.html>',
            f'<a {LIVE} ping=" {SITE}/p  http://other.example/q" href="{SITE}/dir/no.html">',
        ),
        ("<form action=search>", f'<form {LIVE} action="{SITE}/dir/search">'),
        ("<form action=/a.html>", '<form action="../a.html">'),
        ("<form method=POST action=/a.html>", f'<form {LIVE} method=POST action="{SITE}/a.html">'),
        ("<form method=dialog action=/a.html>", "<form method=dialog action=/a.html>"),
        ("<button formaction=/a.html>", '<button formaction="../a.html">'),
        (
            "<form method=post><button formaction=/a.html></form>",
            f'<form method=post><button {LIVE} formaction="{SITE}/a.html"></form>',
        ),
        (
            "<form method=post></form><input type=submit formaction=/a.html>",
            '<form method=post></form><input type=submit formaction="../a.html">',
        ),
        (
            "<input type=image formmethod=post formaction=/a.html>",
            f'<input {LIVE} type=image formmethod=post formaction="{SITE}/a.html">',
        ),
        ("<input type=text formaction=/a.html>", "<input type=text formaction=/a.html>"),
    ],
)
def test_what_is_sent(source: str, expected: str) -> None:
    assert html(source) == expected


@becomes(
    [
        ("<base href=/><a href=a.html>", '<base><a href="../a.html">'),
        ("<a href=a.html><base href=/>", '<a href="../a.html"><base>'),
        ("<base href=/ ><base href=/x/><a href=a.html>", '<base ><base><a href="../a.html">'),
        ("<base target=_top><base href=/><a href=a.html>", '<base target=_top><base><a href="../a.html">'),
        ("<base href=''><base href=/x/><a href=b.html>", "<base><base><a href=b.html>"),
        ("<base href=http://h.example/ target=x><a href=a.html>", '<base target=x><a href="../a.html">'),
        ("<base href=/><a href=#x><a href=''>", "<base><a href=\"../index.html#x\"><a href='../index.html'>"),
        ("<base href=/dir/page.html><a href=#x><a href=''>", "<base><a href=#x><a href=''>"),
        ("<base href=/><p style='a:url(#x)'><img src=''>", "<base><p style='a:url(#x)'><img src=''>"),
        ("<base href=/><svg><use href='#x'/></svg>", "<base><svg><use href='#x'/></svg>"),
        ("<base href='data:,'><a href=b.html>", "<base><a href=b.html>"),
        ("<base href='javascript:1'><a href=b.html>", "<base><a href=b.html>"),
        ("<base href='http://['><a href=b.html>", "<base><a href=b.html>"),
        ("<base href=ftp://f.example/x/><a href=b.html#y>", f'<base><a {LIVE} href="ftp://f.example/x/b.html#y">'),
        ("<!--<base href=/>--><a href=b.html>", "<!--<base href=/>--><a href=b.html>"),
        ("<script>'<base href=/>'</script><a href=b.html>", "<script>'<base href=/>'</script><a href=b.html>"),
        ("<template><base href=/></template><a href=b.html>", "<template><base></template><a href=b.html>"),
        ("<svg><base href=/></svg><a href=b.html>", '<svg><base href="../index.html"></svg><a href=b.html>'),
        ("<BASE HREF='/'><style>p{a:url(a.png)}</style>", "<BASE><style>p{a:url(../a.png)}</style>"),
        ("<base href=/><iframe srcdoc='<img src=a.png>'>", "<base><iframe srcdoc='<img src=&quot;../a.png&quot;>'>"),
    ],
)
def test_the_first_base_counts_wherever_it_stands_and_goes(source: str, expected: str) -> None:
    assert html(source) == expected


@becomes(
    [
        ('<img src="/odd name%23%3F%25.png">', '<img src="../odd%20name%23%3F%25.png">'),
        ('<img src="/par(en).png">', '<img src="../par%28en%29.png">'),
        ('<img src="/quo\'te.png">', '<img src="../quo%27te.png">'),
        ('<img src="/com,ma.png">', '<img src="../com%2Cma.png">'),
        ('<img src="/图.png">', '<img src="../%E5%9B%BE.png">'),
        ('<img src="/%E5%9B%BE.png">', '<img src="../%E5%9B%BE.png">'),
    ],
)
def test_relative_links_are_escaped_as_they_must_be(source: str, expected: str) -> None:
    assert html(source) == expected


def test_the_references_are_counted_each_time_they_are_met() -> None:
    source = (
        '<a href="b.html"><a href="b.html"><img src="no.png"><form action="/s"><p style="a:url(c.png)"><a href="#x">'
    )
    assert [(each.url, each.kind, each.saved) for each in rewritten(source).references] == [
        (f"{SITE}/dir/b.html", "page", True),
        (f"{SITE}/dir/b.html", "page", True),
        (f"{SITE}/dir/no.png", "requisite", False),
        (f"{SITE}/s", "other", False),
        (f"{SITE}/dir/c.png", "requisite", True),
    ]


def test_links_to_the_live_web_are_shown_where_there_are_any() -> None:
    page = "<!doctype html><html><head><title>x</title></head><body>{}</body></html>"
    assert STYLE in rewritten(page.format("<a href=no.html>")).body.decode()
    assert STYLE not in rewritten(page.format("<a href=b.html>")).body.decode()
    assert (
        rewritten(page.format("<a href=no.html>"))
        .body.decode()
        .startswith("<!doctype html><html><head>" + META + STYLE)
    )


def test_a_page_that_has_been_rewritten_stays_as_it_is() -> None:
    once = rewritten("<!doctype html><html><head></head><a href=http://other.example/><a href=/a.html><base target=x>")
    assert rewritten(once.body, url=URL).body.count(b"dotted") == 2
    stable = rewritten("<!doctype html><a href=http://other.example/><a href=b.html>")
    assert rewritten(stable.body).body == stable.body
