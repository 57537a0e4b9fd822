"""`gossamer crawl`, which is also called `webcrawl`."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import click

from gossamer import url as urls
from gossamer.cli.crawling import carry_out, show_plan
from gossamer.cli.loading import settings_for
from gossamer.cli.options import SettingsCommand
from gossamer.cli.progress import JsonDisplay, display
from gossamer.collection import is_collection
from gossamer.errors import UsageError
from gossamer.session import Order, folder_for
from gossamer.settings_files import with_typed_credentials

_LONGEST_LINE = 65536  # characters of a list of addresses


@click.command(
    cls=SettingsCommand,
    examples=[
        ("https://example.org/", "crawl a site into the folder example.org"),
        ("-u 50 --max-depth 2 example.org", "at most 50 pages, two links deep; https is tried, then http"),
        ("-o news --scope domain --exclude '*.pdf' news.example", "the hosts of a domain without PDFs, into news"),
        ("example.org", "the folder is there now: go on where it was"),
        ("example.org https://example.org/new/", "go on, with an address more"),
        ("-o all @seeds.txt", "addresses from a file, one a line; - reads them from standard input"),
    ],
)
@click.argument("what", nargs=-1, metavar="URL...|DIR")
@click.option("-o", "--output", "folder", type=click.Path(path_type=Path), metavar="DIR", help="folder of the crawl")
@click.option("--dry-run", is_flag=True, help="judge the addresses and show the settings, but fetch and keep nothing")
@click.option("--json", "as_json", is_flag=True, help="progress and summary as JSON, an object a line")
def crawl(
    what: tuple[str, ...], folder: Path | None, dry_run: bool, as_json: bool, flags: Mapping[str, object]
) -> None:
    """Crawl politely and breadth first, and keep every page.

    URL is where to start; a folder that a crawl made resumes it, with the settings it was started with, options given
    again overriding them. Ctrl-C finishes what is in flight; nothing is lost, also not by a second one.
    """
    if folder is None and what and what[0] and Path(what[0]).is_dir():
        folder, what = Path(what[0]), what[1:]
    given = [address for text in what for address in _expand(text)]
    addresses = tuple(map(urls.typed, given))
    if not addresses and folder is None:
        raise UsageError("no address was given", hint="try: gossamer crawl https://example.org/")
    folder = folder or folder_for(addresses)
    collection = folder if is_collection(folder) else None
    loaded = settings_for(collection, flags)
    loaded = replace(loaded, settings=with_typed_credentials(loaded.settings, given))
    order = Order(folder, addresses, loaded)
    if dry_run:
        show_plan(order, as_json=as_json)
    else:
        carry_out(order, JsonDisplay() if as_json else display())


def _expand(text: str) -> Iterator[str]:
    """An address, or those in a file: ``@file``, ``-`` for standard input."""
    if text == "-" or text.startswith("@"):
        yield from lines_of(text.removeprefix("@"))
    else:
        yield text


def lines_of(name: str) -> Iterator[str]:
    """The addresses in a file, one a line; ``-`` is standard input. Raises UsageError when it can't be read."""
    if name == "-":
        yield from _lines(sys.stdin, "standard input")
        return
    try:
        with Path(name).open(encoding="utf-8-sig") as file:
            yield from _lines(file, name)
    except OSError as error:
        raise UsageError(
            f"{name!r} can't be read ({error.strerror})", hint="it must be a file with an address a line"
        ) from error


def _lines(file: TextIO, name: str) -> Iterator[str]:
    """Addresses, one a line; empty lines and those that begin with # are left out."""
    try:
        while line := file.readline(_LONGEST_LINE):
            if (address := line.strip()) and not address.startswith("#"):
                yield address
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is no text in UTF-8", hint="it must have an address a line") from error
