"""Whole programs as people write them: run as processes, interrupted as people do, and checked by mypy."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import Serve
from fakeweb import FakeWeb, Page
from fakeweb.page import FOREVER

from .webs import chain, small

SCRIPT = """
import gossamer, sys

with gossamer.open("c", create=True) as collection:
    for page in collection.crawling(sys.argv[1]):
        print(page.title, page.cleaned()[:15])
print(collection.status().state, flush=True)
"""

FUNCTION = """
import gossamer, sys

PREFIX = "page"

class Shop:
    def __init__(self, page):
        self.title = page.title

def facts(page):
    return [PREFIX, Shop(page).title]

with gossamer.open("c", create=True) as collection:
    for page in collection.crawling(sys.argv[1], extract=facts):
        print(page.extracted)
"""

ENDLESS = """
import gossamer, sys

collection = gossamer.open("c", create=True)
try:
    {}
except KeyboardInterrupt:
    print("interrupted,", collection.status().state, flush=True)
    raise
"""

WAYS = {
    "call": "collection.crawl(sys.argv[1])",
    "callback": "collection.crawl(sys.argv[1], on_page=lambda page: None)",
    "loop": "for page in collection.crawling(sys.argv[1]): pass",
    "block": "with collection.crawling(sys.argv[1]) as crawl: list(crawl)",
    "slow": "import time\n    for page in collection.crawling(sys.argv[1]): time.sleep(60)",
    "async": """import asyncio
    async def main():
        async with collection.crawling(sys.argv[1]) as crawl:
            async for page in crawl: pass
    asyncio.run(main())""",
}

TYPED = """
import asyncio
from collections.abc import Mapping
from typing import assert_type

import gossamer


def judge(candidate: gossamer.Candidate) -> str | None:
    return "deep" if candidate.depth > 3 else None


def request(url: str) -> Mapping[str, str] | gossamer.Skip | None:
    return gossamer.Skip("no") if url.endswith(".pdf") else {"A": "b"}


async def main() -> None:
    async with collection.crawling("https://example.org/", judge=judge, request=request) as crawl:
        async for page in crawl:
            assert_type(page, gossamer.Page)
    assert_type(await collection.crawling(), gossamer.Report)


collection = gossamer.open("x")
assert_type(collection.crawl("https://example.org/", max_urls=3, scope="host", delay="5m"), gossamer.Report)
for page in collection.pages("*"):
    assert_type(page.text, str)
    assert_type(page.links, tuple[gossamer.Link, ...])
assert_type(collection.search("x"), list[gossamer.Hit])
asyncio.run(main())
"""

WRONG = {
    "collection.crawl(max_url=3)": "Unexpected keyword argument",
    'collection.crawl(scope="planet")': "has incompatible type \"Literal['planet']\"",
    "collection.crawl(judge=lambda candidate: 1)": "Incompatible return value",
    "collection.page('x').title": 'has no attribute "title"',
}


def program(folder: Path, code: str, web: FakeWeb) -> subprocess.Popen[str]:
    script = folder / "script.py"
    script.write_text(code)
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    return subprocess.Popen(
        [sys.executable, script, web.url()], cwd=folder, env=environment, stdout=-1, stderr=-1, text=True
    )


def test_a_plain_script_needs_no_main_guard_and_leaves_nothing_open(serve: Serve, tmp_path: Path) -> None:
    done = program(tmp_path, SCRIPT, serve(small()))
    out, err = done.communicate(timeout=60)
    assert (done.returncode, err) == (0, "")
    assert out.splitlines()[-1] == "stopped"
    assert "A <!DOCTYPE html>" in out


def test_a_function_of_the_script_itself_works_in_the_workers(serve: Serve, tmp_path: Path) -> None:
    done = program(tmp_path, FUNCTION, serve(small()))
    out, err = done.communicate(timeout=60)
    assert (done.returncode, err) == (0, "")
    assert "['page', 'A']" in out.splitlines()


@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_finishes_what_is_in_flight_and_interrupts(serve: Serve, tmp_path: Path, way: str) -> None:
    web = serve(chain(800))
    running = program(tmp_path, ENDLESS.format(WAYS[way]), web)
    web.wait(lambda visits: len(visits) > 5)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert out == "interrupted, stopped\n", err
    assert running.returncode == -signal.SIGINT
    assert err.rstrip().endswith("KeyboardInterrupt"), err
    assert "ignored" not in err


def test_a_second_ctrl_c_drops_what_is_in_flight(serve: Serve, tmp_path: Path) -> None:
    site = chain(5)
    first = site.pages["/"]
    site.pages["/"] = lambda asked: _hanging(first)
    web = serve(site)
    running = program(tmp_path, ENDLESS.format(WAYS["call"]), web)
    web.wait(lambda visits: any(visit.path == "/" for visit in visits))
    running.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert running.poll() is None
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    assert out == "interrupted, stopped\n", err
    assert running.returncode == -signal.SIGINT


def _hanging(page: object) -> Page:
    assert isinstance(page, Page)
    return replace(page, delay=FOREVER)


def test_scripts_are_checked_by_their_types(tmp_path: Path) -> None:
    good = tmp_path / "good.py"
    good.write_text(TYPED)
    bad = tmp_path / "bad.py"
    bad.write_text("import gossamer\ncollection = gossamer.open('x')\n" + "\n".join(WRONG) + "\n")
    cache = Path(__file__).resolve().parents[2] / ".mypy_cache" / "guide"
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, good, bad],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = checked.stdout.splitlines()
    assert not [line for line in lines if line.startswith("good.py")], checked.stdout
    for number, reason in enumerate(WRONG.values(), 3):
        assert any(line.startswith(f"bad.py:{number}: error") and reason in line for line in lines), checked.stdout
