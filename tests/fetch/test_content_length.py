"""Content-Length as browsers read it (Fetch Standard, "extract a length"), case by case."""

import json
from pathlib import Path

import pytest

from fetch.raw import RawServer, reply
from fetch.test_transport import fetch
from gossamer.records import Exchange, Failure, FailureKind

SHARED = Path(__file__).resolve().parents[2] / "../shared/data/conformance/content-length.json"
BODY = b"x" * 42


def body_length(header: str) -> int | None:
    """What the transport makes of an answer with these header lines and 42 bytes; None: a failure."""
    with RawServer(reply(b"HTTP/1.1 200 OK\r\n" + header.encode() + b"\r\n\r\n" + BODY)) as server:
        result = fetch(server)
    return len(result.body) if isinstance(result, Exchange) else None


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Content-Length: 42", 42),
        ("Content-Length: 30", 30),
        ("Content-Length: 030", 30),
        ("Content-Length: 42\r\nContent-Length: 42", 42),
        ("Content-Length: 42\r\nContent-Length: 30", None),
        ("Content-Length: 30\r\nContent-Length: 42", None),
        ("Content-Length: 030\r\nContent-Length: 30", None),
        ("Content-Length: 030, 30", None),
        ("Content-Length: aaaah\r\nContent-Length: nah", None),
        ("Content-Length: 30,", None),
        ("X-None: at all", 42),
    ],
)
def test_lengths(header: str, expected: int | None) -> None:
    assert body_length(header) == expected


def test_a_wrong_length_is_not_silent() -> None:
    with RawServer(reply(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n" + BODY)) as server:
        result = fetch(server)
    assert not isinstance(result, Failure)
    assert (result.truncated, result.body) == ("disconnect", BODY)


def test_conformance() -> None:
    """All 28 of web-platform-tests (libcurl alone: 19)."""
    if not SHARED.exists():
        pytest.skip("../shared is not here: the cases of web-platform-tests are in it")
    cases = json.loads(SHARED.read_text())["cases"]
    assert {header: body_length(header) for header, _ in cases} == dict(cases)
    assert len(cases) == 28


@pytest.mark.parametrize("value", ["aaaah", "42s", "-1", "0x20", "aaaah, aaaah", ""])
def test_what_is_no_number_is_asked_for_once_more_and_ends_with_the_connection(value: str) -> None:
    """libcurl fails, as RFC 9112, section 6.3, demands; browsers show the page (Fetch Standard, "extract a length")."""
    with RawServer(reply(b"HTTP/1.1 200 OK\r\nContent-Length: " + value.encode() + b"\r\n\r\n" + BODY)) as server:
        result = fetch(server)
        assert isinstance(result, Exchange), result
        assert (result.body, result.truncated) == (BODY, "")
        assert [b"Connection: close" in head for head in server.heads] == [False, True]
        assert result.request_head == server.heads[-1], "the archive shows what was sent"


def test_it_is_not_asked_again_where_only_the_schedule_knows_when() -> None:
    with RawServer(reply(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n" + BODY)) as server:
        result = fetch(server, pause=None)
        assert isinstance(result, Failure)
        assert (result.kind, "Content-Length" in result.detail) == (FailureKind.NOT_HTTP, True)
        assert len(server.heads) == 1


def test_chunks_count_more_than_any_length() -> None:
    chunked = b"2a\r\n" + BODY + b"\r\n0\r\n\r\n"
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 7\r\nContent-Length: 8\r\n\r\n"
    with RawServer(reply(head + chunked)) as server:
        result = fetch(server)
    assert isinstance(result, Exchange), result
    assert result.body == chunked
