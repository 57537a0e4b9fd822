"""What the tests of the Python interface share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import gossamer


@pytest.fixture(autouse=True)
def _bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of the person who runs the tests."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nothing"))
    monkeypatch.setenv("GOSSAMER_MIN_FREE", "0")


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[gossamer.Collection]:
    with gossamer.open(tmp_path / "c", create=True) as opened:
        yield opened
