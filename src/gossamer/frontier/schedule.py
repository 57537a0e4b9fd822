"""Which host is asked next, and when: the in-memory half of a frontier. Pure: time is passed in, nothing is read.

Each host keeps a short run of its next URLs, in the order found, and refills it from disk when it gets short: memory is
bounded by hosts, not URLs. A host is in one place at a time:

    idle      no URL to fetch, or none but on disk
    sleeping  has URLs, but may not be asked before its next time      heap by time
    ready     may be asked now                                         heap by its first URL: breadth first
    patient   its next URL is like others that are under way, and it is not known yet whether they are worth it
    busy      as many fetches under way as it may have, or its robots.txt is being asked for
    aside     given up for now
"""

import heapq
from collections import deque
from collections.abc import Container, Iterable

from gossamer.frontier.slot import NONE, Place, Slot, told_anew
from gossamer.frontier.underway import UnderWay
from gossamer.policy.politeness import LOG_LAG
from gossamer.records import Claim, Host, HostUpdate

_MEMORY = 200_000
"""URLs that all runs together hold, about."""

_AT_ONCE = 100
"""Hosts whose URLs are read from disk together."""


class Schedule:
    """All hosts that have, or lately had, URLs to fetch.

    ``default_delay``: the pause of a host of which nothing is known yet; it matters only where ``per_host`` is more
    than one, because otherwise the answer to the first request sets the time of the second.
    """

    def __init__(self, *, per_host: int, default_delay: float, obey_robots: bool) -> None:
        self._per_host = per_host
        self._default_delay = default_delay
        self._obey_robots = obey_robots
        self._slots: dict[int, Slot] = {}
        self._ready: list[tuple[int, int, int]] = []  # first URL id, ticket, host id
        self._sleeping: list[tuple[float, int, int]] = []  # time, ticket, host id
        self._hungry: deque[Slot] = deque()
        self._under_way = UnderWay()
        self._tickets = 0
        self._ready_count = 0

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def ready_hosts(self) -> int:
        """Hosts that could be asked as of the last `take`."""
        return self._ready_count

    @property
    def run_limit(self) -> int:
        """URLs one host keeps in memory at the most."""
        return max(2, min(128, _MEMORY // max(1, len(self._slots))))

    @property
    def _new_limit(self) -> int:
        """URLs of a run up to which new ones come into memory at once: of most hosts they will wait for long."""
        return self.run_limit // 2

    def host(self, host_id: int) -> Host:
        """What is known of a host."""
        return self._slots[host_id].host

    def know(self, host: Host, *, on_disk: bool = False) -> None:
        """Take notice of a host; what is known of it stays, but it may have become a seed's own since.

        ``on_disk``: it has waiting URLs there.
        """
        slot = self._slots.get(host.id)
        if slot is None:
            slot = self._slots[host.id] = Slot(host)
        elif host.exempt and not slot.host.exempt:
            slot.host = slot.host._replace(exempt=host.exempt)
        if on_disk:
            slot.more_on_disk = True
            self._check_hunger(slot)

    def reload(self, hosts: Iterable[Host]) -> None:
        """After a command changed what waits on disk: ``hosts`` may have URLs there, all others have none."""
        waiting = {host.id: host for host in hosts}
        for host_id in self._slots.keys() - waiting.keys():
            self.forget_urls(host_id)
        for host in waiting.values():
            slot = self._slots.setdefault(host.id, Slot(host))
            slot.host = told_anew(slot.host, host)
            self._start_over(slot)

    def forgive(self, hosts: Iterable[Host]) -> None:
        """Less counts against ``hosts`` and their URLs than was thought."""
        for host in hosts:
            slot = self._slots.setdefault(host.id, Slot(host))
            slot.host = slot.host._replace(
                failures=host.failures, put_aside=host.put_aside, robots_tries=host.robots_tries
            )
            self._start_over(slot)

    def _start_over(self, slot: Slot) -> None:
        """Read a host's URLs from disk again, from the first."""
        slot.run.clear()
        slot.delayed = NONE
        slot.patient = False
        slot.cursor = min(slot.cursor, 0) - 1  # another than before: what is being read for the run is out of date
        slot.more_on_disk = True
        self._put(slot)
        self._check_hunger(slot)

    def push(self, claims: Iterable[Claim]) -> None:
        """URLs of known hosts that can be leased from now on, in the order found. What a full run cannot take stays
        on disk. One that the run is past already was held until now: it comes before those in the run."""
        limit = self._new_limit
        for claim in claims:
            slot = self._slots[claim.host_id]
            if claim.url_id <= slot.cursor:
                self._push_latecomer(slot, claim)
            elif slot.more_on_disk or len(slot.run) >= limit:
                slot.more_on_disk = True
                self._check_hunger(slot)
            else:
                slot.cursor = claim.url_id
                slot.run.append(claim)
                if slot.place is Place.IDLE or len(slot.run) == 1:
                    self._put(slot)

    def room(self, host_id: int) -> int | None:
        """How many more URLs of a host are kept in memory; None: the host is not known. The writer thread asks: what it
        is told may be out of date when it comes to `push` and `leave_on_disk`, and these do not mind."""
        slot = self._slots.get(host_id)
        if slot is None:
            return None
        return 0 if slot.more_on_disk else self._new_limit - len(slot.run)

    def leave_on_disk(self, hosts: Iterable[tuple[int, int]]) -> None:
        """Hosts have new URLs, from the given one on, that are not pushed."""
        for host_id, first in hosts:
            slot = self._slots[host_id]
            if first <= slot.cursor:  # newer ones came into memory meanwhile
                self._start_over(slot)
            elif not slot.more_on_disk:
                slot.more_on_disk = True
                self._check_hunger(slot)

    def _push_latecomer(self, slot: Slot, claim: Claim) -> None:
        if len(slot.delayed) >= 2 * self.run_limit:
            self._start_over(slot)
        else:
            slot.delay(claim, 0.0)
            self._put(slot)

    def withdraw(self, claims: Iterable[Claim]) -> None:
        """URLs that were held on disk: forget them, where they are not leased already."""
        by_host: dict[int, set[int]] = {}
        for claim in claims:
            by_host.setdefault(claim.host_id, set()).add(claim.url_id)
        for host_id, held in by_host.items():
            slot = self._slots.get(host_id)
            if slot is not None:
                slot.run = [claim for claim in slot.run if claim.url_id not in held]
                slot.delayed = [entry for entry in slot.delayed if entry[1] not in held]
                heapq.heapify(slot.delayed)
                slot.patient = False  # what it waited for may be gone
                self._put(slot)
                self._check_hunger(slot)

    def delay(self, claim: Claim, due: float) -> None:
        """A URL that is tried again, not before ``due``."""
        slot = self._slots[claim.host_id]
        slot.delay(claim, due)
        self._put(slot)

    @property
    def is_hungry(self) -> bool:
        """Whether there is something to take for `refill`."""
        return bool(self._hungry)

    def take_hungry(self) -> list[tuple[int, int]]:
        """Hosts (id, last id seen) whose run is short while more waits on disk, some at a time. Each must be given to
        `refill` once."""
        count = min(_AT_ONCE, len(self._hungry))
        return [(slot.host.id, slot.cursor) for slot in (self._hungry.popleft() for _ in range(count))]

    def refill(
        self,
        host_id: int,
        after: int,
        claims: Iterable[tuple[Claim, float]],
        *,
        more: bool,
        now: float,
        running: Container[int] = (),
    ) -> None:
        """The URLs of a host from disk behind ``after``, each with its due time; ``more``: there are others behind.

        ``running``: those that are leased; on disk they wait.
        """
        slot = self._slots[host_id]
        slot.refilling = False
        if slot.cursor != after:  # it was told to start over meanwhile
            self._check_hunger(slot)
            return
        slot.more_on_disk = more
        in_memory = {url_id for _, url_id, _ in slot.delayed}
        for claim, due in claims:
            slot.cursor = claim.url_id
            if claim.url_id in in_memory or claim.url_id in running:
                continue
            if due > now:
                slot.delay(claim, due)
            else:
                slot.run.append(claim)
        self._put(slot)
        self._check_hunger(slot)

    def take(self, now: float) -> Claim | None:
        """The URL that is next in the order found among the hosts that may be asked; a robots.txt where it is due."""
        self._wake(now)
        while self._ready:
            _, ticket, host_id = heapq.heappop(self._ready)
            slot = self._slots[host_id]
            if slot.ticket != ticket:
                continue
            claim = self._claim(slot, now)
            if claim is not None:
                return claim
        return None

    def _claim(self, slot: Slot, now: float) -> Claim | None:
        # rules that are old before they could be used hold for one URL, or nothing would ever be fetched
        if self._obey_robots and slot.host.robots_expires <= now and not slot.has_fresh_rules:
            claim: Claim | None = _robots_claim(slot.host)
            slot.asking_robots = True
        else:
            slot.patient = self._under_way.must_wait(slot.next(now), slot.host.id)
            claim = None if slot.patient else slot.pop(now)
            slot.has_fresh_rules = slot.has_fresh_rules and slot.patient
        if claim is not None:
            self._under_way.leave(claim)
            slot.busy += 1
            if self._per_host > 1 and self._delay(slot):
                slot.unsent |= {claim.url_id}
        self._put(slot)
        self._check_hunger(slot)
        return claim

    def landed(self, claim: Claim) -> None:
        """It is known what a leased URL brought: others like it may have waited for that."""
        self._end_patience(self._under_way.land(claim))

    def limit(self, limits: Iterable[tuple[int, int | None]]) -> None:
        """How many URLs of a template may be under way at once; None: any number."""
        self._end_patience(self._under_way.limit(limits))

    def _end_patience(self, hosts: Iterable[int]) -> None:
        for host_id in hosts:
            slot = self._slots[host_id]
            slot.patient = False
            self._put(slot)

    def earliest(self) -> float | None:
        """When the next host wakes up, if any sleeps."""
        while self._sleeping:
            time, ticket, host_id = self._sleeping[0]
            if self._slots[host_id].ticket == ticket:
                return time
            heapq.heappop(self._sleeping)
        return None

    def _delay(self, slot: Slot) -> float:
        return self._default_delay if slot.host.delay is None else slot.host.delay

    def sent(self, claim: Claim, now: float) -> None:
        """The claim's request is on its way: the next one to its host keeps its distance from now."""
        slot = self._slots[claim.host_id]
        if slot.unsent:
            slot.unsent -= {claim.url_id}
        if delay := self._delay(slot):
            slot.host = slot.host._replace(next_at=max(slot.host.next_at, now + delay + LOG_LAG))
        self._put(slot)

    def answered(self, claim: Claim, update: HostUpdate) -> None:
        """A fetch is over; the host may be asked again at the update's time."""
        slot = self._slots[claim.host_id]
        known = slot.host
        slot.host = Host(
            known.id,
            known.origin,
            next_at=max(known.next_at, update.next_at),
            failures=update.failures,
            put_aside=known.put_aside or update.put_aside,
            exempt=update.exempt or known.exempt,
            robots_expires=update.robots.expires if update.robots else known.robots_expires,
            robots_tries=update.robots_tries,
            delay=update.delay,
        )
        slot.has_fresh_rules = update.robots is not None
        self.skip(claim)

    def skip(self, claim: Claim) -> None:
        """A claim needed no request after all."""
        slot = self._slots[claim.host_id]
        slot.busy -= 1
        if slot.unsent:
            slot.unsent -= {claim.url_id}
        if claim.is_robots:
            slot.asking_robots = False
        self._put(slot)

    def borrow(self, host_id: int, now: float) -> float | None:
        """Take a free host's place: None; else the time to ask again."""
        slot = self._slots[host_id]
        if slot.busy or slot.place is Place.BUSY:  # all of its place: a robots.txt is asked for alone
            return now + 0.05  # nobody tells when its fetch will be over
        if slot.host.next_at > now:
            return slot.host.next_at
        slot.busy = self._per_host
        self._put(slot)
        return None

    def give_back(self, host_id: int, next_at: float) -> None:
        """A borrowed host is free again."""
        slot = self._slots[host_id]
        slot.busy = 0
        slot.host = slot.host._replace(next_at=max(slot.host.next_at, next_at))
        self._put(slot)

    def forget_urls(self, host_id: int) -> None:
        """Drop a host's URLs from memory: they were held on disk."""
        slot = self._slots.get(host_id)
        if slot is None:
            return
        slot.run.clear()
        slot.delayed = NONE
        slot.patient = False
        slot.more_on_disk = False
        self._put(slot)

    def next_times(self, now: float) -> list[tuple[int, float]]:
        """The hosts (id, time) that may not be asked yet; one whose answer never came is left alone for its delay."""
        times = []
        for slot in self._slots.values():
            next_at = max(slot.host.next_at, now + self._delay(slot)) if slot.busy else slot.host.next_at
            if next_at > now:
                times.append((slot.host.id, next_at))
        return times

    def _put(self, slot: Slot) -> None:
        """Bring a host to the place that its state asks for."""
        place = self._place_of(slot)
        wakes_at = slot.wakes_at() if place is Place.SLEEPING else 0.0
        if place is Place.SLEEPING is slot.place and wakes_at == slot.sleeps_until:
            return
        if slot.place is Place.READY:
            self._ready_count -= 1
        self._tickets += 1
        slot.ticket, slot.place, slot.sleeps_until = self._tickets, place, wakes_at
        if place is Place.SLEEPING:
            heapq.heappush(self._sleeping, (wakes_at, slot.ticket, slot.host.id))

    def _place_of(self, slot: Slot) -> Place:
        if slot.host.put_aside:
            return Place.ASIDE
        if slot.busy >= self._per_host or slot.asking_robots or slot.unsent:
            return Place.BUSY
        if slot.patient:
            return Place.PATIENT
        return Place.SLEEPING if slot.run or slot.delayed else Place.IDLE

    def _wake(self, now: float) -> None:
        while self._sleeping and self._sleeping[0][0] <= now:
            _, ticket, host_id = heapq.heappop(self._sleeping)
            slot = self._slots[host_id]
            if slot.ticket == ticket:
                slot.place = Place.READY
                self._ready_count += 1
                heapq.heappush(self._ready, (slot.first(now), ticket, host_id))

    def _check_hunger(self, slot: Slot) -> None:
        if slot.more_on_disk and not slot.refilling and len(slot.run) <= self.run_limit // 4:
            slot.refilling = True
            self._hungry.append(slot)


def _robots_claim(host: Host) -> Claim:
    return Claim(url_id=0, url=f"{host.origin}/robots.txt", host_id=host.id, origin=host.origin)
