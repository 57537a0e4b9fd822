"""How the database is opened."""

from pathlib import Path

import pytest

from gossamer.archive.database import create, open_for_reading, open_for_writing

WANTED = {"journal_mode": "wal", "synchronous": 2, "cache_size": -65536, "wal_autocheckpoint": 4000, "foreign_keys": 0}


@pytest.mark.parametrize(("name", "value"), WANTED.items())
def test_every_setting_takes_effect(tmp_path: Path, name: str, value: object) -> None:
    path = tmp_path / "crawl.db"
    create(path, 0.0).close()
    connection = open_for_writing(path)
    assert connection.pragma(name) == value
    connection.close()


def test_a_strangers_schema_is_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "crawl.db"
    create(path, 0.0).close()
    connection = open_for_reading(path)
    assert connection.pragma("trusted_schema") == 0
    connection.close()
