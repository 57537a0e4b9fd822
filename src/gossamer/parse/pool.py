"""The pool of parser workers: no page, however made, costs another its facts.

The life of a page: it waits in a queue; a worker takes it with others that wait, as a batch (large pages go alone).
When a batch kills its worker, each of its pages is tried again alone in a fresh one (`wire.Stage`); the guilty one
kills that too, is tried without a person's own function where there is one, then with the fallback parser, and in the
end only its type, size and digest are taken. So each page is answered after a bounded number of deaths, and only the
guilty one is marked.
"""

import asyncio
import os
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from types import TracebackType
from typing import Self

from gossamer.errors import GossamerError
from gossamer.parse.job import DEFAULT_LIMITS, Job, OwnCode, ParseJob, RewriteJob
from gossamer.parse.process import WorkerDied, WorkerProcess
from gossamer.parse.rewriting.contract import Rewritten
from gossamer.parse.sniff import PAGES, declared_type
from gossamer.parse.wire import Answer, Orders, Stage, Task
from gossamer.records import Facts, Failure

BATCH = 16
"""Pages a worker is given at once, at the most."""

LARGE = 2 * 1024 * 1024
"""Bytes of a page that goes alone, and of a batch."""

_ROOM = 4 * BATCH  # pages for each worker that may wait or be in work
_START_TRIES = 5
_FIRST_PAUSE = 0.1  # seconds before a worker is started once more; doubles
_OUTSIDE_DEATHS = 3  # of one page that are not held against it


@dataclass(frozen=True, slots=True)
class PoolStatistics:
    """An honest snapshot."""

    workers: int
    waiting: int  # pages that no worker has yet
    working: int  # pages that a worker has
    done: int
    restarts: int  # workers that died and were replaced
    guilty: int  # pages that killed a worker when they were alone in it


@dataclass(slots=True, eq=False)
class _Ticket:
    """A page in the pool, and who waits for its facts."""

    job: Job
    answer: asyncio.Future[Answer]
    has_own_code: bool
    stage: Stage = Stage.FIRST
    failure: Failure | None = None
    outside_deaths: int = 0

    def task(self) -> Task:
        return Task(self.stage, self.job, self.failure)

    def strike(self, died: WorkerDied, *, alone: bool) -> bool:
        """Go on to the next stage, but not for a death that somebody else caused. False: there is none left."""
        if died.outside and self.outside_deaths < _OUTSIDE_DEATHS:
            self.outside_deaths += 1
            self.stage = max(self.stage, Stage.ALONE)
            return True
        if not alone:
            self.stage = Stage.ALONE
            return True
        self.failure = died.failure
        if self.stage is Stage.BARE:
            return False
        self.stage = Stage(max(self.stage, self._passed_over()) + 1)
        return True

    def _passed_over(self) -> Stage:
        """The last stage that is none for this job: what is rewritten knows no other parser, nor a person's function."""
        if isinstance(self.job, RewriteJob):
            return Stage.FALLBACK
        return Stage.ALONE if self.has_own_code else Stage.OURS


