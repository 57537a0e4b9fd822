"""What people ask of URLs: failed ones again, held ones after all, waiting ones not yet.

Every function changes rows and totals inside the caller's transaction, and gives the number of URLs that changed.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw

from gossamer.archive.database import select
from gossamer.policy.patterns import Patterns
from gossamer.records import Command, Hold, Selection

_LONGEST = 1024 * 1024  # bytes of a command's arguments

RELEASED = "released, was held: "
"""How the reason of a URL begins that was released; the one it was held for follows."""


def requeue(connection: apsw.Connection, selection: Selection) -> int:
    """Failed URLs wait again with no tries counted; hosts that were put aside, and what was held for it, are back.

    A try is known by its number: those before the retry get numbers that count down from zero, so that the next is the
    first again.
    """
    with _selected(connection, selection):
        returned = _take_hosts_back(connection)
        connection.execute("DELETE FROM selected WHERE (SELECT state FROM url WHERE id = selected.id) != 3")
        connection.execute(
            "UPDATE page SET attempt = attempt - (SELECT attempts FROM url WHERE id = page.url)"
            " WHERE url IN (SELECT id FROM selected)"
        )
        connection.execute(
            "UPDATE attempt SET attempt = attempt - (SELECT attempts FROM url WHERE id = attempt.url)"
            " WHERE url IN (SELECT id FROM selected)"
        )
        connection.execute(
            "UPDATE url SET state = 0, held = 0, reason = '', due = NULL, settled = NULL, attempts = 0, crashes = 0"
            " WHERE id IN (SELECT id FROM selected)"
        )
        return returned + _move(connection, "failed", "waiting")


def release(connection: apsw.Connection, selection: Selection) -> int:
    """Held URLs wait again. What belongs to other sites, and what the scope or robots.txt refused, is released only where
    the selection says something of it.

    URLs of a host that is put aside stay: they come back with a retry.
    """
    is_named = bool(selection.patterns or selection.host or selection.reason)
    with _selected(connection, selection):
        connection.execute(
            "UPDATE url SET held = 0, reason = ? || reason, template = NULL"
            " WHERE id IN (SELECT id FROM selected) AND state = 0 AND held != 0"
            " AND ((kind = 'internal' AND held != ?) OR ?) AND (SELECT put_aside FROM host WHERE id = url.host) = ''",
            (RELEASED, Hold.REFUSED, is_named),
        )
        return _move(connection, "held", "waiting")


def park(connection: apsw.Connection, selection: Selection, reason: str) -> int:
    """Waiting URLs are held, with the reason."""
    with _selected(connection, selection):
        connection.execute(
            "UPDATE url SET held = 1, reason = ? WHERE id IN (SELECT id FROM selected) AND state = 0 AND held = 0",
            (reason,),
        )
        return _move(connection, "waiting", "held")


def ask(connection: apsw.Connection, verb: str, selection: Selection, now: float) -> int:
    """Ask the crawl that works on the collection in another process; the number of the command."""
    arguments = {"patterns": selection.patterns, "reason": selection.reason, "host": selection.host}
    connection.execute("INSERT INTO command (at, verb, arguments) VALUES (?, ?, ?)", (now, verb, json.dumps(arguments)))
    return connection.last_insert_rowid()


def unanswered(connection: apsw.Connection) -> list[Command]:
    """The commands that wait for an answer, the oldest first. Anybody may have written them, and anything into them."""
    rows = select(
        connection,
        "SELECT id, CAST(substr(verb, 1, 100) AS BLOB), CAST(substr(arguments, 1, ?) AS BLOB), CAST(at AS REAL)"
        " FROM command WHERE done IS NULL ORDER BY id LIMIT 100",
        (_LONGEST + 1,),
    )
    return [Command(number, verb.decode(errors="replace"), _arguments(text), at) for number, verb, text, at in rows]


def _arguments(text: bytes) -> dict[str, object] | None:
    try:
        value = json.loads(text) if len(text) <= _LONGEST else None
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def answer(connection: apsw.Connection, command: int) -> str | None:
    """What the crawl answered to a command; None while it has not."""
    found = select(connection, "SELECT answer FROM command WHERE id = ? AND done IS NOT NULL", (command,))
    return str(found[0][0]) if found else None


def _take_hosts_back(connection: apsw.Connection) -> int:
    """The hosts of the selected URLs, where they are put aside, with all that is held for it."""
    hosts = select(
        connection,
        "SELECT id FROM host WHERE put_aside != ''"
        " AND id IN (SELECT host FROM url WHERE id IN (SELECT id FROM selected))",
    )
    return sum([take_host_back(connection, host_id) for (host_id,) in hosts])


def take_host_back(connection: apsw.Connection, host_id: int) -> int:
    """A host that is put aside comes back, with all that is held for it; the number of these URLs."""
    aside = select(connection, "SELECT put_aside FROM host WHERE id = ? AND put_aside != ''", (host_id,))
    if not aside:
        return 0
    connection.execute(
        "UPDATE url SET held = 0, reason = '' WHERE host = ? AND state = 0 AND held != 0 AND reason = ?",
        (host_id, aside[0][0]),
    )
    returned = _move(connection, "held", "waiting")
    connection.execute("UPDATE host SET put_aside = '', failures = 0, robots_tries = 0 WHERE id = ?", (host_id,))
    return returned


@contextmanager
def _selected(connection: apsw.Connection, selection: Selection) -> Iterator[None]:
    """The selected URLs as a table of this connection. Raises SettingsError for a bad pattern."""
    patterns = Patterns(selection.patterns)

    def is_meant(*url: Any) -> bool:
        return not selection.patterns or patterns.first_match(str(url[0])) is not None

    connection.create_scalar_function("is_meant", is_meant, 1)
    connection.execute("CREATE TEMP TABLE selected (id INTEGER PRIMARY KEY)")
    connection.execute(
        "INSERT INTO selected SELECT url.id FROM url LEFT JOIN host ON host.id = url.host"
        " WHERE (:reason = '' OR instr(url.reason, :reason))"
        # a host is a hostname, or one with its port
        " AND (:host = '' OR hostname = :host OR substr(origin, instr(origin, '://') + 3) = :host)"
        " AND is_meant(url.url)",
        {"reason": selection.reason, "host": selection.host},
    )
    try:
        yield
    finally:
        connection.execute("DROP TABLE selected")


def _move(connection: apsw.Connection, before: str, after: str) -> int:
    """Take the URLs that the last statement changed from one total to another."""
    changed = connection.changes()
    connection.executemany(
        "INSERT INTO counter VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
        [(before, -changed), (after, changed)],
    )
    return changed
