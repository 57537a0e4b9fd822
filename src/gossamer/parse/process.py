"""One parser worker, seen from the crawler: started, asked, stopped, and what its death means."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence
from contextlib import suppress

from gossamer.errors import GossamerError
from gossamer.parse.wire import (
    LENGTH,
    OUT_OF_MEMORY,
    READY,
    Answer,
    Orders,
    Task,
    frame,
    frame_size,
    pack_orders,
    pack_tasks,
    unpack_answers,
)
from gossamer.records import Failure, FailureKind

_START_TIME = 60.0  # seconds to import everything on a machine that is busy
_STOP_TIME = 2.0
_BUFFER = 1024 * 1024
_COMMAND = ("-P", "-m", "gossamer.parse.worker")  # -P: no module is taken from the folder one happens to be in


async def _started() -> Process:
    """A new process. Cancelled while it makes one, asyncio may wait for it for ever: the moment it takes is waited out."""
    # A session of its own: Ctrl-C at the terminal goes to the crawler only.
    making = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            sys.executable, *_COMMAND, stdin=PIPE, stdout=PIPE, stderr=PIPE, limit=_BUFFER, start_new_session=True
        )
    )
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        process = await making
        process.kill()
        await process.wait()
        raise


class WorkerDied(Exception):
    """A worker ended, or was ended, before it answered. ``outside``: nothing says that a page was to blame."""

    def __init__(self, failure: Failure, *, outside: bool) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.outside = outside


class WorkerProcess:
    """A running worker; `start` makes one."""

    def __init__(self, process: Process) -> None:
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self._input = process.stdin
        self._output = process.stdout

    @classmethod
    async def start(cls, orders: Orders) -> "WorkerProcess":
        """Raises GossamerError, with what the worker said, when it does not come up."""
        try:
            process = await _started()
        except OSError as error:
            raise GossamerError(f"a parser worker can't be started ({error.strerror})") from error
        worker = cls(process)
        try:
            async with asyncio.timeout(_START_TIME):
                await worker._send(pack_orders(orders))
                if await worker._receive() != READY:
                    raise EOFError
        except (EOFError, OSError, ValueError, TimeoutError) as error:
            raise GossamerError(await worker._last_words()) from error
        except asyncio.CancelledError:
            await worker.kill()
            raise
        return worker

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    async def ask(self, tasks: Sequence[Task], seconds: float) -> list[Answer]:
        """The answer to each task. Raises WorkerDied; the worker is gone then.

        ``seconds`` is a bound in real time, beside the worker's own in processor time, for what only waits.
        """
        try:
            async with asyncio.timeout(seconds):
                await self._send(pack_tasks(tasks))
                answers = unpack_answers(await self._receive())
                if len(answers) != len(tasks):
                    raise ValueError(f"{len(answers)} answers")
                return answers
        except TimeoutError:
            await self.kill()
            hung = Failure(FailureKind.PARSER_HUNG, f"no answer in {seconds:.0f} s")
            raise WorkerDied(hung, outside=True) from None
        except (EOFError, OSError, ValueError, TypeError) as error:
            raise self._verdict(await self._ended()) from error

    async def stop(self) -> None:
        """Let it end by itself, which it does when its input closes; kill it when it does not."""
        self._input.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_STOP_TIME):
                await self._process.wait()
        await self.kill()

    async def kill(self) -> None:
        if self.alive:
            with suppress(ProcessLookupError):
                self._process.kill()
        await self._process.wait()
        self._input.close()

    async def _send(self, payload: bytes) -> None:
        self._input.writelines(frame(payload))
        await self._input.drain()

    async def _receive(self) -> bytes:
        head = await self._output.readexactly(LENGTH)
        return await self._output.readexactly(frame_size(head))

    async def _ended(self) -> int:
        """How it ended; its exit code comes a moment after its pipes have closed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_STOP_TIME):
                await self._process.wait()
        await self.kill()
        return self._process.returncode or 0

    def _verdict(self, code: int) -> WorkerDied:
        if code == -signal.SIGPROF:
            return WorkerDied(Failure(FailureKind.PARSER_HUNG, "too much processor time"), outside=False)
        if code == OUT_OF_MEMORY:
            return WorkerDied(Failure(FailureKind.PARSER_CRASHED, "out of memory"), outside=False)
        if code < 0:
            ended = Failure(FailureKind.PARSER_CRASHED, signal.Signals(-code).name)
            return WorkerDied(ended, outside=-code in (signal.SIGKILL, signal.SIGTERM))
        return WorkerDied(Failure(FailureKind.PARSER_CRASHED, f"exit code {code}"), outside=False)

    async def _last_words(self) -> str:
        code = await self._ended()
        assert self._process.stderr is not None
        said = (await self._process.stderr.read()).decode("utf-8", "replace").strip()
        reason = said.splitlines()[-1] if said else f"exit code {code}"
        return f"a parser worker can't be started ({reason})"
