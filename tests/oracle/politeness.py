"""Gap and concurrency of each host, proven from the server's own stamps."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from itertools import pairwise

from fakeweb.log import Visit

_UNDER_WAY = 0.05
"""Seconds within which a request may have been sent before an answer that just left was there."""

_SLACK = 0.0005
"""Seconds: the two clocks of the two processes are read at different moments."""


def check_politeness(
    visits: Iterable[Visit],
    delay: float = 0.0,
    *,
    delays: Mapping[str, float] | None = None,
    per_host: int = 1,
    kills: Sequence[float] = (),
    window: float = 5.0,
) -> list[str]:
    """Violations of the pause between two requests, of Retry-After, and of the number of requests at once.

    ``delay`` in seconds for all hosts, ``delays`` for single ones (as in the Host header). Restarts count for nothing:
    the log does not know them. But a Retry-After that came at most ``window`` seconds before one of ``kills`` (seconds
    since 1970) may not have been committed.
    """
    found: list[str] = []
    for host, own in by_host(visits).items():
        pause = (delays or {}).get(host, delay)
        found += _gaps(host, own, pause, of_stamps=per_host == 1)
        found += _retry_after(host, own, kills, window, under_way=0.0 if per_host == 1 else _UNDER_WAY)
        found += _at_once(host, own, per_host)
    return found


def by_host(visits: Iterable[Visit]) -> dict[str, list[Visit]]:
    """The visits of each host in the order of their arrival."""
    hosts: dict[str, list[Visit]] = defaultdict(list)
    for visit in sorted(visits, key=lambda visit: visit.at_monotonic):
        hosts[visit.host.lower()].append(visit)
    return hosts


def _gaps(host: str, visits: list[Visit], delay: float, *, of_stamps: bool) -> list[str]:
    """``of_stamps``: as the log has it. Where a request does not wait for the answer to the last one, that one may have
    waited to be read, and its stamp is late by so much."""
    return [
        f"gap: {host} got {after.path} {after.at_monotonic - before.at_monotonic:.4f} s after {before.path}, not {delay} s"
        for before, after in pairwise(visits)
        if after.at_monotonic - before.at_monotonic < delay - _SLACK - (0.0 if of_stamps else before.late)
    ]


def _retry_after(
    host: str, visits: list[Visit], kills: Sequence[float], window: float, *, under_way: float
) -> list[str]:
    """429 and 503 with Retry-After hold the whole host."""
    found = []
    for number, busy in enumerate(visits):
        if busy.status not in (429, 503) or not busy.retry_after:
            continue
        since, until = (busy.ended or busy.at) + under_way, _not_before(busy) - _SLACK
        for after in visits[number + 1 :]:
            is_forgotten = any(busy.at <= kill <= min(after.at, busy.at + window) for kill in kills)
            if since <= after.at < until and not is_forgotten:
                late = after.at - busy.at
                found.append(
                    f"retry-after: {host} asked for {busy.retry_after!r} and got {after.path} {late:.4f} s later"
                )
                break
    return found


def _not_before(visit: Visit) -> float:
    if visit.retry_after.isdigit():
        return visit.at + int(visit.retry_after)
    return parsedate_to_datetime(visit.retry_after).timestamp()


def _at_once(host: str, visits: list[Visit], limit: int) -> list[str]:
    found: list[str] = []
    open_ones: list[Visit] = []
    for visit in visits:
        open_ones = [one for one in open_ones if _end(one) > visit.at]
        open_ones.append(visit)
        if len(open_ones) > limit:
            paths = ", ".join(one.path for one in open_ones)
            found.append(f"concurrency: {host} had {len(open_ones)} requests at once, not {limit}: {paths}")
    return found


def _end(visit: Visit) -> float:
    return math.inf if visit.ended is None else visit.ended
