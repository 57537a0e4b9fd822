"""Crawls in programs that wait: loops, callbacks, blocks, and how each of them ends."""

import asyncio
import shutil
import threading
from pathlib import Path

import pytest

import gossamer
from conftest import Serve
from crawl.crawling import ParsersInThreads
from gossamer import session

from .webs import chain, fan, path, small


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "ParserPool", ParsersInThreads)


def test_a_crawl_is_one_call(serve: Serve, collection: gossamer.Collection) -> None:
    report = collection.crawl(serve(small()).url())
    assert report.ending is gossamer.Ending.DONE
    assert report.statistics.pages == 6
    assert report.statistics.failed == 1


def test_pages_come_as_they_are_committed(serve: Serve, collection: gossamer.Collection) -> None:
    web = serve(small())
    found = {}
    for page in collection.crawling(web.url()):
        known = collection.page(page.url)
        assert known == page
        found[page.url.removeprefix(web.origin())] = (page.title, page.depth, page.is_html)
    assert found == {
        "/": ("Start", 0, True),
        "/a": ("A", 1, True),
        "/b": ("B", 1, True),
        "/notes.txt": ("", 1, False),
        "/new": ("New", 1, True),
        "/shy": ("Shy", 1, True),
    }


def test_a_callback_gets_each_page_in_the_thread_that_called(serve: Serve, collection: gossamer.Collection) -> None:
    threads = []
    report = collection.crawl(serve(small()).url(), on_page=lambda page: threads.append(threading.current_thread()))
    assert threads == [threading.current_thread()] * report.statistics.pages


def test_settings_are_keyword_arguments_and_are_kept(serve: Serve, collection: gossamer.Collection) -> None:
    url = serve(small()).url()
    assert collection.crawl(url, max_urls=2, user_agent="Test", max_size="1M").statistics.pages == 2
    assert (collection.folder / "gossamer.toml").read_text().count("max_urls = 2") == 1
    assert collection.crawl().ending is gossamer.Ending.MAX_URLS
    assert collection.crawl(max_urls=0).statistics.pages == 6


def test_leaving_the_loop_stops_the_crawl_and_the_next_goes_on(serve: Serve, collection: gossamer.Collection) -> None:
    web = serve(chain(30))
    for page in collection.crawling(web.url()):
        if page.title == "page 3":
            break
    assert collection.status().state == "stopped"
    assert collection.crawl().ending is gossamer.Ending.DONE
    asked = [visit.path for visit in web.log if not visit.path.endswith((".txt", ".xml"))]
    assert sorted(asked) == sorted(path(number) for number in range(31))


def test_an_error_in_the_loop_stops_the_crawl(serve: Serve, collection: gossamer.Collection) -> None:
    with pytest.raises(ZeroDivisionError):
        for _ in collection.crawling(serve(chain(100)).url()):
            1 / 0  # noqa: B018
    assert collection.status().state == "stopped"
    assert collection.status().pages < 100


def test_a_block_can_be_left_and_looped_over_again(serve: Serve, collection: gossamer.Collection) -> None:
    with collection.crawling(serve(chain(20)).url()) as crawl:
        pages = iter(crawl)
        first, second = next(pages), next(pages)
        pages = iter(())
        with pytest.raises(gossamer.UsageError, match="has not ended"):
            _ = crawl.report
        rest = [page.title for page in crawl]
    assert [first.title, second.title, *rest] == [f"page {number}" for number in range(21)]
    assert crawl.report.ending is gossamer.Ending.DONE


def test_it_can_be_stopped_and_what_is_in_flight_still_comes(serve: Serve, collection: gossamer.Collection) -> None:
    with collection.crawling(serve(chain(1000)).url()) as crawl:
        for number, _ in enumerate(crawl):
            if number == 3:
                crawl.stop()
    assert crawl.report.ending is gossamer.Ending.STOPPED
    assert number < 999
    assert number + 1 == crawl.report.statistics.pages


def test_it_can_be_paused(serve: Serve, collection: gossamer.Collection) -> None:
    web = serve(chain(50))
    with collection.crawling(web.url()) as crawl:
        next(iter(crawl))
        crawl.pause()
        asked = len(web.log)
        threading.Event().wait(1.2)
        assert len(web.log) <= asked + 2
        assert crawl.progress is not None
        assert crawl.progress.pause == "by the program"
        crawl.resume()
        assert sum(1 for _ in crawl) == 50


