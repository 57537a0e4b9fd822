"""Templates are judged over kills as in one run."""

from pathlib import Path

from durability.crawling import Disturbed, assert_whole, states
from fakeweb import FakeWeb
from fakeweb.traps import surrounded

REAL = 200


def test_killed_among_traps(tmp_path: Path) -> None:
    site = surrounded(REAL, "calendar", "items", "basket", "archive")
    with FakeWeb(site) as web:
        crawl = Disturbed(web, tmp_path / "crawl", ("-u", "0"))
        for _ in range(4):
            crawl.kill_after(visits=40)
        crawl.finish()
        found = states(crawl.folder, web)
        assert all(found[0, path][2] == 200 for path in site.pages)
        assert len({visit.path for visit in web.log}) <= 1.3 * REAL
    assert_whole(crawl.folder)
