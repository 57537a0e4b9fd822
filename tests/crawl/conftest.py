"""The fixture that crawls."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from crawl.crawling import Crawled, ParsersInThreads, address, look, run
from fakeweb import FakeWeb
from gossamer import session
from gossamer.clock import Clock
from gossamer.settings import Settings
from gossamer.url import origin

CrawlIt = Callable[..., Crawled]


@pytest.fixture
def real_parsers() -> None:
    """For tests whose crawls must have parser processes."""


@pytest.fixture
def crawl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[CrawlIt]:
    """``crawl(web or addresses, **settings)`` crawls into ``folder`` and gives what came of it."""
    if "real_parsers" not in request.fixturenames:
        monkeypatch.setattr(session, "_parsers", _in_threads)
    with ExitStack() as stack:

        def crawl_it(
            *targets: FakeWeb | str, folder: str = "c", clock: Clock | None = None, base: str = "", **more: object
        ) -> Crawled:
            addresses = tuple((address(target), False) for target in targets)
            hooks = {name: more.pop(name) for name in ("started", "observe") if name in more}
            place = tmp_path / folder
            report = run(place, addresses, more, clock=clock, **hooks)  # type: ignore[arg-type]
            known = str(origin(addresses[0][0])) if addresses else base
            crawled = look(report, place, base or known)
            stack.callback(crawled.database.close)
            return crawled

        yield crawl_it


def _in_threads(secret: bytes, settings: Settings) -> ParsersInThreads:
    return ParsersInThreads(secret, settings.max_decoded)
