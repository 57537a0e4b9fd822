"""Crawls as processes that are killed, stopped and starved, and what is asked of them afterwards."""

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from fakeweb import FakeWeb, GeneratedSite
from fakeweb.log import Visit
from oracle import Expected, check

GOSSAMER = Path(sys.executable).with_name("gossamer")
_MARK = "TESTED_CRAWL"

# nothing of the machine it runs on: no settings, no proxy, no shortage of room
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C", "PYTHONDONTWRITEBYTECODE": "1"}
_ENVIRONMENT |= {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}


@dataclass
class Process:
    """A crawl in another process, with what it started."""

    popen: "subprocess.Popen[str]"
    mark: str
    _stderr: IO[str]

    def kill(self) -> float:
        """kill -9 of the crawler alone; gives the moment.

        It is taken when the process is gone: what it had sent by then the server may read a moment later.
        """
        self.popen.kill()
        self.end()
        return time.time()

    def signal(self, number: signal.Signals) -> None:
        """As a terminal sends it: to the whole process group."""
        os.killpg(self.popen.pid, number)

    @property
    def err(self) -> str:
        """What it wrote to stderr up to now."""
        self._stderr.seek(0)
        return self._stderr.read()

    def wait_for(self, text: str, timeout: float = 30.0) -> None:
        """Wait until it says something."""
        until = time.monotonic() + timeout
        while text not in self.err:
            assert time.monotonic() < until and self.popen.poll() is None, f"it never said {text!r}:\n{self.err}"
            time.sleep(0.005)

    def end(self, timeout: float = 60.0) -> "Ended":
        """Wait until it has ended."""
        try:
            out, _ = self.popen.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            out, _ = self.popen.communicate()
            raise AssertionError(f"it did not end within {timeout} s:\n{out}{self.err}") from None
        err = self.err
        self._stderr.close()
        return Ended(self.popen.returncode, out, err)

    def left_behind(self, patience: float = 5.0) -> list[str]:
        """Processes that it started and that still run."""
        until = time.monotonic() + patience
        while (left := _processes_with(self.mark)) and time.monotonic() < until:
            time.sleep(0.02)
        return left


@dataclass(frozen=True)
class Ended:
    """How a program ended."""

    code: int
    out: str
    err: str

    @property
    def complaints(self) -> list[str]:
        """The lines that say what is wrong."""
        return [line for line in self.err.splitlines() if line.startswith("Error: ")]

    def assert_said_clearly(self, *codes: int) -> None:
        """It ended with one of ``codes``, one line says why, and there is no traceback."""
        assert self.code in codes, f"exit code {self.code}: {self.err[-2000:]}"
        assert "Traceback" not in self.out + self.err, self.err[-4000:]
        assert len(self.complaints) == (self.code != 0), self.err[-2000:]


def start(
    *arguments: str | Path, prefix: Sequence[str] = (), before: Callable[[], None] | None = None, **environment: str
) -> Process:
    """Run ``gossamer`` with ``arguments``; ``before`` is called in the new process before it becomes that."""
    mark, stderr = uuid.uuid4().hex, tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115  # closed by end()
    popen = subprocess.Popen(
        [*prefix, str(GOSSAMER), *map(str, arguments)],
        env=_ENVIRONMENT
        | {"HOME": "/nonexistent", "TMPDIR": os.environ.get("TMPDIR", "/tmp"), _MARK: mark}
        | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        start_new_session=True,
        preexec_fn=before,
    )
    return Process(popen, mark, stderr)


def run(*arguments: str | Path, **more: object) -> Ended:
    """Run ``gossamer`` to its end."""
    return start(*arguments, **more).end()  # type: ignore[arg-type]  # passed on


def assert_whole(folder: Path) -> None:
    """``gossamer verify`` finds nothing."""
    verified = run("verify", folder)
    assert (verified.code, verified.err) == (0, ""), verified.out + verified.err


def states(folder: Path, web: FakeWeb) -> dict[tuple[int, str], tuple[int, int, int | None]]:
    """Site and path -> state, held, and the status of the last answer, of every URL of the web."""
    origins = {web.origin(site): number for number, site in enumerate(web.sites)}
    query = (
        "SELECT host.origin, substr(url.url, length(host.origin) + 1), state, held != 0,"
        " (SELECT status FROM page WHERE page.url = url.id ORDER BY attempt DESC LIMIT 1)"
        " FROM url JOIN host ON host.id = url.host"
    )
    with closing(sqlite3.connect(folder / "crawl.db")) as database:
        return {
            (origins[origin], path): (state, held, status)
            for origin, path, state, held, status in database.execute(query)
            if origin in origins
        }


def expected(web: FakeWeb, sites: Sequence[GeneratedSite], **more: object) -> Expected:
    """What a crawl of generated sites must do."""
    return Expected(
        pages={web.url(path, site) for site in sites for path in site.reachable},
        asked={web.url(path, site) for site in sites for path in site.asked},
        robots={web.origin(site).partition("://")[2]: _robots(site) for site in sites},
        **more,  # type: ignore[arg-type]  # fields of Expected
    )


def _robots(site: GeneratedSite) -> str:
    page = site.pages["/robots.txt"]
    assert not callable(page)
    return page.body.decode()


@dataclass
class Disturbed:
    """A crawl that is killed again and again, and started with the same command each time."""

    web: FakeWeb
    folder: Path
    options: Sequence[str]
    kills: list[float] = field(default_factory=list)

    def start(self, before: Callable[[], None] | None = None) -> Process:
        seeds = [self.web.url("/", site) for site in self.web.sites]
        return start("crawl", *self.options, "-o", self.folder, *seeds, before=before)

    def kill_when(self, happened: Callable[[], bool]) -> None:
        """Start it, and kill it as soon as something is so."""
        process = self.start()
        while not happened() and process.popen.poll() is None:
            time.sleep(0.0005)
        self.kills.append(process.kill())
        assert process.left_behind() == []

    def kill_after(self, *, visits: int = 0, seconds: float = 0.0) -> bool:
        """Start it, kill it so many visits and then seconds later; False when it was done before."""
        process = self.start()
        wanted = len(self.web.log) + visits
        self._wait(lambda log: len(log) >= wanted or process.popen.poll() is not None)
        time.sleep(seconds)
        if process.popen.poll() is None:
            self.kills.append(process.kill())
            assert process.left_behind() == []
            return True
        process.end().assert_said_clearly(0)
        return False

    def _wait(self, condition: Callable[[list[Visit]], bool]) -> None:
        while True:
            try:
                self.web.wait(condition, timeout=0.2)
            except TimeoutError:  # it may have ended without another visit
                continue
            return

    def finish(self) -> Ended:
        """Let it come to its end."""
        ended = self.start().end(120)
        ended.assert_said_clearly(0)
        return ended

    def violations(self, sites: Sequence[GeneratedSite], **more: object) -> list[str]:
        """What the oracle says of it all."""
        return check(self.web.log, self.folder, expected(self.web, sites, kills=self.kills, **more), exit_code=0)


def _processes_with(mark: str) -> list[str]:
    found = []
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:  # it has ended, or is another person's
            continue
    return found
