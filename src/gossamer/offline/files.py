"""The files of a new copy. What an earlier one has with the same bytes is linked from there, not written again."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from gossamer.archive.disk import write_error

_MODE = 0o644


class Files:
    """Writes into a folder that is new and nobody else's, so that no path leads through a link."""

    def __init__(self, folder: Path, earlier: Path | None) -> None:
        """``earlier``: a copy whose files may be shared."""
        self._folder = folder
        self._earlier = earlier
        self._made = {folder}
        self._inside: dict[Path, bool] = {}
        self.written = 0  # files that were not in the earlier copy, or not so
        self.bytes = 0  # of these

    def write(self, place: str, body: bytes, modified: float | None = None) -> None:
        """A file at a path within the folder, in place of one that is there. Raises ArchiveError."""
        path = self._folder / place
        try:
            self._make_folder(path.parent)
            path.unlink(missing_ok=True)
            if self._link(place, path, body):
                return
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, _MODE)
            with os.fdopen(descriptor, "wb") as file:
                file.write(body)
        except OSError as error:
            raise write_error(path, error) from error
        if modified is not None:
            with suppress(OSError, OverflowError, ValueError):  # a stranger's collection can name any time
                os.utime(path, (modified, modified))
        self.written += 1
        self.bytes += len(body)

    def _make_folder(self, folder: Path) -> None:
        if folder not in self._made:
            folder.mkdir(parents=True, exist_ok=True)
            self._made.add(folder)

    def _link(self, place: str, path: Path, body: bytes) -> bool:
        """Share the earlier copy's file where it holds just these bytes and no link leads to it."""
        if self._earlier is None or not self._is_inside(path.parent) or not _holds(self._earlier / place, body):
            return False
        try:
            os.link(self._earlier / place, path, follow_symlinks=False)
        except OSError:
            return False  # a file system without links
        return True

    def _is_inside(self, folder: Path) -> bool:
        """Whether no link leads to what the earlier copy has at the place of a folder."""
        if folder not in self._inside:
            assert self._earlier is not None
            inner = folder.relative_to(self._folder)
            self._inside[folder] = (self._earlier / inner).resolve() == self._earlier.resolve() / inner
        return self._inside[folder]


def _holds(path: Path, body: bytes) -> bool:
    try:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size != len(body):
            return False
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            return file.read() == body
    except OSError:
        return False
