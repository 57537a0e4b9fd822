"""A page as its structure alone: what is left out, what stays, in both parsers."""

import asyncio
from dataclasses import replace

import pytest

from gossamer.parse.job import Derived, ParseJob
from gossamer.parse.pool import ParserPool
from gossamer.parse.structure import cleaned
from gossamer.records import Facts

from .pages import SECRET, job
from .test_pool import CRASHES

both = pytest.mark.parametrize("fallback", [False, True], ids=["turbohtml", "lexbor"])

PAGE = """<!DOCTYPE html><html lang=de><head><title>T</title><meta name=description content=D><style>p { color: red }</style>
<link rel="StyleSheet" href=a.css><link rel=preload as=font href=f.woff><link rel=canonical href=/c><script>evil()</script>
</head><body bgcolor=red text=blue><!-- secret --><p class=x style="color: red" onclick="f()" data-y=1 id=p>one
<font color=red face=Arial>two</font> <b>three</b></p><template><i>not shown</i></template>
<table border=1 width=100%><tr><td align=right colspan=2>cell</td></tr></table><pre>a
  b</pre><img src="data:image/png;base64,AAAA" alt=dot width=3><img src=real.png alt=real><a href="/l?a=1&amp;b=2" rel=nofollow>link</a>
</body></html>"""


@both
def test_what_is_for_the_eye_or_for_scripts_is_gone(fallback: bool) -> None:
    shown = cleaned(PAGE.encode(), "utf-8", fallback=fallback)
    gone = (
        "evil",
        "color",
        "secret",
        "style",
        "class",
        "onclick",
        "data-",
        "font",
        "Arial",
        "bgcolor",
        "not shown",
        "width",
    )
    assert not [word for word in gone if word in shown]
    assert "data:" not in shown
    assert "<!--" not in shown


@both
def test_what_a_page_says_and_how_it_is_built_stays(fallback: bool) -> None:
    shown = cleaned(PAGE.encode(), "utf-8", fallback=fallback)
    for kept in (
        "<!DOCTYPE html>",
        '<html lang="de">',
        "<title>T</title>",
        '<meta name="description" content="D">',
        '<link rel="canonical" href="/c">',
        '<p id="p">one',
        "two <b>three</b>",
        '<td colspan="2">cell</td>',
        "<pre>a\n  b</pre>",
        '<img alt="dot">',
        '<img src="real.png" alt="real">',
        '<a href="/l?a=1&amp;b=2" rel="nofollow">link</a>',
    ):
        assert kept in shown


@both
def test_cleaning_twice_changes_nothing(fallback: bool) -> None:
    once = cleaned(PAGE.encode(), "utf-8", fallback=fallback)
    assert cleaned(once.encode(), "utf-8", fallback=fallback) == once


def derive(*jobs: ParseJob) -> list[Facts]:
    async def main() -> list[Facts]:
        async with ParserPool(1, SECRET, 20, 1 << 30, 1 << 27) as pool:
            return await asyncio.gather(*(pool.parse(each) for each in jobs))

    return asyncio.run(main())


def test_workers_derive_what_they_are_asked_for() -> None:
    page = job("<p>gr\xfc\xdfe".encode("latin-1"))
    page = replace(page, headers=(("content-type", "text/html; charset=latin1"),))
    crashing = job(b"<p class=a>text" + CRASHES)
    facts = derive(
        replace(page, derive=Derived.CLEANED),
        replace(page, derive=Derived.SOURCE),
        page,
        replace(page, headers=(("content-type", "text/plain"),), derive=Derived.CLEANED),
        replace(crashing, derive=Derived.CLEANED),
    )
    assert facts[0].derived == "<html><head></head><body><p>grüße</p></body></html>"
    assert facts[1].derived == "<p>grüße"
    assert facts[2].derived == facts[3].derived == ""
    assert "<p>text" in facts[4].derived
    assert facts[0].text == facts[2].text == "grüße"
