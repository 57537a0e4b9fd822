"""One crawl from addresses to report: builds resolver, transport, parsers and manager around an open collection."""

import asyncio
import logging
import os
import random
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import islice
from logging.handlers import RotatingFileHandler
from pathlib import Path

from gossamer import url as urls
from gossamer.agent import extra_headers
from gossamer.archive.catalogue import Filter, entries, opened
from gossamer.clock import Clock, SystemClock
from gossamer.collection import LOG_FILE, Collection, Opened, is_collection
from gossamer.crawl.bell import Bell
from gossamer.crawl.fetching import Fetcher
from gossamer.crawl.heartbeat import Heartbeat
from gossamer.crawl.hooks import NONE, Hooks
from gossamer.crawl.keeping import keeping_cookies
from gossamer.crawl.manager import Crawl, Parts
from gossamer.crawl.pipeline import Pipeline
from gossamer.crawl.report import Ending, Progress, Report
from gossamer.crawl.robots import RobotsKeeper
from gossamer.crawl.sitemaps import guess
from gossamer.crawl.visit import Visitor
from gossamer.descriptors import room_for_connections
from gossamer.errors import UsageError
from gossamer.fetch.identity import identity_of
from gossamer.fetch.room import Room
from gossamer.frontier.only import Only
from gossamer.network import Network
from gossamer.parse.job import OwnCode
from gossamer.parse.pool import ParserPool
from gossamer.records import Candidate, Via
from gossamer.settings import Settings
from gossamer.settings_files import Loaded, write_collection_file

log = logging.getLogger("gossamer")

