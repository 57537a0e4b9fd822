"""A URL that redirected is asked once more: it would be asked with other cookies now."""

import apsw

from gossamer.archive.database import select
from gossamer.frontier.counters import Counters
from gossamer.records import Claim, State, Via


def reopen(connection: apsw.Connection, counters: Counters, url_id: int, hops: int) -> Claim | None:
    """Let a finished URL wait again, inside the caller's transaction; None where it is not finished.

    Its next try has the next number. ``hops``: redirects that have led to it by now.
    """
    found = select(
        connection,
        "SELECT url, host, origin, depth, attempts, via, parent FROM url JOIN host ON host.id = url.host"
        " WHERE url.id = ? AND state = ? AND held = 0 AND put_aside = ''",
        (url_id, State.FINISHED),
    )
    if not found:
        return None
    connection.execute(
        "UPDATE url SET state = ?, reason = '', settled = NULL, hops = ? WHERE id = ?", (State.WAITING, hops, url_id)
    )
    counters.change("finished", -1)
    counters.change("waiting", 1)
    url, host_id, origin, depth, attempts, via, parent = found[0]
    return Claim(url_id, url, host_id, origin, depth, hops, attempts, Via(via), parent)
