"""What pages ask of robots."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.directives import Directives, directives

NOW = 1_800_000_000.0  # January 2027


def asked(*metas: str, header: str = "", now: float = NOW) -> tuple[bool, bool]:
    said = directives(metas, (("x-robots-tag", header),) if header else (), now)
    return said.noindex, said.nofollow


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", (False, False)),
        ("index, follow", (False, False)),
        ("noindex", (True, False)),
        (" NoFollow ,x", (False, True)),
        ("none", (True, True)),
        ("noindexed", (False, False)),
        ("unavailable_after: 2020-01-01", (True, False)),
        ("unavailable_after: 2030-01-01T00:00:00Z", (False, False)),
        ("unavailable_after: 25 Jun 2010 15:00:00 PST", (True, False)),
        ("unavailable_after: Wed, 25 Jun 2010 15:00:00 GMT, nofollow", (True, True)),
        ("unavailable_after: Sunday, 25-Jun-40 15:00:00 UTC", (False, False)),
        ("unavailable_after: someday", (False, False)),
        ("noindex, max-snippet:5", (True, False)),
        ("noindex nofollow", (True, True)),
        ("noindex; nofollow;", (True, True)),
        ("max-snippet: 20; noindex", (True, False)),
        ("unavailable_after: 2020-01-01; nofollow", (True, True)),
        ("max-image-preview: none, max-snippet :-1", (False, False)),
        ("max-image-preview:none,noindex", (True, False)),
    ],
)
def test_the_same_in_a_meta_and_in_a_header(content: str, expected: tuple[bool, bool]) -> None:
    assert asked(content) == expected
    assert asked(header=content) == expected


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("gossamer: noindex", (True, False)),
        ("Gossamer: noindex, nofollow", (True, True)),
        ("otherbot: noindex, nofollow", (False, False)),
        ("otherbot: noindex, gossamer: nofollow", (False, True)),
        ("*: none", (True, True)),
        ("gossamer: unavailable_after: 25 Jun 2010 15:00:00 PST", (True, False)),
        ("otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST", (False, False)),
    ],
)
def test_a_header_may_speak_to_one_crawler(header: str, expected: tuple[bool, bool]) -> None:
    assert asked(header=header) == expected


def test_the_strictest_of_all_counts() -> None:
    assert asked("index", "nofollow", header="noindex") == (True, True)


@given(st.text(max_size=100))
def test_anything_may_be_asked(content: str) -> None:
    assert isinstance(directives([content], (("x-robots-tag", content),), NOW), Directives)
    assert isinstance(directives([f"unavailable_after:{content}"], (), NOW), Directives)
