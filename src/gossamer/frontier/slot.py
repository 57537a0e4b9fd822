"""One host as the schedule sees it: where it is, what is known of it, and the next of its URLs."""

import heapq
from dataclasses import dataclass, field
from enum import StrEnum

from gossamer.records import Claim, Host


class Place(StrEnum):
    """Where a host is."""

    IDLE = "idle"
    SLEEPING = "sleeping"
    READY = "ready"
    BUSY = "busy"
    PATIENT = "patient"
    ASIDE = "aside"


NONE: list[tuple[float, int, Claim]] = []
"""Most hosts have nothing that is delayed, and share this; it stays empty."""


@dataclass(slots=True)
class Slot:
    """One host: what is known of it, and the next of its URLs. There may be 100,000: it is kept small."""

    host: Host
    run: list[Claim] = field(default_factory=list)
    delayed: list[tuple[float, int, Claim]] = field(default_factory=lambda: NONE)  # due, URL id: retries and latecomers
    cursor: int = 0  # the newest URL id that came into memory
    more_on_disk: bool = False
    refilling: bool = False
    busy: int = 0
    unsent: frozenset[int] = frozenset()  # URLs leased whose requests are not on their way yet
    asking_robots: bool = False
    patient: bool = False  # its next URL waits for what others of its template bring
    has_fresh_rules: bool = False  # a robots.txt that no URL was leased under yet
    place: Place = Place.IDLE
    sleeps_until: float = 0.0  # where it sleeps
    ticket: int = 0  # of its newest heap entry; older entries are void

    def delay(self, claim: Claim, due: float) -> None:
        """Keep a URL that comes out of its order."""
        if self.delayed is NONE:
            self.delayed = []
        heapq.heappush(self.delayed, (due, claim.url_id, claim))

    def first(self, now: float) -> int:
        """The id of the URL that is next: the order in which hosts are asked."""
        if not self.run:
            return self.delayed[0][1]
        is_due = bool(self.delayed) and self.delayed[0][0] <= now
        return min(self.run[0].url_id, self.delayed[0][1]) if is_due else self.run[0].url_id

    def wakes_at(self) -> float:
        """When it may be asked: at its own time, or at that of a retry where nothing else waits."""
        return self.host.next_at if self.run else max(self.host.next_at, self.delayed[0][0])

    def next(self, now: float) -> Claim | None:
        """The next URL that is due."""
        if self._is_retry_next(now):
            return self.delayed[0][2]
        return self.run[0] if self.run else None

    def pop(self, now: float) -> Claim | None:
        """Take the next URL that is due."""
        if self._is_retry_next(now):
            return heapq.heappop(self.delayed)[2]
        return self.run.pop(0) if self.run else None

    def _is_retry_next(self, now: float) -> bool:
        retry = bool(self.delayed) and self.delayed[0][0] <= now
        return retry and (not self.run or self.delayed[0][1] < self.run[0].url_id)


def told_anew(known: Host, host: Host) -> Host:
    """A host as it is on disk; what its latest answers said of times and rules may not have been written yet."""
    return host._replace(
        next_at=max(known.next_at, host.next_at),
        exempt=known.exempt or host.exempt,
        failures=host.failures if known.put_aside else known.failures,
        robots_expires=max(known.robots_expires, host.robots_expires),
        robots_tries=host.robots_tries if known.put_aside else known.robots_tries,
        delay=known.delay,
    )
