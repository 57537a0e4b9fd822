"""A collection: one folder. Opens it, takes its lock, and builds the concrete parts; nothing else names them.

example.org/
  gossamer.toml   settings of this collection that differ from the defaults
  crawl.db        URLs, hosts, pages, links, index, heartbeat, commands, events
  warc/           the archive
  gossamer.log    what happened
  lock            held by the process that works on it
  running.ring    what is in flight, for after an unclean end
  seen.bin        the set of seen URLs, saved at a clean end; rebuilt from the database where it is missing
"""

import hashlib
import logging
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import apsw

import gossamer
from gossamer.agent import user_agent
from gossamer.archive import doomed, store
from gossamer.archive.checkpoints import Checkpoints
from gossamer.archive.database import create, database_error, open_for_writing, select
from gossamer.archive.disk import Disk, write_error
from gossamer.archive.home import here, home_of
from gossamer.archive.segment_writer import SegmentRules, SegmentWriter
from gossamer.archive.segments import repair
from gossamer.archive.warc import CrawlInfo
from gossamer.clock import Clock
from gossamer.errors import CollectionError
from gossamer.frontier.counters import Counters
from gossamer.frontier.discovery import Discovery
from gossamer.frontier.hosts import HostTable
from gossamer.frontier.ledger import Ledger
from gossamer.frontier.only import Only
from gossamer.frontier.ring import RunningRing
from gossamer.frontier.schedule import Schedule
from gossamer.frontier.seen import SeenSet
from gossamer.frontier.seen_file import SeenFile
from gossamer.frontier.sqlite import LEASE_TIME, Parts, SqliteFrontier
from gossamer.lock import LOCK_FILE, FolderLock
from gossamer.policy import politeness
from gossamer.policy.judge import JudgedScope, OwnJudge
from gossamer.policy.scope import Scope
from gossamer.policy.traps import TrapRules
from gossamer.records import Lease
from gossamer.settings import Settings
from gossamer.settings_files import disarm
from gossamer.url import SHARDS

log = logging.getLogger("gossamer.collection")

DATABASE = "crawl.db"
LOG_FILE = "gossamer.log"
MAX_CRASHES = 10
"""Unclean ends a URL may be in flight at before it is suspected of causing them."""

_SEEN_FILE = "seen.bin"
_UNFINISHED = f"{DATABASE}.new"
_BEFORE_IT_WAS_ONE = frozenset({LOCK_FILE, LOG_FILE, *(_UNFINISHED + end for end in ("", "-wal", "-shm", "-journal"))})
"""What a process leaves behind that dies while it makes a collection."""


@dataclass(frozen=True, slots=True)
class Opened:
    """An open collection that can be crawled."""

    frontier: SqliteFrontier
    lease: Lease
    secret: bytes


def is_collection(folder: Path) -> bool:
    """Whether a folder holds a collection."""
    return (folder / DATABASE).is_file()


def refuse_other_folder(folder: Path) -> None:
    """A folder that holds something else is never written to."""
    if folder.exists() and not folder.is_dir():
        raise CollectionError(f"{folder} is no folder", hint="name another one")
    if not folder.is_dir() or is_collection(folder):
        return
    try:
        strangers = {path.name for path in folder.iterdir()} - _BEFORE_IT_WAS_ONE
    except OSError as error:
        raise CollectionError(
            f"{folder} can't be read ({error.strerror})", hint="look at the folder's permissions"
        ) from error
    if strangers:
        raise CollectionError(f"{folder} is no collection", hint="name an empty or new folder")


