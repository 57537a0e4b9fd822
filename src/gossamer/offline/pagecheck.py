"""The check of a page that is one file: all that it loads stands in it, in as many layers as there are."""

import json
from base64 import b64decode
from binascii import Error as BadBase64
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlsplit

from gossamer.errors import ArchiveError
from gossamer.offline.check import DOCUMENTS, TYPES, Checked, Reader, Unresolved, names_something
from gossamer.parse.job import Derived, ParseJob

_READ = frozenset(TYPES.values())
_LARGEST = 1 << 28  # bytes of such a file that are read
_MOST = 100_000  # documents, style sheets and scripts that are read


@dataclass(slots=True)
class _Walk:
    """What is known so far."""

    files: int = 0
    local: int = 0
    live: int = 0
    unresolved: list[Unresolved] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Layer:
    """A file, or one that stands in another."""

    path: str
    type: str
    body: bytes


def read_page(path: Path) -> tuple[bytes, str] | None:
    """A file that may be such a page, with its type; None where it is none, or a folder. Raises ArchiveError."""
    kind = TYPES.get(path.suffix.lower().lstrip("."))
    if kind not in DOCUMENTS or not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            return file.read(_LARGEST), kind
    except OSError as error:
        raise ArchiveError(f"{path} can't be read ({error.strerror})", hint="look at its permissions") from error


async def check_page(body: bytes, content_type: str, name: str, reader: Reader, dead: Collection[str] = ()) -> Checked:
    """Check such a file, which is called ``name`` in what is found. ``dead``: fragments that name nothing online either."""
    walk = _Walk()
    waiting = [_Layer(name, content_type, body)]
    seen: set[tuple[str, bytes]] = set()
    while waiting and walk.files < _MOST:
        layer = waiting.pop()
        if (layer.type, layer.body) not in seen:
            seen.add((layer.type, layer.body))
            waiting += await _read(layer, reader, walk)
    found = sorted(walk.unresolved, key=lambda each: (each.file, each.where, each.reference))
    checked = Checked(files=walk.files, local=walk.local, live=walk.live, unresolved=tuple(found), what="layers")
    return told_apart(checked, dead)


def told_apart(checked: Checked, dead: Collection[str]) -> Checked:
    """The same findings, fragments that are dead online as well among the dead."""
    known = tuple(each for each in checked.unresolved if each.fragment and each.fragment in dead)
    unresolved = tuple(each for each in checked.unresolved if each not in known)
    return replace(checked, unresolved=unresolved, dead=(*checked.dead, *known))


async def _read(layer: _Layer, reader: Reader, walk: _Walk) -> list[_Layer]:
    walk.files += 1
    headers = (("content-type", layer.type),)
    facts = await reader.parse(ParseJob("file:///page", headers, layer.body, derive=Derived.BROWSED))
    if facts.failure is not None or not facts.derived:
        walk.unresolved.append(Unresolved(layer.path, "", "", f"it can't be read: {facts.failure or 'no answer'}"))
        return []
    found = json.loads(facts.derived)
    names = frozenset(found["names"])
    inner = [_follow(layer, what, value.strip(), where, names, walk) for what, value, where in found["references"]]
    return [each for each in inner if each is not None]


def _follow(layer: _Layer, what: str, value: str, where: str, names: frozenset[str], walk: _Walk) -> _Layer | None:
    """Look where a reference leads; gives what stands in it, where that has references too."""
    scheme = _scheme(value)
    reason, inner = "", None
    match scheme:
        case "data":
            inner = _inner(layer, value, where)
            reason = "what it holds can't be read" if inner is None else ""
        case "http" | "https":
            walk.live += 1
            reason = "it would be loaded from the web" if what == "load" else ""
        case "" if value.startswith("#"):
            reason = "" if names_something(value[1:], names) else "nothing in the page has this name"
        case "" if value:
            reason = "it leads out of the file"
    if reason:
        fragment = value[1:] if value.startswith("#") else ""
        walk.unresolved.append(
            Unresolved(layer.path, where, value[:200], reason, layer.path if fragment else "", fragment)
        )
    elif scheme in ("data", "") and value:
        walk.local += 1
    return inner if inner is not None and inner.type in _READ else None


def _scheme(value: str) -> str:
    try:
        return urlsplit(value[:100]).scheme
    except ValueError:
        return ""


def _inner(layer: _Layer, value: str, where: str) -> _Layer | None:
    """The file in a data: URL (RFC 2397)."""
    head, comma, content = value[len("data:") :].partition(",")
    kind, *parameters = head.split(";")
    if not comma:
        return None
    data = unquote_to_bytes(content.partition("#")[0])
    if "base64" in parameters:
        try:
            data = b64decode(data, validate=True)
        except BadBase64:
            return None
    return _Layer(f"{layer.path} > {where}", kind.strip().lower() or "text/plain", data)
