"""A crawl that runs, seen and told from another process: its heartbeat, its commands, its events."""

import asyncio
import itertools
import json
import logging
import os
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import apsw
import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import meanwhile, paths
from fakeweb import Site, recipes
from fakeweb.recipes import html, links, robots, status
from gossamer.archive.database import select
from gossamer.crawl.manager import Crawl
from gossamer.crawl.report import Ending, Progress
from oracle import check_politeness


@dataclass
class Remote:
    """What another process can do: read, and write commands."""

    folder: Path

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(self.folder / "crawl.db"))
        connection.set_busy_timeout(5000)
        return connection

    def read(self, query: str) -> list[tuple[Any, ...]]:
        connection = self._connect()
        try:
            return select(connection, query)
        finally:
            connection.close()

    def ask(self, verb: str, **arguments: object) -> str:
        """The crawl's answer."""
        connection = self._connect()
        try:
            values = (time.time(), verb, json.dumps(arguments))
            connection.execute("INSERT INTO command (at, verb, arguments) VALUES (?, ?, ?)", values)
            number = connection.last_insert_rowid()
            until = time.monotonic() + 10
            while time.monotonic() < until:
                ((done, answer),) = select(connection, "SELECT done, answer FROM command WHERE id = ?", (number,))
                if done is not None:
                    return str(answer)
                time.sleep(0.01)
        finally:
            connection.close()
        raise TimeoutError(verb)


@pytest.fixture(autouse=True)
def quick_beat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.crawl.heartbeat.PERIOD", 0.05)


def long_site(count: int = 60, delay: float = 0.02) -> Site:
    found = [f"/{number}" for number in range(count)]
    return Site({"/": links(*found)}, lambda asked: html(f"page {asked.path}", delay=delay))


def test_pause_and_resume(serve: Serve, crawl: CrawlIt, tmp_path: Path) -> None:
    web, remote = serve(long_site()), Remote(tmp_path / "c")
    counts = []

    def work() -> None:
        web.wait(lambda log: len(log) > 5)
        assert remote.ask("pause") == "paused"
        time.sleep(0.1)
        counts.append(len(web.log))
        time.sleep(0.2)
        counts.append(len(web.log))
        assert remote.read("SELECT state FROM heartbeat") == [("paused",)]
        assert remote.ask("resume") == "resumed"

    with meanwhile(work):
        crawled = crawl(web)
    assert counts[0] == counts[1] < 60
    assert len(crawled.kept()) == 61
    events = crawled.select("SELECT kind, body FROM event ORDER BY id")
    assert [kind for kind, _ in events] == ["started", "paused", "resumed", "stopped"]
    assert json.loads(events[1][1]) == {"reason": "by command"}


def test_stop_finishes_what_is_in_flight(serve: Serve, crawl: CrawlIt, tmp_path: Path) -> None:
    web, remote = serve(*(long_site(20, delay=0.05) for _ in range(3))), Remote(tmp_path / "c")

    def work() -> None:
        web.wait(lambda log: len(log) > 8)
        assert remote.ask("stop") == "stopping"

    with meanwhile(work):
        crawled = crawl(*(web.url("/", site) for site in web.sites))
    assert crawled.report.ending is Ending.STOPPED
    assert len(crawled.kept()) == len(paths(web.log)) < 60, "nothing was dropped"
    assert {visit.outcome for visit in web.log} == {"whole"}
    crawled = crawl(base=web.origin())
    assert len(crawled.kept()) == len(paths(web.log)) == 63


def test_stop_while_paused(serve: Serve, crawl: CrawlIt, tmp_path: Path) -> None:
    web, remote = serve(long_site()), Remote(tmp_path / "c")

    def work() -> None:
        web.wait(lambda log: len(log) > 3)
        remote.ask("pause")
        remote.ask("stop")

    with meanwhile(work):
        assert crawl(web).report.ending is Ending.STOPPED


def test_abort_drops_what_is_in_flight_and_loses_nothing(serve: Serve, crawl: CrawlIt) -> None:
    """What a second Ctrl-C does."""
    slow = Site({"/": links("/a", "/slow")}, lambda asked: html("a" + asked.path))
    slow.pages["/slow"] = recipes.times(1, recipes.slow("late", 20), html("in time"))
    web = serve(slow)

    running: list[tuple[Crawl, asyncio.AbstractEventLoop]] = []

    def work() -> None:
        web.wait(lambda log: any(visit.path == "/slow" for visit in log))
        time.sleep(0.2)  # until what came before is durable
        manager, loop = running[0]
        loop.call_soon_threadsafe(manager.abort)

    began = time.monotonic()
    with meanwhile(work):
        crawled = crawl(web, started=lambda manager: running.append((manager, asyncio.get_running_loop())))
    assert time.monotonic() - began < 5
    assert crawled.report.ending is Ending.STOPPED
    assert (crawled["/slow"].state, crawled["/slow"].attempts) == ("waiting", 0)
    crawled = crawl(base=web.origin())
    assert crawled["/slow"].is_done
    assert paths(web.log).count("/a") == 1


