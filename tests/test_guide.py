"""The guide to Python works when it is typed: all of its code is run in order, and holds to its types."""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gossamer.example.server import serve

ROOT = Path(__file__).resolve().parents[1]
USUAL = "http://127.0.0.1:8418/"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks() -> list[str]:
    """The code of the guide."""
    return BLOCK.findall((ROOT / "docs" / "python.md").read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("GOSSAMER_MIN_FREE", "0")
    return tmp_path


def test_the_code_of_the_guide_runs_in_order(folder: Path) -> None:
    names: dict[str, object] = {"__name__": "guide"}
    said = io.StringIO()
    with serve() as address, contextlib.redirect_stdout(said):
        for code in blocks():
            exec(compile(code.replace(USUAL, address), "docs/python.md", "exec"), names)
    shown = said.getvalue()
    assert "Silk at " in shown
    assert "Dragline silk" in shown
    assert "404 Not Found" in shown
    assert "'heading': 'Silk'" in shown
    assert "nowhere does not exist" in shown


def test_the_code_of_the_guide_holds_to_its_types(folder: Path) -> None:
    (folder / "guide.py").write_text("\n".join(blocks()), encoding="utf-8")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", ROOT / ".mypy_cache" / "guide", "guide.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
