"""Time as an object that is passed in, so that tests neither sleep nor guess."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """What the program asks of time."""

    def now(self) -> float:
        """Seconds since 1970 (UTC), as kept over restarts."""
        ...


class SystemClock:
    """The machine's own clock."""

    def now(self) -> float:
        return time.time()


class ManualClock:
    """A clock that moves only when told to; for simulations and tests."""

    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self._now = now

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        """Move on by ``seconds``."""
        self._now += seconds


def timestamp(seconds: float) -> str:
    """Seconds since 1970 as an ISO 8601 date in UTC with milliseconds (RFC 3339), as WARC wants it."""
    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return text.removesuffix("+00:00") + "Z"
