"""The end of forgetting, which may come later: files that hold forgotten records are deleted, the database is rebuilt.

What is left to do stands in the database (table ``doomed``, and ``scrub`` in ``meta``), written in the transaction that
forgets. So a process that dies anywhere leaves a whole collection, and the next one that opens it goes on here.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import apsw

from gossamer.archive.database import NAME, database_error, select
from gossamer.archive.disk import Disk, write_error
from gossamer.archive.segments import FOLDER, segment_path

SEEN = "seen.bin"
"""The saved fingerprints of known URLs; made anew where it is missing."""


def doom(connection: apsw.Connection, uris: Iterable[str]) -> None:
    """Note files to be deleted, inside the caller's transaction."""
    connection.executemany("INSERT OR IGNORE INTO doomed VALUES (?)", [(uri,) for uri in uris])


def ask_for_scrub(connection: apsw.Connection) -> None:
    """Note that deleted rows must leave the database's file, inside the caller's transaction."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('scrub', 1)")


def is_pending(connection: apsw.Connection) -> bool:
    """Whether something is left to be done."""
    query = "SELECT EXISTS (SELECT 1 FROM doomed) OR EXISTS (SELECT 1 FROM meta WHERE name = 'scrub')"
    return bool(connection.execute(query).get)


def finish(connection: apsw.Connection, folder: Path, disk: Disk | None = None) -> bool:
    """Do what is left to be done, under the collection's lock; it may be repeated.

    False where another process was reading the database: its bytes are gone from there when this is done again.
    Raises ArchiveError, DiskFull when there is no room for the database to be rebuilt.
    """
    if not is_pending(connection):
        return True
    disk = disk or Disk()
    _delete_files(connection, folder, disk)
    try:
        is_clean = not select(connection, "SELECT 1 FROM meta WHERE name = 'scrub'") or _rebuild(connection)
        with connection:
            connection.execute("DELETE FROM doomed")
            if is_clean:
                connection.execute("DELETE FROM meta WHERE name = 'scrub'")
    except apsw.Error as error:
        raise database_error(folder / NAME, error) from error
    return is_clean


def _delete_files(connection: apsw.Connection, folder: Path, disk: Disk) -> None:
    # whatever is noted: a file that rows speak of stays
    rows = select(connection, "SELECT uri FROM doomed WHERE uri NOT IN (SELECT uri FROM segment)")
    paths = [segment_path(folder, str(uri)) for (uri,) in rows]
    try:
        for path in (*paths, folder / SEEN):
            with suppress(FileNotFoundError):
                path.unlink()
        if (folder / FOLDER).is_dir():
            disk.sync_folder(folder / FOLDER)
        disk.sync_folder(folder)
    except OSError as error:
        raise write_error(folder, error) from error


def _rebuild(connection: apsw.Connection) -> bool:
    """Let nothing of deleted rows stay in the files of the database; False where a reader kept the log from being emptied.

    The full-text index keeps the words of deleted pages until its parts are merged. VACUUM writes the file anew:
    deleted rows leave their bytes in free pages, and in gaps of pages that are in use.
    """
    connection.execute("INSERT INTO page_index(page_index) VALUES ('optimize')")
    connection.execute("VACUUM")
    ((busy, _, _),) = select(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
    return not busy
