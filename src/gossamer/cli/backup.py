"""`gossamer backup`: a copy of a collection, also while a crawl is at work on it."""

from dataclasses import fields
from pathlib import Path

import click

from gossamer.archive.backup import BackedUp, Backup
from gossamer.archive.catalogue import opened
from gossamer.archive.database import NAME
from gossamer.cli import output
from gossamer.cli.looking import folder_argument, json_option
from gossamer.cli.options import Command
from gossamer.clock import SystemClock
from gossamer.errors import CollectionError, UsageError
from gossamer.lock import LOCK_FILE, FolderLock

FIELDS = tuple(field.name for field in fields(BackedUp))


@click.command(
    cls=Command,
    examples=[
        ("example.org /mnt/copies/example.org", "a copy, also while example.org is being crawled"),
        ("example.org /mnt/copies/example.org", "the same again later: only what is new is copied"),
        ("--link example.org yesterday", "on the same disk, large files shared with the collection"),
    ],
)
@folder_argument
@click.argument("target", type=click.Path(file_okay=False, path_type=Path), metavar="OUT")
@click.option("--link", "links", is_flag=True, help="share finished WARC files with the collection instead of copying")
@json_option("an object with the numbers")
def backup(folder: Path, target: Path, links: bool, as_json: bool) -> None:
    """Copy the crawl in DIR to the folder OUT, as of one moment; a crawl may go on meanwhile.

    The copy is a collection of its own. Where OUT holds an earlier copy, only what is new is copied, and what was
    forgotten in DIR goes from it. Files that are shared with --link are safe from deletion, but not from the disk.
    """
    if target.resolve() == folder.resolve() or folder.resolve() in target.resolve().parents:
        raise UsageError("a copy can't lie within what it is a copy of", hint="name a folder elsewhere")
    with opened(folder) as connection:
        _prepare(target)
        lock = FolderLock(target, "gossamer backup", SystemClock().now())
        try:
            done = Backup(folder, target, links=links).run(connection)
        finally:
            lock.close()
    if as_json:
        output.write_json({name: getattr(done, name) for name in FIELDS})
    else:
        output.write_line(
            f"{target}: {done.segments} WARC files, {done.copied} copied and {done.linked} linked this time,"
            f" {output.size_text(done.bytes)} written"
        )


def _prepare(target: Path) -> None:
    """A new folder, an empty one, or one that a backup made or began."""
    try:
        target.mkdir(parents=True, exist_ok=True)
        names = {path.name for path in target.iterdir()}
    except OSError as error:
        raise CollectionError(f"{target} can't be used ({error.strerror})", hint="look at its permissions") from error
    if names - {LOCK_FILE} and not names & {NAME, f"{NAME}.new"}:
        raise CollectionError(f"{target} holds something else", hint="name an empty or new folder")
