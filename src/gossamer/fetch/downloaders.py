"""How many downloaders there are: the pool follows the work. Pure: time is passed in.

It grows while every downloader is busy, by as much again each round trip as long as nothing speaks against it, as TCP
does at its start (RFC 5681, 3.1). Two things speak against it, failures and queues. Either makes it smaller, and if that
makes nothing better, it was not for the number: it comes back at once, and bears them.

*Failures* are answers of hosts that had answered before, and now turn us away or fail. When these are too many, one
downloader less is there for each of them, so that as many are left as brought something. It stops at what was served
well before, or at half where that is not known: only what was asked since may bring it lower, for those that are under
way say nothing of fewer. If the part of the downloaders' time that brings something stays the same although their number
has been halved, so many failures are borne for `_BEARING` seconds.

The number that was too many is remembered. The pool comes near it in steps that grow, none longer than half of the way,
and stays one below; then it is tried again, after a time that doubles each time it fails again.

*Queues*: answers come so much later than usual (`_QUEUE`) that they must wait for each other. If they do, fewer wait less,
in proportion, and none is lost (Little's law). If they wait as long as before, the servers are slow, and that is usual
from now on. That answers come a little later is no sign: our own processors may be busy.
"""

from dataclasses import dataclass

ROUND = 0.25
"""Seconds that a round takes at least; answers are judged by rounds."""

PATIENCE = 1.0
"""Seconds that a round takes where few answers come, or after trouble."""

FEW = 10
"""So many failures too many say nothing yet."""

_BAD_SHARE, _MOST_BORNE = 0.2, 0.95  # of the answers: failures that are tolerated at first, and at most
_IDLE_SHRINKAGE, _LATE_SHRINKAGE, _QUEUE_SHRINKAGE = 0.75, 0.9, 0.75
_QUEUE = 1.0  # seconds to the first byte beyond the usual ones, and three times these
_FALL = 0.1  # of the way that the usual wait comes down a round when answers come earlier: chance makes some short
_HOLD, _LONGEST_HOLD = 2.0, 60.0  # seconds before what failed is tried again
_BEARING = 120.0  # seconds until it is put to the test again whether more failures are to be borne
_GAIN = 1.2  # so much more of the downloaders must bring something when there are half as many


@dataclass(slots=True)
class _Round:
    """What was seen since it began."""

    began: float
    peak: int  # downloads at once
    wanted_more: bool = False
    answers: int = 0  # that are well
    failures: int = 0
    waited: float = 0.0  # for first bytes

    @property
    def wait(self) -> float:
        """The mean; 0: nothing came."""
        return self.waited / self.answers if self.answers else 0.0


@dataclass(slots=True)
class _Trouble:
    """Too many fail, and the pool shrinks to its floor."""

    first: int  # limit when it began
    began: float
    floor: int
    failures: int = 0  # since
    good: int = 0
    useful: float = 0.0  # seconds of downloaders that brought something
    wasted: float = 0.0  # of the others
    part_before: float = 0.0  # that was useful when there were twice as many


@dataclass(slots=True)
class _Queue:
    """Answers come late, and the pool has shrunk to see whether they come earlier."""

    first: int  # limit when it began
    before: int  # limit before the last cut
    wait_before: float  # then; 0: not known
    leftovers: int  # answers that are still to come from when there were more
    answers: int = 0  # that came after them: they show how long so few wait
    waited: float = 0.0

    def note(self, waited: float) -> None:
        if self.leftovers:
            self.leftovers -= 1
        else:
            self.answers += 1
            self.waited += waited


