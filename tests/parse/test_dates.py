"""Dates as they stand in sitemaps, feeds and headers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.dates import moment


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02", 86400),
        ("1970", 0),
        ("1970-02", 31 * 86400),
        ("1970-01-01T00:00Z", 0),
        ("1970-01-01T00:00:00+01:00", -3600),
        ("1970-01-01T01:00:00.25-01:00", 7200.25),
        (" 1970-01-01 00:01:00\n", 60),
        ("1970-01-01T1:00:00Z", 3600),
        ("Thu, 01 Jan 1970 00:00:10 GMT", 10),
        ("Thu, 01 Jan 70 00:00:10 +0000", 10),
        ("1 Jan 1970 00:00 EST", 5 * 3600),
        ("", None),
        ("yesterday", None),
        ("0000-00-00", None),
        ("1970-13-01", None),
        ("1234567890", None),
    ],
)
def test_dates(text: str, seconds: float | None) -> None:
    assert moment(text) == seconds


@given(st.text(alphabet="0123456789-:TZ+, JanFbMonGT.", max_size=80))
def test_nothing_raises(text: str) -> None:
    assert isinstance(moment(text), float | None)
