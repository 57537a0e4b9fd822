"""A crawl in a thread of its own, with an event loop of its own.

So it works in a script, where nobody runs a loop, in a notebook, where one runs already, and beside an async program,
whose slow moments do not hold up the transfers of the crawl.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

from gossamer.crawl.hooks import Hooks
from gossamer.crawl.manager import Crawl
from gossamer.crawl.report import Progress, Report
from gossamer.errors import Interrupted
from gossamer.session import Order, crawl

_BY_PROGRAM = "by the program"


class CrawlThread:
    """One crawl from start to end. Its verbs can be called from any thread, and do nothing when it has ended."""

    def __init__(self, order: Order, hooks: Hooks, ended: Callable[[], None]) -> None:
        """``ended`` is called in its thread, as its last act before the result is there."""
        self._order = order
        self._hooks = hooks
        self._ended = ended
        self._loop = asyncio.new_event_loop()
        self._manager: Crawl | None = None
        self._beginning: asyncio.Task[Report] | None = None
        self._failure: BaseException | None = None
        self.progress: Progress | None = None
        self.result: Future[Report] = Future()
        self._thread = threading.Thread(target=self._run, name=f"crawl of {order.folder}")

    def start(self) -> None:
        """Begin; it must be waited for, or the program does not end before it."""
        self._thread.start()

    def stop(self) -> None:
        """Hand out nothing more; what is in flight is finished and committed."""
        self._call(Crawl.stop, self._give_up)

    def abort(self) -> None:
        """Stop at once: transfers in flight are dropped, their URLs are waiting again."""
        self._call(Crawl.abort, self._give_up)

    def pause(self) -> None:
        """Ask for nothing until resumed."""
        self._call(lambda manager: manager.pause(_BY_PROGRAM))

    def resume(self) -> None:
        """Go on after a pause."""
        self._call(lambda manager: manager.resume(_BY_PROGRAM))

    def fail(self, error: BaseException) -> None:
        """Stop, and have an error of the program's own code as the result."""
        self._failure = self._failure or error
        self.stop()

    def join(self) -> None:
        """Wait until the thread is gone, after the result is there."""
        self._thread.join()

    def _give_up(self) -> None:
        if self._beginning is not None:
            self._beginning.cancel()

    def _call(self, act: Callable[[Crawl], object], before: Callable[[], object] = lambda: None) -> None:
        """Have something done in the thread of the crawl; ``before`` it has begun, something else."""

        def do() -> None:
            if self._manager is not None:
                act(self._manager)
            else:
                before()

        with suppress(RuntimeError):  # it has ended, and its loop is closed
            self._loop.call_soon_threadsafe(do)

    def _run(self) -> None:
        outcome = self._outcome()
        self._ended()
        if isinstance(outcome, Report):
            self.result.set_result(outcome)
        else:
            self.result.set_exception(outcome)

    def _outcome(self) -> Report | BaseException:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                report = runner.run(self._crawl())
        except asyncio.CancelledError:
            return self._failure or Interrupted("stopped before the first page", hint="start it again")
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is waited for
            return self._failure or error
        return self._failure or report

    async def _crawl(self) -> Report:
        self._beginning = asyncio.current_task()
        return await crawl(self._order, self._observe, self._begin, hooks=self._hooks)

    def _begin(self, manager: Crawl) -> None:
        self._manager = manager

    def _observe(self, progress: Progress) -> None:
        self.progress = progress
