"""The program `gossamer`: a group of commands, one file each. `webcrawl` is its command `crawl` by another name."""

from collections import UserDict
from importlib import import_module

import click

import gossamer
from gossamer.cli.guard import run

COMMANDS = {
    "crawl": "crawl:crawl",
    "status": "status:show_status",
    "urls": "urls:urls",
    "why": "why:explain",
    "show": "show:show",
    "search": "search:find",
    "verify": "verify:check",
    "retry": "retry:retry",
    "release": "retry:release",
    "forget": "forget:forget",
    "graph": "graph:graph",
    "save": "save:save",
    "check": "check:check",
    "export": "export:export",
    "import": "import_:import_files",
    "backup": "backup:backup",
    "config": "config:config",
    "completion": "completion:completion",
}
"""Each command and where it stands. A file is imported when its command is wanted: `gossamer search` needs a tenth of
what `gossamer crawl` does, and would start four times as slowly with all of it."""


class Commands(UserDict[str, click.Command]):
    """The commands of the table above, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.data = dict.fromkeys(COMMANDS)  # type: ignore[assignment]  # the command itself comes when it is wanted

    def __getitem__(self, name: str) -> click.Command:
        module, _, attribute = COMMANDS[name].partition(":")
        command = getattr(import_module(f"gossamer.cli.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command


@click.group(commands=Commands(), epilog="Each command tells more, with examples: gossamer COMMAND --help")
@click.version_option(gossamer.__version__, "-V", "--version", message="%(prog)s %(version)s")
def cli() -> None:
    """Crawl sites politely, keep them in a standard archive, search them, see their web graph, and save them for reading offline."""


def main() -> None:
    """The entry point of `gossamer`."""
    run(cli, "gossamer")


def webcrawl() -> None:
    """The entry point of `webcrawl`."""
    run(cli.commands["crawl"], "webcrawl")
