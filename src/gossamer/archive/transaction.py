"""A transaction whose end does not stop the rest of the program."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """What is done inside becomes durable as one, or not at all. Not to be nested. Raises apsw's errors.

    apsw's own ``with connection`` commits under the lock of the interpreter: the index is written and the disk waited for
    (30-60 ms for a group of pages) while no other thread gets a turn. A statement that commits lets go of it.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite may have ended it already
            connection.execute("ROLLBACK")
        raise


@contextmanager
def reading(connection: apsw.Connection) -> Iterator[None]:
    """What is read inside is of one moment, and the locks of the files are taken once. Raises apsw's errors."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:  # SQLite may have ended it already
            connection.execute("COMMIT")
