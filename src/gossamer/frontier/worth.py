"""How much a host has to say: its pages with a text of their own."""

from collections import Counter, OrderedDict

import apsw

from gossamer.archive.database import select

RICH = 20
"""Pages after which a host is known to have something to say beside what differs in numbers only."""

_CACHED = 10_000


class Worth:
    """Runs in the writer thread, inside the caller's transaction."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._pages: OrderedDict[int, int] = OrderedDict()
        self._noted: Counter[int] = Counter()

    def note(self, host_id: int) -> None:
        """Count one more such page."""
        self._noted[host_id] += 1

    def pages(self, host_id: int) -> int:
        """How many there are."""
        known = self._pages.get(host_id)
        if known is None:
            ((known,),) = select(self._connection, "SELECT worth FROM host WHERE id = ?", (host_id,))
            self._keep(host_id, known)
        return int(known) + self._noted[host_id]

    def is_rich(self, host_id: int) -> bool:
        """Whether there are enough of them."""
        return self.pages(host_id) >= RICH

    def flush(self) -> None:
        """Write what was noted, as a last step of the transaction."""
        noted, self._noted = self._noted, Counter()
        self._connection.executemany(
            "UPDATE host SET worth = worth + ? WHERE id = ?", [(count, host_id) for host_id, count in noted.items()]
        )
        for host_id, count in noted.items():
            if host_id in self._pages:
                self._keep(host_id, self._pages[host_id] + count)

    def _keep(self, host_id: int, pages: int) -> None:
        self._pages[host_id] = pages
        if len(self._pages) > _CACHED:
            self._pages.popitem(last=False)
