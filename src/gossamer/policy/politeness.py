"""How long a host is left alone between two requests, and whether it is our own link that fails."""

from collections import OrderedDict
from dataclasses import dataclass

from gossamer.policy.addresses import LOOPBACK, UNSPECIFIED
from gossamer.records import Claim
from gossamer.settings import Settings

DEFAULT_DELAY = 1.0
LOG_LAG = 0.01
"""Seconds between two requests beyond the delay: logs are written late and rounded."""

LINK_WINDOW = 60.0
"""Seconds within which the last news of each host counts."""

LINK_HOSTS = 5
"""Fewer distinct hosts say nothing about the link."""

LINK_PATIENCE = 3600.0
"""Seconds that a link that worked may stay down before tries count again, so that a crawl always ends."""

_REMEMBERED = 10_000
"""Hosts of which is known that they answered, or were forgiven; the oldest news are forgotten."""

_MAX_PROBE_PAUSE = 60.0
_FIRST_PROBE_PAUSE = 5.0


def delay(settings: Settings, *, address_kind: str, crawl_delay: float | None, response_time: float) -> float:
    """Seconds between two requests to a host.

    The setting (unset: 1 s, and 0 for our own machine, ``address_kind`` of ``addresses.classify``), or more where the
    host's Crawl-delay asks for more, or where it is slow: then a multiple of its last ``response_time`` (request to
    first byte), unless the setting is 0. What the host asks for in either way is capped by ``max_delay``.
    """
    is_own_machine = address_kind in (LOOPBACK, UNSPECIFIED)  # 0.0.0.0 connects to loopback
    setting = settings.delay if settings.delay is not None else 0.0 if is_own_machine else DEFAULT_DELAY
    slow = settings.slow_factor * response_time if setting > 0 else 0.0
    return max(setting, min(max(crawl_delay or 0.0, slow), settings.max_delay))


def next_at(
    *,
    reserved_at: float,
    ended_at: float | None,
    delay: float,
    retry_after: float | None,
    now: float,
    max_retry_after: float,
) -> float:
    """The earliest time of the next request to a host.

    It is counted from the end of the answer, ``ended_at`` (without an answer: from ``now``, when the fetch ended), and
    never from before ``reserved_at``, when the fetch was given the host. Whether a server stamps its log when the
    request arrives or, as nginx, when the answer is complete: the stamp lies before the last byte reached us, and the
    next request leaves us a whole delay after that. So no two stamps in its log are closer than the delay, however
    long connecting or the body took. (Counted from when we asked, a slow first connection brings two requests
    together at the server.) A hundredth of a second is added for logs that are written after the last byte, in
    milliseconds.

    ``retry_after`` (seconds, as the server asked at ``now``) holds the host too, for ``max_retry_after`` at the most.
    """
    ended = now if ended_at is None else ended_at
    after_delay = max(reserved_at, ended) + (delay + LOG_LAG if delay else 0.0)
    return after_delay if retry_after is None else max(after_delay, now + min(retry_after, max_retry_after))


@dataclass(slots=True)
class _Outage:
    """A time in which the link is taken to be down."""

    since: float
    pause: float
    probe_at: float
    is_sure: bool  # a host failed that had answered before


