"""The documentation fails the build when it lies: what it names exists, and what exists is named."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from gossamer.archive.database import SCHEMA
from gossamer.cli import (
    backup,
    check,
    config,
    export,
    forget,
    graph,
    import_,
    retry,
    save,
    search,
    status,
    urls,
    verify,
    why,
)
from gossamer.cli.gethttp import gethttp
from gossamer.cli.main import cli
from gossamer.cli.options import Command, SettingOption, SettingsCommand
from gossamer.cli.progress import JsonDisplay
from gossamer.crawl.report import Depths, Ending, Progress, Report
from gossamer.records import Statistics
from gossamer.settings import TABLE
from test_house import FLOORS

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md"))]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    """Every command that does something by itself, by what is typed."""
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from commands(inner, f"{path} {name}")
    else:
        yield path, command


COMMANDS = {**dict(commands(cli, "gossamer")), "gethttp": gethttp}
each_command = pytest.mark.parametrize("path", COMMANDS)


def sections(page: str) -> dict[str, str]:
    """The text below each heading of the second level."""
    parts = re.split(r"^## (.*)\n", (ROOT / "docs" / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def options(text: str) -> set[str]:
    """The options that are listed in a section: those before the colon of a list entry."""
    entries = re.findall(r"^- ((?:`-[^`]*`(?:, )?)+):", text, re.MULTILINE)
    return {option for entry in entries for option in re.findall(r"`(-[^`]*)`", entry)}


def own_options(command: click.Command) -> set[str]:
    """A command's options, but for those of all settings, which have a page of their own."""
    has_all = isinstance(command, SettingsCommand) and command.settings == tuple(TABLE)
    params = [
        param
        for param in command.params
        if isinstance(param, click.Option) and not (has_all and isinstance(param, SettingOption))
    ]
    return {name for param in params for name in (*param.opts, *param.secondary_opts)}


def test_every_command_is_documented_and_no_other() -> None:
    assert sections("commands.md").keys() == {*COMMANDS, "gossamer"}


@pytest.mark.parametrize(("path", "command"), [*COMMANDS.items(), ("gossamer", cli)])
def test_every_option_is_documented_and_no_other(path: str, command: click.Command) -> None:
    assert options(sections("commands.md")[path]) == own_options(command)


@each_command
def test_every_command_helps_with_examples_that_parse(path: str) -> None:
    command = COMMANDS[path]
    assert command.help
    assert isinstance(command, Command)
    assert command.examples
    for param in command.params:
        assert not isinstance(param, click.Option) or param.help, param.name


@each_command
def test_every_json_output_is_documented(path: str) -> None:
    is_json = {"--json", "--format"} & own_options(COMMANDS[path])
    documented = sections("json.md")
    assert (path in documented) == bool(is_json)


def fields(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("gossamer status", status.FIELDS),
        ("gossamer urls", urls.FIELDS),
        ("gossamer why", why.FIELDS),
        ("gossamer search", search.FIELDS),
        ("gossamer verify", verify.FIELDS),
        ("gossamer retry", retry.FIELDS),
        ("gossamer release", retry.FIELDS),
        ("gossamer forget", forget.FIELDS),
        ("gossamer graph", graph.FIELDS),
        ("gossamer save", save.FIELDS),
        ("gossamer check", check.FIELDS),
        ("gossamer export", export.FIELDS),
        ("gossamer import", import_.FIELDS),
        ("gossamer backup", backup.FIELDS),
        ("gossamer config show", config.FIELDS),
    ],
)
def test_the_fields_of_json_are_documented_in_order(path: str, names: tuple[str, ...]) -> None:
    assert fields(sections("json.md")[path]) == names


def test_the_fields_of_a_crawls_summary(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress("stopped", Statistics(), {}, 0, 0, 0, 0, Depths(0, 0, 0, 0, 0, 0), 0)
    JsonDisplay().summary(Report(Ending.DONE, progress), Path("x"))
    assert fields(sections("json.md")["gossamer crawl"]) == tuple(json.loads(capsys.readouterr().out))


def test_every_setting_is_documented_as_it_is() -> None:
    done = subprocess.run([sys.executable, ROOT / "tools" / "document_settings.py", "--check"], check=False)
    assert done.returncode == 0, "run: python tools/document_settings.py"


def test_every_table_of_the_database_is_documented() -> None:
    tables = re.findall(r"CREATE (?:VIRTUAL )?TABLE (\w+)", SCHEMA)
    assert set(fields(sections("collection.md")["The database"])) == set(tables)


def test_the_floors_of_the_house_are_drawn_as_they_are() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([a-z ]+) \| ((?:`\w+` ?)+)\|$", text, re.MULTILINE)
    drawn = {name: tuple(re.findall(r"`(\w+)`", rooms)) for name, rooms in reversed(rows)}
    assert drawn == FLOORS


@each_page
def test_every_path_and_link_leads_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    paths = re.findall(r"`((?:src|tests|docs|tools|bench|changes)/[\w./-]*|\w+\.md|Makefile|\.ci/run)`", text)
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    missing = [path for path in paths if not (ROOT / path).exists()]
    missing += [link for link in links if not (page.parent / link).exists()]
    assert not missing


@each_page
def test_every_option_and_setting_that_is_named_exists(page: Path) -> None:
    known = {name for command in COMMANDS.values() for p in command.params for name in (*p.opts, *p.secondary_opts)}
    known |= {"--help", "--version", "-V", "-h", "--name", "--no-name", "--check"}
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", text))
    assert named <= known
    for variable in re.findall(r"GOSSAMER_([A-Z_0-9]+)", text):
        assert variable == "DEBUG" or variable.lower() in TABLE


def test_every_public_case_has_its_score_and_its_test() -> None:
    folder = ROOT / "../shared/data/conformance"
    if not folder.exists():
        pytest.skip("../shared is not here: the public test cases are in it")
    rows = re.findall(
        r"^\| (`.*) \| .* \| `(.*)` \| \*\*(\d+ of \d+)\*\* \|",
        (ROOT / "docs/conformance.md").read_text(),
        re.MULTILINE,
    )
    files = {name: test for names, test, _ in rows for name in re.findall(r"`([^`]+)`", names)}
    assert files.keys() == {path.name for path in folder.iterdir()} - {"README.md"}
    assert all(name in (ROOT / test).read_text(encoding="utf-8") for name, test in files.items())
