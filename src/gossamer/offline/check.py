"""Walks a copy as a browser on file:// would, and lists every local reference that does not resolve.

It is no part of the making: the files are read anew, by another parser (`parse.browse`), and nothing is believed that the
copy says of itself, but for fragments: those that were dead online as well.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import lru_cache, partial
from pathlib import PurePosixPath
from typing import Any, Protocol
from urllib.parse import quote, unquote

import ada_url

from gossamer.errors import UsageError
from gossamer.offline import manifest as manifests
from gossamer.offline.abreast import Abreast
from gossamer.offline.manifest import MANIFEST, MOST, Manifest
from gossamer.offline.tree import Tree
from gossamer.parse.job import Derived, ParseJob
from gossamer.records import Facts

_ROOT = "file:///copy/"
_LARGEST = 64 * 1024 * 1024  # bytes of a file that is read

# What browsers make of a local file's ending; the others hold no references.
TYPES = {
    **dict.fromkeys(("html", "htm", "shtml"), "text/html"),
    **dict.fromkeys(("xhtml", "xht"), "application/xhtml+xml"),
    **dict.fromkeys(("js", "mjs"), "text/javascript"),
    "svg": "image/svg+xml",
    "css": "text/css",
    "webmanifest": "application/manifest+json",
}
DOCUMENTS = ("text/html", "application/xhtml+xml", "image/svg+xml")


Observe = Callable[[str, int, int], None]
"""Hears how it goes: what is being done, how much of it is done, and how much there is."""


class Reader(Protocol):
    """Local files to their references, in other processes."""

    async def parse(self, job: ParseJob) -> Facts: ...


@dataclass(frozen=True, slots=True)
class Unresolved:
    """A local reference that leads nowhere."""

    file: str  # path in the copy
    where: str  # element and attribute
    reference: str  # as it stands there
    reason: str
    target: str = ""  # the file in which a fragment names nothing
    fragment: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """What a check found."""

    files: int = 0
    local: int = 0  # references that resolve
    what: str = "files"  # are counted as files
    live: int = 0  # references to the web
    unresolved: tuple[Unresolved, ...] = ()
    dead: tuple[Unresolved, ...] = ()  # fragments that were dead online as well


@dataclass(slots=True)
class _Walk:
    """What is known so far."""

    files: frozenset[str]  # all, by path
    folders: frozenset[str]
    local: int = 0
    live: int = 0
    unresolved: list[Unresolved] = field(default_factory=list)
    found: dict[str, tuple[str, str, str]] = field(default_factory=dict)  # by URL: see _resolve
    names: dict[str, frozenset[str]] = field(default_factory=dict)  # of documents
    fragments: dict[str, dict[str, Unresolved]] = field(default_factory=lambda: defaultdict(dict))  # by document


async def check(tree: Tree, reader: Reader, observe: Observe = lambda *_: None) -> Checked:
    """Check the files of a copy. Raises UsageError when there is none, ArchiveError when it can't be read."""
    paths = tree.paths()
    if not paths:
        raise UsageError("there is no file in it", hint="name the folder of a copy")
    folders = {parent.as_posix() for path in paths for parent in PurePosixPath(path).parents}
    walk = _Walk(frozenset(paths), frozenset(folders))
    faults = dict(tree.faults())
    walk.unresolved += [Unresolved(path, "", "", reason) for path, reason in faults.items()]
    await _read_all(tree, [path for path in paths if path not in faults], reader, walk, observe)
    known = manifests.loads(tree.read(MANIFEST, MOST)) if MANIFEST in walk.files - faults.keys() else None
    walk.unresolved += [Unresolved(path, "", "", "the file is not there any more") for path in _lost(known, walk)]
    missing = _missing_fragments(walk, known.dead if known is not None else ())
    return Checked(
        files=len(paths),
        local=walk.local,
        live=walk.live,
        unresolved=tuple(sorted(walk.unresolved + missing[False], key=astuple)),
        dead=tuple(sorted(missing[True], key=astuple)),
    )


def _lost(known: Manifest | None, walk: _Walk) -> set[str]:
    """What a copy says that it has and has not; a page may be gone that no link leads to."""
    return set() if known is None else {*known.own, *(file.path for file in known.files)} - walk.files


