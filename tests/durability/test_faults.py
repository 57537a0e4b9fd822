"""SQLite's loop: the N-th write, sync, rename, … fails, once or from then on; nothing is lost, one line says what is wrong.

strace makes the system calls of the crawler fail. The suite draws some places; with CRAWL_FAULTS=all in the environment N
is counted up until a run meets no fault.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from durability.crawling import Disturbed, Ended, start, states
from fakeweb import FakeWeb, GeneratedSite, generate
from oracle import check_archive

OURS = (0, 3, 4)  # done all the same; no seed could be fetched; the collection can't be written
NO_PARSER = 70  # a pipe that can't be written to is like nothing that happens
CALLS = {
    "fdatasync": range(1, 80),
    "pwrite64": range(1, 600),
    "write": range(1, 80),
    "fsync": range(1, 12),
    "ftruncate": range(1, 12),
    "rename": range(1, 6),
    "unlink": range(1, 8),
    "mkdir": range(1, 4),
}
DRAWN = {"fdatasync": 4, "pwrite64": 4, "write": 3, "fsync": 1, "ftruncate": 1, "rename": 2, "unlink": 1, "mkdir": 1}
MET = {"fdatasync": 30, "pwrite64": 250, "write": 25, "fsync": 4, "ftruncate": 4, "rename": 2, "unlink": 3, "mkdir": 2}
"""About so many of each does a run make: drawn places lie within, so that most of them are met."""

needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not here: no system call can fail")


def faults() -> Iterator[tuple[str, str, int, bool]]:
    """Call, error, N, and whether all that follow fail as well."""
    rng = Random(2)
    for call, count in DRAWN.items():
        for number in range(count):
            for_good = call != "write" and rng.random() < 0.5
            yield call, "ENOSPC" if number % 2 else "EIO", rng.randrange(1, MET[call] + 1), for_good


@pytest.fixture
def site() -> GeneratedSite:
    return generate(3, pages=8, copies=1, missing=1, files=1, forbidden=1, unfollowed=0, requisites=1)


def crawl_with_fault(
    web: FakeWeb, folder: Path, call: str, error: str, number: int, *, for_good: bool
) -> tuple[Ended, bool]:
    """A crawl whose N-th call fails, and whether that was met. Counted by thread: the main thread makes the database,
    the writer thread does the rest."""
    log = folder.with_name("strace.log")
    when = f"{number}+" if for_good else str(number)
    tracer = ["strace", "-f", "--seccomp-bpf", "-qq", "-e", "signal=none", "-o", str(log)]
    inject = [f"--inject={call}:error={error}:when={when}", f"--trace={call}"]
    process = start("crawl", "-u", "0", "--no-sitemaps", "-o", folder, web.url("/"), prefix=[*tracer, *inject])
    ended = process.end(60)
    assert process.left_behind() == []
    return ended, "(INJECTED)" in log.read_text(encoding="utf-8", errors="replace")


def assert_said_clearly(ended: Ended, call: str) -> None:
    """One line says what is wrong; unless it is that line that could not be written."""
    if call == "write":
        assert ended.code in (*OURS, NO_PARSER), ended
        assert "Traceback" not in ended.err
    else:
        ended.assert_said_clearly(*OURS)


def assert_nothing_lost(web: FakeWeb, site: GeneratedSite, folder: Path) -> None:
    crawl = Disturbed(web, folder, ("-u", "0", "--no-sitemaps"))
    crawl.finish()
    found = {path for (_, path), (state, held, _) in states(folder, web).items() if state == 2 and not held}
    assert site.reachable <= found
    assert check_archive(folder, pages={web.url(path) for path in site.reachable}) == []


@needs_strace
@pytest.mark.parametrize(("call", "error", "number", "for_good"), list(faults()))
def test_one_fault(tmp_path: Path, site: GeneratedSite, call: str, error: str, number: int, for_good: bool) -> None:
    with FakeWeb(site) as web:
        folder = tmp_path / "crawl"
        ended, _ = crawl_with_fault(web, folder, call, error, number, for_good=for_good)
        assert_said_clearly(ended, call)
        assert_nothing_lost(web, site, folder)


@needs_strace
@pytest.mark.skipif(os.environ.get("CRAWL_FAULTS") != "all", reason="an hour's work: CRAWL_FAULTS=all does it")
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("for_good", [False, True])
@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
@pytest.mark.parametrize("call", CALLS)
def test_every_fault(tmp_path: Path, site: GeneratedSite, call: str, error: str, for_good: bool) -> None:
    if call == "write" and for_good:
        pytest.skip("nothing at all could be said any more")
    with FakeWeb(site) as web:
        for number in CALLS[call]:
            folder = tmp_path / f"crawl{number}"
            ended, is_met = crawl_with_fault(web, folder, call, error, number, for_good=for_good)
            assert_said_clearly(ended, call)
            assert_nothing_lost(web, site, folder)
            if not is_met:
                break
            shutil.rmtree(folder)
