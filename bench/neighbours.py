"""Run E: do hosts that are slow or never end hold up the others? 1,000 hosts, 100 answer in 5 s, 20 drip bytes."""

from options import Options
from ours import Crawled, crawl
from report import Bar, Section

GOOD, SLOW, DRIPPING = 880, 100, 20
PAGES = 8
DELAY = 8.0
"""Seconds; long enough for the delays to decide when the good ones are done, and not the processors, also of a busy machine."""


def run(options: Options) -> list[Section]:
    """Section E."""
    good, slow, dripping = options.scaled(GOOD, 20), options.scaled(SLOW, 2), options.scaled(DRIPPING)
    pages, delay = (2, 0.2) if options.is_tiny else (PAGES, DELAY)
    options.say(f"E {good} good hosts alone")
    alone = crawl("hub0", f"/fast:{good}/{pages}", "--delay", f"{delay:g}")
    options.say(f"E and with {slow} slow and {dripping} dripping ones")
    limit = 2 * alone.usage.seconds + 10
    crowd = crawl("hub0", f"/fast:{good},slow:{slow},drip:{dripping}/{pages}", "--delay", f"{delay:g}", limit=limit)
    return [section(alone, crowd, good * pages)]


def section(alone: Crawled, crowd: Crawled, wanted: int) -> Section:
    """The figures and the bar."""
    times = {"alone": finished(alone, wanted), "with neighbours": finished(crowd, wanted)}
    ratio = times["with neighbours"] / times["alone"]
    crawls = {"alone": alone, "with neighbours": crowd}
    rows = [
        (name, f"{good_pages(each)} of {wanted}", f"{times[name]:.1f}", f"{each.usage.memory / 1e6:,.0f}")
        for name, each in crawls.items()
    ]
    bar = Bar("the good hosts finish as if alone (± 5 %)", f"{ratio:.1%} of the time", ratio <= 1.05)
    return Section("E", "Neighbours", ("the good hosts", "pages", "seconds", "peak MB"), rows, [bar])


def good_pages(crawled: Crawled) -> int:
    """Pages of the good hosts."""
    return sum(asked.host.startswith("fast") for asked in crawled.pages)


def finished(crawled: Crawled, wanted: int) -> float:
    """Seconds from the first request to the last page of a good host; for ever, when some are missing."""
    times = [asked.at for asked in crawled.pages if asked.host.startswith("fast")]
    return times[-1] - crawled.log[0].at if len(times) == wanted else float("inf")
