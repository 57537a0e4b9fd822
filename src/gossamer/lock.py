"""One process at a time works on a collection."""

import fcntl
import json
import os
from contextlib import suppress
from pathlib import Path

from gossamer.clock import timestamp
from gossamer.errors import CollectionError, CollectionLocked

LOCK_FILE = "lock"


class FolderLock:
    """Holds a folder until closed or until the process ends, however it ends (flock)."""

    def __init__(self, folder: Path, purpose: str, now: float) -> None:
        """Raises CollectionLocked with a message that names the process that has it."""
        self._path = folder / LOCK_FILE
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise CollectionError(
                f"{folder} can't be written ({error.strerror})", hint="look at the folder's permissions"
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise CollectionLocked(
                f"{folder} is in use by {_holder(self._path)}", hint="stop that one first, or wait until it has ended"
            ) from error
        with suppress(OSError):  # a full disk: the lock holds all the same, others only can't say whose it is
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, json.dumps({"pid": os.getpid(), "purpose": purpose, "since": now}).encode(), 0)

    def close(self) -> None:
        """Let others have the folder."""
        os.close(self._file)


def is_locked(folder: Path) -> bool:
    """Whether some process works on the collection now."""
    try:
        file = os.open(folder / LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


def _holder(path: Path) -> str:
    try:
        holder = json.loads(path.read_text(encoding="utf-8"))
        return f"process {int(holder['pid'])} ({holder['purpose']}, since {timestamp(float(holder['since']))})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
