"""The pool of downloaders against simulated servers."""

import pytest

from fetch.simulated import (
    Moment,
    Server,
    Simulation,
    after,
    always,
    burdened,
    by_turns,
    capacity,
    compared,
    failing,
    queue,
    uneven,
)


@pytest.mark.parametrize("took", [0.001, 0.3, 2.0])
@pytest.mark.parametrize("cost", [0.002, 0.02])
def test_a_server_that_can_is_asked_by_all(took: float, cost: float) -> None:
    adaptive, part = compared(always(took), cost=cost, seconds=max(60, 60 * took))
    assert part > 0.9
    assert adaptive.limits[-1] == 256 or cost == 0.02, "where the machine is full, more wait for nothing"


@pytest.mark.parametrize(("at_once", "took"), [(3, 0.05), (12, 0.1), (24, 0.5), (60, 0.5), (100, 0.5), (200, 0.5)])
def test_as_many_as_a_server_can_serve_at_once(at_once: int, took: float) -> None:
    adaptive, part = compared(capacity(at_once, took), at_once, cost=0.0002)
    assert part > 0.9
    assert adaptive.failures < 0.1 * adaptive.good
    late = adaptive.limits[len(adaptive.limits) // 2 :]
    assert at_once * 0.7 < min(late)


@pytest.mark.parametrize("at_once", [12, 24, 100])
def test_that_is_found_on_a_busy_machine_too(at_once: int) -> None:
    adaptive, part = compared(capacity(at_once, 0.1), at_once, cost=0.002)
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

    def recovering(moment: Moment) -> tuple[float, bool]:
        nonlocal asked
        asked += 1
        return (capacity(24, 0.1) if asked < 5000 else always(0.1))(moment)

    assert Simulation(recovering).run().limits[-1] == 256


# --- a minute on servers of all kinds

FAST, SLOW = always(0.05), always(3.0)

KINDS: dict[str, tuple[Server, int]] = {
    "fast": (always(0.02), 256),
    "slow, 0.3 s": (always(0.3), 256),
    "slow, 3 s": (SLOW, 256),
    "turning slow": (after(8, FAST, SLOW), 256),
    "turning very slow": (after(8, FAST, always(10.0)), 256),
    "turning fast": (after(20, SLOW, FAST), 256),
    "turning slow, and fast again": (after(8, FAST, after(30, SLOW, FAST)), 256),
    "by turns fast and slow, 1 s": (by_turns(FAST, always(1.0), 10), 256),
    "by turns fast and slow, 3 s": (by_turns(FAST, SLOW, 10), 256),
    "by turns slow, 0.3 s, and slower, 3 s": (by_turns(always(0.3), SLOW, 10), 256),
    "lossy, 5 %": (failing(0.05, 0.05, 0.02), 256),
    "lossy, 50 %": (failing(0.5, 0.05, 0.02), 256),
    "lossy, 50 %, at the end": (failing(0.5, 0.3, 0.3), 256),
    "turning lossy, 50 %": (after(10, always(0.2), failing(0.5, 0.2, 0.05)), 256),
    "3 at once": (capacity(3, 0.05), 3),
    "10 at once": (capacity(10, 0.05), 10),
    "24 at once": (capacity(24, 0.3), 24),
    "100 at once": (capacity(100, 0.5), 100),
    "3 at once, refusals cost": (burdened(3, 0.05, 0.02), 3),
    "10 at once, refusals cost": (burdened(10, 0.05, 0.02), 10),
    "24 at once, refusals cost": (burdened(24, 0.3, 0.1), 24),
    "100 at once, refusals cost": (burdened(100, 0.5, 0.1), 100),
    "turning to 24 at once, refusals cost": (after(15, always(0.2), burdened(24, 0.2, 0.05)), 24),
    "5 a second": (queue(5, 0.05), 256),
    "50 a second": (queue(50, 0.05), 256),
    "100 a second": (queue(100, 0.5), 256),
    "turning to 50 a second": (after(10, always(0.2), queue(50, 0.05)), 256),
    "uneven": (uneven(0.2, 0.1, 5.0), 256),
}


@pytest.mark.parametrize("cost", [0.0005, 0.002])
@pytest.mark.parametrize("kind", KINDS)
def test_it_brings_nearly_what_the_best_fixed_number_brings(kind: str, cost: float) -> None:
    server, fixed = KINDS[kind]
    _, part = compared(server, fixed, cost=cost)
    assert part >= 0.85


@pytest.mark.parametrize("seed", range(2, 7))
@pytest.mark.parametrize("kind", ["lossy, 5 %", "lossy, 50 %", "lossy, 50 %, at the end", "turning lossy, 50 %"])
def test_chance_is_no_trouble(kind: str, seed: int) -> None:
    server, best_fixed = KINDS[kind]
    best = Simulation(server, fixed=best_fixed, seed=seed).run().good
    assert Simulation(server, seed=seed).run().good >= 0.85 * best


@pytest.mark.parametrize(("a_second", "most"), [(5, 32), (20, 60), (50, 150)])
def test_a_queue_does_not_grow_with_time(a_second: float, most: int) -> None:
    limits = Simulation(queue(a_second, 0.05), 1800).run().limits
    assert max(limits[len(limits) // 4 :]) <= most, "answers that come three seconds late, for a moment"


def test_where_refusals_cost_they_become_rare_too() -> None:
    server = burdened(24, 0.3, 0.1)
    short, long = Simulation(server, 60).run(), Simulation(server, 600).run()
    assert (long.failures - short.failures) / 540 < 0.5
    assert min(long.limits[-1000:]) >= 20


def test_what_was_borne_is_put_to_the_test_again() -> None:
    """Failures that came at any number, and then come of too many."""
    server = after(20, failing(0.5, 0.2, 0.05), capacity(24, 0.3))
    assert max(Simulation(server, 240).run().limits[-1000:]) < 30
