"""`gossamer forget`: URLs or a host, gone from everywhere in a collection."""

import shlex
from dataclasses import fields
from pathlib import Path

import apsw
import click

from gossamer import url as urls
from gossamer.archive import doomed
from gossamer.archive.catalogue import database_path, opened
from gossamer.archive.database import database_error, open_for_writing
from gossamer.archive.forget import Forgetter, Forgotten, Target
from gossamer.cli import output
from gossamer.cli.looking import folder_argument, json_option
from gossamer.cli.options import Command
from gossamer.clock import SystemClock
from gossamer.errors import ProblemFound, UsageError
from gossamer.lock import FolderLock
from gossamer.policy.patterns import any_of_host, literal

_SHOWN = 3

FIELDS = tuple(field.name for field in fields(Forgotten))


@click.command(
    cls=Command,
    examples=[
        ("example.org https://example.org/members/smith.html", "one URL"),
        ("example.org --host old.example.org", "a whole host, with its robots.txt"),
        ("example.org --host example.org --pattern '*/members/*'", "a part of one"),
        ("example.org --pattern 're:[?&]token=' --dry-run", "only say what there is of it"),
    ],
)
@folder_argument
@click.argument("addresses", nargs=-1, metavar="[URL...]")
@click.option("--host", default="", metavar="HOST", help="all of this host, with or without its port")
@click.option("--pattern", "patterns", multiple=True, metavar="PATTERN", help="all URLs that match; may be given again")
@click.option("--dry-run", is_flag=True, help="only say what would be forgotten")
@json_option("an object with the numbers")
def forget(
    folder: Path, addresses: tuple[str, ...], host: str, patterns: tuple[str, ...], dry_run: bool, as_json: bool
) -> None:
    """Forget URLs of the crawl in DIR: rows, text, index, history, log, and their records in the WARC files.

    There is no way back. Other pages keep what they say, links to them included. No crawl may run; copies, exports and
    backups are not looked for. A later crawl that finds the URLs again fetches them, unless it excludes them.
    """
    target = Target(_canonical(addresses), host.lower(), patterns)
    if bool(addresses) == bool(host or patterns):
        raise UsageError("say what is to be forgotten", hint="either URLs, or --host or --pattern or both")
    target.matcher()  # a bad pattern is an error before anything is touched
    if dry_run:
        with opened(folder) as connection:
            done = Forgetter(connection, folder, SystemClock().now()).forget(target, is_rehearsal=True)
    else:
        done = _forget(folder, target)
    _show(done, target, folder, as_json=as_json, dry_run=dry_run)


def _canonical(addresses: tuple[str, ...]) -> tuple[str, ...]:
    """The URLs that are meant; without a scheme both that it may have had."""
    found: list[str] = []
    for address in addresses:
        url, guessed = urls.typed(address)
        found += [url, f"http{url.removeprefix('https')}"] if guessed else [url]
    return tuple(found)


def _forget(folder: Path, target: Target) -> Forgotten:
    path, clock = database_path(folder), SystemClock()
    lock = FolderLock(folder, "gossamer forget", clock.now())
    try:
        connection = open_for_writing(path)
        try:
            was_pending = doomed.is_pending(connection)
            done = Forgetter(connection, folder, clock.now()).forget(target)
        except apsw.Error as error:
            raise database_error(path, error) from error
        finally:
            connection.close()
    finally:
        lock.close()
    if not (done.urls or done.hosts or done.records or was_pending):
        raise ProblemFound("nothing is known of it", hint=f"look with: gossamer urls {folder}")
    return done


def _show(done: Forgotten, target: Target, folder: Path, *, as_json: bool, dry_run: bool) -> None:
    if as_json:
        output.write_json({name: getattr(done, name) for name in FIELDS})
    else:
        counts = f"{done.urls} URLs, {done.pages} versions of them, {done.hosts} hosts"
        output.write_line(f"{counts} would be forgotten" if dry_run else f"{counts} were forgotten")
    if dry_run:
        return
    if not done.is_clean:
        output.say("Another program reads the database: their bytes leave its files when this is run once more.")
    output.say(f"To keep a later crawl from them: {_how_to_exclude(target, folder)}")


def _how_to_exclude(target: Target, folder: Path) -> str:
    """The command for it; no pattern says that a host and another pattern are meant at once."""
    if target.host and target.patterns:
        return f"exclude the part of the site that you mean with: gossamer crawl {folder} --exclude PATTERN"
    wanted = [*target.patterns, *map(literal, target.urls), *([any_of_host(target.host)] if target.host else [])]
    excluded = " ".join(f"--exclude {shlex.quote(text)}" for text in wanted[:_SHOWN])
    return f"gossamer crawl {folder} {excluded}{' …' if len(wanted) > _SHOWN else ''}"
