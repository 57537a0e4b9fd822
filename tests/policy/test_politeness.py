"""Politeness: the pauses of a host, the proof that a server's log shows them, and the link of our own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.politeness import LINK_HOSTS, LINK_PATIENCE, LINK_WINDOW, LOG_LAG, LinkMonitor, delay, next_at
from gossamer.records import Claim
from gossamer.settings import Settings

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("settings", "kind", "crawl_delay", "response_time", "expected"),
    [
        (Settings(), "public", None, 0.0, 1.0),
        (Settings(), "private", None, 0.2, 1.0),
        (Settings(), "loopback", None, 9.0, 0.0),
        (Settings(), "unspecified", None, 9.0, 0.0),
        (Settings(), "loopback", 2.5, 0.0, 2.5),
        (Settings(delay=0.3), "loopback", None, 0.0, 0.3),
        (Settings(delay=0.3), "loopback", None, 0.5, 0.5),
        (Settings(delay=0.0), "public", None, 9.0, 0.0),
        (Settings(delay=0.0), "public", 2.0, 9.0, 2.0),
        (Settings(), "public", 0.2, 0.0, 1.0),
        (Settings(), "public", 7.0, 3.0, 7.0),
        (Settings(), "public", 7.0, 9.0, 9.0),
        (Settings(slow_factor=2.0), "public", None, 9.0, 18.0),
        (Settings(slow_factor=0.0), "public", None, 9.0, 1.0),
        (Settings(), "public", 86400.0, 0.0, 60.0),
        (Settings(), "public", None, 300.0, 60.0),
        (Settings(delay=120.0), "public", 90.0, 90.0, 120.0),
    ],
)
def test_delay(settings: Settings, kind: str, crawl_delay: float | None, response_time: float, expected: float) -> None:
    assert delay(settings, address_kind=kind, crawl_delay=crawl_delay, response_time=response_time) == expected


def next_time(
    ended_at: float | None = NOW + 2, *, delay: float = 1.0, retry_after: float | None = None, now: float = NOW + 3
) -> float:
    return next_at(
        reserved_at=NOW, ended_at=ended_at, delay=delay, retry_after=retry_after, now=now, max_retry_after=3600
    )


def test_counted_from_the_end_of_the_answer() -> None:
    assert next_time() == NOW + 3 + LOG_LAG
    assert next_time(delay=0.0) == NOW + 2


def test_without_an_answer_counted_from_the_end() -> None:
    assert next_time(None) == NOW + 4 + LOG_LAG


def test_never_from_before_the_reservation() -> None:
    assert next_time(NOW - 50) == NOW + 1 + LOG_LAG  # the machine's clock was set back


def test_retry_after_holds_the_host() -> None:
    assert next_time(retry_after=120) == NOW + 123
    assert next_time(retry_after=0) == NOW + 3 + LOG_LAG
    assert next_time(retry_after=1e9) == NOW + 3603


DURATION = st.floats(0, 30)


@given(st.lists(st.tuples(DURATION, DURATION, DURATION, DURATION, st.booleans()), max_size=20), st.floats(0, 10))
def test_no_two_stamps_in_the_log_are_closer_than_the_delay(
    fetches: list[tuple[float, float, float, float, bool]], pause: float
) -> None:
    """The server stamps a request at any moment between its arrival and the end of its answer."""
    free_at, last_stamp = NOW, None
    for connecting, thinking, travelling, body, is_answered in fetches:
        stamp = free_at + connecting
        answered = stamp + thinking + travelling
        ended = answered + body
        if last_stamp is not None:
            assert stamp - last_stamp >= pause - 1e-6  # doubles resolve a quarter of a microsecond here
        last_stamp = answered + body
        free_at = max(
            ended,
            next_at(
                reserved_at=free_at,
                ended_at=ended if is_answered else None,
                delay=pause,
                retry_after=None,
                now=ended,
                max_retry_after=0,
            ),
        )


def at_host(origin: str, number: int = 1) -> Claim:
    return Claim(number, f"{origin}/{number}", 1, origin)


class TestLinkMonitor:
    @staticmethod
    def fail(monitor: LinkMonitor, hosts: int, at: float, *, first: int = 0) -> None:
        for host in range(first, first + hosts):
            monitor.record(at_host(f"host{host}"), failed=True, at=at)

    def test_few_hosts_say_nothing(self) -> None:
        monitor = LinkMonitor()
        self.fail(monitor, LINK_HOSTS - 1, NOW)
        for _ in range(50):
            monitor.record(at_host("host0"), failed=True, at=NOW)
        assert not monitor.is_down(NOW)
        assert monitor.probe_at(NOW) == NOW

    def test_more_than_half_of_many(self) -> None:
        monitor = LinkMonitor()
        for host in ("a", "b", "c"):
            monitor.record(at_host(host), failed=False, at=NOW)
        self.fail(monitor, 3, NOW)
        assert not monitor.is_down(NOW)  # half is not more than half
        self.fail(monitor, 1, NOW, first=3)
        assert monitor.is_down(NOW)

    def test_within_a_minute(self) -> None:
        monitor = LinkMonitor()
        self.fail(monitor, 4, NOW)
        self.fail(monitor, 4, NOW + LINK_WINDOW + 1, first=4)
        assert not monitor.is_down(NOW + LINK_WINDOW + 1)

    def test_only_the_last_news_of_a_host_counts(self) -> None:
        monitor = LinkMonitor()
        for host in range(20):
            monitor.record(at_host(f"host{host}"), failed=False, at=NOW)
        self.fail(monitor, 10, NOW + 1)
        assert not monitor.is_down(NOW + 1)
        self.fail(monitor, 1, NOW + 1, first=10)
        assert monitor.is_down(NOW + 1)

    def test_probes_grow_rarer_and_an_answer_ends_it(self) -> None:
        monitor = LinkMonitor()
        monitor.record(at_host("host0"), failed=False, at=NOW)
        self.fail(monitor, 5, NOW)
        pauses, at = [], NOW
        for _ in range(6):
            pauses.append(monitor.probe_at(at) - at)
            at = monitor.probe_at(at)
            monitor.record(at_host("host0"), failed=True, at=at)
            monitor.record(at_host("host1"), failed=True, at=at)  # the same probe: no further pause
        assert pauses == [5, 10, 20, 40, 60, 60]
        monitor.record(at_host("host0"), failed=False, at=at)
        assert not monitor.is_down(at)
        assert monitor.probe_at(at) == at

    @pytest.mark.parametrize(
        ("answered", "patience"), [("", LINK_WINDOW), ("host0", LINK_PATIENCE), ("well", LINK_WINDOW)]
    )
    def test_it_is_not_believed_for_ever(self, answered: str, patience: float) -> None:
        """And not for long where all that fail may be dead, because none of them was ever heard of."""
        monitor = LinkMonitor()
        if answered:
            monitor.record(at_host(answered), failed=False, at=NOW)
        self.fail(monitor, 6, NOW)
        assert monitor.is_down(NOW + patience - 1)
        self.fail(monitor, 6, NOW + patience)
        assert not monitor.is_down(NOW + patience)
        assert monitor.probe_at(NOW + patience) == NOW + patience

    def test_what_was_asked_for_before_it_ended_may_fail_after_it(self) -> None:
        monitor = LinkMonitor()
        assert not monitor.was_down("host1", NOW, NOW)
        self.fail(monitor, 5, NOW)
        assert monitor.was_down("host1", NOW + 1, NOW + 1)
        monitor.record(at_host("host0"), failed=False, at=NOW + 10)
        assert not monitor.is_down(NOW + 11)
        assert monitor.was_down("host1", NOW + 9, NOW + 11)
        assert not monitor.was_down("host1", NOW + 10, NOW + 11)
        for host in range(8):
            monitor.record(at_host(f"host{host}"), failed=True, at=NOW + 12, began=NOW + 9)
        assert not monitor.is_down(NOW + 12), "it says nothing of now"

    def test_many_that_are_dead_are_forgiven_once(self) -> None:
        """The few that are well end one outage after the other; but tries must count, or it would never end."""
        monitor, forgiven = LinkMonitor(), []
        for at in range(0, 1000, 10):
            monitor.record(at_host("well"), failed=False, at=NOW + at)
            for host in range(8):
                now = NOW + at + 1 + host / 10
                was_down = monitor.was_down(f"host{host}", now - 5, now)
                monitor.record(at_host(f"host{host}", at), failed=True, at=now, began=now - 5)
                forgiven += [(host, at)] * was_down * (not monitor.is_down(now))
            forgiven += [(int(claim.origin[4:]), claim.url_id) for claim in monitor.take_spoilt()]
        assert 0 < len(forgiven) <= 3 * 8

    def test_what_failed_before_it_was_known_is_told_once(self) -> None:
        monitor = LinkMonitor()
        monitor.record(at_host("long ago", 1), failed=True, at=NOW)
        monitor.record(at_host("answered", 2), failed=True, at=NOW + LINK_WINDOW)
        monitor.record(at_host("answered", 3), failed=False, at=NOW + LINK_WINDOW)
        monitor.record(at_host("long ago", 4), failed=True, at=NOW + LINK_WINDOW + 1)
        for host in range(3):
            assert monitor.take_spoilt() == []
            monitor.record(at_host(f"host{host}", 10 + host), failed=True, at=NOW + LINK_WINDOW + 2)
        assert monitor.is_down(NOW + LINK_WINDOW + 2)
        monitor.record(at_host("host9", 99), failed=True, at=NOW + LINK_WINDOW + 3)  # it counts as no try anyway
        assert [claim.url_id for claim in monitor.take_spoilt()] == [4, 10, 11, 12]
        assert monitor.take_spoilt() == []

    @given(st.lists(st.tuples(st.integers(0, 30), st.booleans(), st.floats(0, 40))))
    def test_agrees_with_counting(self, news: list[tuple[int, bool, float]]) -> None:
        """An outage begins exactly when more than half of the hosts heard of in the last minute failed last."""
        monitor, at, last = LinkMonitor(), NOW, dict[int, tuple[float, bool]]()
        for host, failed, pause in news:
            was_down = monitor.is_down(at)
            at += pause
            monitor.record(at_host(str(host)), failed=failed, at=at)
            last[host] = (at, failed)
            recent = [fate for when, fate in last.values() if at - when <= LINK_WINDOW]
            if not failed:
                assert not monitor.is_down(at)
            elif sum(recent) * 2 <= len(recent) or len(recent) < LINK_HOSTS:
                assert was_down or not monitor.is_down(at)
            assert monitor.probe_at(at) >= at
