"""From an answer to durable rows: parsed in a worker, concluded, and committed in groups. Bounded in number and bytes."""

import asyncio
import logging
from collections.abc import Callable
from typing import Protocol

from gossamer.clock import Clock
from gossamer.crawl.conclude import conclude, wants_parsing
from gossamer.crawl.hooks import Committed
from gossamer.crawl.recent import Recent
from gossamer.crawl.report import Depths
from gossamer.crawl.turns import Turns
from gossamer.crawl.visit import Visit
from gossamer.fetch.room import Room
from gossamer.frontier.contract import Frontier
from gossamer.frontier.portions import count_of, has_many
from gossamer.parse.job import NO_FACTS, ParseJob
from gossamer.records import Batch, Exchange, Facts, Lease, Outcome
from gossamer.settings import Settings

log = logging.getLogger("gossamer.crawl")

MAX_OUTCOMES = 128
GROUP_OUTCOMES = 64
GROUP_BYTES = 32 * 1024 * 1024
GROUP_LINKS = 10_000
"""Where all of them are new they take the writer half a second."""


class Parsers(Protocol):
    """Bodies to facts, in other processes."""

    async def parse(self, job: ParseJob) -> Facts: ...


class Pipeline:
    """Takes what was fetched; ``on_room`` is called when something left it."""

    def __init__(
        self,
        frontier: Frontier,
        parsers: Parsers,
        lease: Lease,
        room: Room,
        settings: Settings,
        clock: Clock,
        random: Callable[[], float],
        on_room: Callable[[], None],
        committed: Committed | None = None,
    ) -> None:
        self._frontier = frontier
        self._parsers = parsers
        self._lease = lease
        self._room = room
        self._settings = settings
        self._clock = clock
        self._random = random
        self._on_room = on_room
        self._committed = committed
        self._ready: asyncio.Queue[Outcome] = asyncio.Queue()
        self.without_facts = 0  # pages in which a person's own function failed
        self._turns = Turns()
        self._parsing = 0
        self._committing = 0
        self._parses, self._commits = Recent(), Recent()
        self._asked = 0  # pages that the parsers have
        self._heard_at = 0.0  # on the loop's clock: when one came back

    @property
    def has_room(self) -> bool:
        """Whether another download may start: when writing falls behind, fetching slows and memory does not grow."""
        return self._parsing + self._committing < MAX_OUTCOMES and not self._room.is_full

    @property
    def is_empty(self) -> bool:
        """Whether everything that was taken is durable."""
        return self._parsing + self._committing == 0

    @property
    def is_hung(self) -> bool:
        """Whether nothing came from the parsers for as long as one page may take, though they have some."""
        return self._asked > 0 and asyncio.get_running_loop().time() - self._heard_at > self._settings.parse_timeout

    def depths(self) -> Depths:
        """How much is under way."""
        return Depths(
            self._parsing,
            self._committing,
            self._room.bytes,
            parse_seconds=self._parses.mean,
            commit_seconds=self._commits.mean,
            slowest_commit=self._commits.longest,
        )

    async def take(self, visit: Visit, *, link_is_down: bool) -> Outcome:
        """Parse and conclude the answer to a visit, and pass it on to be committed.

        Those of one host are passed on in the order in which they are given to this.
        """
        turn = self._turns.join(visit.claim.host_id)
        self._parsing += 1
        self._room.keep(_weight(visit.answer))
        try:
            outcome = self._outcome(visit, await self._facts(visit), link_is_down=link_is_down)
            await self._turns.wait(turn)
            await self._frontier.follow(outcome, self._lease)
        finally:
            self._turns.leave(turn)
            self._parsing -= 1
            self._room.let_go(_weight(visit.answer))
        self.put(outcome)
        return outcome

    def _outcome(self, visit: Visit, facts: Facts | None, *, link_is_down: bool) -> Outcome:
        conclusion = conclude(
            visit.claim,
            visit.answer,
            facts,
            self._settings,
            now=self._clock.now(),
            jitter=self._random(),
            link_is_down=link_is_down,
            again=visit.again,
        )
        exchange = visit.answer if isinstance(visit.answer, Exchange) else None
        return Outcome(
            visit.claim,
            conclusion.settlement,
            host=visit.update,
            exchange=exchange,
            facts=facts,
            candidates=conclusion.candidates,
        )

    async def _facts(self, visit: Visit) -> Facts | None:
        answer = visit.answer
        if not isinstance(answer, Exchange) or not wants_parsing(answer):
            return None
        job = ParseJob(answer.url, answer.headers, answer.body, answer.truncated, self._clock.now(), visit.claim.via)
        facts = await self._read(job)
        self._parses.add(self._clock.now() - job.now)
        for note in facts.notes:
            if note.startswith(NO_FACTS):
                self.without_facts += 1
                log.warning("%s: %s", answer.url, note)
        return facts

    async def _read(self, job: ParseJob) -> Facts:
        now = asyncio.get_running_loop().time
        if not self._asked:
            self._heard_at = now()
        self._asked += 1
        try:
            return await self._parsers.parse(job)
        finally:
            self._asked -= 1
            self._heard_at = now()

    def put(self, outcome: Outcome) -> None:
        """Pass on what needs no parsing."""
        self._committing += 1
        self._room.keep(_weight(outcome.exchange))
        self._ready.put_nowait(outcome)

    async def run(self) -> None:
        """Commit group after group, until cancelled. A failure of the disk ends it: it is never tried again."""
        while True:
            group = [await self._ready.get()]
            size = _weight(group[0].exchange)
            links = _links(group[0])
            while not self._ready.empty() and _may_grow(len(group), size, links):
                group.append(self._ready.get_nowait())
                size += _weight(group[-1].exchange)
                links += _links(group[-1])
            began = self._clock.now()
            await self._frontier.commit(Batch(tuple(group), self._lease))
            self._commits.add(self._clock.now() - began)
            if self._committed is not None:
                await self._committed(group)
            self._committing -= len(group)
            self._room.let_go(size)
            self._on_room()


def _may_grow(outcomes: int, size: int, links: int) -> bool:
    return outcomes < GROUP_OUTCOMES and size < GROUP_BYTES and links < GROUP_LINKS


def _links(outcome: Outcome) -> int:
    """Links that the commit is to make known; those of a page that has very many are by then."""
    return 0 if outcome.facts is None or has_many(outcome.facts) else count_of(outcome.facts)


def _weight(answer: object) -> int:
    return len(answer.body) if isinstance(answer, Exchange) else 0
