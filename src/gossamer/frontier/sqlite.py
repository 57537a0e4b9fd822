"""The frontier on one SQLite database: the schedule on the event loop, everything that touches disk in one thread."""

import asyncio
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import apsw

from gossamer.archive import requests, store, versions
from gossamer.archive.database import database_error
from gossamer.clock import Clock
from gossamer.frontier.contract import Wait
from gossamer.frontier.hosts import HostTable
from gossamer.frontier.ledger import Ledger, Receipt
from gossamer.frontier.only import Only
from gossamer.frontier.portions import has_many
from gossamer.frontier.ring import RunningRing
from gossamer.frontier.runs import Run, read_runs
from gossamer.frontier.schedule import Schedule
from gossamer.policy.politeness import LOG_LAG
from gossamer.records import (
    Batch,
    Candidate,
    Claim,
    Command,
    Host,
    HostUpdate,
    Lease,
    Outcome,
    RobotsAnswer,
    Selection,
    Statistics,
)
from gossamer.url import Origin

T = TypeVar("T")

LEASE_TIME = 60.0
"""Seconds; renewed with the heartbeat."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What `SqliteFrontier` is put together from."""

    connection: apsw.Connection
    path: Path  # of the database
    ledger: Ledger
    hosts: HostTable
    schedule: Schedule
    ring: RunningRing
    lease: Lease
    clock: Clock
    on_news: Callable[[], None]  # URLs came from disk
    close: Callable[[Sequence[tuple[int, float]]], None]  # hosts and their next times; runs last, in the writer thread
    only: Only | None = None  # what may be leased, where it is not all that waits