class Collection:
    """Holds the folder's lock from opening to closing."""

    def __init__(self, folder: Path, clock: Clock, purpose: str = "gossamer crawl") -> None:
        """Takes the lock, telling others what for; makes the folder where there is none."""
        refuse_other_folder(folder)
        self.folder = folder
        self._made_folder = not folder.exists()
        self._clock = clock
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CollectionError(
                f"the folder {folder} can't be made ({error.strerror})", hint="name another one"
            ) from error
        self._lock = FolderLock(folder, purpose, clock.now())

    def close(self) -> None:
        """Let go of the folder."""
        self._lock.close()

    def remove(self) -> None:
        """Take away what a crawl that fetched nothing left in a folder that was empty or not there before.

        As far as the disk lets us: what went wrong before matters more.
        """
        with suppress(OSError):
            for path in sorted(self.folder.rglob("*"), reverse=True):
                if path.is_dir():
                    path.rmdir()
                else:
                    path.unlink()
            if self._made_folder:
                self.folder.rmdir()

    def open(
        self,
        settings: Settings,
        seeds: Sequence[str],
        on_news: Callable[[], None],
        judge: OwnJudge | None = None,
        only: Only | None = None,
    ) -> Opened:
        """Open the database and the archive, put right what an unclean end left, and take the lease.

        ``only``: what may be leased, where it is not all that waits.
        """
        path = self.folder / DATABASE
        try:
            if not path.exists():
                _create(path, self._clock.now())
            return self._build(open_for_writing(path), settings, seeds, on_news, judge, only)
        except apsw.Error as error:
            raise database_error(path, error) from error
        except OSError as error:
            raise write_error(Path(error.filename or self.folder), error) from error

    def _build(
        self,
        connection: apsw.Connection,
        settings: Settings,
        seeds: Sequence[str],
        on_news: Callable[[], None],
        judge: OwnJudge | None,
        only: Only | None,
    ) -> Opened:
        secret = bytes(_meta(connection, "secret"))
        self._check_home(connection, settings)
        doomed.finish(connection, self.folder)
        ring = RunningRing(self.folder / "running.ring")
        if _ended_uncleanly(connection):
            self._recover(connection, ring, settings)
        ring.clear()
        for note in repair(self.folder, store.load_segments(connection)):
            log.warning("%s", note)
        lease = _take_lease(connection, self._clock.now())
        counters, hosts = Counters(connection), HostTable(connection, partial(_pause, settings))
        scope = Scope.of(settings, [*_known_seeds(connection), *seeds])
        if judge is not None:
            scope = JudgedScope.around(scope, judge)
        discovery = Discovery(connection, SeenSet(), hosts, counters, secret, scope, TrapRules.of(settings))
        segments = _segment_writer(connection, self.folder, settings, lease, self._clock)
        ledger = Ledger(connection, self.folder / DATABASE, segments, discovery, hosts, counters, self._clock)
        self._rejudge(connection, ledger, scope, lease, ignore_robots=settings.ignore_robots)
        seen_file = ledger.seen_file = SeenFile(connection, self.folder / _SEEN_FILE, secret)
        discovery.seen = seen_file.load()
        checkpoints = Checkpoints(connection, self.folder / DATABASE)

        def close(next_times: Sequence[tuple[int, float]]) -> None:
            segments.close()
            if ledger.is_sound:
                seen_file.save(discovery.seen)
                _end_cleanly(connection, next_times)
            checkpoints.close()
            connection.close()
            ring.close()

        schedule = Schedule(
            per_host=settings.per_host,
            default_delay=1.0 if settings.delay is None else settings.delay,
            obey_robots=not settings.ignore_robots,
        )
        path = self.folder / DATABASE
        parts = Parts(connection, path, ledger, hosts, schedule, ring, lease, self._clock, on_news, close, only)
        return Opened(SqliteFrontier(parts), lease, secret)

    def _check_home(self, connection: apsw.Connection, settings: Settings) -> None:
        """A collection may come from a stranger: opened elsewhere, it must do nothing that only its owner may wish.

        Private addresses that the seeds were allowed belong to the machine where a person named the seeds, or it would be
        a way into somebody's network. Commands that wait were given to somebody else. What it says of robots.txt files
        need not be what these say.
        """
        home, before = here(), home_of(connection)
        if before == home:
            return
        if before is not None and not settings.allow_private:
            log.warning("this collection comes from another machine: private addresses of its seeds are not allowed")
        disarm(self.folder)
        with connection:
            connection.execute("UPDATE host SET exempt = '', robots_expires = 0")
            connection.execute(
                "UPDATE command SET done = ?, answer = 'error: it was given on another machine' WHERE done IS NULL",
                (self._clock.now(),),
            )
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('home', ?)", (home,))

    def _recover(self, connection: apsw.Connection, ring: RunningRing, settings: Settings) -> None:
        """After an unclean end: what was in flight is noted, and every host waits one full delay, or as long as it asked
        for in an answer that was not committed."""
        left = ring.left_behind()
        now = self._clock.now()
        alone = [(min(at, now + settings.max_retry_after), host_id) for host_id, at in ring.left_alone()]
        log.warning("the last run did not end as it should; %d URLs were in flight", len(left))
        with connection:
            connection.executemany(
                "UPDATE url SET crashes = crashes + 1 WHERE id = ? AND state = 0", [(url_id,) for url_id in left]
            )
            suspects = 0
            for url_id in left:
                connection.execute(
                    "UPDATE url SET held = 1, reason = ? WHERE id = ? AND state = 0 AND held = 0 AND crashes >= ?",
                    (f"in flight at {MAX_CRASHES} unclean ends", url_id, MAX_CRASHES),
                )
                suspects += connection.changes()
            connection.executemany(
                "INSERT INTO counter VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
                [("waiting", -suspects), ("held", suspects)],
            )
            for exempt, crawl_delay in select(connection, "SELECT DISTINCT exempt, crawl_delay FROM host"):
                connection.execute(
                    "UPDATE host SET next_at = max(next_at, ?) WHERE exempt = ? AND crawl_delay IS ?",
                    (now + _pause(settings, exempt, crawl_delay), exempt, crawl_delay),
                )
            connection.executemany("UPDATE host SET next_at = max(next_at, ?) WHERE id = ?", alone)

    def _rejudge(
        self, connection: apsw.Connection, ledger: Ledger, scope: Scope, lease: Lease, *, ignore_robots: bool
    ) -> None:
        """Where the scope is another than last time, URLs that it had held or admitted are judged anew."""
        now = hashlib.blake2b(repr((scope, ignore_robots)).encode(), digest_size=16).hexdigest()
        before = select(connection, "SELECT value FROM meta WHERE name = 'scope'")
        is_another = bool(before) and before[0][0] != now
        if is_another:
            (self.folder / _SEEN_FILE).unlink(missing_ok=True)
            Disk().sync_folder(self.folder)  # or a power cut could bring it back beside the new verdicts
        with ledger.transaction(lease):
            if is_another:
                ledger.discovery.rejudge(ignore_robots=ignore_robots)
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('scope', ?)", (now,))


