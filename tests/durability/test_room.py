"""A disk that fills up, a limit of open files, a folder that can't be written: said in one line, and resumable."""

import json
import os
import resource
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from durability.crawling import Disturbed, assert_whole, run
from fakeweb import FakeWeb, Page, Site
from fakeweb.recipes import html
from oracle import check_archive

MEGABYTE = 1024 * 1024
PAGES = 24


def heavy_site() -> Site:
    """Pages that link to files of a megabyte each, which can't be made smaller."""
    site = Site({"/": html("".join(f"<a href='/{number}'>{number}</a>" for number in range(PAGES)))})
    for number in range(PAGES):
        site.pages[f"/{number}"] = Page(Random(number).randbytes(MEGABYTE), content_type="application/octet-stream")
    return site


class SmallDisk:
    """A file system of its own in memory."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def mount(self, size: str) -> bool:
        return self._run("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(self.place)) == 0

    def change(self, option: str) -> None:
        assert self._run("mount", "-o", f"remount,{option}", str(self.place)) == 0

    def unmount(self) -> None:
        self._run("umount", str(self.place))

    @property
    def free(self) -> int:
        return shutil.disk_usage(self.place).free

    def _run(self, *command: str) -> int:
        return subprocess.run(command, capture_output=True, check=False).returncode


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    place = tmp_path / "disk"
    place.mkdir()
    small = SmallDisk(place)
    if os.getuid() != 0 or not small.mount("40m"):
        pytest.skip("a file system in memory can't be mounted here: it takes root and the right to mount")
    yield small
    small.unmount()


def test_little_room_pauses_before_the_disk_is_full(disk: SmallDisk) -> None:
    with FakeWeb(heavy_site()) as web:
        crawl = Disturbed(
            web, disk.place / "crawl", ("-u", "0", "--no-sitemaps", "--delay", "0.1", "--min-free", "30M")
        )
        process = crawl.start()
        while json.loads(run("status", "--json", crawl.folder).out or "{}").get("state") != "paused":
            time.sleep(0.1)
        time.sleep(0.3)
        seen = len(web.log)
        assert disk.free > 10 * MEGABYTE
        time.sleep(1.5)
        assert len(web.log) == seen < PAGES
        disk.change("size=100m")
        process.end().assert_said_clearly(0)
        assert len(web.log) == PAGES + 2
    assert_whole(crawl.folder)


def test_a_full_disk_stops_cleanly_and_goes_on_when_there_is_room(disk: SmallDisk) -> None:
    disk.change("size=14m")
    with FakeWeb(heavy_site()) as web:
        crawl = Disturbed(web, disk.place / "crawl", ("-u", "0", "--min-free", "0"))
        for _ in range(2):  # also when it is full already
            ended = crawl.start().end()
            ended.assert_said_clearly(4)
            assert "full" in ended.complaints[0]
            assert_whole(crawl.folder)
        disk.change("size=100m")
        crawl.finish()
        assert check_archive(crawl.folder) == []
        assert {visit.path for visit in web.log} >= {f"/{number}" for number in range(PAGES)}
    assert_whole(crawl.folder)


def test_a_disk_that_is_full_from_the_start(disk: SmallDisk) -> None:
    disk.change("size=200k")
    with FakeWeb(heavy_site()) as web:
        crawl = Disturbed(web, disk.place / "crawl", ("-u", "0", "--min-free", "0"))
        for kept in (4096, 0):
            (disk.place / "filler").write_bytes(bytes(disk.free - kept))
            crawl.start().end().assert_said_clearly(4)
            assert not crawl.folder.exists()
            (disk.place / "filler").unlink()
        assert not web.log


def test_a_read_only_file_system(disk: SmallDisk) -> None:
    with FakeWeb(heavy_site()) as web:
        crawl = Disturbed(web, disk.place / "crawl", ("-u", "3", "--min-free", "0"))
        disk.change("ro")
        crawl.start().end().assert_said_clearly(4)
        disk.change("rw")
        crawl.finish()
        disk.change("ro")
        crawl.start().end().assert_said_clearly(4)
        assert_whole(crawl.folder)


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    with FakeWeb(heavy_site()) as web:
        tmp_path.chmod(0o500)
        try:
            Disturbed(web, tmp_path / "crawl", ()).start().end().assert_said_clearly(4)
        finally:
            tmp_path.chmod(0o700)


@pytest.mark.parametrize(("soft", "hard"), [(52, 52), (60, 60), (16, 4096)])
def test_few_open_files(tmp_path: Path, soft: int, hard: int) -> None:
    """They bound the connections; no host seems to be dead for want of them."""
    sites = [heavy_site() for _ in range(12)]
    for number, site in enumerate(sites):
        site.address = f"127.0.0.{number + 1}"
        site.pages["/"] = html("<a href='/0'>0</a>")
    with FakeWeb(*sites) as web:
        crawl = Disturbed(web, tmp_path / "crawl", ("-u", "0", "--no-sitemaps", "--parsers", "1"))
        process = crawl.start(before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard)))
        process.end().assert_said_clearly(0)
        assert sum(visit.path == "/0" for visit in web.log) == len(sites)
    assert_whole(crawl.folder)


@pytest.mark.parametrize("limit", [16, 51])
def test_too_few_open_files(tmp_path: Path, limit: int) -> None:
    with FakeWeb(heavy_site()) as web:
        crawl = Disturbed(web, tmp_path / "crawl", ("--parsers", "1"))
        ended = crawl.start(before=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))).end()
        ended.assert_said_clearly(2)
        assert "ulimit" in ended.complaints[0]
        assert not crawl.folder.exists()
        assert not web.log
