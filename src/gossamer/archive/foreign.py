"""Reads WARC files that others wrote (versions 0.17 to 1.1), as far as they are whole, and says where they are not.

Lenient in form, strict in substance: line ends, folded fields, compression by record or by file, missing digests are all
taken as they come; but a record that is cut short, that does not end where its length says, or whose block digest is
wrong is left out and reported. Common readers give such records without a word, or stop at the first.

Nothing is trusted: a block is read into memory up to a limit, lengths are limits and not allocations, and damage may
not make the same bytes be read again and again.
"""

import hashlib
import re
from base64 import b32encode, b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from gossamer.archive.member import CHUNK, Damage
from gossamer.archive.undone import NO_RECORD, VERSION, BrokenMember, Undone, next_start
from gossamer.records import Headers

_MAX_FIELDS = 256 * 1024
_MAX_RECORD = 16 << 30  # bytes of a block: more is no record but a bomb
_MAX_REREAD = 4 << 30  # bytes that are passed over again to get behind damage inside of compressed data
_MAX_DAMAGES = 10_000
_ALGORITHMS = frozenset({"md5", "sha1", "sha256", "sha384", "sha512"})
_NEEDED = ("warc-type", "content-length")


@dataclass(frozen=True, slots=True)
class Place:
    """Where something lies in an archive: the byte of the file, and inside compressed data how far into that."""

    offset: int
    inside: int = 0

    def __str__(self) -> str:
        return f"{self.offset}+{self.inside}" if self.inside else f"{self.offset}"


@dataclass(frozen=True, slots=True)
class ForeignRecord:
    """One record as somebody wrote it."""

    place: Place
    fields: Headers  # the WARC fields, names lower-cased
    block: bytes
    size: int  # of the block; more than was read where that has an end

    def field(self, name: str) -> str:
        """The first value of a WARC field (lower case), or nothing."""
        return next((value for key, value in self.fields if key == name), "")

    @property
    def type(self) -> str:
        return self.field("warc-type").lower()


@dataclass(frozen=True, slots=True)
class Broken:
    """A place where the archive is not whole."""

    place: Place
    message: str


def read_archive(file: BinaryIO, start: int, end: int, *, max_block: int) -> Iterator[ForeignRecord | Broken]:
    """Every record between two bytes of a file, in order; of a block at the most ``max_block`` bytes are read.

    Damage is given, not raised, and reading goes on with the next record after it; where the disk does not read any
    further it ends.
    """
    try:
        yield from _read_archive(file, start, end, max_block)
    except OSError as error:
        yield Broken(Place(file.tell()), f"the file can't be read any further ({error.strerror})")


def _read_archive(file: BinaryIO, start: int, end: int, max_block: int) -> Iterator[ForeignRecord | Broken]:
    archive, reread = Undone(file, start, end), 0
    for _ in range(_MAX_DAMAGES):
        begun: Place | None = None  # the record that is being read
        try:
            while archive.at_record():
                begun = _place(archive)
                yield _record(archive, begun, max_block)
                begun = None
            return
        except Damage as damage:
            place = begun or _place(archive)
            yield Broken(place, str(damage))
            reread += place.inside
            if reread > _MAX_REREAD:
                break
            following = _behind(file, archive, place, end, is_broken=isinstance(damage, BrokenMember))
            if following is None:
                return
            archive = following
    yield Broken(_place(archive), "there is too much damage: what follows is not read")


def _place(archive: Undone) -> Place:
    return Place(archive.member + archive.inside) if archive.is_plain else Place(archive.member, archive.inside)


def _behind(file: BinaryIO, archive: Undone, place: Place, end: int, *, is_broken: bool) -> Undone | None:
    """The archive from the first record after ``place`` on; None when there is none."""
    if not is_broken and not archive.is_plain:
        again = Undone(file, place.offset, end)
        try:
            again.skip(place.inside + 1)
            return again if again.find_record() else None
        except Damage:
            pass  # the compression is damaged too
    offset = next_start(file, place.offset + 1, end)
    return Undone(file, offset, end) if offset < end else None


def _record(archive: Undone, place: Place, max_block: int) -> ForeignRecord:
    fields = _fields(archive.read_head(_MAX_FIELDS))
    found = dict(reversed(fields))  # of a field that is repeated the first counts
    if any(name not in found for name in _NEEDED):
        raise Damage("the record has no type or no length")
    size = _length(found["content-length"])
    algorithm, _, expected = found.get("warc-block-digest", "").partition(":")
    # wget's revisits carry the digest of the whole answer, of which only the head is their block
    digester = _digester("" if found["warc-type"].lower() == "revisit" else algorithm)
    block = archive.read(min(size, max_block))
    digester.update(block)
    left = size - len(block)
    while left:
        piece = archive.read(min(left, CHUNK))
        digester.update(piece)
        left -= len(piece)
    if not archive.ends_record():
        raise Damage("the record does not end where its length says")
    if isinstance(digester, _NoDigest) or _is_digest(expected, digester.digest()):
        return ForeignRecord(place, fields, block, size)
    raise Damage("the block digest is wrong")


def _fields(head: bytes) -> Headers:
    version = VERSION.match(head)
    if version is None:
        raise Damage(NO_RECORD)
    text = re.sub(r"\r?\n[ \t]+", " ", head[version.end() :].decode("utf-8", "replace"))
    pairs = (line.partition(":") for line in text.split("\n"))
    return tuple((name.strip().lower(), value.strip()) for name, colon, value in pairs if colon)


def _length(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,15}", text) or int(text) > _MAX_RECORD:
        raise Damage(f"its length can't be {text[:40]!r}")
    return int(text)


class _NoDigest:
    """Stands where nothing says what the digest should be."""

    def update(self, data: bytes) -> None: ...

    def digest(self) -> bytes:
        return b""


def _digester(algorithm: str) -> "hashlib._Hash | _NoDigest":
    name = algorithm.strip().lower().replace("-", "")
    return hashlib.new(name, usedforsecurity=False) if name in _ALGORITHMS else _NoDigest()


def _is_digest(text: str, digest: bytes) -> bool:
    """Digests stand there in base32, hexadecimal or base64, with padding or without; others can't be told right or wrong."""
    text = text.strip().rstrip("=")
    base64 = b64encode(digest).decode().rstrip("=")
    if len(text) == len(base64):
        return text.replace("-", "+").replace("_", "/") == base64  # RFC 4648 5: the alphabet for URLs
    forms = (digest.hex(), b32encode(digest).decode().rstrip("=").lower())
    return text.lower() in forms or len(text) not in map(len, forms)
