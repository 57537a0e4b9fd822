"""What is in flight, noted in a small file that is never synced: a killed process leaves it behind.

Running URLs are memory only. After an unclean end this ring says which URLs were in flight, so that a URL that kills
the crawler each time is not leased for ever.
"""

import mmap
import struct
from pathlib import Path

_SLOTS = 4096
_ENTRY = struct.Struct("<q")


class RunningRing:
    """URL ids in flight, in a memory-mapped file; its pages outlive the process, if not the machine."""

    def __init__(self, path: Path) -> None:
        size = _SLOTS * _ENTRY.size
        if not path.exists() or path.stat().st_size != size:
            path.write_bytes(bytes(size))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), size)
        self._free = list(range(_SLOTS))
        self._slot_of: dict[int, int] = {}

    def left_behind(self) -> list[int]:
        """The URLs that were in flight when the file was last written."""
        return [number for (number,) in _ENTRY.iter_unpack(self._map[:]) if number > 0]

    def clear(self) -> None:
        """Forget what was left behind."""
        self._map[:] = bytes(len(self._map))

    def enter(self, url_id: int) -> None:
        """A URL is in flight. With more than 4096 in flight the rest is not noted."""
        if self._free:
            slot = self._slot_of[url_id] = self._free.pop()
            _ENTRY.pack_into(self._map, slot * _ENTRY.size, url_id)

    def leave(self, url_id: int) -> None:
        """A URL is settled, and that is durable."""
        slot = self._slot_of.pop(url_id, None)
        if slot is not None:
            _ENTRY.pack_into(self._map, slot * _ENTRY.size, 0)
            self._free.append(slot)

    def close(self) -> None:
        """Let go of the file."""
        self._map.close()
