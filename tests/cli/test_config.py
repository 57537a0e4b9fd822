"""`gossamer config show`: every setting, its value and where it came from."""

import json
from pathlib import Path

from cli.programs import run
from gossamer.settings import TABLE


def test_every_setting_with_value_and_origin(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text('max_size = "1M"\n')
    shown = run("gossamer", "config", "show", str(tmp_path), "--json", GOSSAMER_DELAY="2s")
    rows = {row["setting"]: row for row in map(json.loads, shown.out.splitlines())}
    assert list(rows) == list(TABLE)
    assert rows["max_size"]["value"] == 2**20
    assert rows["max_size"]["unit"] == "bytes"
    assert rows["max_size"]["default"] == 64 * 2**20
    assert rows["max_size"]["origin"] == str(tmp_path / "gossamer.toml")
    assert (rows["delay"]["value"], rows["delay"]["origin"]) == (2.0, "GOSSAMER_DELAY")
    assert rows["scope"]["origin"] == "default"


def test_the_table_is_for_people(tmp_path: Path) -> None:
    (tmp_path / "gossamer").mkdir()
    (tmp_path / "gossamer" / "config.toml").write_text("delay = 90\n")
    lines = run("gossamer", "config", "show", XDG_CONFIG_HOME=str(tmp_path)).out.splitlines()
    assert lines[0].split() == ["setting", "value", "origin", "help"]
    delay = next(line for line in lines if line.startswith("delay "))
    assert delay.split()[1:3] == ["90s", str(tmp_path / "gossamer" / "config.toml")]


def test_a_wrong_setting_is_named_and_nothing_shown(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_text("max_sise = 1\n")
    shown = run("gossamer", "config", "show", str(tmp_path))
    assert (shown.code, shown.out) == (2, "")
    assert "unknown setting 'max_sise'" in shown.err
    assert "did you mean max_size?" in shown.err


def test_a_folder_that_is_no_collection(tmp_path: Path) -> None:
    shown = run("gossamer", "config", "show", str(tmp_path))
    assert shown.code == 4
    assert shown.err == f"Error: {tmp_path} is no collection; name a folder with a gossamer.toml in it\n"
