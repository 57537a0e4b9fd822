"""Checks a whole collection: the database, every WARC record that a row points to, the index, the totals.

Nothing is changed, and nothing is taken for granted: the collection may be damaged, or a stranger's. All is seen as of
one moment, so that a crawl may go on beside it.
"""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from gossamer import url as urls
from gossamer.archive import database, index, totals, verify_records
from gossamer.archive.catalogue import STRANGE
from gossamer.errors import ArchiveError
from gossamer.parse.links import unpack

_MAX_OF_A_KIND = 100
_GROUP = 500


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. ``check``: database, warc, index, links, urls or totals."""

    check: str
    place: str  # a file with an offset, a URL, a table or a total
    message: str


def verify(connection: apsw.Connection, folder: Path, *, at_rest: bool) -> Iterator[Problem]:
    """What is wrong with the collection in ``folder``, as it is found.

    ``at_rest``: no crawl is at work on it, and the last one ended as it should; then files must end where their rows
    say. After an unclean end more may be there, which the next crawl cuts off.
    """
    connection.execute("BEGIN")
    try:
        for check in (_database, _urls, _totals, _index, _texts, _links):
            yield from _as_far_as_possible(check(connection))
        records = verify_records.verify(connection, folder, at_rest=at_rest)
        yield from _as_far_as_possible(Problem("warc", place, message) for place, message in records)
    finally:
        if not connection.get_autocommit():
            connection.execute("ROLLBACK")


def _as_far_as_possible(problems: Iterator[Problem]) -> Iterator[Problem]:
    """A database so damaged that a check can't go on is a problem, and the next check may still work."""
    try:
        yield from problems
    except apsw.Error as error:
        yield Problem("database", database.NAME, f"it can't be read ({error})")
    except STRANGE as error:
        yield Problem("database", database.NAME, f"it holds a value that no crawl writes ({error})")


def _database(connection: apsw.Connection) -> Iterator[Problem]:
    """SQLite's own check, which asks FTS5 for its own as well."""
    for (message,) in connection.execute(f"PRAGMA integrity_check({_MAX_OF_A_KIND})"):
        if message != "ok":
            yield Problem("database", database.NAME, str(message))
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        yield Problem("database", f"{table} {row}", f"it refers to a {parent} that is not there")


def _urls(connection: apsw.Connection) -> Iterator[Problem]:
    yield from _found(
        connection,
        "urls",
        "SELECT url, 'it is finished and has no page' FROM url WHERE state = 2"
        " AND NOT EXISTS (SELECT 1 FROM page WHERE page.url = url.id)",
    )
    yield from _found(
        connection,
        "urls",
        "SELECT url, 'it stands there more than once' FROM url WHERE fingerprint IN"
        " (SELECT fingerprint FROM url GROUP BY fingerprint HAVING count(*) > 1)",
    )
    yield from _found(
        connection,
        "urls",
        "SELECT url.url, 'its page is a duplicate of one with other bytes, or of none' FROM page"
        " JOIN url ON url.id = page.url LEFT JOIN page AS first ON first.id = page.duplicate_of"
        " WHERE page.duplicate_of IS NOT NULL AND first.digest IS NOT page.digest",
    )
    secret = connection.execute("SELECT value FROM meta WHERE name = 'secret'").get
    if not isinstance(secret, bytes):
        yield Problem("database", "meta", "the secret of the fingerprints is missing")
        return
    for group in _groups(connection, "SELECT id, url, fingerprint FROM url WHERE id > ? ORDER BY id LIMIT ?"):
        for _, url, key in group:
            if int.from_bytes(urls.fingerprint(url, secret), "little", signed=True) != key:
                yield Problem("urls", url, "its fingerprint is wrong")


def _totals(connection: apsw.Connection) -> Iterator[Problem]:
    kept = {str(name): value for name, value in connection.execute("SELECT name, value FROM counter")}
    for name, value in totals.counted(connection).items():
        if kept.get(name, 0) != value:
            yield Problem("totals", name, f"it says {kept.get(name, 0)}, and there are {value}")


def _index(connection: apsw.Connection) -> Iterator[Problem]:
    """The pages that should stand in the index are those that do, each with its text."""
    for table, column, what in (("page_index_docsize", "id", "in the index"), ("text", "page", "among the texts")):
        yield from _found(
            connection,
            "index",
            f"SELECT url.url, 'a version of it is not {what}' FROM page JOIN url ON url.id = page.url"  # noqa: S608
            f" WHERE is_indexed = 1 AND NOT EXISTS (SELECT 1 FROM {table} WHERE {table}.{column} = page.id)",
        )
        yield from _found(
            connection,
            "index",
            f"SELECT 'page ' || {column}, 'it is {what} and should not be' FROM {table}"  # noqa: S608
            f" WHERE NOT EXISTS (SELECT 1 FROM page WHERE page.id = {table}.{column} AND is_indexed = 1)",
        )


def _texts(connection: apsw.Connection) -> Iterator[Problem]:
    for group in _groups(connection, "SELECT page, blob FROM text WHERE page > ? ORDER BY page LIMIT ?"):
        for page, blob in group:
            try:
                index.inflate(blob)
            except zlib.error as error:
                yield Problem("index", f"page {page}", f"its text is damaged ({error})")


def _links(connection: apsw.Connection) -> Iterator[Problem]:
    for group in _groups(connection, "SELECT page, blob FROM links WHERE page > ? ORDER BY page LIMIT ?"):
        for page, blob in group:
            try:
                unpack(blob)
            except ArchiveError as error:
                yield Problem("links", f"page {page}", error.message)


def _found(connection: apsw.Connection, check: str, query: str) -> Iterator[Problem]:
    """The rows (place, message) of a query, each a problem; of very many the first."""
    for number, (place, message) in enumerate(connection.execute(query)):
        if number == _MAX_OF_A_KIND:
            yield Problem(check, "…", f"and more of the same: {message}")
            return
        yield Problem(check, place, message)


def _groups(connection: apsw.Connection, query: str) -> Iterator[list[tuple[Any, ...]]]:
    after: Any = -(1 << 62)
    while rows := connection.execute(query, (after, _GROUP)).fetchall():
        yield rows
        after = rows[-1][0]
