"""Where else a URL may be named that is to be forgotten: the log, the events, asked commands, files that were set aside."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from gossamer import url as urls
from gossamer.archive.aside import written_aside
from gossamer.archive.database import select
from gossamer.archive.disk import write_error
from gossamer.archive.reader import scan
from gossamer.archive.segments import FOLDER
from gossamer.errors import ArchiveError

FORGOTTEN = "[forgotten]"
"""What stands where a URL stood."""

_URL = re.compile(r"https?://[^\s\"<>]+", re.IGNORECASE)
_AFTER = ".,;:!?)]}'"  # may end the sentence, and not the URL
_MOST_AFTER = 4  # of these that are tried
_TEXTS = (("url", ("id",), "reason"), ("attempt", ("url", "attempt"), "outcome"))
_OBJECTS = (("event", "body"), ("command", "arguments"))


@dataclass(frozen=True, slots=True)
class Mentions:
    """Finds what is meant in texts. ``host``: a hostname that is meant wherever it stands."""

    is_meant: Callable[[str], bool]
    host: str = ""

    def cleaned(self, text: str) -> str:
        """``text`` without URLs that are meant."""
        if text == self.host != "":
            return FORGOTTEN
        return _URL.sub(lambda found: self._cleaned_url(found[0]), text)

    def _cleaned_url(self, text: str) -> str:
        """What follows a URL can't be told from its end: all that it may be is asked for."""
        for after in range(_MOST_AFTER + 1):
            end = len(text) - after
            if self._is_meant(text[:end]):
                return FORGOTTEN + text[end:]
            if not text[:end].endswith(tuple(_AFTER)):
                break
        return text

    def _is_meant(self, text: str) -> bool:
        return self.is_meant(text) or self.is_meant(urls.canonicalise(text) or "")

    def cleaned_value(self, value: Any) -> Any:
        """A JSON value without URLs that are meant."""
        if isinstance(value, dict):
            return {key: self.cleaned_value(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.cleaned_value(each) for each in value]
        return self.cleaned(value) if isinstance(value, str) else value


def scrub_rows(connection: apsw.Connection, mentions: Mentions) -> None:
    """Take what is meant out of reasons, events and commands, inside the caller's transaction."""
    for table, keys, column in _TEXTS:
        _scrub(connection, table, keys, column, mentions.cleaned)
    for table, column in _OBJECTS:
        _scrub(connection, table, ("id",), column, lambda text: json.dumps(mentions.cleaned_value(json.loads(text))))


def _scrub(
    connection: apsw.Connection, table: str, keys: tuple[str, ...], column: str, clean: Callable[[str], str]
) -> None:
    rows = select(connection, f"SELECT {column}, {', '.join(keys)} FROM {table} WHERE {column} != ''")  # noqa: S608
    changed = [(after, *key) for text, *key in rows if (after := clean(text)) != text]
    where = " AND ".join(f"{key} = ?" for key in keys)
    connection.executemany(f"UPDATE {table} SET {column} = ? WHERE {where}", changed)  # noqa: S608


def scrub_logs(folder: Path, mentions: Mentions) -> None:
    """Take what is meant out of the log files of a collection. Raises ArchiveError."""
    for path in sorted(folder.glob("gossamer.log*")):
        try:
            is_touched = any(line != after for line, after in _lines(path, mentions))
        except OSError as error:
            raise write_error(path, error) from error
        if is_touched:
            with written_aside(path) as file:
                file.writelines(after.encode("utf-8", "surrogateescape") for _, after in _lines(path, mentions))


def _lines(path: Path, mentions: Mentions) -> Iterator[tuple[str, str]]:
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        for line in file:
            yield line, "" if mentions.host and mentions.host in line else mentions.cleaned(line)


def delete_strays(folder: Path, mentions: Mentions) -> int:
    """Delete files that were set aside where something in them is meant or can't be read; the number of them."""
    strays = [path for path in sorted((folder / FOLDER).glob("*.stray")) if _may_mention(path, mentions)]
    for path in strays:
        try:
            path.unlink()
        except OSError as error:
            raise write_error(path, error) from error
    return len(strays)


def _may_mention(path: Path, mentions: Mentions) -> bool:
    try:
        return any(not each.type or mentions.is_meant(each.target_uri) for each in scan(path))
    except ArchiveError:
        return True
