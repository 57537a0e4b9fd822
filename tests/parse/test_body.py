"""Transfer and content codings, undone under limits."""

import gzip
import random
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.body import MAX_CODINGS, dechunk, decode, undo
from gossamer.parse.codings import CHUNK
from gossamer.records import Failure, FailureKind

LIMIT = 10_000_000
PAGE = random.Random(1).randbytes(300_000).hex().encode()


def raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


def checked_zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def fast_brotli(data: bytes) -> bytes:
    return bytes(brotli.compress(data, quality=3))


def streamed_zstd(data: bytes) -> bytes:
    """Without the content's size in the frame, as servers send it."""
    engine = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    return engine.compress(data) + engine.flush()


CODERS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("x-gzip", gzip.compress),
    ("deflate", zlib.compress),
    ("deflate", raw_deflate),
    ("br", fast_brotli),
    ("zstd", checked_zstd),
    ("zstd", streamed_zstd),
]
BY_CODER = pytest.mark.parametrize(("name", "code"), CODERS, ids=lambda each: getattr(each, "__name__", each))


def encoded(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple(("content-encoding", name) for name in names)


def chunk(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def kind_of(answer: bytes | Failure) -> FailureKind | None:
    return answer.kind if isinstance(answer, Failure) else None


@BY_CODER
@given(data=st.binary(max_size=100_000).map(lambda some: some * 5))
def test_every_coding_comes_back(name: str, code: Callable[[bytes], bytes], data: bytes) -> None:
    assert decode(encoded(name.upper()), code(data), LIMIT) == data


@BY_CODER
@pytest.mark.parametrize("size", [CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 2_000_000])
def test_long_bodies_come_back_whatever_their_size_is_to_the_steps(
    name: str, code: Callable[[bytes], bytes], size: int
) -> None:
    for data in (bytes(size), random.Random(size).randbytes(size), b"%d" * (size // 2)):
        assert decode(encoded(name), code(data), LIMIT) == data


@BY_CODER
def test_a_missing_end_is_noticed_wherever_the_cut_is(name: str, code: Callable[[bytes], bytes]) -> None:
    whole = code(PAGE)
    for cut in {1, 2, 5, 11, len(whole) // 2, len(whole) - 9, len(whole) - 4, len(whole) - 1}:
        answer = decode(encoded(name), whole[:cut], LIMIT)
        assert kind_of(answer) is FailureKind.BODY_TRUNCATED, cut
        partial = decode(encoded(name), whole[:cut], LIMIT, partial=True)
        assert isinstance(partial, bytes)
        assert PAGE.startswith(partial)
    assert len(undo(encoded(name), whole[: len(whole) // 2], LIMIT).data) > 10_000


@BY_CODER
def test_damage_is_noticed(name: str, code: Callable[[bytes], bytes]) -> None:
    whole = bytearray(code(PAGE))
    whole[1] ^= 0xFF
    whole[len(whole) // 2] ^= 0xFF
    whole[len(whole) // 2 + 1] ^= 0xFF
    assert decode(encoded(name), bytes(whole), LIMIT) != PAGE


@BY_CODER
def test_plain_bytes_are_no_coding(name: str, code: Callable[[bytes], bytes]) -> None:
    answer = decode(encoded(name), b"<!doctype html><p>not compressed at all", LIMIT)
    assert kind_of(answer) in (FailureKind.BODY_UNDECODABLE, FailureKind.BODY_TRUNCATED)


@BY_CODER
def test_an_empty_body_is_empty_whatever_it_is_said_to_be(name: str, code: Callable[[bytes], bytes]) -> None:
    assert decode(encoded(name), b"", LIMIT) == b""


@BY_CODER
def test_bombs_stop_at_the_limit_and_no_more_is_held(name: str, code: Callable[[bytes], bytes]) -> None:
    bomb = code(bytes(64 * 1024 * 1024))
    tracemalloc.start()
    answer = decode(encoded(name), bomb, 1_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert kind_of(answer) is FailureKind.BODY_BOMB
    assert peak < 4_000_000
    assert len(undo(encoded(name), bomb, 1_000_000).data) <= 1_000_000 + CHUNK


def test_a_bomb_in_a_bomb_stops_at_the_limit_too() -> None:
    bomb = gzip.compress(gzip.compress(bytes(64 * 1024 * 1024)))
    assert kind_of(decode(encoded("gzip, gzip"), bomb, 1_000_000)) is FailureKind.BODY_BOMB


def test_the_limit_itself_is_allowed() -> None:
    assert decode(encoded("gzip"), gzip.compress(bytes(1000)), 1000) == bytes(1000)
    assert kind_of(decode(encoded("gzip"), gzip.compress(bytes(1001)), 1000)) is FailureKind.BODY_BOMB


def test_the_limit_is_for_what_grows() -> None:
    """A body without compression is as long as it came, and that has a bound of its own."""
    assert decode((), b"x" * 1001, 1000) == b"x" * 1001
    assert decode(encoded("identity"), b"x" * 1001, 1000) == b"x" * 1001
    assert decode((("transfer-encoding", "chunked"),), b"3e9\r\n" + b"x" * 1001 + b"\r\n0\r\n\r\n", 1000) == b"x" * 1001


@pytest.mark.parametrize("headers", [encoded("gzip, br"), encoded("gzip", "br"), encoded("identity, gzip ,, br")])
def test_several_codings_are_undone_from_the_last(headers: tuple[tuple[str, str], ...]) -> None:
    assert decode(headers, brotli.compress(gzip.compress(PAGE)), LIMIT) == PAGE


def test_transfer_codings_come_off_before_content_codings() -> None:
    headers = (*encoded("br"), ("transfer-encoding", "gzip, chunked"))
    assert decode(headers, chunk(gzip.compress(brotli.compress(PAGE))), LIMIT) == PAGE


def test_too_many_codings_are_not_undone() -> None:
    body = b"x"
    for _ in range(MAX_CODINGS + 1):
        body = gzip.compress(body)
    assert kind_of(decode(encoded(",".join(["gzip"] * (MAX_CODINGS + 1))), body, LIMIT)) is FailureKind.BODY_UNDECODABLE


@pytest.mark.parametrize("name", ["", "identity", "none", "utf-8", "BINARY"])
def test_what_is_no_coding_changes_nothing(name: str) -> None:
    assert decode(encoded(name), PAGE, 10) == PAGE


def test_an_unknown_coding_is_undecodable_and_the_body_is_kept() -> None:
    undone = undo(encoded("sdch"), PAGE, LIMIT)
    assert undone.data == PAGE
    assert undone.failure == Failure(FailureKind.BODY_UNDECODABLE, "unknown coding 'sdch'")


def test_gzip_members_follow_one_another_and_padding_is_ignored() -> None:
    members = gzip.compress(PAGE) + gzip.compress(b"") + gzip.compress(PAGE)
    assert decode(encoded("gzip"), members, LIMIT) == PAGE * 2
    assert decode(encoded("gzip"), members + bytes(512), LIMIT) == PAGE * 2
    assert kind_of(decode(encoded("gzip"), members[:-1], LIMIT)) is FailureKind.BODY_TRUNCATED


def test_zstd_frames_follow_one_another_with_others_to_skip() -> None:
    skipped = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
    frames = checked_zstd(PAGE) + skipped + streamed_zstd(PAGE)
    assert decode(encoded("zstd"), frames, LIMIT) == PAGE * 2
    assert decode(encoded("zstd"), frames + b"padding", LIMIT) == PAGE * 2
    assert kind_of(decode(encoded("zstd"), frames + skipped[:-1], LIMIT)) is FailureKind.BODY_TRUNCATED


def test_a_zstd_window_over_8_mb_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters.from_level(3, window_log=25)
    engine = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    body = engine.compress(PAGE) + engine.flush()
    assert kind_of(decode(encoded("zstd"), body, LIMIT)) is FailureKind.BODY_UNDECODABLE


@given(st.lists(st.binary(min_size=1, max_size=1000)), st.sampled_from([b"", b";a=b", b' ; q="x"']))
def test_chunks_come_back(parts: list[bytes], extension: bytes) -> None:
    body = b"".join(b"%X%s\r\n%s\r\n" % (len(part), extension, part) for part in parts) + b"0\r\nTrailer: x\r\n\r\n"
    assert dechunk(body) == (b"".join(parts), True)
    for cut in range(0, len(body) - 15, 97):
        data, complete = dechunk(body[:cut])
        assert not complete
        assert b"".join(parts).startswith(data)


@given(st.binary(max_size=300))
def test_any_bytes_are_dechunked_to_no_more_than_they_are(body: bytes) -> None:
    data, _ = dechunk(body)
    assert len(data) <= len(body)


@pytest.mark.parametrize(
    ("body", "data", "complete"),
    [
        (b"", b"", False),
        (b"0\r\n\r\n", b"", True),
        (b"3\nabc\n0\n\n", b"abc", True),
        (b"3\r\nabcd\r\n0\r\n\r\n", b"abc", False),
        (b"-3\r\nabc", b"", False),
        (b"+3\r\nabc", b"", False),
        (b"0x3\r\nabc\r\n0\r\n\r\n", b"", False),
        (b"FFFFFFFFFFFFFFFFFF\r\nabc", b"", False),
        (b"FFFFFFFFFFFFFFFF\r\nabc", b"abc", False),
        (b"3\r\nabc\r\n\r\n0\r\n", b"abc", False),
        (b"3;" + b"x" * 10_000 + b"\r\nabc\r\n0\r\n\r\n", b"", False),
    ],
)
def test_hostile_chunks(body: bytes, data: bytes, complete: bool) -> None:
    assert dechunk(body) == (data, complete)


def test_missing_chunks_are_a_truncated_body_unless_the_transfer_was_cut() -> None:
    headers = (("transfer-encoding", "chunked"),)
    assert kind_of(decode(headers, b"3\r\nabc\r\n", LIMIT)) is FailureKind.BODY_TRUNCATED
    assert decode(headers, b"3\r\nabc\r\n5\r\nde", LIMIT, partial=True) == b"abcde"


@pytest.mark.parametrize(
    ("content_type", "url", "stays"),
    [
        ("application/gzip", "http://h/x", True),
        ("application/x-gzip; q=1", "http://h/x", True),
        ("application/octet-stream", "http://h/dump.sql.GZ?x", True),
        ("", "http://h/a.tgz", True),
        ("text/html", "http://h/page.html.gz", False),
        ("text/plain", "http://h/changelog.gz", False),
        ("image/svg+xml", "http://h/picture.svg.gz", False),
        ("application/octet-stream", "http://h/page", False),
    ],
)
def test_a_gz_file_that_is_just_a_file_stays_one(content_type: str, url: str, *, stays: bool) -> None:
    body = gzip.compress(PAGE)
    headers = (*encoded("gzip"), ("content-type", content_type))
    assert decode(headers, body, LIMIT, url=url) == (body if stays else PAGE)
    assert decode((("content-type", content_type),), body, LIMIT, url=url) == body


@given(
    st.binary(max_size=500), st.lists(st.sampled_from(["gzip", "deflate", "br", "zstd", "chunked", "x"]), max_size=4)
)
def test_any_bytes_in_any_codings_give_bytes_or_a_failure(body: bytes, names: list[str]) -> None:
    answer = decode(encoded(*names), body, 10_000)
    assert isinstance(answer, Failure) or len(answer) <= max(10_000 + CHUNK, len(body))
