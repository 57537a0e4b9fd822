"""Crawls in async programs and notebooks: an event loop that runs already is left alone."""

import asyncio

import pytest

import gossamer
from conftest import Serve
from crawl.crawling import ParsersInThreads
from fakeweb import FakeWeb, Page
from gossamer import session

from .webs import chain, small


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "ParserPool", ParsersInThreads)


def test_pages_come_as_they_are_committed(serve: Serve, collection: gossamer.Collection) -> None:
    async def main() -> list[str]:
        async with collection.crawling(serve(small()).url()) as crawl:
            titles = [page.title async for page in crawl]
        assert crawl.report.ending is gossamer.Ending.DONE
        return titles

    assert sorted(asyncio.run(main())) == ["", "A", "B", "New", "Shy", "Start"]


def test_a_crawl_can_be_awaited(serve: Serve, collection: gossamer.Collection) -> None:
    async def main() -> gossamer.Report:
        return await collection.crawling(serve(small()).url())

    assert asyncio.run(main()).statistics.pages == 6


def test_a_notebook_s_loop_that_runs_already_is_left_alone(serve: Serve, collection: gossamer.Collection) -> None:
    async def cell() -> int:
        count = sum(1 for _ in collection.crawling(serve(small()).url()))
        collection.crawl()
        return count

    assert asyncio.run(cell()) == 6


def test_a_slow_moment_of_the_program_does_not_hold_up_the_crawl(serve: Serve, collection: gossamer.Collection) -> None:
    web = serve(chain(8))

    async def main() -> None:
        async with collection.crawling(web.url()):
            web.wait(lambda visits: len(visits) >= 8)  # blocks the program's loop

    asyncio.run(main())


def test_other_tasks_go_on_meanwhile(serve: Serve, collection: gossamer.Collection) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.005)
            ticks += 1

    async def main() -> None:
        ticking = asyncio.create_task(tick())
        await collection.crawling(serve(chain(20)).url())
        ticking.cancel()

    asyncio.run(main())
    assert ticks > 5


def test_leaving_the_block_stops_the_crawl(serve: Serve, collection: gossamer.Collection) -> None:
    async def main() -> None:
        async with collection.crawling(serve(chain(1000)).url()) as crawl:
            async for page in crawl:
                if page.title == "page 2":
                    break
        assert crawl.report.ending is gossamer.Ending.STOPPED

    asyncio.run(main())
    assert collection.status().pages < 900


def test_a_task_that_is_cancelled_stops_the_crawl(serve: Serve, collection: gossamer.Collection) -> None:
    web = serve(chain(1000))

    async def read() -> None:
        async with collection.crawling(web.url()) as crawl:
            async for _ in crawl:
                pass

    async def main() -> None:
        for work in (read(), _awaiting(collection.crawling(web.url()))):
            task = asyncio.ensure_future(work)
            await asyncio.to_thread(_wait_for_more, web, len(web.log) + 5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())
    assert collection.status().state == "stopped"
    assert 5 < collection.status().pages < 900


def _wait_for_more(web: FakeWeb, count: int) -> None:
    web.wait(lambda visits: len(visits) > count)


async def _awaiting(crawl: gossamer.Crawling) -> gossamer.Report:
    return await crawl


def test_a_page_is_not_lost_to_a_time_out(serve: Serve, collection: gossamer.Collection) -> None:
    site = chain(6)
    slow = site.pages["/"]
    assert isinstance(slow, Page)

    async def main() -> list[str]:
        titles: list[str] = []
        async with collection.crawling(serve(site).url()) as crawl:
            while len(titles) < 7:
                pages = aiter(crawl)
                try:
                    async with asyncio.timeout(0.02):
                        while True:
                            titles.append((await anext(pages)).title)
                except (TimeoutError, StopAsyncIteration):
                    continue
        return titles

    assert asyncio.run(main()) == [f"page {number}" for number in range(7)]


def test_errors_come_out(serve: Serve, collection: gossamer.Collection) -> None:
    async def main() -> None:
        with pytest.raises(gossamer.FetchError):
            await collection.crawling("http://127.0.0.1:9/", max_tries=1)
        with pytest.raises(gossamer.FetchError):
            async with collection.crawling("http://127.0.0.1:9/", max_tries=1) as crawl:
                async for _ in crawl:
                    pass
        with pytest.raises(gossamer.UsageError, match="async with"):
            async for _ in collection.crawling("http://127.0.0.1:9/"):
                pass

    asyncio.run(main())
