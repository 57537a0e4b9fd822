"""Forgetting: a URL or a host is gone from everywhere in a collection, its WARC files included.

    what is meant is chosen               rows of this connection only; nothing is changed yet
    segments are written anew             without its records, under new names, synced
    one transaction                       rows go, places follow, old files are doomed
    doomed.finish                         old files are deleted, the database's file is rebuilt

A process that dies before the transaction has changed nothing but left files that the next one deletes; after it the
rest is done by whoever opens the collection next. Forgetting may be repeated at any point.

*What stays.* Other pages keep what they say, links to the URL included: that is in their own bodies. Where others were
stored as revisits of a forgotten page, the first of them gets the payload and the others refer to it. There is no
tombstone, which would be a trace: a later crawl that finds the URL again fetches it, unless it is told to exclude it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from gossamer import url as urls
from gossamer.archive import doomed, store, totals
from gossamer.archive.answers import read_answer
from gossamer.archive.database import NAME, database_error, select
from gossamer.archive.disk import Disk
from gossamer.archive.mentions import Mentions, delete_strays, scrub_logs, scrub_rows
from gossamer.archive.reader import ScannedRecord
from gossamer.archive.recast import Plan, Recast, new_uri, recast
from gossamer.archive.rewriting import as_response, with_reference
from gossamer.archive.segments import FOLDER, Segment, repair
from gossamer.archive.warc import Original, digest_label
from gossamer.clock import timestamp
from gossamer.errors import ArchiveError
from gossamer.policy.patterns import Patterns


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be forgotten: exact canonical URLs, or all that a host and any of the patterns mean."""

    urls: tuple[str, ...] = ()
    host: str = ""  # hostname, with or without its port
    patterns: tuple[str, ...] = ()

    def matcher(self) -> Callable[[str], bool]:
        """Whether a URL is meant. Raises SettingsError for a bad pattern."""
        exact, patterns = frozenset(self.urls), Patterns(self.patterns)

        def is_meant(url: str) -> bool:
            if exact:
                return url in exact
            if self.host and not self._is_on_host(url):
                return False
            return not self.patterns or patterns.first_match(url) is not None

        return is_meant

    def _is_on_host(self, url: str) -> bool:
        try:
            place = urls.origin(url) if url.startswith(("http://", "https://")) else None
        except ValueError:  # texts of others are asked for as well
            return False
        return place is not None and self.host in (place.hostname, place.host)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What there was, and whether all of it is gone from the files by now."""

    urls: int
    pages: int
    records: int  # of robots.txt files
    hosts: int
    segments: int  # that were written anew
    is_clean: bool = True


class Forgetter:
    """Forgets in one collection, whose lock the caller holds; ``connection`` writes to its database."""

    def __init__(self, connection: apsw.Connection, folder: Path, now: float, disk: Disk | None = None) -> None:
        self._connection = connection
        self._folder = folder
        self._now = now
        self._disk = disk or Disk()

    def forget(self, target: Target, *, is_rehearsal: bool = False) -> Forgotten:
        """Forget what is meant. ``is_rehearsal``: only say what there is of it.

        Raises ArchiveError, SettingsError.
        """
        is_meant = target.matcher()
        whole_host = target.host if not target.patterns else ""
        try:
            with self._chosen(is_meant, whole_host):
                if is_rehearsal:
                    return self._counts(0)
                return self._forget(Mentions(is_meant, whole_host))
        except apsw.Error as error:
            raise database_error(self._folder / NAME, error) from error

    def _forget(self, mentions: Mentions) -> Forgotten:
        self._connection.execute("PRAGMA secure_delete = ON").fetchall()
        doomed.finish(self._connection, self._folder, self._disk)
        repair(self._folder, store.load_segments(self._connection), disk=self._disk)
        delete_strays(self._folder, mentions)
        scrub_logs(self._folder, mentions)
        counts = self._counts(0)
        if not (counts.urls or counts.hosts or counts.records):
            return counts
        self._choose_heirs()
        recasts = self._recast(self._plan(mentions))
        with self._connection:
            self._forget_rows(mentions, recasts)
        is_clean = doomed.finish(self._connection, self._folder, self._disk)
        return Forgotten(counts.urls, counts.pages, counts.records, counts.hosts, len(recasts), is_clean)

    # --- what is meant

    @contextmanager
    def _chosen(self, is_meant: Callable[[str], bool], whole_host: str) -> Iterator[None]:
        def meant(*url: Any) -> bool:
            return is_meant(str(url[0]))

        self._connection.create_scalar_function("is_meant", meant, 1)
        self._connection.execute(_TABLES)
        try:
            self._connection.execute(_CHOOSE, {"host": whole_host})
            yield
        finally:
            self._connection.execute(_NO_TABLES)

    def _counts(self, segments: int) -> Forgotten:
        ((urls_, pages, records, hosts),) = select(
            self._connection,
            "SELECT (SELECT count(*) FROM gone_url), (SELECT count(*) FROM gone_page),"
            " (SELECT count(*) FROM gone_record), (SELECT count(*) FROM gone_host)",
        )
        return Forgotten(urls_, pages, records, hosts, segments)

    def _choose_heirs(self) -> None:
        """Of the pages that were duplicates of one that goes, the first is the new original."""
        self._connection.execute(_HEIRS)

    # --- the archive

    def _plan(self, mentions: Mentions) -> Plan:
        def drops(segment: Segment, record: ScannedRecord) -> bool:
            if record.type in ("response", "revisit") and self._find("gone_record", segment, record) is not None:
                return True
            return bool(record.target_uri) and mentions.is_meant(record.target_uri)

        return Plan(drops, self._replacement)

    def _replacement(self, segment: Segment, record: ScannedRecord) -> bytes | None:
        found = self._find("heir", segment, record) if record.type == "revisit" else None
        if found is None:
            return None
        page, url, fetched, payload, own_payload = found
        answer = read_answer(self._connection, self._folder, page)
        if url is None or payload != own_payload:
            return as_response(answer).member()
        return with_reference(answer, Original(url, timestamp(fetched), digest_label(payload))).member()

    def _find(self, table: str, segment: Segment, record: ScannedRecord) -> tuple[Any, ...] | None:
        rows = select(self._connection, _FIND[table], (segment.id, record.offset))
        return rows[0] if rows else None

    def _recast(self, plan: Plan) -> list[Recast]:
        touched = {number for (number,) in select(self._connection, _TOUCHED)}
        segments = [each for each in store.load_segments(self._connection) if each.id in touched]
        uris = [new_uri(self._folder, segment, self._now) for segment in segments]
        with self._connection:
            doomed.doom(self._connection, uris)
        recasts = [
            recast(self._folder, segment, uri, plan, self._disk) for segment, uri in zip(segments, uris, strict=True)
        ]
        if recasts:
            self._disk.sync_folder(self._folder / FOLDER)
        for each in recasts:
            self._check(each)
        return recasts

    def _check(self, each: Recast) -> None:
        """Damage in a segment may have swallowed records of others."""
        kept = [(move.segment, move.old, move.new, move.length) for move in each.moves]
        self._connection.executemany("INSERT INTO moved VALUES (?, ?, ?, ?)", kept)
        lost = select(self._connection, _LOST, (each.segment.id,))
        if lost:
            raise ArchiveError(
                f"the record of {lost[0][0]} is damaged, and may hold what is to be forgotten",
                hint="gossamer verify shows what is damaged; forget that as well, or restore the file from a copy",
            )

    # --- the rows

    def _forget_rows(self, mentions: Mentions, recasts: list[Recast]) -> None:
        before = {str(uri) for (uri,) in select(self._connection, "SELECT uri FROM segment")}
        self._connection.execute(_MOVE)
        self._connection.execute(_DELETE)
        for each in recasts:
            if each.moves:
                store.save_segment(self._connection, each.segment)
                self._connection.execute("UPDATE segment SET uri = ? WHERE id = ?", (each.segment.uri, each.segment.id))
            else:
                self._connection.execute("DELETE FROM segment WHERE id = ?", (each.segment.id,))
        scrub_rows(self._connection, mentions)
        self._connection.executemany(
            "INSERT OR REPLACE INTO counter VALUES (?, ?)", totals.counted(self._connection).items()
        )
        after = {str(uri) for (uri,) in select(self._connection, "SELECT uri FROM segment")}
        self._connection.execute("DELETE FROM doomed")
        doomed.doom(self._connection, before - after | {each.segment.uri for each in recasts if not each.moves})
        doomed.ask_for_scrub(self._connection)


_TABLES = """
CREATE TEMP TABLE gone_url (id INTEGER PRIMARY KEY);
CREATE TEMP TABLE gone_host (id INTEGER PRIMARY KEY, origin TEXT);
CREATE TEMP TABLE gone_page (id INTEGER PRIMARY KEY, segment INTEGER, offset INTEGER);
CREATE TEMP TABLE gone_record (segment INTEGER, offset INTEGER, PRIMARY KEY (segment, offset)) WITHOUT ROWID;
CREATE TEMP TABLE heir (page INTEGER PRIMARY KEY, original INTEGER, segment INTEGER, offset INTEGER);
CREATE TEMP TABLE moved (
    segment INTEGER, old INTEGER, new INTEGER, length INTEGER, PRIMARY KEY (segment, old)
) WITHOUT ROWID;
"""
"""What goes, and where what stays will be: in tables of this connection. ``heir``: duplicates of pages that go, with
their new original, which has itself none.
"""

_NO_TABLES = "; ".join(
    f"DROP TABLE temp.{name}" for name in ("gone_url", "gone_host", "gone_page", "gone_record", "heir", "moved")
)

_CHOOSE = """
INSERT INTO gone_url SELECT id FROM url WHERE is_meant(url);
INSERT INTO gone_page SELECT id, segment, offset FROM page WHERE url IN (SELECT id FROM gone_url);
INSERT INTO gone_host SELECT id, origin FROM host WHERE
    (:host != '' AND (hostname = :host OR substr(origin, instr(origin, '://') + 3) = :host))
    OR (id IN (SELECT host FROM url WHERE id IN (SELECT id FROM gone_url))
        AND NOT EXISTS (SELECT 1 FROM url WHERE url.host = host.id AND url.id NOT IN (SELECT id FROM gone_url)));