def _create(path: Path, now: float) -> None:
    """A database is there whole or not at all, whenever the process dies."""
    aside = path.with_name(_UNFINISHED)
    for leftover in path.parent.glob(f"{_UNFINISHED}*"):
        leftover.unlink()
    connection = create(aside, now)
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.close()
    aside.replace(path)
    Disk().sync_folder(path.parent)


def _meta(connection: apsw.Connection, name: str) -> Any:
    ((value,),) = select(connection, "SELECT value FROM meta WHERE name = ?", (name,))
    return value


def _ended_uncleanly(connection: apsw.Connection) -> bool:
    rows = select(connection, "SELECT clean FROM heartbeat")
    return bool(rows) and not rows[0][0]


def _pause(settings: Settings, exempt: str, crawl_delay: float | None) -> float:
    """The pause of a host as far as it is known without asking it."""
    asked_for = None if settings.ignore_robots else crawl_delay
    return politeness.delay(settings, address_kind=exempt, crawl_delay=asked_for, response_time=0.0)


def _take_lease(connection: apsw.Connection, now: float) -> Lease:
    """All shards, with a new epoch: whoever had them before can write no more."""
    with connection:
        connection.execute("UPDATE meta SET value = value + 1 WHERE name = 'epoch'")
        ((epoch,),) = select(connection, "SELECT value FROM meta WHERE name = 'epoch'")
        lease = Lease(0, SHARDS - 1, f"{os.getpid()}", epoch, now + LEASE_TIME)
        connection.execute("DELETE FROM lease")
        connection.execute(
            "INSERT INTO lease VALUES (?, ?, ?, ?, ?)",
            (lease.first_shard, lease.last_shard, lease.owner, lease.epoch, lease.until),
        )
        connection.execute(
            "INSERT OR REPLACE INTO heartbeat VALUES (1, ?, ?, 'running', 0, ?, '{}')", (now, os.getpid(), now)
        )
    return lease


def _known_seeds(connection: apsw.Connection) -> list[str]:
    """The seeds, and what they redirected to."""
    return [
        row[0] for row in select(connection, "SELECT url FROM url WHERE depth = 0 AND host IS NOT NULL AND held = 0")
    ]


def _segment_writer(
    connection: apsw.Connection, folder: Path, settings: Settings, lease: Lease, clock: Clock
) -> SegmentWriter:
    known = store.load_segments(connection)
    numbers = iter(range(1 + max((segment.id for segment in known), default=0), 1 << 40))
    last = known[-1] if known and not known[-1].sealed else None
    return SegmentWriter(
        folder,
        rules=SegmentRules(
            prefix=folder.resolve().name,
            owner=lease.owner,
            epoch=lease.epoch,
            max_bytes=settings.segment_size,
            max_age=settings.segment_age,
        ),
        info=CrawlInfo(
            software=f"Gossamer/{gossamer.__version__}",
            user_agent=user_agent(settings),
            robots="ignore" if settings.ignore_robots else "obey",
        ),
        clock=clock,
        next_id=lambda: next(numbers),
        secret_headers=[line.partition(":")[0].strip() for line in settings.header],
        resume=last,
    )


def _end_cleanly(connection: apsw.Connection, next_times: Sequence[tuple[int, float]]) -> None:
    """The last transaction: hosts are left alone as long as was meant, also by the next process.

    Where it can't be written, the next start finds an unclean end, and every host waits one full delay.
    """
    try:
        with connection:
            connection.executemany(
                "UPDATE host SET next_at = max(next_at, ?) WHERE id = ?", [(at, host_id) for host_id, at in next_times]
            )
            connection.execute("UPDATE heartbeat SET state = 'stopped', clean = 1")
    except apsw.Error as error:
        log.warning("the end can't be noted (%s)", error)
