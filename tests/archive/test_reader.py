import os
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from isal import isal_zlib

from gossamer.archive.reader import ScannedRecord, StoredRecord, read_record, scan
from gossamer.archive.segments import Segment
from gossamer.archive.warc import GZIP_HEADER, Record
from gossamer.errors import ArchiveError
from gossamer.records import RecordPlace

from .samples import ALL_KINDS, exchange, head, writer

URI = "warc/made.warc.gz"
NEEDED = (
    ("WARC-Type", "response"),
    ("WARC-Record-ID", "<urn:uuid:11111111-1111-4111-8111-111111111111>"),
    ("WARC-Date", "2026-01-01T00:00:00.123Z"),
)
MAKERS: dict[str, Callable[[Path], None]] = {
    "link": lambda path: path.symlink_to(path.parents[1] / "elsewhere"),
    "pipe": os.mkfifo,
    "folder": Path.mkdir,
    "missing": lambda path: None,
}


def made(collection: Path, *members: bytes) -> Path:
    """A segment of these members, whatever is wrong with them."""
    path = collection / URI
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(members))
    return path


def place(member: bytes, offset: int = 0) -> RecordPlace:
    return RecordPlace(1, offset, len(member))


@pytest.fixture
def segment(tmp_path: Path) -> Segment:
    """All kinds of records."""
    archive = writer(tmp_path)
    for sample in ALL_KINDS.values():
        archive.append(sample)
    (row,) = archive.sync()
    archive.close()
    return row


def test_a_record_tells_what_it_is() -> None:
    answer = StoredRecord(
        (("warc-type", "response"), ("warc-date", "2026-01-01T00:00:00.123Z")),
        head("HTTP/1.1 404 Not Found", "Content-Type: Text/HTML", "Set-Cookie: a", "set-cookie:b", "X: c", "  d", "é"),
        b"",
    )
    assert answer.status == 404
    assert answer.date == 1_767_225_600.123
    assert answer.http_headers == (
        ("content-type", "Text/HTML"),
        ("set-cookie", "a"),
        ("set-cookie", "b"),
        ("x", "c d"),
    )
    assert answer.refers_to is None
    assert StoredRecord((), b"", b"").status == 0


def test_every_truncation_is_seen(segment: Segment, tmp_path: Path) -> None:
    """Where a record ends at the cut the file is whole but too short: that is what the row knows."""
    path = tmp_path / segment.uri
    data = path.read_bytes()
    whole = list(scan(path))
    ends = {record.offset + record.length for record in whole}
    dice = random.Random(1)
    for size in dice.sample(range(len(data)), 300):
        os.truncate(path, size)
        short = list(scan(path, end=segment.bytes))
        assert any(record.problems for record in short)
        assert [record.offset for record in short] == sorted(record.offset for record in short)
        assert any(record.problems for record in scan(path)) == (size not in ends and size > 0)
        path.write_bytes(data)


