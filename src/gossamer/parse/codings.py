"""The content codings, undone step by step: each decoder yields pieces of bounded size.

A decoder raises EOFError when the end of its coding is missing, and its library's error when the data is wrong.
What follows the end of a coding is ignored, as browsers do.
"""

from collections.abc import Callable, Generator, Iterator
from typing import cast

import brotli
import zstandard
from isal import isal_zlib

CHUNK = 256 * 1024
"""Bytes of output a decoder makes at a time: how far it may pass a limit."""

_SLICE = 16 * 1024  # of input: zlib copies what it could not use yet, so it is fed little at a time
_BROTLI_STEP = CHUNK // 4  # its buffer grows in blocks and may pass this
_GZIP = 16 + isal_zlib.MAX_WBITS
_RAW = -isal_zlib.MAX_WBITS
_ZSTD_WINDOW = 8 * 1024 * 1024  # RFC 9659 3: a content coding's window is at most 8 MB
_ZSTD_MAGIC = 0xFD2FB528
_ZSTD_SKIPPABLE = 0x184D2A50  # RFC 8878 3.1.2: 16 magic numbers, each followed by a size
_ZSTD_RLE = 1  # RFC 8878 3.1.1.2.2: a block of one byte, repeated

_InflateError = cast("type[Exception]", isal_zlib.error)  # its stub calls the class an exception

DECODING_ERRORS = (_InflateError, brotli.error, zstandard.ZstdError, ValueError)


def _slices(data: memoryview) -> Iterator[memoryview]:
    return (data[start : start + _SLICE] for start in range(0, len(data), _SLICE))


def _member(data: memoryview, window: int) -> Generator[bytes, None, int]:
    """One zlib, gzip or raw deflate stream; returns (as a generator does) where it ends."""
    engine = isal_zlib.decompressobj(window)
    fed = 0
    for part in _slices(data):
        fed += len(part)
        pending: memoryview | bytes = part
        while pending:
            yield engine.decompress(pending, CHUNK)
            if engine.eof:
                return fed - len(engine.unused_data)
            pending = engine.unconsumed_tail
    while piece := engine.decompress(b"", CHUNK):
        yield piece
    if not engine.eof:
        raise EOFError("the compressed data has no end")
    return fed


def _gzip(body: bytes) -> Iterator[bytes]:
    """RFC 1952 2.2: "A gzip file consists of a series of members"; padding after the last is ignored."""
    rest = memoryview(body)
    while True:
        end = yield from _member(rest, _GZIP)
        rest = rest[end:]
        if bytes(rest[:2]) != b"\x1f\x8b":
            return


def _deflate(body: bytes) -> Iterator[bytes]:
    """RFC 9110 8.4.1.2: a zlib stream; "some non-conformant implementations send […] without the zlib wrapper"."""
    looks_wrapped = len(body) > 1 and body[0] & 0x0F == 8 and int.from_bytes(body[:2]) % 31 == 0
    if looks_wrapped:
        started = False
        try:
            for piece in _member(memoryview(body), isal_zlib.MAX_WBITS):
                started = started or bool(piece)
                yield piece
        except _InflateError:
            if started:
                raise
        else:
            return
    yield from _member(memoryview(body), _RAW)


def _brotli(body: bytes) -> Iterator[bytes]:
    engine = brotli.Decompressor()
    for part in _slices(memoryview(body)):
        yield engine.process(bytes(part), output_buffer_limit=_BROTLI_STEP)
        while not engine.can_accept_more_data():
            yield engine.process(b"", output_buffer_limit=_BROTLI_STEP)
        if engine.is_finished():
            return
    while not engine.is_finished():  # the input was taken in, but output may still wait
        piece = engine.process(b"", output_buffer_limit=_BROTLI_STEP)
        if not piece:
            raise EOFError("the compressed data has no end")
        yield piece


def _zstd(body: bytes) -> Iterator[bytes]:
    end, complete = zstd_frames(body)
    engine = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    with engine.stream_reader(memoryview(body)[:end], read_across_frames=True) as reader:
        while piece := reader.read(CHUNK):
            yield piece
    if not complete:
        raise EOFError("the compressed data has no end")


def zstd_frames(body: bytes) -> tuple[int, bool]:
    """Where the last zstd frame of ``body`` ends, and whether it is whole (RFC 8878 3.1).

    The library does not tell a cut frame from a whole one when it reads stepwise, so the blocks are walked here.
    """
    position = 0
    while True:
        start = position
        magic = int.from_bytes(body[start : start + 4], "little")
        if magic & ~0x0F == _ZSTD_SKIPPABLE:
            position = start + 8 + int.from_bytes(body[start + 4 : start + 8], "little")
        elif magic == _ZSTD_MAGIC or start == 0:
            position = _zstd_frame_end(body, start)
        else:
            return start, True
        if position > len(body):
            return len(body), False
        if position == len(body):
            return position, True


def _zstd_frame_end(body: bytes, start: int) -> int:
    """Where the frame that begins at ``start`` should end; past the end of ``body`` when it is cut."""
    beyond = len(body) + 1
    header = body[start : start + 18]  # the longest there is (RFC 8878 3.1.1.1)
    try:
        position = start + zstandard.frame_header_size(header)
        checksum = 4 if zstandard.get_frame_parameters(header).has_checksum else 0
    except zstandard.ZstdError:
        return beyond if len(header) < 18 else len(body)  # no frame at all: the decoder will say so
    while position + 3 <= len(body):
        block = int.from_bytes(body[position : position + 3], "little")
        last, kind, size = block & 1, block >> 1 & 3, block >> 3
        position += 3 + (1 if kind == _ZSTD_RLE else size)
        if last:
            return position + checksum
    return beyond


DECODERS: dict[str, Callable[[bytes], Iterator[bytes]]] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
"""By their names in HTTP (RFC 9110 8.4.1, RFC 7932, RFC 8878), lower case."""
