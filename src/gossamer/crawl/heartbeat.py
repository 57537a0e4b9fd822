"""What happens each second of a crawl: the heartbeat is written, commands are read, room and time are looked at."""

import asyncio
import logging
import shutil
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

from gossamer import url as urls
from gossamer.archive.disk import write_error
from gossamer.clock import Clock
from gossamer.crawl.manager import Crawl
from gossamer.crawl.report import Ending, Progress
from gossamer.errors import GossamerError, UsageError
from gossamer.frontier.contract import Frontier
from gossamer.records import Candidate, Command, Selection, Via
from gossamer.settings import Settings

log = logging.getLogger("gossamer.crawl")

PERIOD = 1.0
"""Seconds between two beats."""

LOG_PERIOD = 30.0
"""Seconds between two lines of the log that say how it goes."""

_LOW_DISK = "little room on the disk"
_BY_COMMAND = "by command"
_DAY = 86400.0
_FOR_ONE_RUN = frozenset({"pause", "resume", "stop", "set_rate"})


class Heartbeat:
    """Keeps a crawl in touch with what is around it."""

    def __init__(
        self,
        crawl: Crawl,
        frontier: Frontier,
        folder: Path,
        settings: Settings,
        clock: Clock,
        observe: Callable[[Progress], None],
        complete: Callable[[str], Awaitable[str]],
    ) -> None:
        """``complete`` decides on the scheme of an address that was typed without one."""
        self._crawl = crawl
        self._frontier = frontier
        self._folder = folder
        self._settings = settings
        self._clock = clock
        self._observe = observe
        self._complete = complete
        self._pause = ""
        self._next_log = LOG_PERIOD
        self._ended = asyncio.Event()
        self._began = clock.now()

    async def run(self) -> None:
        """Beat until told to end; a command that was read is answered before that."""
        while not self._ended.is_set():
            await self.beat()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), PERIOD)

    async def beat(self) -> None:
        """Look around, show, write and obey, once."""
        self._look_at_room()
        self._look_at_time()
        progress = self._crawl.progress()
        self._observe(progress)
        self._log(progress)
        await self._tell(progress.pause)
        for command in await self._frontier.beat(progress.state, progress.as_json()):
            if self._crawl.is_over:  # the next run carries it out: this one could fetch nothing more
                break
            with self._crawl.held_open():
                await self._carry_out(command)

    def end(self) -> None:
        """Make `run` return soon."""
        self._ended.set()

    def _log(self, progress: Progress) -> None:
        """Where time goes, now and then, for who reads the log afterwards."""
        if progress.elapsed >= self._next_log:
            self._next_log = progress.elapsed + LOG_PERIOD
            log.info("%s", ", ".join(f"{name} {value}" for name, value in progress.as_json().items() if value != ""))

    async def _tell(self, pause: str) -> None:
        """Pauses are events: who follows these sees why nothing happened for a while."""
        if pause != self._pause:
            self._pause = pause
            await (self._frontier.event("paused", reason=pause) if pause else self._frontier.event("resumed"))

    def _look_at_room(self) -> None:
        try:
            free = shutil.disk_usage(self._folder).free
        except OSError as error:  # somebody took it away: what is written goes nowhere
            raise write_error(self._folder, error) from error
        if free < self._settings.min_free:
            self._crawl.pause(_LOW_DISK)
        else:
            self._crawl.resume(_LOW_DISK)

    def _look_at_time(self) -> None:
        limit = self._settings.max_time
        if limit is not None and self._clock.now() - self._began >= limit:
            self._crawl.stop(Ending.MAX_TIME)

    async def _carry_out(self, command: Command) -> None:
        try:
            self._refuse_late(command)
            answer = await self._do(command.verb, command.arguments)
        except GossamerError as error:
            answer = f"error: {error}"
        log.info("command %s: %s", command.verb, answer)
        await self._frontier.answer(command, answer)

    def _refuse_late(self, command: Command) -> None:
        """A stop that an earlier crawl did not live to carry out must not end this one."""
        if command.verb in _FOR_ONE_RUN and command.at < self._began:
            raise UsageError("the crawl that it was meant for had ended")

    async def _do(self, verb: str, arguments: dict[str, object] | None) -> str:
        if arguments is None:
            raise UsageError("its arguments are no JSON object")
        match verb:
            case "pause":
                self._crawl.pause(_BY_COMMAND)
                return "paused"
            case "resume":
                self._crawl.resume(_BY_COMMAND)
                return "resumed"
            case "stop":
                self._crawl.stop()
                return "stopping"
            case "set_rate":
                self._crawl.set_delay(_number(arguments, "delay"))
                return "set"
            case "add":
                return str(await self._add([urls.typed(text) for text in _texts(arguments, "urls")]))
            case _:
                return await self._select(verb, arguments)

    async def _add(self, addresses: Sequence[tuple[str, bool]]) -> int:
        seeds = [await self._complete(url) if guessed else url for url, guessed in addresses]
        return await self._frontier.add([Candidate(url, Via.SEED, depth=0) for url in seeds])

    async def _select(self, verb: str, arguments: dict[str, object]) -> str:
        selection = Selection(
            patterns=tuple(_texts(arguments, "patterns")),
            reason=_text(arguments.get("reason", "")),
            host=_text(arguments.get("host", "")),
        )
        match verb:
            case "release":
                return str(await self._frontier.release(selection))
            case "retry":
                return str(await self._frontier.requeue(selection))
            case "skip_host" if selection.host:
                return str(await self._frontier.park(selection, "skipped by command"))
        raise UsageError(f"the command {verb!r} is not known, or lacks its host")


def _texts(arguments: dict[str, object], name: str) -> list[str]:
    value = arguments.get(name, [])
    if not isinstance(value, list):
        raise UsageError(f"{name!r} must be a list")
    return [_text(each) for each in value]


def _text(value: object) -> str:
    """JSON has halves of surrogate pairs, which no database takes."""
    if not isinstance(value, str) or any("\ud800" <= character <= "\udfff" for character in value):
        raise UsageError("a text is none")
    return value


def _number(arguments: dict[str, object], name: str) -> float:
    value = arguments.get(name)
    if not isinstance(value, int | float) or not 0 <= value <= _DAY:  # NaN is not
        raise UsageError(f"{name!r} must be a number of seconds, a day at the most")
    return float(value)
