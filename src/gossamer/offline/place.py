"""Where a copy is built and how it takes its place: written aside, put there whole, what was there before removed last.

Beside OUT lies the working folder ``.OUT.gossamer`` while a copy is made. A process that dies leaves it behind; the
next one cleans it up. At no moment is there half a copy: where the file system can, old and new are exchanged in one
step, and where it can't, the old one is put back by the next run if it was just then that the process died.
"""

import ctypes
import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from gossamer.archive.disk import Disk, write_error
from gossamer.errors import UsageError
from gossamer.lock import LOCK_FILE, FolderLock

_EXCHANGE = 2  # RENAME_EXCHANGE of renameat2(2)
_HERE = -100  # AT_FDCWD
_NO_EXCHANGE = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM})


class Workplace:
    """The folder beside OUT in which a copy is built; one process at a time has it."""

    def __init__(self, out: Path, now: float) -> None:
        """Takes the folder, and puts right what a process left that died. Raises CollectionLocked, ArchiveError."""
        self.out = out.absolute() if out.name not in ("", "..") else out.resolve()
        self.folder = self.out.parent / _working_name(self.out.name)
        self._old = self.folder / "old"
        self.copy = self.folder / "copy"
        self.file = self.folder / "file"  # where the copy is to be one file
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if not stat.S_ISDIR(self.folder.lstat().st_mode):
                raise UsageError(f"{self.folder} is in the way", hint="remove it")
            self._lock = FolderLock(self.folder, "gossamer save", now)
            try:
                self._put_right()
                self.copy.mkdir()
            except BaseException:
                self._lock.close()
                raise
        except OSError as error:
            raise write_error(Path(error.filename or self.folder), error) from error

    def _put_right(self) -> None:
        if self._old.is_dir() and not self.out.exists():
            self._old.rename(self.out)  # died between the two steps of `swap`
        for path in self.folder.iterdir():
            if path.name != LOCK_FILE:
                _remove(path)

    def swap(self) -> None:
        """Put the new copy where OUT is. Raises ArchiveError; then OUT is what it was.

        But for the very last step, that the new name is made to survive a power cut: then OUT is the new copy.
        """
        try:
            _sync(self.copy)
            if not self.out.exists():
                self.copy.rename(self.out)
            elif not _exchange(self.copy, self.out):
                self.out.rename(self._old)
                self.copy.rename(self.out)
            Disk().sync_folder(self.out.parent)
        except OSError as error:
            raise write_error(self.out, error) from error

    def swap_file(self) -> None:
        """Put the new copy where OUT is, which is a file or nothing. Raises ArchiveError as `swap` does."""
        try:
            self.file.replace(self.out)
            Disk().sync_folder(self.out.parent)
        except OSError as error:
            raise write_error(self.out, error) from error

    def close(self) -> None:
        """Remove the working folder and what is in it."""
        with suppress(OSError):  # what can't be removed is removed by the next run
            self._put_right()
            _remove(self.folder)
        self._lock.close()


@contextmanager
def workplace(out: Path, now: float) -> Iterator[Workplace]:
    """A Workplace for the time of a block."""
    place = Workplace(out, now)
    try:
        yield place
    finally:
        place.close()


def _working_name(name: str) -> str:
    whole = f".{name}.gossamer"
    if len(os.fsencode(whole)) <= 200:
        return whole
    return f".{sha256(os.fsencode(name)).hexdigest()[:32]}.gossamer"


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _sync(folder: Path) -> None:
    """Wait until what was written to the file system of ``folder`` would survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
        if sync is None:
            os.sync()
        elif sync(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(folder))
    finally:
        os.close(descriptor)


def _exchange(one: Path, other: Path) -> bool:
    """Two folders change their names in one step; False where the system or file system can't. Raises OSError."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(_HERE, os.fsencode(one), _HERE, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NO_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), str(other))
