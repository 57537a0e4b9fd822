"""The piece of a page's text that shows why it was found."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gossamer.archive import index
from gossamer.archive.query import Part, Query, Tokenizer

WIDTH = 200
"""Characters of a snippet, without the dots at its ends."""

MAX_LOOKED_AT = 200_000
"""Characters of a page's text that are searched for the best place."""

_SPACE = re.compile(r"[\s\x00-\x1f\x7f]")
_EDGE = 24  # a cut moves at most this far to fall between words


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a word of the query stands in a text; ``word`` says which."""

    start: int
    end: int
    word: int


class Marker:
    """Finds the words of one query in texts: by their stems, with the index's own tokenizer."""

    def __init__(self, tokenizer: Tokenizer, query: Query) -> None:
        self._tokenizer = tokenizer
        parts = list(dict.fromkeys(part for term in query.required + query.words for part in term.parts))
        self._stems = {part.stems[0]: number for number, part in enumerate(parts) if not part.is_cjk}
        self._runs = {part.text: number for number, part in enumerate(parts) if part.is_cjk}
        self._run = _any_of([part for part in parts if part.is_cjk])

    def marks(self, text: str) -> list[Mark]:
        """Every place of a word of the query in ``text``, in order."""
        marks = []
        if self._stems:
            for start, end, stem in self._tokenizer(text):
                if (word := self._stems.get(stem)) is not None:
                    marks.append(Mark(start, end, word))
        if self._run:
            marks += [Mark(match.start(), match.end(), self._runs[match[0]]) for match in self._run.finditer(text)]
            marks.sort(key=lambda mark: mark.start)
        return marks


def _any_of(parts: Sequence[Part]) -> re.Pattern[str] | None:
    texts = sorted((part.text for part in parts), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, texts))) if texts else None


def snippet(text: str, marker: Marker) -> tuple[str, tuple[tuple[int, int], ...]]:
    """About WIDTH characters of ``text`` where most words of the query stand, and the (start, end) of each in it.

    The beginning of the text when none stands there. White space and control characters become spaces.
    """
    text = _SPACE.sub(" ", index.fold_width(text[:MAX_LOOKED_AT]))
    marks = marker.marks(text)
    first, last = _densest(marks)
    begin, end = _cut(text, marks[first].start, marks[last].end) if marks else _cut(text, 0, 0)
    before, after = "…" if begin > 0 else "", "…" if end < len(text) else ""
    move = len(before) - begin
    spans = tuple((mark.start + move, mark.end + move) for mark in marks if begin <= mark.start and mark.end <= end)
    return before + text[begin:end] + after, spans


def _densest(marks: Sequence[Mark]) -> tuple[int, int]:
    """The first and last mark of the window with most different words, and among those with most words."""
    best, place, first = (0, 0), (0, 0), 0
    inside: Counter[int] = Counter()
    for last, mark in enumerate(marks):
        inside[mark.word] += 1
        while mark.end - marks[first].start > WIDTH and first < last:
            inside[marks[first].word] -= 1
            inside += Counter()  # drops what is at zero
            first += 1
        if (value := (len(inside), last - first)) > best:
            best, place = value, (first, last)
    return place


def _cut(text: str, start: int, end: int) -> tuple[int, int]:
    """The window around [start, end), its edges between words where a space is near; CJK is cut at characters."""
    spare = max(0, WIDTH - (end - start))
    begin = max(0, min(start - spare // 3, len(text) - WIDTH))
    stop = min(len(text), max(begin + WIDTH, end))
    if begin > 0 and not text[begin - 1].isspace():
        space = text.find(" ", begin, min(start, begin + _EDGE))
        begin = space + 1 if space >= 0 else begin
    if stop < len(text) and not text[stop].isspace():
        space = text.rfind(" ", max(end, stop - _EDGE), stop)
        stop = space if space >= 0 else stop
    return begin, stop
