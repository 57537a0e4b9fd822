"""Writes what is made from the table of settings: docs/settings.md, and the keyword arguments of the Python interface.

With --check says whether they are up to date, and changes nothing.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from gossamer.settings import TABLE, Setting
from gossamer.settings_values import accepts, show

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "docs" / "settings.md"
OPTIONS = ROOT / "src" / "gossamer" / "api" / "options.py"

HEAD = """\
# Settings

Written from the table in `src/gossamer/settings.py` by `tools/document_settings.py`; a test fails when it is out of date.

A value comes from the first of these places that has one:

1. options of the command: `--max-urls 50`
2. variables of the environment: `GOSSAMER_MAX_URLS=50`; of a list, one value a line
3. the file `gossamer.toml` in the collection: `max_urls = 50`
4. your own file, `$XDG_CONFIG_HOME/gossamer/config.toml` (`~/.config/gossamer/config.toml`)
5. the default

`gossamer config show [DIR]` tells every value and where it came from. An unknown setting is an error that suggests the
nearest one; a wrong value is an error that says what is accepted. What you set when a crawl is started is kept in its
`gossamer.toml`, so that it resumes with the same settings.

**Durations** are seconds (`10`) or have a unit: `250ms`, `1.5s`, `5m`, `2h`, `1d`. **Sizes** are bytes (`100`) or have a
unit: `10k`, `64M`, `2G` (powers of 1024). **Switches** are `true` or `false` in files, `--name` and `--no-name` as options.

A collection may come from a stranger. Settings marked *yours only* are therefore never read from a `gossamer.toml`, nor
written to one: give them as options, in the environment, or in your own file. Those marked *one run* are not kept either.

A collection is yours where you worked on it last, on this machine. Of any other, what would hurt servers, this machine or your name is
left out, and said: settings marked *not from elsewhere*, and those marked *from elsewhere at least* or *at most* so much where they say
otherwise. Give them as options if you want them; from then on the collection is yours, and its `gossamer.toml` says what you said. Private
addresses that its seeds were allowed are not, commands that wait for it are not carried out, and every robots.txt is asked for anew.
"""


OPTIONS_HEAD = '''\
"""The settings as keyword arguments, for editors and type checkers. Written by tools/document_settings.py."""

from collections.abc import Sequence
from typing import Literal, TypedDict


class Options(TypedDict, total=False):
    """Every setting; durations also as "1.5s" or "5m", sizes also as "64M". None is as good as not given."""

'''

TYPES = {
    "duration": "float | str",
    "size": "int | str",
    "whole number": "int",
    "number": "float",
    "switch": "bool",
    "text": "str",
    "list": "Sequence[str]",
}


def options() -> str:
    """The whole of the module with the keyword arguments."""
    return OPTIONS_HEAD + "".join(
        f"    {row.name}: {_choices(row) if row.choices else TYPES[row.kind]} | None\n" for row in TABLE.values()
    )


def _choices(row: Setting) -> str:
    quoted = ", ".join(f'"{choice}"' for choice in row.choices)
    return f"Literal[{quoted}]"


def document() -> str:
    """The whole of the page."""
    sections: dict[str, list[Setting]] = {}
    for setting in TABLE.values():
        sections.setdefault(setting.section, []).append(setting)
    return HEAD + "".join(line for title, rows in sections.items() for line in _section(title, rows))


def _section(title: str, rows: list[Setting]) -> Iterator[str]:
    yield f"\n## {title}\n\n| setting | option | default | takes | meaning |\n| --- | --- | --- | --- | --- |\n"
    for row in rows:
        option = f"`{row.flag}`, `--no-{row.flag[2:]}`" if row.kind == "switch" else f"`{row.flag}`"
        default = show(row, row.default)
        cells = (f"`{row.name}`", option, f"`{default}`" if default else "", accepts(row), row.help + "." + _mark(row))
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _mark(row: Setting) -> str:
    if row.trusted:
        return " *Yours only.*"
    if row.local:
        return " *One run.*"
    if row.elsewhere == "never":
        return " *Not from elsewhere.*"
    bound = show(row, row.default if row.bound is None else row.bound)
    return f" *From elsewhere {row.elsewhere} {bound}.*" if row.elsewhere else ""


def main() -> int:
    """Write the page and the module, or check them."""
    made = {PLACE: document(), OPTIONS: options()}
    if "--check" in sys.argv[1:]:
        return int(any(place.read_text(encoding="utf-8") != content for place, content in made.items()))
    for place, content in made.items():
        place.write_text(content, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
