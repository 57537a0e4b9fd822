"""Totals that are kept in the same transaction as what they count."""

from collections import Counter

import apsw

from gossamer.archive.database import select


class Counters:
    """Changes of totals, gathered during a transaction and written at its end."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._changes: Counter[str] = Counter()
        self.totals: dict[str, int] = self._read()

    def change(self, name: str, by: int) -> None:
        """Note that a total changed."""
        self._changes[name] += by

    def flush(self) -> None:
        """Write the changes, as the last step of the transaction."""
        self._connection.executemany(
            "INSERT INTO counter VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
            [(name, by) for name, by in self._changes.items() if by],
        )
        self._changes.clear()

    def refresh(self) -> None:
        """Take the totals over for the snapshot, once the transaction is done."""
        self._changes.clear()
        self.totals = self._read()

    def _read(self) -> dict[str, int]:
        return dict(select(self._connection, "SELECT name, value FROM counter"))
