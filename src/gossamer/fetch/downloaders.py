"""How many downloaders there are: the pool follows the work. Pure: time is passed in.

It grows while every downloader is busy, by as much again each round trip as long as nothing speaks against it, as TCP
does at its start (RFC 5681, 3.1). What speaks against it is failure, not time: answers of hosts that had answered
before, and now turn us away or fail. When these are too many, one downloader less is there for each of them, so that
as many are left as brought something. Later one more is tried from time to time, and ever more rarely.

Some fail however many are asked for. Then the part of the downloaders that brings something stays the same while their
number falls; when it has fallen by half in vain, they come back and that many failures are borne.

That answers come later is no sign by itself: our own processors may be busy. Only long queues are (`_QUEUE`).
"""

from dataclasses import dataclass

ROUND = 0.25
"""Seconds that a round takes at least; answers are judged by rounds."""

PATIENCE = 1.0
"""Seconds that a round takes where few answers come, or after trouble."""

FEW = 10
"""So many failures too many say nothing yet."""

_BAD_SHARE = 0.2  # of the answers
_IDLE_SHRINKAGE, _SHRINKAGE = 0.75, 0.9
_QUEUE = 1.0  # seconds to the first byte beyond the best known time, and three times that
_HOLD, _LONGEST_HOLD = 2.0, 60.0  # seconds before more than what failed is tried again
_GAIN = 1.3  # so much more of the downloaders must bring something when there are half as many


@dataclass(slots=True)
class _Round:
    """What was seen since it began."""

    began: float
    peak: int  # downloads at once
    wanted_more: bool = False
    answers: int = 0  # that are well
    failures: int = 0
    waited: float = 0.0  # for first bytes


@dataclass(slots=True)
class _Trouble:
    """Too many fail, and the pool shrinks."""

    first: int  # limit when it began
    began: float
    limit: int  # then; it begins anew with half as many
    failures: int = 0  # since
    good: int = 0
    useful: float = 0.0  # seconds that the good ones took, of all downloaders
    part_before: float = 0.0  # of the downloaders, those that brought something when there were twice as many

    def part(self, now: float, limit: int) -> float:
        """Which part of the downloaders brings something: by Little's law, the seconds of good downloads a second."""
        downloaders = (self.limit + limit) / 2
        return self.useful / ((now - self.began) * downloaders) if now > self.began else 0.0


