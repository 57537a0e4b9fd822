"""HTTP/2 in a crawl: what `--per-host` means to a real server that speaks it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from crawl.conftest import CrawlIt
from fakeweb import Answer, FakeWeb, Names, Site
from fakeweb.recipes import html, links
from fetch.h2 import Nginx, serving

PAGES = 30


@dataclass(frozen=True)
class Served:
    """One line of the server's log."""

    protocol: str
    ended: float
    took: float
    connection: str

    @property
    def began(self) -> float:
        return self.ended - self.took


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    """A site of 30 pages, of which each takes a tenth of a second."""
    pages = {f"/behind/{number}": html(f"page {number}", delay=0.1) for number in range(PAGES)}
    with (
        FakeWeb(Site({"/behind": links(*pages), **pages})) as web,
        serving(tmp_path_factory.mktemp("nginx"), web.port()) as server,
    ):
        yield server


def served(nginx: Nginx, crawl: CrawlIt, names: Callable[[dict[str, Answer]], Names], per_host: int) -> list[Served]:
    before = len(nginx.log)
    crawled = crawl(
        f"https://h2.test:{nginx.port}/behind",
        dns=(names({"h2.test": Answer(("127.0.0.1",))}).server,),
        ca_file=str(nginx.folder / "cert.pem"),
        per_host=per_host,
    )
    assert len(crawled.kept()) == PAGES + 1
    lines = [line.split() for line in nginx.log[before:]]
    return [Served(line[0], float(line[-3]), float(line[-2]), line[-1]) for line in lines]


def at_once(requests: list[Served]) -> int:
    """Requests under way at the same time at the most; the log has milliseconds."""
    return max(sum(other.began <= one.began < other.ended - 0.002 for other in requests) for one in requests)


@pytest.mark.parametrize(("per_host", "most"), [(1, 1), (8, 8)])
def test_one_connection_carries_as_many_as_a_host_permits(
    nginx: Nginx, crawl: CrawlIt, names: Callable[[dict[str, Answer]], Names], per_host: int, most: int
) -> None:
    requests = served(nginx, crawl, names, per_host)
    assert {request.protocol for request in requests} == {"HTTP/2.0"}
    assert len({request.connection for request in requests}) == 1
    assert min(per_host, 4) <= at_once(requests) <= most
