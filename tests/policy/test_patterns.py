"""Patterns that a command suggests mean what they are for and no more."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.patterns import Patterns, any_of_host, literal

TEXTS = st.text("a*?[]!-:/x", min_size=1)


@given(TEXTS, TEXTS)
def test_a_literal_means_itself_and_no_other(text: str, other: str) -> None:
    pattern = Patterns((literal(text),))
    assert pattern.first_match(text) is not None
    assert (pattern.first_match(other) is not None) == (text == other)


@pytest.mark.parametrize("url", ["http://[::1]:8080/a[1]?q=*", "https://a.test/?u=http://[::1]/", "http://a.test/it's"])
def test_a_url_is_meant_by_its_literal(url: str) -> None:
    assert Patterns((literal(url),)).first_match(url) is not None


@pytest.mark.parametrize(
    ("host", "url", "expected"),
    [
        ("a.test", "http://a.test/", True),
        ("a.test", "https://a.test:8443/x", True),
        ("a.test", "https://aatest/x", False),
        ("a.test", "https://b.a.test/x", False),
        ("a.test", "https://a.test.b/x", False),
        ("a.test", "https://b.test/?u=http://a.test/", False),
        ("a.test:81", "http://a.test:81/", True),
        ("a.test:81", "http://a.test/", False),
        ("[::1]", "http://[::1]:8080/x", True),
        ("[::1]:8080", "http://[::1]:8080/x", True),
        ("[::1]:8080", "http://[::1]/x", False),
    ],
)
def test_a_host_is_meant_with_its_ports_and_no_other(host: str, url: str, expected: bool) -> None:
    assert (Patterns((any_of_host(host),)).first_match(url) is not None) == expected
