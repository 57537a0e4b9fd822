"""The wheel that people install has all that the program needs, and runs."""

import os
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.glob("gossamer-*.whl")
    return path


def test_it_has_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    package = ROOT / "src"
    files = {
        str(path.relative_to(package))
        for path in (package / "gossamer").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    names = set(ZipFile(wheel).namelist())
    assert {name for name in names if ".dist-info/" not in name} == files
    assert {"gossamer/py.typed", "gossamer/example/site/index.html", "gossamer/example/site/images/orb.png"} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_it_has_the_three_programs_and_they_run(wheel: Path, tmp_path: Path) -> None:
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    programs = ConfigParser()
    programs.read(next(tmp_path.glob("*.dist-info/entry_points.txt")))
    assert set(programs["console_scripts"]) == {"gossamer", "webcrawl", "gethttp"}
    for place in programs["console_scripts"].values():
        module, function = place.split(":")
        code = f"import sys, {module} as m; sys.argv[1:] = ['--help']; print(m.__file__); m.{function}()"
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(str(tmp_path))
        assert "Usage:" in done.stdout
