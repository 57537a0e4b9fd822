"""Run C: 10,000 hosts with 20 pages each, one second between two requests to a host, robots.txt everywhere."""

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from operator import attrgetter
from statistics import mean

from options import Options
from origin import Asked
from ours import Crawled, crawl
from report import Bar, Section

HOSTS = 10_000
PAGES = 20
DELAY = 1.0
ALONE = 4000
"""Pages of the same kind on one host, without a delay: what run A measures, with these pages and this server."""


def run(options: Options) -> list[Section]:
    """Section C."""
    hosts, pages = options.scaled(HOSTS, 20), 2 if options.is_tiny else PAGES
    options.say(f"C {hosts:,} hosts with {pages} pages each")
    before = on_one_host(hosts * pages)
    many = crawl("hub0", f"/large:{hosts}/{pages}", "--delay", f"{DELAY:g}")
    return [section(many, (before, on_one_host(hosts * pages)), hosts, pages)]


def on_one_host(pages: int) -> Crawled:
    """Before and after the other, because the machine may be busy with something else meanwhile."""
    return crawl("large0", f"/{min(ALONE, pages)}/0.html", "--delay", "0")


def section(many: Crawled, alone: Sequence[Crawled], hosts: int, pages: int) -> Section:
    """The figures and the bars."""
    wanted = hosts * pages
    by_delay = wanted / ((pages - 1) * DELAY)  # from the first page of each host to its last
    rate = mean(each.rate for each in alone)
    cost, cost_alone = many.usage.cpu / len(many.pages), mean(each.usage.cpu / len(each.pages) for each in alone)
    allowed = min(by_delay, rate)
    early = too_early(many.log)
    found = len(many.pages)
    rows = [
        ("hosts", f"{hosts:,}"),
        ("pages", f"{found:,} of {wanted:,}"),
        ("pages/s", f"{many.rate:,.0f}"),
        ("pages/s that the delays allow", f"{by_delay:,.0f}"),
        ("pages/s on one host without delay", f"{rate:,.0f}"),
        ("CPU ms a page", f"{cost * 1e3:.2f}"),
        ("CPU ms a page on one host", f"{cost_alone * 1e3:.2f}"),
        ("requests that came early", str(early)),
        ("peak MB", f"{many.usage.memory / 1e6:,.0f}"),
        ("most descriptors", str(many.usage.descriptors)),
    ]
    bars = [
        Bar("within 10 % of what is possible", f"{many.rate / allowed:.0%}", many.rate >= 0.9 * allowed),
        Bar("every page", f"{found / wanted:.2%}", found == wanted),
        Bar("no request early", str(early), not early),
        Bar("descriptors ≤ 1,000", str(many.usage.descriptors), many.usage.descriptors <= 1000),
    ]
    remark = "one host: the mean of a crawl before and one after, with the pages of C; CPU is what a busy machine changes least"
    return Section("C", "Many hosts", ("what", "measured"), rows, bars, (remark,))


def too_early(log: Iterable[Asked]) -> int:
    """Requests that reached a host less than the delay after the one before; a millisecond is the log's."""
    by_host = groupby(sorted(log, key=attrgetter("host", "at")), key=attrgetter("host"))
    return sum(later.at - earlier.at < DELAY - 0.001 for _, asked in by_host for earlier, later in pairwise(asked))
