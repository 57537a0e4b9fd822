"""Pieces of work that go on at once, bounded in number and in the bytes that they hold."""

import asyncio
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Self

MAX_AT_ONCE = 64
MAX_BYTES = 64 * 1024 * 1024


class Abreast:
    """A context: at its end all is done. What fails is raised, once, and what is under way then is dropped."""

    def __init__(self) -> None:
        self._tasks: dict[asyncio.Task[None], int] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            while error is None and self._tasks:
                await self._reap()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def start(self, size: int, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Begin a piece of work that holds ``size`` bytes, as soon as there is room for it. Raises what failed before."""
        while len(self._tasks) >= MAX_AT_ONCE or (self._tasks and sum(self._tasks.values()) + size > MAX_BYTES):
            await self._reap()
        self._tasks[asyncio.create_task(work())] = size

    async def _reap(self) -> None:
        done, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            del self._tasks[task]
        errors = [task.exception() for task in done]
        for error in errors:
            if error is not None:
                raise error