INSERT INTO gone_record SELECT segment, offset FROM record WHERE is_meant(url)
    OR EXISTS (SELECT 1 FROM gone_host WHERE substr(record.url, 1, length(origin) + 1) = origin || '/');
"""

_HEIRS = """
INSERT INTO heir SELECT page.id,
    nullif((SELECT min(id) FROM page AS first WHERE first.duplicate_of = page.duplicate_of
        AND first.id NOT IN (SELECT id FROM gone_page)), page.id),
    segment, offset
FROM page WHERE duplicate_of IN (SELECT id FROM gone_page) AND id NOT IN (SELECT id FROM gone_page);
INSERT OR IGNORE INTO gone_record SELECT segment, offset FROM gone_page;
"""

_TOUCHED = "SELECT segment FROM gone_record UNION SELECT segment FROM heir"

_FIND = {
    "gone_record": "SELECT 1 FROM gone_record WHERE segment = ? AND offset = ?",
    "heir": """
        SELECT heir.page, url.url, original.fetched, original.payload_digest, own.payload_digest
        FROM heir JOIN page AS own ON own.id = heir.page
        LEFT JOIN page AS original ON original.id = heir.original LEFT JOIN url ON url.id = original.url
        WHERE heir.segment = ? AND heir.offset = ?
    """,
}

_LOST = """
SELECT url FROM (
    SELECT url.url AS url, segment, offset FROM page JOIN url ON url.id = page.url
        WHERE segment = ?1 AND page.id NOT IN (SELECT id FROM gone_page)
    UNION ALL SELECT url, segment, offset FROM record AS r WHERE segment = ?1
        AND NOT EXISTS (SELECT 1 FROM gone_record AS g WHERE g.segment = r.segment AND g.offset = r.offset)
) AS kept
WHERE NOT EXISTS (SELECT 1 FROM moved WHERE moved.segment = kept.segment AND moved.old = kept.offset) LIMIT 1
"""

_MOVE = """
UPDATE page SET offset = new, length = moved.length FROM moved
    WHERE moved.segment = page.segment AND moved.old = page.offset AND page.id NOT IN (SELECT id FROM gone_page);