def test_a_slow_reader_slows_the_crawl(serve: Serve, collection: gossamer.Collection) -> None:
    """Pages that nobody reads wait at their servers and not in memory."""
    web = serve(fan(600))
    with collection.crawling(web.url(), max_urls=0) as crawl:
        pages = iter(crawl)
        next(pages)
        before = -1
        while before != len(web.log):
            before = len(web.log)
            threading.Event().wait(0.7)
        assert before < 550
        assert sum(1 for _ in pages) == 600


def test_without_a_page_that_can_be_fetched_it_is_an_error(tmp_path: Path) -> None:
    with gossamer.open(tmp_path / "c", create=True) as collection:
        with pytest.raises(gossamer.FetchError, match="no seed could be fetched"):
            collection.crawl("http://127.0.0.1:9/", max_tries=1)
        with pytest.raises(gossamer.FetchError, match="connection refused"):
            list(collection.crawling("http://127.0.0.1:9/", max_tries=1))
    assert not (tmp_path / "c").exists()


def test_what_is_wrong_is_said_before_anything_begins(tmp_path: Path) -> None:
    with gossamer.open(tmp_path / "c", create=True) as collection:
        with pytest.raises(gossamer.SettingsError, match="did you mean max_urls"):
            collection.crawl("http://a.test/", max_url=3)  # type: ignore[call-arg]  # what a program may say
        with pytest.raises(gossamer.SettingsError, match="max_urls can't be"):
            collection.crawling("http://a.test/", max_urls="many")  # type: ignore[arg-type]  # as before
        with pytest.raises(gossamer.UsageError, match="ftp"):
            collection.crawling("ftp://a.test/")
        with pytest.raises(gossamer.UsageError, match="no address was given"):
            collection.crawling()
    assert not (tmp_path / "c").exists()


def test_one_crawl_at_a_time(serve: Serve, collection: gossamer.Collection) -> None:
    with collection.crawling(serve(chain(1000)).url()) as crawl:
        next(iter(crawl))
        with pytest.raises(gossamer.CollectionLocked):
            collection.crawl()
    with pytest.raises(gossamer.UsageError, match="begins once"), crawl:
        pass


def test_a_crawl_that_is_over_is_not_looped_over_again(serve: Serve, collection: gossamer.Collection) -> None:
    crawl = collection.crawling(serve(small()).url())
    assert len(list(crawl)) == 6
    with pytest.raises(gossamer.UsageError, match="begins once"):
        list(crawl)


def test_crawls_in_one_program_have_a_log_each(serve: Serve, tmp_path: Path) -> None:
    webs = {name: serve(chain(3)) for name in "ab"}
    opened = {name: gossamer.open(tmp_path / name, create=True) for name in webs}
    crawls = [opened[name].crawling(web.url(), log_level="debug") for name, web in webs.items()]
    for _ in zip(*crawls, strict=True):
        pass
    for name, web in webs.items():
        log = (tmp_path / name / "gossamer.log").read_text()
        assert log.count(f"finished {web.origin()}") == 5  # with the sitemap that it has not
        assert log.count("finished ") == 5
        assert log.count("started with 1 seeds") == 1
        opened[name].close()


def test_a_folder_that_goes_away_is_told(serve: Serve, collection: gossamer.Collection) -> None:
    with pytest.raises(gossamer.ArchiveError, match="can't be written"):
        for _ in collection.crawling(serve(chain(1000)).url(), delay=0.05):
            shutil.rmtree(collection.folder, ignore_errors=True)


def test_only_collections_are_opened(tmp_path: Path) -> None:
    with pytest.raises(gossamer.CollectionError, match="does not exist"):
        gossamer.open(tmp_path / "c")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").touch()
    with pytest.raises(gossamer.CollectionError, match="is no collection"):
        gossamer.open(tmp_path / "photos")
    with pytest.raises(gossamer.CollectionError, match="is no collection"):
        gossamer.open(str(tmp_path / "photos"), create=True)


def test_a_stop_before_the_first_page_leaves_nothing_behind(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def start(_: ParsersInThreads) -> None:
        await asyncio.sleep(30)

    monkeypatch.setattr(ParsersInThreads, "start", start)
    collection = gossamer.open(tmp_path / "c", create=True)
    with pytest.raises(gossamer.Interrupted), collection.crawling(serve(small()).url()) as crawl:
        crawl.stop()
    assert not (tmp_path / "c").exists()
