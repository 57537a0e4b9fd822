"""The fixture that crawls."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from crawl.crawling import Crawled, Nothing, address, look, run
from fakeweb import FakeWeb
from gossamer.url import origin

CrawlIt = Callable[..., Crawled]
_HOOKS = ("clock", "started", "observe", "real_parsers")


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[CrawlIt]:
    """``crawl(web or addresses, **settings)`` crawls into ``folder`` and gives what came of it.

    Raises Nothing when no seed could be fetched. ``base``: the origin that rows are named without; that of the first address where none is given.
    """
    with ExitStack() as stack:

        def crawl_it(*targets: FakeWeb | str, folder: str = "c", base: str = "", **more: object) -> Crawled:
            addresses = tuple((address(target), False) for target in targets)
            hooks = {name: more.pop(name) for name in _HOOKS if name in more}
            report = run(tmp_path / folder, addresses, more, **hooks)  # type: ignore[arg-type]  # a test knows their types
            if not (tmp_path / folder).exists():
                raise Nothing(report.seed_failures)
            crawled = look(report, tmp_path / folder, base or str(origin(addresses[0][0])))
            stack.callback(crawled.database.close)
            return crawled

        yield crawl_it
