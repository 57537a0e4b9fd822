"""The house has floors, and imports go down only; every file keeps the house rules. Read from the source, run nothing."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "gossamer"

FLOORS: dict[str, tuple[str, ...]] = {
    "words": (
        "errors",
        "clock",
        "url",
        "records",
        "settings",
        "settings_secrets",
        "settings_values",
        "settings_files",
        "agent",
        "lock",
        "descriptors",
    ),
    "decisions and facts": ("policy", "parse"),
    "rooms": ("frontier", "fetch", "archive"),
    "journeys": ("crawl", "intake", "refresh", "offline"),
    "wiring": ("collection", "network", "get", "session", "importing", "saving"),
    "doors": ("api", "cli", "web", "example"),
}
"""From the lowest; what stands in each. The same table is in ARCHITECTURE.md."""

CONCRETE = {"gossamer.frontier.sqlite"}
"""Backends: named in their own package and by the wiring only."""

HTML_PARSERS = {"turbohtml", "selectolax"}
"""Hostile markup crashes and hangs them: only a parser worker may use them."""

LONGEST_FILE = 400
LONGEST_FUNCTION = 60


@dataclass(frozen=True)
class Module:
    """One file of the package, parsed."""

    name: str
    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def room(self) -> str:
        """What the module belongs to: the part after ``gossamer.``; empty for the package itself."""
        return self.name.split(".")[1] if "." in self.name else ""

    def imported(self) -> Iterator[str]:
        """Every dotted name that is imported anywhere in the file, lazily and for typing too."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self.path}:{node.lineno}: relative import"
                yield node.module or ""
                yield from (f"{node.module}.{alias.name}" for alias in node.names)


def read_package() -> dict[str, Module]:
    modules = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("gossamer", *path.relative_to(SOURCE).with_suffix("").parts)
        name = ".".join(parts).removesuffix(".__init__")
        modules[name] = Module(name, path)
    return modules


MODULES = read_package()
each_module = pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)


def internal_imports(module: Module) -> set[str]:
    """The modules of ours that this one imports. ``from package import module`` is an import of that module alone."""
    names = set(module.imported()) & MODULES.keys()
    return {name for name in names if not any(other.startswith(name + ".") for other in names)} - {module.name}


def floor(room: str) -> int:
    return next(number for number, rooms in enumerate(FLOORS.values()) if room in rooms)


def assert_no_cycle(graph: Mapping[str, Iterable[str]]) -> None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail("imports in a circle: " + " -> ".join(error.args[1]))


def test_every_module_has_a_floor() -> None:
    rooms = {room for rooms in FLOORS.values() for room in rooms}
    assert {module.room for module in MODULES.values()} - {""} <= rooms


@each_module
def test_imports_go_down_only(module: Module) -> None:
    if not module.room:
        assert not internal_imports(module)
        return
    upwards = [
        name
        for name in internal_imports(module)
        if MODULES[name].room and floor(MODULES[name].room) > floor(module.room)
    ]
    assert not upwards


def test_no_module_imports_itself_in_a_circle() -> None:
    assert_no_cycle({module.name: internal_imports(module) for module in MODULES.values()})


def test_no_room_imports_itself_in_a_circle() -> None:
    graph: dict[str, set[str]] = {}
    for module in MODULES.values():
        rooms = {MODULES[name].room for name in internal_imports(module)} - {"", module.room}
        graph.setdefault(module.room, set()).update(rooms)
    assert_no_cycle(graph)


@each_module
def test_a_backend_is_named_by_the_wiring_only(module: Module) -> None:
    for name in CONCRETE & internal_imports(module):
        assert module.room in {"collection", MODULES[name].room}


@each_module
def test_html_is_parsed_in_parser_workers_only(module: Module) -> None:
    used = {name.split(".")[0] for name in module.imported()} & HTML_PARSERS
    assert not used or module.room == "parse"


@each_module
def test_imports_stand_at_the_top(module: Module) -> None:
    top = {id(node) for node in module.tree.body}
    lower = [
        f"{module.path}:{node.lineno}"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in top and not is_lazy(module, node)
    ]
    assert not lower


def is_lazy(module: Module, node: ast.Import | ast.ImportFrom) -> bool:
    """A library (nothing of ours) may be imported where it is used when the line above says why."""
    names = {alias.name for alias in node.names} if isinstance(node, ast.Import) else {node.module or ""}
    is_ours = any(name.split(".")[0] == "gossamer" for name in names)
    return not is_ours and bool(re.match(r"\s*# lazy: \w+", module.text.splitlines()[node.lineno - 2]))


@each_module
def test_files_and_functions_are_short(module: Module) -> None:
    assert len(module.text.splitlines()) <= LONGEST_FILE
    long = [
        f"{module.path}:{node.lineno} {node.name}"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
    ]
    assert not long


@each_module
def test_only_commands_print(module: Module) -> None:
    calls = [
        node.lineno
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not calls


def is_broad(handler: ast.ExceptHandler) -> bool:
    names = {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)} if handler.type else set()
    return handler.type is None or bool(names & {"Exception", "BaseException"})


@each_module
def test_a_broad_except_raises_again_or_gives_its_reason(module: Module) -> None:
    lines = module.text.splitlines()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ExceptHandler) and is_broad(node):
            last = node.body[-1]
            again = isinstance(last, ast.Raise) and last.exc is None
            assert again or re.search(r"# noqa: BLE001( -|  #) \w+", lines[node.lineno - 1]), (
                f"{module.path}:{node.lineno}"
            )


@each_module
def test_what_is_ignored_is_explained_and_nothing_is_left_to_do(module: Module) -> None:
    for number, line in enumerate(module.text.splitlines(), 1):
        assert not re.search(r"# type: ignore(?!\[[\w, -]+\]  # \w)", line), f"{module.path}:{number}: unexplained"
        assert not re.search(r"#.*\b(TODO|FIXME|XXX|HACK)\b", line), f"{module.path}:{number}"


def test_every_library_is_declared_and_every_declared_one_is_used() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {re.split(r"[<>=~! \[]", line)[0].lower() for line in project["dependencies"]}
    owners = packages_distributions()
    used: set[str] = set()
    for module in MODULES.values():
        tops = {name.split(".")[0] for name in module.imported()} - {"gossamer", "__future__"}
        used.update(owners[top][0].lower().replace("_", "-") for top in tops - sys.stdlib_module_names)
    assert used == declared
