"""The crawl manager: one loop that hands out URLs while there is work, room and time.

How one URL travels:

1. `Frontier.lease` hands out a claim: the next URL in the order found whose host may be asked.
2. `Visitor` looks at robots.txt and fetches; the host is free again as soon as its answer is there.
3. `Pipeline` has a worker parse the body, concludes what becomes of the URL, and commits groups of outcomes.
4. The commit gives the frontier new URLs, and the loop goes on.

A crawl is over when nothing is under way and the frontier has nothing that could be leased now or later.
"""

import asyncio
import logging
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from gossamer.clock import Clock
from gossamer.crawl.bell import Bell
from gossamer.crawl.conclude import NEVER_REACHED
from gossamer.crawl.pipeline import Pipeline
from gossamer.crawl.report import Ending, Progress, Report
from gossamer.crawl.visit import Visitor
from gossamer.fetch.downloaders import DownloaderPool
from gossamer.frontier.contract import Frontier, Wait
from gossamer.policy import failures
from gossamer.policy.politeness import LinkMonitor
from gossamer.records import Claim, Exchange, Failure, Outcome, Statistics
from gossamer.settings import Settings

log = logging.getLogger("gossamer.crawl")

_RATE_WINDOW = 10.0
_OVERLOADED = frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class Parts:
    """What a crawl is put together from."""

    frontier: Frontier
    visitor: Visitor
    pipeline: Pipeline
    settings: Settings
    clock: Clock


