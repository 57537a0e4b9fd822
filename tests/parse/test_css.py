"""Style sheets: what they refer to, whatever they look like."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse import css
from gossamer.parse.html import read
from gossamer.parse.links import unpack
from gossamer.records import Via

from .pages import SECRET, facts, job, links

CSS = ("content-type", "text/css")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('@import "a.css";', ["a.css"]),
        ("@IMPORT 'a.css' screen;", ["a.css"]),
        ("@import url(a.css) layer(x) supports(display: grid);", ["a.css"]),
        ('@import url("a.css"); @import url( b.css ); @import url("c.css" x);', ["a.css", "b.css", "c.css"]),
        ('@charset "utf-8"; @font-face{src:local("x"),url(f.woff2)format("woff2")}', ["f.woff2"]),
        ("@font-face{src:url('//h.example/f.eot?#iefix')}", ["//h.example/f.eot?#iefix"]),
        ('a{background:URL( "x y.png" )}', ["x y.png"]),
        ('a{background:image-set("1.png" type("image/png") 1x, url(2.png) 2x)}', ["1.png", "2.png"]),
        ("a{background:-webkit-image-set('1.png' 1x)}", ["1.png"]),
        ("a{background:url(a\\(1\\).png)}", ["a(1).png"]),
        ("a{background:url('a\\29 b\\'.png')}", ["a)b'.png"]),
        ("a{background:url(\\0\\110000 \\d800 x)}", ["\ufffd\ufffd\ufffdx"]),
        ("@import 'a\\\nb.css';", ["ab.css"]),
        ("a{background:url(x.png", ["x.png"]),
        ('a{background:url("x.png', ["x.png"]),
        ("a{background:url(bad'x)} b{background:url(good.png)}", ["good.png"]),
        ("a{background:url(bad x)} b{background:url(good.png)}", ["good.png"]),
        ("a{background:url('bad\n)} b{background:url(good.png)}", ["good.png"]),
        ("a{background:image-set('1.png'} b{content:'2.png'}", ["1.png"]),
        ("a{content:'url(no.png)'} /* url(no.png) */ b{x:curl(no.png)} #url(no) c{d:1url(no)}", []),
        ("@namespace svg url(http://www.w3.org/2000/svg); @namespace 'no'; @import 'a.css';", ["a.css"]),
        ("@media screen { a { background: url(x.png) } } 'no'", ["x.png"]),
        (".sm\\:flex{background:url(x.png)} .a\\,b{}", ["x.png"]),
        ("a{background:url()} b{background:url('')} /* open", []),
        ("a{background:url(x.png)}\r\n@import 'b.css'\r\n", ["x.png", "b.css"]),
        ("", []),
    ],
)
def test_references(source: str, expected: list[str]) -> None:
    assert list(css.references(source)) == expected


@pytest.mark.parametrize(
    ("body", "content_type", "charset", "url"),
    [
        ("@import 'ü.css';".encode(), "text/css", "utf-8", "%C3%BC.css"),
        ("@import 'ü.css?ü';".encode("latin-1"), "text/css; charset=iso-8859-1", "windows-1252", "%C3%BC.css?%FC"),
        ("@charset \"iso-8859-1\";@import 'ü.css';".encode("latin-1"), "text/css", "windows-1252", "%C3%BC.css"),
        ("@charset \"utf-16le\";@import 'ü.css';".encode(), "text/css", "utf-8", "%C3%BC.css"),
        ("@charset \"nonsense\";@import 'ü.css';".encode(), "text/css", "utf-8", "%C3%BC.css"),
        ("@import 'ü.css';".encode("utf-16"), "text/css", "utf-16le", "%C3%BC.css"),
    ],
)
def test_encodings(body: bytes, content_type: str, charset: str, url: str) -> None:
    found = facts(body, ("content-type", content_type))
    assert found.charset == charset
    assert [link.url for link in links(body, ("content-type", content_type))] == [f"http://site.example/dir/{url}"]


def test_what_a_style_sheet_needs_are_requisites_relative_to_it() -> None:
    found = links("@import 'a.css'; b{background:url(../b.png)} c{background:url(#c)}", CSS)
    assert [(link.via, link.url) for link in found] == [
        (Via.REQUISITE, "http://site.example/dir/a.css"),
        (Via.REQUISITE, "http://site.example/b.png"),
    ]


@pytest.mark.parametrize("fallback", [False, True])
def test_style_in_pages(fallback: bool) -> None:
    html = r"""<style>a{b:url(a\(1.png)} c{d:image-set("s.png" 1x, url(t.png) 2x)}</style>
      <p style="background:image-set('q.png' 1x)"><p style="background:url(z\29.png)">"""
    found = {link.url.rpartition("/")[2] for link in unpack(read(job(html), SECRET, fallback=fallback).links)}
    assert found == {"a(1.png", "s.png", "t.png", "q.png", "z).png"}


@pytest.mark.parametrize(
    "piece",
    ["{", "(", "url(", '"', "/*", "\\", "a(", "url(a ", 'url("', "\n", "\\\n", '"\\', "image-set('a' ", "é", "#"],
)
def test_hostile_ones_take_no_longer_than_their_length(piece: str) -> None:
    source = piece * (200_000 // len(piece))
    began = time.process_time()
    list(css.references(source))
    assert time.process_time() - began < 2


def test_of_very_long_ones_the_beginning_is_read() -> None:
    assert list(css.references("a{b:url(x.png)}" + " " * css.LONGEST + "a{b:url(y.png)}")) == ["x.png"]


@given(st.lists(st.sampled_from([*"(){};'\"\\/*@#-\n\r ", "url", "import", "image-set", "a", "é", "29 "])).map("".join))
def test_nothing_raises(source: str) -> None:
    assert all(css.references(source))
