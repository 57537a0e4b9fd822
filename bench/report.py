"""What the runs found: kept as JSON, shown as one table of bars and a table a run."""

import json
import os
import platform
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

NOTE = """# Benchmarks

Made by `make bench`; `make bench RUNS="A D" SCALE=1` makes some of them anew at the size that is asked for. Ratios are
taken within a round, so that a busy machine disturbs both sides alike: trust them more than the rates.
"""


@dataclass(frozen=True, slots=True)
class Bar:
    """Something that is promised, and what came out."""

    promise: str
    measured: str
    is_met: bool


@dataclass(frozen=True, slots=True)
class Section:
    """One run."""

    letter: str
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    bars: Sequence[Bar]
    remarks: Sequence[str] = ()
    size: str = ""  # "full size", or how much of it
    made: str = field(default_factory=lambda: f"{time.strftime('%Y-%m-%d %H:%M')}, {machine()}")


def machine() -> str:
    """What it ran on, and how busy that was."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    return (
        f"{os.cpu_count()} × {model}, {platform.system()} {platform.release()}, Python {platform.python_version()}, "
        f"load {os.getloadavg()[1]:.1f}"
    )


def spread(values: Iterable[float], digits: int = 0) -> str:
    """The median, and the lowest and highest where there are several."""
    numbers = sorted(values)
    if not numbers:
        return "-"
    middle = f"{statistics.median(numbers):,.{digits}f}"
    return middle if len(numbers) == 1 else f"{middle} ({numbers[0]:,.{digits}f} - {numbers[-1]:,.{digits}f})"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Markdown that is readable as it stands: numbers to the right, the first column to the left."""
    lines = [list(head), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]

    def row(cells: Sequence[str]) -> str:
        padded = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
        return "| " + " | ".join([cells[0].ljust(widths[0]), *padded[1:]]) + " |"

    rule = "|" + "|".join(["-" * (widths[0] + 2), *("-" * (width + 1) + ":" for width in widths[1:])]) + "|"
    return "\n".join([row(lines[0]), rule, *map(row, lines[1:])])


def summary(sections: Iterable[Section]) -> str:
    """Every bar in one table."""
    rows = [
        (f"{section.letter}. {bar.promise}", bar.measured, "yes" if bar.is_met else "NO", section.size)
        for section in sections
        for bar in section.bars
    ]
    return table(("bar", "measured", "met", "size"), rows)


def details(section: Section) -> str:
    """One run in full."""
    lines = [f"## {section.letter}. {section.title}", "", f"{section.size}; {section.made}", ""]
    lines += [table(section.head, section.rows), ""]
    return "\n".join([*lines, *(f"{remark}  " for remark in section.remarks)]).rstrip() + "\n"


def load(path: Path) -> dict[str, Section]:
    """The sections of earlier runs, by letter."""
    if not path.exists():
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))
    return {
        letter: Section(**{**fields, "bars": [Bar(**bar) for bar in fields["bars"]]})
        for letter, fields in found.items()
    }


def save(sections: Iterable[Section], path: Path) -> None:
    """Write the page, and beside it the figures from which the next run makes it again."""
    figures = path.with_suffix(".json")
    known = load(figures) | {section.letter: section for section in sections}
    ordered = {letter: known[letter] for letter in sorted(known)}
    as_json = {letter: asdict(section) for letter, section in ordered.items()}
    figures.write_text(json.dumps(as_json, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page = [NOTE, summary(ordered.values()), "", *map(details, ordered.values())]
    path.write_text("\n".join(page), encoding="utf-8")
