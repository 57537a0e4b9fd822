"""A person's own functions in a crawl: what they can do, and what their mistakes cost."""

import gzip
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

import gossamer
from conftest import Serve
from crawl.crawling import ParsersInThreads
from fakeweb import Page
from gossamer import session

from .webs import chain, html, path, small


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "ParserPool", ParsersInThreads)


def states(collection: gossamer.Collection) -> dict[str, str]:
    """What became of each URL, by its path: the reason where it is held, else its state."""
    return {
        "/" + entry.url.split("/", 3)[3]: entry.reason if entry.held else entry.state.name.lower()
        for entry in collection.urls()
        if not entry.url.endswith(".xml")
    }


# --- judges


@pytest.mark.usefixtures("_quick")
def test_a_judge_holds_urls_with_a_reason(serve: Serve, collection: gossamer.Collection) -> None:
    asked: list[gossamer.Candidate] = []

    def judge(candidate: gossamer.Candidate) -> str | None:
        asked.append(candidate)
        return "no Bs" if candidate.url.endswith("/b") else None

    web = serve(small())
    collection.crawl(web.url(), judge=judge)
    found = states(collection)
    assert found.pop("/b") == "held by judge: no Bs"
    assert set(found.values()) == {"finished", "failed"}
    assert "/b" not in [visit.path for visit in web.log]
    assert {candidate.url.removeprefix(web.origin()) for candidate in asked} >= {"/a", "/b", "/new"}
    assert "/" not in {candidate.url.removeprefix(web.origin()) for candidate in asked}  # the start is not judged


@pytest.mark.usefixtures("_quick")
def test_a_judge_admits_nothing_that_the_scope_refuses(serve: Serve, collection: gossamer.Collection) -> None:
    site = small()
    site.pages["/robots.txt"] = Page(b"User-agent: *\nDisallow: /a", content_type="text/plain")
    collection.crawl(serve(site).url(), judge=lambda candidate: None, exclude=["*/notes*"])
    found = states(collection)
    assert found["/a"] == "robots.txt: Disallow: /a"
    assert found["/notes.txt"].startswith("excluded by")


@pytest.mark.usefixtures("_quick")
def test_each_crawl_judges_anew(serve: Serve, collection: gossamer.Collection) -> None:
    collection.crawl(serve(small()).url(), judge=lambda candidate: "not today")
    assert {reason for url, reason in states(collection).items() if url != "/"} == {"held by judge: not today"}
    collection.crawl(judge=lambda candidate: "still not" if candidate.url.endswith("/b") else None)
    assert states(collection)["/b"] == "held by judge: still not"
    assert states(collection)["/a"] == "finished"
    collection.crawl()
    assert states(collection)["/b"] == "finished"


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize("is_read", [True, False])
def test_a_judge_s_error_stops_the_crawl_and_nothing_is_lost(
    serve: Serve, collection: gossamer.Collection, is_read: bool
) -> None:
    def judge(candidate: gossamer.Candidate) -> str | None:
        if candidate.depth == 3:
            raise LookupError("no such depth")
        return None

    web = serve(chain(6))
    with pytest.raises(LookupError, match="no such depth"):
        collection.crawl(web.url(), judge=judge, on_page=print if is_read else None)
    assert collection.verify() == []
    collection.crawl()
    assert collection.status().pages == 7
    asked = [visit.path for visit in web.log if not visit.path.endswith((".txt", ".xml"))]
    assert asked == [path(number) for number in range(7)]


@pytest.mark.usefixtures("_quick")
def test_a_judge_that_gives_no_reason_but_something_else(serve: Serve, collection: gossamer.Collection) -> None:
    with pytest.raises(TypeError, match=r"the judge .*lambda.* gave False"):
        collection.crawl(serve(small()).url(), judge=lambda candidate: False)  # type: ignore[arg-type, return-value]  # on purpose


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize("error", [SystemExit(7), KeyboardInterrupt(), StopIteration()])
def test_whatever_a_judge_raises_comes_out_and_leaves_the_collection_whole(
    serve: Serve, collection: gossamer.Collection, error: BaseException
) -> None:
    def judge(candidate: gossamer.Candidate) -> str | None:
        raise error

    with pytest.raises(type(error)):
        collection.crawl(serve(small()).url(), judge=judge)
    assert collection.verify() == []


