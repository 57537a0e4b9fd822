"""`gossamer check`: whether every local reference of an offline copy resolves."""

import asyncio
from pathlib import Path

import click

from gossamer.cli import output
from gossamer.cli.looking import json_option
from gossamer.cli.options import Command
from gossamer.errors import ProblemFound
from gossamer.offline.check import Checked, Unresolved
from gossamer.saving import check_copy
from gossamer.settings import Settings

FIELDS = ("file", "where", "reference", "reason")


@click.command(
    cls=Command,
    examples=[
        ("copy", "says what does not resolve, a line each, and ends with 1 when something does not"),
        ("copy.wacz", "whether each page and each entry of the index of a web archive leads to its record"),
        ("--json copy", "the same for other programs; nothing is printed when all is well"),
    ],
)
@click.argument("out", type=click.Path(path_type=Path), metavar="OUT")
@json_option("an object for each reference that does not resolve")
def check(out: Path, as_json: bool) -> None:
    """Walk the offline copy in OUT as a browser without a network would, and change nothing.

    Every file is read anew. Links, images, styles, scripts, frames and fragments that are to be found in the copy are
    looked for; what leads to the live web is only counted. Any folder of HTML can be checked, a zip file as it is. Of a web
    archive (WACZ) its digests, its records, and whether each page and index entry leads to one.
    """
    found = asyncio.run(check_copy(out, Settings()))
    for each in found.unresolved:
        if as_json:
            output.write_json(as_object(each))
        else:
            output.write_line(line(each))
    if not as_json:
        output.write_line(summary(found))
    if found.unresolved:
        raise ProblemFound(f"{len(found.unresolved)} references do not resolve", hint="make the copy anew")


def summary(found: Checked) -> str:
    """What was looked at, in a line."""
    if found.what != "files":
        return (
            f"{found.files} {found.what}, {found.local} entries that lead to them, {len(found.unresolved)} that do not"
        )
    return (
        f"{found.files} files, {found.local} references between them, {found.live} to the live web,"
        f" {len(found.dead)} fragments that are dead online as well, {len(found.unresolved)} that do not resolve"
    )


def line(each: Unresolved) -> str:
    """A finding for people."""
    what = f"{each.where} {each.reference!r}: " if each.where else ""  # else it is the file itself
    return f"{each.file}: {what}{each.reason}"


def as_object(each: Unresolved) -> dict[str, object]:
    """A finding for programs."""
    return {name: getattr(each, name) for name in FIELDS}
