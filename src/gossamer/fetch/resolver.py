"""Names to addresses: one query a name in flight, answers kept as long as they say, failures kept for a while.

The story of a name: an IP literal is its own answer; else the cache; else a question that is already on its way is
joined; else the hosts file (``localhost`` too, RFC 6761) is read and then the DNS is asked for A and AAAA at once.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

from gossamer.clock import Clock
from gossamer.fetch.lookup import Found, Lookup
from gossamer.fetch.names import bare_name, literal, server_address
from gossamer.fetch.order import in_order
from gossamer.policy.addresses import classify
from gossamer.records import Address, Failure, FailureKind

MIN_TTL = 5.0
"""Seconds an answer is kept at least: a TTL of 0 is no reason to ask for every page."""

MAX_TTL = 3600.0
"""Seconds an answer is kept at most: a host that moves is found again within the hour."""

NO_NAME_TTL = 300.0
FAILURE_TTL = 10.0
"""Seconds the two kinds of failure are kept. libcares gives no TTL for them (RFC 2308 would have one)."""

MAX_ADDRESSES = 16
"""Of one name; some answers have thousands."""

Answer = tuple[Address, ...] | Failure


@dataclass(frozen=True, slots=True)
class ResolverStatistics:
    """How much a resolver was asked, and what it keeps."""

    asked: int
    looked_up: int  # of these: neither literals, nor kept, nor on their way already
    kept: int  # names in the cache


class Resolver:
    """Resolves many names at once; belongs to the event loop that first uses it.

    ``servers``: ``ADDR[:PORT]`` or ``[v6]:PORT``, asked one after the other instead of the system's; UsageError when
    one is written differently. ``timeout``: seconds after which a name without answer is a failure, whatever happens.
    ``max_names``: kept at the most; the longest unused ones go.
    """

    def __init__(
        self, clock: Clock, servers: tuple[str, ...] = (), *, timeout: float = 10.0, max_names: int = 100_000
    ) -> None:
        self._clock = clock
        self._lookup = Lookup(tuple(server_address(server) for server in servers), timeout)
        self._max_names = max_names
        self._kept: OrderedDict[str, tuple[Answer, float]] = OrderedDict()
        self._on_their_way: dict[str, asyncio.Task[Answer]] = {}
        self._asked = 0
        self._looked_up = 0

    async def resolve(self, hostname: str) -> Answer:
        """The addresses of a host in the order they are to be tried, at least one; or why there is none.

        ``hostname`` as it stands in a canonical URL: ASCII, IPv6 addresses in brackets, perhaps a dot at the end.
        """
        self._asked += 1
        ip = literal(hostname)
        if ip is not None:
            return (Address(ip, classify(ip)),)
        name = bare_name(hostname)
        if name is None:
            return Failure(FailureKind.DNS_NO_NAME, "not a name that DNS can have", self._clock.now())
        kept = self._find(name)
        return kept if kept is not None else await self._join(name)

    def _find(self, name: str) -> Answer | None:
        entry = self._kept.get(name)
        if entry is None:
            return None
        answer, until = entry
        if self._clock.now() >= until:
            del self._kept[name]
            return None
        self._kept.move_to_end(name)
        return answer

    async def _join(self, name: str) -> Answer:
        task = self._on_their_way.get(name)
        if task is None:
            task = asyncio.create_task(self._ask(name))
            self._on_their_way[name] = task
            task.add_done_callback(lambda _: self._on_their_way.pop(name, None))
        # shielded: whoever is cancelled while waiting does not take the answer away from the others
        return await asyncio.shield(task)

    async def _ask(self, name: str) -> Answer:
        self._looked_up += 1
        found = await self._lookup.find(name)
        answer, seconds = self._judge(found)
        self._kept[name] = (answer, self._clock.now() + seconds)
        self._kept.move_to_end(name)
        while len(self._kept) > self._max_names:
            self._kept.popitem(last=False)
        return answer

    def _judge(self, found: Found) -> tuple[Answer, float]:
        """The answer and how long it is kept."""
        if found.failure is not None:
            seconds = NO_NAME_TTL if found.failure is FailureKind.DNS_NO_NAME else FAILURE_TTL
            return Failure(found.failure, found.detail, self._clock.now()), seconds
        ips = in_order(found.ipv4, found.ipv6)[:MAX_ADDRESSES]
        return tuple(Address(ip, classify(ip)) for ip in ips), min(max(found.ttl, MIN_TTL), MAX_TTL)

    def statistics(self) -> ResolverStatistics:
        """A snapshot of the counters."""
        return ResolverStatistics(self._asked, self._looked_up, len(self._kept))

    async def aclose(self) -> None:
        """Stop: who still waits is cancelled. Closing twice does nothing."""
        tasks = list(self._on_their_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._lookup.aclose()
