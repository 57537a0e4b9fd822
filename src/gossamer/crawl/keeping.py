"""Keeps the cookies of a crawl in the file that a person named for them, so that the next run has them."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from gossamer.errors import UsageError
from gossamer.fetch.cookie_file import write_cookies
from gossamer.fetch.identity import Identity

EVERY = 10.0
"""Seconds: a crawl that is killed loses the cookies of so long a time."""

log = logging.getLogger("gossamer.cookies")


@asynccontextmanager
async def keeping_cookies(identity: Identity, file: str) -> AsyncIterator[None]:
    """While it lasts cookies are saved when they changed, and at its end. Does nothing without a ``file``.

    UsageError at the start where the file can't be written; later that is logged, and the crawl goes on.
    """
    if not file:
        yield
        return
    path = Path(file)
    write_cookies(path, identity.cookies())
    task = asyncio.create_task(_save_now_and_then(identity, path))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        await _save(identity, path)


async def _save_now_and_then(identity: Identity, path: Path) -> None:
    saved = identity.changes
    while True:
        await asyncio.sleep(EVERY)
        if identity.changes != saved:
            saved = identity.changes
            await _save(identity, path)


async def _save(identity: Identity, path: Path) -> None:
    try:
        await asyncio.to_thread(write_cookies, path, identity.cookies())
    except UsageError as error:
        log.warning("%s", error)