def test_what_an_earlier_crawl_was_told(serve: Serve, crawl: CrawlIt, tmp_path: Path) -> None:
    """A stop that nobody heard does not end the next crawl; a wish for URLs is still one."""
    site = long_site(5)
    site.pages["/0"] = links("/deep")
    web, remote = serve(site), Remote(tmp_path / "c")
    crawl(web, max_depth=1)
    connection = apsw.Connection(str(tmp_path / "c" / "crawl.db"))
    for verb in ("stop", "release"):
        connection.execute("INSERT INTO command (at, verb, arguments) VALUES (?, ?, '{}')", (time.time(), verb))
    connection.close()
    crawled = crawl(base=web.origin())
    assert crawled.report.ending is Ending.DONE
    assert crawled["/deep"].is_done
    assert remote.read("SELECT answer FROM command ORDER BY id") == [
        ("error: the crawl that it was meant for had ended",),
        ("1",),
    ]


def test_commands_that_are_none_stop_no_crawl(serve: Serve, crawl: CrawlIt, tmp_path: Path) -> None:
    """Anybody may have written them, in another program or by hand."""
    web, remote = serve(long_site(5)), Remote(tmp_path / "c")
    crawl(web, max_urls=1)
    bad = [
        ("stop", "{"),
        ("stop", ""),
        ("stop", "[" * 100_000),
        ("release", "[1]"),
        ("release", b"\xff\xfe"),
        (b"\xff\xfe", "{}"),
        (7, "{}"),
        ("release", 12),
        ("release", '{"reason": "\\ud800"}'),
        ("add", '{"urls": ["http://x.test/\\udfff"]}'),
        ("add", '{"urls": [null]}'),
        ("retry", '{"patterns": ["re:("]}'),
        ("set_rate", '{"delay": NaN}'),
        ("set_rate", '{"delay": 1e999}'),
        ("set_rate", '{"delay": "0"}'),
        ("x" * 10_000_000, "{}"),
        ("release", '"' + "x" * 10_000_000 + '"'),
    ]
    connection = apsw.Connection(str(tmp_path / "c" / "crawl.db"))
    for verb, arguments in bad:
        connection.execute("INSERT INTO command (at, verb, arguments) VALUES ('now', ?, ?)", (verb, arguments))
        connection.execute("UPDATE command SET at = 9e12 WHERE verb = 'set_rate'")
    connection.close()
    crawled = crawl(base=web.origin(), max_urls=0)
    assert crawled.report.ending is Ending.DONE
    answers = remote.read("SELECT answer FROM command ORDER BY id")
    assert len(answers) == len(bad)
    assert all(str(answer).startswith("error: ") for (answer,) in answers), answers


def test_add(serve: Serve, crawl: CrawlIt, tmp_path: Path) -> None:
    web = serve(long_site(20), other := Site({"/x": links("/y"), "/y": html("y")}))
    remote, answers = Remote(tmp_path / "c"), []

    def work() -> None:
        web.wait(lambda log: len(log) > 3)
        answers.append(remote.ask("add", urls=[web.url("/x", other), web.url("/3")]))
        answers.append(remote.ask("add", urls=["ftp://x.test/"]))
        answers.append(remote.ask("add", urls="not a list"))
        answers.append(remote.ask("dance"))
        answers.append(remote.ask("skip_host"))

    with meanwhile(work):
        crawled = crawl(web)
    assert answers[0] == "1"
    assert all(answer.startswith("error: ") for answer in answers[1:])
    assert crawled[web.url("/y", other)].is_done, "its host belongs to the scope, and may be private"
    assert len(crawled.kept()) == 23


def test_release(serve: Serve, crawl: CrawlIt, tmp_path: Path) -> None:
    site = long_site(20)
    site.pages["/0"] = links("/deep", "/deeper", "http://elsewhere.test/")
    web, remote = serve(site), Remote(tmp_path / "c")

    def work() -> None:
        web.wait(lambda log: any(visit.path == "/5" for visit in log))
        assert remote.ask("release", reason="deeper than") == "2"

    with meanwhile(work):
        crawled = crawl(web, max_depth=1)
    assert crawled["/deep"].is_done
    assert crawled["/deeper"].is_done
    assert crawled["http://elsewhere.test/"].held


