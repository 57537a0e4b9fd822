"""What a crawl has committed, on its way from the crawl's thread to whoever reads it."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial

from gossamer.archive.pages import Try

Group = tuple[Try, ...]
"""The pages of one commit."""


class Channel:
    """Bounded, so that a reader who falls behind slows the crawl down. One writer, one reader at a time."""

    def __init__(self, room: int) -> None:
        """``room``: groups that may wait to be read."""
        self._room = room
        self._lock = threading.Lock()
        self._groups: deque[Group] = deque()
        self._reader: Future[Group | None] | None = None
        self._wake_writer: Callable[[], object] | None = None
        self._is_closed = False

    async def put(self, group: Group) -> None:
        """Pass a group on; waits while there is no room."""
        while True:
            room = asyncio.Event()
            with self._lock:
                if self._is_closed:
                    return
                if self._reader is not None:
                    reader, self._reader = self._reader, None
                    reader.set_result(group)
                    return
                if len(self._groups) < self._room:
                    self._groups.append(group)
                    return
                self._wake_writer = partial(asyncio.get_running_loop().call_soon_threadsafe, room.set)
            await room.wait()

    def get(self) -> Future[Group | None]:
        """The next group, None when there will be none. It must be waited for before the next is asked for."""
        future: Future[Group | None] = Future()
        with self._lock:
            if self._groups:
                future.set_result(self._groups.popleft())
                self._make_room()
            elif self._is_closed:
                future.set_result(None)
            else:
                self._reader = future
        return future

    def close(self) -> None:
        """Nothing more comes; what waits can still be read."""
        with self._lock:
            self._is_closed = True
            if self._reader is not None:
                reader, self._reader = self._reader, None
                reader.set_result(None)

    def discard(self) -> None:
        """Nobody reads any more: the crawl must not wait for that."""
        self.close()
        with self._lock:
            self._groups.clear()
            self._make_room()

    def _make_room(self) -> None:
        wake, self._wake_writer = self._wake_writer, None
        if wake is not None:
            wake()
