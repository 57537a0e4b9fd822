"""The journey of an archive into a collection: read, paired, parsed in workers, committed by the one writer.

    archive -> records that are whole        what is not is reported with its place
            -> captures                      an answer with its request
            -> exchanges                     what the transport would have brought; revisits get their payload
            -> without those that are known  so importing twice adds nothing
            -> facts                         from parser workers, as in a crawl
            -> commit(Batch)                 records, rows, links, index: the same unit of work as a crawl's

Nothing is fetched, so neither robots.txt nor politeness has a say; and what is in the archive is in scope. Links out of
it are judged as in a crawl: where the collection has seeds they may wait to be fetched, otherwise they are held as out
of scope, and a seed that is added later releases those that belong to it.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Protocol

from gossamer import url as urls
from gossamer.archive import package
from gossamer.archive.foreign import Broken, read_archive
from gossamer.archive.package import Part, Unreadable
from gossamer.clock import Clock
from gossamer.crawl.conclude import conclude, wants_parsing
from gossamer.errors import ArchiveError
from gossamer.frontier.contract import Frontier
from gossamer.intake.exchange import (
    Passed,
    Reference,
    Unsound,
    digest_of,
    exchange_of,
    made_of,
    reference_of,
    with_payload,
)
from gossamer.intake.known import Known, Row, is_robots
from gossamer.intake.originals import Originals
from gossamer.intake.pairing import Capture, pair
from gossamer.parse.job import ParseJob
from gossamer.records import Batch, Candidate, Claim, Exchange, Facts, Lease, Outcome, Settlement, State, Via
from gossamer.settings import Settings

GROUP = 64
"""Captures that are committed together at the most."""

GROUP_BYTES = 32 * 1024 * 1024
_MAX_HEAD = 1024 * 1024
_NO_MORE_TRIES = 1 << 30  # nothing of an archive is tried again
_UNKNOWN_DEPTH = 1  # nobody knows how far from a seed it was; seeds themselves are 0


class Parsers(Protocol):
    """Bodies to facts, in other processes."""

    async def parse(self, job: ParseJob) -> Facts: ...


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was left out. ``place``: the file, with a byte where there is one."""

    place: str
    message: str


@dataclass(slots=True)
class Tally:
    """What came of an import so far."""

    captures: int = 0  # that were taken in
    known: int = 0  # that the collection had already
    problems: int = 0
    passed: Counter[str] = field(default_factory=Counter)  # what was left out as it should be, by what it is


@dataclass(frozen=True, slots=True)
class Tools:
    """What an `Importer` works with."""

    frontier: Frontier
    parsers: Parsers
    known: Known
    originals: Originals
    lease: Lease
    settings: Settings
    clock: Clock


@dataclass(frozen=True, slots=True)
class _Arrival:
    """One capture on its way: with ``reference`` a revisit, with ``made_of`` a conversion. ``names`` are those by which
    revisits call its record.
    """

    place: str
    exchange: Exchange
    reference: Reference | None
    made_of: Reference | None
    names: tuple[str, ...]


