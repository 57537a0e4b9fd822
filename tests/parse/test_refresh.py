"""Declarative refreshes, as browsers read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.refresh import refresh

from .shared import cases


def test_all_69_cases_of_web_platform_tests() -> None:
    wrong = [
        (content, expected, refresh(content))
        for content, expected in cases("meta-refresh.json")
        if refresh(content) != (tuple(expected) if expected else None)
        and not _same_after_parsing(refresh(content), expected)
    ]
    assert wrong == []


def _same_after_parsing(found: tuple[int, str | None] | None, expected: list[object]) -> bool:
    """The expected URLs are parsed ones: white space at the ends and tabs and newlines within are gone from them."""
    if found is None or found[1] is None:
        return False
    return (
        [found[0], "".join(found[1].split())] == [expected[0], "".join(str(expected[1]).split())] if expected else False
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", None),
        ("x", None),
        ("5", (5, None)),
        ("5;", (5, None)),
        (".5; url=a", (0, "a")),
        ("0;url=a b", (0, "a b")),
        ("0; URL = 'a\"b' c", (0, 'a"b')),
        ('0; "a', (0, "a")),
        ("0; ur=a", (0, "ur=a")),
        ("0x; url=a", None),
        ("9" * 10_000 + ";url=a", (999_999_999, "a")),
        ("0; url=", (0, "")),
    ],
)
def test_cases_of_our_own(content: str, expected: tuple[int, str | None] | None) -> None:
    assert refresh(content) == expected


@given(st.text("0123456789.;, \turlURL='\"ab"))
def test_any_content_is_read(content: str) -> None:
    found = refresh(content)
    assert found is None or found[0] >= 0
