"""`gossamer urls`: the URLs of a collection, with what is known of each."""

from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any

import click

from gossamer.archive.catalogue import Entry, entries, opened
from gossamer.cli import output
from gossamer.cli.filters import filter_of, filter_options
from gossamer.cli.looking import folder_argument
from gossamer.cli.options import Command

FIELDS = tuple(field.name for field in fields(Entry) if field.name != "id")
_COLUMNS = ("state", "status", "content_type", "depth", "url", "reason")


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
@filter_options
@click.option("--limit", type=click.IntRange(0), metavar="N", help="the first N")
def urls(folder: Path, form: str, as_json: bool, limit: int | None, **wanted: Any) -> None:
    """List the URLs of the crawl in DIR with state and reason; all that match every condition, and any PATTERN.

    Patterns are globs on the whole URL, or re: and a regular expression. A URL that is just being fetched still counts
    as waiting.
    """
    with opened(folder) as connection:
        found = (_row(entry) for entry in islice(entries(connection, filter_of(**wanted)), limit))
        if as_json or form == "jsonl":
            output.write_rows("jsonl", FIELDS, found)
        elif form == "csv":
            output.write_rows("csv", FIELDS, found)
        else:
            output.write_rows("table", _COLUMNS, map(_shown, found))


def _row(entry: Entry) -> dict[str, object]:
    row: dict[str, object] = {name: getattr(entry, name) for name in FIELDS}
    row["state"] = entry.state.name.lower()
    return row


def _shown(row: output.Row) -> output.Row:
    return {**row, "state": "held"} if row["held"] else row
