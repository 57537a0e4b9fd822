"""The host table: an origin's row, found or made."""

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import apsw

from gossamer import url as urls
from gossamer.archive.database import select
from gossamer.records import Hold, Host, HostUpdate

_CACHED = 200_000
"""Origins whose rows are remembered: some 100 bytes each."""

MAX_SITEMAPS = 500
"""Sitemap files of one host that are read; nobody counts them as pages, so something else must end an endless supply."""

PENDING = "pending"
"""A seed's own origin whose address has not been looked up yet."""


class HostTable:
    """Origins and their rows; runs in the writer thread, inside the caller's transaction.

    ``pause``: seconds between two requests to a host, by the class of its address and its Crawl-delay.
    """

    def __init__(self, connection: apsw.Connection, pause: Callable[[str, float], float]) -> None:
        self._connection = connection
        self._pause = pause
        self._places: dict[str, int] = {}  # by origin: row id and shard in one number
        self._aside: dict[int, str] = self._read_aside()
        self._well: set[int] = set()  # hosts whose rows say that nothing is wrong with them
        self._updates: list[tuple[object, ...]] = []

    def id_of(self, origin: urls.Origin) -> tuple[int, int]:
        """The row id and the shard of an origin; a new one gets a row."""
        key = str(origin)
        return divmod(self._places.get(key) or self._keep(key, origin), urls.SHARDS)

    def place_of(self, url: str) -> tuple[int, int]:
        """The same for the origin of a canonical http(s) URL."""
        end = url.find("/", 8)
        place = self._places.get(url if end < 0 else url[:end])
        return divmod(place, urls.SHARDS) if place else self.id_of(urls.origin(url))

    def _keep(self, key: str, origin: urls.Origin) -> int:
        host_id, shard = self._find_or_insert(key, origin)
        place = self._places[sys.intern(key)] = host_id * urls.SHARDS + shard
        if len(self._places) > _CACHED:
            self._places.clear()  # to drop the oldest one by one takes longer than to look them up again
        return place

    def _find_or_insert(self, key: str, origin: urls.Origin) -> tuple[int, int]:
        row = self._connection.execute("SELECT id, shard FROM host WHERE origin = ?", (key,)).fetchone()
        if row is not None:
            return int(row[0]), int(row[1]) % urls.SHARDS
        shard = urls.shard(origin.hostname)
        self._connection.execute(
            "INSERT INTO host (origin, hostname, domain, shard) VALUES (?, ?, ?, ?)",
            (key, origin.hostname, urls.registrable_domain(origin.hostname), shard),
        )
        return self._connection.last_insert_rowid(), shard

    def put_aside(self, host_id: int) -> str:
        """Why a host is given up for now; empty when it is not."""
        return self._aside.get(host_id, "")

    def exempt(self, host_id: int) -> None:
        """Mark a seed's own origin: the class of address it first has is allowed for it."""
        self._connection.execute("UPDATE host SET exempt = ? WHERE id = ? AND exempt = ''", (PENDING, host_id))

    def count_sitemap(self, host_id: int) -> tuple[str, Hold]:
        """One more sitemap of a host: why it is held, and whether it is."""
        self._connection.execute("UPDATE host SET sitemaps = sitemaps + 1 WHERE id = ?", (host_id,))
        ((count,),) = select(self._connection, "SELECT sitemaps FROM host WHERE id = ?", (host_id,))
        return (
            (f"more than {MAX_SITEMAPS} sitemaps on this host", Hold.PARKED) if count > MAX_SITEMAPS else ("", Hold.NO)
        )

    def update(self, update: HostUpdate, now: float) -> None:
        """Keep what a fetch taught about its host. One that is put aside stays so, whatever was still in flight.

        Of most fetches that is only that its pause has begun. That is not worth a row: a clean end writes it, and after
        any other every host waits one full pause.
        """
        is_well = not (update.failures or update.robots_tries or update.put_aside or update.exempt)
        if is_well and update.host_id in self._well and update.next_at <= now + self._pause("", 0.0):
            return
        (self._well.add if is_well else self._well.discard)(update.host_id)
        self._updates.append(
            (
                update.next_at,
                update.failures,
                update.put_aside,
                update.robots_tries,
                update.exempt,
                update.exempt,
                update.host_id,
            )
        )
        if update.put_aside:
            self._aside.setdefault(update.host_id, update.put_aside)

    def write(self) -> None:
        """Make rows of what was kept."""
        if self._updates:
            self._connection.executemany(
                "UPDATE host SET next_at = max(next_at, ?), failures = ?, robots_tries = ?4,"
                " put_aside = iif(put_aside = '', ?3, put_aside), exempt = iif(?5 != '', ?6, exempt) WHERE id = ?7",
                self._updates,
            )
            self._updates.clear()

    def take_back(self) -> list[Host]:
        """Read anew which hosts are put aside, after a command took some back; these."""
        self._well.clear()
        before, self._aside = self._aside, self._read_aside()
        return [self.load(host_id) for host_id in before.keys() - self._aside.keys()]

    def _read_aside(self) -> dict[int, str]:
        return dict(select(self._connection, "SELECT id, put_aside FROM host WHERE put_aside != ''"))

    def load(self, host_id: int) -> Host:
        """What is known of a host."""
        (host,) = self.load_all((host_id,))
        return host

    def load_all(self, host_ids: Iterable[int]) -> list[Host]:
        """The same of several, in their order."""
        rows = self._connection.executemany(_KNOWN + " WHERE id = ?", [(host_id,) for host_id in host_ids])
        return [self._host(row) for row in rows]

    def _host(self, row: Sequence[Any]) -> Host:
        """A host whose Crawl-delay is known need not be asked once before that is kept."""
        host_id, origin, *values, crawl_delay = row
        host = Host(host_id, sys.intern(origin), *values)
        return host if crawl_delay is None else host._replace(delay=self._pause(host.exempt, crawl_delay))

    def with_waiting_urls(self) -> list[Host]:
        """Every host that has URLs to fetch."""
        return [self._host(row) for row in select(self._connection, _KNOWN + _WITH_WAITING_URLS)]


_KNOWN = (
    "SELECT id, origin, next_at, failures, put_aside, exempt, ifnull(robots_expires, 0), robots_tries, crawl_delay"
    " FROM host"
)

_WITH_WAITING_URLS = (
    " WHERE EXISTS (SELECT 1 FROM block CROSS JOIN url ON url.id >> 17 = n"
    " AND url.host = host.id AND state = 0 AND held = 0)"
)