# --- request hooks


@pytest.mark.usefixtures("_quick")
def test_headers_go_with_the_requests_they_are_for_and_into_no_file(
    serve: Serve, collection: gossamer.Collection
) -> None:
    def request(url: str) -> Mapping[str, str] | None:
        return {"X-Token": "s3cret-value", "Accept-Language": "ja"} if url.endswith("/a") else None

    web = serve(small())
    collection.crawl(web.url(), request=request)
    sent = {visit.path: dict(visit.headers) for visit in web.log}
    assert (sent["/a"]["x-token"], sent["/a"]["accept-language"]) == ("s3cret-value", "ja")
    assert [url for url, headers in sent.items() if "x-token" in headers] == ["/a"]
    page = collection.page(web.url("/a"))
    assert page is not None
    for file in collection.folder.rglob("*"):
        assert not file.is_file() or b"s3cret-value" not in _content(file)


def _content(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()


@pytest.mark.usefixtures("_quick")
def test_a_url_can_be_skipped(serve: Serve, collection: gossamer.Collection) -> None:
    web = serve(small())
    collection.crawl(web.url(), request=lambda url: gossamer.Skip("later") if url.endswith("/a") else None)
    assert states(collection)["/a"] == "skipped: later"
    assert "/a" not in [visit.path for visit in web.log]


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize("headers", [{"X": "a\r\nb"}, {"Host": "elsewhere"}, {"a b": "c"}])
def test_headers_that_can_t_be_sent_are_an_error(
    serve: Serve, collection: gossamer.Collection, headers: dict[str, str]
) -> None:
    with pytest.raises(gossamer.UsageError):
        collection.crawl(serve(small()).url(), request=lambda url: headers)


@pytest.mark.usefixtures("_quick")
def test_a_request_hook_s_error_stops_the_crawl_and_nothing_is_lost(
    serve: Serve, collection: gossamer.Collection
) -> None:
    def request(url: str) -> None:
        if url.endswith(path(2)):
            raise ZeroDivisionError

    url = serve(chain(4)).url()
    with pytest.raises(ZeroDivisionError):
        collection.crawl(url, request=request)
    collection.crawl()
    assert collection.status().pages == 5


@pytest.mark.usefixtures("_quick")
def test_reasons_are_one_line_of_bounded_length(serve: Serve, collection: gossamer.Collection) -> None:
    def request(url: str) -> gossamer.Skip | None:
        return gossamer.Skip(f"not\n{'now ' * 1000}") if url.endswith("/b") else None

    web = serve(small())
    collection.crawl(
        web.url(), judge=lambda c: f"\tnever {'x' * 1000}" if c.url.endswith("/a") else None, request=request
    )
    reasons = {entry.url.removeprefix(web.origin()): entry.reason for entry in collection.urls(held=True)}
    assert reasons["/a"].startswith("held by judge: never xxx")
    assert reasons["/b"].startswith("skipped: not now now")
    assert max(map(len, reasons.values())) < 300


@pytest.mark.usefixtures("_quick")
@pytest.mark.parametrize("found", [5, "Skip", [("A", "b")], {"A": 5}, {b"A": b"b"}])
def test_a_request_hook_that_gives_something_else_is_named(
    serve: Serve, collection: gossamer.Collection, found: object
) -> None:
    def ask(url: str) -> object:
        return found

    with pytest.raises(TypeError, match=r"the request hook .*ask gave"):
        collection.crawl(serve(small()).url(), request=ask)  # type: ignore[arg-type]  # wrong on purpose


# --- functions for the workers

CODE = """
import os

def facts(page):
    if page.title == "B":
        os.abort()
    if page.title == "Shy":
        raise KeyError("price")
    return {"title": page.title, "heading": page.document.select_one("p").text}

class Shop:
    @staticmethod
    def facts(page):
        return page.url
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"shop_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_facts_are_extracted_in_workers_and_kept(serve: Serve, collection: gossamer.Collection, shop: str) -> None:
    found = {page.title: page for page in collection.crawling(serve(small()).url(), extract=f"{shop}:facts")}
    assert found["A"].extracted == {"title": "A", "heading": "the first letter "}
    assert (found["B"].extracted, found["B"].text) == (None, "the second letter /a")
    assert found["B"].notes == (f"no facts were extracted: parser crashed: SIGABRT (in {shop}:facts)",)
    assert f"no facts were extracted: KeyError: 'price' (in {shop}:facts, line 8)" in found["Shy"].notes
    assert found[""].extracted is None  # a plain text
    assert [page.extracted for page in collection.pages("*/a")] == [found["A"].extracted]
    assert collection.verify() == []


def test_a_function_can_be_given_as_itself(serve: Serve, collection: gossamer.Collection, shop: str) -> None:
    module = __import__(shop)
    url = serve(small()).url()
    (page,) = collection.crawling(url, extract=module.Shop.facts, max_urls=1)
    assert page.extracted == url
    assert sys.modules[shop] is module


def test_a_function_need_not_stand_in_a_module(serve: Serve, collection: gossamer.Collection) -> None:
    words = ["Start", "A"]

    def facts(page: gossamer.ParsedPage) -> object:
        return [word for word in words if word in page.title]

    url = serve(small()).url()
    found = {page.title: page.extracted for page in collection.crawling(url, extract=facts)}
    assert (found["Start"], found["A"], found["B"]) == (["Start"], ["A"], [])


def test_facts_that_were_not_extracted_are_told(serve: Serve, collection: gossamer.Collection) -> None:
    def facts(page: gossamer.ParsedPage) -> object:
        raise LookupError("no price")

    report = collection.crawl(serve(small()).url(), extract=facts)
    assert report.without_facts == 5
    log = (collection.folder / "gossamer.log").read_text()
    assert log.count("no facts were extracted: LookupError: no price (in ") == 5
    assert "<locals>.facts, line " in log


LOCK = threading.Lock()


@pytest.mark.parametrize(
    ("extract", "reason"),
    [
        ("no colon", "names no function"),
        ("a:b; import os", "names no function"),
        (5, "extract must be a function"),
        (lambda page, lock=LOCK: None, "<lambda> can't be passed on to the parser workers: TypeError: cannot pickle"),
        (lambda page, much=b"x" * 70_000_000: None, "brings 70[0-9]* bytes with it"),
    ],
)
def test_what_workers_can_t_have_is_an_error_at_once(
    collection: gossamer.Collection, extract: object, reason: str
) -> None:
    with pytest.raises(gossamer.UsageError, match=reason):
        collection.crawling("http://a.test/", extract=extract)  # type: ignore[arg-type]  # wrong on purpose


def test_a_module_that_is_not_there_is_an_error_at_the_start(serve: Serve, collection: gossamer.Collection) -> None:
    with pytest.raises(gossamer.GossamerError, match=r"not_there:x can't be loaded: ModuleNotFoundError"):
        collection.crawl(serve(small()).url(), extract="not_there:x")
    assert not collection.folder.exists()


@pytest.mark.usefixtures("_quick")
def test_hooks_are_never_read_from_a_collection(serve: Serve, collection: gossamer.Collection) -> None:
    collection.crawl(serve(small()).url())
    with (collection.folder / "gossamer.toml").open("a") as file:
        file.write('\nextract = "os:abort"\n')
    with pytest.raises(gossamer.SettingsError, match="unknown setting 'extract'"):
        collection.crawl()


def test_pages_of_equal_bytes_have_facts_of_their_own(serve: Serve, collection: gossamer.Collection, shop: str) -> None:
    site = small()
    site.pages = {"/": Page(html("Start", "", "/x", "/y")), "/x": Page(html("X")), "/y": Page(html("X"))}
    web = serve(site)
    found = {page.url: page for page in collection.crawling(web.url(), extract=f"{shop}:Shop.facts")}
    assert {url: page.extracted for url, page in found.items()} == {url: url for url in found}
    assert found[web.url("/y")].duplicate_of == web.url("/x")
