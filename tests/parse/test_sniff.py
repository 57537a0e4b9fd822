"""The type of a body."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.sniff import declared_type, media_type


def of(content_type: str | None, body: bytes) -> str:
    return media_type((("content-type", content_type),) if content_type is not None else (), body)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"<!DOCTYPE HTML>", "text/html"),
        (b"\xef\xbb\xbf \n<html >", "text/html"),
        (b"<!-- a comment", "text/html"),
        (b"<p>", "text/html"),
        (b"<pre>", "text/plain"),
        (b"<b", "text/plain"),
        (b'<?xml version="1.0"?><rss>', "text/xml"),
        (b'<?xml version="1.0"?>\n<!DOCTYPE html><html xmlns="x">', "application/xhtml+xml"),
        (b"%PDF-1.7", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"GIF89a", "image/gif"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"\x1f\x8b\x08\x00", "application/gzip"),
        (b"PK\x03\x04", "application/zip"),
        (b"just words", "text/plain"),
        (b"\xff\xfea\x00", "text/plain"),
        (b"\x00\x01\x02", "application/octet-stream"),
        (b"", "text/plain"),
    ],
)
def test_without_a_declared_type_the_first_bytes_tell(body: bytes, expected: str) -> None:
    assert of(None, body) == of("*/*", body) == of("nonsense", body) == of("unknown/unknown", body) == expected


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        ("Text/HTML; charset=x", b"%PDF-", "text/html"),
        ("application/octet-stream", b"<!doctype html>", "text/html"),
        ("application/octet-stream", b"words", "application/octet-stream"),
        ("application/octet-stream", b"%PDF-", "application/pdf"),
        ("application/force-download", b"%PDF-", "application/pdf"),
        ("application/x-pdf", b"", "application/pdf"),
        ("text/plain", b"<!doctype html>", "text/plain"),
        ("text/plain; charset=utf-8", b"\x00\x01", "application/octet-stream"),
        ("text/plain", b"\x1f\x8b\x08", "application/gzip"),
        ("image/png", b"<html>", "image/png"),
        # browsers show an image and run a script whatever their server says of them
        ("text/html", b"\x89PNG\r\n\x1a\n", "image/png"),
        ("text/html; charset=utf-8", b"/* made by a program */\n// and more\nvar a = '<b>';", "text/javascript"),
        ("text/html", b"(function () { document.write('<p>') })()", "text/javascript"),
        ("text/html", b"jQuery(function ($) {})", "text/javascript"),
        ("text/html", b"/* */ body > p { color: red }", "text/css"),
        ("text/html", b"body { <b>no</b> }", "text/html"),
        ("text/html", b"var is a word", "text/html"),
        ("text/html", b"import your photos", "text/html"),
        ("text/html", b"// no program", "text/html"),
        ("text/html", b"", "text/html"),
    ],
)
def test_a_declared_type_counts_unless_it_says_nothing(content_type: str, body: bytes, expected: str) -> None:
    assert of(content_type, body) == expected


def test_the_last_valid_type_counts() -> None:
    headers = (("content-type", "text/html"), ("content-type", "text/css"), ("content-type", "junk"))
    assert declared_type(headers) == "text/css"


@given(st.text(max_size=50), st.binary(max_size=100))
def test_any_header_and_body_have_a_type(content_type: str, body: bytes) -> None:
    assert of(content_type, body).count("/") == 1
