"""What becomes of the URLs of a commit: their rows are read together and written together.

Runs in the writer thread, inside the caller's transaction. Whoever else reads these rows, or changes them, calls `write`
first.
"""

from collections.abc import Iterable
from typing import TypeAlias

import apsw

from gossamer.archive import store
from gossamer.archive.database import select
from gossamer.frontier.counters import Counters
from gossamer.frontier.forgive import uncounted
from gossamer.records import Claim, Hold, Kind, Outcome, Settlement, State, Via

_Row: TypeAlias = tuple[int, int, int]  # attempts, state, held

_QUEUES: dict[int, str] = {state: state.name.lower() for state in State}
"""The totals that URLs count in which are not held."""


class Settling:
    """Settles URLs, and holds those of hosts that are given up."""

    def __init__(self, connection: apsw.Connection, counters: Counters) -> None:
        self._connection = connection
        self._counters = counters
        self._rows: dict[int, _Row] = {}
        self._settled: list[tuple[object, ...]] = []
        self._tries: list[tuple[int, int, float, str]] = []

    def read(self, outcomes: Iterable[Outcome]) -> None:
        """Look the rows up that are going to be settled."""
        found = self._connection.executemany(
            "SELECT id, attempts, state, held FROM url WHERE id = ?", [(each.claim.url_id,) for each in outcomes]
        )
        self._rows = {url_id: row for url_id, *row in found}

    def is_new(self, outcome: Outcome) -> bool:
        """Idempotent by (URL, attempt): a try that was counted is not counted again."""
        row = self._rows.get(outcome.claim.url_id)
        return outcome.claim.is_robots or (row is not None and row[0] <= outcome.claim.attempts)

    def settle(self, outcome: Outcome, now: float, *, has_page: bool) -> tuple[Claim, float] | None:
        """Settle a URL; its next try, and when, if there is to be one."""
        claim, settlement = outcome.claim, outcome.settlement
        _, state, held = self._row(claim.url_id)
        attempts = claim.attempts + settlement.counts_as_try
        self._settled.append(
            (
                settlement.state,
                settlement.reason,
                settlement.held,
                settlement.due,
                attempts,
                now,
                _kind(outcome),
                claim.url_id,
            )
        )
        self._rows[claim.url_id] = attempts, settlement.state, settlement.held
        self._counters.change("held" if held else _QUEUES[state], -1)
        self._counters.change("held" if settlement.held else _QUEUES[settlement.state], 1)
        self._note_try(claim, settlement, now, has_page=has_page)
        if settlement.state is State.WAITING and not settlement.held:
            return claim._replace(attempts=attempts), settlement.due or now
        return None

    def _row(self, url_id: int) -> _Row:
        row = self._rows.get(url_id)
        if row is None:
            (row,) = select(self._connection, "SELECT attempts, state, held FROM url WHERE id = ?", (url_id,))
        return row

    def _note_try(self, claim: Claim, settlement: Settlement, now: float, *, has_page: bool) -> None:
        if settlement.failure is not None:
            self._counters.change(f"errors:{settlement.failure.kind}", 1)
        if settlement.failure is not None or not (has_page or settlement.held):
            number = claim.attempts + 1
            if not settlement.counts_as_try:
                self.write()
                number = uncounted(self._connection, claim.url_id)
            self._tries.append((claim.url_id, number, now, str(settlement.failure or settlement.reason)))

    def write(self) -> None:
        """Make rows of what was settled. What others do with them from now on is not known here."""
        if self._settled:
            self._connection.executemany(
                "UPDATE url SET state = ?, reason = ?, held = ?, due = ?, attempts = ?, settled = ?,"
                " kind = ifnull(?, kind) WHERE id = ?",
                self._settled,
            )
            self._settled.clear()
        if self._tries:
            self._connection.executemany("INSERT OR IGNORE INTO attempt VALUES (?, ?, ?, ?)", self._tries)
            self._tries.clear()
        self._rows.clear()

    def hold(self, host_id: int, reason: str) -> int:
        """Hold every waiting URL of a host."""
        self.write()
        self._connection.execute(
            "UPDATE url SET held = ?, reason = ? WHERE url.id >> 17 IN block AND host = ? AND state = 0 AND held = 0",
            (Hold.PARKED, reason, host_id),
        )
        count = self._connection.changes()
        self._counters.change("waiting", -count)
        self._counters.change("held", count)
        return count


def _kind(outcome: Outcome) -> Kind | None:
    """What a URL turned out to be; None: what it was."""
    if store.is_success(outcome) and not (outcome.facts is not None and outcome.facts.is_page):
        return Kind.OTHER
    return Kind.INTERNAL if outcome.claim.via is Via.IMPORT else None
