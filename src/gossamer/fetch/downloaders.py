"""How many downloaders there are: the pool follows the work. Pure: time is passed in.

It grows while every downloader is busy and hosts are ready to be asked, and shrinks when there is nothing to do, or
when more downloaders only bring more failures or longer waits (the network or a server is overloaded).
"""

from dataclasses import dataclass

WINDOW = 1.0
"""Seconds over which answers are judged."""

_GROWTH = 1.25
_SHRINKAGE = 0.75
_BAD_SHARE = 0.25  # of the answers of a window
_SLOWER = 2.0  # times the best known time to the first byte


@dataclass(slots=True)
class _Window:
    """What came back in the current window."""

    began: float
    answers: int = 0
    failures: int = 0
    waited: float = 0.0


class DownloaderPool:
    """The size of the pool and who is busy. ``limit`` downloaders may work at once."""

    def __init__(self, start: int, maximum: int, now: float) -> None:
        self._start = max(1, min(start, maximum))
        self._maximum = maximum
        self.limit = self._start
        self.busy = 0
        self._window = _Window(now)
        self._best_wait = 0.0
        self._wanted_more = False
        self._peak = 0

    @property
    def has_room(self) -> bool:
        """Whether another download may start."""
        return self.busy < self.limit

    def begin(self) -> None:
        """A download starts."""
        self.busy += 1
        self._peak = max(self._peak, self.busy)

    def end(self) -> None:
        """A download is over."""
        self.busy -= 1

    def want_more(self) -> None:
        """All are busy while a host is ready."""
        self._wanted_more = True

    def note(self, waited: float, *, failed: bool) -> None:
        """An answer came after ``waited`` seconds, or failed in a way that speaks of overload."""
        self._window.answers += 1
        self._window.failures += failed
        self._window.waited += waited

    def adapt(self, now: float) -> None:
        """At the end of a window, follow what it showed."""
        window = self._window
        if now - window.began < WINDOW:
            return
        if window.answers:
            self._judge(window)
        elif self._peak < self.limit:
            self.limit = max(self._start, int(self.limit * _SHRINKAGE))
        self._window = _Window(now)
        self._wanted_more = False
        self._peak = self.busy

    def _judge(self, window: _Window) -> None:
        wait = window.waited / window.answers
        if not self._best_wait or wait < self._best_wait:
            self._best_wait = wait
        else:
            self._best_wait *= 1.02  # what was best long ago may be out of reach now
        overloaded = window.failures > _BAD_SHARE * window.answers
        slow = wait > max(0.05, _SLOWER * self._best_wait)
        if overloaded or (slow and self.limit > self._start):
            self.limit = max(1, int(self.limit * _SHRINKAGE))
        elif self._wanted_more and not slow:
            self.limit = min(self._maximum, int(self.limit * _GROWTH) + 1)
        elif self._peak < self.limit // 2:
            self.limit = max(self._start, int(self.limit * _SHRINKAGE))
