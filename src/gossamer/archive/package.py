"""The WARC files in what a person hands over: a file is one itself, a WACZ is a zip that holds some (WACZ 1.1.1, 4.1)."""

import re
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

from gossamer.errors import UsageError

_ZIP = b"PK\x03\x04"
_WARC = (".warc", ".warc.gz")
_ARCHIVES = (*_WARC, ".warc.zst", ".arc", ".arc.gz", ".wacz")
_GZIP = 31
_MAGIC = 512  # bytes of a file that tell what it is
_OTHERS = (
    (
        re.compile(rb"filedesc:"),
        "it is an ARC file, the format before WARC, which is not read; convert it with: warcio recompress OLD.arc.gz NEW.warc.gz",
    ),
    (
        re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18"),  # RFC 8878 3.1.1, 3.1.2
        "it is compressed with zstd, which is not read; undo that first",
    ),
    (re.compile(rb"BZh[1-9]|\xfd7zXZ\0"), "it is compressed in a way that is not read; undo that first"),
    (re.compile(rb".{257}ustar", re.DOTALL), "it is a tar file; unpack it, and import the WARC files in it"),
)
_CACHE = "it is a cache of HTTrack, which is not read; newer versions of HTTrack write WARC files with --warc"
_LOCAL_HEADER = struct.Struct("<4s22xHH")  # APPNOTE 4.3.7: signature, …, lengths of name and extra field
_MAX_RATIO = 200  # a deflated WARC file that grows more is a bomb: what it holds is compressed already
_ENCRYPTED = 1
_BAD_ZIP = (zipfile.BadZipFile, struct.error, NotImplementedError, ValueError, EOFError, zlib.error, OSError)


@dataclass(frozen=True, slots=True)
class Part:
    """A WARC file: a stretch of bytes of a file that is open."""

    name: str  # for messages
    file: BinaryIO
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Something that should be a WARC file and can't be read."""

    name: str
    message: str


@contextmanager
def opened(path: Path) -> Iterator[Iterator[Part | Unreadable]]:
    """The WARC files in a file. No name from inside of it is ever used to write to.

    Raises UsageError when it can't be opened.
    """
    with ExitStack() as stack:
        try:
            found = path.stat()
            file = stack.enter_context(path.open("rb")) if stat.S_ISREG(found.st_mode) else None
            start = b"" if file is None else file.read(_MAGIC)
        except OSError as error:
            raise UsageError(f"{path} can't be read ({error.strerror})", hint="name a WARC or WACZ file") from error
        if file is None:
            raise UsageError(f"{path} is no file", hint="name a WARC or WACZ file")
        if start.startswith(_ZIP):
            yield _package(path, file, found.st_size, stack)
        else:
            other = _other_format(start)
            yield iter((Unreadable(str(path), other) if other else Part(str(path), file, 0, found.st_size),))


def _other_format(start: bytes) -> str:
    """What is wrong with a file that is none of ours for sure; nothing where it has to be read to be told."""
    if not start:
        return "the file is empty"
    with suppress(zlib.error):
        start = zlib.decompressobj(_GZIP).decompress(start, _MAGIC)
    return next((message for magic, message in _OTHERS if magic.match(start)), "")


def _package(path: Path, file: BinaryIO, size: int, stack: ExitStack) -> Iterator[Part | Unreadable]:
    try:
        package = stack.enter_context(zipfile.ZipFile(file))
    except _BAD_ZIP as error:
        yield Unreadable(str(path), f"the zip file is damaged ({error}): it is searched for records")
        yield Part(str(path), file, 0, size)
        return
    entries = [entry for entry in package.infolist() if entry.filename.lower().endswith(_ARCHIVES)]
    for entry in entries:
        yield _entry(path, file, size, package, entry, stack)
    if not entries:
        is_httrack = any(name.startswith(("http://", "https://")) for name in package.namelist())
        yield Unreadable(str(path), _CACHE if is_httrack else "there is no WARC file in this zip file")


def _entry(
    path: Path, file: BinaryIO, size: int, package: zipfile.ZipFile, entry: zipfile.ZipInfo, stack: ExitStack
) -> Part | Unreadable:
    name = f"{path}!{entry.filename}"
    if not entry.filename.lower().endswith(_WARC):
        return Unreadable(name, "it is not read from within a package; import it by itself")
    if entry.flag_bits & _ENCRYPTED:
        return Unreadable(name, "it is encrypted")
    try:
        if entry.compress_type == zipfile.ZIP_STORED:
            start = _start(file, entry)
            return Part(name, file, start, min(size, start + entry.compress_size))
        return _unpacked(name, package, entry, stack)
    except _BAD_ZIP as error:
        return Unreadable(name, f"it can't be unpacked ({error})")


def _start(file: BinaryIO, entry: zipfile.ZipInfo) -> int:
    """Where the bytes of a stored entry begin: its own header may be longer than the directory says."""
    file.seek(entry.header_offset)
    signature, name_length, extra_length = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    if signature != _ZIP:
        raise zipfile.BadZipFile("no entry begins there")
    return int(entry.header_offset + _LOCAL_HEADER.size + name_length + extra_length)


def _unpacked(name: str, package: zipfile.ZipFile, entry: zipfile.ZipInfo, stack: ExitStack) -> Part | Unreadable:
    """A deflated entry in a file without a name: reading behind damage goes back and forth."""
    if entry.file_size > _MAX_RATIO * max(entry.compress_size, 1):
        return Unreadable(name, f"it would grow from {entry.compress_size} to {entry.file_size} bytes")
    try:
        file = stack.enter_context(TemporaryFile())  # noqa: SIM115 - the stack closes it
        with package.open(entry) as source:
            shutil.copyfileobj(source, file)  # zipfile stops at the size that was promised
    except OSError as error:
        return Unreadable(name, f"it can't be unpacked among the temporary files ({error.strerror}; see TMPDIR)")
    return Part(name, file, 0, file.tell())
