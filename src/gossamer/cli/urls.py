"""`gossamer urls`: the URLs of a collection, with what is known of each."""

import re
from dataclasses import fields
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import click

from gossamer.archive.catalogue import Entry, Filter, entries, opened
from gossamer.cli import output
from gossamer.cli.looking import folder_argument
from gossamer.cli.options import Command
from gossamer.clock import SystemClock
from gossamer.errors import UsageError
from gossamer.records import Kind, State

FIELDS = tuple(field.name for field in fields(Entry) if field.name != "id")
_COLUMNS = ("state", "status", "content_type", "depth", "url", "reason")
_STATES = {state.name.lower(): state for state in State if state is not State.RUNNING}


@click.command(
    cls=Command,
    examples=[
        ("example.org", "every URL that was found, in the order found"),
        ("example.org --state failed", "what could not be fetched, and why"),
        ("example.org --held --reason robots", "what robots.txt refused"),
        ("example.org --status 4xx --format csv", "broken links for a spreadsheet"),
        ("example.org '*/docs/*' --json", "a part of the site for other programs, an object a line"),
    ],
)
@folder_argument
@click.argument("patterns", nargs=-1, metavar="[PATTERN...]")
@click.option("--format", "form", type=click.Choice(output.FORMATS), default="table", help="how they are printed")
@click.option("--json", "as_json", is_flag=True, help="the same as --format jsonl")
@click.option("--state", type=click.Choice(tuple(_STATES)), help="only those in this state")
@click.option("--reason", metavar="TEXT", help="only those with TEXT in their reason")
@click.option("--held/--not-held", default=None, help="only those that are held, or are not")
@click.option("--status", "statuses", metavar="N", help="only those that answered so: 404, or 4xx")
@click.option("--content-type", metavar="TYPE", help="only those of this type: text/html, or image/*")
@click.option("--kind", type=click.Choice([kind.value for kind in Kind]), help="only those of this kind")
@click.option("--depth", type=click.IntRange(0), metavar="N", help="only those so many links from a seed")
@click.option("--host", metavar="HOST", help="only those of this host, with or without its port")
@click.option("--digest", metavar="HEX", help="only those whose body has this sha256, or one that begins so")
@click.option("--due-before", metavar="DATE", help="only those to be visited before: now, or 2027-01-31[T12:00:00]")
@click.option("--limit", type=click.IntRange(0), metavar="N", help="the first N")
def urls(folder: Path, form: str, as_json: bool, limit: int | None, **wanted: Any) -> None:
    """List the URLs of the crawl in DIR with state and reason; all that match every condition, and any PATTERN.

    Patterns are globs on the whole URL, or re: and a regular expression. A URL that is just being fetched still counts
    as waiting.
    """
    with opened(folder) as connection:
        found = (_row(entry) for entry in islice(entries(connection, _filter(**wanted)), limit))
        if as_json or form == "jsonl":
            output.write_rows("jsonl", FIELDS, found)
        elif form == "csv":
            output.write_rows("csv", FIELDS, found)
        else:
            output.write_rows("table", _COLUMNS, map(_shown, found))


def _filter(state: str | None, statuses: str | None, due_before: str | None, **wanted: Any) -> Filter:
    return Filter(
        state=_STATES[state] if state else None,
        statuses=_status_range(statuses) if statuses else None,
        due_before=_moment(due_before) if due_before else None,
        **wanted,
    )


def _status_range(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([1-9])(\d\d|xx)", text.lower())
    if match is None:
        raise UsageError(f"{text!r} is no HTTP status", hint="write it as 404, or as 4xx")
    first = int(match[1]) * 100
    return (first, first + 99) if match[2] == "xx" else (first + int(match[2]),) * 2


def _moment(text: str) -> float:
    if text == "now":
        return SystemClock().now()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is no date", hint="write it as 2027-01-31 or 2027-01-31T12:00:00") from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _row(entry: Entry) -> dict[str, object]:
    row: dict[str, object] = {name: getattr(entry, name) for name in FIELDS}
    row["state"] = entry.state.name.lower()
    return row


def _shown(row: output.Row) -> output.Row:
    return {**row, "state": "held"} if row["held"] else row
