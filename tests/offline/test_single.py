"""One page as one file: all that it needs stands in it, and a browser that has nothing else shows it as it is online."""

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import PROGRAM, Browser, browser
from gossamer.errors import ArchiveError, UsageError
from gossamer.offline import single
from gossamer.offline.choice import Choice
from gossamer.offline.forms import Form
from gossamer.offline.save import Saved
from offline.making import A, Web, check, reasons

GREEN, RED = "#008000", "#ff0000"
JAVASCRIPT = "text/javascript"


def png(size: int) -> bytes:
    """A picture that is so many pixels wide and one high."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4) + kind + data + zlib.crc32(kind + data).to_bytes(4)

    head = size.to_bytes(4) + (1).to_bytes(4) + b"\x08\x00\x00\x00\x00"
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(bytes(size + 1))), chunk(b"IEND", b""))
    )


@pytest.fixture
def web(tmp_path: Path) -> Web:
    web = Web.create(tmp_path)
    web.out = tmp_path / "page.html"
    return web


def save(web: Web, path: str = "", **options: Any) -> Saved:
    saved = web.save(Choice(listed=(A + path,)), form=Form.SINGLE, **options)
    assert not saved.unresolved
    assert not check(web.out).unresolved
    return saved


def text(web: Web) -> str:
    return web.out.read_text(encoding="utf-8")


def test_what_a_page_needs_is_in_it_and_its_links_are_live(web: Web) -> None:
    web.put(
        "/",
        '<title>Start</title><link rel=stylesheet href="s.css"><img src="/i.png" srcset="i.png 1x, /j.png 2x">'
        '<a href="/a?x=1#y">a</a><a href="#here">h</a><a href="/#here" id=here>h</a><a href="/i.png">i</a>',
    )
    web.put("/s.css", '@import "t.css"; @font-face{font-family:F;src:url("f.woff2")}', "text/css")
    web.put("/t.css", "body{background:url(i.png)}", "text/css")
    web.put("/f.woff2", b"wOF2", "font/woff2")
    web.put("/i.png", png(1), "image/png")
    web.put("/j.png", png(2), "image/png")
    web.page("/a")
    saved = save(web)
    page = text(web)
    assert (saved.pages, saved.files, saved.title, saved.lacking) == (1, 6, "Start", {})
    assert re.findall(r'<a [^>]*href="([^"]*)"', page) == [f"{A}a?x=1#y", "#here", "#here", f"{A}i.png"]
    assert not re.findall(r'(?:src|srcset)="(?!data:)', page)
    assert 'href="s.css"' not in page
    assert "dotted" not in page


def test_the_same_archive_and_choice_give_the_same_bytes(web: Web, tmp_path: Path) -> None:
    web.put("/", "<img src=i.png>")
    web.put("/i.png", png(3), "image/png")
    save(web)
    first, web.out = web.out.read_bytes(), tmp_path / "other.html"
    save(web)
    assert web.out.read_bytes() == first


def test_saving_again_tells_what_is_other(web: Web) -> None:
    web.put("/", "<title>-->One<--</title><img src=i.png>")
    web.put("/i.png", png(3), "image/png")
    assert save(web).written == 1
    assert save(web).written == 0
    web.put("/i.png", png(4), "image/png")
    saved = save(web)
    assert (saved.changed, saved.written) == ((f"{A}i.png",), 1)
    web.error("/i.png", 500)
    assert list(save(web).kept) == [f"{A}i.png"]


@pytest.mark.parametrize("mine", ["<p>mine", "<!-- gossamer copy: {} -->", "<!-- gossamer copy: "])
def test_a_page_of_somebody_else_is_refused(web: Web, mine: str) -> None:
    web.page("/")
    web.out.write_text(mine)
    with pytest.raises(UsageError, match="something else"):
        save(web)
    assert web.out.read_text() == mine
    save(web, force=True)


def test_only_one_page_can_be_one_file(web: Web) -> None:
    web.page("/", "/a")
    web.page("/a")
    web.put("/i.png", png(1), "image/png")
    for choice, says in ((Choice(), "2 pages are chosen"), (Choice(listed=(f"{A}i.png",)), "no page but image/png")):
        with pytest.raises(UsageError, match=says) as raised:
            web.save(choice, form=Form.SINGLE)
        assert "--format zip" in raised.value.hint
    assert not web.out.exists()


def test_a_page_that_is_too_large_is_refused(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(single, "MOST", 2 * 1024 * 1024)
    web.put("/", "<link rel=stylesheet href=0.css>")
    for number in range(40):  # each twice in the one before it
        web.put(f"/{number}.css", f"@import '{number + 1}.css' print; @import '{number + 1}.css' screen;", "text/css")
    web.put("/40.css", "p{}" * 100, "text/css")
    with pytest.raises(ArchiveError, match="larger than 2 MB"):
        save(web)
    assert [path.name for path in web.out.parent.iterdir()] == ["c"]


def test_what_is_needed_and_not_there_asks_nobody(web: Web) -> None:
    web.put("/", "<img src=lost.png><script src=http://b.test/x.js></script><link rel=preload as=image href=p.png>")
    web.put("/p.png", png(1), "image/png")
    saved = save(web)
    assert set(saved.lacking) == {f"{A}lost.png", "http://b.test/x.js"}
    assert saved.files == 1
    assert not re.findall(r'src="?http', text(web))


# --- the check


def test_fragments_that_are_dead_online_are_told_apart(web: Web) -> None:
    web.put("/", "<a href='#none'>1</a><a href='#there'>2</a><p id=there><img src=a.svg>")
    web.put("/a.svg", '<svg xmlns="http://www.w3.org/2000/svg"><rect fill="url(#no)"/></svg>', "image/svg+xml")
    saved = save(web)
    assert {each.reference for each in saved.dead} == {"#none", "#no"}
    assert {each.reference for each in check(web.out).dead} == {"#none", "#no"}
    web.out.write_text(web.out.read_text().replace("id=there", ""))
    assert {each.reference for each in check(web.out).unresolved} == {"#there"}


def test_what_names_no_host_leads_nowhere(web: Web) -> None:
    web.put("/", "<a href='//'>1</a><img src='///'><iframe src='\\\\'></iframe>")
    save(web)
    text = web.out.read_text()
    assert text.count("='about:invalid#'") == 2
    assert "about%3Ainvalid%23" in text, "the page in place of a frame"


def test_what_would_be_asked_for_is_found_in_every_layer(tmp_path: Path) -> None:
    path = tmp_path / "x.html"
    style = "data:text/css,p%7Bbackground:url(http://a.test/b.png)%7D"
    inner = f"<link rel=stylesheet href='{style}'><img src=rel.png>".replace("'", "&quot;")
    path.write_text(
        f"<meta charset=utf-8><img src=http://a.test/i.png><a href=#no>n</a><a href=a.html>a</a><iframe srcdoc='{inner}'></iframe>"
        "<img src='data:image/png;base64,!!'><a href=http://a.test/>live</a>"
    )
    assert reasons(check(path).unresolved) == {
        "http://a.test/i.png": "it would be loaded from the web",
        "#no": "nothing in the page has this name",
        "a.html": "it leads out of the file",
        "rel.png": "it leads out of the file",
        "http://a.test/b.png": "it would be loaded from the web",
        "data:image/png;base64,!!": "what it holds can't be read",
    }


# --- in a browser

needs_browser = pytest.mark.skipif(PROGRAM is None, reason="chromium is not here")


@pytest.fixture
def opened(web: Web, tmp_path: Path) -> Iterator[Browser]:
    assert web.out.parent == tmp_path
    with browser(tmp_path / "profile") as found:
        yield found


def show(web: Web, opened: Browser, path: str = "") -> Saved:
    saved = save(web, path)
    opened.open(web.out.as_uri())
    return saved


def asked(opened: Browser) -> set[str]:
    """What was asked for, but for what is in the page."""
    return {url for url in opened.requests if not url.startswith(("data:", "about:"))}


@needs_browser
def test_pictures_styles_and_fonts_are_shown(web: Web, opened: Browser) -> None:
    web.put(
        "/d/",
        "<base href=\"/b/\"><meta http-equiv=Content-Security-Policy content=\"default-src 'self'; img-src 'self'\">"
        '<link rel=stylesheet href=s.css integrity=sha256-x crossorigin><img id=i src="i.png?&copy=1">'
        '<img id=set srcset="i.png?&copy=1 1x"><p id=p>t</p><object id=o data=o.svg></object>'
        '<p id=q style="background:url(&quot;i.png?&amp;copy=1&quot;)">q</p>',
    )
    web.put("/b/s.css", '@import url("t.css");p{color:green}', "text/css; charset=latin-1")
    web.put("/b/t.css", "p{width:123px}p::after{content:'\xe9'}".encode("latin-1"), "text/css; charset=latin-1")
    web.put("/b/i.png?&copy=1", png(7), "image/png")
    web.put(
        "/b/o.svg", '<svg xmlns="http://www.w3.org/2000/svg"><image href="i.png?&amp;copy=1"/></svg>', "image/svg+xml"
    )
    show(web, opened, "d/")
    assert opened.value("document.getElementById('i').naturalWidth") == 7
    assert opened.value("document.getElementById('set').naturalWidth") == 7
    style = "getComputedStyle(document.getElementById('p')"
    assert opened.value(f"{style}).width + {style}).color") == "123pxrgb(0, 128, 0)"
    assert opened.value(f"{style}, '::after').content") == '"é"'
    assert asked(opened) == {web.out.as_uri()}
    assert not opened.errors


@needs_browser
def test_scripts_run_in_their_order(web: Web, opened: Browser) -> None:
    web.put(
        "/",
        "<script>var seen = []</script><script defer src=defer.js></script><script src=a.js></script>"
        "<script>seen.push('inline')</script><p>text",
    )
    web.put("/a.js", "seen.push('a</script><!--<script>'.length)", JAVASCRIPT)
    web.put("/defer.js", "seen.push(document.querySelector('p').textContent)", JAVASCRIPT)
    show(web, opened)
    assert opened.value("seen.join()") == "22,inline,text"


MODULES = {
    "/main.js": "import {a} from './a.js'; import {b} from '../b.js'; window.result = [a(), b()];",
    "/a.js": "import {count} from './count.js'; import {b} from './b.js'; count(); export function a() { return 'a' + typeof b }",
    "/b.js": "import {count, total} from './count.js'; import {a} from './a.js'; count();"
    " export function b() { return 'b' + typeof a + total() }",
    "/count.js": "let n = 0; export const count = () => ++n; export const total = () => n;",
}


@needs_browser
@pytest.mark.parametrize("own", ["", '<script type=importmap>{"imports": {"bare": "/bare.js"}}</script>'])
def test_modules_import_each_other_in_circles_and_each_is_there_once(web: Web, opened: Browser, own: str) -> None:
    bare = "import bare from 'bare';" if own else "const bare = 1;"
    web.put(
        "/",
        f"{own}<script type=module src=main.js></script><script type=module>{bare}"
        " import {total} from './count.js'; window.total = total() + bare; window.late = import('./late.js')</script>",
    )
    for path, source in MODULES.items():
        web.put(path, source, JAVASCRIPT)
    web.put("/bare.js", "export default 1", JAVASCRIPT)
    web.put("/late.js", "import {total} from './count.js'; export default total()", JAVASCRIPT)
    saved = show(web, opened)
    assert opened.until("window.result && window.result.join()") == "afunction,bfunction2"
    assert opened.until("window.total") == 3
    if "late.js" not in str(saved.lacking):
        assert opened.value("window.late.then(each => each.default)") == 2
    assert asked(opened) == {web.out.as_uri()}
    assert not opened.errors


@needs_browser
def test_frames_stand_in_the_page_and_their_own_links_stay_in_them(web: Web, opened: Browser) -> None:
    web.put("/", '<title>Out</title><iframe src="/f/in.html" width=300 height=100></iframe><p id=top>')
    web.put(
        "/f/in.html",
        '<title>In</title><a href="#down">d</a><a href="in.html#down">d</a><a href="/x">x</a>'
        '<div style="height:2000px"></div><p id=down><img src=i.png><iframe src=deep.html></iframe>',
    )
    web.put("/f/deep.html", "<script>window.deep = '\"&quot;'</script><iframe src=in.html></iframe>")
    web.put("/f/i.png", png(5), "image/png")
    show(web, opened)
    frame = "document.querySelector('iframe')"
    inside = f"{frame}.contentDocument"
    opened.until(f"{inside}.title === 'In' && {inside}.readyState === 'complete'")
    assert opened.value(f"{inside}.querySelector('img').naturalWidth") == 5
    assert opened.value(f"{inside}.querySelector('iframe').contentWindow.deep") == '"&quot;'
    assert opened.value(f"{inside}.querySelectorAll('a')[2].href") == f"{A}x"
    for number in (0, 1):
        opened.value(f"{frame}.contentWindow.scrollTo(0, 0)")
        opened.value(f"{inside}.querySelectorAll('a')[{number}].click()")
        opened.until(f"{frame}.contentWindow.scrollY > 1000")
        assert opened.value(f"{inside}.title") == "In"
    assert asked(opened) == {web.out.as_uri()}


@needs_browser
def test_pieces_of_svg_are_shown(web: Web, opened: Browser) -> None:
    use = '<svg width=50 height=50><use href="s.svg#{0}" id=u{0}></use></svg>'
    web.put("/", use.format("a") + use.format("b"))
    web.put(
        "/s.svg",
        '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><symbol id="a"><rect width="30" height="20"/></symbol>'
        '<g id="b"><rect width="40" height="10"/></g></svg>',
        "image/svg+xml",
    )
    show(web, opened)
    assert [opened.value(f"document.getElementById('u{name}').getBBox().width") for name in "ab"] == [30, 40]
    assert opened.value("document.documentElement.scrollHeight <= innerHeight")


@needs_browser
def test_large_files_are_shown(web: Web, opened: Browser) -> None:
    """Chromium opens no address of more than 2 MB, and yet loads from it."""
    filler = "/*" + "x" * 3_000_000 + "*/"
    web.put(
        "/",
        "<link rel=stylesheet href=s.css><img src=i.png><script src=a.js></script><p>t</p><iframe src=f.html></iframe>"
        "<script type=module src=m.js></script>",
    )
    web.put("/s.css", filler + "p{color:green}", "text/css")
    web.put("/i.png", png(9) + bytes(3_000_000), "image/png")
    web.put("/a.js", filler + "window.ran = 1", JAVASCRIPT)
    web.put("/m.js", filler + "import './n.js'; window.module = 1", JAVASCRIPT)
    web.put("/n.js", filler, JAVASCRIPT)
    web.put("/f.html", f"<title>Frame</title><!--{filler}-->")
    show(web, opened)
    assert opened.value("getComputedStyle(document.querySelector('p')).color") == "rgb(0, 128, 0)"
    assert opened.value("document.querySelector('img').naturalWidth") == 9
    assert opened.value("window.ran") == 1
    assert opened.until("window.module") == 1
    assert opened.until("document.querySelector('iframe').contentDocument.title") == "Frame"


@needs_browser
def test_a_page_in_xml_is_one(web: Web, opened: Browser) -> None:
    web.put(
        "/",
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title></head>'
        '<body><img src="i.png"/><script src="m.js"></script></body></html>',
        "application/xhtml+xml",
    )
    web.put("/i.png", png(6), "image/png")
    web.put("/m.js", "window.n = 1 < 2 && 4", JAVASCRIPT)
    web.out = web.out.with_suffix(".xhtml")
    show(web, opened)
    assert opened.value("document.querySelector('img').naturalWidth") == 6
    assert opened.until("window.n") == 4
    assert single.noted(web.out) is not None
