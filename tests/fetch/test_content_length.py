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


IGNORED_BY_BROWSERS = {
    "Content-Length: aaaah",
    "Content-Length: aaaah, aaaah",
    "Content-Length: aaaah\r\nContent-Length: aaaah",
    "Content-Length: 42s",
    "Content-Length: 30s",
    "Content-Length: -1",
    "Content-Length: 0x20",
}
"""What is no number: browsers read until the connection closes; libcurl fails, as RFC 9112, section 6.3, demands ("the
message framing is invalid and the recipient MUST treat it as an unrecoverable error")."""

REFUSED_BY_BROWSERS = {"Content-Length: 030\r\nContent-Length: 30", "Content-Length: 030, 30"}
"""The same number written in two ways: browsers compare the texts, libcurl the numbers."""


def test_conformance() -> None:
    """19 of 28, and each of the other nine is a choice of libcurl's that does no harm."""
    if not SHARED.exists():
        pytest.skip("../shared is not here: the cases of web-platform-tests are in it")
    cases = json.loads(SHARED.read_text())["cases"]
    different = {header for header, expected in cases if body_length(header) != expected}
    assert different == IGNORED_BY_BROWSERS | REFUSED_BY_BROWSERS
    assert len(cases) - len(different) == 19


@pytest.mark.parametrize("header", sorted(IGNORED_BY_BROWSERS))
def test_what_is_no_number_has_its_reason(header: str) -> None:
    with RawServer(reply(b"HTTP/1.1 200 OK\r\n" + header.encode() + b"\r\n\r\n" + BODY)) as server:
        result = fetch(server)
    assert isinstance(result, Failure)
    assert (result.kind, "Content-Length" in result.detail) == (FailureKind.NOT_HTTP, True)
