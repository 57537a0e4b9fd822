"""Heads as bytes, for all inputs: what goes out can't be split, what comes in can't crash."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import UsageError
from gossamer.fetch.heads import final_head, parse_headers, place, render_request, request_headers, status_of

ANY_TEXT = st.text(st.characters())
PLACE = place("http://a.test/x")


@given(st.lists(st.tuples(ANY_TEXT, ANY_TEXT), max_size=3))
def test_headers_are_refused_or_one_line_each(headers: list[tuple[str, str]]) -> None:
    try:
        made = request_headers("me", tuple(headers))
    except UsageError:
        return
    head = render_request(PLACE, made, b"HTTP/1.1")
    lines = head.split(b"\r\n")
    assert lines[-2:] == [b"", b""]
    assert len(lines) == 4 + len(made.lines)
    assert not re.search(rb"[\r\n\0]", b"".join(lines))


@given(ANY_TEXT, ANY_TEXT)
def test_urls_are_refused_or_printable(host: str, rest: str) -> None:
    try:
        made = place(f"http://{host}/{rest}")
    except UsageError:
        return
    assert re.fullmatch(r"[!-~]+", made.authority + made.target)
    assert "@" not in made.authority


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://a.test/", ("http", "a.test", 80, "/")),
        ("https://a.test/b?c", ("https", "a.test", 443, "/b?c")),
        ("http://[::1]:8080/", ("http", "[::1]:8080", 8080, "/")),
        ("https://a.test.:1/@:", ("https", "a.test.:1", 1, "/@:")),
    ],
)
def test_the_parts_of_a_url(url: str, expected: tuple[str, str, int, str]) -> None:
    made = place(url)
    assert (made.scheme, made.authority, made.port, made.target) == expected


LINE = st.binary(min_size=1, max_size=20).map(lambda line: line.replace(b"\r", b"").replace(b"\n", b"") or b"x")
END = st.sampled_from([b"\r\n", b"\n"])


@given(
    interim=st.lists(st.integers(100, 199).filter(lambda status: status != 101), max_size=3),
    status=st.integers(200, 999) | st.just(101),
    headers=st.lists(LINE, max_size=5),
    trailers=st.lists(LINE, max_size=3),
    end=END,
)
def test_the_final_head_among_all_lines(
    interim: list[int], status: int, headers: list[bytes], trailers: list[bytes], end: bytes
) -> None:
    before = [part for code in interim for part in (b"HTTP/1.1 %d x" % code + end, b"Link: </a>" + end, end)]
    head = [b"HTTP/1.1 %d OK" % status + end, *(b"X: " + line + end for line in headers), end]
    after = [line + end for line in trailers]
    found = final_head(before + head + after)
    assert found == head
    assert status_of(found[0]) == status
    assert len(parse_headers(b"".join(found))) == len(headers)


@given(st.lists(st.binary(max_size=30) | st.sampled_from([b"\r\n", b"\n", b"HTTP/1.1 100 \r\n", b"HTTP/1.1 200\r\n"])))
def test_no_lines_crash(lines: list[bytes]) -> None:
    found = final_head(lines)
    if found:
        assert found[-1] in (b"\r\n", b"\n")
        parse_headers(b"".join(found))


def test_names_and_values() -> None:
    head = b"HTTP/1.1 200 OK\r\nX-A :  b \t\r\nx-\xe9: \xff\r\nno value:\r\nA: b: c\r\n\r\n"
    assert parse_headers(head) == (("x-a", "b"), ("x-é", "ÿ"), ("no value", ""), ("a", "b: c"))
