"""`gossamer export`: a collection, or part of it, in the formats of others."""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO

import apsw
import click

from gossamer.archive.catalogue import opened
from gossamer.archive.export.cdxj import index_of_segments
from gossamer.archive.export.chosen import Choice, chosen, is_anything_chosen
from gossamer.archive.export.pages import PageRow, page_rows
from gossamer.archive.export.parquet import library, write_parquet
from gossamer.archive.export.wacz import write_wacz
from gossamer.archive.export.warc import Trouble, write_warc
from gossamer.cli import output
from gossamer.cli.filters import filter_of, filter_options
from gossamer.cli.looking import folder_argument
from gossamer.cli.options import Command
from gossamer.cli.target import opened_target, refuse_terminal
from gossamer.clock import SystemClock
from gossamer.errors import ProblemFound

FIELDS = tuple(field.name for field in fields(PageRow))
_ARCHIVES = ("warc", "cdxj", "wacz")
_BINARY = ("warc", "wacz", "parquet")
_VERSIONS = ("all", "newest")


@dataclass(frozen=True, slots=True)
class _Job:
    """What a writer of a format is given."""

    connection: apsw.Connection
    folder: Path
    name: str  # of the file
    tell: Callable[[Trouble], None]


@click.command(
    cls=Command,
    examples=[
        ("example.org --format wacz -o example.wacz", "everything as one file that replayweb.page opens"),
        ("example.org --format warc -o docs.warc.gz '*/docs/*'", "a part of the site as a standard web archive"),
        ("example.org --format cdxj -o index.cdxj", "an index over the collection's own WARC files, for pywb"),
        ("example.org --format jsonl --content-type text/html", "pages with text and links for other programs"),
        ("example.org --format parquet -o pages.parquet", "the same for data frames; needs gossamer[parquet]"),
    ],
)
@folder_argument
@click.argument("patterns", nargs=-1, metavar="[PATTERN...]")
@click.option(
    "--format", "form", type=click.Choice((*_ARCHIVES, "jsonl", "csv", "parquet")), required=True, help="what is made"
)
@click.option("-o", "--output", "target", metavar="FILE", help="where it goes; - is standard output")
@click.option(
    "--versions",
    type=click.Choice(_VERSIONS),
    help="every answer, or the newest of each URL  [all for warc, cdxj, wacz; else newest]",
)
@filter_options
def export(folder: Path, form: str, target: str | None, versions: str | None, **wanted: Any) -> None:
    """Write the crawl in DIR, or the part that matches every condition and any PATTERN, in another format.

    warc, cdxj and wacz hold every answer; jsonl, csv and parquet the pages and files that were kept, with their text
    and links, or those that --status names. FILE is there when it is whole, not before. It can be done beside a crawl.
    """
    if form == "parquet":
        library()
    if form in _BINARY:
        refuse_terminal(form, target)
    is_archive = form in _ARCHIVES
    filtered = filter_of(**wanted)
    newest = (versions or ("all" if is_archive else "newest")) == "newest"
    choice = Choice(filtered, newest, kept_only=not is_archive and filtered.statuses is None, with_robots=is_archive)
    troubles = _Troubles()
    with opened(folder) as connection, chosen(connection, choice), opened_target(target) as file:
        name = Path(target).name if target and target != "-" else f"{folder.resolve().name}.warc.gz"
        if not is_anything_chosen(connection):
            output.say("no answer matches, so there is nothing to write")
        _WRITERS[form](_Job(connection, folder, name, troubles.tell), file)
    if troubles.count:
        raise ProblemFound(
            f"{troubles.count} answers could not be written as they should", hint="gossamer verify tells more"
        )


class _Troubles:
    """Says what could not be written, and counts it."""

    def __init__(self) -> None:
        self.count = 0

    def tell(self, trouble: Trouble) -> None:
        self.count += 1
        output.say(f"{trouble.place}: {trouble.message}")


def _write_warc(job: _Job, file: BinaryIO) -> None:
    now = SystemClock().now()
    for _ in write_warc(job.connection, job.folder, file, filename=job.name, now=now, tell=job.tell):
        pass


def _write_cdxj(job: _Job, file: BinaryIO) -> None:
    file.writelines(f"{line}\n".encode() for line in index_of_segments(job.connection, job.folder, job.tell))


def _write_wacz(job: _Job, file: BinaryIO) -> None:
    write_wacz(job.connection, job.folder, file, now=SystemClock().now(), tell=job.tell)


def _write_jsonl(job: _Job, file: BinaryIO) -> None:
    file.writelines(f"{output.json_text(_as_object(row))}\n".encode() for row in page_rows(job.connection))


def _write_csv(job: _Job, file: BinaryIO) -> None:
    """RFC 4180; a cell that a spreadsheet would run is made harmless. Links are their addresses."""
    text = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    try:
        writer.writerow(FIELDS)
        for row in page_rows(job.connection):
            values = _as_object(row) | {"links": " ".join(str(link["url"]) for link in row.links)}
            writer.writerow([output.safe_cell(values[name]) for name in FIELDS])
    finally:
        text.detach()  # or it would close what is not its own


def _write_parquet(job: _Job, file: BinaryIO) -> None:
    write_parquet(page_rows(job.connection), file)


def _as_object(row: PageRow) -> dict[str, object]:
    return {name: getattr(row, name) for name in FIELDS}


_WRITERS: dict[str, Callable[[_Job, BinaryIO], None]] = {
    "warc": _write_warc,
    "cdxj": _write_cdxj,
    "wacz": _write_wacz,
    "jsonl": _write_jsonl,
    "csv": _write_csv,
    "parquet": _write_parquet,
}
