"""The size of the pool of downloaders follows the work: window by window."""

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


def test_who_finishes_while_it_shrinks_is_a_downloader_too() -> None:
    pool = DownloaderPool(16, 256, 0.0)
    for _ in range(16):
        pool.begin()
    for _ in range(14):
        pool.end()
        pool.note(began=0.0, waited=0.1, failed=True, now=0.1)
        pool.begin()
    assert pool.limit < pool.busy == pool.size == 16
    for _ in range(10):
        pool.end()
    assert pool.busy < pool.limit == pool.size
