"""Real pages among traps: all of them are found, and little else is fetched."""

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import paths
from fakeweb.traps import TRAPS, surrounded
from gossamer.crawl.report import Ending

REAL = 300


@pytest.mark.parametrize("names", [*([name] for name in TRAPS), list(TRAPS)], ids=[*TRAPS, "all"])
def test_real_pages_among_traps(serve: Serve, crawl: CrawlIt, names: list[str]) -> None:
    site = surrounded(REAL, *names)
    web = serve(site)
    crawled = crawl(web, max_urls=0)
    assert crawled.report.ending is Ending.DONE
    assert crawled.kept() >= site.pages.keys()
    assert len(paths(web.log)) <= 1.3 * REAL
    reasons = {row.reason.partition(":")[0] for row in crawled.rows.values() if row.held}
    assert reasons <= {"trap", "found only on a duplicate page"}
    assert reasons
