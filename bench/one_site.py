"""Runs A and B: one site with everything on, beside other programs and beside the floor, in turn on the same pages."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median_low

import contenders
import floor
import made_site
import processes
from options import Options
from report import Bar, Section, spread
from served import Tree, entries, free_port, program, serving, unpack
from sites import SITES

HERE = Path(__file__).resolve().parent
SITE = SITES["cppreference"]
OURS = "gossamer"
WGET = "wget with WARC"
SCRAPY_PAGES = 800
"""It is asked for no more than this: it would take longer than all the others together, at the same rate."""


@dataclass(frozen=True, slots=True)
class Site:
    """What is crawled."""

    root: Path
    start: str  # a path


@dataclass(frozen=True, slots=True)
class Run:
    """One program over the site."""

    pages: tuple[str, ...]  # targets answered with HTML, in this order
    usage: processes.Usage

    @property
    def rate(self) -> float:
        return len(self.pages) / self.usage.seconds

    @property
    def cost(self) -> float:
        """Milliseconds of CPU a page."""
        return self.usage.cpu / len(self.pages) * 1e3


@dataclass(slots=True)
class Rounds:
    """What came out, round by round."""

    runs: dict[str, list[Run]] = field(default_factory=dict)
    floors: list[dict[str, float]] = field(default_factory=list)  # milliseconds of CPU a page, by step

    def ratios(self, of: str, to: str) -> list[float]:
        """How many times as fast ``of`` was as ``to``, in each round."""
        return [one.rate / other.rate for one, other in zip(self.runs[of], self.runs.get(to, ()), strict=False)]


def commands() -> dict[str, Callable[[str], list[str]]]:
    """What is typed, for each program that is there."""
    wget, wget2, scrapy = map(contenders.find, ("wget", "wget2", "scrapy"))
    spider = str(HERE / "scrapy_spider.py")
    found: dict[str, Callable[[str], list[str]]] = {
        OURS: lambda url: [program("gossamer"), "crawl", "-u", "0", "--delay", "0", "-o", "collection", url]
    }
    if wget:
        found[WGET] = lambda url: [wget, "-q", "-r", "-l", "inf", "--warc-file=archive", url]
    if wget2:
        found["wget2, plain mirror"] = lambda url: [wget2, "-q", "-r", "-l", "inf", url]
    if scrapy:
        found["scrapy"] = lambda url: [
            scrapy,
            "runspider",
            spider,
            "-a",
            f"url={url}",
            "-s",
            f"CLOSESPIDER_PAGECOUNT={SCRAPY_PAGES}",
        ]
    return found


@contextmanager
def site(options: Options) -> Iterator[Site]:
    """cppreference, or at another scale than 1 a site of that many pages that is made up."""
    if options.scale == 1:
        cache = contenders.CACHE / "sites"
        cache.mkdir(parents=True, exist_ok=True)
        yield Site(unpack(SITE.package, options.debs or cache / "debs", cache), SITE.start)
        return
    with tempfile.TemporaryDirectory() as place:
        made_site.make(Path(place), max(20, round(SITE.pages * options.scale)))
        yield Site(Path(place), made_site.START)


def crawl(target: Site, port: int, command: Sequence[str]) -> Run:
    """One program against a fresh server, in a fresh folder."""
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as log:
        with serving({"_": Tree(target.root)}, Path(log), port):
            usage = processes.run(command, Path(place))
        pages = dict.fromkeys(entry.target for entry in entries(Path(log)) if entry.is_page)
    return Run(tuple(pages), usage)


def measure_floor(target: Site, port: int, pages: Sequence[str]) -> dict[str, float]:
    """Milliseconds of CPU a page, by step."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        with serving({"_": Tree(target.root)}, folder, port):
            names = folder / "urls"
            names.write_text("\n".join(f"http://127.0.0.1:{port}{page}" for page in pages), encoding="utf-8")
            command = [sys.executable, str(HERE / "floor.py"), str(names)]
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    seconds: dict[str, float] = json.loads(output)
    return {step: total / len(pages) * 1e3 for step, total in seconds.items()}


def rounds(target: Site, options: Options) -> Rounds:
    """Everybody in turn."""
    found, port = Rounds(), free_port()
    url = f"http://127.0.0.1:{port}{target.start}"
    for number in range(options.rounds):
        for name, command in commands().items():
            run = crawl(target, port, command(url))
            found.runs.setdefault(name, []).append(run)
            options.say(f"A {number + 1}/{options.rounds} {name}: {len(run.pages)} pages, {run.rate:.0f}/s")
        found.floors.append(measure_floor(target, port, found.runs[OURS][-1].pages))
    return found


def run(options: Options) -> list[Section]:
    """Both sections."""
    with site(options) as target:
        found = rounds(target, options)
    return [speed(found), cost(found)]


def speed(found: Rounds) -> Section:
    """Section A."""
    rows = [
        (
            name,
            str(len(runs[-1].pages)),
            spread(run.rate for run in runs),
            spread((run.cost for run in runs), 2),
            spread(run.usage.memory / 1e6 for run in runs),
            spread(found.ratios(OURS, name), 2),
        )
        for name, runs in found.runs.items()
    ]
    bars = []
    for other, least in ((WGET, 2.0), ("scrapy", 20.0)):
        ratios = found.ratios(OURS, other)
        if ratios:
            bars.append(Bar(f"≥ {least:g} × {other}", f"{spread(ratios, 2)} ×", median_low(ratios) >= least))
    return Section(
        "A",
        "One site, everything on",
        ("program", "pages", "pages/s", "CPU ms a page", "peak MB", "gossamer is × as fast"),
        rows,
        bars,
        (
            *contenders.versions(),
            f"everybody in turn, nginx on the same processors; Scrapy stops after {SCRAPY_PAGES} pages; median (lowest - highest)",
        ),
    )


def cost(found: Rounds) -> Section:
    """Section B."""
    ours = [run.cost for run in found.runs[OURS]]
    sums = [sum(each.values()) for each in found.floors]
    ratios = [cost / total for cost, total in zip(ours, sums, strict=True)]
    rows = [(step, spread(each[step] * 1e3 for each in found.floors)) for step in floor.STEPS]
    rows += [
        ("the floor: sum", spread(total * 1e3 for total in sums)),
        ("gossamer", spread(cost * 1e3 for cost in ours)),
    ]
    return Section(
        "B",
        "What a page costs, beside the bare libraries",
        ("step", "CPU µs a page"),
        rows,
        [Bar("CPU a page ≤ 1.5 × the floor", f"{spread(ratios, 2)} ×", median_low(ratios) <= 1.5)],
        ("bench/floor.py, in the same rounds as A, on the same pages",),
    )
