"""A copy as one zip file: the same files in the same order, with nothing in it of when and where it was packed."""

import os
import shutil
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path

from gossamer.archive.disk import write_error
from gossamer.offline.check import Observe
from gossamer.offline.manifest import Manifest, read
from gossamer.offline.place import Workplace
from gossamer.offline.tree import opened_zip

_OLDEST = (1980, 1, 1, 0, 0, 0)  # a zip file knows no time before
_NEWEST = (2107, 12, 31, 23, 59, 58)  # nor after
_MODE = 0o100644  # a regular file that everybody may read
_UNIX = 3
_PIECE = 1 << 20

# What is compressed as it is: a second time costs time and saves nothing.
_STORED = frozenset(
    (
        *(
            "png",
            "apng",
            "jpg",
            "jpeg",
            "jpe",
            "jfif",
            "gif",
            "webp",
            "avif",
            "jxl",
            "woff",
            "woff2",
            "mp3",
            "mp2",
            "m4a",
        ),
        *("aac", "flac", "ogg", "oga", "opus", "weba", "webm", "mp4", "m4v", "ogv", "ogx", "mov", "qt", "mkv", "mpg"),
        *("mpeg", "zip", "gz", "tgz", "bz2", "tbz2", "xz", "txz", "zst", "br", "7z", "rar", "jar", "war", "whl", "apk"),
        *("epub", "docx", "xlsx", "pptx", "odt", "ods", "odp", "deb", "rpm"),
    )
)


def zipped(place: Workplace, earlier: Manifest | None, observe: Observe) -> int:
    """Put the copy that was built in the workplace in its place as a zip file.

    Gives how many of its files are new or other than in the ``earlier`` one. Raises ArchiveError.
    """
    manifest = read(place.copy)
    times = {file.path: file.fetched for file in manifest.files} if manifest is not None else {}
    before = _contents(place.out) if earlier is not None else {}
    pack(place.copy, place.file, times, observe)
    written = sum(before.get(name) != content for name, content in _contents(place.file).items())
    place.swap_file()
    return written


def pack(folder: Path, target: Path, times: Mapping[str, float], observe: Observe) -> None:
    """Move the files of ``folder`` into a new zip file; each is gone once it is in there, so that no copy is there twice.

    ``times``: when a file was fetched, by its path; those of the others are the same in every copy. Raises ArchiveError.
    """
    try:
        paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
        with target.open("xb") as file:
            with zipfile.ZipFile(file, "w") as archive:
                for number, path in enumerate(paths):
                    observe("packed", number, len(paths))
                    _add(archive, path, folder / path, times.get(path))
                    (folder / path).unlink()
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise write_error(target, error) from error


def _add(archive: zipfile.ZipFile, name: str, source: Path, modified: float | None) -> None:
    """Add a file. Raises OSError."""
    entry = zipfile.ZipInfo(name, _time(modified))
    entry.create_system = _UNIX  # on every system, for the same bytes
    entry.external_attr = _MODE << 16
    entry.compress_type = zipfile.ZIP_STORED if name.rpartition(".")[2].lower() in _STORED else zipfile.ZIP_DEFLATED
    with source.open("rb") as file:
        entry.file_size = os.fstat(file.fileno()).st_size  # whether its header needs 64 bits
        with archive.open(entry, "w") as sink:
            shutil.copyfileobj(file, sink, _PIECE)


def _time(seconds: float | None) -> tuple[int, int, int, int, int, int]:
    if seconds is None:
        return _OLDEST
    try:
        return min(max(time.gmtime(seconds)[:6], _OLDEST), _NEWEST)
    except (OverflowError, ValueError, OSError):  # a stranger's collection can name any time
        return _OLDEST


def _contents(path: Path) -> dict[str, tuple[int, int]]:
    """Size and checksum of each file in a zip file."""
    with opened_zip(path) as archive:
        return {entry.filename: (entry.file_size, entry.CRC) for entry in archive.infolist()}
