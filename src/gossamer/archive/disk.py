"""The few things the archive asks of the disk, so that tests can make the N-th of them fail."""

import errno
import os
from pathlib import Path

from gossamer.errors import ArchiveError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class DiskFull(ArchiveError):
    """There is no room for what was to be written; the crawl can go on when there is."""


class Disk:
    """Plain system calls on descriptors; each raises OSError. Symbolic links are not followed: a stranger made them."""

    def create(self, path: Path) -> int:
        """A new file to append to; it must not be there yet."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(path, flags, 0o644)

    def reopen(self, path: Path) -> int:
        """A file that is there, to append to."""
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)

    def write(self, descriptor: int, data: bytes) -> None:
        """All of ``data``; the system may take it in pieces."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]

    def sync(self, descriptor: int) -> None:
        """Wait until what was written, and the length of the file, would survive a power cut."""
        os.fdatasync(descriptor)

    def truncate(self, descriptor: int, size: int) -> None:
        os.ftruncate(descriptor, size)

    def close(self, descriptor: int) -> None:
        os.close(descriptor)

    def sync_folder(self, folder: Path) -> None:
        """Wait until the names in ``folder`` would survive a power cut."""
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_error(path: Path, error: OSError) -> ArchiveError:
    """A failed write or sync as one of our errors, with what to do about it."""
    if error.errno in _FULL:
        return DiskFull(f"the disk is full: {path} can't be written", hint="make room and run the command again")
    message = f"{path} can't be written ({error.strerror or error})"
    return ArchiveError(message, hint="look at the disk and the folder's permissions, then run the command again")
