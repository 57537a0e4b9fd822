"""Carries a plan out: the same command again and again, disturbed until the last time."""

import math
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from chaos.draw import Blow, Disturbance, Plan
from chaos.web import World
from durability.crawling import Ended, Process, run, start
from fakeweb import Visit
from oracle import check_archive

PATIENCE = 90.0
"""Seconds that one run may take; a plan's sites take a few."""

MAX_MEMORY = 400 * 1024 * 1024
MAX_DESCRIPTORS = 200
"""Of the crawler's process. It needs a third of either for such sites; what grows without bound meets them."""

_UNCLEAN = frozenset({Blow.KILL, Blow.KILL_AT_CALL, Blow.DISK, Blow.INTERRUPT_TWICE})


@dataclass(slots=True)
class Run:
    """One start of the command, and how it ended."""

    arguments: Sequence[str]
    disturbance: Disturbance | None
    began: float
    ended: float
    code: int
    err: str
    left_behind: list[str]


@dataclass(slots=True)
class Ride:
    """What happened under a plan."""

    plan: Plan
    folder: Path
    world: World
    runs: list[Run] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)  # moments at which a run may have lost what it had in flight
    visits: list[Visit] = field(default_factory=list)
    found: list[str] = field(default_factory=list)  # violations seen on the way
    forgotten: float = 0.0  # when a run without a single page took away what it had begun, so that all begins anew
    memory: int = 0  # bytes, the most
    descriptors: int = 0  # the most
    seconds: float = 0.0
    healed: float = math.inf  # when the world became well for good
    retries: list[float] = field(default_factory=list)  # moments at which all that was given up was taken up again


class Weather:
    """Brings hosts down and up again, from a thread of its own."""

    def __init__(self, world: World, plan: Plan) -> None:
        self._world = world
        self._plan = plan
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="weather", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        for outage in self._plan.outages:
            if self._until(lambda log, many=outage.visits: len(log) >= many):  # type: ignore[misc]  # bound on purpose
                self._world.down(outage.host)
                self._over.wait(outage.seconds)
                self._world.up(outage.host)

    def _until(self, condition: Callable[[list[Visit]], bool]) -> bool:
        while not self._over.is_set():
            with suppress(TimeoutError):
                self._world.web.wait(condition, timeout=0.1)
                return True
        return False

    def end(self) -> None:
        """No more outages; what is down comes up."""
        self._over.set()
        self._thread.join()


