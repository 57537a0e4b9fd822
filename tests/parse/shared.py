"""The conformance data that stands beside the repository, where it is there."""

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "../shared/data/conformance"


def conformance(name: str) -> bytes:
    """The bytes of one of its files; skips the test where they are missing."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"../shared is not here: {name}")
    return path.read_bytes()


def cases(name: str) -> list[list[Any]]:
    """The cases of one of its JSON files."""
    return list(json.loads(conformance(name))["cases"])
