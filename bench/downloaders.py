"""Run G: does the pool of downloaders find its size? Beside fixed numbers, on four kinds of servers."""

from itertools import product
from statistics import median, median_low

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
POOLS = (ADAPTIVE, "24", "64", "256")

Measured = dict[str, dict[str, list[float]]]  # servers -> pool -> a figure of each round


def run(options: Options) -> list[Section]:
    """Section G."""
    hosts, pages = options.scaled(HOSTS, 20), 2 if options.is_tiny else PAGES
    kinds, pools = (list(KINDS)[:1], POOLS[:2]) if options.is_tiny else (list(KINDS), POOLS)
    rates: Measured = {kind: {pool: [] for pool in pools} for kind in kinds}
    costs: Measured = {kind: {pool: [] for pool in pools} for kind in kinds}
    for number, kind in product(range(options.rounds), kinds):
        first = number % len(pools)  # nobody is always the first
        for pool in (*pools[first:], *pools[:first]):
            rate, cost = measure(KINDS[kind], hosts, pages, pool)
            rates[kind][pool].append(rate)
            costs[kind][pool].append(cost)
            options.say(
                f"G {number + 1}/{options.rounds} {kind}, {pool} downloaders: {rate:.0f} pages/s, {cost:.2f} ms"
            )
    return [section(rates, costs)]


def measure(prefix: str, hosts: int, pages: int, pool: str) -> tuple[float, float]:
    """Pages a second until most are there (when the last ones come is decided by the pauses before their retries), or until
    the time is over; and CPU ms a page."""
    fixed = () if pool == ADAPTIVE else ("--downloaders", pool, "--max-downloaders", pool)
    crawled = crawl("hub0", f"/{prefix}:{hosts}/{pages}", "--delay", "0", *fixed, limit=LIMIT)
    found = crawled.pages
    most = found[: round(MOST * hosts * pages)]
    return len(most) / (most[-1].at - most[0].at), crawled.usage.cpu / len(found) * 1e3


def section(rates: Measured, costs: Measured) -> Section:
    """The figures and the bars."""
    bars = []
    for kind, by_pool in rates.items():
        adaptive, best = by_pool[ADAPTIVE], best_fixed(by_pool)
        ratio = median_low(one / other for one, other in zip(adaptive, by_pool[best], strict=True))
        bars.append(Bar(f"{kind}: ≥ 85 % of the best fixed number, {best}", f"{ratio:.0%}", ratio >= 0.85))
    rows = [(kind, *map(spread, by_pool.values())) for kind, by_pool in rates.items()]
    head = ("servers", *next(iter(rates.values())))
    remarks = [f"until {MOST:.0%} of the pages were there, or {LIMIT:g} s were over"]
    for kind, by_pool in costs.items():
        each = ", ".join(f"{pool}: {median(cost):.2f}" for pool, cost in by_pool.items())
        remarks.append(f"CPU ms a page, {kind}: {each}")
    return Section("G", "Downloaders, adaptive and fixed: pages/s", head, rows, bars, remarks)


def best_fixed(by_pool: dict[str, list[float]]) -> str:
    """The number that is best over all rounds: the best of each round would be whoever the machine was kind to."""
    return max((pool for pool in by_pool if pool != ADAPTIVE), key=lambda pool: median(by_pool[pool]))
