"""The files of a copy as they are read to check it: those of a folder, or of a zip file without unpacking it."""

import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from gossamer.errors import ArchiveError, UsageError

_PIECE = 1 << 20
_ENCRYPTED = 1
DAMAGE = (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, EOFError, zlib.error)
"""What the library raises for a file that is none, is damaged, or was made in ways it does not know."""


class Tree(Protocol):
    """Files with their paths, which have slashes."""

    def paths(self) -> list[str]:
        """All that can be read, in order. Raises UsageError, ArchiveError."""

    def read(self, path: str, most: int) -> bytes:
        """The first bytes of one, ``most`` at the most. Raises ArchiveError."""

    def faults(self) -> Iterator[tuple[str, str]]:
        """What is wrong with files themselves, whatever refers to them: path and reason. Raises ArchiveError."""


class Folder:
    """A folder; what is behind a symbolic link is not part of it."""

    def __init__(self, out: Path) -> None:
        self._out = out

    def paths(self) -> list[str]:
        if not self._out.is_dir():
            raise UsageError(f"{self._out} is no folder", hint="name the folder of a copy")
        try:
            return sorted(self._files())
        except OSError as error:
            raise ArchiveError(
                f"{self._out} can't be read ({error.strerror})", hint="look at its permissions"
            ) from error

    def _files(self) -> Iterator[str]:
        def fail(error: OSError) -> None:
            raise error

        for folder, _, names in os.walk(self._out, onerror=fail):
            for name in names:
                path = Path(folder, name)
                if not path.is_symlink() and path.is_file():
                    yield path.relative_to(self._out).as_posix()

    def read(self, path: str, most: int) -> bytes:
        try:
            with (self._out / path).open("rb") as file:
                return file.read(most)
        except OSError as error:
            raise ArchiveError(
                f"{self._out / path} can't be read ({error.strerror})", hint="look at the disk"
            ) from error

    def faults(self) -> Iterator[tuple[str, str]]:
        return iter(())


class Zip:
    """A zip file that is open. Nothing of it is unpacked, so no name in it leads anywhere."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self._path = path
        self._archive = archive
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        self._entries = {entry.filename: entry for entry in entries if is_inside(entry.filename)}
        self._strange = sorted({entry.filename for entry in entries} - self._entries.keys())

    def paths(self) -> list[str]:
        return sorted(self._entries)

    def read(self, path: str, most: int) -> bytes:
        try:
            with self._archive.open(self._entries[path]) as file:
                return file.read(most)
        except (*DAMAGE, OSError) as error:
            raise ArchiveError(f"{path} in {self._path} can't be read ({error})", hint="make the copy anew") from error

    def faults(self) -> Iterator[tuple[str, str]]:
        """Every file is read, for each has a checksum."""
        yield from ((path, "its name leads out of the copy") for path in self._strange)
        for path, entry in self._entries.items():
            try:
                with self._archive.open(entry) as file:
                    while file.read(_PIECE):
                        pass
            except DAMAGE as error:
                yield path, "it is encrypted" if entry.flag_bits & _ENCRYPTED else f"it is damaged: {error}"
            except OSError as error:
                raise ArchiveError(f"{self._path} can't be read ({error.strerror})", hint="look at the disk") from error


def is_inside(name: str) -> bool:
    """Whether the name of an entry stays in the folder that it is unpacked in, on every system."""
    parts = name.split("/")
    return not ("" in parts or ".." in parts or "." in parts or "\\" in name or ":" in parts[0] or "\0" in name)


@contextmanager
def opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """A zip file to be read. Raises UsageError where there is none, ArchiveError when it can't be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UsageError(f"{path} is no file", hint="name the file of a copy")
        with path.open("rb") as file:
            try:
                archive = zipfile.ZipFile(file)
            except DAMAGE as error:
                raise UsageError(
                    f"{path} is no zip file that can be read ({error})", hint="name another one"
                ) from error
            with archive:
                yield archive
    except OSError as error:
        raise ArchiveError(f"{path} can't be read ({error.strerror})", hint="look at its permissions") from error


@contextmanager
def opened_tree(out: Path) -> Iterator[Tree]:
    """A copy to be read, a folder or a zip file. Raises as `opened_zip` does."""
    if out.is_file():
        with opened_zip(out) as archive:
            yield Zip(out, archive)
    else:
        yield Folder(out)
