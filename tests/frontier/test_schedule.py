"""The schedule of hosts against a model that knows everything: what waits on disk, who is asked, and when."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from gossamer.frontier import schedule
from gossamer.frontier.schedule import Schedule
from gossamer.records import Claim, Host, HostUpdate

HOSTS = st.integers(1, 4)
PAUSES = st.sampled_from([0.0, 0.5, 1.0, 7.0])


@dataclass
class Known:
    """A host as the model knows it."""

    next_at: float = 0.0
    aside: bool = False
    busy: int = 0
    is_borrowed: bool = False


@dataclass
class Waiting:
    """A URL that waits on disk."""

    claim: Claim
    due: float = 0.0
    is_late: bool = False  # it was held, or tried before: it may come out of its order


@dataclass
class Model:
    """The disk and the clock."""

    now: float = 1000.0
    hosts: dict[int, Known] = field(default_factory=dict)
    disk: dict[int, Waiting] = field(default_factory=dict)  # by URL id; what is leased waits here too
    held: dict[int, Claim] = field(default_factory=dict)
    leased: dict[int, Claim] = field(default_factory=dict)
    limits: dict[int, int | None] = field(default_factory=dict)  # of templates
    next_id: int = 1

    def new_claim(self, host: int, template: int = 0) -> Claim:
        url, origin = f"http://h{host}.test/{self.next_id}", f"http://h{host}.test"
        claim = Claim(self.next_id, url, host, origin, template=template)
        self.next_id += 1
        self.hosts.setdefault(host, Known())
        return claim

    def of(self, host: int) -> list[Waiting]:
        """What could be leased of a host, if it may be asked."""
        return [
            waiting
            for number, waiting in sorted(self.disk.items())
            if waiting.claim.host_id == host and number not in self.leased
        ]

    def must_wait(self, claim: Claim) -> bool:
        """Whether as many of its template are under way as may be."""
        count = sum(other.template == claim.template for other in self.leased.values())
        limit = self.limits.get(claim.template, 1) if claim.template else None
        return bool(count) and limit is not None and count >= limit

    def may_be_asked(self, host: int, per_host: int) -> bool:
        known = self.hosts[host]
        is_free = known.busy < per_host and not known.is_borrowed
        return is_free and not known.aside and known.next_at <= self.now


class Hosts(RuleBasedStateMachine):
    """What the frontier does to its schedule, in every order that its threads allow."""

    per_host = 1

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.asked: list[tuple[int, int]] = []  # refills under way
        self.written: list[tuple[list[Claim], list[tuple[int, int]]]] = []  # what the schedule has not heard of yet
        self.last: dict[int, int] = {}  # host -> id of its last ordinary URL

    @initialize()
    def begin(self) -> None:
        """With room for eight URLs a host, so that most of them lie on disk."""
        patched = patch.object(schedule, "_MEMORY", 32)
        patched.start()
        self.unpatch = patched.stop
        self.schedule = Schedule(per_host=self.per_host, default_delay=1.0, obey_robots=False)

    # --- the disk

    @rule(host=HOSTS, count=st.integers(1, 15), template=st.sampled_from([0, 0, 0, 1, 2]))
    def find(self, host: int, count: int, template: int) -> None:
        claims = [self.model.new_claim(host, template) for _ in range(count)]
        self._wait(*(Waiting(claim) for claim in claims))

    @rule(host=HOSTS, count=st.integers(1, 15))
    def write(self, host: int, count: int) -> None:
        """URLs come to the disk, and to the schedule as many as it had room for then; it hears of it later."""
        if host in self.model.hosts and self.model.hosts[host].aside:
            return
        claims = [self.model.new_claim(host) for _ in range(count)]
        self.model.disk |= {claim.url_id: Waiting(claim) for claim in claims}
        room = self.schedule.room(host)
        kept, left = (claims, []) if room is None else (claims[: max(0, room)], claims[max(0, room) :])
        self.written.append((kept, [(host, left[0].url_id)] if left else []))

    @rule()
    def hear(self) -> None:
        """Of all that was written, in its order: so it is before anything that is written or read later."""
        for kept, left in self.written:
            hosts = {claim.host_id for claim in kept} | {host for host, _ in left}
            for host in hosts:
                self.schedule.know(Host(host, f"http://h{host}.test"))
            self.schedule.push(kept)
            self.schedule.leave_on_disk(left)
        self.written.clear()

    @rule(host=HOSTS)
    def find_what_is_held(self, host: int) -> None:
        claim = self.model.new_claim(host)
        self.model.held[claim.url_id] = claim

    @precondition(lambda self: self.model.held)
    @rule(count=st.integers(1, 5))
    def admit(self, count: int) -> None:
        """Found in a better way: the order found is an old one."""
        numbers = list(self.model.held)[:count]
        self._wait(*(Waiting(self.model.held.pop(number), is_late=True) for number in numbers))

    def _wait(self, *waiting: Waiting) -> None:
        self.hear()
        hosts = {each.claim.host_id for each in waiting}
        for host in hosts:
            self.schedule.know(Host(host, f"http://h{host}.test"))
        allowed = [each for each in waiting if not self.model.hosts[each.claim.host_id].aside]
        for each in allowed:  # the frontier holds what is found for a host that is put aside
            self.model.disk[each.claim.url_id] = each
        self.schedule.push([each.claim for each in allowed])

    @rule()
    def begin_to_read(self) -> None:
        self.asked += self.schedule.take_hungry()

    @precondition(lambda self: self.asked)
    @rule(limit=st.integers(1, 8))
    def read(self, limit: int) -> None:
        self._read(self.asked.pop(0), limit)

    def _read(self, wanted: tuple[int, int], limit: int) -> None:
        self.hear()
        host, after = wanted
        rows = [
            waiting
            for number, waiting in sorted(self.model.disk.items())
            if waiting.claim.host_id == host and number > after
        ]
        claims = [(waiting.claim, waiting.due) for waiting in rows[:limit]]
        more = len(claims) == limit
        self.schedule.refill(host, after, claims, more=more, now=self.model.now, running=self.model.leased)

    @rule(numbers=st.sets(st.integers(1, 60), max_size=10))
    def park(self, numbers: set[int]) -> None:
        """A command holds some URLs; everything is read anew."""
        self.hear()
        for number in numbers & self.model.disk.keys() - self.model.leased.keys():
            self.model.held[number] = self.model.disk.pop(number).claim
        self._reload()

    @rule()
    def take_back(self) -> None:
        """A command takes hosts back that were put aside."""
        self.hear()
        returned = {number for number, known in self.model.hosts.items() if known.aside}
        for number in returned:
            self.model.hosts[number].aside = False
        for number, claim in list(self.model.held.items()):
            self.model.disk[number] = Waiting(claim, is_late=True)
            del self.model.held[number]
        self._reload(returned)

    def _reload(self, returned: AbstractSet[int] = frozenset()) -> None:
        with_urls = {waiting.claim.host_id for waiting in self.model.disk.values()} | returned
        self.schedule.reload([Host(host, f"http://h{host}.test") for host in sorted(with_urls)])
        self.last.clear()

    @rule(template=st.sampled_from([1, 2]), limit=st.sampled_from([1, 2, 8, None]))
    def learn_of_a_template(self, template: int, limit: int | None) -> None:
        self.model.limits[template] = limit
        self.schedule.limit([(template, limit)])

    @rule(template=st.sampled_from([1, 2]))
    def close_a_template(self, template: int) -> None:
        """It was a trap: what waits of it is held."""
        self.hear()
        parked = [
            self.model.disk[number].claim
            for number in self.model.disk.keys() - self.model.leased.keys()
            if self.model.disk[number].claim.template == template
        ]
        for claim in parked:
            self.model.held[claim.url_id] = self.model.disk.pop(claim.url_id).claim
        self.schedule.withdraw(parked)

    # --- the clock and the network

    @rule(seconds=st.sampled_from([0.1, 0.5, 1.0, 10.0]))
    def time_goes_on(self, seconds: float) -> None:
        self.model.now += seconds

    @rule()
    def lease(self) -> None:
        claim = self.schedule.take(self.model.now)
        if claim is None:
            self._read_everything()
            claim = self.schedule.take(self.model.now)
        if claim is None:
            assert self._possible() == {}
            return
        host, waiting = claim.host_id, self.model.disk.get(claim.url_id)
        assert self.model.may_be_asked(host, self.per_host)
        assert waiting is not None, "it does not wait"
        assert claim.url_id not in self.model.leased, "leased twice"
        assert waiting.due <= self.model.now, "not due"
        assert not self.model.must_wait(claim), "too many like it"
        self._check_order(waiting)
        self.model.leased[claim.url_id] = claim
        self.model.hosts[host].busy += 1
        if self.per_host > 1:
            self.schedule.sent(claim, self.model.now)
            self.model.hosts[host].next_at = self.schedule.host(host).next_at

    def _check_order(self, waiting: Waiting) -> None:
        """In the order found within a host, but for retries and latecomers."""
        claim = waiting.claim
        if not waiting.is_late:
            assert claim.url_id > self.last.get(claim.host_id, 0)
            self.last[claim.host_id] = claim.url_id

    def _read_everything(self) -> None:
        self.hear()
        while self.asked or (hungry := self.schedule.take_hungry()):
            self.asked += [] if self.asked else hungry
            self._read(self.asked.pop(0), self.schedule.run_limit)

    def _possible(self) -> dict[int, list[int]]:
        """Hosts that may be asked, with what is due of them."""
        found = {}
        for host in self.model.hosts:
            due = [each.claim.url_id for each in self.model.of(host) if each.due <= self.model.now]
            if any(self.model.must_wait(each.claim) for each in self.model.of(host)):
                continue  # those behind it wait as well
            if due and self.model.may_be_asked(host, self.per_host):
                found[host] = due
        return found

    @precondition(lambda self: self.model.leased)
    @rule(pause=PAUSES, is_dead=st.sampled_from([False] * 9 + [True]), data=st.data())
    def answered(self, pause: float, is_dead: bool, data: st.DataObject) -> None:
        """Settled at once: finished, or again later."""
        number = data.draw(st.sampled_from(sorted(self.model.leased)))
        claim = self.model.leased[number]
        known = self.model.hosts[claim.host_id]
        update = HostUpdate(
            claim.host_id, self.model.now + pause, put_aside="dead" if is_dead else "", delay=pause or 0.25
        )
        self.schedule.answered(claim, update)
        known.busy -= 1
        known.next_at = max(known.next_at, update.next_at)
        self._settle(claim, data.draw(st.one_of(st.none(), PAUSES)))
        if is_dead:
            self._put_aside(claim.host_id)

    def _settle(self, claim: Claim, again_after: float | None) -> None:
        self.hear()
        del self.model.leased[claim.url_id]
        self.schedule.landed(claim)
        if self.model.hosts[claim.host_id].aside or again_after is None:
            del self.model.disk[claim.url_id]
            return
        due = self.model.now + again_after
        self.model.disk[claim.url_id] = Waiting(claim, due, is_late=True)
        self.schedule.delay(claim, due)

    def _put_aside(self, host: int) -> None:
        self.model.hosts[host].aside = True
        for each in self.model.of(host):
            self.model.held[each.claim.url_id] = self.model.disk.pop(each.claim.url_id).claim
        self.schedule.forget_urls(host)

    @precondition(lambda self: self.model.leased)
    @rule(data=st.data())
    def skip(self, data: st.DataObject) -> None:
        """It needed no request (robots.txt forbids it)."""
        claim = self.model.leased.pop(data.draw(st.sampled_from(sorted(self.model.leased))))
        self.schedule.skip(claim)
        self.schedule.landed(claim)
        self.model.hosts[claim.host_id].busy -= 1
        self.model.hosts[claim.host_id].next_at = self.schedule.host(claim.host_id).next_at
        self.model.held[claim.url_id] = self.model.disk.pop(claim.url_id).claim

    @precondition(lambda self: self.model.hosts)
    @rule(data=st.data(), pause=PAUSES)
    def borrow(self, data: st.DataObject, pause: float) -> None:
        """For the robots.txt of another host: taken, or told when to ask again."""
        host = data.draw(st.sampled_from(sorted(self.model.hosts)))
        self.schedule.know(Host(host, f"http://h{host}.test"))
        known = self.model.hosts[host]
        again = self.schedule.borrow(host, self.model.now)
        if again is not None:
            assert known.busy or known.is_borrowed or known.next_at > self.model.now
            assert again > self.model.now
            return
        assert not known.busy
        assert not known.is_borrowed
        assert known.next_at <= self.model.now
        known.is_borrowed = True

    @precondition(lambda self: any(known.is_borrowed for known in self.model.hosts.values()))
    @rule(pause=PAUSES)
    def give_back(self, pause: float) -> None:
        host, known = next(pair for pair in self.model.hosts.items() if pair[1].is_borrowed)
        known.is_borrowed = False
        known.next_at = max(known.next_at, self.model.now + pause)
        self.schedule.give_back(host, self.model.now + pause)

    # --- always

    @invariant()
    def knows_when_it_will_be_possible(self) -> None:
        """Of what lies in memory. What can be leased now or later is never further away than it says."""
        earliest = self.schedule.earliest()
        for number, known in self.model.hosts.items():
            if known.aside or known.busy >= self.per_host or known.is_borrowed or not self.model.of(number):
                continue
            if any(self.model.must_wait(each.claim) for each in self.model.of(number)):
                continue
            soonest = max(known.next_at, min(each.due for each in self.model.of(number)))
            is_read = not self.written and not self.asked and not self._is_hungry()
            if is_read and soonest > self.model.now:
                assert earliest is not None
                assert earliest <= soonest

    def _is_hungry(self) -> bool:
        self.asked += self.schedule.take_hungry()
        return bool(self.asked)

    @invariant()
    def keeps_host_times_for_the_next_process(self) -> None:
        times = dict(self.schedule.next_times(self.model.now))
        for number, known in self.model.hosts.items():
            if known.next_at > self.model.now:
                assert times[number] >= known.next_at
            elif known.busy or known.is_borrowed:
                assert times[number] > self.model.now

    def teardown(self) -> None:
        """In the end everything that waits is leased, once."""
        for known in self.model.hosts.values():
            if known.is_borrowed:
                self.give_back(0.0)
        for claim in list(self.model.leased.values()):
            self.schedule.answered(claim, HostUpdate(claim.host_id, self.model.now, delay=0.25))
            self.model.hosts[claim.host_id].busy -= 1
            self._settle(claim, None)
        while any(self.model.of(number) for number in self.model.hosts):
            self.model.now += 1000.0
            self.lease()
            for claim in list(self.model.leased.values()):
                self.schedule.answered(claim, HostUpdate(claim.host_id, self.model.now, delay=0.25))
                self.model.hosts[claim.host_id].busy -= 1
                self._settle(claim, None)
        self.unpatch()
        assert not self.model.disk


def test_what_was_left_on_disk_is_not_lost_behind_what_was_not() -> None:
    """Not an order in which the frontier tells it; but a URL that is passed over would wait until the next start."""
    one = Schedule(per_host=1, default_delay=1.0, obey_robots=False)
    one.know(Host(1, "http://h1.test"))
    one.push([Claim(7, "http://h1.test/7", 1, "http://h1.test")])
    one.leave_on_disk([(1, 3)])
    assert one.take_hungry() == [(1, -1)]


class MoreAtOnce(Hosts):
    """Where the settings allow several fetches at once on one host."""

    per_host = 3


_SETTINGS: dict[str, Any] = {
    "max_examples": 60,
    "stateful_step_count": 40,
    "deadline": None,
    "phases": (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
}

TestHosts = Hosts.TestCase
TestHosts.settings = settings(**_SETTINGS)
TestMoreAtOnce = MoreAtOnce.TestCase
TestMoreAtOnce.settings = settings(**_SETTINGS)
