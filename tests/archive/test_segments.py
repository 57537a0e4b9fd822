import os
from dataclasses import replace
from pathlib import Path

import pytest

from gossamer.archive.disk import DiskFull
from gossamer.archive.reader import scan
from gossamer.archive.segments import Segment, repair, segment_path, segment_uri
from gossamer.errors import ArchiveError

from .samples import ALL_KINDS, NOON, BreakingDisk, exchange, writer


def written(collection: Path) -> Segment:
    """A segment with two synced exchanges."""
    archive = writer(collection)
    for kind in ("plain", "gzip"):
        archive.append(ALL_KINDS[kind])
    (segment,) = archive.sync()
    archive.close()
    return segment


def test_a_name_carries_who_wrote_it() -> None:
    uri = segment_uri("example.org", at=NOON, owner="node-7/a b", epoch=12, segment=3)
    assert uri == "warc/example.org-20260101000000123-node_7_a_b-12-00003.warc.gz"


@pytest.mark.parametrize("prefix", ["", "../../etc", "...", "[::1]:8080", "x" * 500, "dépôt"])
def test_any_prefix_gives_a_name_that_may_be_opened(prefix: str, tmp_path: Path) -> None:
    uri = segment_uri(prefix, at=NOON, owner="", epoch=1, segment=1)
    assert segment_path(tmp_path, uri).parent == tmp_path / "warc"
    assert len(Path(uri).name) < 200


@pytest.mark.parametrize(
    "uri",
    [
        "../crawl.db",
        "warc/../../x.warc.gz",
        "/etc/passwd",
        "warc/a/b.warc.gz",
        "warc/.hidden.warc.gz",
        "warc/x.warc.gz\n",
        "warc/",
        "",
    ],
)
def test_a_row_can_not_lead_out_of_the_collection(uri: str, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="no name of a segment"):
        segment_path(tmp_path, uri)


def test_a_linked_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "warc").symlink_to("elsewhere")
    with pytest.raises(ArchiveError, match="link"):
        segment_path(tmp_path, "warc/x.warc.gz")


def test_nothing_to_repair(tmp_path: Path) -> None:
    segment = written(tmp_path)
    assert repair(tmp_path, [segment]) == ()
    assert repair(tmp_path / "new", []) == ()


@pytest.mark.parametrize("tail", [b"\x1f", b"torn", b"\0" * 100_000])
def test_a_torn_tail_is_cut(tail: bytes, tmp_path: Path) -> None:
    segment = written(tmp_path)
    path = tmp_path / segment.uri
    before = path.read_bytes()
    path.write_bytes(before + tail)
    (note,) = repair(tmp_path, [segment])
    assert f"cut {len(tail)} bytes" in note
    assert path.read_bytes() == before
    assert repair(tmp_path, [segment]) == ()


def test_whole_records_that_no_row_speaks_of_are_cut_too(tmp_path: Path) -> None:
    segment = written(tmp_path)
    archive = writer(tmp_path, resume=segment)
    archive.append(exchange())
    archive.close()
    repair(tmp_path, [segment])
    assert sum(record.length for record in scan(tmp_path / segment.uri)) == segment.bytes


@pytest.mark.parametrize("sealed", [False, True])
def test_missing_bytes_are_named(sealed: bool, tmp_path: Path) -> None:
    segment = replace(written(tmp_path), sealed=sealed)
    path = tmp_path / segment.uri
    os.truncate(path, 100)
    with pytest.raises(ArchiveError, match=rf"{path.name} is too short: bytes 100 to {segment.bytes} are lost"):
        repair(tmp_path, [segment])
    path.unlink()
    with pytest.raises(ArchiveError, match=f"bytes 0 to {segment.bytes}"):
        repair(tmp_path, [segment])
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ArchiveError, match=f"bytes 0 to {segment.bytes}"):
        repair(tmp_path, [segment])


def test_a_segment_without_a_row_is_set_aside_and_foreign_files_are_left(tmp_path: Path) -> None:
    segment = written(tmp_path)
    foreign = tmp_path / "warc" / "mine.warc.gz"
    foreign.write_bytes(b"")
    (note,) = repair(tmp_path, [])
    assert "set aside" in note
    assert sorted(path.name for path in (tmp_path / "warc").iterdir()) == [
        Path(segment.uri).name + ".stray",
        "mine.warc.gz",
    ]


@pytest.mark.parametrize("fail_at", [1, 2])
def test_a_repair_that_fails_says_so(fail_at: int, tmp_path: Path) -> None:
    segment = written(tmp_path)
    with (tmp_path / segment.uri).open("ab") as file:
        file.write(b"torn")
    with pytest.raises(ArchiveError, match=r"can't be written"):
        repair(tmp_path, [segment], disk=BreakingDisk(fail_at))
    repair(tmp_path, [segment])
    assert (tmp_path / segment.uri).stat().st_size == segment.bytes


def test_a_full_disk_is_told_from_a_broken_one(tmp_path: Path) -> None:
    written(tmp_path)
    with pytest.raises(DiskFull, match="the disk is full"):
        repair(tmp_path, [], disk=BreakingDisk(1, error=28))
