"""A copy of a collection as of one moment, also beside a running crawl; made again, it copies only what is new.

The database is copied first, in one step: SQLite's backup sees it as of one commit. WARC bytes are durable before rows
speak of them, so every byte that this copy's rows speak of lies in the files already, and stays where it is: a segment
only grows, and what is sealed never changes. The copy of the database takes its name last, when all that it speaks of is
there; what it does not speak of any more goes after that.
"""

import os
import shutil
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import apsw

from gossamer.archive import store
from gossamer.archive.aside import written_aside
from gossamer.archive.database import NAME, database_error, open_for_reading, open_for_writing, select
from gossamer.archive.disk import Disk, write_error
from gossamer.archive.reader import open_segment
from gossamer.archive.segments import FOLDER, Segment, segment_path
from gossamer.errors import ArchiveError, UsageError

_PLAIN_FILES = ("gossamer.toml", "gossamer.log")
_CHUNK = 1 << 20

_BECOME_COPY = """
INSERT OR REPLACE INTO meta SELECT 'copied', value FROM meta WHERE name = 'epoch';
UPDATE heartbeat SET pid = 0;
"""
"""No process is at work on the copy. Whoever works on it takes another epoch."""

_IS_COPY = """
SELECT EXISTS (SELECT 1 FROM meta AS copied JOIN meta AS epoch ON epoch.value = copied.value
    WHERE copied.name = 'copied' AND epoch.name = 'epoch')
"""


@dataclass(frozen=True, slots=True)
class BackedUp:
    """What was copied. Sizes in bytes."""

    segments: int  # that the copy has
    copied: int  # of these, this time
    linked: int  # of these, this time, without copying
    removed: int  # that the collection has no more
    bytes: int  # that were copied, the database included


class Backup:
    """Copies one collection to one folder. ``links``: sealed segments become hard links where the file system can."""

    def __init__(self, source: Path, target: Path, *, links: bool = False, disk: Disk | None = None) -> None:
        self._source = source
        self._target = target
        self._links = links
        self._disk = disk or Disk()
        self._copied = self._linked = self._bytes = 0

    def run(self, connection: apsw.Connection) -> BackedUp:
        """Make the copy, or bring it up to date. ``connection`` reads the collection; the caller locks the target.

        Raises ArchiveError, UsageError when the target holds something else.
        """
        aside = self._target / f"{NAME}.new"
        try:
            self._check_target(connection)
            _remove(_database_files(aside))
            segments = self._copy_database(connection, aside)
            (self._target / FOLDER).mkdir(exist_ok=True)
            for segment in segments:
                self._copy_segment(segment)
            for name in _PLAIN_FILES:
                self._copy_plain(name)
            self._disk.sync_folder(self._target / FOLDER)
            self._replace_database(aside)
            removed = self._remove_others({segment.uri for segment in segments})
        except apsw.Error as error:
            raise database_error(aside, error) from error
        except OSError as error:
            raise write_error(Path(error.filename or self._target), error) from error
        return BackedUp(len(segments), self._copied, self._linked, removed, self._bytes)

    def _check_target(self, connection: apsw.Connection) -> None:
        """An earlier copy of the same collection, which its secret tells, that is a copy still; or an empty folder."""
        if not (self._target / NAME).exists():
            return
        other = open_for_reading(self._target / NAME)
        try:
            query = "SELECT value FROM meta WHERE name = 'secret'"
            is_same = select(connection, query) == select(other, query)
            is_copy = bool(other.execute(_IS_COPY).get)
        finally:
            other.close()
        if not is_same:
            raise UsageError(f"{self._target} holds another collection", hint="name another folder")
        if not is_copy:
            raise UsageError(
                f"{self._target} was worked on since it was copied, which would be lost", hint="name another folder"
            )

    def _copy_database(self, connection: apsw.Connection, aside: Path) -> list[Segment]:
        copy = apsw.Connection(str(aside))
        try:
            with copy.backup("main", connection, "main") as backup:
                backup.step(-1)  # all of it: between steps the crawl might write, and it would begin again
            with copy:
                copy.execute(_BECOME_COPY)
            copy.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            segments = store.load_segments(copy)
        finally:
            copy.close()
        _remove(_database_files(aside)[1:])
        self._bytes += aside.stat().st_size
        return segments

    def _copy_segment(self, segment: Segment) -> None:
        source, target = segment_path(self._source, segment.uri), segment_path(self._target, segment.uri)
        if segment.sealed and _size(target) == segment.bytes:
            return
        if self._links and segment.sealed and _size(source) == segment.bytes and self._link(source, target):
            return
        with written_aside(target) as file, open_segment(source) as original:
            left = segment.bytes
            while left:
                data = original.read(min(left, _CHUNK))
                if not data:
                    raise ArchiveError(
                        f"{source} is {left} bytes shorter than its row says", hint="gossamer verify tells more"
                    )
                file.write(data)
                left -= len(data)
        self._copied += 1
        self._bytes += segment.bytes

    def _link(self, source: Path, target: Path) -> bool:
        aside = target.with_name(f".{target.name}.link")
        try:
            aside.unlink(missing_ok=True)
            os.link(source, aside, follow_symlinks=False)
            aside.replace(target)
        except OSError:
            return False  # another file system, or one without links: it is copied
        finally:
            aside.unlink(missing_ok=True)
        self._linked += 1
        return True

    def _copy_plain(self, name: str) -> None:
        source = self._source / name
        if _size(source) >= 0:
            with written_aside(self._target / name) as file, open_segment(source) as original:
                shutil.copyfileobj(original, file, _CHUNK)

    def _replace_database(self, aside: Path) -> None:
        """What SQLite still had beside the old one must not be taken for part of the new one."""
        target = self._target / NAME
        if target.exists():
            open_for_writing(target).close()  # takes in what is in its log
        _remove(_database_files(target)[1:])
        aside.replace(target)
        self._disk.sync_folder(self._target)

    def _remove_others(self, known: set[str]) -> int:
        """Segments of an earlier copy that are forgotten or written anew since then."""
        others = [path for path in (self._target / FOLDER).glob("*.warc.gz") if f"{FOLDER}/{path.name}" not in known]
        _remove(others)
        return len(others)


def _database_files(path: Path) -> list[Path]:
    return [path, *(path.with_name(path.name + end) for end in ("-wal", "-shm", "-journal"))]


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    """Of a regular file; -1 where there is none."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return -1
    return found.st_size if stat.S_ISREG(found.st_mode) else -1
