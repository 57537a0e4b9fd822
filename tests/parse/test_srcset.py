"""Every image that a srcset may choose, and none that it can't."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.srcset import candidates

from .shared import cases


def test_all_83_cases_of_web_platform_tests() -> None:
    """They name the image a browser selects; where it selects none there is no valid candidate."""
    wrong = []
    for srcset, selected in cases("srcset.json"):
        found = list(candidates(srcset))
        if not (selected in found if selected else found == []):
            wrong.append((srcset, selected, found))
    assert wrong == []


@pytest.mark.parametrize(
    ("srcset", "expected"),
    [
        ("", []),
        (" , ,", []),
        ("a", ["a"]),
        ("a 1x, b 2x", ["a", "b"]),
        ("a,b", ["a,b"]),
        ("a, b", ["a", "b"]),
        ("a,, b 100w", ["a", "b"]),
        ("a 1x,b 2x", ["a", "b"]),
        ("a 100w 50h, b 50h, c", ["a", "c"]),
        ("a 1x 100w, b 0w, c -1x, d 1.5x, e 1e3x, f .5x, g 1.x", ["c", "d", "e", "f", "g"]),
        ("a (1x, b 2x), c", ["a", "c"]),
        ("data:,x 1x, b", ["data:,x", "b"]),
    ],
)
def test_cases_of_our_own(srcset: str, expected: list[str]) -> None:
    assert list(candidates(srcset)) == expected


@given(st.text("ab,() \t1x2wh.e-"))
def test_any_srcset_is_read(srcset: str) -> None:
    assert all(candidate and candidate in srcset for candidate in candidates(srcset))


def test_a_long_one_takes_linear_time() -> None:
    start = time.process_time()
    assert len(list(candidates("a 1x, " * 100_000))) == 100_000
    assert list(candidates("a (" + "b" * 500_000)) == ["a"]
    assert time.process_time() - start < 5
