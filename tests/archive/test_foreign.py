"""WARC files of others: all that is whole is read, and what is not is told with its place."""

import base64
import errno
import gzip
import hashlib
import io
import os
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.foreign import Archive, in_blocks, in_one_stream, pages, raw_record
from gossamer.archive.foreign import Broken, ForeignRecord, read_archive

ZIPPED = pages(6)
PLAIN = pages(6, is_gzip=False)


def read(data: bytes, *, start: int = 0, max_block: int = 1 << 20) -> list[ForeignRecord | Broken]:
    return list(read_archive(io.BytesIO(data), start, len(data), max_block=max_block))


def told(data: bytes) -> list[str]:
    """The path of each record that was read, and the place of each that was not."""
    return [
        each.field("warc-target-uri").removeprefix("http://a.test")
        if isinstance(each, ForeignRecord)
        else f"!{each.place}"
        for each in read(data)
    ]


ALL = ["/0", "/1", "/2", "/3", "/4", "/5"]


@pytest.mark.parametrize(
    "data",
    [
        ZIPPED.data,
        PLAIN.data,
        in_one_stream(PLAIN.data),
        in_blocks(PLAIN.data, 777),
        PLAIN.data.replace(b"\r\n\r\nWARC/", b"\r\n\r\n\r\n\nWARC/"),
        ZIPPED.data + b"\r\n",
    ],
    ids=["member a record", "plain", "one stream", "members anywhere", "more empty lines", "an empty line at the end"],
)
def test_it_is_read_however_it_is_compressed(data: bytes) -> None:
    assert told(data) == ALL


def test_a_record_has_its_fields_and_its_block() -> None:
    (record,) = read(pages(1).data)
    assert isinstance(record, ForeignRecord)
    assert record.type == "response"
    assert record.field("warc-date") == "2026-01-31T12:00:00Z"
    assert record.block.startswith(b"HTTP/1.1 200 OK\r\n")
    assert record.size == len(record.block)


def test_the_place_of_a_record_is_its_byte_and_in_one_stream_how_far_inside() -> None:
    assert [str(each.place) for each in read(ZIPPED.data)] == [str(offset) for offset in ZIPPED.offsets]
    assert [str(each.place) for each in read(PLAIN.data)] == [str(offset) for offset in PLAIN.offsets]
    inside = [f"0+{offset}" if offset else "0" for offset in PLAIN.offsets]
    assert [str(each.place) for each in read(in_one_stream(PLAIN.data))] == inside


def test_forms_that_some_writers_have() -> None:
    block = b"HTTP/1.0 200 OK\r\n\r\nhi"
    data = b"WARC/0.18\nWARC-Type:Response\nWARC-Target-URI: <http://a.test/x>\nX-Note: one\n\ttwo\n"
    data += b"Content-Length:%d\n\n%s\n\n" % (len(block), block)
    (record,) = read(data)
    assert isinstance(record, ForeignRecord)
    assert (record.type, record.field("warc-target-uri"), record.field("x-note")) == (
        "response",
        "<http://a.test/x>",
        "one two",
    )


def cut(archive: Archive, at: int) -> bytes:
    return archive.data[: archive.offsets[4] + at]


@pytest.mark.parametrize("archive", [ZIPPED, PLAIN], ids=["gzip", "plain"])
@pytest.mark.parametrize("at", [1, 9, 100, 200])
def test_a_file_that_is_cut_ends_with_its_last_whole_record(archive: Archive, at: int) -> None:
    assert told(cut(archive, at)) == [*ALL[:4], f"!{archive.offsets[4]}"]


