"""What is typed after `crawl`, as the order that the crawl gets."""

import io
from pathlib import Path

import pytest

from cli.programs import run
from gossamer.cli import crawl as module
from gossamer.cli.crawl import crawl
from gossamer.errors import UsageError
from gossamer.session import Order
from gossamer.settings import TABLE


@pytest.fixture
def orders(monkeypatch: pytest.MonkeyPatch) -> list[Order]:
    taken: list[Order] = []
    monkeypatch.setattr(module, "carry_out", lambda order, _: taken.append(order))
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")
    return taken


def typed(*arguments: str) -> None:
    crawl.main(arguments, standalone_mode=False)


def test_an_address_with_options(orders: list[Order]) -> None:
    typed("-u", "5", "--exclude", "*.pdf", "--exclude", "*.zip", "--no-http2", "-o", "out", "example.org", "--json")
    assert (orders[0].folder, orders[0].addresses) == (Path("out"), (("https://example.org/", True),))
    settings = orders[0].loaded.settings
    assert (settings.max_urls, settings.exclude, settings.http2) == (5, ("*.pdf", "*.zip"), False)
    said = {name for name, origin in orders[0].loaded.origins.items() if origin != "default"}
    assert said == {"max_urls", "exclude", "http2"}


def test_every_setting_is_an_option() -> None:
    text = run("webcrawl", "--help").out
    for setting in TABLE.values():
        assert setting.flag in text
    assert "  webcrawl -u 50" in text


def test_a_folder_resumes_and_takes_addresses_more(orders: list[Order], tmp_path: Path) -> None:
    typed(str(tmp_path))
    typed(str(tmp_path), "http://more.example/")
    assert [(order.folder, order.addresses) for order in orders] == [
        (tmp_path, ()),
        (tmp_path, (("http://more.example/", False),)),
    ]


def test_addresses_from_files_and_standard_input(
    orders: list[Order], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("\ufeff# mine\nhttp://a/\n\n  http://b/  \r\n", encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO("http://c/\n"))
    typed("http://z/", f"@{seeds}", "-")
    assert [url for url, _ in orders[0].addresses] == ["http://z/", "http://a/", "http://b/", "http://c/"]


@pytest.mark.parametrize(
    ("content", "message"), [(None, "can't be read .No such file"), (b"\xff\xfe\x00", "no text in UTF-8")]
)
def test_a_list_that_is_none(orders: list[Order], tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "seeds"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        typed(f"@{path}")
    assert not orders


def test_nothing_to_crawl() -> None:
    for program in (("webcrawl",), ("gossamer", "crawl", "@/dev/null")):
        shown = run(*program)
        assert shown.code == 2
        assert shown.err == "Error: no address was given; try: gossamer crawl https://example.org/\n"


def test_an_empty_address_is_not_the_folder_one_is_in() -> None:
    shown = run("webcrawl", "")
    assert shown.code == 2
    assert shown.err.startswith("Error: an empty address was given; ")
