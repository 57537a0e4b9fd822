"""Run G: does the pool of downloaders find its size? Beside fixed numbers, on four kinds of servers."""

from options import Options
from ours import crawl
from report import Bar, Section, spread

HOSTS = 300
PAGES = 20
FIXED = (4, 16, 64, 256)
KINDS = {"fast": "fast", "slow (300 ms)": "late", "lossy (5 % resets)": "lossy", "overloaded (503 beyond 24)": "busy"}
ADAPTIVE = "adaptive"


def run(options: Options) -> list[Section]:
    """Section G."""
    hosts, pages = options.scaled(HOSTS, 20), PAGES if options.scale > 0.01 else 3
    rates: dict[str, dict[str, list[float]]] = {kind: {} for kind in KINDS}
    for number in range(options.rounds):
        for kind, prefix in KINDS.items():
            for pool in (ADAPTIVE, *map(str, FIXED)):
                rate = measure(f"/{prefix}:{hosts}/{pages}", pool)
                rates[kind].setdefault(pool, []).append(rate)
                options.say(f"G {number + 1}/{options.rounds} {kind}, {pool} downloaders: {rate:.0f} pages/s")
    return [section(rates)]


def measure(target: str, pool: str) -> float:
    """Pages a second."""
    fixed = () if pool == ADAPTIVE else ("--downloaders", pool, "--max-downloaders", pool)
    return crawl("hub0", target, "--delay", "0", *fixed).rate


def section(rates: dict[str, dict[str, list[float]]]) -> Section:
    """The figures and the bars."""
    rows, bars = [], []
    for kind, by_pool in rates.items():
        rows.append((kind, *(spread(by_pool[pool]) for pool in (ADAPTIVE, *map(str, FIXED)))))
        ratios = [
            adaptive / max(by_pool[str(number)][each] for number in FIXED)
            for each, adaptive in enumerate(by_pool[ADAPTIVE])
        ]
        middle = sorted(ratios)[(len(ratios) - 1) // 2]
        bars.append(Bar(f"{kind}: ≥ 85 % of the best fixed number", f"{middle:.0%}", middle >= 0.85))
    return Section("G", "Downloaders: pages/s", ("servers", ADAPTIVE, *map(str, FIXED)), rows, bars)
