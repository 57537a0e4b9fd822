"""Run G: does the pool of downloaders find its size? Beside fixed numbers, on four kinds of servers."""

from itertools import product
from statistics import median_low

from options import Options
from ours import crawl
from report import Bar, Section, spread

HOSTS = 300
PAGES = 20
MOST = 0.9
LIMIT = 20.0
"""Seconds; what is slower is measured until then."""

KINDS = {"fast": "fast", "slow (300 ms)": "late", "lossy (5 % resets)": "lossy", "overloaded (503 beyond 24)": "busy"}
ADAPTIVE = "adaptive"
POOLS = (ADAPTIVE, "8", "24", "64", "256")

Rates = dict[str, dict[str, list[float]]]  # servers -> pool -> pages/s of each round


def run(options: Options) -> list[Section]:
    """Section G."""
    hosts, pages = options.scaled(HOSTS, 20), 2 if options.is_tiny else PAGES
    kinds, pools = (list(KINDS)[:1], POOLS[:2]) if options.is_tiny else (list(KINDS), POOLS)
    rates: Rates = {kind: {pool: [] for pool in pools} for kind in kinds}
    for number, kind, pool in product(range(options.rounds), kinds, pools):
        rate = measure(KINDS[kind], hosts, pages, pool)
        rates[kind][pool].append(rate)
        options.say(f"G {number + 1}/{options.rounds} {kind}, {pool} downloaders: {rate:.0f} pages/s")
    return [section(rates)]


def measure(prefix: str, hosts: int, pages: int, pool: str) -> float:
    """Pages a second until most are there (when the last ones come is decided by the pauses before their retries), or until
    the time is over."""
    fixed = () if pool == ADAPTIVE else ("--downloaders", pool, "--max-downloaders", pool)
    found = crawl("hub0", f"/{prefix}:{hosts}/{pages}", "--delay", "0", *fixed, limit=LIMIT).pages
    most = found[: round(MOST * hosts * pages)]
    return len(most) / (most[-1].at - most[0].at)


def section(rates: Rates) -> Section:
    """The figures and the bars."""
    bars = []
    for kind, by_pool in rates.items():
        fixed = zip(*(found for pool, found in by_pool.items() if pool != ADAPTIVE), strict=True)
        ratios = [adaptive / max(others) for adaptive, others in zip(by_pool[ADAPTIVE], fixed, strict=True)]
        ratio = median_low(ratios)
        bars.append(Bar(f"{kind}: ≥ 85 % of the best fixed number", f"{ratio:.0%}", ratio >= 0.85))
    rows = [(kind, *map(spread, by_pool.values())) for kind, by_pool in rates.items()]
    head = ("servers", *next(iter(rates.values())))
    remark = f"until {MOST:.0%} of the pages were there, or {LIMIT:g} s were over"
    return Section("G", "Downloaders, adaptive and fixed: pages/s", head, rows, bars, (remark,))
