"""From an answer to durable rows: bounded in number and bytes, whoever is slow."""

import asyncio
from dataclasses import dataclass, field

import pytest

from gossamer.clock import ManualClock
from gossamer.crawl.pipeline import GROUP_BYTES, GROUP_LINKS, GROUP_OUTCOMES, MAX_OUTCOMES, Pipeline
from gossamer.crawl.visit import Visit
from gossamer.errors import ArchiveError
from gossamer.fetch.room import Room
from gossamer.parse.job import ParseJob
from gossamer.records import Batch, Claim, Exchange, Facts, Failure, FailureKind, HostUpdate, Lease, Outcome, State
from gossamer.settings import Settings

MAX_BYTES = 96 * 1024 * 1024


@dataclass
class SlowWriter:
    """A frontier that commits when it is allowed to."""

    groups: list[tuple[Outcome, ...]] = field(default_factory=list)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    error: Exception | None = None

    async def follow(self, outcome: Outcome, lease: Lease) -> None: ...

    async def commit(self, batch: Batch) -> None:
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        self.groups.append(batch.outcomes)


@dataclass
class Parsers:
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    jobs: list[ParseJob] = field(default_factory=list)
    links: int = 0  # that each page has
    held: dict[int, asyncio.Event] = field(default_factory=dict)  # jobs that wait for more, by their numbers

    async def parse(self, job: ParseJob) -> Facts:
        self.jobs.append(job)
        waits = self.held.get(len(self.jobs))
        await self.gate.wait()
        if waits is not None:
            await waits.wait()
        return Facts("text/html", len(job.body), b"", title=job.url, is_page=True, fingerprints=bytes(8 * self.links))


class Line:
    """A pipeline with both ends in the test's hands."""

    def __init__(self) -> None:
        self.writer, self.parsers = SlowWriter(), Parsers()
        self.news = 0
        self.pipeline = Pipeline(
            self.writer,  # type: ignore[arg-type]  # only these two are used
            self.parsers,
            Lease(0, 4095, "test", 1, 0.0),
            Room(2 * MAX_BYTES),
            Settings(),
            ManualClock(),
            lambda: 0.0,
            self._on_room,
        )
        self.committer = asyncio.create_task(self.pipeline.run())
        self.tasks: list[asyncio.Task[Outcome]] = []

    def _on_room(self) -> None:
        self.news += 1

    def take(self, number: int, answer: Exchange | Failure, host: int = 1) -> None:
        claim = Claim(number, f"http://a.test/{number}", host, "http://a.test")
        visit = Visit(claim, answer, HostUpdate(host, 0.0))
        self.tasks.append(asyncio.create_task(self.pipeline.take(visit, link_is_down=False)))

    async def fill(self, size: int) -> int:
        """Take pages until there is no room; how many."""
        while self.pipeline.has_room:
            self.take(len(self.tasks), page(size))
            await self.settle()
        return len(self.tasks)

    @property
    def committed(self) -> list[int]:
        return [outcome.claim.url_id for group in self.writer.groups for outcome in group]

    async def settle(self) -> None:
        for _ in range(20):
            await asyncio.sleep(0)


def page(size: int = 100, status: int = 200) -> Exchange:
    return Exchange("http://a.test/", b"", b"", bytes(size), status, (), "192.0.2.1", "http/1.1", 0.0, 0.0, 0.0)


def test_what_is_taken_is_parsed_concluded_and_committed() -> None:
    async def scenario() -> None:
        line = Line()
        line.take(1, page())
        line.take(2, Failure(FailureKind.RESET))
        line.take(3, page(status=404))
        await line.settle()
        assert [job.url for job in line.parsers.jobs] == ["http://a.test/"], "only what is worth it is parsed"
        assert (line.pipeline.depths().parsing, line.pipeline.is_empty) == (3, False), "two wait for their turn"
        line.parsers.gate.set()
        line.writer.gate.set()
        await line.settle()
        outcomes = sorted(
            (outcome for group in line.writer.groups for outcome in group), key=lambda one: one.claim.url_id
        )
        assert [one.settlement.state for one in outcomes] == [State.FINISHED, State.WAITING, State.FAILED]
        assert outcomes[0].facts is not None
        assert line.pipeline.is_empty
        assert line.news > 0
        line.committer.cancel()

    asyncio.run(scenario())


