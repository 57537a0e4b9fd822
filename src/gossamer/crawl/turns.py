"""Answers of one host go on in the order in which they came, however long each takes to be parsed.

So URLs are found breadth first, and of two equal pages the one that was asked for first is the original, whichever
worker is quicker.
"""

import asyncio

MOMENT = 0.5
"""Seconds that an answer waits for those before it: a page that takes long holds nothing up."""


class Turn:
    """The place of one answer among those of its host."""

    __slots__ = ("host_id", "waiter")

    def __init__(self, host_id: int) -> None:
        self.host_id = host_id
        self.waiter: asyncio.Future[None] | None = None


class Turns:
    """A line for each host. Belongs to the event loop that runs when somebody first waits."""

    def __init__(self) -> None:
        self._lines: dict[int, dict[Turn, None]] = {}

    def join(self, host_id: int) -> Turn:
        """An answer has come."""
        turn = Turn(host_id)
        self._lines.setdefault(host_id, {})[turn] = None
        return turn

    async def wait(self, turn: Turn) -> None:
        """Return when those before it have left, or after a moment."""
        if next(iter(self._lines[turn.host_id])) is turn:
            return
        loop = asyncio.get_running_loop()
        turn.waiter = loop.create_future()
        timer = loop.call_later(MOMENT, _wake, turn)
        try:
            await turn.waiter
        finally:
            timer.cancel()

    def leave(self, turn: Turn) -> None:
        """It goes on: the next one may."""
        line = self._lines[turn.host_id]
        del line[turn]
        if line:
            _wake(next(iter(line)))
        else:
            del self._lines[turn.host_id]


def _wake(turn: Turn) -> None:
    if turn.waiter is not None and not turn.waiter.done():
        turn.waiter.set_result(None)
