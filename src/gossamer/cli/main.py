"""The program `gossamer`: a group of commands, one file each. `webcrawl` is its command `crawl` by another name."""

import click

import gossamer
from gossamer.cli.completion import completion
from gossamer.cli.config import config
from gossamer.cli.crawl import crawl
from gossamer.cli.export import export
from gossamer.cli.guard import run
from gossamer.cli.import_ import import_files
from gossamer.cli.retry import release, retry
from gossamer.cli.search import find
from gossamer.cli.status import show_status
from gossamer.cli.urls import urls
from gossamer.cli.verify import check
from gossamer.cli.why import explain


@click.group(epilog="Each command tells more, with examples: gossamer COMMAND --help")
@click.version_option(gossamer.__version__, "-V", "--version", message="%(prog)s %(version)s")
def cli() -> None:
    """Crawl sites politely, keep them in a standard archive, and search them."""


for _command in (crawl, show_status, urls, explain, find, check, retry, release, export, import_files, config, completion):
    cli.add_command(_command)


def main() -> None:
    """The entry point of `gossamer`."""
    run(cli, "gossamer")


def webcrawl() -> None:
    """The entry point of `webcrawl`."""
    run(crawl, "webcrawl")
