"""What reading a page costs, step by step: ``python bench/parse.py [FOLDER of HTML pages]``.

Microseconds of processor time a page, the best of some rounds; without a folder, for pages made up here. The last
lines are of the pool: the crawler's own share, and what all of it takes by the clock.
"""

import asyncio
import gc
import random
import resource
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import turbohtml

from gossamer.parse import turbo
from gossamer.parse.html import read
from gossamer.parse.job import DEFAULT_LIMITS, ParseJob
from gossamer.parse.links import unpack
from gossamer.parse.markup import Markup
from gossamer.parse.pool import ParserPool
from gossamer.parse.resolve import Resolver
from gossamer.parse.table import LinkTable
from gossamer.parse.text import digest, fold
from gossamer.parse.wire import pack_answers, unpack_answers

SECRET = bytes(32)
HEADERS = (("content-type", "text/html"),)
PAGES = 400
ROUNDS = 5

T = TypeVar("T")


def main() -> None:
    jobs = from_folder(Path(sys.argv[1])) if len(sys.argv) > 1 else generated()
    facts = [read(job, SECRET) for job in jobs]
    found = [unpack(each.links) for each in facts]
    print(
        f"{len(jobs)} pages, {mean(len(job.body) for job in jobs):.0f} bytes, {mean(map(len, found)):.0f} links a page"
    )
    markups = [(job, turbo.read(job.body, "")) for job in jobs]
    gc.freeze()
    show(
        "parse (turbohtml alone)",
        partial(turbohtml.parse, detect_encoding=True, positions=False),
        [j.body for j in jobs],
    )
    show("parse, links, text: turbo.read", lambda job: turbo.read(job.body, ""), jobs)
    show("fold text once more", lambda pair: fold(pair[1].text), markups)
    show("digest of the text", lambda pair: digest(pair[1].text), markups)
    show("resolve, fold, collect links", table, markups)
    show("unpack links", lambda each: unpack(each.links), facts)
    show("read: all of it", lambda job: read(job, SECRET), jobs)
    show("read by the fallback", lambda job: read(job, SECRET, fallback=True), jobs)
    show("facts to msgpack and back", lambda each: unpack_answers(pack_answers([each])), facts)
    asyncio.run(pooled(jobs))


def from_folder(folder: Path) -> list[ParseJob]:
    """A sample of the pages below ``folder``, with the URLs they would have on a server."""
    files = sorted(path for path in folder.rglob("*.html") if path.is_file())
    sample = random.Random(1).sample(files, min(PAGES, len(files)))
    return [
        ParseJob(f"http://127.0.0.1:8000/{path.relative_to(folder)}", HEADERS, path.read_bytes()) for path in sample
    ]


def generated() -> list[ParseJob]:
    """Pages of some 37 KB with 89 links, most of them to the same places as in other pages."""
    chance = random.Random(1)
    words = ["".join(chance.choices("etaoinshrdlu", k=chance.randint(2, 9))) for _ in range(2000)]
    return [
        ParseJob(
            f"http://127.0.0.1:8000/{chance.randint(1, 20)}/{number}.html", HEADERS, one_page(number, words, chance)
        )
        for number in range(PAGES)
    ]


def one_page(number: int, words: Sequence[str], chance: random.Random) -> bytes:
    paragraphs = [
        f'<p class="text">{" ".join(chance.choices(words, k=45))}'
        f' <a href="../{chance.randint(1, 20)}/{chance.randint(1, PAGES)}.html" title="a page">{chance.choice(words)}</a></p>'
        for _ in range(89)
    ]
    return f"<!doctype html><html lang=en><head><title>Page {number}</title></head><body>{''.join(paragraphs)}".encode()


def table(pair: tuple[ParseJob, Markup]) -> None:
    job, markup = pair
    links = LinkTable(Resolver(job.url, markup.base, markup.charset, SECRET), DEFAULT_LIMITS)
    links.fill(markup.references)
    links.packed()
    links.fingerprints()


def show(name: str, step: Callable[[T], object], items: Sequence[T]) -> None:
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        for item in items:
            step(item)
        best = min(best, time.process_time() - start)
    line(name, best / len(items))


async def pooled(jobs: Sequence[ParseJob]) -> None:
    async with ParserPool(1, SECRET, 60, 2 << 30, 1 << 27) as pool:
        parents, clocks = [], []
        for _ in range(ROUNDS):
            parent, clock = time.process_time(), time.perf_counter()
            await asyncio.gather(*map(pool.parse, jobs))
            parents.append((time.process_time() - parent) / len(jobs))
            clocks.append((time.perf_counter() - clock) / len(jobs))
    workers = resource.getrusage(resource.RUSAGE_CHILDREN)
    line("pool: the crawler's share", min(parents))
    line("pool of one, by the clock", min(clocks))
    print(f"{'most memory of a worker':34}{workers.ru_maxrss / 1024:8.0f} MB")


def line(name: str, seconds: float) -> None:
    print(f"{name:34}{seconds * 1e6:8.0f} µs")


def mean(numbers: Iterable[int]) -> float:
    values = list(numbers)
    return sum(values) / len(values)


if __name__ == "__main__":
    main()
