"""A frontier as its tests see it: verbs in plain calls, a clock that is moved by hand, ends that are clean or are not.

Another backend takes part with one more class like `SqliteDesk`: how it is opened, left and opened again.
"""

import asyncio
import shutil
from collections.abc import Coroutine, Sequence
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from gossamer import url as urls
from gossamer.agent import NAME
from gossamer.archive.database import open_for_reading, select
from gossamer.clock import ManualClock
from gossamer.collection import Collection
from gossamer.frontier.contract import Frontier, Wait
from gossamer.parse.links import pack
from gossamer.policy import robots
from gossamer.records import (
    Batch,
    Candidate,
    Claim,
    Exchange,
    Facts,
    Failure,
    FailureKind,
    HostUpdate,
    Lease,
    Link,
    Outcome,
    RobotsAnswer,
    Selection,
    Settlement,
    State,
    Via,
)
from gossamer.settings import Settings

T = TypeVar("T")

DELAY = 1.0
SETTINGS = Settings(max_urls=0, delay=DELAY, ignore_robots=True, scope="any")


class Desk:
    """Everything that the conformance suite does to a frontier."""

    frontier: Frontier
    held_lease: Lease
    secret: bytes

    def __init__(self, settings: Settings = SETTINGS) -> None:
        self.settings = settings
        self.clock = ManualClock()
        self.news = 0
        self._loop = asyncio.Runner()
        self._bodies = count()

    # --- to be made by each backend

    def open(self, seeds: Sequence[str] = ()) -> None:
        """Open what is there, or a new one."""
        raise NotImplementedError

    def crash(self) -> None:
        """End as by kill -9; what was committed is there when it is opened again."""
        raise NotImplementedError

    def close(self) -> None:
        """End as one should."""
        self.run(self.frontier.aclose())

    def finish(self) -> None:
        """Let go of everything after the test."""
        self._loop.close()

    # --- verbs

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run(work)

    def reopen(self, settings: Settings | None = None, seeds: Sequence[str] = ()) -> None:
        """A clean end, and the next start."""
        self.close()
        self.settings = settings or self.settings
        self.open(seeds)

    def add(self, *addresses: str, via: Via = Via.SEED, **more: Any) -> int:
        candidates = [Candidate(url, via, **({"depth": 0} | more)) for url in addresses]
        return self.run(self.frontier.add(candidates))

    def lease(self) -> Claim | Wait:
        """The next claim as of now; what is on its way from disk is waited for."""

        async def ask() -> Claim | Wait:
            while True:
                claim = self.frontier.lease(self.clock.now())
                if isinstance(claim, Claim) or not self.frontier.is_reading:
                    return claim
                while self.frontier.is_reading:
                    await asyncio.sleep(0)

        return self.run(ask())

    def claim(self) -> Claim:
        """The next claim; there must be one now."""
        claim = self.lease()
        assert isinstance(claim, Claim), claim
        return claim

    def wait(self) -> float | None:
        """There is no claim now: when there may be."""
        wait = self.lease()
        assert isinstance(wait, Wait), wait
        return wait.until

    def answered(self, claim: Claim, *, delay: float | None = None, **update: Any) -> HostUpdate:
        """The fetch is over; its host may be asked again after its delay."""
        pause = self.settings.delay or 0.0 if delay is None else delay
        answer = HostUpdate(claim.host_id, **({"next_at": self.clock.now() + pause, "delay": pause} | update))
        self.frontier.answered(claim, answer)
        return answer

    def commit(self, *outcomes: Outcome, lease: Lease | None = None) -> None:
        self.run(self.frontier.commit(Batch(outcomes, lease or self.held_lease)))

    # --- what comes of a claim

    def page(self, claim: Claim, *links: Link | str, body: bytes | None = None, **facts: Any) -> Outcome:
        """It is a page with these links; its bytes are like no other's unless given."""
        found = [link if isinstance(link, Link) else Link(link, Via.ANCHOR) for link in links]
        content = b"%d" % next(self._bodies) if body is None else body
        return Outcome(
            claim,
            Settlement(State.FINISHED),
            exchange=self._exchange(claim, content),
            facts=Facts(
                content_type="text/html",
                size=len(content),
                digest=sha256(content).digest(),
                links=pack(found) if found else b"",
                fingerprints=b"".join(self._key(link, weak=bool(facts.get("nofollow"))) for link in found),
                is_page=True,
                **facts,
            ),
        )

    def redirect(self, claim: Claim, target: str) -> Outcome:
        candidate = Candidate(target, Via.REDIRECT, claim.depth, claim.url_id, claim.hops + 1)
        settlement = Settlement(State.FINISHED, f"redirects to {target}")
        return Outcome(claim, settlement, exchange=self._exchange(claim, b"", 302), candidates=(candidate,))

    def retry(self, claim: Claim, after: float = 10.0) -> Outcome:
        failure = Failure(FailureKind.HTTP_SERVER, "500", self.clock.now())
        return Outcome(claim, Settlement(State.WAITING, str(failure), due=self.clock.now() + after, failure=failure))

    def failed(self, claim: Claim) -> Outcome:
        failure = Failure(FailureKind.HTTP_CLIENT, "404", self.clock.now())
        return Outcome(claim, Settlement(State.FAILED, str(failure), failure=failure))

    def robots(self, claim: Claim, body: bytes = b"", lasts: float = 86400.0) -> Outcome:
        """The answer to a robots.txt."""
        now = self.clock.now()
        crawl_delay = robots.parse(body).group(NAME).crawl_delay
        update = self.answered(claim, robots=RobotsAnswer(body, now, now + lasts, 200, crawl_delay))
        return Outcome(claim, Settlement(State.FINISHED), host=update)

    def finish_page(self, claim: Claim, *links: Link | str, **more: Any) -> None:
        """Answered and committed, at once."""
        update = self.answered(claim)
        self.commit(replace(self.page(claim, *links, **more), host=update))

    def visit_all(self, limit: int = 1000) -> list[str]:
        """Lease and finish as long as there is something, also later; the URLs in their order."""
        visited: list[str] = []
        while len(visited) < limit:
            claim = self.lease()
            if isinstance(claim, Wait):
                if claim.until is None:
                    break
                self.clock.advance(max(0.0, claim.until - self.clock.now()) + 1e-6)
                continue
            self.finish_page(claim)
            visited.append(claim.url)
        return visited

    # --- what is known

    @property
    def counts(self) -> tuple[int, int, int, int, int]:
        """Waiting, running, finished, failed, held."""
        now = self.frontier.statistics()
        return now.waiting, now.running, now.finished, now.failed, now.held

    def state_of(self, url: str) -> tuple[State, bool, str]:
        """State, held and reason of a URL, as it is written."""
        raise NotImplementedError

    def _exchange(self, claim: Claim, body: bytes, status: int = 200) -> Exchange:
        now = self.clock.now()
        head = b"HTTP/1.1 %d OK\r\n\r\n" % status
        request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        return Exchange(claim.url, request, head, body, status, (), "192.0.2.1", "http/1.1", now, now, now)

    def _key(self, link: Link, *, weak: bool) -> bytes:
        strong = urls.fingerprint(link.url, self.secret)
        return urls.weaken(strong) if weak or link.nofollow or link.via is Via.REQUISITE else strong


