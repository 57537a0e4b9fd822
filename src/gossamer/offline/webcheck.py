"""The check of a web archive (WACZ): each file is as the package says, each record whole, and each page and each entry of
the index leads to a record of its own URL. Pages are not looked into: what they refer to is a matter of replay.
"""

import gzip
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from gossamer.archive import package
from gossamer.archive.foreign import Broken, read_archive
from gossamer.errors import ArchiveError, UsageError
from gossamer.offline import manifest as manifests
from gossamer.offline.check import Checked, Observe, Unresolved
from gossamer.offline.manifest import MANIFEST, MOST
from gossamer.offline.tree import DAMAGE, Zip, opened_zip

_DESCRIPTION = "datapackage.json"
_DIGEST = "datapackage-digest.json"
_LARGEST = 1 << 30  # bytes of an index, or a list of pages, that are read
_LONGEST = 1 << 24  # bytes of one of their lines
_PIECE = 1 << 20
_ANSWERS = ("response", "revisit", "resource")
_EVERY = 1000  # records


@dataclass(slots=True)
class _Walk:
    """What is known so far."""

    records: dict[tuple[str, int], str] = field(
        default_factory=dict
    )  # URL of each answer, by its file's name and offset
    indexed: set[str] = field(default_factory=set)  # URLs that the index leads to
    count: int = 0
    resolved: int = 0
    unresolved: list[Unresolved] = field(default_factory=list)

    def fault(self, file: str, where: str, reference: str, reason: str) -> None:
        self.unresolved.append(Unresolved(file, where, reference, reason))


def is_web_archive(path: Path) -> bool:
    """Whether a file is a WACZ, by what is in it."""
    if not path.is_file():
        return False
    try:
        with opened_zip(path) as archive:
            return _DESCRIPTION in archive.namelist()
    except UsageError:
        return False


def check_web_archive(path: Path, observe: Observe = lambda *_: None) -> Checked:
    """Check a WACZ file. Raises UsageError when it is none, ArchiveError when it can't be read."""
    walk = _Walk()
    with opened_zip(path) as archive:
        _check_description(Zip(path, archive), archive, walk)
        _read_records(path, walk, observe)
        names = sorted(archive.namelist())
        for name in (name for name in names if name.startswith("indexes/") and not name.endswith(".idx")):
            for line in _lines(archive, name):
                _check_index_line(name, line, walk)
        for name in (name for name in names if name.startswith("pages/") and name.endswith(".jsonl")):
            for line in _lines(archive, name):
                _check_page(name, line, walk)
        _check_own(Zip(path, archive), walk)
    return Checked(files=walk.count, local=walk.resolved, unresolved=tuple(walk.unresolved), what="records")


def _check_description(tree: Zip, archive: zipfile.ZipFile, walk: _Walk) -> None:
    """WACZ 1.1.1, 5.5 and 5.6: every file with its size and digest, and the digest of the list."""
    walk.unresolved += [Unresolved(path, "", "", reason) for path, reason in tree.faults()]
    paths = set(tree.paths())
    text = tree.read(_DESCRIPTION, MOST) if _DESCRIPTION in paths else b""
    if _DIGEST in paths and _object(tree.read(_DIGEST, MOST)).get("hash") != _label(sha256(text).hexdigest()):
        walk.fault(_DIGEST, "hash", _DESCRIPTION, "the file is another than that of the digest")
    resources = _object(text).get("resources")
    for resource in resources if isinstance(resources, list) else ():
        path = str(resource.get("path")) if isinstance(resource, dict) else ""
        if path not in paths:
            walk.fault(_DESCRIPTION, "resources", path, "there is no such file")
        elif str(resource.get("hash")).startswith("sha256:") and resource["hash"] != _digest(archive, path):
            walk.fault(_DESCRIPTION, "resources", path, "the file is another than that of the digest")
        else:
            walk.resolved += 1


def _digest(archive: zipfile.ZipFile, path: str) -> str:
    digester = sha256()
    try:
        with archive.open(path) as file:
            while piece := file.read(_PIECE):
                digester.update(piece)
    except DAMAGE:
        return ""  # which is told already
    return _label(digester.hexdigest())


def _label(digest: str) -> str:
    return f"sha256:{digest}"


def _read_records(path: Path, walk: _Walk, observe: Observe) -> None:
    with package.opened(path) as parts:
        for part in parts:
            if isinstance(part, package.Unreadable):
                walk.fault(part.name.rpartition("!")[2], "", "", part.message)
                continue
            entry = part.name.rpartition("!")[2]
            name = entry.rpartition("/")[2]
            for record in read_archive(part.file, part.start, part.end, max_block=0):
                offset = record.place.offset - part.start
                if isinstance(record, Broken):
                    walk.fault(entry, f"byte {offset}", "", record.message)
                    continue
                walk.count += 1
                if walk.count % _EVERY == 0:
                    observe("checked", record.place.offset - part.start, part.end - part.start)
                if record.type in _ANSWERS:
                    walk.records[name, offset] = record.field("warc-target-uri").strip("<>")


def _lines(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """The lines of an index or list; what is damaged in them ends them, and is told by checksums."""
    left = _LARGEST
    try:
        with archive.open(name) as file:
            source = gzip.GzipFile(fileobj=file) if name.endswith(".gz") else file
            while left > 0 and (line := source.readline(_LONGEST)):
                left -= len(line)
                yield line
    except (*DAMAGE, gzip.BadGzipFile):
        return
    except OSError as error:
        raise ArchiveError(f"{name} can't be read ({error})", hint="look at the disk") from error


def _check_index_line(name: str, line: bytes, walk: _Walk) -> None:
    """A line of CDXJ: key, time, and an object."""
    if line.startswith(b"!meta") or b"{" not in line:
        return
    entry = _object(line[line.index(b"{") :])
    url, file, offset = str(entry.get("url")), str(entry.get("filename")), str(entry.get("offset"))
    found = (
        walk.records.get((file.rpartition("/")[2], int(offset))) if offset.isdecimal() and len(offset) < 20 else None
    )
    if found is None:
        walk.fault(name, "entry", url, f"there is no record at byte {offset} of {file}")
    elif found != url:
        walk.fault(name, "entry", url, f"the record is that of {found}")
    else:
        walk.resolved += 1
        walk.indexed.add(url)


def _check_page(name: str, line: bytes, walk: _Walk) -> None:
    page = _object(line)
    if "url" in page:
        _look_up(name, "page", str(page["url"]), walk)


def _look_up(name: str, where: str, url: str, walk: _Walk) -> None:
    if url in walk.indexed:
        walk.resolved += 1
    else:
        walk.fault(name, where, url, "the index leads to no record of it")


def _check_own(tree: Zip, walk: _Walk) -> None:
    """Of an archive that `gossamer save` made: everything that it says it has."""
    known = manifests.loads(tree.read(MANIFEST, MOST)) if MANIFEST in tree.paths() else None
    for file in known.files if known is not None else ():
        _look_up(MANIFEST, "file", file.url, walk)


def _object(text: bytes) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
