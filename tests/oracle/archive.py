"""The files of a collection: every answer in exactly one record, every record with its row, digests right."""

import hashlib
import re
import shutil
import sqlite3
import tempfile
import zlib
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path

import zstandard

from oracle.warc import Damaged, Record, decoded, digest_is, payload, read

Place = tuple[str, int]  # segment's uri and offset

_SECRET = re.compile(
    rb"^(authorization|proxy-authorization|cookie):(?!\s*\[redacted\]\s*$)", re.IGNORECASE | re.MULTILINE
)


def check_archive(folder: Path, *, pages: Collection[str] | None = None, is_finished: bool = True) -> list[str]:
    """Violations in the collection at ``folder``, which no process may be writing.

    ``pages``: the URLs that must have been kept as HTML, no more and no fewer. ``is_finished``: nothing may wait.
    """
    if not (folder / "crawl.db").exists():
        return [f"database: there is none in {folder}"]
    with tempfile.TemporaryDirectory() as place, closing(_open_copy(folder, Path(place))) as database:
        found = _check_integrity(database)
        if found:
            return found
        records, damages = _read_records(folder, database)
        found += damages
        found += _check_records(records)
        found += _check_rows(database, records)
        found += _check_index(database)
        found += _check_urls(database, is_finished=is_finished)
        if pages is not None:
            found += _check_pages(database, set(pages))
        return found


def _open_copy(folder: Path, place: Path) -> sqlite3.Connection:
    """The database and its write-ahead log are copied: looking must not change what is looked at."""
    for path in folder.glob("crawl.db*"):
        if not path.name.endswith("-shm"):
            shutil.copy(path, place / path.name)
    return sqlite3.connect(place / "crawl.db")


def _check_integrity(database: sqlite3.Connection) -> list[str]:
    try:
        rows = [str(row[0]) for row in database.execute("PRAGMA integrity_check")]
    except sqlite3.DatabaseError as error:
        rows = [str(error)]
    return [f"database: {row}" for row in rows if row != "ok"]


def _read_records(folder: Path, database: sqlite3.Connection) -> tuple[dict[Place, Record], list[str]]:
    records: dict[Place, Record] = {}
    found: list[str] = []
    segments = dict(database.execute("SELECT uri, bytes FROM segment"))
    present = (path for path in folder.glob("warc/**/*") if path.is_file())
    # what a process left that died before its first commit is set aside under such a name, and is no part of the archive
    files = {path.relative_to(folder).as_posix() for path in present if path.suffix != ".stray"}
    found += [f"segment: the file {uri} has no row" for uri in sorted(files - segments.keys())]
    for uri, size in segments.items():
        if uri not in files:
            found += [f"segment: {uri} is not there"] if size else []
            continue
        if (folder / uri).stat().st_size != size:
            found.append(f"segment: {uri} has {(folder / uri).stat().st_size} bytes, its row says {size}")
        try:
            for record in read(folder / uri):
                records[uri, record.offset] = record
        except Damaged as error:
            found.append(f"warc: {uri}: {error}")
    return records, found


def _check_records(records: dict[Place, Record]) -> Iterator[str]:
    ids = Counter(record.headers.get("warc-record-id", "") for record in records.values())
    for (uri, offset), record in records.items():
        where = f"{uri} at {offset} ({record.type} {record.url})"
        if ids[record.headers.get("warc-record-id", "")] != 1:
            yield f"warc: {where}: its WARC-Record-ID is not its own"
        if not digest_is(record.headers.get("warc-block-digest", ":"), record.block):
            yield f"digest: {where}: the block's is wrong"
        if record.type == "response" and not _is_payload_right(record):
            yield f"digest: {where}: the payload's is wrong"
        if record.type == "revisit" and original_of(record, records) is None:
            yield f"digest: {where}: revisits what is nowhere"
        if record.type == "request" and _SECRET.search(record.block):
            yield f"secret: {where}: holds credentials"


def _is_payload_right(record: Record) -> bool:
    """Whether a payload includes the transfer coding is read both ways: either is right.

    Where readers disagree what the payload is, it may go without.
    """
    digest = record.headers.get("warc-payload-digest", "")
    return digest_is(digest, payload(record), record.body) if digest else record.has_odd_head


