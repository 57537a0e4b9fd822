"""The collection's database: how it is opened, its schema, and the steps from one version to the next.

WAL with synchronous=FULL: what was committed survives a power cut (NORMAL loses the last commits).
"""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from gossamer.archive.network_files import refuse_network_file_system
from gossamer.errors import ArchiveError, CollectionError

NAME = "crawl.db"
"""Of the file in the folder of a collection."""

VERSION = 3
"""Of the schema; migrations go forward only, and an older program refuses a newer file."""

SCHEMA = """
-- name/value pairs: secret (of fingerprints), home (the machine it was started on), epoch, created, name, copied (in a
-- copy: the epoch then)
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- one row an origin. Times are seconds since 1970.
CREATE TABLE host (
    id INTEGER PRIMARY KEY,
    origin TEXT NOT NULL UNIQUE,      -- scheme://host[:port]
    hostname TEXT NOT NULL,
    domain TEXT NOT NULL,             -- registrable domain
    shard INTEGER NOT NULL,
    next_at REAL NOT NULL DEFAULT 0,  -- no request before this
    failures INTEGER NOT NULL DEFAULT 0,  -- in a row
    put_aside TEXT NOT NULL DEFAULT '',   -- why the host is given up for now
    exempt TEXT NOT NULL DEFAULT '',  -- a seed's own origin: the class its address first had
    robots_status INTEGER,            -- NULL: not asked yet
    robots_body BLOB,
    robots_fetched REAL,
    robots_expires REAL,
    robots_tries INTEGER NOT NULL DEFAULT 0,
    crawl_delay REAL,                 -- seconds that its robots.txt asks for; NULL: it does not
    sitemaps INTEGER NOT NULL DEFAULT 0,  -- files that list URLs, known so far
    news INTEGER NOT NULL DEFAULT 0,      -- pages that showed that a host of many is none of an endless supply
    worth INTEGER NOT NULL DEFAULT 0      -- pages with a text of their own: see frontier.worth
);

-- the URL table: every URL ever found, fetched or not
CREATE TABLE url (
    id INTEGER PRIMARY KEY,           -- in the order found: breadth first is order by id
    fingerprint INTEGER NOT NULL,     -- 64 bits, keyed, as a signed number
    url TEXT NOT NULL,
    host INTEGER REFERENCES host,     -- NULL: no http(s) URL
    shard INTEGER NOT NULL,
    state INTEGER NOT NULL,           -- 0 waiting, 2 finished, 3 failed (records.State)
    held INTEGER NOT NULL DEFAULT 0,  -- not 0: not leased; why: records.Hold
    reason TEXT NOT NULL DEFAULT '',  -- why held, failed, or how finished
    kind TEXT NOT NULL,               -- internal, external, other (records.Kind)
    via TEXT NOT NULL,                -- records.Via of the first link found
    parent INTEGER,                   -- the url it was first found on
    depth INTEGER NOT NULL,
    hops INTEGER NOT NULL DEFAULT 0,  -- redirects in a row that led here
    nofollow INTEGER NOT NULL DEFAULT 0,  -- 1: the link that it was found by asks not to be followed
    attempts INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,  -- unclean ends it was in flight at
    due REAL,                         -- waiting: not before; finished: visit again
    lastmod REAL,                     -- when it last changed, as the newest sitemap or feed that names it says
    template INTEGER REFERENCES template,  -- that decided whether it is let in
    found REAL NOT NULL,
    settled REAL
);

-- The indices of the URL table begin with a block of ids: what was found together. Fingerprints, hosts and templates of
-- new URLs come in no order. In an index over the whole table each would change a page of its own, of more pages than any
-- cache holds; in blocks only the few pages of the newest change. Whoever looks something up looks into each block.
CREATE VIEW block(n) AS WITH RECURSIVE b(n) AS (
    VALUES (0) UNION ALL SELECT n + 1 FROM b WHERE n < (SELECT max(id) >> 17 FROM url)) SELECT n FROM b;
CREATE INDEX url_fingerprint ON url(id >> 17, fingerprint);
CREATE INDEX url_waiting ON url(id >> 17, host) WHERE state = 0 AND held = 0;
CREATE INDEX url_template ON url(id >> 17, template, held) WHERE state = 0 AND template IS NOT NULL;
CREATE INDEX url_start ON url(id) WHERE depth = 0;

-- URLs that differ in nothing but numbers and ids, where there is more than one
CREATE TABLE template (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,         -- see frontier.gate
    credit REAL NOT NULL,             -- pages without news that it may still have
    judged INTEGER NOT NULL DEFAULT 0,
    novel INTEGER NOT NULL DEFAULT 0, -- of these, pages with new text,
    barren INTEGER NOT NULL DEFAULT 0,   -- and pages without, that led on
    opened INTEGER NOT NULL DEFAULT 0,   -- and pages that were the first to lead to something else
    host INTEGER NOT NULL DEFAULT 0,  -- whose pages used up its credit; 0: they have not
    put_off INTEGER NOT NULL DEFAULT 0,  -- the host that has to be idle before it goes on; 0: not put off
    known BLOB NOT NULL DEFAULT x''   -- hashes of texts, 4 bytes each: parse.sketch
);
CREATE INDEX template_put_off ON template(put_off) WHERE put_off != 0;
CREATE INDEX template_host ON template(host) WHERE host != 0;

-- the first of the URLs that are the same but for their session ids
CREATE TABLE essence (
    fingerprint INTEGER PRIMARY KEY,  -- of the URL without its session id
    url INTEGER NOT NULL REFERENCES url
);

-- one row a fetched version: every HTTP answer to a URL
CREATE TABLE page (
    id INTEGER PRIMARY KEY,
    url INTEGER NOT NULL REFERENCES url,
    attempt INTEGER NOT NULL,         -- which try of the URL: a commit is idempotent by (url, attempt)
    fetched REAL NOT NULL,
    status INTEGER NOT NULL,
    content_type TEXT NOT NULL,       -- sniffed, without parameters
    charset TEXT NOT NULL DEFAULT '',
    language TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL DEFAULT '',
    description TEXT NOT NULL DEFAULT '',  -- the first 200 characters of the text
    size INTEGER NOT NULL,            -- decoded bytes
    wire_size INTEGER NOT NULL,       -- bytes of the body as it came
    duration REAL NOT NULL,
    digest BLOB,                      -- sha256 of the decoded body
    payload_digest BLOB,              -- of the payload as the WARC record says it
    text_digest BLOB,
    duplicate_of INTEGER,             -- the first page with these bytes
    redirect_to INTEGER,              -- the url a redirect pointed at
    canonical TEXT NOT NULL DEFAULT '',
    etag TEXT NOT NULL DEFAULT '',
    last_modified TEXT NOT NULL DEFAULT '',
    address TEXT NOT NULL DEFAULT '',
    protocol TEXT NOT NULL DEFAULT '',
    truncated TEXT NOT NULL DEFAULT '',
    notes TEXT NOT NULL DEFAULT '',   -- one a line
    is_page INTEGER NOT NULL DEFAULT 0,    -- HTML
    is_kept INTEGER NOT NULL DEFAULT 0,    -- a success that counts for --max-urls
    is_indexed INTEGER NOT NULL DEFAULT 0, -- stands in the full-text index
    segment INTEGER NOT NULL REFERENCES segment,
    offset INTEGER NOT NULL,          -- of the response or revisit record
    length INTEGER NOT NULL,
    UNIQUE (url, attempt)
);
CREATE INDEX page_digest ON page(digest) WHERE is_kept = 1;
CREATE INDEX page_text ON page(text_digest) WHERE is_indexed = 1;

-- every try that brought no page row's worth of an answer, and every answer's trouble: the history of a URL
CREATE TABLE attempt (
    url INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    at REAL NOT NULL,
    outcome TEXT NOT NULL,
    PRIMARY KEY (url, attempt)
) WITHOUT ROWID;

-- the links of a page: parse.links.pack()
CREATE TABLE links (page INTEGER PRIMARY KEY REFERENCES page, blob BLOB NOT NULL);

-- what a person's own function found in a page, as JSON
CREATE TABLE extracted (page INTEGER PRIMARY KEY REFERENCES page, json TEXT NOT NULL);

-- the readable text of an indexed page, deflated; the index itself keeps none
CREATE TABLE text (page INTEGER PRIMARY KEY REFERENCES page, blob BLOB NOT NULL);
CREATE VIRTUAL TABLE page_index USING fts5(
    title, url, text, content='', contentless_delete=1, tokenize="porter unicode61 remove_diacritics 2"
);
CREATE VIRTUAL TABLE dictionary USING fts5vocab(page_index, row);

CREATE TABLE segment (
    id INTEGER PRIMARY KEY,
    uri TEXT NOT NULL UNIQUE,         -- relative to the collection
    bytes INTEGER NOT NULL DEFAULT 0, -- durable up to
    state TEXT NOT NULL DEFAULT 'open',  -- open or sealed
    opened REAL NOT NULL
);

-- robots.txt exchanges and answers that were retried also lie in the archive: a row each, so that verify can check them
CREATE TABLE record (
    segment INTEGER NOT NULL REFERENCES segment,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    url TEXT NOT NULL,
    what TEXT NOT NULL,               -- robots
    PRIMARY KEY (segment, offset)
) WITHOUT ROWID;

-- files that are to be deleted: they hold what was forgotten, or were begun by a process that died while it forgot
CREATE TABLE doomed (uri TEXT PRIMARY KEY) WITHOUT ROWID;

-- shards are leased to an owner; a write with an old epoch is refused
CREATE TABLE lease (
    first_shard INTEGER PRIMARY KEY,
    last_shard INTEGER NOT NULL,
    owner TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    until REAL NOT NULL
);

-- totals, kept in the same transaction as what they count
CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

-- one row, written with each commit and at least each second
CREATE TABLE heartbeat (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at REAL NOT NULL,
    pid INTEGER NOT NULL,
    state TEXT NOT NULL,              -- running, paused, stopping, stopped
    clean INTEGER NOT NULL,           -- 1: ended as it should
    started REAL NOT NULL,
    body TEXT NOT NULL                -- JSON: running, rates, queue depths
);

-- what other processes ask of a running crawl: pause, resume, stop, add, release, skip_host, set_rate
CREATE TABLE command (
    id INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    verb TEXT NOT NULL,
    arguments TEXT NOT NULL,          -- JSON
    done REAL,
    answer TEXT
);

-- append-only: what happened, to be followed by id
CREATE TABLE event (id INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL);
"""

