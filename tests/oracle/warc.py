"""WARC 1.1 files read byte by byte, trusting nothing: one gzip member a record (ISO 28500:2017, annex D)."""

import base64
import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import brotli
import zstandard


@dataclass(frozen=True, slots=True)
class Record:
    """One record and where it lies."""

    offset: int
    length: int
    headers: dict[str, str]  # names lower-cased
    block: bytes

    @property
    def type(self) -> str:
        return self.headers.get("warc-type", "")

    @property
    def url(self) -> str:
        return self.headers.get("warc-target-uri", "").strip("<>")

    @property
    def http_head(self) -> bytes:
        return self.block.partition(b"\r\n\r\n")[0]

    @property
    def body(self) -> bytes:
        """As it came over the wire."""
        return self.block.partition(b"\r\n\r\n")[2]

    @property
    def has_odd_head(self) -> bool:
        """True when readers disagree where the head ends: bare line feeds, white lines, or too long for some."""
        head = self.http_head
        lines = head.split(b"\r\n")
        return len(head) > 32_000 or any(b"\n" in line or b"\r" in line or not line.strip() for line in lines)

    def http_header(self, name: str) -> str:
        lines = self.http_head.decode("latin-1").split("\r\n")[1:]
        values = (line.partition(":")[2].strip() for line in lines if line.partition(":")[0].strip().lower() == name)
        return ", ".join(values)


class Damaged(Exception):
    """The file is no sequence of whole records; the message says where it ends to be one."""


def read(path: Path) -> Iterator[Record]:
    """The records of a file in order. Raises Damaged at the first byte that is not as it should be."""
    data = path.read_bytes()
    offset = 0
    while offset < len(data):
        content, length = _member(data, offset)
        yield _record(content, offset, length)
        offset += length


def _member(data: bytes, offset: int) -> tuple[bytes, int]:
    unpacker = zlib.decompressobj(31)
    parts, position = [], offset
    try:
        while not unpacker.eof and position < len(data):
            parts.append(unpacker.decompress(data[position : position + 65536]))
            position += len(data[position : position + 65536]) - len(unpacker.unused_data)
    except zlib.error as error:
        raise Damaged(f"no gzip at {offset}: {error}") from error
    if not unpacker.eof:
        raise Damaged(f"the member at {offset} is cut off")
    return b"".join(parts), position - offset


def _record(content: bytes, offset: int, length: int) -> Record:
    head, _, rest = content.partition(b"\r\n\r\n")
    version, *lines = head.decode("utf-8").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    size = int(headers.get("content-length", "-1"))
    if version != "WARC/1.1" or size < 0:
        raise Damaged(f"no WARC 1.1 record at {offset}: {version!r}")
    if rest[size:] != b"\r\n\r\n":
        raise Damaged(f"the record at {offset} does not end where its Content-Length says")
    return Record(offset, length, headers, rest[:size])


def digest_is(value: str, *candidates: bytes) -> bool:
    """True when ``value`` ("sha256:…" in hexadecimal or base32) is the digest of one of ``candidates``."""
    label, _, text = value.partition(":")
    sums = [hashlib.new(label.replace("-", ""), data).digest() for data in candidates]
    return any(text in (one.hex(), base64.b32encode(one).decode()) for one in sums)


def unchunked(body: bytes) -> bytes:
    """The body without its chunked transfer coding (RFC 9112, section 7.1); what there is of a cut-off one."""
    parts = []
    while body:
        line, _, body = body.partition(b"\r\n")
        size = int(line.partition(b";")[0] or b"0", 16)
        if size == 0:
            break
        parts.append(body[:size])
        body = body[size + 2 :]
    return b"".join(parts)


def payload(record: Record) -> bytes:
    """The body without transfer coding."""
    is_chunked = "chunked" in record.http_header("transfer-encoding").lower()
    return unchunked(record.body) if is_chunked else record.body


def decoded(record: Record) -> bytes:
    """The body without any coding. Raises ValueError, zlib.error, … when it can't be had."""
    body = payload(record)
    codings = [name.strip().lower() for name in record.http_header("content-encoding").split(",")]
    for coding in reversed([name for name in codings if name]):
        body = _undo(body, coding)
    return body


def _undo(body: bytes, coding: str) -> bytes:
    match coding:
        case "gzip" | "x-gzip":
            return zlib.decompressobj(31).decompress(body)
        case "deflate":
            is_wrapped = len(body) > 1 and body[0] & 15 == 8 and int.from_bytes(body[:2], "big") % 31 == 0
            return zlib.decompress(body, 15 if is_wrapped else -15)
        case "br":
            return bytes(brotli.decompress(body))
        case "zstd":
            return zstandard.ZstdDecompressor().decompressobj().decompress(body)
    return body
