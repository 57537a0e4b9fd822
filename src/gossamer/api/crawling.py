"""A crawl as programs see it: pages come out of it as they are committed, to a loop or to an async loop."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from gossamer.api.channel import Channel, Group
from gossamer.api.own import Judge, guarded
from gossamer.api.page import Page, page
from gossamer.api.shelf import Shelf
from gossamer.api.thread import CrawlThread
from gossamer.archive.pages import pages_of
from gossamer.archive.store import is_kept
from gossamer.crawl.hooks import Hooks
from gossamer.crawl.report import Ending, Progress, Report
from gossamer.errors import FetchError, UsageError
from gossamer.records import Outcome
from gossamer.session import Order

ROOM = 4
"""Commits that may wait to be read before the crawl waits."""


class Crawling:
    """One crawl. It begins when it is looped over, entered with ``with`` or ``async with``, or awaited, and ends there:

        for page in crawling: …                 leaving the loop stops the crawl
        with crawling as crawl: …               leaving the block does
        async with crawling as crawl: …
        report = await crawling                 to its end

    Stopping lets what is in flight finish; nothing is lost, and the next crawl of the collection goes on from there.
    """

    def __init__(self, order: Order, hooks: Hooks, judge: Judge | None, shelf: Shelf) -> None:
        self._order = order
        self._hooks = hooks
        self._judge = judge
        self._shelf = shelf
        self._channel = Channel(ROOM)
        self._thread: CrawlThread | None = None
        self._asked: Future[Group | None] | None = None
        self._pages: deque[Page] = deque()
        self._report: Report | None = None
        self._is_over = False
        self._is_held = False  # by a block, in which it may be looped over again

    # --- from outside

    @property
    def report(self) -> Report:
        """How it ended. Raises UsageError while it has not."""
        if self._report is None:
            raise UsageError("the crawl has not ended", hint="the report is there after the loop or the block")
        return self._report

    @property
    def progress(self) -> Progress | None:
        """A snapshot, at most a second old; None before the first."""
        return self._thread.progress if self._thread is not None else None

    def stop(self) -> None:
        """Ask for nothing more. What is in flight is finished, and its pages still come."""
        if self._thread is not None:
            self._thread.stop()

    def abort(self) -> None:
        """Stop at once: transfers in flight are dropped, their URLs wait again."""
        if self._thread is not None:
            self._thread.abort()

    def pause(self) -> None:
        """Ask for nothing until resumed."""
        if self._thread is not None:
            self._thread.pause()

    def resume(self) -> None:
        """Go on after a pause."""
        if self._thread is not None:
            self._thread.resume()

    # --- for programs that wait

    def __enter__(self) -> Self:
        self._start()
        self._is_held = True
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._end()
        if kind is None:
            self._conclude()

    def __iter__(self) -> Iterator[Page]:
        return self._read() if self._is_held else self._owned()

    def run(self) -> Report:
        """Crawl to the end without reading the pages."""
        self._start(is_read=False)
        try:
            self._thread_result().exception()
        finally:
            self._end()
        return self._conclude()

    def _owned(self) -> Iterator[Page]:
        self._start()
        try:
            yield from self._read()
        finally:
            self._end()

    def _read(self) -> Iterator[Page]:
        while self._take(self._ask().result()):
            while self._pages:
                yield self._pages.popleft()
        self._end()
        self._conclude()

    def _end(self) -> None:
        """Stop where that was not done, and wait; a second Ctrl-C drops what is in flight."""
        thread = self._thread
        if thread is None or self._is_over:
            return
        thread.stop()
        self._channel.discard()
        try:
            thread.result.exception()
        except KeyboardInterrupt:
            thread.abort()
            thread.result.exception()
            raise
        finally:
            thread.join()
            self._is_over = True

    # --- for async programs

    async def __aenter__(self) -> Self:
        self._start()
        self._is_held = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._aend()
        if kind is None:
            self._conclude()

    async def __aiter__(self) -> AsyncIterator[Page]:
        if self._thread is None:
            raise UsageError("the crawl was not started", hint="write: async with collection.crawling(…) as crawl")
        while self._take(await asyncio.shield(asyncio.wrap_future(self._ask()))):
            while self._pages:
                yield self._pages.popleft()
        await self._aend()
        self._conclude()

    def __await__(self) -> Generator[Any, None, Report]:
        return self._to_the_end().__await__()

    async def _to_the_end(self) -> Report:
        self._start(is_read=False)
        try:
            await asyncio.shield(_settled(self._thread_result()))
        finally:
            await self._aend()
        return self._conclude()

    async def _aend(self) -> None:
        """As `_end`; cancelled while it waits, it drops what is in flight."""
        thread = self._thread
        if thread is None or self._is_over:
            return
        thread.stop()
        self._channel.discard()
        ended = _settled(thread.result)
        try:
            await asyncio.shield(ended)
        except asyncio.CancelledError:
            thread.abort()
            await ended
            raise
        finally:
            self._is_over = True

    # --- both

    def _start(self, *, is_read: bool = True) -> None:
        if self._thread is not None:
            raise UsageError("a crawl begins once", hint="make another one with crawling(…)")
        self._shelf.let_go()  # the folder may not be there yet, or not any more
        hooks = replace(self._hooks, committed=self._pass_on) if is_read else self._hooks
        if self._judge is not None:
            hooks = replace(hooks, judge=guarded(self._judge, self._fail))
        self._thread = CrawlThread(self._order, hooks, self._channel.close)
        self._thread.start()

    def _fail(self, error: BaseException) -> None:
        self._started().fail(error)

    def _started(self) -> CrawlThread:
        assert self._thread is not None
        return self._thread

    def _thread_result(self) -> Future[Report]:
        return self._started().result

    async def _pass_on(self, outcomes: Sequence[Outcome]) -> None:
        """In the thread of the crawl: tell which pages are durable now. They are read where they are wanted."""
        group = tuple((each.claim.url_id, each.claim.attempts + 1) for each in outcomes if is_kept(each))
        if group:
            await self._channel.put(group)

    def _ask(self) -> Future[Group | None]:
        """The next group; asked for once, also when who waited for it was interrupted."""
        if self._asked is None and self._pages:  # left over from a loop that was left
            self._asked = Future()
            self._asked.set_result(())
        elif self._asked is None:
            self._asked = self._channel.get()
        return self._asked

    def _take(self, group: Group | None) -> bool:
        """Read the pages of a group; False when it was the last."""
        self._asked = None
        if group is None:
            return False
        with self._shelf.reading() as connection:
            self._pages.extend(page(row, self._shelf) for row in pages_of(connection, group))
        return True

    def _conclude(self) -> Report:
        """The report. Raises what ended the crawl, and FetchError when no seed could be fetched."""
        if self._report is None:
            report = self._thread_result().result()
            if report.ending is Ending.NO_SEED:
                reasons = "; ".join(report.seed_failures[:5])
                raise FetchError(f"no seed could be fetched: {reasons or 'see the log'}", hint="check the address")
            self._report = report
        return self._report


def _settled(result: Future[Report]) -> asyncio.Task[None]:
    """Waits for a result, and does not raise what it is."""

    async def wait() -> None:
        wrapped = asyncio.wrap_future(result)
        await asyncio.wait([wrapped])
        wrapped.exception()

    return asyncio.ensure_future(wait())


def consume(crawling: Crawling, on_page: Callable[[Page], object] | None) -> Report:
    """A crawl to its end, each page given to a function."""
    if on_page is None:
        return crawling.run()
    for each in crawling:
        on_page(each)
    return crawling.report
