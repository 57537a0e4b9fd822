"""Run D: a frontier of 10 million URLs on 100,000 hosts, through its contract, without any network.

    python bench/frontier.py fill FOLDER URLS HOSTS      add them, settle some, end without closing
    python bench/frontier.py reopen FOLDER               open it again, lease one, close

Each is a process of its own, so that its memory is the manager's; each prints JSON.
"""

import asyncio
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import repeat
from pathlib import Path
from typing import Any

from gossamer import url as urls
from gossamer.clock import ManualClock
from gossamer.collection import DATABASE, Collection
from gossamer.records import Batch, Candidate, Claim, HostUpdate, Outcome, Settlement, State, Via
from gossamer.settings import Settings
from options import Options
from report import Bar, Section

URLS = 10_000_000
HOSTS = 100_000
SETTINGS = Settings(max_urls=0, delay=1.0, scope="any", ignore_robots=True)

ADDED_AT_ONCE = 2000
"""What a group of 64 pages finds, about."""

SETTLED_AT_ONCE = 256

WINDOW = 50
"""Groups over which a rate is taken."""


@dataclass(slots=True)
class Filled:
    """What filling and settling took."""

    urls: int
    adding: list[float] = field(default_factory=list)  # seconds of each group
    settling: list[float] = field(default_factory=list)  # seconds of each group: leased, answered, committed
    commits: list[float] = field(default_factory=list)  # seconds of each commit in them
    cpu_adding: list[float] = field(default_factory=list)  # seconds of each group
    cpu_settling: float = 0.0
    memory: int = 0  # bytes, the most there was
    bytes: int = 0  # of the database


@dataclass(frozen=True, slots=True)
class Reopened:
    """Seconds until the first URL was leased, memory by then, and seconds that closing took."""

    seconds: float
    memory: int
    closing: float


def candidates(count: int, hosts: int, secret: bytes) -> Iterator[list[Candidate]]:
    """URLs as pages name them, in groups; the parser workers have computed their fingerprints."""
    dice = random.Random(1)
    group: list[Candidate] = []
    for number in range(count):
        host = number if number < hosts else dice.randrange(hosts)
        url = f"http://www.site{host}.example/docs/{number % 17}/some-page-about-things-{number:x}.html"
        key = int.from_bytes(urls.fingerprint(url, secret), "little")
        group.append(Candidate(url, Via.ANCHOR, depth=2, parent=1, fingerprint=key))
        if len(group) == ADDED_AT_ONCE or number == count - 1:
            yield group
            group = []


class Desk:
    """A frontier, the time it is told, and the news it brings."""

    def __init__(self, folder: Path, now: float) -> None:
        self.clock = ManualClock(now)
        self._news = asyncio.Event()
        self.opened = Collection(folder, self.clock).open(SETTINGS, [], self._news.set)
        self.frontier = self.opened.frontier

    async def lease(self) -> Claim:
        """The next claim; time goes by as it has to."""
        while not isinstance(found := self.frontier.lease(self.clock.now()), Claim):
            if found.until is not None:
                self.clock.advance(max(0.0, found.until - self.clock.now()))
            elif self.frontier.is_reading:
                await self._news.wait()
            else:
                raise RuntimeError("the frontier is empty")
            self._news.clear()
        return found

    async def settle(self, filled: Filled) -> None:
        """One group from lease to commit."""
        begun = time.perf_counter()
        claims = [await self.lease() for _ in range(SETTLED_AT_ONCE)]
        updates = [HostUpdate(claim.host_id, self.clock.now() + 1.0, delay=1.0) for claim in claims]
        for claim, update in zip(claims, updates, strict=True):
            self.frontier.answered(claim, update)
        outcomes = map(Outcome, claims, repeat(Settlement(State.FINISHED)), updates)
        ready = time.perf_counter()
        await self.frontier.commit(Batch(tuple(outcomes), self.opened.lease))
        ended = time.perf_counter()
        filled.settling.append(ended - begun)
        filled.commits.append(ended - ready)