def test_retry_takes_a_host_back(serve: Serve, crawl: CrawlIt, tmp_path: Path) -> None:
    web = serve(long_site(40), ill := Site({"/robots.txt": recipes.times(2, status(500), robots("")), "/": html("ok")}))
    remote = Remote(tmp_path / "c")

    def work() -> None:
        web.wait(lambda log: sum(visit.port == web.port(ill) for visit in log) == 2)
        until = time.monotonic() + 5
        while not remote.read("SELECT 1 FROM host WHERE put_aside != ''") and time.monotonic() < until:
            time.sleep(0.01)
        assert remote.ask("retry", host=web.origin(ill).removeprefix("http://")) == "1"

    with meanwhile(work):
        crawled = crawl(web.url(), web.url("/", ill), max_tries=2)
    assert crawled[web.url("/", ill)].is_done


def test_skip_a_host(serve: Serve, crawl: CrawlIt, tmp_path: Path) -> None:
    web = serve(long_site(20), dull := long_site(60))
    remote = Remote(tmp_path / "c")

    def work() -> None:
        web.wait(lambda log: sum(visit.port == web.port(dull) for visit in log) > 4)
        assert int(remote.ask("skip_host", host=web.origin(dull).removeprefix("http://"))) > 30

    with meanwhile(work):
        crawled = crawl(web.url(), web.url("/", dull))
    assert crawled.report.ending is Ending.DONE
    assert sum(row.reason == "skipped by command" for row in crawled.rows.values() if row.held) > 30
    assert crawled.report.progress.statistics.waiting == 0


def test_set_rate(serve: Serve, crawl: CrawlIt, tmp_path: Path) -> None:
    web, remote = serve(long_site(12, delay=0.01)), Remote(tmp_path / "c")
    moments = []

    def work() -> None:
        web.wait(lambda log: len(log) > 3)
        assert remote.ask("set_rate", delay=0.1) == "set"
        moments.append(time.monotonic())
        assert remote.ask("set_rate", delay=-1).startswith("error: ")

    with meanwhile(work):
        crawl(web, delay=0.03, slow_factor=0)
    after = [visit for visit in web.log if visit.at_monotonic > moments[0] + 0.1]
    assert len(after) > 3
    assert check_politeness(after, 0.1) == []


def test_the_heartbeat(serve: Serve, crawl: CrawlIt, tmp_path: Path) -> None:
    web, remote = serve(long_site(30)), Remote(tmp_path / "c")
    seen: list[tuple[Any, ...]] = []

    def work() -> None:
        web.wait(lambda log: len(log) > 10)
        time.sleep(0.1)
        seen.extend(remote.read("SELECT at, pid, state, clean, body FROM heartbeat"))
        seen.append((time.time(),))

    with meanwhile(work):
        crawled = crawl(web)
    (at, pid, state, clean, body), (now,) = seen
    assert (pid, state, clean) == (os.getpid(), "running", 0)
    assert now - at < 1.0
    said = json.loads(body)
    assert said["downloaders"] == 16
    assert 0 <= said["downloaders_busy"] <= 1
    assert said["elapsed"] > 0
    assert crawled.select("SELECT state, clean FROM heartbeat") == [("stopped", 1)]


def test_who_observes_sees_it_grow(serve: Serve, crawl: CrawlIt) -> None:
    pages: list[int] = []
    states: set[str] = set()

    def observe(progress: Any) -> None:
        pages.append(progress.statistics.pages)
        states.add(progress.state)

    crawled = crawl(serve(long_site(20)), observe=observe)
    assert pages == sorted(pages)
    assert pages[-1] > pages[0] == 0
    assert states == {"running"}
    assert crawled.report.progress.statistics.pages == 21


def test_low_disk_pauses(serve: Serve, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch) -> None:
    """And it goes on when there is room again."""
    web = serve(long_site(30))
    looks = itertools.count()

    def disk_usage(_: Path) -> SimpleNamespace:
        return SimpleNamespace(free=1 if 3 <= next(looks) < 8 else 10**12)

    monkeypatch.setattr("gossamer.crawl.heartbeat.shutil.disk_usage", disk_usage)
    crawled = crawl(web, min_free=1000)
    assert len(crawled.kept()) == 31
    assert crawled.select("SELECT kind, body FROM event ORDER BY id")[1:3] == [
        ("paused", '{"reason": "little room on the disk"}'),
        ("resumed", "{}"),
    ]


def test_where_time_goes(
    serve: Serve, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("gossamer.crawl.heartbeat.LOG_PERIOD", 0.0)
    monkeypatch.setattr("gossamer.crawl.heartbeat.PERIOD", 0.05)
    caplog.set_level(logging.INFO, "gossamer.crawl")
    web = serve(Site({"/": links(*(f"/{number}" for number in range(30)))}, lambda asked: html(asked.path, delay=0.01)))
    seen: list[Progress] = []
    crawl(web, observe=seen.append)
    depths = seen[-1].depths
    assert 0 < depths.parse_seconds < 60
    assert 0 < depths.commit_seconds <= depths.slowest_commit < 60
    assert any("commit_seconds" in record.getMessage() for record in caplog.records)
