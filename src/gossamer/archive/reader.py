"""Reads WARC records back: one at a known place, or a whole segment with all that is wrong in it.

Strict where common readers are lenient (warcio gives a short record for most truncations without a word): a record
ends where its length says, its member right after it, and gzip's own checksum is right. Nothing is trusted, since a
collection may come from a stranger: lengths are limits and not allocations.
"""

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from io import BufferedReader, FileIO
from pathlib import Path

from gossamer.archive.member import CHUNK, Damage, Member
from gossamer.archive.segments import segment_path
from gossamer.archive.warc import GZIP_HEADER, REFERRED_DIGEST, Original, digest_label, split_block
from gossamer.errors import ArchiveError
from gossamer.records import Headers, RecordPlace

MAX_BLOCK = 512 * 1024 * 1024
"""Bytes that are read into memory unless told otherwise: far above the largest body that is kept by default."""

_MAX_FIELDS = 256 * 1024
_MAX_HEAD = 64 * 1024  # where a payload digest was given, the head ends before
_END = b"\r\n\r\n"
_HINT = "run gossamer verify, or restore the file from a copy"
_NEEDED = ("warc-type", "warc-record-id", "warc-date", "content-length")


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """One record as it lies in the archive. A revisit has no body: it is that of the record it refers to."""

    fields: Headers  # the WARC fields, names lower-cased
    head: bytes  # HTTP head, empty line included; for other records empty
    body: bytes  # as it came: transfer and content codings still on

    def field(self, name: str) -> str:
        """The value of a WARC field (lower case), or nothing."""
        return next((value for key, value in self.fields if key == name), "")

    @property
    def type(self) -> str:
        """``warcinfo``, ``request``, ``response`` or ``revisit``."""
        return self.field("warc-type")

    @property
    def target_uri(self) -> str:
        return self.field("warc-target-uri")

    @property
    def date(self) -> float:
        """When the capture began, in seconds since 1970."""
        return datetime.fromisoformat(self.field("warc-date")).timestamp()

    @property
    def status(self) -> int:
        """Of the HTTP answer; 0 where there is none to be read."""
        found = re.match(rb"HTTP/\S+ (\d{3})(?!\d)", self.head)
        return int(found[1]) if found else 0

    @property
    def http_headers(self) -> Headers:
        """Names lower-cased, values as Latin-1, in order, folded lines joined (RFC 9112 5.2)."""
        text = re.sub(r"\r?\n[ \t]+", " ", self.head.decode("latin-1"))
        pairs = (line.partition(":") for line in text.split("\n")[1:])
        return tuple((name.strip().lower(), value.strip()) for name, colon, value in pairs if colon)

    @property
    def refers_to(self) -> Original | None:
        """What a revisit stands for."""
        if self.type != "revisit":
            return None
        return Original(
            target_uri=self.field("warc-refers-to-target-uri"),
            date=self.field("warc-refers-to-date"),
            payload_digest=self.field(REFERRED_DIGEST.lower()),
            record_id=self.field("warc-refers-to"),
        )


@dataclass(frozen=True, slots=True)
class ScannedRecord:
    """One record that a scan met, or with ``type`` empty a stretch of bytes that is no record."""

    offset: int
    length: int
    type: str = ""
    record_id: str = ""
    target_uri: str = ""
    concurrent_to: str = ""  # the record id of the other half of its capture
    problems: tuple[str, ...] = ()


def read_record(collection: Path, uri: str, place: RecordPlace, *, max_block: int = MAX_BLOCK) -> StoredRecord:
    """The record at ``place`` in the segment ``uri``.

    Raises ArchiveError when it is not there, whole and sound, and when its block has more than ``max_block`` bytes.
    """
    try:
        with open_segment(segment_path(collection, uri)) as file:
            member = _member(file, place.offset, place.length)
            fields, size = _read_fields(member)
            if size > max_block:
                raise Damage(f"its block of {size} bytes is too large to be read")
            block = member.read(size)
            _check_end(member)
    except (Damage, OSError) as error:
        raise _damaged(uri, place.offset, error) from error
    head, body = split_block(block) if _is_http(fields) else (b"", block)
    return StoredRecord(fields, head, body)


def scan(path: Path, *, start: int = 0, end: int | None = None) -> Iterator[ScannedRecord]:
    """Every record of a segment from ``start`` up to byte ``end``, its digests checked, in memory that does not grow.

    Damage is reported, not raised: after it the scan goes on with the next thing that looks like a record. Raises
    ArchiveError when the file can't be opened or read.
    """
    try:
        with open_segment(path) as file:
            size = os.fstat(file.fileno()).st_size
            end = size if end is None else end
            yield from _scan(file, start, min(size, end))
            if size < end:
                yield ScannedRecord(size, end - size, problems=("the file ends here: these bytes are missing",))
    except OSError as error:
        raise ArchiveError(f"{path} can't be read ({error.strerror})", hint="look at the disk") from error


