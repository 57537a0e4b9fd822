"""The contract of a frontier: which URLs are known, which is next, and the unit of work that settles them.

A URL is in one of four queues:

    add ──> WAITING ──lease──> RUNNING ──commit──> FINISHED
               ^                  │  └───commit──> FAILED
               └──── commit ──────┘ (retry)          │
               └──────────── requeue ────────────────┘

Invariants
- *Running* is memory: nothing is written when a URL is handed out. A process that is killed forgets it, and the URL is
  simply waiting.
- A URL that is `held` is waiting but never leased, until it is released.
- One lease a host at a time (more only where the settings say so), never before the host's next time.
- `commit` is the only way a fetch becomes rows: archive bytes synced first, then one transaction for everything.
  It is idempotent by (URL, attempt), and refused when the lease's epoch is an old one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

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


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing can be leased now. ``until``: the earliest time something can; None: only news can change that."""

    until: float | None


class Frontier(Protocol):
    """The verbs of every backend. Those that are not async touch memory only."""

    async def add(self, candidates: Sequence[Candidate]) -> int:
        """Record URLs that are not known yet, judged by the scope; the number that is new. Idempotent."""
        ...

    def lease(self, now: float) -> Claim | Wait:
        """The next URL in the order found whose host may be asked now; or its host's robots.txt, where that is due."""
        ...

    def sent(self, claim: Claim, now: float) -> None:
        """The claim's request is on its way. Where a host may be asked again before its answer is there, the next one
        keeps its distance from this moment, and is not handed out before it: connecting may have taken any time."""
        ...

    def answered(self, claim: Claim, update: HostUpdate) -> None:
        """The fetch is over: its host may be asked again at ``update.next_at``. The URL itself settles with commit."""
        ...

    def skip(self, claim: Claim) -> None:
        """The claim needed no request: its host may be asked at once."""
        ...

    async def follow(self, outcome: Outcome, lease: Lease) -> None:
        """Where a page has so many new links that its commit would hold up everything else: make these known before it,
        a portion at a time. Of any other page nothing. Idempotent, also when the commit never comes."""
        ...

    async def commit(self, batch: Batch) -> None:
        """Make everything the outcomes brought durable, in one transaction; returns when it is."""
        ...

    async def hold(self, host_id: int, reason: str) -> int:
        """Hold every waiting URL of a host that is put aside; the number of them."""
        ...

    async def park(self, selection: Selection, reason: str) -> int:
        """Hold waiting URLs, with the reason; the number of them."""
        ...

    async def release(self, selection: Selection) -> int:
        """Let held URLs wait again; the number of them."""
        ...

    async def forgive(self, tries: Sequence[Claim]) -> list[Claim]:
        """What these tries, the oldest first, count against their URLs and hosts is taken back: it was not their fault.

        Returns those whose URLs are under way again; of these it can be said later.
        """
        ...

    async def requeue(self, selection: Selection) -> int:
        """Let failed URLs wait again with no tries counted, and take put-aside hosts back; the number of URLs."""
        ...

    async def put_in_order(self) -> int:
        """Number the versions of each URL by their time, after older ones were added; the number of URLs changed."""
        ...

    @property
    def is_reading(self) -> bool:
        """Whether URLs are on their way from disk: a Wait may soon be over."""
        ...

    def errors(self) -> dict[str, int]:
        """Failures by kind, tries included."""
        ...

    async def renew(self) -> None:
        """Keep the lease on the shards. Raises StaleLease when somebody else has it."""
        ...

    async def beat(self, state: str, body: dict[str, object]) -> list[Command]:
        """Write the heartbeat row; the commands that wait for an answer."""
        ...

    async def answer(self, command: Command, answer: str) -> None:
        """Mark a command as carried out."""
        ...

    async def event(self, kind: str, **body: object) -> None:
        """Append to the log of what happened."""
        ...

    async def meet(self, origin: Origin) -> int:
        """The id of an origin that a claim of another host leads to (robots.txt redirects), known from now on."""
        ...

    def borrow(self, host_id: int, now: float) -> float | None:
        """Take the host's place for a request of another host's claim: None when it was free, else when to ask again.

        Given back with `give_back`.
        """
        ...

    def give_back(self, host_id: int, next_at: float) -> None:
        """The borrowed request is over; the host may be asked again at ``next_at``."""
        ...

    def host(self, host_id: int) -> Host:
        """What is known of a host that has a claim."""
        ...

    async def robots(self, host_id: int) -> RobotsAnswer | None:
        """The robots.txt that is kept for a host."""
        ...

    def statistics(self) -> Statistics:
        """Counts as of now."""
        ...

    async def aclose(self) -> None:
        """Let go of everything; what was leased and not committed is waiting again."""
        ...
