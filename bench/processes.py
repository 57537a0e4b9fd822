"""A program and all that it starts: what they take of the processors and of memory. Linux only: read from /proc."""

import os
import resource
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

OUTPUT = "output.txt"
"""In the folder where the program ran: what it wrote."""

_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Sample:
    """A look at the processes."""

    at: float  # seconds since 1970
    memory: int  # bytes, of all
    largest: int  # bytes, of the one that has most
    descriptors: int  # of the one that has most of them
    cpu: float  # seconds, of all, from the start


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run of a program took."""

    seconds: float  # by the clock
    cpu: float  # seconds, user and system, of all its processes
    code: int  # it ended with
    samples: Sequence[Sample]

    @property
    def memory(self) -> int:
        """Bytes, the most that all its processes held at once."""
        return max((sample.memory for sample in self.samples), default=0)

    @property
    def largest(self) -> int:
        """Bytes, the most that one of its processes held."""
        return max((sample.largest for sample in self.samples), default=0)

    @property
    def descriptors(self) -> int:
        """The most that one of its processes had open at once."""
        return max((sample.descriptors for sample in self.samples), default=0)


@dataclass(slots=True)
class _Tree:
    """What was seen of a process and its descendants."""

    root: int
    samples: list[Sample] = field(default_factory=list)
    cpu: dict[int, float] = field(default_factory=dict)  # by process, also of those that have ended

    def look(self) -> None:
        members = list(_members(self.root))
        for pid in members:
            with suppress(OSError):
                self.cpu[pid] = _cpu(pid)
        memory, descriptors = [_memory(pid) for pid in members], max(map(_descriptors, members))
        self.samples.append(Sample(time.time(), sum(memory), max(memory), descriptors, sum(self.cpu.values())))


def run(command: Sequence[str], folder: Path, *, interval: float = 0.25, limit: float = float("inf")) -> Usage:
    """Run ``command`` in ``folder`` to its end; after ``limit`` seconds it is killed. A look each ``interval``."""
    before, begun = cpu_of_children(), time.monotonic()
    with (folder / OUTPUT).open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        tree = _Tree(process.pid)
        while process.poll() is None:
            tree.look()
            with suppress(subprocess.TimeoutExpired):
                process.wait(interval)
            if time.monotonic() - begun > limit:
                process.kill()
    seconds = time.monotonic() - begun
    waited_for = cpu_of_children() - before
    return Usage(seconds, max(waited_for, sum(tree.cpu.values())), process.returncode, tree.samples)


def cpu_of_children() -> float:
    """Seconds, user and system, of all children that have ended and been waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _members(root: int) -> Iterator[int]:
    """A process and its descendants."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                children.setdefault(int(_stat(int(entry.name))[1]), []).append(int(entry.name))
    found = [root]
    for pid in found:
        found.extend(children.get(pid, ()))
    return iter(found)


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat behind the name, which may hold anything; the first is the state (proc(5))."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


def _cpu(pid: int) -> float:
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / _TICK


def _memory(pid: int) -> int:
    """The proportional set size: pages that processes share count once."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


def _descriptors(pid: int) -> int:
    with suppress(OSError):
        return len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208  # only the number is wanted
    return 0
