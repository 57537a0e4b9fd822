"""The benchmark: one command, one table.

    python bench/run.py                     what `make bench` does
    python bench/run.py A D --scale 1       some of the runs, at full size
    python bench/run.py --list              what there is

Prints tables, and with --write PAGE makes that page anew, with what earlier runs of the others found.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import contenders
import downloaders
import endurance
import frontier
import many_hosts
import neighbours
import one_site
import report
from options import Options
from report import Section


@dataclass(frozen=True, slots=True)
class Run:
    """Something that can be run; ``scale``: where none is asked for."""

    function: Callable[[Options], list[Section]]
    scale: float
    what: str


RUNS = {
    "A": Run(one_site.run, 1.0, "one site, everything on, beside others; with B: beside the bare libraries"),
    "C": Run(many_hosts.run, 0.05, "10,000 hosts, a delay of one second"),
    "D": Run(frontier.run, 0.03, "a frontier of 10 million URLs on 100,000 hosts"),
    "E": Run(neighbours.run, 0.3, "hosts that are slow or drip, beside others"),
    "F": Run(endurance.run, 0.05, "300,000 fetches of small pages"),
    "G": Run(downloaders.run, 0.2, "the pool of downloaders on four kinds of servers"),
}


def perform(letter: str, options: Options, scale: float | None) -> list[Section]:
    """One run, its sections marked with their size."""
    run = RUNS[letter]
    options = replace(options, scale=run.scale if scale is None else scale)
    size = "full size" if options.scale == 1 else f"scaled to {options.scale:g}"
    return [replace(section, size=size) for section in run.function(options)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", metavar="RUN", help=f"of {' '.join(RUNS)}; without: all")
    parser.add_argument("--scale", type=float, help="1: full size; without: what suits a quarter of an hour")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--debs", type=Path, help="folder with .deb files that need not be downloaded")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="a page in Markdown, with a .json beside it")
    parser.add_argument("--install", action="store_true", help="what is compared with, where it is missing")
    parser.add_argument("--list", action="store_true", help="say what the runs are")
    arguments = parser.parse_args()
    if arguments.list:
        print(*(f"{letter}  {run.what}" for letter, run in RUNS.items()), sep="\n")
        return
    if unknown := set(arguments.runs) - RUNS.keys():
        parser.error(f"there is no run {' '.join(sorted(unknown))}; there are {' '.join(RUNS)}")
    if arguments.install:
        contenders.install()
    options = Options(rounds=arguments.rounds, debs=arguments.debs and arguments.debs.resolve())
    sections: list[Section] = []
    for letter in arguments.runs or RUNS:
        sections += perform(letter, options, arguments.scale)
        if arguments.write:
            report.save(sections, arguments.write)
    print(report.summary(sections), *map(report.details, sections), sep="\n\n")


if __name__ == "__main__":
    main()
