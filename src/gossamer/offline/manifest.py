"""What a copy says of itself in ``_gossamer/copy.json``: which files it has, of which version of which URL."""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gossamer.errors import UsageError

FOLDER = "_gossamer"
"""At the top of a copy: what is ours and no page's."""

MANIFEST = f"{FOLDER}/copy.json"
FORMAT = 1
MOST = 1 << 30  # bytes of a manifest that is read
_TOLERATED = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", ".directory"})  # file managers leave these


@dataclass(frozen=True, slots=True)
class SavedFile:
    """A file of a copy that is a URL's."""

    path: str
    url: str
    digest: str  # sha256 of the URL's decoded body, hexadecimal
    written: str  # sha256 of the file, hexadecimal
    fetched: float
    trouble: str = ""  # why no newer answer replaced it


@dataclass(frozen=True, slots=True)
class Manifest:
    """A copy, as it describes itself. Nothing in it depends on when it was made."""

    collection: str  # tells collections apart
    title: str
    files: tuple[SavedFile, ...] = ()
    own: tuple[str, ...] = ()  # files that are ours
    dead: tuple[tuple[str, str], ...] = ()  # file and reference: dead online too
    live: Mapping[str, int] = field(default_factory=dict)  # references that lead to the live web, by kind


def write(manifest: Manifest) -> bytes:
    """The text of a manifest; the same for the same copy."""
    content = {
        "format": FORMAT,
        "collection": manifest.collection,
        "title": manifest.title,
        "live": dict(sorted(manifest.live.items())),
        "dead": sorted(manifest.dead),
        "own": sorted(manifest.own),
        "files": [
            {
                "path": each.path,
                "url": each.url,
                "digest": each.digest,
                "written": each.written,
                "fetched": each.fetched,
                **({"trouble": each.trouble} if each.trouble else {}),
            }
            for each in sorted(manifest.files, key=lambda file: file.path)
        ],
    }
    return json.dumps(content, ensure_ascii=False, indent=0).encode("utf-8", "replace")


def read(out: Path) -> Manifest | None:
    """The manifest of a copy; None where there is none that can be read."""
    path = out / MANIFEST
    try:
        if not stat.S_ISREG(path.lstat().st_mode) or path.stat().st_size > MOST:
            return None
        return loads(path.read_bytes())
    except OSError:
        return None


def loads(data: bytes) -> Manifest | None:
    """A manifest from its text; None where it is none."""
    try:
        content = json.loads(data)
        return _manifest(content) if content["format"] == FORMAT else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _manifest(content: dict[str, Any]) -> Manifest:
    files = tuple(map(_file, content["files"]))
    dead = tuple((str(path), str(reference)) for path, reference in content["dead"])
    live = {str(kind): int(count) for kind, count in content["live"].items()}
    own = tuple(map(str, content["own"]))
    return Manifest(str(content["collection"]), str(content["title"]), files, own, dead, live)


def _file(entry: dict[str, Any]) -> SavedFile:
    path, url, digest, written = (str(entry[name]) for name in ("path", "url", "digest", "written"))
    return SavedFile(path, url, digest, written, float(entry["fetched"]), str(entry.get("trouble", "")))


def refuse_something_else(out: Path, collection: str, *, force: bool) -> Manifest | None:
    """The earlier copy in ``out``; None where there is nothing, or something that ``force`` lets us replace.

    Raises UsageError where ``out`` holds what is no earlier copy of this collection, a person's own files among it too.
    """
    if out.is_symlink():
        raise UsageError(f"{out} is a symbolic link", hint="name the folder that it leads to")
    if not out.exists():
        return None
    if not out.is_dir():
        raise UsageError(f"{out} is no folder", hint="name another one")
    manifest = read(out)
    if force or not any(out.iterdir()):
        return manifest
    manifest = the_same(out, manifest, collection)
    stranger = next(_strangers(out, manifest), None)
    if stranger is not None:
        raise UsageError(f"{stranger} is no part of the copy", hint="move it away, or let it be replaced with --force")
    return manifest


def the_same(out: Path, manifest: Manifest | None, collection: str) -> Manifest:
    """The manifest that was found in ``out``. Raises UsageError where it is none, or not of this collection."""
    if manifest is None:
        raise UsageError(f"{out} holds something else", hint="name another place, or replace it all with --force")
    if manifest.collection != collection:
        raise UsageError(f"{out} holds the copy of another collection", hint="name another place, or give --force")
    return manifest


def _strangers(out: Path, manifest: Manifest) -> Iterator[Path]:
    known = {file.path for file in manifest.files} | set(manifest.own)
    for folder, names, files in os.walk(out):
        yield from (path for name in names if (path := Path(folder, name)).is_symlink())
        for path in (Path(folder, name) for name in files):
            if path.relative_to(out).as_posix() not in known and path.name not in _TOLERATED:
                yield path
