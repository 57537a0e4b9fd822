"""One gzip member of a WARC file, inflated stepwise: what is read is bounded by who asks, not by what the file claims."""

from typing import BinaryIO, cast

from isal import igzip_lib

CHUNK = 16 * 1024
"""Bytes that are read from the file at once."""

_INFLATE_ERROR = cast("type[Exception]", igzip_lib.IsalError)  # the stub says it is an instance


class Damage(Exception):
    """What is wrong at the place that is being read."""


class Member:
    """One gzip member, inflated as far as it is asked for."""

    def __init__(self, file: BinaryIO, offset: int, limit: int) -> None:
        """It begins at ``offset`` and is at the most ``limit`` bytes long."""
        self.limit = limit
        self._file = file
        self._left = limit
        self._inflater = igzip_lib.IgzipDecompressor(igzip_lib.DECOMP_GZIP)
        self._inflated = b""
        file.seek(offset)

    @property
    def consumed(self) -> int:
        """Compressed bytes, right once the end of the member was met."""
        return self.limit - self._left - len(self._inflater.unused_data)

    @property
    def is_whole(self) -> bool:
        """Whether its end was met, its checksum right."""
        return bool(self._inflater.eof)

    def read(self, size: int) -> bytes:
        """Exactly ``size`` bytes; raises Damage when there are fewer."""
        pieces = [self._inflated[:size]]
        self._inflated = self._inflated[size:]
        missing = size - len(pieces[0])
        while missing:
            piece = self.some(missing)
            if not piece:
                raise Damage("the record is cut short")
            pieces.append(piece)
            missing -= len(piece)
        return b"".join(pieces)

    def read_until(self, mark: bytes, limit: int) -> bytes:
        """What comes up to and with ``mark``; raises Damage when it is not within ``limit`` bytes."""
        while (end := self._inflated.find(mark)) < 0:
            piece = self.some(4096)
            if not piece or len(self._inflated) > limit:
                raise Damage("the record has no head")
            self._inflated += piece
        return self.read(end + len(mark))

    def at_end(self) -> bool:
        """Whether the member ends here, its checksum right."""
        return not self._inflated and not self.some(1) and self.is_whole

    def some(self, size: int) -> bytes:
        """At the most ``size`` bytes more, past what `read_until` looked at; none only at the end of member or file."""
        while not self._inflater.eof:
            chunk = b""
            if self._inflater.needs_input:
                chunk = self._file.read(min(self._left, CHUNK))
                self._left -= len(chunk)
                if not chunk:
                    break
            try:
                piece = self._inflater.decompress(chunk, size)
            except _INFLATE_ERROR as error:
                raise Damage(f"gzip: {error}") from error
            if piece:
                return piece
        return b""
