"""The table of places: for each saved URL its path inside the copy, in a file that many workers read at once.

A file is written once and never changed, so that a worker may keep what it has read of it: another table gets another
name.
"""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Self

import apsw

from gossamer.errors import ArchiveError

_KEPT = 65536  # answers that are kept in memory: the pages of a site link to the same places


def write_places(path: Path, places: Iterable[tuple[str, str]]) -> None:
    """Make the table in a new file. ``places``: canonical URL without fragment, path inside the copy (see `Lookup`).

    Raises ArchiveError when the file is there already or can't be written. Of a URL that comes twice the last counts.
    """
    if path.exists():
        raise ArchiveError(f"{path} is there already")
    try:
        connection = apsw.Connection(str(path))
        try:
            connection.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF")  # a torn one is made anew
            with connection:
                connection.execute("CREATE TABLE place (url TEXT PRIMARY KEY, path TEXT NOT NULL) WITHOUT ROWID")
                connection.executemany("INSERT OR REPLACE INTO place VALUES (?, ?)", places)
        finally:
            connection.close()
    except apsw.Error as error:
        raise ArchiveError(f"the table of places can't be written ({error})") from error


class PlaceTable:
    """A table of places, open for reading; it is a `Lookup`."""

    def __init__(self, path: str) -> None:
        """Raises ArchiveError when there is no such table."""
        try:
            # "immutable": no locks and no look at the disk whether it has changed, for it never does.
            self._connection = apsw.Connection(
                f"{Path(path).absolute().as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            )
            self._connection.execute("SELECT 1 FROM place LIMIT 1")
        except apsw.Error as error:
            raise ArchiveError(f"the table of places can't be read ({error})") from error
        self._find = lru_cache(_KEPT)(self._look_up)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def __call__(self, url: str) -> str | None:
        """The path inside the copy, None when the URL is not saved."""
        return self._find(url)

    def _look_up(self, url: str) -> str | None:
        try:
            row = self._connection.execute("SELECT path FROM place WHERE url = ?", (url,)).fetchone()
        except apsw.Error as error:
            raise ArchiveError(f"the table of places can't be read ({error})") from error
        return None if row is None else str(row[0])
