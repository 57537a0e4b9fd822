"""Archives in and out, for programs."""

import asyncio
import threading
from collections import Counter
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from gossamer.archive.aside import written_aside
from gossamer.archive.catalogue import Filter, opened
from gossamer.archive.export.chosen import Choice, chosen
from gossamer.archive.export.wacz import write_wacz
from gossamer.archive.export.warc import Trouble, write_warc
from gossamer.clock import SystemClock
from gossamer.importing import ImportOrder, take_in

T = TypeVar("T")

Form = Literal["warc", "wacz"]


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of an import."""

    captures: int  # that were taken in
    known: int  # that were there already
    passed: Counter[str] = field(default_factory=Counter)  # left out as it should be, by what it is
    problems: tuple[str, ...] = ()  # what had to be left out, each with its file and byte


def import_archives(order: ImportOrder) -> Imported:
    """Take archives in; an event loop may run in this thread."""
    problems: list[str] = []
    work = take_in(order, lambda problem: problems.append(f"{problem.place}: {problem.message}"))
    tally = run_apart(work)
    return Imported(tally.captures, tally.known, tally.passed, tuple(problems))


def export_archive(folder: Path, target: Path, form: Form, wanted: Filter) -> tuple[str, ...]:
    """Write what is wanted; the file is there when it is whole. Gives what could not be written as it should."""
    troubles: list[str] = []

    def tell(trouble: Trouble) -> None:
        troubles.append(f"{trouble.place}: {trouble.message}")

    with opened(folder) as connection, chosen(connection, Choice(wanted)), written_aside(target) as file:
        now = SystemClock().now()
        if form == "wacz":
            write_wacz(connection, folder, file, now=now, tell=tell)
        else:
            for _ in write_warc(connection, folder, file, filename=target.name, now=now, tell=tell):
                pass
    return tuple(troubles)


def run_apart(work: Coroutine[Any, Any, T]) -> T:
    """What ``work`` gives, done in a thread with an event loop of its own. Ctrl-C cancels it, and waits for that."""
    result: Future[T] = Future()
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = Future()

    async def main() -> T:
        task = asyncio.ensure_future(work)
        started.set_result((asyncio.get_running_loop(), task))
        return await task

    def run() -> None:
        try:
            result.set_result(asyncio.run(main()))
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is waited for
            result.set_exception(error)

    thread = threading.Thread(target=run, name="gossamer import")
    thread.start()
    try:
        return result.result()
    except KeyboardInterrupt:
        loop, task = started.result()
        loop.call_soon_threadsafe(task.cancel)
        raise
    finally:
        thread.join()
