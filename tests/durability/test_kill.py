"""kill -9 at any moment loses no URL, repeats no more than was in flight, and makes no host suffer."""

from pathlib import Path
from random import Random

import pytest

from durability.crawling import Disturbed, assert_whole, states
from fakeweb import FakeWeb, GeneratedSite, generate

QUICK = ("-u", "0", "--retry-pause", "0.2s", "--no-sitemaps")
KILLS = 5  # a crawl; each crawl of a few hundred pages on three hosts


def sites(seed: int, pages: int = 75, flaky: int = 0) -> list[GeneratedSite]:
    """Three hosts whose pages take a moment to come."""
    return [
        generate(seed * 10 + number, pages=pages, max_delay=0.02, address=f"127.0.0.{number + 1}", flaky=flaky)
        for number in range(3)
    ]


def undisturbed(tmp_path: Path, seed: int, flaky: int) -> dict[tuple[int, str], tuple[int, int, int | None]]:
    with FakeWeb(*sites(seed, flaky=flaky)) as web:
        crawl = Disturbed(web, tmp_path / "undisturbed", QUICK)
        crawl.finish()
        return states(crawl.folder, web)


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_crawl_ends_as_an_undisturbed_one(tmp_path: Path, seed: int) -> None:
    rng = Random(seed)
    flaky = 3 * (seed % 2)
    drawn = sites(seed, flaky=flaky)
    asked = sum(len(site.asked) for site in drawn)
    with FakeWeb(*drawn) as web:
        crawl = Disturbed(web, tmp_path / "crawl", QUICK)
        for _ in range(KILLS):
            share = rng.randrange(1, asked * 3 // (4 * KILLS))
            if not crawl.kill_after(visits=share, seconds=rng.random() * 0.05):
                break
        crawl.finish()
        assert crawl.violations(drawn) == []
        assert states(crawl.folder, web) == undisturbed(tmp_path, seed, flaky)
    assert_whole(crawl.folder)
    assert len(crawl.kills) >= KILLS - 1


def test_killed_while_the_collection_is_made(tmp_path: Path) -> None:
    """Before there is a database, while there is half a one, before the first URL."""
    drawn = [generate(5, pages=5)]
    with FakeWeb(*drawn) as web:
        crawl = Disturbed(web, tmp_path / "crawl", QUICK)
        for name in ("lock", "crawl.db.new", "crawl.db.new-wal", "crawl.db", "running.ring", "gossamer.toml"):
            crawl.kill_when(crawl.folder.joinpath(name).exists)
        crawl.finish()
        assert crawl.violations(drawn) == []
    assert_whole(crawl.folder)


def test_killed_at_the_very_end(tmp_path: Path) -> None:
    """When the last pages are committed, the set of seen URLs is saved, and the end is noted."""
    rng = Random(7)
    drawn = [generate(6, pages=12, missing=1)]
    with FakeWeb(*drawn) as web:
        for number in range(4):
            crawl = Disturbed(web, tmp_path / f"crawl{number}", QUICK)
            crawl.kill_after(visits=len(drawn[0].asked), seconds=rng.random() * 0.15)
            crawl.finish()
            assert crawl.folder.joinpath("seen.bin").exists()
            assert_whole(crawl.folder)
    assert crawl.kills


def test_politeness_holds_over_restarts(tmp_path: Path) -> None:
    rng = Random(3)
    drawn = sites(30, pages=25)
    with FakeWeb(*drawn) as web:
        crawl = Disturbed(web, tmp_path / "crawl", [*QUICK, "--delay", "0.05"])
        for _ in range(KILLS):
            crawl.kill_after(visits=rng.randrange(3, 16), seconds=rng.random() * 0.1)
        crawl.finish()
        assert crawl.violations(drawn, delay=0.05) == []
    assert_whole(crawl.folder)
    assert len(crawl.kills) == KILLS


def test_crawl_delay_holds_over_restarts(tmp_path: Path) -> None:
    drawn = [generate(8, pages=6, crawl_delay=0.4, missing=0, files=1, copies=0, forbidden=1, unfollowed=0)]
    with FakeWeb(*drawn) as web:
        crawl = Disturbed(web, tmp_path / "crawl", QUICK)
        for _ in range(3):
            crawl.kill_after(visits=2)
        crawl.finish()
        assert crawl.violations(drawn, delay=0.4) == []
