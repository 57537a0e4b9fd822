"""Every run of the benchmark works: as small as it gets, its table comes out. What it measures so says nothing."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).resolve().parents[1] / "bench/run.py"


def bench(*arguments: str) -> str:
    command = [sys.executable, str(PROGRAM), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("run", "sections"), [("A", "AB"), ("C", "C"), ("D", "D"), ("E", "E"), ("F", "F"), ("G", "G")])
def test_the_table_comes_out(run: str, sections: str, tmp_path: Path) -> None:
    if run == "A" and shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin") is None:
        pytest.skip("nginx is not here")
    page = tmp_path / "benchmarks.md"
    output = bench(run, "--scale", "0.001", "--rounds", "1", "--write", str(page))
    for letter in sections:
        assert f"\n## {letter}. " in output
        assert f"\n## {letter}. " in page.read_text(encoding="utf-8")
    assert json.loads(page.with_suffix(".json").read_text(encoding="utf-8")).keys() == set(sections)


def test_every_run_is_listed() -> None:
    assert [line[0] for line in bench("--list").splitlines()] == list("ACDEFG")
