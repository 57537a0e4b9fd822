"""The page of `gossamer graph`: one file that needs no other, and works as a person would use it."""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

import browser
from browser import Browser
from cli.programs import run
from gossamer.records import Failure, FailureKind, Link, Settlement, State, Via
from small import Small

EVIL = "</script><script>document.title='taken over'</script><img src=x onerror=alert(1)>"
HOME = "http://a.test/"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site with folders, a list of hundreds, what is broken and what is not of the site."""
    small = Small.create(tmp_path_factory.mktemp("page") / "c")
    many = [f"{HOME}list/{number}" for number in range(450)]
    small.seed(HOME)
    small.page(
        HOME, "Home", "welcome", f"{HOME}a", f"{HOME}docs/one.html", f"{HOME}gone", f"{HOME}old", f"{HOME}%E7%88%AC",
        "http://far.test/", "mailto:x@y", f'{HOME}evil?q="><b>', *many,
    )  # fmt: skip
    small.page(f"{HOME}a", "A page", "words", HOME, Link(f"{HOME}docs/two.html", Via.IFRAME))
    small.page(f"{HOME}docs/one.html", "One", "one", f"{HOME}docs/two.html")
    small.page(f"{HOME}docs/two.html", "Two", "two", f"{HOME}gone")
    small.page(f"{HOME}%E7%88%AC", "爬虫", "three")
    small.page(f'{HOME}evil?q="><b>', EVIL, "four")
    failure = Failure(FailureKind.HTTP_CLIENT, "404")
    small.answer(f"{HOME}gone", b"", status=404, settlement=Settlement(State.FAILED, "404", failure=failure))
    small.answer(f"{HOME}old", status=301, redirect=f"{HOME}docs/one.html")
    for number in range(0, 450, 150):
        small.page(many[number], f"Entry {number}", f"entry {number}")
    small.seal()
    return small.folder


@pytest.fixture(scope="module")
def page(folder: Path) -> Path:
    target = folder.parent / "graph.html"
    done = run("gossamer", "graph", str(folder), "-o", str(target))
    assert done.code == 0, done.err
    return target


# --- the file


class Parts(HTMLParser):
    """What a browser would take the file apart into."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._name = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._name = dict(attrs).get("id") or tag

    def handle_endtag(self, tag: str) -> None:
        self._name = ""

    def handle_data(self, data: str) -> None:
        self.texts[self._name] = self.texts.get(self._name, "") + data