class ParserPool:
    """Parses pages in processes. ``async with`` starts and ends it."""

    def __init__(
        self,
        workers: int,
        secret: bytes,
        parse_timeout: float,
        memory: int,
        max_decoded: int,
        own_code: OwnCode | None = None,
        max_links: int = DEFAULT_LIMITS.max_links,
        max_text: int = DEFAULT_LIMITS.max_text,
    ) -> None:
        """``workers``: how many; 0: one fewer than there are processors. Seconds, bytes as in `settings`."""
        self._count = workers or max(1, (os.cpu_count() or 1) - 1)
        self._orders = Orders(secret, max_decoded, memory, parse_timeout, own_code, max_links, max_text)
        self._waiting: deque[_Ticket] = deque()
        self._arrival = asyncio.Event()
        self._room = asyncio.Semaphore(self._count * _ROOM)
        self._servers: list[asyncio.Task[None]] = []
        self._broken: GossamerError | None = None
        self._working = 0
        self._done = 0
        self._restarts = 0
        self._guilty = 0

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def start(self) -> None:
        """Start the workers. Raises GossamerError when one does not come up.

        A second try is enough for one that the system killed meanwhile; what can't start at all is told soon.
        """
        started = await asyncio.gather(*(self._start(tries=2) for _ in range(self._count)), return_exceptions=True)
        workers = [worker for worker in started if isinstance(worker, WorkerProcess)]
        for problem in started:
            if isinstance(problem, BaseException):
                await asyncio.gather(*(worker.stop() for worker in workers))
                raise problem
        self._servers = [asyncio.create_task(self._serve(worker)) for worker in workers]
        for server in self._servers:
            server.add_done_callback(self._ended)

    async def aclose(self) -> None:
        """End the workers. Pages that were not answered yet raise GossamerError where they are waited for."""
        for server in self._servers:
            server.cancel()
        await asyncio.gather(*self._servers, return_exceptions=True)
        self._break(GossamerError("the parser pool is closed"))

    async def parse(self, job: ParseJob) -> Facts:
        """The facts of one body. Waits for room when many wait already.

        Raises GossamerError only when no worker can be started any more, or the pool is closed.
        """
        facts = await self._answered(job)
        assert isinstance(facts, Facts)
        return facts

    async def rewrite(self, job: RewriteJob) -> Rewritten:
        """One file of an offline copy, made as `parse` reads one. What no worker survives comes with a ``note``."""
        rewritten = await self._answered(job)
        assert isinstance(rewritten, Rewritten)
        return rewritten

    async def _answered(self, job: Job) -> Answer:
        async with self._room:
            if self._broken is not None or not self._servers:
                raise self._broken or GossamerError("the parser pool was not started")
            has_own_code = self._orders.own_code is not None and isinstance(job, ParseJob)
            ticket = _Ticket(job, asyncio.get_running_loop().create_future(), has_own_code)
            self._waiting.append(ticket)
            self._arrival.set()
            return await ticket.answer

    def statistics(self) -> PoolStatistics:
        """What the pool is doing."""
        return PoolStatistics(
            len(self._servers), len(self._waiting), self._working, self._done, self._restarts, self._guilty
        )

    async def _serve(self, worker: WorkerProcess) -> None:
        """The life of one worker and its successors."""
        batch: list[_Ticket] = []
        try:
            while True:
                batch = await self._take()
                if not worker.alive:
                    worker = await self._replaced(worker)
                await self._work(worker, batch)
                batch = []
        finally:
            self._waiting.extend(batch)
            await worker.stop()

    def _ended(self, server: asyncio.Task[None]) -> None:
        """A server ends only when it is told to, or when no worker can be started any more."""
        if not server.cancelled() and (error := server.exception()) is not None:
            self._break(
                error if isinstance(error, GossamerError) else GossamerError(f"the parser pool failed ({error})")
            )

    async def _take(self) -> list[_Ticket]:
        """What waits, but only this worker's share of it, so that all have work."""
        while not self._waiting:
            self._arrival.clear()
            await self._arrival.wait()
        share = min(BATCH, -(-len(self._waiting) // self._count))
        batch: list[_Ticket] = [self._waiting.popleft()]
        size = len(batch[0].job.body)
        while self._waiting and len(batch) < share and batch[0].stage is Stage.FIRST:
            size += len(self._waiting[0].job.body)
            if size > LARGE or self._waiting[0].stage is not Stage.FIRST:
                break
            batch.append(self._waiting.popleft())
        return [ticket for ticket in batch if not ticket.answer.done()]  # who waited may have gone

    async def _work(self, worker: WorkerProcess, batch: Sequence[_Ticket]) -> None:
        if not batch:
            return
        self._working += len(batch)
        try:
            answers = await worker.ask([ticket.task() for ticket in batch], self._patience(batch))
        except WorkerDied as died:
            self._mourn(batch, died)
        else:
            for ticket, answer in zip(batch, answers, strict=True):
                self._settle(ticket, answer)
        finally:
            self._working -= len(batch)

    def _patience(self, batch: Sequence[_Ticket]) -> float:
        """Real seconds for a batch; generous, for on a busy machine processor time comes slowly."""
        own_time = len(batch) * self._orders.seconds if self._orders.own_code is not None else 0.0
        return 3 * (self._orders.seconds + len(batch)) + own_time

    def _mourn(self, batch: Sequence[_Ticket], died: WorkerDied) -> None:
        """Try the pages of a batch again, or give one up that nothing can be made of."""
        self._restarts += 1
        alone = len(batch) == 1
        self._guilty += alone and not died.outside
        for ticket in reversed(batch):
            if ticket.strike(died, alone=alone):
                self._waiting.appendleft(ticket)
            else:
                self._settle(ticket, _unread(ticket.job, died.failure))
        self._arrival.set()

    def _settle(self, ticket: _Ticket, answer: Answer) -> None:
        self._done += 1
        if not ticket.answer.done():
            ticket.answer.set_result(answer)

    async def _replaced(self, worker: WorkerProcess) -> WorkerProcess:
        await worker.kill()
        return await self._start(tries=_START_TRIES)

    async def _start(self, *, tries: int) -> WorkerProcess:
        pause = _FIRST_PAUSE
        for _ in range(tries - 1):
            try:
                return await WorkerProcess.start(self._orders)
            except GossamerError:
                await asyncio.sleep(pause)
                pause *= 2
        return await WorkerProcess.start(self._orders)

    def _break(self, error: GossamerError) -> None:
        """Nothing can be parsed any more: tell everybody who waits."""
        self._broken = self._broken or error
        while self._waiting:
            ticket = self._waiting.popleft()
            if not ticket.answer.done():
                ticket.answer.set_exception(self._broken)


def _unread(job: Job, failure: Failure) -> Answer:
    """The facts of a body that not even its codings could be undone of; or a file of the copy as it came."""
    if isinstance(job, RewriteJob):
        return Rewritten(job.body, (), str(failure))
    kind = declared_type(job.headers)
    return Facts(kind, len(job.body), sha256(job.body).digest(), is_page=kind in PAGES, failure=failure)
