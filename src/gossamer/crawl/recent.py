"""How long something took, lately."""

from collections import deque

_KEPT = 100


class Recent:
    """The last durations of one kind of work, in seconds."""

    def __init__(self) -> None:
        self._seconds: deque[float] = deque(maxlen=_KEPT)

    def add(self, seconds: float) -> None:
        """One more."""
        self._seconds.append(seconds)

    @property
    def mean(self) -> float:
        """0.0 where there was none yet."""
        return sum(self._seconds) / len(self._seconds) if self._seconds else 0.0

    @property
    def longest(self) -> float:
        """0.0 where there was none yet."""
        return max(self._seconds, default=0.0)