_TO_2 = """
ALTER TABLE url ADD COLUMN nofollow INTEGER NOT NULL DEFAULT 0;
ALTER TABLE template ADD COLUMN barren INTEGER NOT NULL DEFAULT 0;
ALTER TABLE template ADD COLUMN opened INTEGER NOT NULL DEFAULT 0;
ALTER TABLE template ADD COLUMN host INTEGER NOT NULL DEFAULT 0;
CREATE INDEX template_host ON template(host) WHERE host != 0;
"""

_TO_3 = """
DROP INDEX url_fingerprint;
DROP INDEX url_waiting;
DROP INDEX url_template;
CREATE VIEW block(n) AS WITH RECURSIVE b(n) AS (
    VALUES (0) UNION ALL SELECT n + 1 FROM b WHERE n < (SELECT max(id) >> 17 FROM url)) SELECT n FROM b;
CREATE INDEX url_fingerprint ON url(id >> 17, fingerprint);
CREATE INDEX url_waiting ON url(id >> 17, host) WHERE state = 0 AND held = 0;
CREATE INDEX url_template ON url(id >> 17, template, held) WHERE state = 0 AND template IS NOT NULL;
CREATE INDEX url_start ON url(id) WHERE depth = 0;
"""

MIGRATIONS = {1: _TO_2, 2: _TO_3}
"""From version n to n + 1."""

