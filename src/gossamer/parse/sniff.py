"""What a body is: its declared type, or its first bytes where that is missing or says nothing (MIME Sniffing)."""

import re

from gossamer.records import Headers

PAGES = frozenset({"text/html", "application/xhtml+xml"})
"""The types that are pages."""

_TYPE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}/[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_UNKNOWN = frozenset({"", "unknown/unknown", "application/unknown", "*/*"})
# What says no more than that somebody should get a file.
_GENERIC = frozenset({"application/octet-stream", "binary/octet-stream", "application/force-download"})
_OTHER_NAMES = {"application/x-pdf": "application/pdf"}
# 4.6, "check-for-apache-bug": what servers send of files they know nothing of.
_SERVERS_GUESS = re.compile(r"text/plain(?:; ?charset=(?:iso-8859-1|utf-8))?", re.IGNORECASE)
_RESOURCE_HEADER = 1445  # MIME Sniffing 5: bytes that are looked at

# 7.1: after white space, one of these, then a space or ">".
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?[\t\n\x0c\r ]*<(?:(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body"
    rb"|br|p)[ >]|!--)",
    re.IGNORECASE,
)
_XML = re.compile(rb"(?:\xef\xbb\xbf)?[\t\n\x0c\r ]*<\?xml")
_XHTML = re.compile(rb"<(?:!doctype[\t\n\x0c\r ]+html|html)[\t\n\x0c\r >]", re.IGNORECASE)
_BOM = re.compile(rb"\xef\xbb\xbf|\xfe\xff|\xff\xfe")
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_SIGNATURES = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"PK\x03\x04", "application/zip"),
)


# What scripts and style sheets begin with that a program sends without saying a type, so that its server says HTML.
_COMMENTS = rb"(?:\xef\xbb\xbf)?(?:[\t\n\x0c\r ]++|/\*(?:[^*]++|\*(?!/))*+\*/|//[^\n]*+\n)*+"
_SCRIPT = re.compile(
    _COMMENTS
    + rb"""(?:["']use strict["']|[;!(]*+(?:async[ ])?function\b|[;!]?\(\(?\)?[ ]?=>|(?:var|let|const)[ ][\w$]++[ ]?[=;,]"""
    rb"""|(?:window|document|self)\.[\w$]++|(?:import|export)[ ]*+["'{*]|jQuery\b|\$[.(])"""
)
_STYLE = re.compile(_COMMENTS + rb"""(?:@(?:charset|import|media|font-face)\b|[.#*:\w][^<{};]*+\{[^<>{}]*+\})""")


def declared_type(headers: Headers) -> str:
    """The type that is declared, lower case, without parameters; the last one that is valid counts (Fetch)."""
    for value in reversed(_values(headers)):
        found = _TYPE.match(value)
        if found:
            return found[0].lower()
    return ""


def media_type(headers: Headers, body: bytes) -> str:
    """The type of a body, lower case, without parameters."""
    declared = declared_type(headers)
    declared = _OTHER_NAMES.get(declared, declared)
    start = body[:_RESOURCE_HEADER]
    if declared == "text/html":
        return _meant(start) or declared
    if declared not in _UNKNOWN and declared not in _GENERIC and declared != "text/plain":
        return declared
    if declared == "text/plain":
        return _text_or_binary(start) if any(map(_SERVERS_GUESS.fullmatch, _values(headers))) else declared
    return _sniffed(start, declared)


def _values(headers: Headers) -> list[str]:
    return [value.strip() for key, value in headers if key == "content-type"]


def _meant(start: bytes) -> str:
    """What HTML of a server is that is none: browsers take an image or a script for what it is, whatever they are told.

    7: images by their bytes; HTML, "fetch a classic script": any type that is no image's, audio's or video's.
    """
    signed = _signed(start)
    if signed.startswith("image/"):
        return signed
    if _SCRIPT.match(start):
        return "text/javascript"
    return "text/css" if b"<" not in start and _STYLE.match(start) else ""


def _sniffed(start: bytes, declared: str) -> str:
    if _HTML.match(start):
        return "text/html"
    if _XML.match(start):
        return "application/xhtml+xml" if _XHTML.search(start) else "text/xml"
    signed = _signed(start)
    if signed:
        return signed
    return declared if declared in _GENERIC else _text_or_binary(start)


def _text_or_binary(start: bytes) -> str:
    """7.2: text/plain is what servers say of anything; never is it taken for HTML, but for binary data."""
    if _BOM.match(start) or not _BINARY.search(start):
        return "text/plain"
    return _signed(start) or "application/octet-stream"


def _signed(start: bytes) -> str:
    if start[:4] == b"RIFF" and start[8:14] == b"WEBPVP":
        return "image/webp"
    return next((name for signature, name in _SIGNATURES if start.startswith(signature)), "")
