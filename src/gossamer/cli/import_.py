"""`gossamer import`: archives that somebody else made become a collection, or part of one."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import click

from gossamer.cli import output
from gossamer.cli.loading import settings_for
from gossamer.cli.looking import json_option
from gossamer.cli.options import SettingsCommand
from gossamer.clock import SystemClock
from gossamer.collection import is_collection
from gossamer.errors import ProblemFound
from gossamer.importing import ImportOrder, take_in
from gossamer.intake.importer import Problem, Tally

FIELDS = ("kind", "folder", "captures", "known", "passed", "problems", "place", "problem")
PAUSE = 5.0
"""Seconds between two lines that say how it goes."""


@click.command(
    name="import",
    cls=SettingsCommand,
    settings=("max_size", "max_decoded", "parsers", "segment_size"),
    examples=[
        ("-o docs docs.warc.gz", "a WARC file of wget, Heritrix, Browsertrix or Common Crawl into a new folder docs"),
        ("-o docs january.wacz february.wacz", "packages too; what is there already is not added again"),
        ("-o example.org old.warc.gz", "older versions beside those of a crawl"),
    ],
)
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option(
    "-o", "--output", "folder", required=True, type=click.Path(path_type=Path), metavar="DIR", help="the collection"
)
@json_option("an object for each thing that was left out, and one at the end")
def import_files(files: tuple[Path, ...], folder: Path, as_json: bool, flags: Mapping[str, object]) -> None:
    """Take WARC and WACZ files into the collection DIR, which is made where there is none.

    It can then be searched, listed, checked and exported like one that was crawled. Nothing is fetched. Broken archives
    are read as far as they are whole; what is left out is told with its place, and ends with exit code 1.
    """
    collection = folder if is_collection(folder) else None
    loaded = settings_for(collection, flags)
    teller = _Teller(as_json=as_json)
    tally = asyncio.run(take_in(ImportOrder(folder, files, loaded), teller.tell, teller.observe))
    _summary(tally, folder, as_json=as_json)
    if not (tally.captures or tally.known):
        raise ProblemFound("nothing was taken in", hint="give WARC or WACZ files that hold answers of web servers")
    if tally.problems:
        count = "one thing was" if tally.problems == 1 else f"{tally.problems} things were"
        raise ProblemFound(f"{count} left out", hint="the rest was taken in")


class _Teller:
    """Says what was left out, and now and then how it goes."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._clock = SystemClock()
        self._next = self._clock.now() + PAUSE

    def tell(self, problem: Problem) -> None:
        if self._as_json:
            row = {"kind": "problem", "place": problem.place, "problem": problem.message}
            output.write_rows("jsonl", FIELDS, [row])
        else:
            output.say(f"{problem.place}: {problem.message}")

    def observe(self, tally: Tally) -> None:
        if not self._as_json and self._clock.now() >= self._next:
            self._next = self._clock.now() + PAUSE
            output.say(f"{tally.captures} taken in, {tally.known} there already")


def _summary(tally: Tally, folder: Path, *, as_json: bool) -> None:
    if as_json:
        row = {
            "kind": "summary",
            "folder": str(folder),
            "captures": tally.captures,
            "known": tally.known,
            "passed": dict(tally.passed),
            "problems": tally.problems,
        }
        output.write_rows("jsonl", FIELDS, [row])
        return
    output.write_pairs(
        [
            ("folder", folder),
            ("taken in", tally.captures),
            ("there already", tally.known),
            *((f"passed over: {what}", count) for what, count in sorted(tally.passed.items())),
            ("left out", tally.problems),
        ]
    )
