"""`gossamer show`: a page in every form, as a person asks for it."""

from pathlib import Path

import pytest

from small import Small

from .programs import run


@pytest.fixture
def folder(tmp_path: Path) -> str:
    small = Small.create(tmp_path / "c")
    small.page("http://a.test/", "A page", "the text of it\nin two lines", "http://a.test/b", "http://a.test/c")
    small.answer("http://a.test/gone", status=404)
    small.seal()
    return str(tmp_path / "c")


@pytest.mark.parametrize(
    ("option", "shown"),
    [
        ([], "the text of it\nin two lines\n"),
        (["--text"], "the text of it\nin two lines\n"),
        (["--links"], "http://a.test/b\nhttp://a.test/c\n"),
        (["--headers"], "HTTP/1.1 200 X\ncontent-type: text/html\n\n"),
    ],
)
def test_a_page_is_shown_as_it_is_asked_for(folder: str, option: list[str], shown: str) -> None:
    done = run("gossamer", "show", folder, "http://a.test/", *option)
    assert (done.code, done.err, done.out) == (0, "", shown)


def test_its_markup_is_shown_as_it_came_and_cleaned(folder: str) -> None:
    raw = run("gossamer", "show", folder, "a.test/", "--raw")
    source = run("gossamer", "show", folder, "a.test/", "--source")
    cleaned = run("gossamer", "show", folder, "a.test/", "--cleaned")
    assert raw.out == source.out.removesuffix("\n")
    assert raw.out.startswith("<title>A page</title>")
    assert cleaned.out.startswith("<html><head><title>A page</title></head><body><p>")


def test_a_url_without_a_page_is_a_problem(folder: str) -> None:
    for url in ("http://a.test/gone", "http://nobody.test/"):
        done = run("gossamer", "show", folder, url)
        assert (done.code, done.out) == (1, "")
        assert f"{url} has no page here; see: gossamer why" in done.err
