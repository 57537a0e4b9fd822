"""The first five minutes of the README work when typed, and print what it says."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.example.server import serve

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
USUAL = "http://127.0.0.1:8418/"
CRAWL = "make crawl"


def typed(readme: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of the README with the lines it shows."""
    for block in re.findall(r"^```console\n(.*?)^```", readme, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = part.splitlines()
            yield command, lines


COMMANDS = list(typed((ROOT / "README.md").read_text(encoding="utf-8")))


def pattern(lines: list[str], address: str) -> str:
    """What an output must look like: a line of … stands for any lines, a duration for any other."""
    parts = []
    for line in lines:
        escaped = re.sub(r"\d+\\\.\d\\ s", r"[0-9.]+ s", re.escape(line.replace(USUAL, address)))
        parts.append(r"(?:.*\n)*?" if line == "…" else re.sub(r"(?:\\ )+", " +", escaped) + "\n")
    return "".join(parts)


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with serve() as address:
        yield address


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("readme")


def run(command: str, folder: Path) -> str:
    environment = os.environ | {"PATH": f"{BIN}:{os.environ['PATH']}", "XDG_CONFIG_HOME": str(folder)}
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr + done.stdout


def test_the_first_five_minutes(site: str, folder: Path) -> None:
    shown = [(command, lines) for command, lines in COMMANDS if lines]
    assert shown[0][0] == CRAWL
    for command, lines in shown:
        if command == CRAWL:
            output = run(f"gossamer crawl -o example-crawl {site}", folder)
            lines = lines[:-1]  # make's own
        else:
            output = run(command.replace(USUAL, site), folder)
        assert re.fullmatch(pattern(lines, site), output), output


def test_what_make_adds_is_what_the_readme_shows() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    last = dict(COMMANDS)[CRAWL][-1]
    assert last in makefile.replace("$(BIN)", ".venv/bin").replace("$$", "$")
    assert shutil.which("make")


def test_the_two_commands_are_targets() -> None:
    targets = subprocess.run(["make", "-C", ROOT, "-n", "crawl", "test"], capture_output=True, text=True, check=False)
    assert targets.returncode == 0, targets.stderr
