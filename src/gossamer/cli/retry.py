"""`gossamer retry` and `gossamer release`: URLs that did not come, after all."""

import time
from collections.abc import Callable
from pathlib import Path

import apsw
import click

from gossamer.archive import requests
from gossamer.archive.catalogue import database_path
from gossamer.archive.database import database_error, open_for_writing
from gossamer.cli import output
from gossamer.cli.looking import folder_argument, json_option
from gossamer.cli.options import Command
from gossamer.clock import SystemClock
from gossamer.errors import CollectionError
from gossamer.lock import FolderLock, is_locked
from gossamer.policy.patterns import Patterns
from gossamer.records import Selection

FIELDS = ("urls",)

PATIENCE = 15.0
"""Seconds to wait for a running crawl's answer; it looks for commands each second."""

_host_option = click.option("--host", default="", metavar="HOST", help="only those of this host")


@click.command(
    cls=Command,
    examples=[
        ("example.org", "every failed URL again, and hosts that were put aside"),
        ("example.org --host www.example.org", "only of one host"),
        ("example.org '*/docs/*'", "only a part of the site"),
    ],
)
@folder_argument
@click.argument("patterns", nargs=-1, metavar="[PATTERN...]")
@_host_option
@json_option("an object with the number of URLs")
def retry(folder: Path, patterns: tuple[str, ...], host: str, as_json: bool) -> None:
    """Let failed URLs of the crawl in DIR wait again, and take back hosts that were put aside.

    A running crawl goes on with them; otherwise the next one will.
    """
    _carry_out(folder, "retry", requests.requeue, Selection(patterns, host=host), as_json=as_json)


@click.command(
    cls=Command,
    examples=[
        ("example.org", "all held URLs of the crawl's own site"),
        ("example.org 'https://cdn.example/*'", "those of another host, which must be named"),
        ("example.org --reason 'deeper than'", "those held for this reason"),
    ],
)
@folder_argument
@click.argument("patterns", nargs=-1, metavar="[PATTERN...]")
@_host_option
@click.option("--reason", default="", metavar="TEXT", help="only those with TEXT in their reason")
@json_option("an object with the number of URLs")
def release(folder: Path, patterns: tuple[str, ...], host: str, reason: str, as_json: bool) -> None:
    """Let held URLs of the crawl in DIR wait after all; robots.txt is still obeyed.

    URLs of other sites, and those that --exclude, the scope or robots.txt refused, are released only where a pattern,
    host or reason names them.
    """
    _carry_out(folder, "release", requests.release, Selection(patterns, reason, host), as_json=as_json)


def _carry_out(
    folder: Path,
    verb: str,
    change: Callable[[apsw.Connection, Selection], int],
    selection: Selection,
    *,
    as_json: bool,
) -> None:
    Patterns(selection.patterns)  # a bad one is an error before anything is touched
    path = database_path(folder)
    try:
        count = _ask(path, verb, selection) if is_locked(folder) else _change(path, verb, change, selection)
    except apsw.Error as error:
        raise database_error(path, error) from error
    if as_json:
        output.write_json({"urls": count})
    else:
        output.write_line("1 URL waits again" if count == 1 else f"{count} URLs wait again")


def _change(path: Path, verb: str, change: Callable[[apsw.Connection, Selection], int], selection: Selection) -> int:
    """Nobody else works on the collection: change it here."""
    lock = FolderLock(path.parent, f"gossamer {verb}", SystemClock().now())
    try:
        connection = open_for_writing(path)
        try:
            with connection:
                count = change(connection, selection)
        finally:
            connection.close()
    finally:
        lock.close()
    return count


def _ask(path: Path, verb: str, selection: Selection) -> int:
    """Let the crawl that works on the collection do it."""
    clock = SystemClock()
    connection = open_for_writing(path)
    try:
        command = requests.ask(connection, verb, selection, clock.now())
        until = clock.now() + PATIENCE
        while (answer := requests.answer(connection, command)) is None and clock.now() < until:
            time.sleep(0.05)
    finally:
        connection.close()
    if answer is None:
        raise CollectionError(
            f"the process that works on {path.parent} was asked and has not answered",
            hint="it will do it when it gets there; gossamer status shows whether it is alive",
        )
    if not answer.isdigit():
        raise CollectionError(f"the running crawl can't do that ({answer})", hint="stop it and run the command again")
    return int(answer)
