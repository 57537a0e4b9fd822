"""How much memory a program and all processes below it take, watched from outside (Linux)."""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self


def below(pid: int) -> Iterator[int]:
    """The process and all its descendants that are there now."""
    yield pid
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from below(int(child))


def proportional_size(pid: int) -> int:
    """Bytes; what processes share counts once, split among them (PSS). 0 for one that has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))


class Watch:
    """Looks at the memory of a process tree twice a second, from entering to leaving."""

    def __init__(self, pid: int, interval: float = 0.5) -> None:
        self.peak = 0  # bytes, of all processes together
        self.peaks: dict[int, int] = {}  # of each
        self._pid = pid
        self._interval = interval
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(self._interval):
            sizes = {pid: proportional_size(pid) for pid in below(self._pid)}
            self.peak = max(self.peak, sum(sizes.values()))
            for pid, size in sizes.items():
                self.peaks[pid] = max(self.peaks.get(pid, 0), size)
