"""How the database is opened."""

from pathlib import Path

import apsw
import pytest

from gossamer.archive.database import VERSION, create, open_for_reading, open_for_writing
from gossamer.errors import CollectionError

SCHEMAS = Path(__file__).parent / "schemas"
"""As they were in each version."""

WANTED = {"journal_mode": "wal", "synchronous": 2, "cache_size": -32768, "wal_autocheckpoint": 4000, "foreign_keys": 0}


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


@pytest.mark.parametrize("version", range(1, VERSION))
def test_older_collections_are_brought_to_the_newest_schema(tmp_path: Path, version: int) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    create(new, 0.0).close()
    connection = apsw.Connection(str(old))
    connection.execute((SCHEMAS / f"{version}.sql").read_text(encoding="utf-8"))
    connection.execute(f"PRAGMA application_id = 0x676F7373; PRAGMA user_version = {version}")
    connection.close()
    with pytest.raises(CollectionError, match="older version") as told:
        open_for_reading(old)
    assert "gossamer release" in str(told.value.hint)
    open_for_writing(old).close()
    assert columns(old) == columns(new)


def columns(path: Path) -> set[tuple[object, ...]]:
    """Every column and index, whatever their order."""
    connection = open_for_reading(path)
    found = connection.execute(
        'SELECT m.name, i.name, i.type, i."notnull", i.dflt_value, i.pk FROM sqlite_master m, pragma_table_info(m.name) i'
        " WHERE m.type = 'table' UNION SELECT tbl_name, name, type, '', '', '' FROM sqlite_master WHERE type = 'index'"
    ).fetchall()
    connection.close()
    return set(found)