def test_one_stream_that_is_cut() -> None:
    data = in_one_stream(PLAIN.data)
    found = told(data[:-8])  # without its checksum
    assert found[:-1] == ALL[:5]  # what it proves is not known of the last
    assert found[-1].startswith("!0")
    found = told(data[: len(data) * 2 // 3])
    assert found[:-1] == ALL[: len(found) - 1]


def test_a_checksum_that_is_wrong_leaves_its_record_out() -> None:
    data = bytearray(ZIPPED.data)
    data[ZIPPED.offsets[3] - 8] ^= 1
    assert told(bytes(data)) == ["/0", "/1", f"!{ZIPPED.offsets[2]}", "/3", "/4", "/5"]


@pytest.mark.parametrize("archive", [ZIPPED, PLAIN], ids=["gzip", "plain"])
def test_garbage_between_records_is_passed_over_and_told(archive: Archive) -> None:
    place = archive.offsets[2]
    assert told(archive.data[:place] + b"\0garbage" * 50 + archive.data[place:]) == ["/0", "/1", f"!{place}", *ALL[2:]]


def test_a_flipped_byte_of_a_block_is_told_by_its_digest() -> None:
    data = PLAIN.data.replace(b"page 3 ", b"page 8 ", 1)
    assert told(data) == ["/0", "/1", "/2", f"!{PLAIN.offsets[3]}", "/4", "/5"]


@pytest.mark.parametrize("pack", [bytes, in_one_stream], ids=["plain", "one stream"])
@pytest.mark.parametrize("length", [b"1", b"1900", b"9000", b"999999999"])
def test_a_wrong_length_costs_one_record(pack: Callable[[bytes], bytes], length: bytes) -> None:
    right = b"Content-Length: " + PLAIN.data.split(b"Content-Length: ")[1].split(b"\r\n")[0]
    found = told(pack(PLAIN.data.replace(right, b"Content-Length: " + length, 1)))
    assert found == ["!0", *ALL[1:]]


@pytest.mark.parametrize("length", [b"-1", b"", b"1e3", b"99999999999999999", "\u0663".encode()])
def test_a_length_that_is_none(length: bytes) -> None:
    data = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: " + length + b"\r\n\r\nx\r\n\r\n"
    assert told(data + pages(1, is_gzip=False).data) == ["!0", "/0"]


def test_what_is_no_archive_at_all() -> None:
    assert read(b"") == []
    assert told(b"hello " * 100) == ["!0"]
    assert told(b"\x1f\x8b\x08" + b"\0" * 100) == ["!0"]
    assert told(gzip.compress(b"hello " * 100)) == ["!0"]


class BadDisk(io.BytesIO):
    """Reads no byte behind ``end``."""

    end = 2 * len(PLAIN.data) // 3 + 100

    def read(self, size: int | None = -1, /) -> bytes:
        if self.tell() >= self.end:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().read(min(size or 0, self.end - self.tell()))


def test_a_disk_that_reads_no_further_ends_the_archive() -> None:
    *whole, last = read_archive(BadDisk(PLAIN.data), 0, len(PLAIN.data), max_block=1 << 20)
    assert len(whole) == 4
    assert isinstance(last, Broken)
    assert (last.place.offset, last.message) == (BadDisk.end, "the file can't be read any further (Input/output error)")


def test_a_part_of_a_file_is_read_as_a_file() -> None:
    data = b"\0" * 123 + ZIPPED.data
    (first, *_) = read(data, start=123)
    assert str(first.place) == "123"


def test_revisits_of_wget_carry_the_digest_of_what_they_leave_out() -> None:
    archive = Archive()
    archive.revisit("http://a.test/", refers_to={}, digest="sha1:AAA", date="2026-01-01T00:00:00Z")
    data = gzip.decompress(archive.data).replace(b"WARC-Block-Digest: sha1:", b"WARC-Block-Digest: sha1:A")
    assert told(data) == ["/"]


def test_memory_is_bounded_by_what_is_asked_for_and_not_by_what_a_file_claims() -> None:
    archive = Archive()
    archive.add("http://a.test/bomb", b"\0" * 50_000_000)
    archive.add("http://a.test/after", b"x")
    assert len(archive.data) < 200_000
    tracemalloc.start()
    try:
        bomb, after = read(archive.data, max_block=1000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(bomb, ForeignRecord)
    assert isinstance(after, ForeignRecord)
    assert (len(bomb.block), bomb.size > 50_000_000) == (1000, True)
    assert peak < 5_000_000


def test_a_head_without_end_is_given_up() -> None:
    assert told(b"WARC/1.0\r\n" + b"X-Long: " + b"a" * 3_000_000 + b"\r\n\r\n" + pages(1, is_gzip=False).data) == [
        "!0",
        "/0",
    ]


@given(data=st.data())
def test_whatever_is_broken_whole_records_behind_it_are_read(data: st.DataObject) -> None:
    archive = data.draw(st.sampled_from([ZIPPED, PLAIN]))
    at = data.draw(st.integers(archive.offsets[1], archive.offsets[4] - 1))
    broken = bytearray(archive.data)
    piece = data.draw(st.binary(min_size=1, max_size=40))
    if data.draw(st.booleans()):
        broken[at : at + len(piece)] = piece
    else:
        del broken[at : at + len(piece)]
    found = told(bytes(broken))
    whole = [path for path in found if not path.startswith("!")]
    assert whole[0] == "/0"
    assert whole[-1] == "/5"
    assert len(whole) >= 2


@given(st.binary(max_size=3000))
def test_anything_at_all_is_read_to_its_end(data: bytes) -> None:
    read(data)
    read(b"WARC/1.0\r\n" + data)
    read(gzip.compress(b"WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n" + data))


_BLOCK = b"HTTP/1.1 200 OK\r\n\r\nbody"
_SHA1, _SHA256 = hashlib.sha1(_BLOCK).digest(), hashlib.sha256(_BLOCK).digest()


@pytest.mark.parametrize(
    ("digest", "is_right"),
    [
        (f"sha1:{base64.b32encode(_SHA1).decode()}", True),
        (f"sha1:{base64.b32encode(_SHA1).decode().lower()}", True),
        (f"SHA-1:{_SHA1.hex().upper()}", True),
        (f"sha256:{base64.b32encode(_SHA256).decode().rstrip('=')}", True),
        (f"sha256:{base64.b64encode(_SHA256).decode()}", True),
        (f"sha-256:{base64.urlsafe_b64encode(_SHA256).decode().rstrip('=')}", True),
        ("sha1:", True),
        ("sha1:something else", True),
        ("xxh3:0123456789abcdef", True),
        (f"sha1:{'A' * 32}", False),
        (f"sha1:{'0' * 40}", False),
        (f"sha256:{'A' * 43}=", False),
    ],
)
def test_digests_are_told_wrong_only_where_they_can_be_read(digest: str, is_right: bool) -> None:
    record = raw_record(
        {"WARC-Type": "response", "WARC-Target-URI": "http://a.test/", "WARC-Block-Digest": digest}, _BLOCK
    )
    assert told(record) == ["/" if is_right else "!0"]