def test_it_needs_no_other_file_and_lets_no_other_script_run(page: Path) -> None:
    parts = Parts(page.read_text(encoding="utf-8"))
    references = [value for _, attributes in parts.tags for name in ("src", "href") if (value := attributes.get(name))]
    assert references == ["data:,"]
    assert not [name for _, attributes in parts.tags for name in attributes if name.startswith("on") or name == "style"]
    (policy,) = [
        attributes["content"]
        for _, attributes in parts.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    for kind in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(parts.texts[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in (policy or "")
    assert [tag for tag, _ in parts.tags].count("script") == 6
    assert "default-src 'none'" in (policy or "")


def test_it_holds_the_same_graph(page: Path, folder: Path) -> None:
    data = json.loads(run("gossamer", "graph", str(folder), "--format", "json").out)
    texts = Parts(page.read_text(encoding="utf-8")).texts
    rows = json.loads(zlib.decompress(base64.b64decode(texts["nodes"])))
    assert [row[0] for row in rows] == [node["url"] for node in data["nodes"]]
    assert EVIL in [row[1] for row in rows]
    for name, width, count in (
        ("counts", 4, len(rows)),
        ("targets", 4, len(data["edges"])),
        ("codes", 1, len(data["edges"])),
    ):
        assert len(zlib.decompress(base64.b64decode(texts[name]))) == width * count


def test_a_title_is_text_wherever_it_stands(tmp_path: Path) -> None:
    small = Small.create(tmp_path / "c")
    small.page(HOME, EVIL)
    small.seal()
    text = run("gossamer", "graph", str(small.folder)).out
    assert EVIL not in text
    assert Parts(text).texts["title"] == EVIL


# --- in a browser

needs_browser = pytest.mark.skipif(browser.PROGRAM is None, reason="chromium is not installed")


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser.browser(tmp_path_factory.mktemp("browser")) as started:
        yield started


@pytest.fixture
def opened(window: Browser, page: Path) -> Browser:
    return show(window, page)


def show(window: Browser, page: Path, **state: str) -> Browser:
    window.open("about:blank")
    window.requests.clear()
    window.errors.clear()
    window.open(f"{page.as_uri()}{'#' if state else ''}{urlencode(state)}")
    window.until("document.body && !document.body.classList.contains('loading')")
    return window


def texts(window: Browser, selector: str) -> list[str]:
    found = window.value(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.textContent)")
    assert isinstance(found, list)
    return found


def rows(window: Browser) -> list[str]:
    return texts(window, "#tree .row, #tree .more")


def details(window: Browser) -> dict[str, Any]:
    names = texts(window, "#details dt")
    return dict(zip(names, texts(window, "#details dd"), strict=True)) | {"title": texts(window, "#details h2")[0]}


@needs_browser
def test_nothing_is_asked_of_the_network_and_no_script_of_others_runs(opened: Browser, page: Path) -> None:
    for name in ("graph", "list", "tree"):
        opened.click(f"#tab-{name}")
    assert [each for each in opened.requests if not each.startswith("data:")] == [page.as_uri()]
    assert opened.errors == []
    assert opened.value("document.title") == "Home"


@needs_browser
def test_the_tree_unfolds_and_long_lists_come_in_parts(opened: Browser) -> None:
    assert any(row.startswith(HOME) for row in rows(opened))
    assert any("docs/" in row for row in rows(opened))
    assert not any("far.test" in row for row in rows(opened))
    opened.click("#legend button", len(texts(opened, "#legend button")) - 2)
    assert any("other sites" in row for row in rows(opened))
    opened.click("#unfold")
    assert "200 more of 250" in rows(opened)
    opened.click("#tree .more")
    assert "50 more of 50" in rows(opened)
    opened.click("#fold")
    assert len(rows(opened)) == 2


@needs_browser
def test_filter_details_and_back(opened: Browser) -> None:
    opened.value("document.querySelector('#query').focus()")
    opened.type("爬")
    opened.until("document.querySelector('#said').textContent === '1 URL'")
    assert len(rows(opened)) == 1
    opened.click("#tree .name")
    assert details(opened)["title"] == "爬虫"
    assert (details(opened)["state"].strip(), details(opened)["depth"], details(opened)["links in"]) == (
        "page",
        "1 link",
        "1",
    )
    opened.click("#details .links button")
    assert details(opened)["title"] == "Home"
    opened.value("history.back()")
    opened.until("document.querySelector('#details h2').textContent === '爬虫'")


@needs_browser
def test_a_link_leads_to_a_node_with_all_its_links(window: Browser, page: Path) -> None:
    show(window, page, view="tree", at=f"{HOME}docs/two.html")
    assert [text.strip() for text in texts(window, "#details .links li")] == ["A pageiframe", "One", f"{HOME}gone"]
    assert texts(window, "#details ol li") == ["Home", "A page", "Two"]
    assert texts(window, "[aria-selected=true] > .row .name") == ["Twotwo.html"]
    show(window, page, at=f'{HOME}evil?q="><b>')
    assert details(window)["title"] == EVIL
    assert window.value("document.querySelectorAll('#details img, #details script').length") == 0
    show(window, page, view="tree", at=f"{HOME}list/449")
    assert any("before" in row for row in rows(window))


@needs_browser
def test_choosing_with_keys_and_mouse_gives_a_list_that_save_takes(
    opened: Browser, tmp_path: Path, folder: Path
) -> None:
    opened.download_to(tmp_path)
    opened.value("document.querySelector('#tree [role=treeitem]').focus()")
    opened.press("ArrowDown")
    assert "docs/" in opened.value("document.activeElement.textContent")
    opened.press(" ")
    assert texts(opened, "#chosen") == ["2 chosen"]
    assert opened.value("document.activeElement.getAttribute('aria-checked')") == "true"
    opened.press("ArrowRight")
    opened.press("ArrowRight")
    opened.press(" ")
    opened.until("document.querySelector('#chosen').textContent === '1 chosen'")
    assert opened.value("document.querySelector('#tree [role=treeitem]').getAttribute('aria-checked')") == "mixed"
    gone = opened.value(
        "[...document.querySelectorAll('#tree [role=treeitem]')].find((e) => e.textContent.startsWith('gone'))"
        ".querySelector('input').disabled"
    )
    assert gone is True
    opened.click("#download")
    opened.until("true")
    target = tmp_path / "chosen.txt"
    while not target.exists():
        opened.until("new Promise((done) => setTimeout(() => done(true), 20))")
    assert target.read_text() == f"{HOME}docs/two.html\n"
    done = run("gossamer", "save", str(folder), str(tmp_path / "out"), "--from", str(target), "--no-fetch")
    assert "not in this collection" not in done.err


@needs_browser
def test_the_graph_is_drawn_and_walked_with_keys(window: Browser, page: Path) -> None:
    show(window, page, view="graph", at=HOME)
    assert texts(window, "#pointed") == ["Home"]
    window.until(
        "(() => { const c = document.querySelector('canvas'); const d = c.getContext('2d').getImageData(0, 0, c.width,"
        " c.height).data; return d.some((each) => each > 0); })()"
    )
    window.value("document.querySelector('canvas').focus()")
    seen = set()
    for key in ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown", "+", "-", "0"):
        window.press(key)
        seen.update(texts(window, "#pointed"))
    assert len(seen) > 1
    assert window.errors == []


@needs_browser
def test_findings(window: Browser, page: Path) -> None:
    show(window, page, view="list")
    headings = texts(window, "#view-list > details > summary")
    assert headings[:4] == ["Broken1", "Orphans0", "Pages that no links reach0", "Redirects in a row0"]
    assert "404" in texts(window, "#view-list .links li")[0]
    assert "2 links" in texts(window, "#view-list .links li")[0]
    window.click("#view-list .links button")
    assert details(window)["reason"] == "404"
    assert re.match(r"Home.*Two", "".join(texts(window, "#details .links li")))
