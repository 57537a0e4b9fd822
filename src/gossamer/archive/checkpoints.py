"""What stands in the write-ahead log comes into the database itself, in a thread beside the one that writes.

SQLite would do it within a commit, which then waits until the disk has all of it: up to a second.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import apsw

from gossamer.archive.database import LOG_PAGES, open_for_writing
from gossamer.errors import CollectionError

_MOST = 10 * LOG_PAGES
"""Pages after which the writer waits: the disk takes less than it is given."""


class Checkpoints:
    """Of the database of one connection, while that is written to. To be closed before it."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="checkpoint")
        self._under_way: Future[None] | None = None
        self._own: apsw.Connection | None = None  # where the thread has had something to do
        connection.set_wal_hook(self._committed)

    def _committed(self, connection: apsw.Connection, _: str, pages: int) -> int:
        """SQLite calls this after each commit, in the thread that commits."""
        if self._under_way is None:
            if pages >= LOG_PAGES:
                self._under_way = self._thread.submit(self._bring)
        elif self._under_way.done() or pages >= _MOST:
            self._under_way.result()
            self._under_way = None
            _checkpoint(connection)  # what was committed meanwhile: only where nothing is left does the log begin anew
        return apsw.SQLITE_OK

    def _bring(self) -> None:
        with suppress(apsw.Error, CollectionError):  # the writer meets what is wrong with the disk itself
            self._own = self._own or open_for_writing(self._path)
            _checkpoint(self._own)

    def close(self) -> None:
        """Wait for what is under way."""
        self._thread.shutdown()
        if self._own is not None:
            self._own.close()


def _checkpoint(connection: apsw.Connection) -> None:
    """As far as readers allow. What fails is tried again after a later commit, as SQLite itself does it."""
    with suppress(apsw.Error):
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
