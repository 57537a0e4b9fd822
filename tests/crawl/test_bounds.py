"""Bounded time and memory: slow disks, large pages, pages with very many links, one huge host."""

import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import run
from fakeweb import FakeWeb, Page, Site
from fakeweb.recipes import html, links
from gossamer.archive.database import open_for_reading
from gossamer.archive.disk import Disk
from gossamer.crawl.pipeline import GROUP_OUTCOMES, MAX_OUTCOMES
from gossamer.crawl.report import Progress
from gossamer.parse.job import DEFAULT_LIMITS
from gossamer.records import State
from gossamer.settings import Settings

MB = 1024 * 1024
LINKS = 50_000


def resident() -> int:
    """Bytes of memory of this process, the fake web and the parsers in threads included."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


@dataclass
class SlowDisk:
    """Each sync takes long; meanwhile it looks at what was served."""

    web: FakeWeb
    pause: float
    served: list[int] = field(default_factory=list)  # at each sync
    memory: list[int] = field(default_factory=list)

    def sync(self, _descriptor: int) -> None:
        time.sleep(self.pause)
        self.served.append(len(self.web.log))
        self.memory.append(resident())


def test_a_slow_disk_slows_fetching(serve: Serve, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is fetched between two syncs is bounded, however fast the web is and however many downloaders there are."""
    web = serve(Site({"/": links(*(f"/{number}" for number in range(1500)))}, lambda asked: html(asked.path)))
    disk = SlowDisk(web, 0.1)
    monkeypatch.setattr(Disk, "sync", disk.sync)
    crawled = crawl(web, max_urls=0, per_host=64, downloaders=256)
    assert len(crawled.kept()) == 1501
    steps = [later - earlier for earlier, later in zip(disk.served, disk.served[1:], strict=False)]
    assert max(steps) <= MAX_OUTCOMES + 256
    assert len(disk.served) >= 1500 // (MAX_OUTCOMES + GROUP_OUTCOMES)


def test_large_bodies_before_a_slow_disk(serve: Serve, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch) -> None:
    """400 MB go through a memory of 24 MB for bodies."""
    body = bytes(range(256)) * (4 * MB // 256)
    pages = {f"/{number}": Page(body, content_type="application/octet-stream") for number in range(100)}
    web = serve(Site({"/": links(*pages), **pages}))
    disk = SlowDisk(web, 0.05)
    monkeypatch.setattr(Disk, "sync", disk.sync)
    before = resident()
    crawled = crawl(web, max_urls=0, per_host=64, downloaders=64, body_memory=24 * MB)
    assert len(crawled.kept()) == 101
    assert max(disk.memory) - before < 150 * MB


def test_pages_of_ten_megabytes(serve: Serve, crawl: CrawlIt) -> None:
    """Of the worst kind: an element each three bytes. The small pages beside them come through, and their links are followed."""
    large = links("/from-large").body + b"<p>" * (10 * MB // 3)
    pages = {f"/{number}": Page(large + b"%d" % number, content_type="text/html") for number in range(4)}
    web = serve(Site({"/": links(*pages, "/small"), **pages}, lambda asked: html(asked.path)))
    began, before = time.monotonic(), resident()
    crawled = crawl(web, max_urls=0, per_host=8, real_parsers=True, parse_timeout=20.0)
    assert len(crawled.kept()) == 7
    assert crawled["/from-large"].is_done
    assert all(crawled[path].page["size"] >= 10 * MB for path in pages)
    assert time.monotonic() - began < 90
    assert resident() - before < 200 * MB


def test_a_page_with_very_many_links_holds_up_no_other(serve: Serve, tmp_path: Path) -> None:
    """Its links become known in portions; meanwhile others are committed, and no commit takes long."""
    many = html("".join(f'<a href="/below/{number}">{number}</a>' for number in range(2 * LINKS)))
    others = (f"/other/{number}" for number in range(100))
    web = serve(Site({"/": links("/many", *others), "/many": many}, lambda asked: html(asked.path)))
    before, slowest = resident(), [0.0]

    def observe(progress: Progress) -> None:
        slowest.append(progress.depths.slowest_commit)

    run(tmp_path / "c", ((web.url(), False),), {"max_urls": 102, "per_host": 4, "max_links": LINKS}, observe=observe)
    assert resident() - before < 200 * MB
    assert max(slowest) < 10
    with closing(open_for_reading(tmp_path / "c/crawl.db")) as database:
        assert database.execute("SELECT count(*) FROM url WHERE url LIKE '%/below/%'").get == LINKS, "the first ones"
        finished = "SELECT count(*) FROM url WHERE state = ? AND url NOT LIKE '%/below/%'"
        assert database.execute(finished, (State.FINISHED,)).get == 102


def test_the_limits_of_the_settings_are_those_of_the_parser() -> None:
    assert Settings().max_links == DEFAULT_LIMITS.max_links
    assert Settings().max_text == DEFAULT_LIMITS.max_text
    assert Settings().max_decoded == DEFAULT_LIMITS.max_decoded


def test_links_beyond_the_limit_are_not_looked_at(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": links(*(f"/{number}" for number in range(10)))}, lambda asked: html(asked.path)))
    crawled = crawl(web, real_parsers=True, max_links=3)
    assert crawled.kept() == {"/", "/0", "/1", "/2"}


def test_text_beyond_the_limit_is_not_kept(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": html("<p>beginning and ending")}))
    crawled = crawl(web, real_parsers=True, max_text=9)
    assert crawled["/"].page["notes"] == "text cut at 9 characters"
