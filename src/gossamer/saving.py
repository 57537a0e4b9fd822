"""One offline copy from a collection to a folder: builds parsers and journey around an open collection."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from gossamer.archive.catalogue import opened
from gossamer.clock import Clock, SystemClock
from gossamer.collection import is_collection
from gossamer.errors import UsageError
from gossamer.offline.check import Checked, Observe, check
from gossamer.offline.choice import Choice, chosen
from gossamer.offline.forms import ENDINGS, Form, earlier_copy
from gossamer.offline.manifest import Manifest, read
from gossamer.offline.names import folder_named
from gossamer.offline.packing import zipped
from gossamer.offline.pagecheck import check_page, read_page
from gossamer.offline.place import workplace
from gossamer.offline.plan import Plan, Planner
from gossamer.offline.save import Saved, identity, save, title_of
from gossamer.offline.single import dead_of, noted, page_title, save_page
from gossamer.offline.source import Source
from gossamer.offline.tree import opened_tree
from gossamer.offline.webarchive import save_web_archive
from gossamer.offline.webcheck import check_web_archive, is_web_archive
from gossamer.parse.job import ParseJob, RewriteJob
from gossamer.parse.pool import ParserPool
from gossamer.parse.rewriting.contract import Rewritten
from gossamer.records import Facts
from gossamer.session import parser_pool
from gossamer.settings import Settings


@dataclass(frozen=True, slots=True)
class SaveOrder:
    """What is to be saved, and where it goes."""

    folder: Path  # of the collection
    out: Path
    choice: Choice
    settings: Settings
    ascii_only: bool = False
    force: bool = False
    form: Form = Form.FOLDER


def target(folder: Path, out: Path | None, form: Form, choice: Choice) -> Path:
    """Where a copy goes. Raises CollectionError, and UsageError where a file would have to replace a folder."""
    if out is None:
        return _named_after(folder, form, choice)
    if form is Form.FOLDER or out.is_symlink() or not out.is_dir():
        return out
    if is_collection(out) or read(out) is not None:
        raise UsageError(f"{out} is a folder, and a copy as {form} is a file", hint=f"name it: {out}{ENDINGS[form]}")
    return _named_after(folder, form, choice, out)


def refuse_early(out: Path, folder: Path, form: Form, *, force: bool, clock: Clock | None = None) -> None:
    """Find out before a crawl whether its copy can go to ``out``. Raises UsageError, ArchiveError."""
    known = ""
    if is_collection(folder):
        with opened(folder) as connection:
            known = identity(connection)
    earlier_copy(out, form, known, force=force)
    with workplace(out, (clock or SystemClock()).now()):
        pass


async def plan_copy(order: SaveOrder) -> Plan:
    """What the copy takes, and what has to be fetched first. Raises GossamerError, also for an ``out`` that is refused."""
    with tempfile.TemporaryDirectory(prefix="gossamer-") as work:
        async with _reading(order, workers=1) as (source, parsers):  # they have little to do
            _refuse_overlap(order)
            _check_out(order, source)
            return await Planner(source, parsers, Path(work)).plan(chosen(source.connection, order.choice))


async def make_copy(order: SaveOrder, observe: Observe = lambda *_: None, clock: Clock | None = None) -> Saved:
    """Save the chosen pages so that they can be read with no server, from what the archive has.

    Raises GossamerError; then what was in ``out`` is as it was.
    """
    clock = clock or SystemClock()
    async with _reading(order) as (source, parsers):
        _refuse_overlap(order)
        _check_out(order, source)  # before anything is made beside it
        wanted = chosen(source.connection, order.choice)
        with workplace(order.out, clock.now()) as place:
            earlier = _check_out(order, source)
            if order.form is Form.SINGLE:
                return await save_page(source, wanted, place, earlier, parsers, force=order.force)
            if order.form is Form.WACZ:
                return await save_web_archive(source, wanted, place, earlier, parsers, observe, force=order.force)
            saved = await save(
                source, wanted, place, earlier, parsers, observe, ascii_only=order.ascii_only, force=order.force
            )
            if order.form is Form.ZIP:
                return replace(saved, written=zipped(place, earlier, observe))
            place.swap()
        return saved


async def check_copy(out: Path, settings: Settings) -> Checked:
    """Walk a copy as a browser would, or look after the records of one that is a web archive.

    Raises GossamerError when it can't be read.
    """
    if is_web_archive(out):
        return check_web_archive(out)
    page = read_page(out)
    async with _Workers(settings) as workers:
        if page is not None:
            return await check_page(*page, out.name, workers, dead_of(noted(out)))
        with opened_tree(out) as tree:
            return await check(tree, workers)


@asynccontextmanager
async def _reading(order: SaveOrder, workers: int = 0) -> AsyncIterator[tuple[Source, "_Workers"]]:
    """The collection as of one moment, also while a crawl writes to it, and parser workers."""
    with opened(order.folder) as connection, connection:
        source = Source(connection, order.folder, order.settings.max_decoded)
        async with _Workers(order.settings, workers) as pool:
            yield source, pool


class _Workers:
    """Parser workers, one for each processor: unlike a crawl, nothing else here has much to do.

    They start when the first is needed: of many sites it is known without them what has to be fetched.
    """

    def __init__(self, settings: Settings, count: int = 0) -> None:
        """``count``: how many; 0: as many as the setting says, or one for each processor."""
        parsers = count or settings.parsers or os.cpu_count() or 1
        self._pool = parser_pool(b"not used", replace(settings, parsers=parsers))
        self._stack = AsyncExitStack()
        self._start = asyncio.Lock()
        self._is_started = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def rewrite(self, job: RewriteJob) -> Rewritten:
        return await (await self._started()).rewrite(job)

    async def parse(self, job: ParseJob) -> Facts:
        return await (await self._started()).parse(job)

    async def _started(self) -> ParserPool:
        if not self._is_started:
            async with self._start:
                if not self._is_started:
                    await self._stack.enter_async_context(self._pool)
                    self._is_started = True
        return self._pool


def _named_after(folder: Path, form: Form, choice: Choice, inside: Path = Path()) -> Path:
    """A copy in ``inside``, named after the title of what was crawled, or of the page that it is."""
    with opened(folder) as connection:
        title = page_title(connection, choice) if form is Form.SINGLE else title_of(connection)
    name = folder_named(title)
    path = inside / f"{name}{ENDINGS[form]}"
    return inside / f"{name} offline{ENDINGS[form]}" if path.resolve() == folder.resolve() else path


def _refuse_overlap(order: SaveOrder) -> None:
    """A copy in the place of its collection, or of a folder around it, would destroy what it is made from."""
    if order.folder.resolve().is_relative_to(order.out.resolve()):
        raise UsageError(f"{order.out} holds the collection itself", hint="name another folder for the copy")


def _check_out(order: SaveOrder, source: Source) -> Manifest | None:
    """The earlier copy, if there is one. Raises UsageError where ``out`` must not be replaced."""
    return earlier_copy(order.out, order.form, identity(source.connection), force=order.force)