_APPLICATION_ID = 0x676F7373  # "goss"


def create(path: Path, now: float) -> apsw.Connection:
    """A new database at ``path`` with the newest schema."""
    connection = _connect(path, apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
    with connection:
        connection.execute(SCHEMA)
        connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.executemany(
            "INSERT INTO meta VALUES (?, ?)", [("secret", secrets.token_bytes(32)), ("created", now), ("epoch", 0)]
        )
    return connection


def open_for_writing(path: Path) -> apsw.Connection:
    """The database for the one process that writes; brings an older schema to the newest."""
    connection = _connect(path, apsw.SQLITE_OPEN_READWRITE)
    version = _check_version(connection, path)
    for step in range(version, VERSION):
        with connection:
            connection.execute(MIGRATIONS[step])
            connection.execute(f"PRAGMA user_version = {step + 1}")
    return connection


def open_for_reading(path: Path) -> apsw.Connection:
    """The database for looking in, also while another process crawls: it writes no page."""
    try:
        connection = _connect(path, apsw.SQLITE_OPEN_READONLY)
        version = _check_version(connection, path)
    except CollectionError as error:
        if isinstance(error.__cause__, apsw.CantOpenError | apsw.ReadOnlyError) and path.exists():
            _refuse_unmerged_log(path)
            connection = _connect(path, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, immutable=True)
            version = _check_version(connection, path)
        else:
            raise
    if version < VERSION:
        raise CollectionError(
            f"{path.parent} is of an older version",
            hint=f"this converts it, and fetches nothing: gossamer release {path.parent} --reason nothing",
        )
    return connection


def _refuse_unmerged_log(path: Path) -> None:
    """SQLite needs a file it can write to read what only stands in the log; without it an old state would be shown."""
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        raise CollectionError(
            f"{path.parent} was not closed as it should be, and can't be read where nothing can be written",
            hint="copy it to a place where you can write",
        )


LOG_PAGES = 4000
"""Of the write-ahead log, after which it is time to bring it into the database."""

_TO_WRITE: Mapping[str, str | int | bool] = {
    "journal_mode": "WAL",
    "synchronous": "FULL",
    "cache_size": -32 * 1024,  # KiB
    "foreign_keys": False,
    "temp_store": "MEMORY",
    "wal_autocheckpoint": LOG_PAGES,
}
_ALWAYS = {"trusted_schema": False, "cell_size_check": True}


def _set(connection: apsw.Connection, pragmas: Mapping[str, str | int | bool]) -> None:
    """One by one: of several in one string those behind the first that answers would never be run."""
    for name, value in pragmas.items():
        connection.pragma(name, value)


def _connect(path: Path, flags: int, *, immutable: bool = False) -> apsw.Connection:
    refuse_network_file_system(path)
    name = f"{path.absolute().as_uri()}?immutable=1" if immutable else str(path)
    try:
        connection = apsw.Connection(name, flags=flags)
        connection.set_busy_timeout(5000)
        if flags & apsw.SQLITE_OPEN_READWRITE:
            # A transaction that reads first and writes later fails at once, whatever the time-out says, when another
            # process wrote in between (SQLITE_BUSY_SNAPSHOT): a command to a running crawl must not end it.
            connection.transaction_mode = "IMMEDIATE"
            _set(connection, _TO_WRITE)
        _set(connection, _ALWAYS)
        # Without it SQLite compiles "LIMIT ?" anew for each number: half the time of reading the next URLs of a host.
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    except apsw.Error as error:
        raise database_error(path, error) from error
    return connection


def _check_version(connection: apsw.Connection, path: Path) -> int:
    try:
        application = int(connection.pragma("application_id"))
        version = int(connection.pragma("user_version"))
    except apsw.Error as error:
        raise database_error(path, error) from error
    if application != _APPLICATION_ID:
        raise CollectionError(f"{path} is no Gossamer database", hint="name the folder of a collection")
    if version > VERSION:
        raise CollectionError(
            f"{path.parent} was written by a newer Gossamer (schema {version}, this one knows {VERSION})",
            hint="update Gossamer to open it",
        )
    return version


def select(connection: apsw.Connection, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """All rows of a query; what their columns hold is the schema's business, not the type checker's."""
    return connection.execute(query, values).fetchall()


def select_one(connection: apsw.Connection, query: str, values: Sequence[object] = ()) -> tuple[Any, ...] | None:
    """The first row of a query."""
    return connection.execute(query, values).fetchone()


def database_error(path: Path, error: apsw.Error) -> CollectionError:
    """SQLite's error as one of ours, with what to do about it."""
    hints = {
        apsw.FullError: "make room on the disk and run the command again",
        apsw.ReadOnlyError: "the folder must be writable",
        apsw.CantOpenError: "look at the folder's permissions",
        apsw.CorruptError: "restore it from a copy, or look with: gossamer verify",
        apsw.NotADBError: "name the folder of a collection",
        apsw.BusyError: "another process holds the database; try again when it has ended",
    }
    hint = next((text for kind, text in hints.items() if isinstance(error, kind)), "look at the disk")
    reason = str(error).replace("not an error", type(error).__name__)  # what SQLite says after a failed copy
    return ArchiveError(f"the database {path} can't be used ({reason})", hint=hint)