def original_of(revisit: Record, records: dict[Place, Record]) -> Record | None:
    """The response whose payload a revisit record stands for."""
    wanted = {revisit.headers.get(name) for name in ("warc-payload-digest", "warc-refers-to-payload-digest")} - {None}
    named = revisit.headers.get("warc-refers-to-target-uri"), revisit.headers.get("warc-refers-to-date")
    for record in records.values():
        is_named = (record.headers.get("warc-target-uri"), record.headers.get("warc-date")) == named
        if record.type == "response" and is_named and {record.headers.get("warc-payload-digest")} == wanted:
            return record
    return None


def _check_rows(database: sqlite3.Connection, records: dict[Place, Record]) -> Iterator[str]:
    """Rows and records are one to one."""
    rows = database.execute(
        """SELECT s.uri, p.offset, p.length, u.url, p.digest, p.truncated FROM page p
           JOIN segment s ON s.id = p.segment JOIN url u ON u.id = p.url
           UNION ALL
           SELECT s.uri, r.offset, r.length, r.url, NULL, '' FROM record r JOIN segment s ON s.id = r.segment"""
    ).fetchall()
    for place, count in Counter((uri, offset) for uri, offset, *_ in rows).items():
        if count > 1:
            yield f"rows: {count} rows point at {place[0]} at {place[1]}"
    for uri, offset, length, url, digest, truncated in rows:
        record = records.get((uri, offset))
        where = f"{uri} at {offset} ({url})"
        if record is None:
            yield f"rows: there is no record {where}"
            continue
        if record.length != length:
            yield f"rows: the record {where} has {record.length} bytes, its row says {length}"
        if record.type not in ("response", "revisit") or record.url != url:
            yield f"rows: the record {where} is a {record.type} of {record.url}"
        content = original_of(record, records) if record.type == "revisit" else record
        if digest and not truncated and content and not _has_digest(content, digest):
            yield f"digest: the page {where} is not what its row says"
    known = {(uri, offset) for uri, offset, *_ in rows}
    for place, record in records.items():
        if record.type in ("response", "revisit") and place not in known:
            yield f"rows: no row points at {place[0]} at {place[1]} ({record.type} {record.url})"


def _has_digest(record: Record, digest: bytes) -> bool:
    try:
        return hashlib.sha256(decoded(record)).digest() == digest
    except (ValueError, zlib.error, zstandard.ZstdError):
        return False


def _check_index(database: sqlite3.Connection) -> Iterator[str]:
    """The index can only be looked into by a newer SQLite, but its table of documents is a plain one."""
    indexed = {row[0] for row in database.execute("SELECT id FROM page WHERE is_indexed = 1")}
    documents = {row[0] for row in database.execute("SELECT id FROM page_index_docsize")}
    texts = {row[0] for row in database.execute("SELECT page FROM text")}
    for page in sorted(indexed ^ documents):
        yield f"index: page {page} is in {'the index' if page in documents else 'its row'} only"
    for page in sorted(indexed ^ texts):
        yield f"index: page {page} has {'a text but is not indexed' if page in texts else 'no text'}"
    strays = database.execute("SELECT page FROM links WHERE page NOT IN (SELECT id FROM page)").fetchall()
    yield from (f"links: page {page} does not exist" for (page,) in strays)


def _check_urls(database: sqlite3.Connection, *, is_finished: bool) -> Iterator[str]:
    queries = {
        "{} stands there twice": "SELECT url FROM url GROUP BY url HAVING count(*) > 1",
        "{} is in no state": "SELECT url FROM url WHERE state NOT IN (0, 2, 3)",
        "{} is finished without a page": "SELECT url FROM url WHERE state = 2 AND id NOT IN (SELECT url FROM page)",
        "{} has a page but no row": "SELECT id FROM page WHERE url NOT IN (SELECT id FROM url)",
    }
    if is_finished:
        queries["{} still waits"] = "SELECT url FROM url WHERE state = 0 AND held = 0"
    for text, query in queries.items():
        yield from (f"urls: {text.format(row[0])}" for row in database.execute(query))


def _check_pages(database: sqlite3.Connection, expected: set[str]) -> Iterator[str]:
    kept = database.execute("SELECT u.url FROM page p JOIN url u ON u.id = p.url WHERE p.is_page = 1 AND p.is_kept = 1")
    kept_urls = [row[0] for row in kept]
    yield from (f"pages: {url} was not kept" for url in sorted(expected - set(kept_urls)))
    yield from (f"pages: {url} was kept" for url in sorted(set(kept_urls) - expected))
    yield from (f"pages: {url} was kept {count} times" for url, count in Counter(kept_urls).items() if count > 1)
