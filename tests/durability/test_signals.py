"""Ctrl-C and SIGTERM: the first finishes what is in flight and commits, the second stops at once; nothing is lost."""

import signal
import time
from pathlib import Path

import pytest

from durability.crawling import Disturbed, assert_whole, states
from fakeweb import FakeWeb, Site
from fakeweb.page import Page
from oracle.politeness import check_politeness

QUICK = ("-u", "0", "--delay", "0.5", "--no-sitemaps")
WAITING, FINISHED = (0, 0, None), (2, 0, 200)


def site_with(seconds: float) -> Site:
    """Three pages, the second of which takes some time."""
    return Site(
        {
            "/robots.txt": Page(b"", content_type="text/plain"),
            "/": Page(b'<a href="/slow">slow</a><a href="/other">other</a>'),
            "/slow": Page(b"<title>slow</title>", delay=seconds),
            "/other": Page(b"<title>other</title>"),
        }
    )


def until_it_is_slow(web: FakeWeb) -> None:
    web.wait(lambda log: bool(log) and log[-1].path == "/slow")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_one_finishes_what_is_in_flight(tmp_path: Path, number: signal.Signals) -> None:
    with FakeWeb(site_with(1.0)) as web:
        crawl = Disturbed(web, tmp_path / "crawl", QUICK)
        process = crawl.start()
        until_it_is_slow(web)
        process.signal(number)
        ended = process.end()
        ended.assert_said_clearly(130)
        assert f"gossamer crawl {crawl.folder}" in ended.err.splitlines()[-1]
        assert process.left_behind() == []
        assert [visit.path for visit in web.log] == ["/robots.txt", "/", "/slow"]
        assert states(crawl.folder, web) == {(0, "/"): FINISHED, (0, "/slow"): FINISHED, (0, "/other"): WAITING}
        crawl.finish()
        assert [visit.path for visit in web.log] == ["/robots.txt", "/", "/slow", "/other"]
        assert check_politeness(web.log, 0.5) == []
    assert_whole(crawl.folder)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_second_one_stops_at_once(tmp_path: Path, number: signal.Signals) -> None:
    site = site_with(60.0)
    with FakeWeb(site) as web:
        crawl = Disturbed(web, tmp_path / "crawl", QUICK)
        process = crawl.start()
        until_it_is_slow(web)
        process.signal(number)
        process.wait_for("Finishing what is in flight")
        process.signal(number)
        process.end(10).assert_said_clearly(130)
        assert process.left_behind() == []
        assert states(crawl.folder, web) == {(0, "/"): FINISHED, (0, "/slow"): WAITING, (0, "/other"): WAITING}
        assert_whole(crawl.folder)
        site.pages["/slow"] = Page(b"<title>slow</title>")
        crawl.finish()
        assert [visit.path for visit in web.log] == ["/robots.txt", "/", "/slow", "/slow", "/other"]
        assert check_politeness(web.log, 0.5) == []  # also between the one that was dropped and the next
    assert_whole(crawl.folder)


def test_a_crawl_that_waits_stops_as_well(tmp_path: Path) -> None:
    with FakeWeb(site_with(0.0)) as web:
        crawl = Disturbed(web, tmp_path / "crawl", ("-u", "0", "--delay", "1h", "--no-sitemaps"))
        process = crawl.start()
        web.wait(lambda log: bool(log))
        time.sleep(0.2)  # it has the answer
        process.signal(signal.SIGINT)
        process.end(10).assert_said_clearly(130)
        assert process.left_behind() == []
    assert_whole(crawl.folder)


def test_stopped_before_it_began(tmp_path: Path) -> None:
    with FakeWeb(site_with(0.0)) as web:
        crawl = Disturbed(web, tmp_path / "crawl", QUICK)
        process = crawl.start()
        while not crawl.folder.exists() and process.popen.poll() is None:
            time.sleep(0.001)
        process.signal(signal.SIGINT)
        ended = process.end(10)
        ended.assert_said_clearly(130)
        assert process.left_behind() == []
        crawl.finish()
    assert_whole(crawl.folder)
