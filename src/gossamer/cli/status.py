"""`gossamer status`: how a collection stands, also while it is crawled."""

from collections.abc import Iterator
from pathlib import Path

import click

from gossamer.archive.catalogue import opened
from gossamer.archive.status import Status, status
from gossamer.cli import output
from gossamer.cli.looking import folder_argument, json_option, when
from gossamer.cli.options import Command
from gossamer.clock import SystemClock
from gossamer.parse.markup import EMPTY

COUNTS = ("waiting", "running", "finished", "failed", "held", "pages", "empty", "bytes", "hosts")
ACTIVITY = (
    "pages_per_second",
    "bytes_per_second",
    "downloaders",
    "downloaders_busy",
    "parsing",
    "committing",
    "pending_bytes",
    "parse_seconds",
    "commit_seconds",
    "slowest_commit",
    "ready_hosts",
    "elapsed",
    "pause",
)
FIELDS = (
    *("folder", "state", "pid", "started", "heartbeat", *COUNTS),
    *("held_by", "hosts_aside", "errors", *ACTIVITY, "events"),
)


@click.command(
    name="status",
    cls=Command,
    examples=[
        ("example.org", "what was done and what is left, also of a crawl that runs"),
        ("--json example.org", "the same for other programs"),
    ],
)
@folder_argument
@json_option("one object")
def show_status(folder: Path, as_json: bool) -> None:
    """Show how the crawl in DIR stands: URLs waiting, running, finished, failed and held, rates, errors by kind.

    A running URL is being fetched, parsed or written. A held URL is known and not fetched: out of scope, refused by
    robots.txt, or its host is put aside.
    """
    clock = SystemClock()
    with opened(folder) as connection:
        found = status(connection, clock.now())
        if as_json:
            output.write_json(_row(folder, found))
        else:
            output.write_pairs(_pairs(folder, found, clock.now()))


def _row(folder: Path, found: Status) -> output.Row:
    row = {name: getattr(found, name) for name in ("state", "pid", "started", "heartbeat", *COUNTS)}
    return {
        "folder": str(folder),
        **row,
        "held_by": found.held_by,
        "hosts_aside": dict(found.hosts_aside),
        "errors": found.errors,
        **{name: found.activity.get(name) for name in ACTIVITY},
        "events": [{"id": e.id, "at": e.at, "kind": e.kind, "body": e.body} for e in found.events],
    }


def _pairs(folder: Path, found: Status, now: float) -> Iterator[tuple[str, object]]:
    yield str(folder), _state(found, now)
    for name in ("waiting", "running", "finished", "failed", "held"):
        yield name, getattr(found, name)
    yield "pages", f"{found.pages}, {output.size_text(found.bytes)}"
    if found.empty:
        yield EMPTY, f"{found.empty} of them"
    yield "hosts", found.hosts
    if found.activity:
        speed = float(str(found.activity.get("bytes_per_second") or 0))
        yield "speed", f"{found.activity.get('pages_per_second')} pages/s, {output.size_text(speed)}/s"
        yield "downloaders", f"{found.activity.get('downloaders_busy')} of {found.activity.get('downloaders')} busy"
    for reason, count in found.held_by.items():
        yield f"held: {reason}", count
    for kind, count in sorted(found.errors.items(), key=lambda item: -item[1]):
        yield f"error: {kind}", count
    for origin, reason in found.hosts_aside:
        yield f"put aside: {origin}", reason


def _state(found: Status, now: float) -> str:
    since = output.duration_text(max(0.0, now - (found.started or now)))
    match found.state:
        case "new":
            return "nothing was crawled yet"
        case "stopped":
            return f"not running; last at work {when(found.heartbeat)}"
        case "interrupted":
            return f"not running; the last crawl did not end as it should, last sign of life {when(found.heartbeat)}"
    pause = found.activity.get("pause")
    return f"{found.state} in process {found.pid} for {since}" + (f"; paused: {pause}" if pause else "")
