"""What a person hands over: WARC files, and packages of them, whole or not."""

import bz2
import gzip
import io
import lzma
import zipfile
from pathlib import Path

import pytest
import zstandard

from archive.foreign import pages
from gossamer.archive.foreign import ForeignRecord, read_archive
from gossamer.archive.package import Part, Unreadable, opened
from gossamer.errors import UsageError

ARCHIVE = pages(3)


def package(tmp_path: Path, *entries: tuple[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    path = tmp_path / "x.wacz"
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("datapackage.json", "{}")
        for name, data in entries:
            archive.writestr(name, data)
    return path


def read(path: Path) -> list[str]:
    """The names of the parts with the number of their records, and what is wrong with others."""
    told = []
    with opened(path) as parts:
        for part in parts:
            if isinstance(part, Unreadable):
                told.append(f"{part.name}: {part.message}")
            else:
                found = read_archive(part.file, part.start, part.end, max_block=1 << 20)
                told.append(f"{part.name}: {sum(isinstance(each, ForeignRecord) for each in found)}")
    return [text.replace(str(path), "X") for text in told]


def test_a_file_is_a_part_whatever_its_name(tmp_path: Path) -> None:
    path = tmp_path / "whatever"
    path.write_bytes(ARCHIVE.data)
    assert read(path) == ["X: 3"]


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "deflated"])
def test_the_warc_files_of_a_package(tmp_path: Path, compression: int) -> None:
    entries = [("archive/a.warc.gz", ARCHIVE.data), ("pages/pages.jsonl", b"{}"), ("archive/B.WARC", b"")]
    path = package(tmp_path, *entries, compression=compression)
    assert read(path) == ["X!archive/a.warc.gz: 3", "X!archive/B.WARC: 0"]


def test_names_in_a_package_are_never_paths(tmp_path: Path) -> None:
    path = package(
        tmp_path, ("../../evil.warc.gz", ARCHIVE.data), ("/etc/evil.warc", b""), compression=zipfile.ZIP_DEFLATED
    )
    assert read(path) == ["X!../../evil.warc.gz: 3", "X!/etc/evil.warc: 0"]
    assert [each.name for each in tmp_path.iterdir()] == ["x.wacz"]


@pytest.mark.parametrize("cut", [22, 100, 250])
def test_a_package_without_its_directory_is_searched_for_records(tmp_path: Path, cut: int) -> None:
    path = package(tmp_path, ("archive/a.warc.gz", ARCHIVE.data))
    path.write_bytes(path.read_bytes()[:-cut])
    wrong, rest = read(path)
    assert wrong.startswith("X: the zip file is damaged")
    assert rest in ("X: 3", "X: 2")


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = package(tmp_path, ("archive/a.warc", b"\0" * 50_000_000), compression=zipfile.ZIP_DEFLATED)
    (told,) = read(path)
    assert "it would grow from" in told


def test_no_room_to_unpack_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = package(tmp_path, ("a.warc.gz", ARCHIVE.data), compression=zipfile.ZIP_DEFLATED)
    monkeypatch.setattr("gossamer.archive.package.TemporaryFile", lambda: Path("/dev/full").open("wb", buffering=0))  # noqa: SIM115
    (told,) = read(path)
    assert "it can't be unpacked among the temporary files (No space left on device; see TMPDIR)" in told


def test_what_can_not_be_read_is_told(tmp_path: Path) -> None:
    path = package(tmp_path, ("archive/a.warc.gz", ARCHIVE.data), ("inner.wacz", b""))
    assert read(path)[1] == "X!inner.wacz: it is not read from within a package; import it by itself"
    data = bytearray(path.read_bytes())
    at = data.find(b"PK\x01\x02", data.find(b"PK\x01\x02") + 1)
    data[at + 8] |= 1  # "encrypted", of the second entry
    path.write_bytes(data)
    assert read(path)[0] == "X!archive/a.warc.gz: it is encrypted"
    data[at + 8] &= 0xFE
    data[at + 42 : at + 46] = (1).to_bytes(4, "little")  # where it begins
    path.write_bytes(data)
    assert read(path)[0].startswith("X!archive/a.warc.gz: it can't be unpacked")


def test_damage_in_a_deflated_file_is_told(tmp_path: Path) -> None:
    path = package(tmp_path, ("archive/a.warc", pages(3, is_gzip=False).data), compression=zipfile.ZIP_DEFLATED)
    data = bytearray(path.read_bytes())
    data[200] ^= 0xFF
    path.write_bytes(data)
    assert read(path)[0].startswith("X!archive/a.warc: it can't be unpacked")


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no file"), opened(tmp_path):
        pass
    with pytest.raises(UsageError, match="can't be read"), opened(tmp_path / "none"):
        pass


def test_a_part_says_which_bytes_it_has(tmp_path: Path) -> None:
    path = package(tmp_path, ("archive/a.warc.gz", ARCHIVE.data))
    with opened(path) as parts:
        (part,) = parts
        assert isinstance(part, Part)
        part.file.seek(part.start)
        assert io.BytesIO(part.file.read(part.end - part.start)).getvalue() == ARCHIVE.data


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"),
        (b"filedesc://x.arc 0.0.0.0 20080602165933 text/plain 77\n1 0 InternetArchive\n", "it is an ARC file"),
        (gzip.compress(b"filedesc://x.arc 0.0.0.0 20080602165933 text/plain 77\n"), "it is an ARC file"),
        (zstandard.compress(ARCHIVE.data), "it is compressed with zstd"),
        (b"\x5d\x2a\x4d\x18\x04\0\0\0" + ARCHIVE.data, "it is compressed with zstd"),
        (bz2.compress(ARCHIVE.data), "it is compressed in a way that is not read"),
        (lzma.compress(ARCHIVE.data), "it is compressed in a way that is not read"),
        (b"x.warc" + b"\0" * 251 + b"ustar\x0000" + b"\0" * 300, "it is a tar file"),
        (gzip.compress(b"x.warc" + b"\0" * 251 + b"ustar\x0000" + b"\0" * 300), "it is a tar file"),
    ],
    ids=["empty", "arc", "arc.gz", "zst", "zst with a dictionary", "bz2", "xz", "tar", "tar.gz"],  # gzip holds the time
)
def test_a_file_of_another_format_is_called_by_its_name(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(data)
    (told,) = read(path)
    assert told.startswith(f"X: {message}")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hello.txt", "X: there is no WARC file in this zip file"),
        ("http://a.test/index.html", "X: it is a cache of HTTrack"),
        ("archive/a.arc.gz", "X!archive/a.arc.gz: it is not read from within a package"),
        ("archive/a.warc.zst", "X!archive/a.warc.zst: it is not read from within a package"),
        ("b.wacz", "X!b.wacz: it is not read from within a package"),
    ],
)
def test_a_zip_file_without_warc_files_is_told(tmp_path: Path, name: str, message: str) -> None:
    (told,) = read(package(tmp_path, (name, ARCHIVE.data)))
    assert told.startswith(message)
