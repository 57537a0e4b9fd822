"""Transactions: all or nothing, and the connection is fit for the next one."""

from pathlib import Path

import apsw
import pytest

from gossamer.archive.transaction import transaction


@pytest.fixture
def connection(tmp_path: Path) -> apsw.Connection:
    made = apsw.Connection(str(tmp_path / "some.db"))
    made.execute("CREATE TABLE page (id INTEGER PRIMARY KEY)")
    return made


def pages(connection: apsw.Connection) -> list[int]:
    return [number for (number,) in connection.execute("SELECT id FROM page")]


def test_what_is_done_inside_is_there_afterwards_for_everybody(connection: apsw.Connection, tmp_path: Path) -> None:
    with transaction(connection):
        connection.execute("INSERT INTO page VALUES (1)")
        assert pages(apsw.Connection(str(tmp_path / "some.db"))) == []
    assert pages(apsw.Connection(str(tmp_path / "some.db"))) == [1]


def test_after_an_error_nothing_of_it_is_there_and_the_next_one_works(connection: apsw.Connection) -> None:
    with pytest.raises(KeyError), transaction(connection):
        connection.execute("INSERT INTO page VALUES (1)")
        raise KeyError
    with transaction(connection):
        connection.execute("INSERT INTO page VALUES (2)")
    assert pages(connection) == [2]


def test_one_that_sqlite_ended_itself_is_not_ended_twice(connection: apsw.Connection) -> None:
    with pytest.raises(apsw.ConstraintError), transaction(connection):
        connection.execute("INSERT INTO page VALUES (1)")
        connection.execute("INSERT OR ROLLBACK INTO page VALUES (1)")
    assert pages(connection) == []
    assert not connection.in_transaction
