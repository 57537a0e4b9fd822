"""`gossamer config`: which settings hold, and why."""

from collections.abc import Iterator
from pathlib import Path

import click

from gossamer.cli import output
from gossamer.cli.loading import settings_for
from gossamer.cli.options import Command
from gossamer.errors import CollectionError
from gossamer.settings import TABLE, Setting
from gossamer.settings_files import COLLECTION_FILE, Loaded
from gossamer.settings_values import REDACTED, show

FIELDS = ("setting", "value", "unit", "default", "origin", "help")


@click.group()
def config() -> None:
    """Settings: which hold, and where each value came from."""


@config.command(
    name="show",
    cls=Command,
    examples=[
        ("", "what holds for a new crawl here"),
        ("example.org", "what holds for a crawl that was started"),
        ("--json", "an object a setting, for other programs"),
    ],
)
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@click.option("--json", "as_json", is_flag=True, help="an object a line: setting, value, unit, default, origin, help")
def show_settings(folder: Path | None, as_json: bool) -> None:
    """Show every setting with its value and where that came from.

    Values come from options, then GOSSAMER_* variables, then the gossamer.toml of the crawl in DIR, then your own
    file ($XDG_CONFIG_HOME/gossamer/config.toml), then the defaults.
    """
    if folder is not None and not (folder / COLLECTION_FILE).exists():
        raise CollectionError(f"{folder} is no collection", hint=f"name a folder with a {COLLECTION_FILE} in it")
    loaded = settings_for(folder, {})
    if as_json:
        output.write_rows("jsonl", FIELDS, _rows(loaded))
    else:
        output.write_rows("table", ("setting", "value", "origin", "help"), _shown(loaded))


def _rows(loaded: Loaded) -> Iterator[output.Row]:
    for name, setting in TABLE.items():
        yield {
            "setting": name,
            "value": _value(setting, getattr(loaded.settings, name)),
            "unit": setting.unit or None,
            "default": setting.default,
            "origin": loaded.origins[name],
            "help": setting.help,
        }


def _value(setting: Setting, value: object) -> object:
    return REDACTED if setting.secret and value else value


def _shown(loaded: Loaded) -> Iterator[output.Row]:
    for row in _rows(loaded):
        setting = TABLE[str(row["setting"])]
        yield {**row, "value": show(setting, row["value"]) or "-"}
