"""Our own crawl of the web that the bench serves."""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import origin
import processes
from served import program


@dataclass(frozen=True, slots=True)
class Crawled:
    """What it took, and what the server saw."""

    usage: processes.Usage
    log: Sequence[origin.Asked]

    @property
    def pages(self) -> Sequence[origin.Asked]:
        """Each page when it was served first, in this order."""
        first: dict[tuple[str, str], origin.Asked] = {}
        for asked in self.log:
            if asked.is_page:
                first.setdefault((asked.host, asked.target), asked)
        return list(first.values())

    @property
    def seconds(self) -> float:
        """From the first page to the last."""
        pages = self.pages
        return pages[-1].at - pages[0].at

    @property
    def rate(self) -> float:
        """Pages a second."""
        return len(self.pages) / self.seconds


def command(web: origin.Served, *arguments: str) -> list[str]:
    """What is typed."""
    fixed = ("-u", "0", "-o", "collection", "--scope", "any", "--allow-private", "--dns", web.names)
    return [program("gossamer"), "crawl", *fixed, *arguments]


def crawl(host: str, target: str, *arguments: str, limit: float = float("inf")) -> Crawled:
    """Start from one page of a fresh web, in a fresh folder; after ``limit`` seconds it is killed."""
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as log:
        with origin.serving(Path(log)) as web:
            usage = processes.run(command(web, *arguments, web.url(host, target)), Path(place), limit=limit)
        if usage.code > 0:
            sys.exit((Path(place) / processes.OUTPUT).read_text(encoding="utf-8")[-2000:])
        return Crawled(usage, web.log())
