"""Run F: 300,000 fetches of small pages. Does memory grow, does the rate fall?"""

from bisect import bisect
from dataclasses import replace
from itertools import pairwise
from statistics import median_low

from options import Options
from ours import Crawled, crawl
from processes import Sample
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
    each = len(pages) / TENTHS
    times = [pages[0].at, *(pages[round(each * tenth) - 1].at for tenth in range(1, TENTHS + 1))]
    rates = [each / max(1e-3, after - before) for before, after in pairwise(times)]
    looks = [look_at(crawled, at) for at in times]
    grown = looks[-1].memory - looks[-1 - max(1, round(50_000 / PAGES * TENTHS))].memory
    costs = [(after.cpu - before.cpu) / each * 1e3 for before, after in pairwise(looks)]
    rows = [
        (f"{number}", f"{rate:,.0f}", f"{cost:.2f}", f"{look.memory / 1e6:,.1f}")
        for number, (rate, cost, look) in enumerate(zip(rates, costs, looks[1:], strict=True), 1)
    ]
    kept = rates[-1] / rates[1]
    bars = [
        Bar("the last sixth of the pages adds < 10 MB", f"{grown / 1e6:+.1f} MB", grown < 10e6),
        Bar("the rate of the last tenth ≥ 90 % of the second's", f"{kept:.0%}", kept >= 0.9),
    ]
    head = ("tenth", "pages/s", "CPU ms a page", "MB at its end")
    remark = f"CPU a page of the last tenth: {costs[-1] / max(1e-3, costs[1]):.0%} of the second's, which a busy machine changes less"
    return Section("F", f"Endurance: {len(pages):,} small pages", head, rows, bars, (remark,))


def look_at(crawled: Crawled, at: float) -> Sample:
    """The processes at some time; their memory is the median of the looks before, because workers come and go."""
    samples = crawled.usage.samples
    place = min(bisect([sample.at for sample in samples], at), len(samples) - 1)
    around = [sample.memory for sample in samples[max(0, place - 4) : place + 1]]
    return replace(samples[place], memory=median_low(around))
