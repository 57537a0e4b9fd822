"""A WACZ package (Web Archive Collection Zipped, 1.1.1): one file that replayweb.page opens and searches.

archive/data.warc.gz       the chosen captures
indexes/index.cdx.gz       their CDXJ index, in gzip members of some lines each
indexes/index.idx          where each of these members begins
pages/pages.jsonl          the pages with title and text
datapackage.json           every file with size and hash; datapackage-digest.json has its own hash
"""

import hashlib
import json
import struct
import time
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import IO, BinaryIO
from uuid import UUID

import apsw
from isal import isal_zlib

import gossamer
from gossamer.archive.export.cdxj import SortedLines, index_line, looked_up
from gossamer.archive.export.pages import PageRow, page_rows
from gossamer.archive.export.warc import Trouble, Written, write_warc
from gossamer.clock import timestamp

VERSION = "1.1.1"

_WARC = "data.warc.gz"
_INDEX = "index.cdx.gz"
_LINES = 300  # of the index in one gzip member
_GZIP = 31


@dataclass(slots=True)
class _Measured:
    """Passes bytes on, and knows their number and hash."""

    file: IO[bytes]
    size: int = 0
    digester: "hashlib._Hash" = field(default_factory=sha256)

    def write(self, data: bytes, /) -> None:
        self.file.write(data)
        self.digester.update(data)
        self.size += len(data)


class _Package:
    """The zip file that is being written, and the list of what is in it."""

    def __init__(self, archive: zipfile.ZipFile, now: float) -> None:
        self._archive = archive
        self._date = time.gmtime(max(now, 315_532_800))[:6]  # a zip knows no date before 1980
        self._moment = struct.pack("<HHBI", 0x5455, 5, 1, int(now) & 0xFFFFFFFF)  # extended timestamp: when modified
        self.resources: list[dict[str, object]] = []

    @contextmanager
    def entry(self, path: str, *, deflated: bool = False) -> Iterator[_Measured]:
        """A file in the package; what is compressed already must be stored, to be read from its middle."""
        info = zipfile.ZipInfo(path, self._date)
        # replayweb.page takes an entry without this in the directory for one whose own header has no extra field
        # either; and that has one, since it must be written before it is known whether sizes need 64 bits
        info.extra = self._moment
        info.compress_type = zipfile.ZIP_DEFLATED if deflated else zipfile.ZIP_STORED
        with self._archive.open(info, "w", force_zip64=True) as file:
            measured = _Measured(file)
            yield measured
        name = path.rpartition("/")[2]
        digest = f"sha256:{measured.digester.hexdigest()}"
        self.resources.append({"name": name, "path": path, "hash": digest, "bytes": measured.size})

    def close(self, description: dict[str, object]) -> None:
        """Write what says what is in the package, and the hash of that."""
        package = json.dumps({**description, "resources": self.resources}, indent=2).encode()
        digest = {"path": "datapackage.json", "hash": f"sha256:{sha256(package).hexdigest()}"}
        for path, data in (("datapackage.json", package), ("datapackage-digest.json", json.dumps(digest).encode())):
            with self._archive.open(zipfile.ZipInfo(path, self._date), "w") as file:
                file.write(data)


@dataclass(frozen=True, slots=True)
class Identity:
    """What a package is that is more than a part of a collection: the same whenever it is made anew."""

    title: str
    record_id: UUID
    listed: Collection[str]  # URLs of the pages that it lists; the others are there for these
    note: tuple[str, bytes]  # a file about the package: path and content


def write_wacz(
    connection: apsw.Connection,
    folder: Path,
    file: BinaryIO,
    *,
    now: float,
    tell: Callable[[Trouble], None],
    identity: Identity | None = None,
) -> int:
    """Write what was chosen as a package; gives the number of captures. What is damaged is left out and told."""
    title = folder.resolve().name if identity is None else identity.title
    record_id, listed = (None, None) if identity is None else (identity.record_id, identity.listed)
    lines, count = SortedLines(), 0
    try:
        with zipfile.ZipFile(file, "w") as archive:
            package = _Package(archive, now)
            with package.entry(f"archive/{_WARC}") as warc:
                captures = write_warc(
                    connection, folder, warc, filename=_WARC, now=now, tell=tell, whole=title, record_id=record_id
                )
                for written in captures:
                    lines.add(_line(folder, written))
                    count += 1
            _write_index(package, lines)
            main = _write_pages(package, page_rows(connection), listed)
            if identity is not None:
                with package.entry(identity.note[0], deflated=True) as note:
                    note.write(identity.note[1])
            package.close(_description(title, main, now))
    finally:
        lines.close()
    return count


def _line(folder: Path, written: Written) -> str:
    capture = written.capture if written.capture.page is not None else looked_up(folder, written.capture)[1]
    return index_line(capture, type=written.type, offset=written.offset, length=written.length, filename=_WARC)


def _write_index(package: _Package, lines: Iterable[str]) -> None:
    """The index in gzip members, and with the first key of each where it begins (ZipNum, as pywb calls it)."""
    heads = [f"!meta 0 {json.dumps({'format': 'cdxj-gzip-1.0', 'filename': _INDEX})}\n"]
    remaining = iter(lines)
    with package.entry(f"indexes/{_INDEX}") as index:
        while group := list(islice(remaining, _LINES)):
            member = _gzip("".join(f"{line}\n" for line in group).encode())
            key = group[0].partition(" {")[0]
            place = {"offset": index.size, "length": len(member), "digest": f"sha256:{sha256(member).hexdigest()}"}
            heads.append(f"{key} {json.dumps({**place, 'filename': _INDEX})}\n")
            index.write(member)
    with package.entry("indexes/index.idx", deflated=True) as secondary:
        secondary.write("".join(heads).encode())


def _gzip(data: bytes) -> bytes:
    packer = isal_zlib.compressobj(1, isal_zlib.DEFLATED, _GZIP)
    return packer.compress(data) + packer.flush()


def _write_pages(package: _Package, rows: Iterable[PageRow], listed: Collection[str] | None) -> PageRow | None:
    """The pages a person may want to begin with, seeds marked; gives the first of those, or the first where none is.

    ``listed``: their URLs; None: every page.
    """
    main: PageRow | None = None
    first: PageRow | None = None
    pages_of = (row for row in rows if row.is_page and 200 <= row.status < 300)
    shown = (row for row in pages_of if listed is None or row.url in listed)
    with package.entry("pages/pages.jsonl", deflated=True) as pages:
        head = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages", "hasText": True}
        pages.write(f"{json.dumps(head)}\n".encode())
        for number, row in enumerate(shown):
            first = first or row
            is_seed = row.depth == 0
            main = main or (row if is_seed else None)
            page: dict[str, object] = {
                "id": f"page-{number}",
                "url": row.url,
                "ts": timestamp(row.fetched),
                "title": row.title or row.url,
            }
            page |= {"text": row.text or "", **({"seed": True} if is_seed else {})}
            pages.write(f"{json.dumps(page)}\n".encode())
    return main or first


def _description(title: str, main: PageRow | None, now: float) -> dict[str, object]:
    start = {"mainPageUrl": main.url, "mainPageDate": timestamp(main.fetched)} if main is not None else {}
    return {
        "profile": "data-package",
        "wacz_version": VERSION,
        "title": title.encode("utf-8", "replace").decode(),
        "software": f"Gossamer/{gossamer.__version__}",
        "created": timestamp(now),
        **start,
    }
