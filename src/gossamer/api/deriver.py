"""A parser worker for what is derived from the archive on demand, in an event loop of its own thread."""

import asyncio
import secrets
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from gossamer.errors import GossamerError
from gossamer.parse.job import ParseJob
from gossamer.parse.pool import ParserPool
from gossamer.records import Facts
from gossamer.settings import Settings

T = TypeVar("T")

_KEY = secrets.token_bytes(32)  # of fingerprints, which nobody asks for here


class Deriver:
    """One worker from the first job until it is closed. Any thread may use it, also one with an event loop."""

    def __init__(self) -> None:
        """Raises GossamerError when the worker does not come up."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="gossamer deriver", daemon=True)
        self._thread.start()
        limits = Settings()
        self._pool = ParserPool(1, _KEY, limits.parse_timeout, limits.parse_memory, limits.max_decoded)
        self._is_closed = False
        try:
            self._run(self._pool.start())
        except BaseException:
            self.close()
            raise

    def read(self, job: ParseJob) -> Facts:
        """What the worker makes of a body. Raises GossamerError when it can't work any more."""
        if self._is_closed:
            raise GossamerError("the collection was closed")
        return self._run(self._pool.parse(job))

    def close(self) -> None:
        """End the worker and the thread. Closing twice does nothing."""
        if self._is_closed:
            return
        self._is_closed = True
        self._run(self._pool.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
