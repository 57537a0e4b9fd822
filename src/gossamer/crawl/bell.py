"""What wakes the crawl manager: something happened, or a time has come."""

import asyncio


class Bell:
    """One task waits for it, anybody rings it.

    An `asyncio.Event` under `asyncio.wait_for` does the same with a task of its own for each wait, which is a good part of
    what a page costs.
    """

    def __init__(self) -> None:
        self._rung = False
        self._waiter: asyncio.Future[None] | None = None

    def ring(self) -> None:
        """Wake who waits, or let the next wait return at once."""
        self._rung = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def wait(self, seconds: float) -> None:
        """Wait for a ring since the last wait, so many seconds at the most."""
        if not self._rung:
            loop = asyncio.get_running_loop()
            self._waiter = loop.create_future()
            timer = loop.call_later(seconds, self.ring)
            try:
                await self._waiter
            finally:
                timer.cancel()
                self._waiter = None
        self._rung = False
