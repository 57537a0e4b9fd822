"""How a crawl is shown: a live display on a terminal, a line every few seconds elsewhere, or JSON."""

import shlex
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

from gossamer.cli.output import duration_text, say, size_text, write_json
from gossamer.crawl.report import Progress, Report

LINE_EVERY = 5.0
"""Seconds between two lines where there is no terminal."""


class Display(ABC):
    """Shows snapshots of a crawl, and at the end what it did. A context: it cleans up after itself."""

    @abstractmethod
    def show(self, progress: Progress) -> None:
        """A snapshot; called about once a second."""

    def summary(self, report: Report, folder: Path) -> None:
        """What was done, and what to try next."""
        now = report.progress.statistics
        name = shlex.quote(str(folder))
        say(
            f"{now.pages} pages, {size_text(now.bytes)} in {duration_text(report.progress.elapsed)}: {report.ending}."
            f" Waiting {now.waiting}, held {now.held}, failed {now.failed}."
        )
        if report.progress.errors:
            worst = sorted(report.progress.errors.items(), key=lambda item: -item[1])[:5]
            say("Failures: " + ", ".join(f"{kind} {count}" for kind, count in worst))
        say(f"Next:  gossamer status {name}   gossamer search {name} WORDS   gossamer urls {name}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None


class LineDisplay(Display):
    """One line every few seconds, for logs and pipes."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def show(self, progress: Progress) -> None:
        if time.monotonic() - self._last >= LINE_EVERY:
            self._last = time.monotonic()
            say(_line(progress))


class JsonDisplay(Display):
    """Snapshots and the summary as JSON on standard output, one object a line."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def show(self, progress: Progress) -> None:
        if time.monotonic() - self._last >= LINE_EVERY:
            self._last = time.monotonic()
            write_json({"kind": "progress", **_fields(progress)})

    def summary(self, report: Report, folder: Path) -> None:
        write_json(
            {
                "kind": "summary",
                "ending": report.ending.name.lower(),
                "folder": str(folder),
                **_fields(report.progress),
            }
        )


class LiveDisplay(Display):
    """A small table on the terminal that changes in place."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, transient=True, refresh_per_second=4)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._live.stop()

    def show(self, progress: Progress) -> None:
        self._live.update(_table(progress))

    def summary(self, report: Report, folder: Path) -> None:
        self._live.stop()
        super().summary(report, folder)


def display() -> Display:
    """The display that fits where standard error goes."""
    console = Console(stderr=True)
    return LiveDisplay(console) if sys.stderr.isatty() else LineDisplay()


def _fields(progress: Progress) -> dict[str, object]:
    now = progress.statistics
    return {
        "state": progress.state,
        "pages": now.pages,
        "bytes": now.bytes,
        "waiting": now.waiting,
        "finished": now.finished,
        "failed": now.failed,
        "held": now.held,
        **progress.as_json(),
        "errors": progress.errors,
    }


def _line(progress: Progress) -> str:
    now = progress.statistics
    pause = f" ({progress.pause})" if progress.pause else ""
    return (
        f"{progress.state}{pause}: {now.pages} pages, {now.waiting} waiting, {now.running} running, {now.held} held,"
        f" {now.failed} failed; {progress.pages_per_second:.1f} pages/s, {size_text(progress.bytes_per_second)}/s,"
        f" {progress.downloaders_busy} of {progress.downloaders} downloaders busy"
    )


def _table(progress: Progress) -> Table:
    now = progress.statistics
    table = Table.grid(padding=(0, 2))
    for _ in range(4):
        table.add_column()
    pause = f" ({progress.pause})" if progress.pause else ""
    table.add_row("[bold]pages", f"{now.pages}", "[bold]speed", f"{progress.pages_per_second:.1f} pages/s")
    table.add_row("waiting", f"{now.waiting}", "traffic", f"{size_text(progress.bytes_per_second)}/s")
    table.add_row("held", f"{now.held}", "downloaders", f"{progress.downloaders_busy} of {progress.downloaders} busy")
    table.add_row("failed", f"{now.failed}", progress.state + pause, duration_text(progress.elapsed))
    return table