class Rider:
    """Starts the command, lets the blows fall, and notes what is seen."""

    def __init__(self, world: World, ride: Ride) -> None:
        self._world = world
        self._ride = ride
        plan = ride.plan
        servers = [f"--dns={world.names.server}"] if world.names else []
        seeds = [world.web.url("/", site) for site in world.sites]
        self._command = ["crawl", *plan.options, *servers, "--min-free=0", "-o", str(ride.folder), *seeds]

    def disturbed(self, disturbance: Disturbance) -> Run:
        """One run, and what befalls it."""
        arguments = list(self._command)
        if disturbance.blow is Blow.NO_ROOM:
            arguments.insert(1, "--min-free=900T")
            arguments.remove("--min-free=0")
        before = len(self._world.web.log)
        began = time.time()
        process = start(*arguments, prefix=_tracer(disturbance, self._ride.folder.with_name("strace.log")))
        if disturbance.blow is Blow.NO_ROOM:  # nothing will be asked for
            self._pause(process, 2.0 + disturbance.seconds)
            self._strike(process, disturbance)
        elif not disturbance.call:
            self._wait(process, lambda log: len(log) >= before + disturbance.visits)
            self._pause(process, disturbance.seconds)
            self._strike(process, disturbance)
        return self._end(process, arguments, disturbance, began)

    def undisturbed(self) -> Run:
        """One run to its end."""
        began = time.time()
        return self._end(start(*self._command), self._command, None, began)

    def _strike(self, process: Process, disturbance: Disturbance) -> None:
        with suppress(ProcessLookupError):
            match disturbance.blow:
                case Blow.KILL:
                    process.popen.kill()
                case Blow.INTERRUPT | Blow.INTERRUPT_TWICE:
                    process.signal(signal.SIGINT)
                    if disturbance.blow is Blow.INTERRUPT_TWICE:
                        time.sleep(disturbance.seconds)
                        process.signal(signal.SIGINT)
                case Blow.TERMINATE | Blow.NO_ROOM:
                    process.signal(signal.SIGTERM)
                case Blow.FREEZE:
                    process.signal(signal.SIGSTOP)
                    time.sleep(0.2 + disturbance.seconds)
                    process.signal(signal.SIGCONT)
                case Blow.PARSER:
                    _kill_a_child(process.popen.pid)
                case Blow.RIVAL:
                    self._rival()
                case Blow.LOOK | Blow.BACKUP | Blow.RETRY:
                    self._look_in(disturbance.blow)

    def _rival(self) -> None:
        """The folder is taken: a second crawl says so and touches nothing. Or the first is over, and it finds nothing to do."""
        ended = run(*self._command)
        if ended.code not in (0, 3, 4) or "Traceback" in ended.err:
            self._ride.found.append(f"rival: exit code {ended.code}: {ended.err[-500:]}")

    def _look_in(self, blow: Blow) -> None:
        """Other commands beside the crawl: they find what they look for, and disturb nothing."""
        folder = self._ride.folder
        if not (folder / "crawl.db").exists():
            return
        copy = folder.with_name(f"backup{len(self._ride.runs)}")
        commands: dict[Blow, list[tuple[str | Path, ...]]] = {
            Blow.LOOK: [("status", "--json", folder), ("urls", "--json", folder), ("search", "--json", folder, "dawn")],
            Blow.BACKUP: [("backup", folder, copy), ("verify", copy)],
            Blow.RETRY: [("retry", folder)],
        }
        for command in commands[blow]:
            ended = run(*command)
            if ended.code or "Traceback" in ended.err:
                self._ride.found.append(
                    f"look: {command[0]} ended with {ended.code}: {ended.err[-500:]}{ended.out[-500:]}"
                )
        if blow is Blow.BACKUP and (copy / "crawl.db").exists():
            self._ride.found += [f"backup: {line}" for line in check_archive(copy, is_finished=False)]
        if blow is Blow.RETRY:
            self._ride.retries.append(time.time())

    def _wait(self, process: Process, condition: Callable[[list[Visit]], bool]) -> None:
        until = time.monotonic() + PATIENCE
        while process.popen.poll() is None and time.monotonic() < until:
            self._measure(process)
            with suppress(TimeoutError):
                self._world.web.wait(condition, timeout=0.1)
                return

    def _pause(self, process: Process, seconds: float) -> None:
        with suppress(subprocess.TimeoutExpired):
            process.popen.wait(seconds)

    def _measure(self, process: Process) -> None:
        with suppress(OSError, IndexError, ValueError):
            folder = Path(f"/proc/{process.popen.pid}")
            resident = int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
            self._ride.memory = max(self._ride.memory, resident)
            self._ride.descriptors = max(self._ride.descriptors, sum(1 for _ in (folder / "fd").iterdir()))

    def _end(self, process: Process, arguments: Sequence[str], disturbance: Disturbance | None, began: float) -> Run:
        self._wait(process, lambda _: False)
        try:
            ended = process.end(timeout=5.0)
        except AssertionError as error:
            ended = Ended(-signal.SIGKILL, "", f"it hung: {error}")
            self._ride.found.append(f"hang: the run did not end within {PATIENCE} s")
        now = time.time()
        left = process.left_behind()
        run_ = Run(arguments, disturbance, began, now, ended.code, ended.err + ended.out, left)
        self._ride.runs.append(run_)
        if ended.code not in (0, 3) and (disturbance is None or disturbance.blow in _UNCLEAN or ended.code < 0):
            self._ride.ends.append(now)
        if ended.code == 3 and not self._ride.folder.exists():
            self._ride.forgotten = now
        return run_


def needs_strace(plan: Plan) -> bool:
    """Whether a plan takes a tool that is not here."""
    return shutil.which("strace") is None and any(disturbance.call for disturbance in plan.disturbances)


def ride(plan: Plan, folder: Path) -> Ride:
    """Carry out a plan in an empty folder: the collection becomes ``folder / "crawl"``."""
    began = time.monotonic()
    with World(plan) as world:
        result = Ride(plan, folder / "crawl", world)
        weather = Weather(world, plan)
        rider = Rider(world, result)
        for disturbance in plan.disturbances:
            if rider.disturbed(disturbance).code == 0:  # it is done
                break
        rider.undisturbed()
        weather.end()
        if not plan.is_patient:
            world.heal()
            result.healed = time.time()
            _retry(result)
            rider.undisturbed()
        result.visits = world.web.log
        result.seconds = time.monotonic() - began
    return result


def _retry(ride: Ride) -> None:
    """Take up again all that was given up. There is no collection where no seed could be fetched."""
    if not (ride.folder / "crawl.db").exists():
        return
    ended = run("retry", ride.folder)
    ride.retries.append(time.time())
    if ended.code:
        ride.found.append(f"retry: exit code {ended.code}: {ended.err}")


def _tracer(disturbance: Disturbance, log: Path) -> list[str]:
    """strace makes a system call fail, or kills the process at it; counted by thread."""
    if not disturbance.call:
        return []
    when = f"{disturbance.number}{'+' if disturbance.for_good else ''}"
    what = f"error={disturbance.error}" if disturbance.error else "signal=KILL"
    inject = [f"--inject={disturbance.call}:{what}:when={when}", f"--trace={disturbance.call}"]
    return ["strace", "-f", "--seccomp-bpf", "-qq", "-e", "signal=none", "-o", str(log), *inject]


def _kill_a_child(pid: int) -> None:
    """A parser worker dies, as if the system had no memory left."""
    with suppress(OSError, ProcessLookupError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
            return
