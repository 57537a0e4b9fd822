"""A person's own function in the parser workers: whatever it does, a page loses no more than what it should have found."""

import asyncio
import json
from pathlib import Path

import pytest

from gossamer.errors import GossamerError
from gossamer.parse.job import OwnCode, ParseJob
from gossamer.parse.links import unpack
from gossamer.parse.pool import ParserPool
from gossamer.records import Facts

from .pages import SECRET, job

GIGABYTE = 1 << 30

CODE = """
import ctypes, os, sys, time

def facts(page):
    return {"title": page.title, "heading": page.document.select_one("h1").text, "links": [link.url for link in page.links],
            "length": len(page.html), "url": page.url, "ü": page.text}

def misbehave(page):
    match page.title:
        case "raise": raise ValueError("no price\\non it")
        case "exit": sys.exit(3)
        case "die": os._exit(0)
        case "crash": ctypes.string_at(0)
        case "spin":
            while True: pass
        case "wait": time.sleep(60)
        case "set": return {1, 2}
        case "nan": return float("nan")
        case "long": return "x" * 2_000_000
        case "deep":
            found = []
            for _ in range(100_000): found = [found]
            return found
        case "nothing": return None
        case "surrogate": return "\\ud800"
        case "print": print("hello"); os.write(1, b"garbage"); return 1
        case "input": return input()
        case "memory": return len(bytearray(1 << 40))
    return page.title

no_function = 1
"""

NOTES = {
    "raise": "ValueError: no price on it",
    "exit": "SystemExit: 3",
    "die": "parser crashed: exit code 0",
    "crash": "parser crashed: SIGSEGV",
    "spin": "it took longer than 0.5 s",
    "wait": "it took longer than 0.5 s",
    "set": "TypeError: Object of type set is not JSON serializable",
    "nan": "ValueError: Out of range float values are not JSON compliant",
    "long": "ValueError: 2000002 characters of JSON are more than 1048576",
    "deep": "RecursionError: maximum recursion depth exceeded",
    "input": "EOFError: EOF when reading a line",
    "memory": "parser crashed: out of memory",
}


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(CODE)
    return str(tmp_path)


def parse(folder: str, name: str, *jobs: ParseJob, timeout: float = 20) -> list[Facts]:
    async def main() -> list[Facts]:
        pool = ParserPool(1, SECRET, timeout, GIGABYTE, GIGABYTE // 8, OwnCode(f"mine:{name}", (folder,)))
        async with pool:
            return await asyncio.gather(*(pool.parse(each) for each in jobs))

    return asyncio.run(main())


def test_it_sees_the_page_and_its_answer_is_kept_as_json(folder: str) -> None:
    page = job("<title>T</title><h1>The <i>heading</i></h1><a href=x>ä</a>")
    (facts,) = parse(folder, "facts", page)
    assert json.loads(facts.extracted) == {
        "title": "T",
        "heading": "The heading",
        "links": [link.url for link in unpack(facts.links)],
        "length": len(page.body.decode()),
        "url": page.url,
        "ü": "The heading\nä",
    }
    assert facts.notes == ()


def test_what_it_does_wrong_costs_only_the_facts_of_that_page(folder: str) -> None:
    titles = ["first", *NOTES, "nothing", "surrogate", "print", "last"]
    jobs = [job(f"<title>{title}</title><p>text of {title}") for title in titles]
    answers = dict(zip(titles, parse(folder, "misbehave", *jobs, timeout=0.5), strict=True))
    for title, facts in answers.items():
        assert (facts.title, facts.text, facts.failure) == (title, f"text of {title}", None)
    notes = {title: note.partition(": ")[2] for title in NOTES for note in answers[title].notes}
    assert {
        title: note.partition(" while ")[0]
        .partition(" (in mine:misbehave")[0]
        .partition(": inf")[0]
        .partition(": nan")[0]
        for title, note in notes.items()
    } == NOTES
    assert not any(answers[title].extracted for title in (*NOTES, "nothing"))
    assert answers["first"].extracted == '"first"'
    assert answers["surrogate"].extracted == '"?"'
    assert answers["print"].extracted == "1"
    assert answers["last"].extracted == '"last"'


def test_what_is_no_page_is_not_shown_to_it(folder: str) -> None:
    (facts,) = parse(folder, "misbehave", job(b"raise", ("content-type", "text/plain")))
    assert (facts.extracted, facts.notes) == ("", ())


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("mine:missing", "AttributeError: module 'mine' has no attribute 'missing'"),
        ("mine:no_function", "mine:no_function is no function"),
        ("not_there:x", "ModuleNotFoundError: No module named 'not_there'"),
    ],
)
def test_one_that_can_t_be_loaded_is_an_error_at_the_start(folder: str, name: str, reason: str) -> None:
    async def main() -> None:
        await ParserPool(1, SECRET, 20, GIGABYTE, GIGABYTE // 8, OwnCode(name, (folder,))).start()

    with pytest.raises(GossamerError, match=reason):
        asyncio.run(main())
