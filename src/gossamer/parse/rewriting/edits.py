"""Edits by position: what nobody touches stays as it is."""

from bisect import bisect_right
from collections.abc import Callable, Iterable

Edit = tuple[int, int, str]
"""Where the text that goes begins and ends, and what comes in its place."""


def apply(source: str, edits: Iterable[Edit]) -> str:
    """``source`` with the edits made. Insertions at one place come in the order of the edits.

    Two may take away the same space; otherwise they do not overlap.
    """
    parts: list[str] = []
    position = 0
    for start, end, text in sorted(edits, key=lambda edit: (edit[0], edit[1])):
        parts += (source[position:start], text)
        position = max(position, end)
    parts.append(source[position:])
    return "".join(parts)


Encode = Callable[[str], str]


class Excerpt:
    """A piece of a file as it reads when its escapes are undone, and the way back from its positions to the file's."""

    def __init__(self) -> None:
        self.text = ""
        self._parts: list[str] = []
        self._size = 0
        self._starts: list[int] = []  # in the text
        self._places: list[tuple[int, int, bool, Encode]] = []  # in the file: begin, end; whether it stands as it reads

    def add(self, text: str, start: int, end: int, encode: Encode) -> None:
        """``text`` is what stands in the file from ``start`` to ``end``; ``encode`` writes what replaces part of it."""
        if not text:
            return
        self._starts.append(self._size)
        self._places.append((start, end, len(text) == end - start, encode))
        self._parts.append(text)
        self._size += len(text)

    def done(self) -> "Excerpt":
        """The same, now that all is added."""
        self.text = "".join(self._parts)
        return self

    def place(self, edits: Iterable[Edit]) -> list[Edit]:
        """Edits of the text as edits of the file."""
        return [self._placed(*edit) for edit in edits]

    def _placed(self, start: int, end: int, text: str) -> Edit:
        begin, encode = self._position(start, after=False)
        return begin, self._position(end, after=True)[0], encode(text)

    def _position(self, position: int, *, after: bool) -> tuple[int, Encode]:
        """``after``: the end of what stands before the position, not the begin of what follows it."""
        index = max(0, bisect_right(self._starts, position - 1 if after and position else position) - 1)
        start, end, plain, encode = self._places[index]
        offset = position - self._starts[index]
        if plain:
            return start + offset, encode
        return (end if offset else start), encode