def test_there_is_no_room_when_the_writer_is_slow() -> None:
    async def scenario() -> None:
        line = Line()
        line.parsers.gate.set()
        assert await line.fill(100) == MAX_OUTCOMES
        line.writer.gate.set()
        await line.settle()
        assert line.pipeline.has_room
        assert line.pipeline.is_empty
        assert sum(map(len, line.writer.groups)) == MAX_OUTCOMES
        assert max(map(len, line.writer.groups)) <= GROUP_OUTCOMES
        line.committer.cancel()

    asyncio.run(scenario())


def test_there_is_no_room_when_parsers_are_slow_or_bodies_large() -> None:
    async def scenario() -> None:
        line = Line()
        size = 8 * 1024 * 1024
        assert await line.fill(size) == MAX_BYTES // size
        assert line.pipeline.depths().bytes == MAX_BYTES
        line.parsers.gate.set()
        await line.settle()
        assert not line.pipeline.has_room, "they wait to be written now"
        line.writer.gate.set()
        await line.settle()
        assert line.pipeline.depths().bytes == 0
        assert max(len(group) for group in line.writer.groups) <= GROUP_BYTES // size
        line.committer.cancel()

    asyncio.run(scenario())


def test_answers_of_a_host_go_on_in_the_order_in_which_they_came() -> None:
    async def scenario() -> None:
        line = Line()
        line.parsers.held = {1: (slow := asyncio.Event())}
        line.parsers.gate.set()
        line.writer.gate.set()
        for number in range(1, 5):
            line.take(number, page() if number != 3 else Failure(FailureKind.RESET))
            line.take(10 + number, page(), host=2)
            await line.settle()
        assert line.committed == [11, 12, 13, 14], "other hosts do not wait"
        assert line.pipeline.depths().parsing == 4
        slow.set()
        await line.settle()
        assert line.committed[4:] == [1, 2, 3, 4]
        assert line.pipeline.is_empty
        line.committer.cancel()

    asyncio.run(scenario())


def test_an_answer_that_takes_long_holds_nothing_up_for_more_than_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.crawl.turns.MOMENT", 0.05)

    async def scenario() -> None:
        line = Line()
        line.parsers.held = {1: (slow := asyncio.Event())}
        line.parsers.gate.set()
        line.writer.gate.set()
        for number in range(1, 4):
            line.take(number, page())
        await asyncio.gather(*line.tasks[1:])
        await line.settle()
        assert line.committed == [2, 3]
        slow.set()
        await line.settle()
        assert line.committed == [2, 3, 1]
        line.committer.cancel()

    asyncio.run(scenario())


def test_an_answer_that_is_given_up_holds_nothing_up() -> None:
    async def scenario() -> None:
        line = Line()
        line.parsers.held = {1: asyncio.Event()}
        line.parsers.gate.set()
        line.writer.gate.set()
        line.take(1, page())
        line.take(2, page())
        await line.settle()
        assert line.committed == []
        line.tasks[0].cancel()
        await line.settle()
        assert line.committed == [2]
        assert line.pipeline.is_empty
        line.committer.cancel()

    asyncio.run(scenario())


def test_a_group_has_not_too_many_links() -> None:
    async def scenario() -> None:
        line = Line()
        line.parsers.links = GROUP_LINKS // 8
        line.parsers.gate.set()
        await line.fill(100)
        line.writer.gate.set()
        await line.settle()
        assert line.pipeline.is_empty
        assert max(map(len, line.writer.groups)) == 8
        line.committer.cancel()

    asyncio.run(scenario())


def test_a_failure_to_write_is_not_tried_again() -> None:
    async def scenario() -> None:
        line = Line()
        line.writer.error = ArchiveError("no sync")
        line.writer.gate.set()
        line.take(1, Failure(FailureKind.RESET))
        with pytest.raises(ArchiveError):
            await line.committer
        assert line.writer.groups == []
        assert not line.pipeline.is_empty

    asyncio.run(scenario())