class SqliteDesk(Desk):
    """The frontier on one machine: a collection in a folder."""

    def __init__(self, folder: Path, settings: Settings = SETTINGS) -> None:
        super().__init__(settings)
        self.folder = folder
        self._left: list[tuple[Frontier, Collection]] = []

    def open(self, seeds: Sequence[str] = ()) -> None:
        self._collection = Collection(self.folder, self.clock)
        opened = self._collection.open(self.settings, seeds, self._on_news)
        self.frontier, self.held_lease, self.secret = opened.frontier, opened.lease, opened.secret

    def _on_news(self) -> None:
        self.news += 1

    def close(self) -> None:
        super().close()
        self._collection.close()

    def crash(self) -> None:
        """The files as a killed process leaves them are those of now: a copy of them is opened next."""
        copy = self.folder.with_name(self.folder.name + "x")
        shutil.copytree(self.folder, copy)
        self._left.append((self.frontier, self._collection))
        self.folder = copy

    def finish(self) -> None:
        for frontier, collection in self._left:
            self.run(frontier.aclose())
            collection.close()
        super().finish()

    def state_of(self, url: str) -> tuple[State, bool, str]:
        with closing(open_for_reading(self.folder / "crawl.db")) as database:
            (row,) = select(database, "SELECT state, held, reason FROM url WHERE url = ?", (url,))
        return State(row[0]), bool(row[1]), row[2]


def named(*selection: str, **more: Any) -> Selection:
    return Selection(patterns=selection, **more)
