"""How many bytes of bodies may be in memory at once: those on their way, those being parsed, those waiting to be written.

A large body for which there is no room is paused, as by a rate limit: libcurl keeps the piece that it has and reads no
further, so the server is told by TCP to wait. Small ones always come: no number of large ones that crawl along holds
them up.
"""

import asyncio
from collections.abc import Callable

FREE = 64 * 1024
"""Bytes of each body that are not asked for while it is on its way: most pages are no larger."""


class Room:
    """Memory for ``limit`` bytes of bodies. Belongs to the event loop that runs when it is first used up.

    A half of it is for bodies on their way, a half for those that are whole. The oldest on its way need not wait for the
    others, or all of them could wait for each other for ever, each half there. So there are at most ``limit`` bytes in
    memory, one body, and ``FREE`` for each downloader.
    """

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._kept = 0  # of bodies that are whole
        self._coming: dict[object, int] = {}  # bytes of bodies on their way, the oldest first
        self._on_their_way = 0
        self._waiting: dict[object, tuple[int, Callable[[], None]]] = {}
        self._wake_up: asyncio.Handle | None = None

    @property
    def bytes(self) -> int:
        """Bytes that are in memory now."""
        return self._kept + self._on_their_way

    @property
    def is_full(self) -> bool:
        """Whether so much waits to be parsed or written that nothing more should be asked for."""
        return self._kept >= self._half

    def admits(self, who: object, size: int, resume: Callable[[], None]) -> bool:
        """Whether the body of ``who`` may grow to ``size`` bytes now.

        Otherwise ``resume`` is called when it is worth asking again.
        """
        if not self._has_room_for(who, size):
            self._waiting[who] = size, resume
            return False
        self._on_their_way += size - self._coming.get(who, 0)
        self._coming[who] = size
        return True

    def forget(self, who: object) -> None:
        """The body of ``who`` has come, or will not."""
        self._on_their_way -= self._coming.pop(who, 0)
        self._waiting.pop(who, None)
        self._wake()

    def keep(self, size: int) -> None:
        """A body that has come waits for what is next; it is never refused."""
        self._kept += size

    def let_go(self, size: int) -> None:
        """It is done with."""
        self._kept -= size
        self._wake()

    def _has_room_for(self, who: object, size: int) -> bool:
        if next(iter(self._coming), who) is who:
            return self._kept <= self._half
        grown = self._on_their_way + size - self._coming.get(who, 0)
        return grown <= self._half and self._kept + grown <= 2 * self._half

    def _wake(self) -> None:
        """Soon, not at once: a body that has just come is on its way to `keep`."""
        if self._waiting and self._wake_up is None:
            self._wake_up = asyncio.get_running_loop().call_soon(self._resume)

    def _resume(self) -> None:
        self._wake_up = None
        for who, (size, resume) in list(self._waiting.items()):
            if who in self._waiting and self._has_room_for(who, size):
                del self._waiting[who]
                resume()
