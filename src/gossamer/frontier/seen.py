"""The first level of the URL-seen test: the fingerprints of all known URLs, in memory, exact.

Open addressing in one numpy array: 10 million fingerprints take 134 MB (a Python set 697 MB). The second level is the
fingerprint index of the database, asked only for what this level does not know.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Fingerprints = NDArray[np.uint64]

AS_FOUND = 0x6A09E667F3BCC908
"""Makes of a strong key the one under which the set holds a URL whose row is not final (`records.Hold.AS_FOUND`): so what
it knows under neither has no row, and the database need not be asked."""

_MAGIC = 0x676F73736D6574
_MIN_SLOTS = 1 << 12
_STEP = 1 << 16
_SPREAD = 0x9E3779B97F4A7C15
_HEADER = 4


class SeenSet:
    """A set of 64-bit fingerprints that grows; nothing is ever taken out."""

    def __init__(self, expected: int = 0) -> None:
        slots = _MIN_SLOTS
        while expected * 5 > slots * 3:
            slots *= 2
        self._table: Fingerprints = np.zeros(slots, dtype=np.uint64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """Bytes of memory it takes."""
        return int(self._table.nbytes)

    def contains(self, fingerprints: Fingerprints) -> NDArray[np.bool_]:
        """For each fingerprint, whether it is in the set."""
        wanted = _without_zero(fingerprints)
        mask = np.uint64(len(self._table) - 1)
        slots = self._homes(wanted)
        found = np.zeros(len(wanted), dtype=np.bool_)
        pending = np.arange(len(wanted))
        while pending.size:
            values = self._table[slots[pending]]
            hit = values == wanted[pending]
            found[pending[hit]] = True
            pending = pending[~hit & (values != 0)]
            slots[pending] = (slots[pending] + np.uint64(1)) & mask
        return found

    def holds(self, fingerprint: int) -> bool:
        """Whether a single one is in the set."""
        wanted = fingerprint or 1
        slot = (wanted * _SPREAD & 0xFFFFFFFFFFFFFFFF) >> 65 - len(self._table).bit_length()
        while value := self._table.item(slot):
            if value == wanted:
                return True
            slot = (slot + 1) & (len(self._table) - 1)
        return False

    def add(self, fingerprints: Fingerprints) -> None:
        """Put fingerprints in; those that are there already change nothing."""
        wanted = np.unique(_without_zero(fingerprints))
        while (self._count + len(wanted)) * 5 > len(self._table) * 3:
            self._grow()
        self._insert(wanted)

    def _insert(self, wanted: Fingerprints) -> None:
        mask = np.uint64(len(self._table) - 1)
        slots = self._homes(wanted)
        pending = np.arange(len(wanted))
        while pending.size:
            at = slots[pending]
            values = self._table[at]
            free = values == 0
            self._table[at[free]] = wanted[pending[free]]
            # two may have wanted the same slot: the one that stands there now won it
            settled = self._table[at] == wanted[pending]
            self._count += int(np.count_nonzero(settled & free))
            pending = pending[~settled]
            slots[pending] = (slots[pending] + np.uint64(1)) & mask

    def _homes(self, wanted: Fingerprints) -> Fingerprints:
        """The slots where they are looked for first: in the order of the products, so that they keep it in a larger
        table."""
        return wanted * np.uint64(_SPREAD) >> np.uint64(65 - len(self._table).bit_length())

    def _grow(self) -> None:
        """To twice its size, in place: a second table would be a peak of half as much again.

        From the end on, each part moves to about twice its place, where everything has been moved away already. What
        comes round to the beginning by that is moved once more.
        """
        end = len(self._table)
        self._table.resize(2 * end, refcheck=False)  # the allocator moves no pages for that
        count, step = self._count, min(_STEP, end)
        for start in range(end - step, -1, -step):
            part = self._table[start : start + step]
            moved = part[part != 0]
            part[:] = 0
            self._insert(moved)
        self._count = count

    def save(self, path: Path, *, last_id: int, owner: bytes) -> None:
        """Write it beside the database. ``last_id``: the newest URL in it; ``owner``: whose fingerprints these are."""
        aside = path.with_suffix(".new")
        header = np.array([_MAGIC, self._count, last_id, int.from_bytes(owner[:8], "little")], dtype=np.uint64)
        with aside.open("wb") as file:
            header.tofile(file)
            self._table.tofile(file)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)

    @classmethod
    def load(cls, path: Path, *, owner: bytes) -> "tuple[SeenSet, int] | None":
        """A saved set and the newest URL in it; None when there is none that can be trusted."""
        try:
            with path.open("rb") as file:
                header: NDArray[Any] = np.fromfile(file, dtype=np.uint64, count=_HEADER)
                table: Fingerprints = np.fromfile(file, dtype=np.uint64)
                is_whole = not file.read(1)
        except OSError:
            return None
        slots = len(table)
        if slots < _MIN_SLOTS or slots & (slots - 1) or int(header[0]) != _MAGIC or not is_whole:
            return None
        if int(header[3]) != int.from_bytes(owner[:8], "little"):
            return None
        if int(np.count_nonzero(table)) != int(header[1]) or int(header[1]) * 5 > slots * 3:
            return None
        seen = cls()
        seen._table, seen._count = table, int(header[1])
        return seen, int(header[2])


def _without_zero(fingerprints: Fingerprints) -> Fingerprints:
    """0 marks an empty slot; the one fingerprint in 2^64 that is 0 counts as 1."""
    return np.where(fingerprints == 0, np.uint64(1), fingerprints)