_logging_to: ContextVar[logging.Handler | None] = ContextVar("gossamer_log", default=None)
_LOG_BYTES = 10 * 1024 * 1024
_REASONS = 10


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be crawled, and where it goes."""

    folder: Path
    addresses: tuple[tuple[str, bool], ...]  # canonical URL, and whether its scheme was guessed
    loaded: Loaded
    only: tuple[Candidate, ...] | None = (
        None  # fetch just these, whatever else waits, and keep the settings as they are
    )


def folder_for(addresses: Sequence[tuple[str, bool]]) -> Path:
    """A folder named after the first host, in the current one."""
    return Path(urls.origin(addresses[0][0]).host.strip("[]").replace(":", "_"))


async def crawl(
    order: Order,
    observe: Callable[[Progress], None],
    started: Callable[[Crawl], None],
    clock: Clock | None = None,
    hooks: Hooks = NONE,
) -> Report:
    """Crawl until there is nothing left to do. ``started`` is given the crawl, to be stopped by; ``observe`` snapshots.

    Raises GossamerError for what makes going on impossible; what was committed until then is safe.
    """
    clock = clock or SystemClock()
    settings = order.loaded.settings
    if not is_collection(order.folder) and not order.addresses:
        raise UsageError(f"{order.folder} is no collection, and no address was given", hint="give an address to crawl")
    collection = Collection(order.folder, clock)
    is_new = not is_collection(order.folder)
    begun = False

    def begin(manager: Crawl) -> None:
        nonlocal begun
        begun = True
        started(manager)

    try:
        with log_to(collection.folder, settings):
            report = await _crawl(collection, order, observe, begin, clock, hooks)
        if report.ending is Ending.NO_SEED:
            report = replace(report, seed_failures=_seed_reasons(order.folder, report.seed_failures))
            if is_new:
                collection.remove()
        return report
    except BaseException:
        if is_new and not begun:  # later there may be something that is worth keeping
            collection.remove()
        raise
    finally:
        collection.close()


def _seed_reasons(folder: Path, unreachable: Sequence[str]) -> tuple[str, ...]:
    """What is known of the addresses that a crawl without a page started from, and of what they redirected to.

    ``unreachable``: origins, each with the reason; what is known of their URLs says more.
    """
    with opened(folder) as connection:
        starts = entries(connection, Filter(depth=0))
        known = tuple(islice((f"{start.url}: {start.reason}" for start in starts if start.reason), _REASONS))
    return known + tuple(each for each in unreachable if not any(one.startswith(_origin(each)) for one in known))


def _origin(reason: str) -> str:
    return f"{reason.partition(': ')[0]}/"


async def _crawl(
    collection: Collection,
    order: Order,
    observe: Callable[[Progress], None],
    started: Callable[[Crawl], None],
    clock: Clock,
    hooks: Hooks,
) -> Report:
    settings = order.loaded.settings
    connections = room_for_connections(_connections(settings), parser_count(settings))
    settings = replace(settings, max_downloaders=min(settings.max_downloaders, connections))
    identity = identity_of(settings, clock)
    network = Network(settings, clock, connections)
    bell = Bell()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(network.aclose)
        seeds = [await network.with_scheme(url) if guessed else url for url, guessed in order.addresses]
        only = None if order.only is None else Only(candidate.url for candidate in order.only)
        parts = collection.open(settings, seeds, bell.ring, hooks.judge, only)
        stack.push_async_callback(parts.frontier.aclose)
        if only is None:
            write_collection_file(collection.folder, order.loaded)
        parsers = parser_pool(parts.secret, settings, hooks.own_code)
        await parsers.start()
        stack.push_async_callback(parsers.aclose)
        await stack.enter_async_context(keeping_cookies(identity, settings.cookie_jar))
        fetcher = network.fetcher(extra_headers(settings), identity)
        manager = _manager(parts, fetcher, parsers, network.room, settings, clock, bell, hooks)
        started(manager)
        guesses = [guess(url) for url in seeds] if settings.ignore_robots else []  # else robots.txt comes first
        named = order.only or ()
        await parts.frontier.add([*(Candidate(url, Via.SEED, depth=0) for url in seeds), *guesses, *named])
        await parts.frontier.event("started", seeds=seeds)
        log.info("started with %d seeds", len(seeds))
        complete = network.with_scheme
        heartbeat = Heartbeat(manager, parts.frontier, collection.folder, settings, clock, observe, complete)
        async with _beating(heartbeat, manager):
            report = await manager.run()
        await parts.frontier.event("stopped", ending=report.ending.name.lower())
        log.info("stopped: %s", report.ending)
        return report


def _manager(
    opened: Opened,
    fetcher: Fetcher,
    parsers: ParserPool,
    room: Room,
    settings: Settings,
    clock: Clock,
    bell: Bell,
    hooks: Hooks,
) -> Crawl:
    draw = random.Random().random  # noqa: S311  # spreads retries; nothing secret hangs on it
    frontier = opened.frontier
    robots = RobotsKeeper(frontier, fetcher, settings, clock)
    visitor = Visitor(frontier, fetcher, robots, settings, clock, draw, hooks.prepare)
    pipeline = Pipeline(frontier, parsers, opened.lease, room, settings, clock, draw, bell.ring, hooks.committed)
    return Crawl(Parts(frontier, visitor, pipeline, settings, clock), bell)


def parser_count(settings: Settings) -> int:
    """Parser workers: as many as the setting says, or one fewer than processors."""
    return settings.parsers or max(1, (os.cpu_count() or 2) - 1)


def parser_pool(secret: bytes, settings: Settings, own_code: OwnCode | None = None) -> ParserPool:
    return ParserPool(
        parser_count(settings),
        secret,
        parse_timeout=settings.parse_timeout,
        memory=settings.parse_memory,
        max_decoded=settings.max_decoded,
        own_code=own_code,
        max_links=settings.max_links,
        max_text=settings.max_text,
    )


def _connections(settings: Settings) -> int:
    """Open at once, idle ones included: what downloads need, and some to be used again."""
    return max(settings.max_downloaders, 64) + 64


@asynccontextmanager
async def _beating(heartbeat: Heartbeat, manager: Crawl) -> AsyncIterator[None]:
    """Without its heartbeat a crawl would hear of no command and of no lack of room: it ends with it.

    The first beat comes before all: commands may wait that give the crawl something to do.
    """
    await heartbeat.beat()
    task = asyncio.create_task(heartbeat.run())
    task.add_done_callback(manager.watch)
    try:
        yield
    finally:
        heartbeat.end()
        await asyncio.wait([task])


@contextmanager
def log_to(folder: Path, settings: Settings) -> Iterator[None]:
    """What is logged inside the block goes to a file in the folder, which is kept from growing without end.

    Several crawls may run in one process: what one logs is in none of the others' files.
    """
    handler = _LogFile(folder / LOG_FILE, maxBytes=_LOG_BYTES, backupCount=1, encoding="utf-8", delay=True)
    handler.setFormatter(_LineFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    handler.setLevel(settings.log_level.upper())
    handler.addFilter(lambda _: _logging_to.get() in (None, handler))  # threads of a crawl know nothing of this
    log.addHandler(handler)
    _set_level()
    token = _logging_to.set(handler)
    try:
        yield
    finally:
        _logging_to.reset(token)
        log.removeHandler(handler)
        _set_level()
        with suppress(OSError):
            handler.close()


def _set_level() -> None:
    log.setLevel(min((each.level for each in log.handlers if isinstance(each, _LogFile)), default=logging.NOTSET))


class _LogFile(RotatingFileHandler):
    """Where a line can't be written, the crawl goes on without it: the disk's trouble is told by what matters more."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # logging's own name
        pass


class _LineFormatter(logging.Formatter):
    """A record is one line, whatever a page or server put into it."""

    def format(self, record: logging.LogRecord) -> str:
        return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in super().format(record))
