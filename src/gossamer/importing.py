"""One import from files to report: builds parsers and importer around an open collection."""

import logging
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from gossamer.archive.catalogue import opened
from gossamer.archive.database import open_for_reading
from gossamer.clock import Clock, SystemClock
from gossamer.collection import DATABASE, Collection, is_collection
from gossamer.intake.importer import Importer, Problem, Tally, Tools
from gossamer.intake.known import Known
from gossamer.intake.originals import Originals
from gossamer.session import log_to, parser_pool
from gossamer.settings_files import Loaded, write_collection_file

log = logging.getLogger("gossamer")


@dataclass(frozen=True, slots=True)
class ImportOrder:
    """Which archives are taken in, and where they go."""

    folder: Path
    files: Sequence[Path]
    loaded: Loaded


async def take_in(
    order: ImportOrder,
    tell: Callable[[Problem], None],
    observe: Callable[[Tally], None] = lambda _: None,
    clock: Clock | None = None,
) -> Tally:
    """Import WARC and WACZ files into a collection, a new one where there is none and something can be taken in. Doing it
    again adds nothing.

    ``tell`` hears of everything that had to be left out, ``observe`` how it goes. Raises GossamerError for what makes
    going on impossible; what was committed until then is safe.
    """
    clock = clock or SystemClock()
    collection = Collection(order.folder, clock, "gossamer import")
    is_new = not is_collection(order.folder)
    try:
        with log_to(collection.folder, order.loaded.settings):
            return await _take_in(collection, order, tell, observe, clock)
    finally:
        if is_new and not _has_captures(order.folder):
            collection.remove()
        collection.close()


def _has_captures(folder: Path) -> bool:
    """Whether there is something that is worth keeping."""
    if not is_collection(folder):
        return False
    with opened(folder) as connection:
        return bool(connection.execute("SELECT EXISTS (SELECT 1 FROM segment)").get)


async def _take_in(
    collection: Collection,
    order: ImportOrder,
    tell: Callable[[Problem], None],
    observe: Callable[[Tally], None],
    clock: Clock,
) -> Tally:
    settings = order.loaded.settings

    def told(problem: Problem) -> None:
        log.warning("import: %s: %s", problem.place, problem.message)
        tell(problem)

    async with AsyncExitStack() as stack:
        parts = collection.open(settings, (), lambda: None)
        stack.push_async_callback(parts.frontier.aclose)
        write_collection_file(collection.folder, order.loaded)
        parsers = parser_pool(parts.secret, settings)
        await parsers.start()
        stack.push_async_callback(parsers.aclose)
        reading = open_for_reading(collection.folder / DATABASE)
        stack.callback(reading.close)
        originals = Originals(reading, collection.folder, parts.secret)
        stack.callback(originals.close)
        known = Known(reading, collection.folder, parts.secret)
        tools = Tools(parts.frontier, parsers, known, originals, parts.lease, settings, clock)
        await parts.frontier.event("import started", files=[path.name for path in order.files])
        tally = await Importer(tools, told, observe).take(order.files)
        await parts.frontier.event("import ended", captures=tally.captures, problems=tally.problems)
        return tally