async def _read_all(tree: Tree, paths: Sequence[str], reader: Reader, walk: _Walk, observe: Observe) -> None:
    async def read(path: str, kind: str, body: bytes) -> None:
        job = ParseJob(_ROOT + path, (("content-type", kind),), body, derive=Derived.BROWSED)
        _take(path, kind, await reader.parse(job), walk)

    async with Abreast() as abreast:
        for number, path in enumerate(paths):
            observe("checked", number, len(paths))
            kind = TYPES.get(path.rpartition(".")[2].lower())
            if kind is not None:
                body = tree.read(path, _LARGEST)
                await abreast.start(len(body), partial(read, path, kind, body))


def _take(path: str, kind: str, facts: Facts, walk: _Walk) -> None:
    if facts.failure is not None or not facts.derived:
        walk.unresolved.append(Unresolved(path, "", "", f"it can't be read: {facts.failure or 'no answer'}"))
        return
    found: dict[str, Any] = json.loads(facts.derived)
    if kind in DOCUMENTS:
        walk.names[path] = frozenset(found["names"])
    here = _ROOT + quote(path)
    base = _joined(found["base"], here) if found["base"] is not None else here
    for what, value, where in found["references"]:
        _look(path, base or here, what, value, where, walk)


def _look(path: str, base: str, what: str, value: str, where: str, walk: _Walk) -> None:
    """Follow one reference as far as the file it means."""
    target = _target(value, base)
    if target is None or not target.startswith("file:"):
        walk.live += target is not None and target.startswith(("http:", "https:"))
        return  # else mailto:, data:, …
    found = walk.found.get(target)
    if found is None:
        found = walk.found[target] = _resolve(target, walk)
    reason, place, fragment = found
    if fragment:
        known = walk.fragments[place].get(fragment)
        if known is None or path < known.file:
            why = f"nothing in {place} has this name"
            walk.fragments[place][fragment] = Unresolved(path, where, value, why, place, fragment)
    if not reason:
        walk.local += 1
    elif not _means_nothing(what, value):
        walk.unresolved.append(Unresolved(path, where, value, reason))


def _means_nothing(what: str, value: str) -> bool:
    """HTML: nothing is loaded for an empty address. One with file: leads to the writer's own machine, dead online too."""
    return (what == "load" and not value.strip()) or value.lstrip().lower().startswith("file:")


def _resolve(target: str, walk: _Walk) -> tuple[str, str, str]:
    """Why a file URL leads to nothing, or the file it leads to; and its fragment, where that names a part of a document."""
    address, _, fragment = target.partition("#")
    address = address.partition("?")[0]
    if not address.startswith(_ROOT):
        return "it leads out of the copy", "", ""
    place = unquote(address.removeprefix(_ROOT), errors="surrogateescape")
    if place in walk.files:
        is_document = TYPES.get(place.rpartition(".")[2].lower()) in DOCUMENTS
        return "", place, fragment if is_document else ""
    if (place.rstrip("/") or ".") in walk.folders:
        return "it is a folder", "", ""
    return "there is no such file", "", ""


def _target(value: str, base: str) -> str | None:
    """Most pages of a folder refer to the same places in the same words."""
    if value[:1] <= " " or value[0] in "?#":
        return _joined(value, base)
    return _joined_in(value, base[: base.rfind("/", 0, base.find("?") if "?" in base else None) + 1])


def _joined(value: str, base: str) -> str | None:
    try:
        return str(ada_url.URL(value, base=base).href)
    except ValueError:
        return None


_joined_in = lru_cache(maxsize=65536)(_joined)


def _missing_fragments(walk: _Walk, dead: Iterable[tuple[str, str]]) -> Mapping[bool, list[Unresolved]]:
    """Fragments that name nothing: False those that are our fault, True those that were dead online.

    Only the first file of those that refer to one is told.
    """
    known = set(dead)
    missing: dict[bool, list[Unresolved]] = {True: [], False: []}
    for place, fragments in walk.fragments.items():
        names = walk.names.get(place, frozenset())
        for fragment, each in fragments.items():
            if not names_something(fragment, names):
                missing[(place, fragment) in known].append(each)
    return missing


def names_something(fragment: str, names: frozenset[str]) -> bool:
    """Whether a fragment leads to a place in a document with these names.

    HTML, "find a potential indicated element": as it is written, then decoded; the top is always there. What selects text
    (":~:") needs no name.
    """
    name = fragment.partition(":~:")[0]
    decoded = unquote(name, errors="replace")
    return not name or decoded.lower() == "top" or name in names or decoded in names
