"""The size of the pool of downloaders follows the work: window by window, and against simulated servers."""

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.fetch.downloaders import PATIENCE, DownloaderPool


class Work:
    """Windows of time in which so many downloads run and end."""

    def __init__(self, start: int = 16, maximum: int = 256) -> None:
        self.now = 1000.0
        self.pool = DownloaderPool(start, maximum, self.now)

    def window(self, *, waited: float = 0.1, failed: int = 0, demand: int = 10_000, answers: int | None = None) -> int:
        """One window with a demand for so many downloads at once; the limit after it."""
        while self.pool.has_room and self.pool.busy < demand:
            self.pool.begin()
        if not self.pool.has_room and self.pool.busy < demand:
            self.pool.want_more()
        count, began = self.pool.busy if answers is None else answers, self.now
        self.now += PATIENCE
        for number in range(count):
            self.pool.note(began=began, waited=waited, failed=number < failed, now=self.now)
        self.pool.adapt(self.now)
        while self.pool.busy:
            self.pool.end()
        return self.pool.limit


def test_it_starts_as_it_is_told() -> None:
    assert DownloaderPool(16, 256, 0.0).limit == 16
    assert DownloaderPool(300, 256, 0.0).limit == 256


def test_room() -> None:
    pool = DownloaderPool(2, 4, 0.0)
    seen = []
    for step in (pool.begin, pool.begin, pool.end):
        step()
        seen.append((pool.busy, pool.has_room))
    assert seen == [(1, True), (2, False), (1, True)]


def test_it_doubles_while_all_are_busy() -> None:
    work = Work()
    assert [work.window() for _ in range(6)] == [32, 64, 128, 256, 256, 256]


def test_it_does_not_grow_for_work_that_fits() -> None:
    work = Work()
    assert [work.window(demand=10) for _ in range(5)] == [16] * 5


def test_it_shrinks_to_its_start_when_idle() -> None:
    work = Work()
    for _ in range(20):
        work.window()
    limits = [work.window(demand=1, answers=0) for _ in range(30)]
    assert limits == sorted(limits, reverse=True)
    assert limits[-1] == 16
    assert work.window(demand=0) == 16
    assert work.window() == 32, "and grows from there as at first"


def test_it_shrinks_below_its_start_when_nothing_but_failures_comes() -> None:
    work = Work()
    assert work.window(failed=16) < 16
    for _ in range(30):
        work.window(failed=10_000, answers=20)
    assert work.pool.limit == 1
    for _ in range(30):
        work.window()
    assert work.pool.limit == 256, "and comes back"


def test_a_few_failures_are_no_overload() -> None:
    work = Work()
    assert work.window(failed=3) > 16


def test_it_shrinks_when_more_only_makes_all_slower() -> None:
    work = Work()
    for _ in range(8):
        work.window(waited=0.05)
    grown = work.pool.limit
    assert work.window(waited=5) < grown


def test_a_busy_machine_is_no_slow_server() -> None:
    """What waits for our own processor waits for a moment, whatever multiple of the usual time that is."""
    work = Work()
    for _ in range(8):
        work.window(waited=0.005)
    assert [work.window(waited=0.8) for _ in range(20)][-1] == 256


def test_slow_but_steady_is_no_overload() -> None:
    work = Work()
    assert [work.window(waited=2.0) for _ in range(20)][-1] == 256


def test_long_downloads_and_hosts_that_never_answer_are_no_reason_to_wait() -> None:
    work = Work()
    assert [work.window(answers=0) for _ in range(5)][-1] == 256


def test_nothing_changes_within_a_round() -> None:
    work = Work()
    work.pool.want_more()
    work.pool.note(began=work.now, waited=0.1, failed=True, now=work.now + PATIENCE / 2)
    work.pool.adapt(work.now + PATIENCE / 2)
    assert work.pool.limit == 16


@pytest.mark.parametrize("maximum", [1, 7, 4096])
@given(windows=st.lists(st.tuples(st.floats(0, 60), st.integers(0, 300), st.integers(0, 300)), max_size=40))
def test_it_stays_within_its_bounds(maximum: int, windows: list[tuple[float, int, int]]) -> None:
    work = Work(16, maximum)
    for waited, failed, demand in windows:
        assert 1 <= work.window(waited=waited, failed=failed, demand=demand) <= maximum


# --- against simulated servers

Server = Callable[[float, int, random.Random], tuple[float, bool]]
"""From now and the requests that it has, this one not included, to the seconds that one takes and whether it fails."""


