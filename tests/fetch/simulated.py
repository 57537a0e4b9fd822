"""Servers and a machine that asks them, in simulated time: what a pool of downloaders brings."""

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from gossamer.fetch.downloaders import PATIENCE, DownloaderPool


@dataclass(frozen=True, slots=True)
class Moment:
    """What a server knows when it is asked: a request more comes to those that it has."""

    now: float
    served: int  # those that it is at and that will be well
    under_way: int  # those that it turns away included
    chance: float  # from 0 to 1


Server = Callable[[Moment], tuple[float, bool]]
"""The seconds that a request takes, and whether it fails."""


@dataclass
class Simulation:
    """Any number of hosts of a server, asked for so many seconds by a machine that needs ``cost`` seconds a page."""

    server: Server
    seconds: float = 60.0
    cost: float = 0.002
    fixed: int = 0  # downloaders; 0: adaptive
    seed: int = 1
    good: int = 0
    failures: int = 0
    limits: list[int] = field(default_factory=list)  # after each answer

    def run(self) -> "Simulation":
        now, handled, order = 0.0, 0.0, 0
        dice = random.Random(self.seed)
        start, most = (self.fixed, self.fixed) if self.fixed else (16, 256)
        pool = DownloaderPool(start, most, now)
        coming: list[tuple[float, int, float, bool]] = []
        served: list[float] = []  # when the server will be done with them
        under_way: list[float] = []
        while now < self.seconds:
            while pool.has_room:
                for requests in (served, under_way):
                    while requests and requests[0] <= now:
                        heapq.heappop(requests)
                took, failed = self.server(Moment(now, len(served), len(under_way), dice.random()))
                for requests in (under_way,) if failed else (served, under_way):
                    heapq.heappush(requests, now + took)
                order += 1
                heapq.heappush(coming, (now + took, order, now, failed))
                pool.begin()
            pool.want_more()
            if coming[0][0] > now + PATIENCE:  # the crawl looks at it although nothing happened
                now += PATIENCE
                pool.adapt(now)
                continue
            arrived, _, began, failed = heapq.heappop(coming)
            handled = now = max(handled, arrived) + self.cost  # one after the other: that is how our own slowness shows
            self.good += not failed
            self.failures += failed
            pool.end()
            if not self.fixed:
                pool.note(began=began, waited=now - began, failed=failed, now=now)
                pool.adapt(now)
            self.limits.append(pool.limit)
        return self


FIXED = (3, 12, 24, 60, 100, 256)


def compared(server: Server, *more: int, seconds: float = 60.0, cost: float = 0.002) -> tuple[Simulation, float]:
    """The adaptive pool, and which part of what the best of `FIXED` and ``more`` numbers brings it has brought."""
    best = max(Simulation(server, seconds, cost, number).run().good for number in {*FIXED, *more})
    adaptive = Simulation(server, seconds, cost).run()
    return adaptive, adaptive.good / best


# --- servers


def always(took: float) -> Server:
    return lambda _: (took, False)


def by_turns(first: Server, second: Server, seconds: float) -> Server:
    """Each for so many seconds."""
    return lambda moment: (second if int(moment.now / seconds) % 2 else first)(moment)


def after(seconds: float, first: Server, second: Server) -> Server:
    """One, and from then on the other."""
    return lambda moment: (first if moment.now < seconds else second)(moment)


def capacity(at_once: int, took: float) -> Server:
    """So many at once, 503 to others, who leave no work."""
    return lambda moment: (took, False) if moment.served < at_once else (0.002, True)


def burdened(at_once: int, took: float, refusal: float) -> Server:
    """So many at once, 503 to others; to turn somebody away takes time, in which he counts as one of them."""
    return lambda moment: (took, False) if moment.under_way < at_once else (refusal, True)


def failing(share: float, took: float, fails_after: float) -> Server:
    """A share of the answers fails, however many are asked for."""
    return lambda moment: (fails_after, True) if moment.chance < share else (took, False)


def queue(a_second: float, took: float) -> Server:
    """A line that carries so many pages a second; others wait."""
    return lambda moment: (max(took, (moment.served + 1) / a_second), False)


def uneven(share: float, took: float, long: float) -> Server:
    """A share of the answers takes long."""
    return lambda moment: (long if moment.chance < share else took, False)