UPDATE page SET duplicate_of = heir.original FROM heir WHERE heir.page = page.id;
CREATE TEMP TABLE kept_record AS SELECT record.segment, new, moved.length, url, what FROM record
    JOIN moved ON moved.segment = record.segment AND moved.old = record.offset;
DELETE FROM record WHERE segment IN (SELECT segment FROM gone_record UNION SELECT segment FROM heir);
INSERT INTO record SELECT * FROM kept_record;
DROP TABLE kept_record;
"""

_DELETE = """
DELETE FROM page_index WHERE rowid IN (SELECT id FROM gone_page);
DELETE FROM text WHERE page IN (SELECT id FROM gone_page);
DELETE FROM links WHERE page IN (SELECT id FROM gone_page);
DELETE FROM extracted WHERE page IN (SELECT id FROM gone_page);
DELETE FROM page WHERE id IN (SELECT id FROM gone_page);
DELETE FROM attempt WHERE url IN (SELECT id FROM gone_url);
DELETE FROM essence WHERE url IN (SELECT id FROM gone_url);
DELETE FROM template WHERE id IN (SELECT template FROM url WHERE id IN (SELECT id FROM gone_url))
    AND NOT EXISTS (SELECT 1 FROM url WHERE template = template.id AND url.id NOT IN (SELECT id FROM gone_url));
DELETE FROM template WHERE key LIKE '%*'  -- families, which have folders in their names and need no URL
    AND id NOT IN (SELECT template FROM url WHERE template IS NOT NULL AND id NOT IN (SELECT id FROM gone_url));
DELETE FROM url WHERE id IN (SELECT id FROM gone_url);
UPDATE url SET parent = NULL WHERE parent IN (SELECT id FROM gone_url);
UPDATE page SET redirect_to = NULL WHERE redirect_to IN (SELECT id FROM gone_url);
UPDATE page SET canonical = '' WHERE canonical != '' AND is_meant(canonical);
UPDATE host SET robots_status = NULL, robots_body = NULL, robots_fetched = NULL, robots_expires = NULL,
    crawl_delay = NULL
    WHERE is_meant(origin || '/robots.txt');
DELETE FROM host WHERE id IN (SELECT id FROM gone_host);
"""