@dataclass
class Simulation:
    """Any number of hosts of a server, asked for so many seconds by a machine that needs ``cost`` seconds a page."""

    server: Server
    seconds: float = 60.0
    cost: float = 0.002
    fixed: int = 0  # downloaders; 0: adaptive
    good: int = 0
    failures: int = 0
    limits: list[int] = field(default_factory=list)  # after each answer

    def run(self) -> "Simulation":
        now, handled, order = 0.0, 0.0, 0
        dice = random.Random(1)
        start, most = (self.fixed, self.fixed) if self.fixed else (16, 256)
        pool = DownloaderPool(start, most, now)
        coming: list[tuple[float, int, float, bool]] = []
        there: list[float] = []  # when the server will be done with what it has
        while now < self.seconds:
            while pool.has_room:
                while there and there[0] <= now:
                    heapq.heappop(there)
                took, failed = self.server(now, len(there), dice)
                if not failed:  # who is turned away leaves no work
                    heapq.heappush(there, now + took)
                order += 1
                heapq.heappush(coming, (now + took, order, now, failed))
                pool.begin()
            pool.want_more()
            arrived, _, began, failed = heapq.heappop(coming)
            handled = now = max(handled, arrived) + self.cost  # one after the other: that is how our own slowness shows
            self.good += not failed
            self.failures += failed
            pool.end()
            pool.note(began=began, waited=now - began, failed=failed, now=now)
            pool.adapt(now)
            self.limits.append(pool.limit)
        return self


def compared(server: Server, *, seconds: float = 60.0, cost: float = 0.002) -> tuple[Simulation, float]:
    """The adaptive pool, and which part of what the best fixed one brings it has brought."""
    fixed = (3, 12, 24, 60, 100, 256)
    best = max(Simulation(server, seconds, cost, number).run().good for number in fixed)
    adaptive = Simulation(server, seconds, cost).run()
    return adaptive, adaptive.good / best


def always(took: float) -> Server:
    return lambda *_: (took, False)


def capacity(at_once: int, took: float) -> Server:
    """So many at once, 503 to others."""
    return lambda _, there, __: (took, False) if there < at_once else (0.002, True)


def failing(share: float, took: float, fails_after: float) -> Server:
    """A share of the answers fails, however many are asked for."""
    return lambda _, __, dice: (fails_after, True) if dice.random() < share else (took, False)


def queue(a_second: float, took: float) -> Server:
    """A line that carries so many pages a second; others wait."""
    is_free = 0.0

    def answer(now: float, there: int, dice: random.Random) -> tuple[float, bool]:
        nonlocal is_free
        is_free = (max(is_free, now) if there else now) + 1 / a_second
        return max(took, is_free - now), False

    return answer


@pytest.mark.parametrize("took", [0.001, 0.3, 2.0])
@pytest.mark.parametrize("cost", [0.002, 0.02])
def test_a_server_that_can_is_asked_by_all(took: float, cost: float) -> None:
    adaptive, part = compared(always(took), cost=cost, seconds=max(60, 60 * took))
    assert part > 0.9
    assert adaptive.limits[-1] == 256 or cost == 0.02, "where the machine is full, more wait for nothing"


@pytest.mark.parametrize(("at_once", "took"), [(3, 0.05), (12, 0.1), (24, 0.5), (60, 0.5), (100, 0.5), (200, 0.5)])
def test_as_many_as_a_server_can_serve_at_once(at_once: int, took: float) -> None:
    adaptive, part = compared(capacity(at_once, took), cost=0.0002)
    assert part > 0.9
    assert adaptive.failures < 0.1 * adaptive.good
    late = adaptive.limits[len(adaptive.limits) // 2 :]
    assert at_once * 0.7 < min(late)


@pytest.mark.parametrize("at_once", [12, 24, 100])
def test_that_is_found_on_a_busy_machine_too(at_once: int) -> None:
    adaptive, part = compared(capacity(at_once, 0.1), cost=0.002)
    assert part > 0.85
    assert adaptive.failures < 0.15 * adaptive.good


def test_who_is_turned_away_is_turned_away_ever_more_rarely() -> None:
    short = Simulation(capacity(24, 0.5), 60, 0.0002).run()
    long = Simulation(capacity(24, 0.5), 600, 0.0002).run()
    assert (long.failures - short.failures) / 540 < 0.5
    assert min(long.limits[-1000:]) >= 20


@pytest.mark.parametrize("share", [0.05, 0.15])
@pytest.mark.parametrize("fails_after", [0.0, 0.02, 5.0, 20.0])
def test_a_lossy_line_is_no_overload(share: float, fails_after: float) -> None:
    _, part = compared(failing(share, 0.02, fails_after), cost=0.005)
    assert part > 0.9


@pytest.mark.parametrize(("share", "fails_after"), [(0.3, 0.02), (0.6, 0.02), (0.3, 0.1), (0.6, 0.1), (0.3, 20.0)])
def test_what_fails_at_any_number_is_no_reason_for_a_small_one(share: float, fails_after: float) -> None:
    _, part = compared(failing(share, 0.1, fails_after), seconds=120, cost=0.005)
    assert part > 0.7


def test_a_line_that_is_full_gets_no_endless_queue() -> None:
    adaptive, part = compared(queue(50, 0.05))
    assert part > 0.9
    assert adaptive.limits[-1] < 100, "answers that come two seconds late"


def test_a_server_that_recovers_is_asked_by_all_again() -> None:
    asked = 0

    def recovering(now: float, there: int, dice: random.Random) -> tuple[float, bool]:
        nonlocal asked
        asked += 1
        return (capacity(24, 0.1) if asked < 5000 else always(0.1))(now, there, dice)

    assert Simulation(recovering).run().limits[-1] == 256