class LinkMonitor:
    """Tells failing hosts from a failing link of our own.

    The link is down when, of at least five distinct hosts heard of within a minute, more than half failed in a way
    that a dead link would show (``failures.Rule.link``). Then everything pauses and no try is burnt. At ``probe_at``
    the crawl may try again; the pauses between that double, from 5 s to 1 min. Any answer ends the outage. Since a crawl
    always ends, an outage without one is believed for an hour, and for a minute only when none of the hosts that fail
    has ever answered (then it is rather these that are dead); after that tries count, until a host answers.

    What failed before that was known failed for the same reason, as far as its host has not answered since
    (``take_spoilt``); so may have what was asked for before the outage ended and failed later (``was_down``). No host is
    forgiven in two outages without an answer in between: among many that are dead the few that are well end one outage
    after the other.

    Memory: one entry for each host heard of within the last minute, one for each try that failed in it, and the names of
    some hosts that answered or were forgiven.
    """

    def __init__(self) -> None:
        self._news: dict[str, tuple[float, bool]] = {}  # host: when, whether it failed; oldest first
        self._suspects: dict[str, list[tuple[float, Claim]]] = {}  # tries of hosts that failed since their last answer
        self._spoilt: list[tuple[float, Claim]] = []
        self._failing = 0
        self._outage: _Outage | None = None
        self._ended_at = 0.0  # of the last outage
        self._number = 0  # of that outage, or of the one that is
        self._answered: OrderedDict[str, int] = OrderedDict()  # hosts, lately last
        self._forgiven: OrderedDict[str, int] = OrderedDict()  # hosts since their last answer, and in which outage

    def record(self, claim: Claim, *, failed: bool, at: float, began: float | None = None) -> None:
        """Note how a fetch ended: with a failure that a dead link would show, or with any answer of its host."""
        host = claim.origin
        if failed and began is not None and self._is_late(began, at):  # it says nothing of the link as it is
            if self._may_forgive(host):
                _remember(self._forgiven, host, self._number)
            return
        self._forget(host)
        self._expire(at)
        self._news[host] = (at, failed)
        self._failing += failed
        if not failed:
            _remember(self._answered, host, 0)
            self._forgiven.pop(host, None)
            if self.is_down(at):
                self._ended_at = at
            self._outage = None
            self._suspects.pop(host, None)
        elif self._outage is not None:
            self._outage.is_sure = self._outage.is_sure or host in self._answered
            self._postpone(self._outage, at)
        else:
            recent = [each for each in self._suspects.get(host, ()) if at - each[0] <= LINK_WINDOW]
            self._suspects[host] = [*recent, (at, claim)]
            if len(self._news) >= LINK_HOSTS and self._failing * 2 > len(self._news):
                self._begin_outage(at)

    def _begin_outage(self, at: float) -> None:
        is_sure = any(failed and host in self._answered for host, (_, failed) in self._news.items())
        self._outage = _Outage(at, _FIRST_PROBE_PAUSE, at + _FIRST_PROBE_PAUSE, is_sure)
        self._number += 1
        spoilt: list[tuple[float, Claim]] = []
        for host, tries in self._suspects.items():
            if self._may_forgive(host):
                spoilt += (each for each in tries if at - each[0] <= LINK_WINDOW)
                _remember(self._forgiven, host, self._number)
        self._spoilt += sorted(spoilt, key=lambda each: each[0])
        self._suspects.clear()

    def take_spoilt(self) -> list[Claim]:
        """The tries that failed shortly before the link was known to be down, the oldest first; each once."""
        spoilt, self._spoilt = self._spoilt, []
        return [claim for _, claim in spoilt]

    def is_down(self, at: float) -> bool:
        """Whether the link is taken to be down."""
        if self._outage is None:
            return False
        return at - self._outage.since < (LINK_PATIENCE if self._outage.is_sure else LINK_WINDOW)

    def was_down(self, host: str, began: float, at: float) -> bool:
        """Whether what a host was asked for at ``began``, and has failed by now, may have met a dead link."""
        return self.is_down(at) or (self._is_late(began, at) and self._may_forgive(host))

    def _is_late(self, began: float, at: float) -> bool:
        return self._ended_at > began and not self.is_down(at)

    def _may_forgive(self, host: str) -> bool:
        return self._forgiven.get(host, self._number) == self._number

    def probe_at(self, at: float) -> float:
        """When the crawl may go on: ``at`` itself unless the link is down."""
        return max(at, self._outage.probe_at) if self._outage is not None and self.is_down(at) else at

    def _postpone(self, outage: _Outage, at: float) -> None:
        """A probe failed; what was in flight when the outage began is none."""
        if at >= outage.probe_at:
            outage.pause = min(outage.pause * 2, _MAX_PROBE_PAUSE)
            outage.probe_at = at + outage.pause

    def _forget(self, host: str) -> None:
        _, failed = self._news.pop(host, (0.0, False))
        self._failing -= failed

    def _expire(self, at: float) -> None:
        while self._news:
            host = next(iter(self._news))
            if at - self._news[host][0] <= LINK_WINDOW:
                return
            self._forget(host)
            self._suspects.pop(host, None)


def _remember(hosts: OrderedDict[str, int], host: str, value: int) -> None:
    hosts[host] = value
    hosts.move_to_end(host)
    if len(hosts) > _REMEMBERED:
        hosts.popitem(last=False)  # a plain dict would look past all that were dropped before
