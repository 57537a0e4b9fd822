"""A program and all that it starts: what they take of the processors and of memory. Linux only: read from /proc."""

import os
import resource
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

INTERVAL = 0.25
"""Seconds between two looks at the tree."""

_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run of a program took."""

    seconds: float  # by the clock
    cpu: float  # seconds, user and system, of all its processes
    memory: int  # bytes, the most that all its processes held at once
    code: int  # it ended with


@dataclass(slots=True)
class _Tree:
    """What was seen of a process and its descendants."""

    root: int
    memory: int = 0
    cpu: dict[int, float] = field(default_factory=dict)  # by process, also of those that have ended

    def look(self) -> None:
        members = list(_members(self.root))
        self.memory = max(self.memory, sum(map(_memory, members)))
        for pid in members:
            with suppress(OSError):
                self.cpu[pid] = _cpu(pid)


def run(command: Sequence[str], folder: Path, *, interval: float = INTERVAL) -> Usage:
    """Run ``command`` in ``folder`` to its end."""
    before, begun = _cpu_of_ended_children(), time.monotonic()
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        tree = _Tree(process.pid)
        while process.poll() is None:
            tree.look()
            with suppress(subprocess.TimeoutExpired):
                process.wait(interval)
    seconds = time.monotonic() - begun
    waited_for = _cpu_of_ended_children() - before
    return Usage(seconds, max(waited_for, sum(tree.cpu.values())), tree.memory, process.returncode)


def cpu_of(pid: int) -> float:
    """Seconds of processor time of a process and its descendants, up to now."""
    return sum(map(_cpu, _members(pid)))


def _cpu_of_ended_children() -> float:
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
