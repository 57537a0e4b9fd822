"""What is in flight, noted in a small file that is never synced: a killed process leaves it behind.

Running URLs are memory only. After an unclean end this ring says which URLs were in flight, so that a URL that kills
the crawler each time is not leased for ever; and for how long hosts are to be left alone whose answers had come, but
were not committed yet.
"""

import mmap
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_SLOTS = 4096
_URL = struct.Struct("<q")
_HOST = struct.Struct("<qd")
_END_OF_URLS = _SLOTS * _URL.size
_SIZE = _END_OF_URLS + _SLOTS * _HOST.size


class RunningRing:
    """A memory-mapped file; its pages outlive the process, if not the machine."""

    def __init__(self, path: Path) -> None:
        if not path.exists() or path.stat().st_size != _SIZE:
            path.write_bytes(bytes(_SIZE))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _SIZE)
        self._urls = _Slots(self._map, 0, _URL)
        self._hosts = _Slots(self._map, _END_OF_URLS, _HOST)

    def left_behind(self) -> list[int]:
        """The URLs that were in flight when the file was last written."""
        return [number for (number,) in _URL.iter_unpack(self._map[:_END_OF_URLS]) if number > 0]

    def left_alone(self) -> list[tuple[int, float]]:
        """Hosts, and when they may be asked again, as their last answers said that were not committed."""
        return [(number, at) for number, at in _HOST.iter_unpack(self._map[_END_OF_URLS:]) if number > 0]

    def clear(self) -> None:
        """Forget what was left behind."""
        self._map[:] = bytes(_SIZE)

    def enter(self, url_id: int) -> None:
        """A URL is in flight. With more than 4096 in flight the rest is not noted."""
        self._urls.put(url_id)

    def leave(self, url_id: int) -> None:
        """A URL is settled, and that is durable."""
        self._urls.clear(url_id)

    def leave_alone(self, host_id: int, until: float) -> None:
        """A host is not to be asked before; that is not durable yet."""
        self._hosts.put(host_id, until)

    def know(self, host_id: int, until: float) -> None:
        """That a host is not to be asked before is durable."""
        noted = self._hosts.get(host_id)
        if noted is not None and noted[1] <= until:
            self._hosts.clear(host_id)

    def close(self) -> None:
        """Let go of the file."""
        self._map.close()


class _Slots:
    """A part of the file, with a place for each of some numbers; those for which there is none are left out."""

    def __init__(self, place: mmap.mmap, start: int, entry: struct.Struct) -> None:
        self._map = place
        self._entry = entry
        self._empty: Sequence[Any] = entry.unpack(bytes(entry.size))
        self._free = [start + slot * entry.size for slot in range(_SLOTS)]
        self._places: dict[int, int] = {}

    def get(self, number: int) -> tuple[Any, ...] | None:
        place = self._places.get(number)
        return None if place is None else self._entry.unpack_from(self._map, place)

    def put(self, number: int, *more: float) -> None:
        place = self._places.get(number)
        if place is None:
            if not self._free:
                return
            place = self._places[number] = self._free.pop()
        self._entry.pack_into(self._map, place, number, *more)

    def clear(self, number: int) -> None:
        place = self._places.pop(number, None)
        if place is not None:
            self._entry.pack_into(self._map, place, *self._empty)
            self._free.append(place)
