"""The program `gethttp`: the text or the links of one page."""

import asyncio
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import click

import gossamer
from gossamer.cli import output
from gossamer.cli.guard import run
from gossamer.cli.options import SettingsCommand
from gossamer.clock import SystemClock
from gossamer.errors import UsageError
from gossamer.get import get
from gossamer.settings_files import load, user_file


@click.command(
    cls=SettingsCommand,
    settings=("timeout", "max_size", "user_agent"),
    examples=[
        ("-t https://example.org/", "the text of a page, in one line"),
        ("-a example.org", "its links, absolute, one a line; https is tried, then http"),
    ],
)
@click.argument("url")
@click.option("-t", "--text", "as_text", is_flag=True, help="print the text: no tags, no scripts, single spaces")
@click.option("-a", "--links", "as_links", is_flag=True, help="print the links: absolute, each once, one a line")
@click.version_option(gossamer.__version__, "-V", "--version", message="%(prog)s %(version)s")
def gethttp(url: str, as_text: bool, as_links: bool, flags: Mapping[str, object]) -> None:
    """Fetch the page at URL and print its text or its links."""
    if as_text == as_links:
        raise UsageError("what is wanted is not clear", hint="give either -t for the text or -a for the links")
    settings = load(flags, collection=None, environment=os.environ, user_file=user_file(os.environ)).settings
    with _warnings_shown():
        page = asyncio.run(get(url, settings, SystemClock()))
    for line in (page.text,) if as_text else page.links:
        output.write_line(line)
    if page.is_cut:
        output.say(f"Note: only the first {settings.max_size} bytes were read; --max-size allows more")


class _Notes(logging.Handler):
    """There is no log file here: what would be a warning in it is told to the person."""

    def emit(self, record: logging.LogRecord) -> None:
        output.say(f"Note: {record.getMessage()}")


@contextmanager
def _warnings_shown() -> Iterator[None]:
    log, notes = logging.getLogger("gossamer"), _Notes(logging.WARNING)
    log.addHandler(notes)
    try:
        yield
    finally:
        log.removeHandler(notes)


def main() -> None:
    """The entry point of `gethttp`."""
    run(gethttp, "gethttp")
