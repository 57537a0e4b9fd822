"""The bytes of a foreign archive with its compression undone, whatever that is, and where each of them comes from."""

import re
from typing import BinaryIO

from gossamer.archive.member import CHUNK, Damage, Member

MAGIC = b"\x1f\x8b\x08"
"""How a gzip member begins that is deflated (RFC 1952 2.3.1)."""

VERSION = re.compile(rb"WARC/[01]\.\d{1,2}\r?\n")
"""The first line of a record."""

NO_RECORD = "no WARC record begins here"

_SHORTEST_VERSION = len(b"WARC/1.0\n")


class BrokenMember(Damage):
    """The compression itself is damaged: what follows can't be told before the next member."""


class Undone:
    """An archive from a place on: plain, or gzip members one after the other.

    A member may hold a record (as ISO 28500 Annex D recommends), all of them, or end anywhere.
    """

    def __init__(self, file: BinaryIO, offset: int, end: int) -> None:
        self._file = file
        self._end = end
        self._buffer = b""
        self._taken = 0  # bytes taken out of this member
        self.member = offset
        self._source = self._open(offset)

    @property
    def is_plain(self) -> bool:
        """Whether nothing is compressed here."""
        return not isinstance(self._source, Member)

    @property
    def inside(self) -> int:
        """Bytes that were taken out of the member that begins at ``member``."""
        return max(0, self._taken)

    def at_record(self) -> bool:
        """Pass over empty lines; False at the end of the archive."""
        while True:
            if not self._buffer and not self._fill():
                return False
            rest = self._buffer.lstrip(b"\r\n")
            self._take(len(self._buffer) - len(rest))
            if rest:
                return True

    def read(self, size: int) -> bytes:
        """Exactly ``size`` bytes; raises Damage when there are fewer."""
        pieces = []
        while size:
            if not self._buffer and not self._fill():
                raise Damage("the record is cut short")
            piece = self._take(size)
            size -= len(piece)
            pieces.append(piece)
        return b"".join(pieces)

    def read_head(self, limit: int) -> bytes:
        """What comes up to and with the first empty line; raises Damage when that is not within ``limit`` bytes."""
        while True:
            found = re.search(rb"\r?\n\r?\n", self._buffer)
            if found:
                return self.read(found.end())
            if len(self._buffer) > limit or not self._fill():
                raise Damage("the record has no head" if self._buffer.startswith(b"WARC/") else NO_RECORD)

    def ends_record(self) -> bool:
        """Whether a record may end here: at an empty line, which is passed over, or with its gzip member.

        Where the member ends its checksum was right.
        """
        if not self._buffer and not self._more():
            return True
        may_end = self._buffer.startswith((b"\r", b"\n", b"WARC/"))
        while not (rest := self._buffer.lstrip(b"\r\n")) and self._more():
            pass
        self._take(len(self._buffer) - len(rest))
        return may_end

    def peek(self, size: int) -> bytes:
        """The next bytes, fewer at the end; they stay where they are."""
        while len(self._buffer) < size and self._fill():
            pass
        return self._buffer[:size]

    def skip(self, size: int) -> None:
        """Leave out so many bytes, or all there are."""
        while size and (self._buffer or self._fill()):
            size -= len(self._take(size))

    def find_record(self) -> bool:
        """Go on to the next line that looks like the first of a record; False at the end of the archive."""
        while True:
            found = VERSION.search(self._buffer)
            if found:
                self._take(found.start())
                return True
            self._take(max(0, len(self._buffer) - _SHORTEST_VERSION - 2))
            if not self._fill():
                return False

    def _take(self, size: int) -> bytes:
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        self._taken += len(taken)
        return taken

    def _fill(self) -> bool:
        """Get more into the buffer, of the next member where this one has ended; False at the end of the archive."""
        while not self._more():
            following = self.member + self._source.consumed
            if following >= self._end:
                return False
            self._source = self._open(following)
            self.member, self._taken = following, -len(self._buffer)
        return True

    def _more(self) -> bool:
        """Get more of this member into the buffer; False at its end."""
        try:
            piece = self._source.some(CHUNK)
        except Damage as damage:
            raise BrokenMember(str(damage)) from damage
        self._buffer += piece
        if not piece and not self._source.is_whole:
            raise BrokenMember("the file ends within compressed data")
        return bool(piece)

    def _open(self, offset: int) -> "Member | _Plain":
        self._file.seek(offset)
        if self._file.read(len(MAGIC)) == MAGIC:
            return Member(self._file, offset, self._end - offset)
        return _Plain(self._file, offset, self._end)


class _Plain:
    """Bytes that are not compressed, read as a `Member` is."""

    is_whole = True

    def __init__(self, file: BinaryIO, offset: int, end: int) -> None:
        self.consumed = 0
        self._file = file
        self._left = end - offset
        file.seek(offset)

    def some(self, size: int) -> bytes:
        piece = self._file.read(min(size, self._left))
        self._left = self._left - len(piece) if piece else 0
        self.consumed += len(piece)
        return piece


def next_start(file: BinaryIO, offset: int, end: int) -> int:
    """Where the next record or compressed record seems to begin; ``end`` when none does."""
    file.seek(offset)
    window = b""
    while offset < end and (chunk := file.read(min(64 * CHUNK, end - offset))):
        window += chunk
        offset += len(chunk)
        begin = offset - len(window)
        for found in re.finditer(rb"\x1f\x8b\x08|WARC/[01]\.", window):
            if _begins_record(file, begin + found.start(), end):
                return begin + found.start()
        file.seek(offset)
        window = window[-_SHORTEST_VERSION:]
    return end


def _begins_record(file: BinaryIO, offset: int, end: int) -> bool:
    try:
        return VERSION.match(Undone(file, offset, end).peek(_SHORTEST_VERSION + 2)) is not None
    except Damage:
        return False
