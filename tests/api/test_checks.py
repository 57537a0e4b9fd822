"""What makes no sense is said as such, where it was given: never as damage of the collection."""

from collections.abc import Callable
from typing import Any

import pytest

import gossamer
from conftest import Serve
from crawl.crawling import ParsersInThreads
from gossamer import session

from .webs import small

Use = Callable[[Any], object]


async def wait(_: object) -> None:
    """Something that a program may take for a callback."""


class Waiter:
    async def __call__(self, _: object) -> None: ...


@pytest.fixture
def crawled(serve: Serve, collection: gossamer.Collection, monkeypatch: pytest.MonkeyPatch) -> gossamer.Collection:
    monkeypatch.setattr(session, "ParserPool", ParsersInThreads)
    collection.crawl(serve(small()).url())
    return collection


@pytest.mark.parametrize(
    "use",
    [
        lambda c: c.search(5),
        lambda c: c.search("x", limit=-1),
        lambda c: c.search("x", limit="5"),
        lambda c: c.search("x", offset=-3),
        lambda c: c.page(5),
        lambda c: c.page(b"http://a.test/"),
        lambda c: c.why(5),
        lambda c: list(c.pages(5)),
        lambda c: list(c.pages(host=5)),
        lambda c: list(c.pages(depth="1")),
        lambda c: list(c.urls(5)),
        lambda c: list(c.urls(reason=5)),
        lambda c: list(c.urls(status="4xx")),
        lambda c: list(c.urls(status=(400,))),
        lambda c: list(c.urls(status=("400", "499"))),
        lambda c: list(c.urls(state="lost")),
        lambda c: c.export("x.jsonl", "jsonl"),
        lambda c: c.export("x.warc", "warc", 5),
        lambda c: c.crawl(5),
        lambda c: c.crawl(b"http://a.test/"),
        lambda c: c.crawl(["http://a.test/"]),
    ],
)
def test_arguments_of_the_wrong_kind(crawled: gossamer.Collection, use: Use) -> None:
    with pytest.raises(gossamer.UsageError):
        use(crawled)


@pytest.mark.parametrize("name", ["judge", "request", "on_page"])
@pytest.mark.parametrize("function", [5, "shop:facts", wait, Waiter()])
def test_functions_are_looked_at_before_anything_begins(
    collection: gossamer.Collection, name: str, function: object
) -> None:
    with pytest.raises(gossamer.UsageError, match=f"{name} (must be a function|can't be awaited)"):
        collection.crawl("http://a.test/", **{name: function})  # type: ignore[arg-type]  # wrong on purpose
    assert not collection.folder.exists()