class Crawl:
    """One run of the crawl manager. The parts ring ``bell`` when something happened that it should look at."""

    def __init__(self, parts: Parts, bell: Bell) -> None:
        self._frontier = parts.frontier
        self._visitor = parts.visitor
        self._pipeline = parts.pipeline
        self._settings = parts.settings
        self._clock = parts.clock
        self._bell = bell
        self._started = parts.clock.now()
        self._pool = DownloaderPool(parts.settings.downloaders, parts.settings.max_downloaders, self._started)
        self._link = LinkMonitor()
        parts.visitor.link_was_down = self._link_was_down
        self._tasks: set[asyncio.Task[None]] = set()
        self._error: BaseException | None = None
        self._stopping: Ending | None = None
        self._spoilt: list[Claim] = []  # tries that are to be forgiven
        self._held_open = 0
        self._looks_at = 0.0  # when the loop wakes up, whatever happens
        self.is_over = False
        self._pauses: dict[str, float | None] = {}  # why: until when; None: until it is lifted
        self._rates: list[tuple[float, int, int]] = []
        self._unreachable: dict[int, str] = {}  # hosts that could not be reached so far, with the reason

    # --- from outside

    def stop(self, ending: Ending = Ending.STOPPED) -> None:
        """Hand out nothing more; what is in flight is finished and committed."""
        self._stopping = self._stopping or ending
        self._bell.ring()

    def abort(self) -> None:
        """Stop at once: transfers in flight are dropped, their URLs are waiting again."""
        self.stop()
        self._drop()

    def _drop(self) -> None:
        for task in self._tasks:
            task.cancel()

    def pause(self, why: str, until: float | None = None) -> None:
        """Hand out nothing for a while."""
        if why not in self._pauses:
            log.warning("paused: %s", why)
        self._pauses[why] = until

    def resume(self, why: str) -> None:
        """Lift a pause."""
        if why in self._pauses:
            log.info("going on after: %s", why)
            del self._pauses[why]
            self._bell.ring()

    @contextmanager
    def held_open(self) -> Iterator[None]:
        """Meanwhile the crawl does not end: something is about to bring it work."""
        self._held_open += 1
        try:
            yield
        finally:
            self._held_open -= 1
            self._bell.ring()

    def set_delay(self, delay: float) -> None:
        """Change the pause between two requests to a host, for the rest of this run."""
        self._visitor.set_delay(delay)

    def _link_was_down(self, origin: str, began: float) -> bool:
        return self._link.was_down(origin, began, self._clock.now())

    @property
    def pausing(self) -> str:
        """Why nothing is handed out now; empty when it is."""
        now = self._clock.now()
        for why, until in list(self._pauses.items()):
            if until is not None and until <= now:
                self.resume(why)
        return next(iter(self._pauses), "")

    # --- the loop

    async def run(self) -> Report:
        """Crawl until there is nothing left to do, or until stopped. Raises what makes going on impossible."""
        committer = asyncio.create_task(self._pipeline.run())
        committer.add_done_callback(self.watch)
        try:
            ending = await self._loop()
        finally:
            await self._cancel_tasks()
            committer.cancel()
            with suppress(asyncio.CancelledError):
                await committer
        unreachable = tuple(self._unreachable.values()) if ending is Ending.NO_SEED else ()
        return Report(ending, self._at_the_end(), unreachable, self._pipeline.without_facts)

    async def _loop(self) -> Ending:
        while True:
            if self._error is not None:
                raise self._error
            if await self._forgive():
                continue
            self._drop_what_hangs()
            until = self._dispatch()
            ending = self._ending(until)
            if ending is not None:
                self.is_over = True
                return ending
            patience = self._patience(until)
            self._looks_at = self._clock.now() + patience
            await self._bell.wait(patience)

    def _drop_what_hangs(self) -> None:
        """The pool is patient with a parser that only waits; a crawl that is to stop, and waits for nothing else, is not."""
        if self._stopping and self._pipeline.is_hung and not self._pool.busy:
            log.warning("the parsers hang: what they have is waiting again")
            self._drop()

    async def _forgive(self) -> bool:
        """Tries that failed before the link was known to be down are not counted, as soon as all of them are committed.

        Whether there were any.
        """
        self._spoilt += self._link.take_spoilt()
        if not self._spoilt or not self._pipeline.is_empty:
            return False
        before = len(self._spoilt)
        self._spoilt = await self._frontier.forgive(self._spoilt)
        return len(self._spoilt) < before

    def _patience(self, until: float | None) -> float:
        """Seconds until the loop must look again although nothing happened."""
        return 1.0 if until is None else min(1.0, max(0.0, until - self._clock.now()))

    def _dispatch(self) -> float | None:
        """Hand out URLs while that is allowed; when it may be possible again (None: when something happens)."""
        self._pool.adapt(self._clock.now())
        while self._may_start():
            claim = self._frontier.lease(self._clock.now())
            if isinstance(claim, Wait):
                return claim.until
            self._start(claim)
        return None

    def _may_start(self) -> bool:
        if self._stopping or (self._pauses and self.pausing) or not self._pipeline.has_room or not self._budget_left():
            return False
        if not self._pool.has_room:
            self._pool.want_more()
            return False
        return True

    def _budget_left(self) -> bool:
        """Whether another page may be kept, if all that is under way are."""
        if not self._settings.max_urls:
            return True
        now = self._frontier.statistics()
        return now.pages + now.running < self._settings.max_urls

    def _ending(self, until: float | None) -> Ending | None:
        if self._tasks or not self._pipeline.is_empty or self._held_open:
            return None
        now = self._frontier.statistics()
        if self._settings.max_urls and now.pages >= self._settings.max_urls:
            return Ending.MAX_URLS
        if self._stopping:
            return self._stopping
        if self._cannot_begin(now):
            return Ending.NO_SEED
        if self.pausing or until is not None or self._frontier.is_reading:
            return None
        return Ending.DONE if now.pages else Ending.NO_SEED

    def _cannot_begin(self, now: Statistics) -> bool:
        """Nothing was ever fetched, and no host of a seed can be reached: a person wants to know now, not after retries."""
        return not now.finished and 0 < now.hosts <= len(self._unreachable)

    # --- one claim

    def _start(self, claim: Claim) -> None:
        self._pool.begin()
        work = self._serve_robots(claim) if claim.is_robots else self._serve(claim)
        task = asyncio.create_task(self._guard(work))
        self._tasks.add(task)
        task.add_done_callback(self._served)

    def _served(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not self._tasks:  # it may be over
            self._bell.ring()

    def _go_on(self) -> None:
        """A host is free: what comes next is handed out here and now, and the loop need not wake up for that."""
        if self._error is not None:
            return
        until = self._dispatch()
        if until is not None and until < self._looks_at:
            self._bell.ring()

    async def _guard(self, work: Coroutine[Any, Any, None]) -> None:
        """An error in our own code ends the crawl with its cause, not with a task that nobody looks at."""
        try:
            await work
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  # handed to the loop, which raises it
            self._error = self._error or error
            self._bell.ring()

    async def _serve_robots(self, claim: Claim) -> None:
        began = self._clock.now()
        try:
            outcomes, answer = await self._visitor.visit_robots(claim)
        finally:
            self._pool.end()
        self._note(claim, answer, began)
        self._go_on()
        for outcome in outcomes:
            self._pipeline.put(outcome)

    async def _serve(self, claim: Claim) -> None:
        began = self._clock.now()
        try:
            visit = await self._visitor.visit(claim)
        finally:
            self._pool.end()
        if isinstance(visit, Outcome):
            self._go_on()
            self._pipeline.put(visit)
            return
        self._note(claim, visit.answer, began)
        self._go_on()  # its host is free before its page is parsed
        outcome = await self._pipeline.take(visit, link_is_down=self._link_was_down(claim.origin, began))
        log.debug("%s %s %s", outcome.settlement.state.name.lower(), claim.url, outcome.settlement.reason)

    def _note(self, claim: Claim, answer: Exchange | Failure, began: float) -> None:
        """What an answer says of the pool, of the link, and of a crawl that cannot begin."""
        now = self._clock.now()
        if isinstance(answer, Exchange):
            waited = answer.answered_at - answer.started_at
            self._pool.note(began=began, waited=waited, failed=answer.status in _OVERLOADED, now=now)
            self._link.record(claim, failed=False, at=now)
            self._unreachable.pop(claim.host_id, None)
            return
        log.info("%s: %s", claim.url, answer)
        rule = failures.RULES[answer.kind]
        if rule.host and not claim.is_robots:  # a host that never answered says nothing of how much we ask
            self._pool.note(began=began, waited=0.0, failed=True, now=now)
        if rule.link:  # other failures say nothing: a name that does not exist came from no host
            self._link.record(claim, failed=True, at=now, began=began)
        if self._link.is_down(now):
            self.pause("the link is down", self._link.probe_at(now))
        if answer.kind in NEVER_REACHED:
            self._unreachable[claim.host_id] = f"{claim.origin}: {answer}"

    # --- around it

    def progress(self, state: str = "") -> Progress:
        """A snapshot of now."""
        now = self._clock.now()
        statistics = self._frontier.statistics()
        self._rates = [rate for rate in self._rates if now - rate[0] <= _RATE_WINDOW] or self._rates[-1:]
        then, pages, size = self._rates[0] if self._rates else (self._started, statistics.pages, statistics.bytes)
        self._rates.append((now, statistics.pages, statistics.bytes))
        span = max(now - then, 0.001)
        pausing = self.pausing
        return Progress(
            state=state or ("stopping" if self._stopping else "paused" if pausing else "running"),
            statistics=statistics,
            errors=self._frontier.errors(),
            pages_per_second=(statistics.pages - pages) / span,
            bytes_per_second=(statistics.bytes - size) / span,
            downloaders_busy=self._pool.busy,
            downloaders=self._pool.size,
            depths=self._pipeline.depths(),
            elapsed=now - self._started,
            pause=pausing,
        )

    def _at_the_end(self) -> Progress:
        progress = self.progress("stopped")
        now = progress.statistics  # what was dropped is waiting again
        return replace(progress, statistics=replace(now, waiting=now.waiting + now.running, running=0))

    def watch(self, task: asyncio.Task[None]) -> None:
        """A task without which the crawl can't go on has ended: its error is the crawl's."""
        if not task.cancelled() and task.exception() is not None:
            self._error = self._error or task.exception()
            self._bell.ring()

    async def _cancel_tasks(self) -> None:
        self._drop()
        await asyncio.gather(*self._tasks, return_exceptions=True)
