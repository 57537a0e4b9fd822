"""Run F: 300,000 fetches of small pages. Does memory grow, does the rate fall?"""

from bisect import bisect
from collections.abc import Sequence
from itertools import pairwise

from options import Options
from origin import Asked
from ours import Crawled, crawl
from report import Bar, Section

PAGES = 300_000
TENTHS = 10


def run(options: Options) -> list[Section]:
    """Section F."""
    count = options.scaled(PAGES, 300)
    options.say(f"F {count:,} small pages")
    return [section(crawl("fast0", f"/{count}/0.html", "--delay", "0"))]


def section(crawled: Crawled) -> Section:
    """The figures and the bars."""
    pages = crawled.pages
    rates, memory = by_tenth(pages), memory_at(crawled, pages)
    grown = memory[-1] - memory[-1 - max(1, round(50_000 / PAGES * TENTHS))]
    rows = [
        (f"{number + 1}", f"{rate:,.0f}", f"{held / 1e6:,.1f}")
        for number, (rate, held) in enumerate(zip(rates, memory, strict=True))
    ]
    bars = [
        Bar("the last sixth of the pages adds < 10 MB", f"{grown / 1e6:+.1f} MB", grown < 10e6),
        Bar(
            "the rate of the last tenth ≥ 90 % of the second's",
            f"{rates[-1] / rates[1]:.0%}",
            rates[-1] >= 0.9 * rates[1],
        ),
    ]
    remark = f"{len(pages):,} pages, {crawled.usage.cpu / len(pages) * 1e3:.2f} ms of CPU each"
    return Section("F", "Endurance", ("tenth", "pages/s", "MB at its end"), rows, bars, (remark,))


def ends(pages: Sequence[Asked]) -> list[float]:
    """When each tenth was done."""
    return [pages[len(pages) * (tenth + 1) // TENTHS - 1].at for tenth in range(TENTHS)]


def by_tenth(pages: Sequence[Asked]) -> list[float]:
    """Pages a second in each."""
    times = [pages[0].at, *ends(pages)]
    each = len(pages) / TENTHS
    return [each / max(1e-3, after - before) for before, after in pairwise(times)]


def memory_at(crawled: Crawled, pages: Sequence[Asked]) -> list[int]:
    """Bytes held at the end of each: the median of the looks around it, because workers come and go."""
    samples = crawled.usage.samples
    times = [sample.at for sample in samples]
    found = []
    for end in ends(pages):
        place = min(bisect(times, end), len(samples) - 1)
        around = sorted(sample.memory for sample in samples[max(0, place - 4) : place + 1])
        found.append(around[len(around) // 2])
    return found