async def fill(folder: Path, count: int, hosts: int) -> Filled:
    """Add, settle one URL in ten; the frontier stays open."""
    desk, filled = Desk(folder, time.time()), Filled(count)
    for group in candidates(count, hosts, desk.opened.secret):
        begun, cpu = time.perf_counter(), time.process_time()
        await desk.frontier.add(group)
        filled.adding.append(time.perf_counter() - begun)
        filled.cpu_adding.append(time.process_time() - cpu)
    cpu = time.process_time()
    for _ in range(max(1, count // 10 // SETTLED_AT_ONCE)):
        await desk.settle(filled)
    filled.cpu_settling = time.process_time() - cpu
    filled.memory = memory()
    filled.bytes = (folder / DATABASE).stat().st_size
    return filled


async def fill_and_die(folder: Path, count: int, hosts: int) -> None:
    """Say what it took, and end as by kill -9."""
    print(json.dumps(asdict(await fill(folder, count, hosts))), flush=True)
    os._exit(0)


async def reopen(folder: Path) -> Reopened:
    """Open, lease, and close. It is an hour later: every host may be asked."""
    begun = time.perf_counter()
    desk = Desk(folder, time.time() + 3600)
    await desk.lease()
    leased, most = time.perf_counter(), memory()
    await desk.frontier.aclose()
    return Reopened(leased - begun, most, time.perf_counter() - leased)


def memory() -> int:
    """The most bytes that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def child(*arguments: str) -> Any:
    """What this module prints when it is called with these arguments."""
    command = [sys.executable, str(Path(__file__).resolve()), *arguments]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def run(options: Options) -> list[Section]:
    """Section D."""
    count, hosts = options.scaled(URLS, 20_000), options.scaled(HOSTS, 2 * SETTLED_AT_ONCE)
    with tempfile.TemporaryDirectory() as place:
        folder = str(Path(place) / "collection")
        options.say(f"D adding {count:,} URLs on {hosts:,} hosts")
        filled = Filled(**child("fill", folder, str(count), str(hosts)))
        unclean = Reopened(**child("reopen", folder))
        clean = Reopened(**child("reopen", folder))
    return [section(filled, hosts, clean, unclean)]


def section(filled: Filled, hosts: int, clean: Reopened, unclean: Reopened) -> Section:
    """The figures and the bars."""
    first, last = rate(filled.adding[:WINDOW], ADDED_AT_ONCE), rate(filled.adding[-WINDOW:], ADDED_AT_ONCE)
    settled = rate(filled.settling, SETTLED_AT_ONCE)
    cpu = [
        f"{rate(part, ADDED_AT_ONCE) ** -1 * 1e6:.1f}"
        for part in (filled.cpu_adding[:WINDOW], filled.cpu_adding, filled.cpu_adding[-WINDOW:])
    ]
    slowest = max(percentile(filled.adding, 0.99), percentile(filled.commits, 0.99))
    rows = [
        ("URLs added a second, the first 100,000", f"{first:,.0f}"),
        ("URLs added a second, all", f"{rate(filled.adding, ADDED_AT_ONCE):,.0f}"),
        ("URLs added a second, the last 100,000", f"{last:,.0f}"),
        ("URLs leased and settled a second", f"{settled:,.0f}"),
        ("CPU µs a URL added: the first 100,000, all, the last", ", ".join(cpu)),
        ("CPU µs a URL settled", f"{filled.cpu_settling / len(filled.settling) / SETTLED_AT_ONCE * 1e6:.1f}"),
        (f"adding {ADDED_AT_ONCE}: p50, p99 in ms", milliseconds(filled.adding)),
        (f"committing {SETTLED_AT_ONCE}: p50, p99 in ms", milliseconds(filled.commits)),
        ("memory, MB", f"{filled.memory / 1e6:,.0f}"),
        ("database, bytes a URL", f"{filled.bytes / filled.urls:,.0f}"),
        ("reopened and leased, s", f"{clean.seconds:.2f}"),
        ("reopened after a kill and leased, s", f"{unclean.seconds:.2f}"),
        ("closing, s", f"{unclean.closing:.2f}"),
        ("memory when reopened, MB", f"{max(clean.memory, unclean.memory) / 1e6:,.0f}"),
    ]
    bars = [
        Bar("≥ 20,000 URLs/s added at the end", f"{last:,.0f}", last >= 20_000),
        Bar("≥ 20,000 URLs/s leased and settled", f"{settled:,.0f}", settled >= 20_000),
        Bar("a commit's p99 ≤ 150 ms", f"{slowest * 1e3:.0f} ms", slowest <= 0.15),
        Bar("memory ≤ 400 MB", f"{filled.memory / 1e6:,.0f} MB", filled.memory <= 400e6),
        Bar("reopened and leasing within 5 s", f"{clean.seconds:.1f} s", clean.seconds <= 5),
        Bar("the same after a kill", f"{unclean.seconds:.1f} s", unclean.seconds <= 5),
        Bar("adding at the end ≥ 80 % of the rate at the start", f"{last / first:.0%}", last >= 0.8 * first),
    ]
    return Section("D", f"A frontier of {filled.urls:,} URLs on {hosts:,} hosts", ("what", "measured"), rows, bars)


def rate(seconds: Sequence[float], each: int) -> float:
    """How many a second, of groups of ``each``."""
    return len(seconds) * each / sum(seconds)


def percentile(seconds: Sequence[float], share: float) -> float:
    """So much, or less, in that share of cases."""
    return sorted(seconds)[min(len(seconds) - 1, int(len(seconds) * share))]


def milliseconds(seconds: Sequence[float]) -> str:
    """The median and the slowest but for one in a hundred."""
    return f"{percentile(seconds, 0.5) * 1e3:.1f}, {percentile(seconds, 0.99) * 1e3:.1f}"


def main() -> None:
    verb, folder, *numbers = sys.argv[1:]
    if verb == "fill":
        asyncio.run(fill_and_die(Path(folder), int(numbers[0]), int(numbers[1])))
    else:
        print(json.dumps(asdict(asyncio.run(reopen(Path(folder))))))


if __name__ == "__main__":
    main()