class Importer:
    """Takes archives in, one after the other. ``tell`` hears of each problem, ``observe`` of each group."""

    def __init__(self, tools: Tools, tell: Callable[[Problem], None], observe: Callable[[Tally], None]) -> None:
        self._tools = tools
        self._tell = tell
        self._observe = observe
        self.tally = Tally()
        self._are_revisits_waiting = False

    async def take(self, paths: Sequence[Path]) -> Tally:
        """Take in everything that is whole, then revisits whose originals came after them.

        Raises UsageError when a file can't be opened; what was taken in before it stays.
        """
        for path in paths:
            await self._take_file(path, is_last=False)
        if self._are_revisits_waiting:
            for path in paths:
                await self._take_file(path, is_last=True)
        await self._tools.frontier.put_in_order()
        return self.tally

    async def _take_file(self, path: Path, *, is_last: bool) -> None:
        with package.opened(path) as parts:
            for part in parts:
                if isinstance(part, Unreadable):
                    self._report([Problem(part.name, part.message)], is_last=is_last)
                else:
                    await self._take_part(part, is_last=is_last)

    async def _take_part(self, part: Part, *, is_last: bool) -> None:
        passed: Counter[str] = Counter()
        arrivals = _arrivals(part, self._tools.settings.max_size, passed)
        while group := await asyncio.to_thread(_gather, arrivals):
            self._report([each for each in group if isinstance(each, Problem)], is_last=is_last)
            await self._take_group([each for each in group if isinstance(each, _Arrival)], is_last=is_last)
            await self._beat()
        if not is_last:
            self.tally.passed += passed

    def _report(self, problems: Iterable[Problem], *, is_last: bool) -> None:
        """The second time round they were told already."""
        for problem in () if is_last else problems:
            self.tally.problems += 1
            self._tell(problem)

    async def _take_group(self, arrivals: Sequence[_Arrival], *, is_last: bool) -> None:
        if not is_last:
            await self._commit([each for each in arrivals if each.reference is None and each.made_of is None])
            await self._commit(self._without_originals(arrivals))
        whole: list[_Arrival] = []
        known = self.tally.known
        for arrival in arrivals:
            if arrival.reference is not None:
                whole += self._with_payload(arrival, arrival.reference, is_last=is_last)
            if _weight(whole) > GROUP_BYTES:
                await self._commit(whole)
                whole = []
        await self._commit(whole)
        if is_last:  # they were met before
            self.tally.known = known

    def _without_originals(self, arrivals: Iterable[_Arrival]) -> list[_Arrival]:
        """Conversions of what is not there itself: a text without its page is better than none."""
        alone = []
        for arrival in arrivals:
            if arrival.made_of is not None and self._tools.originals.has(arrival.made_of):
                self.tally.passed["conversions of what is there"] += 1
            elif arrival.made_of is not None:
                alone.append(arrival)
        return alone

    def _with_payload(self, arrival: _Arrival, reference: Reference, *, is_last: bool) -> list[_Arrival]:
        try:
            original = self._tools.originals.find(reference)
        except ArchiveError as error:
            self._report([Problem(arrival.place, error.message)], is_last=not is_last)
            return []
        if original is not None:
            return [replace(arrival, exchange=with_payload(arrival.exchange, original))]
        self._are_revisits_waiting = True
        if is_last:
            message = f"a revisit of {reference.url or reference.digest}, which is not there"
            self._report([Problem(arrival.place, message)], is_last=False)
        return []

    async def _commit(self, arrivals: Sequence[_Arrival]) -> None:
        fresh = self._tools.known.without_known(each.exchange for each in arrivals)
        if fresh:
            facts = await asyncio.gather(*map(self._facts, fresh))
            await self._commit_fresh(fresh, facts)
        for arrival in arrivals:
            self._tools.originals.note(arrival.exchange.url, arrival.exchange.started_at, *arrival.names)
        self.tally.captures += len(fresh)
        self.tally.known += len(arrivals) - len(fresh)

    async def _facts(self, exchange: Exchange) -> Facts | None:
        if not wants_parsing(exchange) or is_robots(exchange.url):
            return None
        now = self._tools.clock.now()
        job = ParseJob(exchange.url, exchange.headers, exchange.body, exchange.truncated, now)
        return await self._tools.parsers.parse(job)

    async def _commit_fresh(self, exchanges: Sequence[Exchange], facts: Sequence[Facts | None]) -> None:
        pages = dict.fromkeys(each.url for each in exchanges if not is_robots(each.url))
        await self._tools.frontier.add([Candidate(url, Via.IMPORT, _UNKNOWN_DEPTH) for url in pages])
        rows = {url: self._tools.known.row(url) for url in pages}
        outcomes = []
        for exchange, found in zip(exchanges, facts, strict=True):
            if is_robots(exchange.url):
                outcomes.append(_robots(exchange))
                continue
            row = rows[exchange.url]
            outcome = self._outcome(row, exchange, found)
            outcomes.append(outcome)
            rows[exchange.url] = _after(row, outcome, exchange)
        await self._tools.frontier.commit(Batch(tuple(outcomes), self._tools.lease))

    def _outcome(self, row: Row, exchange: Exchange, facts: Facts | None) -> Outcome:
        hopeless = row.claim._replace(attempts=_NO_MORE_TRIES)
        conclusion = conclude(hopeless, exchange, facts, self._tools.settings, now=exchange.started_at, jitter=0.0)
        settlement = conclusion.settlement
        if row.newest is not None and row.newest > exchange.started_at and row.settlement.state is State.FINISHED:
            settlement = row.settlement  # what is known is newer than this
        return Outcome(row.claim, settlement, exchange=exchange, facts=facts, candidates=conclusion.candidates)

    async def _beat(self) -> None:
        """Let others see that somebody is at work; who asks for something has to wait for the end."""
        for command in await self._tools.frontier.beat("running", {}):
            await self._tools.frontier.answer(command, "error: an import is at work on the collection")
        self._observe(self.tally)


def _arrivals(part: Part, max_size: int, passed: Counter[str]) -> Iterator[_Arrival | Problem]:
    records = read_archive(part.file, part.start, part.end, max_block=max_size + _MAX_HEAD)
    is_empty = True
    for capture in pair(records, passed):
        is_empty = False
        if isinstance(capture, Broken):
            yield Problem(f"{part.name}:{capture.place}", capture.message)
            continue
        place = f"{part.name}:{capture.record.place}"
        try:
            yield _arrival(place, capture, max_size)
        except Passed as reason:
            passed[str(reason)] += 1
        except Unsound as reason:
            yield Problem(place, str(reason))
    if is_empty and not passed:
        yield Problem(part.name, "there is no WARC record in it")


def _arrival(place: str, capture: Capture, max_size: int) -> _Arrival:
    reference = reference_of(capture.record)
    names = (capture.record.field("warc-record-id"), digest_of(capture.record) if reference is None else "")
    return _Arrival(place, exchange_of(capture, max_size), reference, made_of(capture.record), names)


def _gather(arrivals: Iterator[_Arrival | Problem]) -> list[_Arrival | Problem]:
    group: list[_Arrival | Problem] = []
    for arrival in islice(arrivals, GROUP):
        group.append(arrival)
        if _weight(each for each in group if isinstance(each, _Arrival)) > GROUP_BYTES:
            break
    return group


def _weight(arrivals: Iterable[_Arrival]) -> int:
    return sum(len(each.exchange.body) for each in arrivals)


def _robots(exchange: Exchange) -> Outcome:
    """The record of a robots.txt has no page, and says nothing of what may be fetched today."""
    claim = Claim(0, exchange.url, 0, str(urls.origin(exchange.url)))
    return Outcome(claim, Settlement(State.FINISHED), exchange=exchange)


def _after(row: Row, outcome: Outcome, exchange: Exchange) -> Row:
    """The URL as it will be once the outcome is committed: it may have more versions in the same group."""
    newest = exchange.started_at if row.newest is None else max(row.newest, exchange.started_at)
    return Row(row.claim._replace(attempts=row.claim.attempts + 1), outcome.settlement, newest)
