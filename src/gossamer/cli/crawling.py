"""A crawl as a command: signals, display, summary and exit code around `session.crawl`."""

import asyncio
import signal

from gossamer.cli.output import plain, say, write_json, write_pairs
from gossamer.cli.progress import Display
from gossamer.crawl.manager import Crawl
from gossamer.crawl.report import Ending, Report
from gossamer.errors import FetchError, Interrupted
from gossamer.fetch.proxy import NOTICE
from gossamer.policy.scope import Scope
from gossamer.records import Candidate, Via
from gossamer.session import Order, crawl


def carry_out(order: Order, display: Display) -> None:
    """Crawl, and tell what was done. The exit code is that of the exception, 0 without one."""
    with display:
        report = fetch(order, display)
    display.summary(report, order.folder)
    if report.ending is Ending.STOPPED:
        raise Interrupted("stopped before the end", hint=f"go on with: gossamer crawl {order.folder}")


def fetch(order: Order, display: Display) -> Report:
    """Crawl, and show how it goes. Raises FetchError when no seed could be fetched."""
    if order.loaded.settings.proxy:
        say(f"Note: {NOTICE}")
    report = asyncio.run(_crawl(order, display))
    if report.ending is Ending.NO_SEED:
        reasons = "; ".join(plain(reason) for reason in report.seed_failures[:5])
        raise FetchError(f"no seed could be fetched: {reasons or 'see the log'}", hint="check the address")
    return report


async def _crawl(order: Order, display: Display) -> Report:
    loop = asyncio.get_running_loop()
    beginning = asyncio.current_task()
    running: list[Crawl] = []
    signals = 0

    def interrupted() -> None:
        nonlocal signals
        signals += 1
        if not running:
            if beginning is not None:
                beginning.cancel()
        elif signals == 1:
            say("Finishing what is in flight; once more to stop at once.")
            running[0].stop()
        else:
            running[0].abort()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupted)
    try:
        return await crawl(order, display.show, running.append)
    except asyncio.CancelledError:
        raise Interrupted("stopped before the first page", hint="give the same command again") from None
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def show_plan(order: Order, *, as_json: bool) -> None:
    """What a crawl would do, without doing it."""
    scope = Scope.of(order.loaded.settings, [url for url, _ in order.addresses])
    for url, guessed in order.addresses:
        verdict = scope.judge(Candidate(url, Via.SEED, depth=0))
        row = {"url": url, "decision": str(verdict.decision), "reason": verdict.reason, "guessed_scheme": guessed}
        if as_json:
            write_json(row)
        else:
            write_pairs(row.items())
    if not as_json:
        changed = [(name, value) for name, value in order.loaded.origins.items() if value != "default"]
        write_pairs([("folder", order.folder), *((f"setting {name}", origin) for name, origin in changed)])
