"""Where each word stands in the pages of a copy, packed while they are read: numbers of seven bits a byte.

A page is a row of numbers of words, its fields one behind the other; a word's position is its place in that row.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

GAP = 0
"""A place in a page where no word stands: so that no phrase reaches over it."""

_CHUNK = 1_000_000  # words that are held unpacked

_Numbers = npt.NDArray[np.int64]


class Postings:
    """Takes pages in the order of their ids; words are numbered from 1."""

    def __init__(self) -> None:
        self._documents: list[int] = []
        self._rows: list[npt.NDArray[np.int32]] = []
        self._held = 0
        self._packed: dict[int, tuple[bytearray, bytearray, bytearray]] = {}  # documents, counts, positions
        self._last: dict[int, int] = {}  # the last document of a word
        self.frequencies: dict[int, int] = {}  # in how many documents it stands

    def add(self, document: int, words: Sequence[int]) -> None:
        """One page. ``document``: its id, larger than the one before."""
        self._documents.append(document)
        self._rows.append(np.array(words, dtype=np.int32))
        self._held += len(words)
        if self._held >= _CHUNK:
            self.pack()

    def of(self, word: int) -> bytes:
        """All about a word: the ids of its documents, each as the difference to the one before, how often it stands in
        each, and its positions there, as the number of places left out. `pack` comes first.
        """
        return b"".join(self._packed[word])

    def pack(self) -> None:
        """Take in what is held."""
        if not self._rows:
            return
        lengths = np.array([len(row) for row in self._rows])
        words = np.concatenate(self._rows)
        documents = np.repeat(np.array(self._documents), lengths)
        positions = np.arange(len(words)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        self._documents, self._rows, self._held = [], [], 0
        order = np.argsort(words, kind="stable")
        order = order[np.searchsorted(words[order], GAP, side="right") :]
        if len(order):
            self._take(words[order], documents[order], positions[order])

    def _take(self, words: npt.NDArray[np.int32], documents: _Numbers, positions: _Numbers) -> None:
        """Rows of equal length, ordered by word, document and position."""
        firsts = np.flatnonzero(_changes(words) | _changes(documents))
        counts = np.diff(firsts, append=len(words))
        before = np.roll(positions, 1)
        before[firsts] = -1
        gaps, gap_ends = _packed(positions - before - 1)
        numbers, number_ends = _packed(counts)
        words, documents = words[firsts], documents[firsts]
        begins = np.flatnonzero(_changes(words))
        ends = np.append(begins[1:], len(words))
        deltas = np.diff(documents, prepend=0)
        deltas[begins] = documents[begins] - [self._last.get(word, 0) for word in words[begins].tolist()]
        ids, id_ends = _packed(deltas)
        groups = [*firsts.tolist(), len(positions)]
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            word = int(words[begin])
            into = self._packed.setdefault(word, (bytearray(), bytearray(), bytearray()))
            into[0].extend(ids[id_ends[begin] : id_ends[end]])
            into[1].extend(numbers[number_ends[begin] : number_ends[end]])
            into[2].extend(gaps[gap_ends[groups[begin]] : gap_ends[groups[end]]])
            self._last[word] = int(documents[end - 1])
            self.frequencies[word] = self.frequencies.get(word, 0) + end - begin


def packed(number: int) -> bytes:
    """A number, seven bits a byte, the lowest first; the highest bit says that more follows."""
    data = bytearray()
    while number > 127:
        data.append(number & 127 | 128)
        number >>= 7
    data.append(number)
    return bytes(data)


def _packed(numbers: _Numbers) -> tuple[bytes, _Numbers]:
    """Many numbers, each packed, and where each begins; the last entry is where all end."""
    sizes = np.ones(len(numbers), dtype=np.int64)
    for bits in range(7, 63, 7):
        sizes += numbers >= 1 << bits
    ends = np.cumsum(sizes)
    starts = ends - sizes
    out = np.zeros(int(sizes.sum()), dtype=np.uint8)
    for place in range(int(sizes.max(initial=0))):
        longer = sizes > place
        more = (sizes[longer] > place + 1).astype(np.uint8) << 7
        out[starts[longer] + place] = (numbers[longer] >> 7 * place & 127).astype(np.uint8) | more
    return out.tobytes(), np.concatenate([[0], ends])


def _changes(values: npt.NDArray[np.int32] | _Numbers) -> npt.NDArray[np.bool_]:
    """Where a value is not the one before."""
    changes = np.ones(len(values), dtype=np.bool_)
    changes[1:] = values[1:] != values[:-1]
    return changes
