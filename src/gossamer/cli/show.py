"""`gossamer show`: what a page says, how it is built, and how it came."""

import sys
from collections.abc import Callable
from pathlib import Path

import click

from gossamer.api.page import Page, page
from gossamer.api.shelf import Shelf
from gossamer.archive.history import meant
from gossamer.archive.pages import newest_page
from gossamer.cli import output
from gossamer.cli.looking import folder_argument
from gossamer.cli.options import Command
from gossamer.errors import ProblemFound, UsageError


@click.command(
    cls=Command,
    examples=[
        ("example.org https://example.org/", "the text of a page"),
        ("example.org https://example.org/ --cleaned", "its markup without scripts, styles, colours and fonts"),
        ("example.org example.org/logo.png --raw > logo.png", "a file as it is"),
    ],
)
@folder_argument
@click.argument("url")
@click.option("--text", "what", flag_value="text", default=True, help="the readable text  [this]")
@click.option("--links", "what", flag_value="links", help="the links, absolute, one a line")
@click.option("--source", "what", flag_value="source", help="the markup as it came, decoded")
@click.option(
    "--cleaned", "what", flag_value="cleaned", help="the markup without scripts, styles, colours, fonts and comments"
)
@click.option("--headers", "what", flag_value="headers", help="status line and headers of the answer")
@click.option("--raw", "what", flag_value="raw", help="the body byte for byte, without transfer and content codings")
def show(folder: Path, url: str, what: str) -> None:
    """Show the newest version of URL that the crawl in DIR kept."""
    shelf = Shelf(folder)
    try:
        with shelf.reading() as connection:
            url_id = meant(connection, url)
            row = newest_page(connection, url_id) if url_id is not None else None
        if row is None:
            raise ProblemFound(f"{url} has no page here", hint=f"see: gossamer why {folder} {url}")
        _WRITERS[what](page(row, shelf))
    finally:
        shelf.close()


def _write_lines(text: str) -> None:
    for line in text.splitlines():
        output.write_line(line)


def _write_links(found: Page) -> None:
    for link in found.links:
        output.write_line(link.url)


def _write_raw(found: Page) -> None:
    if sys.stdout.isatty():
        raise UsageError("raw bytes are not for a terminal", hint="send them to a file or a program")
    with output.mapped_errors():
        sys.stdout.buffer.write(found.response.body)


_WRITERS: dict[str, Callable[[Page], None]] = {
    "text": lambda found: _write_lines(found.text),
    "links": _write_links,
    "source": lambda found: _write_lines(found.source()),
    "cleaned": lambda found: _write_lines(found.cleaned()),
    "headers": lambda found: _write_lines(found.response.head.decode("latin-1")),
    "raw": _write_raw,
}