def _scan(file: BufferedReader, offset: int, end: int) -> Iterator[ScannedRecord]:
    while offset < end:
        try:
            record = _check_record(_member(file, offset, end - offset), offset)
        except Damage as damage:
            following = _find_member(file, offset + 1, end)
            record = ScannedRecord(offset, following - offset, problems=(str(damage),))
        yield record
        offset += record.length


def _member(file: BufferedReader, offset: int, limit: int) -> Member:
    """The member at ``offset``, at the most ``limit`` bytes long; raises Damage when none of ours begins there."""
    file.seek(offset)
    if file.read(len(GZIP_HEADER)) != GZIP_HEADER:
        raise Damage("no gzip member begins here")
    return Member(file, offset, limit)


def _check_record(member: Member, offset: int) -> ScannedRecord:
    fields, size = _read_fields(member)
    found = dict(fields)
    problems = _check_digests(member, found, size)
    _check_end(member, is_alone=False)
    return ScannedRecord(
        offset,
        member.consumed,
        found["warc-type"],
        found["warc-record-id"],
        found.get("warc-target-uri", ""),
        found.get("warc-concurrent-to", ""),
        problems,
    )


def _check_digests(member: Member, fields: dict[str, str], size: int) -> tuple[str, ...]:
    block, payload = hashlib.sha256(), hashlib.sha256()
    first = member.read(min(size, _MAX_HEAD))
    block.update(first)
    payload.update(split_block(first)[1])
    left = size - len(first)
    while left:
        piece = member.read(min(left, CHUNK))
        left -= len(piece)
        block.update(piece)
        payload.update(piece)
    expected = (("block", block, "warc-block-digest"), ("payload", payload, "warc-payload-digest"))
    return tuple(
        f"{what} digest is wrong"
        for what, digester, name in expected
        if name in fields and fields[name] != digest_label(digester.digest())
    )


def _read_fields(member: Member) -> tuple[Headers, int]:
    """The named fields of a record, names lower-cased, and the length of its block."""
    head = member.read_until(_END, _MAX_FIELDS)
    version, *lines = head.removesuffix(_END).split(b"\r\n")
    if version != b"WARC/1.1":
        raise Damage("no WARC 1.1 record")
    fields = tuple(_parse_field(line) for line in lines)
    found = dict(fields)
    if len(found) < len(fields) or any(name not in found for name in _NEEDED):
        raise Damage("a field is missing or stands there twice")
    _check_date(found["warc-date"])
    return fields, _block_length(found)


def _parse_field(line: bytes) -> tuple[str, str]:
    name, colon, value = line.decode("utf-8", "replace").partition(": ")
    if not colon:
        raise Damage("a line is no field")
    return name.lower(), value


def _block_length(fields: dict[str, str]) -> int:
    text = fields["content-length"]
    if not re.fullmatch(r"[0-9]{1,12}", text):
        raise Damage(f"its length can't be {text[:40]!r}")
    return int(text)


def _check_date(text: str) -> None:
    try:
        is_utc = datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        is_utc = False
    if not is_utc:
        raise Damage(f"its date can't be {text[:40]!r}")


def _check_end(member: Member, *, is_alone: bool = True) -> None:
    if member.read(len(_END)) != _END or not member.at_end():
        raise Damage("the record does not end where its length says")
    if is_alone and member.consumed != member.limit:
        raise Damage(f"the record is {member.consumed} bytes long, not {member.limit}")


def _is_http(fields: Headers) -> bool:
    return any(name == "content-type" and value.startswith("application/http") for name, value in fields)


def open_segment(path: Path) -> BufferedReader:
    """A file to be read; links are not followed, and nothing is waited for: a stranger's segment may be a pipe.

    Raises OSError.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file")
    return BufferedReader(FileIO(descriptor), CHUNK)


def _damaged(uri: str, offset: int, error: Exception) -> ArchiveError:
    return ArchiveError(f"{uri} is damaged at byte {offset} ({error})", hint=_HINT)


def _find_member(file: BufferedReader, offset: int, end: int) -> int:
    """Where the next member seems to begin; ``end`` when none does."""
    file.seek(offset)
    window = b""
    while offset < end and (chunk := file.read(min(CHUNK, end - offset))):
        window += chunk
        offset += len(chunk)
        found = window.find(GZIP_HEADER)
        if found >= 0:
            return offset - len(window) + found
        window = window[1 - len(GZIP_HEADER) :]
    return end
