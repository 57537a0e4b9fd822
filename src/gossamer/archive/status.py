"""How a collection stands: its totals, and whether a crawl is at work on it, seen from any process."""

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass

import apsw

FRESH = 10.0
"""Seconds: a crawl whose heartbeat is older has ended, however it did. It is written at least each second."""

_EVENTS = 10
_HOSTS = 20
_REASONS = 20


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, by its number in the log of events."""

    id: int
    at: float
    kind: str
    body: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Status:
    """A collection at one moment. The five counts of URLs add up to all that are known."""

    state: str  # running, paused, stopping; stopped; interrupted (ended without saying so); new (never crawled)
    pid: int | None  # of the process that crawls
    started: float | None  # the last crawl
    heartbeat: float | None  # the last sign of life
    waiting: int
    running: int  # being fetched, parsed or written
    finished: int
    failed: int
    held: int
    held_by: Mapping[str, int]  # of these, by how the reason begins; the 20 most frequent
    pages: int
    empty: int  # of these, that show next to nothing without JavaScript
    bytes: int
    hosts: int
    hosts_aside: tuple[tuple[str, str], ...]  # origin and reason, at most 20
    errors: Mapping[str, int]  # failed tries by kind
    activity: Mapping[str, object]  # what the crawl says of itself; empty when none is at work
    events: tuple[Event, ...]  # the last ones


def status(connection: apsw.Connection, now: float) -> Status:
    """How the collection stands at ``now``."""
    with connection:  # one view of a database that a crawl may be writing to
        totals = {str(name): _number(value) for name, value in connection.execute("SELECT name, value FROM counter")}
        state, pid, started, heartbeat, activity = _crawl(connection, now)
        hosts = _number(connection.execute("SELECT count(*) FROM host").get)
        hosts_aside, events = _hosts_aside(connection), _events(connection)
        held_by = _held_by(connection)
    running = min(_number(activity.get("running")), totals.get("waiting", 0))
    return Status(
        state=state,
        pid=pid,
        started=started,
        heartbeat=heartbeat,
        waiting=totals.get("waiting", 0) - running,
        running=running,
        finished=totals.get("finished", 0),
        failed=totals.get("failed", 0),
        held=totals.get("held", 0),
        held_by=held_by,
        pages=totals.get("pages", 0),
        empty=totals.get("empty", 0),
        bytes=totals.get("bytes", 0),
        hosts=hosts,
        hosts_aside=hosts_aside,
        errors={name.removeprefix("errors:"): n for name, n in totals.items() if name.startswith("errors:") and n},
        activity=activity,
        events=events,
    )


def _crawl(
    connection: apsw.Connection, now: float
) -> tuple[str, int | None, float | None, float | None, dict[str, object]]:
    row = connection.execute("SELECT state, pid, started, at, clean, body FROM heartbeat").fetchone()
    if row is None:
        return "new", None, None, None, {}
    state, pid, started, at, clean = str(row[0]), _number(row[1]), _seconds(row[2]), _seconds(row[3]), bool(row[4])
    if not clean and abs(now - at) < FRESH and _is_alive(pid):
        return state, pid, started, at, _object(row[5])
    return "stopped" if clean else "interrupted", None, started, at, {}


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True  # it lives and is another user's
    except (OSError, OverflowError):
        return False
    return pid > 0


def _hosts_aside(connection: apsw.Connection) -> tuple[tuple[str, str], ...]:
    rows = connection.execute("SELECT origin, put_aside FROM host WHERE put_aside != '' LIMIT ?", (_HOSTS,))
    return tuple((str(origin), str(reason)) for origin, reason in rows)


def _held_by(connection: apsw.Connection) -> dict[str, int]:
    rows = connection.execute(
        "SELECT substr(reason, 1, instr(reason || ':', ':') - 1), count(*) FROM url WHERE held != 0"
        " GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?",
        (_REASONS,),
    )
    return {str(reason): _number(count) for reason, count in rows}


def _events(connection: apsw.Connection) -> tuple[Event, ...]:
    rows = connection.execute("SELECT id, at, kind, body FROM event ORDER BY id DESC LIMIT ?", (_EVENTS,)).fetchall()
    return tuple(Event(_number(row[0]), _seconds(row[1]), str(row[2]), _object(row[3])) for row in reversed(rows))


def _object(text: object) -> dict[str, object]:
    """A JSON object; a collection may come from a stranger, so it can be anything."""
    try:
        value = json.loads(str(text))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _number(value: object) -> int:
    return int(value) if isinstance(value, int | float) and math.isfinite(value) else 0


def _seconds(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
