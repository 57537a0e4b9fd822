"""What ``import gossamer`` gives: the names that editors are promised, and next to nothing of its weight."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gossamer

STUB = Path(gossamer.__file__).with_suffix(".pyi")
HEAVY = ("apsw", "numpy", "pycurl", "turbohtml", "selectolax", "gossamer.api", "gossamer.session", "asyncio")


def stub_names() -> dict[str, str]:
    """The names of the stub with where they come from."""
    found: dict[str, str] = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: f"{node.module}:{alias.name}" for alias in node.names}
    return found


def test_editors_are_promised_what_is_there() -> None:
    names = stub_names()
    assert {*names, "__version__"} == set(gossamer.__all__)
    for name, place in names.items():
        module, _, attribute = place.partition(":")
        assert getattr(gossamer, name) is getattr(sys.modules[module], attribute)
    assert set(gossamer.__all__) <= set(dir(gossamer))


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'gossamer' has no attribute 'opem'"):
        gossamer.opem  # type: ignore[attr-defined]  # noqa: B018 - what a program may say


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = f"import sys, gossamer; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
