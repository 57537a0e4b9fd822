"""The reading side of a collection: one connection that threads share, and a parser worker once one is needed."""

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

import apsw

from gossamer.api.deriver import Deriver
from gossamer.archive.catalogue import opened, readable
from gossamer.parse.job import ParseJob
from gossamer.records import Facts

T = TypeVar("T")


class Shelf:
    """Opens the collection in ``folder`` when something is read; close it to let go of it again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.RLock()
        self._open = ExitStack()
        self._connection: apsw.Connection | None = None
        self._deriver: Deriver | None = None

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """The database, for one thread at a time. Raises CollectionError when there is none or it can't be read."""
        with self._lock, readable(self.folder):
            if self._connection is None:
                self._connection = self._open.enter_context(opened(self.folder))
            yield self._connection

    def each(self, rows_of: Callable[[apsw.Connection], Iterator[T]]) -> Iterator[T]:
        """Rows one by one, the database free for others between two of them."""
        with self.reading() as connection:
            rows = rows_of(connection)
        while True:
            with self.reading():
                row = next(rows, None)
            if row is None:
                return
            yield row

    def read(self, job: ParseJob) -> Facts:
        """What a parser worker makes of a body: HTML from the network is parsed nowhere else."""
        with self._lock:
            if self._deriver is None:
                self._deriver = Deriver()
                weakref.finalize(self, self._deriver.close)
            deriver = self._deriver
        return deriver.read(job)

    def let_go(self) -> None:
        """Close the database; it is opened again when something is read."""
        with self._lock:
            self._connection = None
            self._open.close()

    def close(self) -> None:
        """Let go of everything."""
        self.let_go()
        with self._lock:
            deriver, self._deriver = self._deriver, None
        if deriver is not None:
            deriver.close()
