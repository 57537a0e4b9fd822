"""`gossamer verify`: whether a collection is whole."""

from pathlib import Path

import click

from gossamer.archive.catalogue import opened
from gossamer.archive.status import status
from gossamer.archive.verify import Problem, verify
from gossamer.cli import output
from gossamer.cli.looking import folder_argument, json_option
from gossamer.cli.options import Command
from gossamer.clock import SystemClock
from gossamer.errors import ProblemFound
from gossamer.lock import is_locked

FIELDS = ("check", "place", "problem")


@click.command(
    name="verify",
    cls=Command,
    examples=[
        ("example.org", "says what is wrong, a line each, and ends with 1 when something is"),
        ("--json example.org", "the same for other programs; nothing is printed when all is well"),
    ],
)
@folder_argument
@json_option("an object a problem")
def check(folder: Path, as_json: bool) -> None:
    """Check the whole collection in DIR, and change nothing.

    The database, every WARC record that a row points to with its digests, the index, the links, the totals. It can
    be done beside a running crawl: all is checked as of the moment it began.
    """
    count = 0
    with opened(folder) as connection:
        ended_well = status(connection, SystemClock().now()).state == "stopped"
        for problem in verify(connection, folder, at_rest=ended_well and not is_locked(folder)):
            count += 1
            _show(problem, as_json=as_json)
    if count:
        raise ProblemFound(
            "1 problem was found" if count == 1 else f"{count} problems were found",
            hint="what is damaged can come back from a copy only",
        )
    if not as_json:
        output.write_line(f"{folder}: no problem was found")


def _show(problem: Problem, *, as_json: bool) -> None:
    if as_json:
        output.write_json({"check": problem.check, "place": problem.place, "problem": problem.message})
    else:
        output.write_line(f"{problem.check}: {problem.place}: {problem.message}")
