"""A limit to the bytes a second that all transfers of a crawl bring together.

A transfer whose turn it is not is paused: libcurl keeps the piece that it has and reads no further, so the server is
told by TCP to wait. libcurl's own limit is one of each transfer, and would have to be set anew whenever one starts or ends.
"""

import asyncio
from collections.abc import Callable

_BURST = 0.1
"""Seconds' worth of bytes that may come at once after a lull."""


class RateLimit:
    """A bucket that ``rate`` bytes a second flow into. Belongs to the event loop that runs when it is first used.

    A piece is let through when the bucket is not in debt, and may bring it into debt: no piece is ever cut.
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._level = 0.0
        self._at: float | None = None
        self._waiting: dict[object, Callable[[], None]] = {}  # in the order in which they came
        self._timer: asyncio.TimerHandle | None = None

    def admits(self, who: object, size: int, resume: Callable[[], None]) -> bool:
        """Whether ``size`` bytes of ``who`` may come now. Otherwise ``resume`` is called when it is worth asking again."""
        self._refill()
        if self._level < 0:
            self._waiting[who] = resume
            self._arm()
            return False
        self._level -= size
        return True

    def spend(self, size: int) -> None:
        """Count what came without being asked for, as headers do."""
        self._refill()
        self._level -= size

    def forget(self, who: object) -> None:
        """``who`` waits no more."""
        self._waiting.pop(who, None)

    def close(self) -> None:
        """Nobody waits any more."""
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _refill(self) -> None:
        now = asyncio.get_running_loop().time()
        if self._at is not None:
            self._level = min(self._level + (now - self._at) * self._rate, self._rate * _BURST)
        self._at = now

    def _arm(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(-self._level / self._rate, self._on_time)

    def _on_time(self) -> None:
        self._timer = None
        self._refill()
        while self._waiting and self._level >= 0:
            self._waiting.pop(next(iter(self._waiting)))()
        if self._waiting:
            self._arm()