class SqliteFrontier:
    """See `contract.Frontier`. Locally one owner holds all shards."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._connection = parts.connection
        self._ledger = parts.ledger
        self._schedule = parts.schedule
        self._ledger.room = parts.schedule.room
        self.lease_held = parts.lease
        self._running: dict[int, Claim] = {}
        self._following = asyncio.Lock()
        self._refill: asyncio.Task[None] | None = None  # one reads for all hosts
        self._refill_error: BaseException | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="writer")
        for host in parts.hosts.with_waiting_urls():
            self._schedule.know(host, on_disk=True)

    async def add(self, candidates: Sequence[Candidate]) -> int:
        receipt = await self._in_thread(lambda: self._ledger.add(candidates, self.lease_held))
        self._apply(receipt)
        return receipt.new

    def lease(self, now: float) -> Claim | Wait:
        if self._refill_error is not None:
            raise self._refill_error
        claim = self._schedule.take(now)
        self._start_refill()
        if claim is None:
            return Wait(self._schedule.earliest())
        if not claim.is_robots:
            self._running[claim.url_id] = claim
            self._parts.ring.enter(claim.url_id)
        return claim

    def sent(self, claim: Claim, now: float) -> None:
        self._schedule.sent(claim, now)
        self._parts.on_news()

    def answered(self, claim: Claim, update: HostUpdate) -> None:
        self._schedule.answered(claim, update)
        if update.next_at > self._parts.clock.now() + update.delay + LOG_LAG:  # longer than after an unclean end anyway
            self._parts.ring.leave_alone(update.host_id, update.next_at)

    def skip(self, claim: Claim) -> None:
        self._schedule.skip(claim)

    async def follow(self, outcome: Outcome, lease: Lease) -> None:
        if not has_many(outcome.facts):
            return
        async with self._following:  # of several such pages each portion would wait for all the others'
            for portion in await self._in_thread(lambda: self._ledger.portions(outcome)):
                self._apply(await self._in_thread(partial(self._ledger.follow, outcome, portion, lease)))
                self._parts.on_news()

    async def commit(self, batch: Batch) -> None:
        receipt = await self._in_thread(lambda: self._ledger.commit(batch))
        for outcome in batch.outcomes:
            if self._running.pop(outcome.claim.url_id, None) is not None:
                self._schedule.landed(outcome.claim)
            self._parts.ring.leave(outcome.claim.url_id)
            if outcome.host is not None:
                self._parts.ring.know(outcome.host.host_id, outcome.host.next_at)
        self._apply(receipt)

    def _apply(self, receipt: Receipt) -> None:
        for host in receipt.hosts:
            self._schedule.know(host)
        self._schedule.withdraw(receipt.parked)
        claims = (claim for claim in receipt.claims if claim.url_id not in self._running)
        self._schedule.push(claims if self._parts.only is None else filter(self._parts.only.admits, claims))
        self._schedule.leave_on_disk(receipt.on_disk)
        self._schedule.limit(receipt.limits)
        for claim, due in receipt.retries:
            self._schedule.delay(claim, due)
        for host_id in receipt.held_hosts:
            self._schedule.forget_urls(host_id)

    async def hold(self, host_id: int, reason: str) -> int:
        count = await self._write(lambda: self._ledger.hold(host_id, reason))
        self._schedule.forget_urls(host_id)
        return count

    async def park(self, selection: Selection, reason: str) -> int:
        count = await self._write(lambda: requests.park(self._connection, selection, reason))
        await self._reload()
        return count

    async def release(self, selection: Selection) -> int:
        count = await self._write(lambda: requests.release(self._connection, selection))
        await self._reload()
        return count

    async def forgive(self, tries: Sequence[Claim]) -> list[Claim]:
        ready = [claim for claim in tries if claim.url_id not in self._running]
        if not ready:
            return list(tries)
        self._schedule.forgive(await self._in_thread(lambda: self._ledger.forgive(ready, self.lease_held)))
        self._parts.on_news()
        return [claim for claim in tries if claim.url_id in self._running]

    async def requeue(self, selection: Selection) -> int:
        count = await self._write(lambda: requests.requeue(self._connection, selection))
        await self._reload()
        return count

    async def put_in_order(self) -> int:
        return await self._write(lambda: versions.put_in_order(self._connection))

    async def _reload(self) -> None:
        """Read anew what waits, after a command changed it on disk."""

        def read() -> list[Host]:
            taken_back = self._parts.hosts.take_back()  # URLs may yet be found for them
            return [*taken_back, *self._parts.hosts.with_waiting_urls()]

        self._schedule.reload(await self._in_thread(read))
        self._parts.on_news()

    @property
    def is_reading(self) -> bool:
        return self._refill is not None

    async def renew(self) -> None:
        until = self._parts.clock.now() + LEASE_TIME
        await self._write(
            lambda: self._connection.execute(
                "UPDATE lease SET until = ? WHERE owner = ?", (until, self.lease_held.owner)
            )
        )

    async def beat(self, state: str, body: dict[str, object], *, clean: bool = False) -> list[Command]:
        now = self._parts.clock.now()

        def write() -> list[Command]:
            self._connection.execute(
                "UPDATE heartbeat SET at = ?, state = ?, clean = ?, body = ?", (now, state, clean, json.dumps(body))
            )
            self._connection.execute("UPDATE lease SET until = ?", (now + LEASE_TIME,))
            return requests.unanswered(self._connection)

        return await self._write(write)

    async def answer(self, command: Command, answer: str) -> None:
        now = self._parts.clock.now()
        await self._write(
            lambda: self._connection.execute(
                "UPDATE command SET done = ?, answer = ? WHERE id = ?", (now, answer, command.id)
            )
        )

    async def event(self, kind: str, **body: object) -> None:
        now = self._parts.clock.now()
        await self._write(
            lambda: self._connection.execute(
                "INSERT INTO event (at, kind, body) VALUES (?, ?, ?)", (now, kind, json.dumps(body))
            )
        )

    async def meet(self, origin: Origin) -> int:
        def find() -> Host:
            host_id, _ = self._parts.hosts.id_of(origin)
            return self._parts.hosts.load(host_id)

        host = await self._write(find)
        self._schedule.know(host)
        return host.id

    def borrow(self, host_id: int, now: float) -> float | None:
        return self._schedule.borrow(host_id, now)

    def give_back(self, host_id: int, next_at: float) -> None:
        self._schedule.give_back(host_id, next_at)

    def host(self, host_id: int) -> Host:
        return self._schedule.host(host_id)

    async def robots(self, host_id: int) -> RobotsAnswer | None:
        return await self._in_thread(lambda: store.load_robots(self._connection, host_id))

    def statistics(self) -> Statistics:
        totals = self._ledger.totals
        return Statistics(
            waiting=max(0, totals.get("waiting", 0) - len(self._running)),
            running=len(self._running),
            finished=totals.get("finished", 0),
            failed=totals.get("failed", 0),
            held=totals.get("held", 0),
            pages=totals.get("pages", 0),
            bytes=totals.get("bytes", 0),
            hosts=len(self._schedule),
            ready_hosts=self._schedule.ready_hosts,
        )

    def errors(self) -> dict[str, int]:
        """Failures by kind, tries included."""
        prefix = "errors:"
        return {name.removeprefix(prefix): n for name, n in self._ledger.totals.items() if name.startswith(prefix)}

    async def aclose(self) -> None:
        if self._refill is not None:
            self._refill.cancel()
        times = self._schedule.next_times(self._parts.clock.now())
        try:
            await self._in_thread(lambda: self._parts.close(times))
        finally:
            self._thread.shutdown()

    # --- runs

    def _start_refill(self) -> None:
        if self._refill is None and self._schedule.is_hungry:
            self._refill = asyncio.get_running_loop().create_task(self._refill_runs())
            self._refill.add_done_callback(self._refilled)

    async def _refill_runs(self) -> None:
        """What gets short while some runs are read is read with the next ones: a turn of two threads for each would cost
        more than the reading."""
        while hungry := self._schedule.take_hungry():
            wanted = [(self._schedule.host(host_id), after) for host_id, after in hungry]
            runs = await self._in_thread(partial(self._read_runs, wanted))
            now = self._parts.clock.now()
            for (host_id, after), run in zip(hungry, runs, strict=True):
                self._schedule.refill(host_id, after, run.claims, more=run.more, now=now, running=self._running)
            self._parts.on_news()

    def _refilled(self, task: asyncio.Task[None]) -> None:
        self._refill = None
        if not task.cancelled() and task.exception() is not None:
            self._refill_error = task.exception()
        self._parts.on_news()

    def _read_runs(self, wanted: list[tuple[Host, int]]) -> list[Run]:
        return read_runs(self._connection, wanted, self._schedule.run_limit, self._parts.only)

    # --- the thread

    async def _in_thread(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
        except apsw.Error as error:
            raise database_error(self._parts.path, error) from error

    async def _write(self, work: Callable[[], T]) -> T:
        def run() -> T:
            with self._ledger.transaction(self.lease_held):
                return work()

        return await self._in_thread(run)
