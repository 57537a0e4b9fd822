"""How much a host has to say: its pages that are no part of a template, or brought news to one."""

from collections import OrderedDict

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

    def note(self, host_id: int) -> None:
        """Count one more such page; nobody needs to know how many more than enough there are."""
        if not self.is_rich(host_id):
            self._connection.execute("UPDATE host SET worth = worth + 1 WHERE id = ?", (host_id,))
            self._pages[host_id] += 1

    def is_rich(self, host_id: int) -> bool:
        """Whether there are enough of them."""
        known = self._pages.get(host_id)
        if known is None:
            ((known,),) = select(self._connection, "SELECT worth FROM host WHERE id = ?", (host_id,))
            self._pages[host_id] = known
            if len(self._pages) > _CACHED:
                self._pages.popitem(last=False)
        return bool(known >= RICH)
