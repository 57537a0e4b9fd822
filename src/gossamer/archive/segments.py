"""WARC segments: the files of the archive as the database knows them, and their repair after an unclean end."""

import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gossamer.archive.disk import Disk, write_error
from gossamer.errors import ArchiveError

FOLDER = "warc"
"""Where segments lie in the folder of a collection."""

_URI = re.compile(r"warc/[A-Za-z0-9_][A-Za-z0-9_.-]*\.warc\.gz")
_OURS = re.compile(r".+-\d{17}-.+-\d+-\d+\.warc\.gz")


@dataclass(frozen=True, slots=True)
class Segment:
    """One row of the table ``segment``: a file that may be relied upon up to ``bytes``."""

    id: int
    uri: str  # relative to the collection
    bytes: int  # durable up to
    sealed: bool
    opened: float


def segment_uri(prefix: str, *, at: float, owner: str, epoch: int, segment: int) -> str:
    """A name no other writer gives: prefix, moment, owner, its epoch and the segment's id."""
    moment = datetime.fromtimestamp(at, UTC).strftime("%Y%m%d%H%M%S%f")[:17]
    return f"{FOLDER}/{_word(prefix)}-{moment}-{_word(owner)}-{epoch}-{segment:05}.warc.gz"


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.]+", "_", text).lstrip(".")[:60] or "_"


def segment_path(collection: Path, uri: str) -> Path:
    """The file of a segment. A collection may come from a stranger: ArchiveError when ``uri`` leads out of it."""
    if not _URI.fullmatch(uri):
        raise ArchiveError(f"{uri!r} is no name of a segment", hint="the database was tampered with or is damaged")
    if (collection / FOLDER).is_symlink():
        raise ArchiveError(f"{collection / FOLDER} is a link that leads elsewhere", hint="move the folder itself there")
    return collection / uri


def repair(collection: Path, segments: Iterable[Segment], *, disk: Disk | None = None) -> tuple[str, ...]:
    """Make the files agree with the rows after an unclean end; gives what was done, in words, to be logged.

    What lies beyond the durable bytes of a segment is cut off: at the most it holds whole records that no row speaks
    of, whose URLs are waiting still and will be fetched again. A segment of ours without a row was begun by a process
    that died before its first commit; it is set aside under another name. Raises ArchiveError when a file is shorter
    than its row says: those bytes are lost, and nothing here can bring them back.
    """
    disk = disk or Disk()
    known = tuple(segments)
    done = [note for segment in known if (note := _cut(segment_path(collection, segment.uri), segment, disk))]
    done += _set_strays_aside(collection / FOLDER, {Path(segment.uri).name for segment in known}, disk)
    return tuple(done)


def _cut(path: Path, segment: Segment, disk: Disk) -> str:
    size = _size(path)
    if size < segment.bytes:
        raise ArchiveError(
            f"{path} is too short: bytes {size} to {segment.bytes} are lost",
            hint="restore the file from a copy; gossamer verify names the pages that were in it",
        )
    if size == segment.bytes:
        return ""
    try:
        descriptor = disk.reopen(path)
        try:
            disk.truncate(descriptor, segment.bytes)
            disk.sync(descriptor)
        finally:
            disk.close(descriptor)
    except OSError as error:
        raise write_error(path, error) from error
    return f"{path.name}: cut {size - segment.bytes} bytes that no page refers to"


def _size(path: Path) -> int:
    try:
        found = path.lstat()
        return found.st_size if stat.S_ISREG(found.st_mode) else 0
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise ArchiveError(f"{path} can't be read ({error.strerror})", hint="look at the disk") from error


def _set_strays_aside(folder: Path, known: set[str], disk: Disk) -> list[str]:
    names: list[str] = []
    with suppress(FileNotFoundError):
        names = sorted(path.name for path in folder.iterdir())
    strays = [folder / name for name in names if name not in known and _OURS.fullmatch(name)]
    try:
        for stray in strays:
            stray.rename(stray.with_name(stray.name + ".stray"))
        if strays:
            disk.sync_folder(folder)
    except OSError as error:
        raise write_error(folder, error) from error
    return [f"{stray.name}: set aside, no page refers to it" for stray in strays]
