"""URLs under way, counted by their templates: what may be a trap is not asked for faster than its answers are known."""

from collections import Counter
from collections.abc import Iterable

from gossamer.records import Claim

_UNKNOWN = 1
"""URLs of a template under way of which nothing has been heard since the start."""

_REMEMBERED = 100_000


class UnderWay:
    """Which hosts must wait before they go on with a template. Pure; in memory, with the rest of what is running."""

    def __init__(self) -> None:
        self._limits: dict[int, int | None] = {}
        self._counts: Counter[int] = Counter()
        self._hosts: dict[int, set[int]] = {}  # that wait, by template

    def must_wait(self, claim: Claim | None, host_id: int) -> bool:
        """Whether a URL may not be asked for yet; its host is remembered then, until `land` or `limit` name it."""
        if claim is None or not claim.template or not self._counts[claim.template]:
            return False
        limit = self._limits.get(claim.template, _UNKNOWN)
        if limit is None or self._counts[claim.template] < limit:
            return False
        self._hosts.setdefault(claim.template, set()).add(host_id)
        return True

    def leave(self, claim: Claim) -> None:
        """A URL is asked for."""
        if claim.template:
            self._counts[claim.template] += 1

    def land(self, claim: Claim) -> set[int]:
        """It is known what a URL brought; the hosts that waited for one of its template."""
        if not claim.template:
            return set()
        self._counts[claim.template] -= 1
        if not self._counts[claim.template]:
            del self._counts[claim.template]
        return self._hosts.pop(claim.template, set())

    def limit(self, limits: Iterable[tuple[int, int | None]]) -> set[int]:
        """What is known of some templates from now on; the hosts that waited for that."""
        told = dict(limits)
        self._limits |= told
        waiting = [self._hosts.pop(number) for number in told.keys() & self._hosts.keys()]
        if len(self._limits) > _REMEMBERED:
            self._limits = {number: limit for number, limit in self._limits.items() if number in self._counts}
        return set().union(*waiting)