def test_every_flipped_bit_is_seen(segment: Segment, tmp_path: Path) -> None:
    """But a few that deflate has no use for (the padding of its last byte): the digests say that nothing changed."""
    path = tmp_path / segment.uri
    data = path.read_bytes()
    whole = list(scan(path))
    dice = random.Random(2)
    unseen = 0
    for position in dice.sample(range(len(data) * 8), 300):
        damaged = bytearray(data)
        damaged[position // 8] ^= 1 << position % 8
        path.write_bytes(damaged)
        found = list(scan(path))
        if not any(record.problems for record in found):
            unseen += 1
            assert found == whole
    assert unseen < 10


def test_damage_in_the_middle_costs_one_record(segment: Segment, tmp_path: Path) -> None:
    path = tmp_path / segment.uri
    whole = list(scan(path))
    victim = whole[7]
    with path.open("r+b") as file:
        file.seek(victim.offset + 40)
        file.write(b"\xff" * 30)
    found = list(scan(path))
    assert [record for record in found if not record.problems] == whole[:7] + whole[8:]
    (damage,) = (record for record in found if record.problems)
    assert (damage.offset, damage.length, damage.type) == (victim.offset, victim.length, "")
    with pytest.raises(ArchiveError, match=f"{path.name} is damaged at byte {victim.offset}"):
        read_record(tmp_path, segment.uri, RecordPlace(1, victim.offset, victim.length))


def test_what_is_no_record_is_reported_to_its_end(tmp_path: Path) -> None:
    path = made(tmp_path, b"\0" * 100_000, Record(NEEDED, (b"",)).member(), b"junk")
    found = list(scan(path))
    assert [(record.offset, record.type, bool(record.problems)) for record in found] == [
        (0, "", True),
        (100_000, "response", False),
        (found[2].offset, "", True),
    ]
    assert found[2].length == 4


@pytest.mark.parametrize("name", ["WARC-Block-Digest", "WARC-Payload-Digest"])
def test_a_wrong_digest_is_named(name: str, tmp_path: Path) -> None:
    path = made(tmp_path, Record((*NEEDED, (name, "sha256:00")), (b"HTTP/1.1 200 OK\r\n\r\nbody",)).member())
    (record,) = scan(path)
    assert record.problems == (f"{name.split('-')[1].lower()} digest is wrong",)


@pytest.mark.parametrize(
    ("member", "words"),
    [
        (b"", "no gzip member"),
        (b"junk" * 10, "no gzip member"),
        (GZIP_HEADER, "no head"),
        (Record((), (b"",)).member(), "missing"),
        (Record((*NEEDED, ("WARC-Type", "request")), (b"",)).member(), "twice"),
        (Record((*NEEDED, ("Content-Length", "5")), (b"",)).member(), "twice"),
        (Record((*NEEDED[:2], ("WARC-Date", "yesterday")), (b"",)).member(), "date"),
        (Record((*NEEDED[:2], ("WARC-Date", "2026-01-01")), (b"",)).member(), "date"),
        (Record((*NEEDED, ("X", "y" * 300_000)), (b"",)).member(), "no head"),
    ],
)
def test_what_is_no_whole_record_is_refused(member: bytes, words: str, tmp_path: Path) -> None:
    path = made(tmp_path, member)
    with pytest.raises(ArchiveError, match=words):
        read_record(tmp_path, URI, place(member))
    assert all(record.problems and words in record.problems[0] for record in scan(path))


@pytest.mark.parametrize("length", [b"5", b"3", b"-1", b"1e3", b"0x4", b"9999999999999"])
def test_a_length_that_lies_is_refused(length: bytes, tmp_path: Path) -> None:
    true = b"Content-Length: 4"
    record = Record(NEEDED, (b"body",))
    member = record.member()
    lying = _repack(member, true, b"Content-Length: " + length)
    made(tmp_path, lying)
    with pytest.raises(ArchiveError, match=r"length|cut short"):
        read_record(tmp_path, URI, place(lying))


def _repack(member: bytes, old: bytes, new: bytes) -> bytes:
    return isal_zlib.compress(isal_zlib.decompress(member, 31).replace(old, new), 1, 31)


@pytest.mark.parametrize("change", [RecordPlace(1, 0, -1), RecordPlace(1, 0, 1), RecordPlace(1, 1, 0)])
def test_a_wrong_place_is_refused(change: RecordPlace, tmp_path: Path) -> None:
    member = Record(NEEDED, (b"HTTP/1.1 200 OK\r\n\r\n",)).member()
    made(tmp_path, member, member)
    with pytest.raises(ArchiveError, match=f"damaged at byte {change.offset}"):
        read_record(tmp_path, URI, RecordPlace(1, change.offset, len(member) + change.length))
    with pytest.raises(ArchiveError):
        read_record(tmp_path, URI, RecordPlace(1, 10 * len(member), 5))


@pytest.mark.parametrize("kind", MAKERS)
def test_a_file_that_is_no_file_is_refused(kind: str, tmp_path: Path) -> None:
    member = Record(NEEDED, (b"",)).member()
    path = made(tmp_path, member)
    path.rename(tmp_path / "elsewhere")
    MAKERS[kind](path)
    with pytest.raises(ArchiveError):
        read_record(tmp_path, URI, place(member))
    with pytest.raises(ArchiveError, match="can't be read"):
        list(scan(path))


def test_a_bomb_costs_no_memory(tmp_path: Path) -> None:
    member = Record((*NEEDED, ("Content-Type", "application/http")), (b"\0" * 50_000_000,)).member()
    path = made(tmp_path, member)
    tracemalloc.start()
    with pytest.raises(ArchiveError, match="50000000 bytes is too large"):
        read_record(tmp_path, URI, place(member), max_block=1_000_000)
    assert [record.problems for record in scan(path)] == [()]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


def test_a_running_crawl_can_be_scanned(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    archive.append(exchange())
    (row,) = archive.sync()
    archive.append(exchange(body=b"not durable yet"))
    found = list(scan(tmp_path / row.uri, end=row.bytes))
    archive.close()
    assert [record.type for record in found] == ["warcinfo", "response", "request"]
    assert isinstance(found[0], ScannedRecord)