class DownloaderPool:
    """The size of the pool and who is busy. ``limit`` downloaders may work at once."""

    def __init__(self, start: int, maximum: int, now: float) -> None:
        self._start = max(1, min(start, maximum))
        self._maximum = maximum
        self.limit = self._start
        self.busy = 0
        self._step = self._start  # what it grows by next
        self._round = _Round(now, 0)
        self._usual_wait = 0.0  # seconds; 0: not known
        self._queue: _Queue | None = None
        self._tolerated = _BAD_SHARE
        self._test_at = now  # when it is learned anew
        self._excess = 0.0  # failures beyond what is tolerated
        self._eased_at = now  # what was asked earlier says nothing of the limit since
        self._trouble: _Trouble | None = None
        self._served = 0  # so many were served well; 0: not known
        self._ceiling = 0  # so many were too many; 0: not known
        self._hold = _HOLD
        self._probe_at = 0.0

    @property
    def has_room(self) -> bool:
        """Whether another download may start."""
        return self.busy < self.limit

    @property
    def size(self) -> int:
        """How many downloaders there are: while it shrinks, those above the limit finish what they are at."""
        return max(self.limit, self.busy)

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
            self._note_failure(began, now)
            return
        self._round.answers += 1
        self._round.waited += waited
        self._excess = max(0.0, self._excess - self._tolerated / (1 - _BAD_SHARE))
        if self._trouble is not None:
            self._trouble.good += 1
            self._trouble.useful += now - max(began, self._trouble.began)
        if self._queue is not None:
            self._queue.note(waited)

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

    # --- too many fail

    def _note_failure(self, began: float, now: float) -> None:
        if self._trouble is not None:
            self._trouble.failures += 1
            self._trouble.wasted += now - max(began, self._trouble.began)
        if began < self._eased_at:
            return
        self._round.failures += 1
        self._excess = min(self._excess + (1 - self._tolerated) / (1 - _BAD_SHARE), FEW + 1.0)
        if self._excess <= FEW:
            return
        self._queue = None
        if now - began > PATIENCE:
            self._ease(now)
        else:
            self._shrink(now)

    def _ease(self, now: float) -> None:
        """What comes late says little of how many are too many."""
        self._excess, self._eased_at, self._step = 0.0, now, 1
        self.limit = max(1, int(_LATE_SHRINKAGE * self.limit))

    def _shrink(self, now: float) -> None:
        if self._trouble is None:
            self._trouble = self._begin_trouble(min(self.limit, max(1, self._round.peak)), now)
        elif self.limit <= self._trouble.floor and not self._look_back(self._trouble, now):
            return
        self._probe_at = now + self._hold
        self.limit = max(self._trouble.floor, self.limit - 1)
        if self.limit == self._trouble.floor:
            self._eased_at = now

    def _begin_trouble(self, number: int, now: float) -> _Trouble:
        if self._ceiling and number >= self._ceiling:
            self._hold = min(2 * self._hold, _LONGEST_HOLD)
        if self._served >= number:
            self._served = 0  # no more
        trouble = _Trouble(self.limit, now, self._served or max(1, number // 2))
        self._ceiling, self._step, self.limit = number, 1, number
        return trouble

    def _look_back(self, trouble: _Trouble, now: float) -> bool:
        """It has come down to the floor, and too many fail. Whether it is to go lower: if it made nothing better, it is
        not for their number that so many fail."""
        self._served = 0
        trouble.floor = max(1, self.limit // 2)
        if 2 * trouble.good < max(self.limit, FEW):  # good answers have had no time to come
            return True
        part = trouble.useful / (trouble.useful + trouble.wasted or 1.0)
        if self.limit > 1 and (not trouble.part_before or part > _GAIN * trouble.part_before):
            self._trouble = _Trouble(trouble.first, now, trouble.floor, part_before=part)
            return True
        borne = 3 * trouble.failures  # chance is no trouble
        self._tolerated = min(_MOST_BORNE, max(self._tolerated, borne / (borne + trouble.good)))
        self._excess, self._test_at = 0.0, now + _BEARING
        self.limit, self._step, self._ceiling, self._hold = trouble.first, self._start, 0, _HOLD
        self._trouble = None
        return False

    # --- not too many

    def _calm(self, seen: _Round, now: float) -> None:
        if seen.wanted_more and 2 * seen.answers >= self.limit and self._trouble is None:
            self._serve()
        self._trouble = None
        self._bear(seen, now)
        if seen.answers:
            self._usual_wait += min(0.0, _FALL * (seen.wait - self._usual_wait)) if self._usual_wait else seen.wait
        if self._queue is not None:
            self._judge(self._queue)
        elif self._is_long(seen.wait):
            self._queue = self._shorten(self.limit)
        elif seen.wanted_more:
            self._grow(now)
        elif seen.peak < self.limit // 2:
            self.limit = max(min(self._start, self.limit), int(_IDLE_SHRINKAGE * self.limit))
            self._step = min(self._step, self.limit)

    def _bear(self, seen: _Round, now: float) -> None:
        """Where some fail however many are asked for, what is tolerated is half as much again as that, so that chance is
        no trouble, and never twice as much; and it is put to the test again some time."""
        borne = self._tolerated * (seen.failures + seen.answers)
        if now >= self._test_at:
            self._tolerated = _BAD_SHARE
        elif 2 * seen.failures < borne:
            self._tolerated = max(_BAD_SHARE, 0.95 * self._tolerated)
        elif 3 * seen.failures > 2 * borne:
            self._tolerated = min(_MOST_BORNE, 1.05 * self._tolerated)

    def _serve(self) -> None:
        """A round in which all were busy went well."""
        self._served = self.limit
        if self.limit >= self._ceiling:
            self._ceiling = 0
            self._hold = max(_HOLD, self._hold / 2)

    def _grow(self, now: float) -> None:
        if self._ceiling > self.limit + 1:
            self.limit = min(self.limit + self._step, (self.limit + self._ceiling) // 2)
        elif self._ceiling > self.limit:
            if now < self._probe_at:
                return
            self._excess = max(self._excess, FEW - 3.0)  # what failed before needs less proof
            self.limit, self._step = self._ceiling, 1
            return
        else:
            self.limit = min(self._maximum, self.limit + self._step)
        self._step = min(2 * self._step, self._maximum)

    # --- answers wait for each other

    def _is_long(self, wait: float) -> bool:
        return wait > max(self._usual_wait + _QUEUE, 3 * self._usual_wait)

    def _shorten(self, first: int, wait_before: float = 0.0) -> _Queue:
        before, self.limit, self._step = self.limit, max(1, int(_QUEUE_SHRINKAGE * self.limit)), 1
        return _Queue(first, before, wait_before, leftovers=self.busy)

    def _judge(self, queue: _Queue) -> None:
        """Whether fewer wait less."""
        if queue.answers < self.limit:
            return
        self._queue = None
        wait, ratio = queue.waited / queue.answers, self.limit / queue.before
        if self.limit == 1 or (queue.wait_before and wait > queue.wait_before * (1 + ratio) / 2):
            self._usual_wait = wait
            self.limit, self._step = queue.first, self._start
        elif self._is_long(wait):
            self._queue = self._shorten(queue.first, wait)
        else:
            self._step = max(1, (queue.before - self.limit) // 4)
