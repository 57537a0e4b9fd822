"""What a power cut leaves: the disk as of some moment. Every such state opens, is whole, and the crawl goes on."""

import re
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from durability.crawling import Disturbed, assert_whole, start, states
from fakeweb import FakeWeb, GeneratedSite, generate
from oracle import check_archive

QUICK = ("-u", "0", "--no-sitemaps")


def small_site() -> GeneratedSite:
    return generate(21, pages=40, max_delay=0.01)


def durable(folder: Path) -> dict[str, int]:
    """Segments and their bytes, as the database says."""
    with closing(sqlite3.connect(folder / "crawl.db")) as database:
        return dict(database.execute("SELECT uri, bytes FROM segment"))


def assert_goes_on(folder: Path, web: FakeWeb, site: GeneratedSite) -> None:
    crawl = Disturbed(web, folder, QUICK)
    crawl.finish()
    assert check_archive(folder, pages={web.url(path) for path in site.reachable}) == []
    assert_whole(folder)


def test_the_disk_as_of_a_moment(tmp_path: Path) -> None:
    """Stopped in the middle, the log of the database cut anywhere: as if the power had failed a little before.

    The archive is cut to what is durable at that moment, and no further: it was synced before the rows.
    """
    rng, site = Random(1), small_site()
    with FakeWeb(site) as web:
        crawl = Disturbed(web, tmp_path / "crawl", QUICK)
        process = crawl.start()
        web.wait(lambda log: len(log) > 25)
        process.signal(signal.SIGSTOP)
        moment = shutil.copytree(crawl.folder, tmp_path / "moment")
        process.kill()
        size = (moment / "crawl.db-wal").stat().st_size
        found = []
        for number, cut in enumerate([size, *(rng.randrange(size) for _ in range(3))]):
            folder = Path(shutil.copytree(moment, tmp_path / f"cut{number}"))
            folder.joinpath("crawl.db-shm").unlink(missing_ok=True)
            with folder.joinpath("crawl.db-wal").open("rb+") as file:
                file.truncate(cut)
            found.append(sum(state == 2 for state, _, _ in states(folder, web).values()))
            for uri, size_then in durable(folder).items():
                with (folder / uri).open("rb+") as file:
                    file.truncate(size_then)
            assert_whole(folder)
            assert_goes_on(folder, web, site)
        assert found[0] == max(found) > min(found)


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not here: nobody sees what is synced when")
def test_the_archive_is_synced_before_the_rows_that_speak_of_it(tmp_path: Path) -> None:
    site = small_site()
    log = tmp_path / "strace.log"
    tracer = ["strace", "-f", "-y", "--seccomp-bpf", "-qq", "-e", "signal=none", "-o", str(log)]
    with FakeWeb(site) as web:
        folder = tmp_path / "crawl"
        calls = ["-e", "trace=write,pwrite64,fdatasync,fsync,rename"]
        start("crawl", *QUICK, "-o", folder, web.url("/"), prefix=[*tracer, *calls]).end().assert_said_clearly(0)
    dirty: set[str] = set()
    commits = 0
    for call, path in re.findall(r"(\w+)\(\d+<([^>]+)>", log.read_text(encoding="utf-8", errors="replace")):
        if call in ("write", "pwrite64"):
            dirty.add(path)
        elif call in ("fsync", "fdatasync"):
            if path.endswith("crawl.db-wal"):
                commits += 1
                assert not [each for each in dirty if each.endswith(".warc.gz")]
            dirty.discard(path)
    assert commits > 3
    assert not [path for path in dirty if path.endswith((".warc.gz", "crawl.db", "seen.new", "gossamer.toml"))]
