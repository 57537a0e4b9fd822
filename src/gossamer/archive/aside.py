"""A file that is written aside and takes its name when it is whole: never is there half of one."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from gossamer.archive.disk import Disk, write_error


@contextmanager
def written_aside(path: Path) -> Iterator[BinaryIO]:
    """A file to write to; at the end of the block it is synced and replaces what is at ``path``, in one step.

    What is no regular file, as /dev/null or a pipe, is written to as it is. Raises ArchiveError when it can't be.
    """
    try:
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            with path.open("wb") as file:
                yield file
            return
        aside = path.with_name(f".{path.name[:200]}.{os.getpid()}.part")
        try:
            with aside.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            aside.replace(path)
        finally:
            with suppress(FileNotFoundError):
                aside.unlink()
        Disk().sync_folder(path.absolute().parent)
    except OSError as error:
        raise write_error(path, error) from error