class DownloaderPool:
    """The size of the pool and who is busy. ``limit`` downloaders may work at once."""

    def __init__(self, start: int, maximum: int, now: float) -> None:
        self._start = max(1, min(start, maximum))
        self._maximum = maximum
        self.limit = self._start
        self.busy = 0
        self._step = self._start  # what it grows by next
        self._round = _Round(now, 0)
        self._best_wait = 0.0
        self._tolerated = _BAD_SHARE
        self._excess = 0.0  # failures beyond what is tolerated
        self._eased_at = now
        self._trouble: _Trouble | None = None
        self._ceiling = 0  # what was too many; 0: not known
        self._hold = _HOLD
        self._probe_at = 0.0

    @property
    def has_room(self) -> bool:
        """Whether another download may start."""
        return self.busy < self.limit

    def begin(self) -> None:
        """A download starts."""
        self.busy += 1
        self._round.peak = max(self._round.peak, self.busy)

    def end(self) -> None:
        """A download is over."""
        self.busy -= 1

    def want_more(self) -> None:
        """All are busy. If nothing waits for them, the next round will show it."""
        self._round.wanted_more = True

    def note(self, *, began: float, waited: float, failed: bool, now: float) -> None:
        """A download that began then is over: the first byte came after ``waited`` seconds, or it failed as where too
        much is asked. What speaks neither for nor against more of them is not noted."""
        if failed:
            self._note_failure(now, is_late=now - began > PATIENCE, is_old=began < self._eased_at)
            return
        self._round.answers += 1
        self._round.waited += waited
        self._excess = max(0.0, self._excess - self._tolerated / (1 - _BAD_SHARE))
        if self._trouble is not None:
            self._trouble.good += 1
            self._trouble.useful += now - max(began, self._trouble.began)

    def adapt(self, now: float) -> None:
        """At the end of a round, follow what it showed."""
        seen = self._round
        took = now - seen.began
        is_pace = took >= (ROUND if self._step >= self._start else PATIENCE)
        if took < PATIENCE and not (is_pace and seen.wanted_more and 2 * seen.answers >= self.limit):
            return
        if self._excess <= FEW:
            self._calm(seen, now)
        self._round = _Round(now, self.busy)

    # --- too many

    def _note_failure(self, now: float, *, is_late: bool, is_old: bool) -> None:
        if is_late and is_old:  # of many that wait for the same time-out only the first are news
            return
        self._round.failures += 1
        self._excess = min(self._excess + (1 - self._tolerated) / (1 - _BAD_SHARE), FEW + 1.0)
        if self._excess <= FEW:
            return
        if is_late:
            self._ease(now)
        else:
            self._shrink(now)

    def _ease(self, now: float) -> None:
        """What comes late says little of how many are too many."""
        self._excess, self._eased_at, self._step = 0.0, now, 1
        self.limit = max(1, int(_SHRINKAGE * self.limit))

    def _shrink(self, now: float) -> None:
        if self._trouble is None:
            self._trouble = _Trouble(self.limit, now, min(self.limit, self._round.peak))
            self._hold = min(2 * self._hold, _LONGEST_HOLD)
            self._step = 1
        self._trouble.failures += 1
        self._ceiling = min(self.limit, self._trouble.limit)
        self._probe_at = now + self._hold
        self.limit = max(1, self._ceiling - 1)
        if 2 * self.limit <= self._trouble.limit + 1 and 2 * self._trouble.good >= max(self.limit, FEW):
            self._look_back(self._trouble, now)  # good answers have had time to come

    def _look_back(self, trouble: _Trouble, now: float) -> None:
        """There are half as many now. If it made nothing better, it is not for their number that so many fail."""
        part = trouble.part(now, self.limit)
        if self.limit > 1 and (not trouble.part_before or part > _GAIN * trouble.part_before):
            self._trouble = _Trouble(trouble.first, now, self.limit, part_before=part)
            return
        self._tolerated = min(0.95, 1.2 * trouble.failures / (trouble.failures + trouble.good) + 0.05)
        self._excess = 0.0
        self.limit, self._step, self._ceiling, self._hold = trouble.first, self._start, 0, _HOLD
        self._trouble = None

    # --- not too many

    def _calm(self, seen: _Round, now: float) -> None:
        self._trouble = None
        if seen.failures * 2 < (seen.failures + seen.answers) * self._tolerated:
            self._tolerated = max(_BAD_SHARE, 0.95 * self._tolerated)
        if self._is_queueing(seen):
            self.limit = max(min(self._start, self.limit), int(_SHRINKAGE * self.limit))
            self._step = 1
        elif seen.wanted_more:
            self._grow(now)
        elif seen.peak < self.limit // 2:
            self.limit = max(min(self._start, self.limit), int(_IDLE_SHRINKAGE * self.limit))
            self._step = min(self._step, self.limit)

    def _is_queueing(self, seen: _Round) -> bool:
        """Whether answers come so late that they must wait for each other somewhere."""
        if not seen.answers:
            return False
        wait = seen.waited / seen.answers
        if not self._best_wait or wait < self._best_wait:
            self._best_wait = wait
        else:
            self._best_wait *= 1.01  # what was best long ago may be out of reach now
        return wait > max(self._best_wait + _QUEUE, 3 * self._best_wait)

    def _grow(self, now: float) -> None:
        if self._ceiling and self.limit >= self._ceiling:
            self._ceiling, self._hold = 0, _HOLD  # it was tried again, and is well now
        if self._ceiling and now < self._probe_at:
            self.limit = max(self.limit, min(self.limit + self._step, self._ceiling - 1))
        else:
            if self._ceiling:  # what failed before needs less proof
                self._excess = max(self._excess, FEW - 3.0)
            self.limit = min(self._maximum, self.limit + self._step)
            self._step = min(2 * self._step, self._maximum)
