"""Tries that failed because our own link was down, which was known only later: they are not counted after all.

Every function runs inside the caller's transaction.
"""

from collections import Counter
from collections.abc import Sequence

import apsw

from gossamer.archive.requests import take_host_back
from gossamer.frontier.counters import Counters
from gossamer.records import Claim, State


def forgive(connection: apsw.Connection, counters: Counters, tries: Sequence[Claim]) -> set[int]:
    """Take back what these tries, the oldest first, count against their URLs and hosts; the hosts.

    Only the newest tries of a URL: one that was answered since needs no mercy. What failed for good waits again.
    """
    for claim in reversed(tries):
        if not claim.is_robots:
            _forgive_url(connection, counters, claim)
    for host_id, count in Counter(claim.host_id for claim in tries).items():
        take_host_back(connection, host_id)
        connection.execute(
            "UPDATE host SET failures = max(0, failures - ?1), robots_tries = max(0, robots_tries - ?1) WHERE id = ?2",
            (count, host_id),
        )
    return {claim.host_id for claim in tries}


def uncounted(connection: apsw.Connection, url_id: int) -> int:
    """The number under which a try stands in the history that does not count: from zero down, as those before a retry."""
    lowest = connection.execute("SELECT min(attempt) FROM attempt WHERE url = ?", (url_id,)).get
    return 0 if lowest is None else min(0, int(lowest) - 1)


def _forgive_url(connection: apsw.Connection, counters: Counters, claim: Claim) -> None:
    number = claim.attempts + 1
    connection.execute(
        "UPDATE url SET attempts = ? WHERE id = ? AND attempts = ? AND state != ?",
        (claim.attempts, claim.url_id, number, State.FINISHED),
    )
    if not connection.changes():
        return
    connection.execute(
        "UPDATE attempt SET attempt = ? WHERE url = ? AND attempt = ?",
        (uncounted(connection, claim.url_id), claim.url_id, number),
    )
    connection.execute(
        "UPDATE url SET state = ?, settled = NULL WHERE id = ? AND state = ?",
        (State.WAITING, claim.url_id, State.FAILED),
    )
    counters.change("failed", -connection.changes())
    counters.change("waiting", connection.changes())
