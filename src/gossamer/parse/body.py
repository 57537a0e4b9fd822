"""Bodies: transfer and content codings undone, stepwise and under a limit of output."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from gossamer.parse.codings import DECODERS, DECODING_ERRORS
from gossamer.records import Failure, FailureKind, Headers

MAX_CODINGS = 5
"""Codings on one body; nobody means more, and each can multiply the work."""

# RFC 9112 7.1: chunk = chunk-size [ chunk-ext ] CRLF chunk-data CRLF; 2.2 allows a single LF as line end.
_CHUNK_HEAD = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,16})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")
_CHUNK_END = re.compile(rb"\r?\n")

# What servers write in Content-Encoding that is no coding: the names of charsets and of mail's transfer encodings.
_NO_CODINGS = frozenset(
    {"", "identity", "none", "binary", "7bit", "8bit", "utf-8", "utf8", "iso-8859-1", "aws-chunked"}
)

_GZIP_TYPES = frozenset({"application/gzip", "application/x-gzip", "application/x-gunzip", "application/x-tgz"})
_GZIP_SUFFIXES = (".gz", ".tgz", ".gzip")
_SHOWN_TYPES = re.compile(r"text/|image/svg\+xml|application/(?:[\w.-]+\+)?xml|application/json", re.ASCII)


@dataclass(frozen=True, slots=True)
class Undone:
    """A body without its codings, as far as that could be done; ``failure`` says what stopped it."""

    data: bytes
    failure: Failure | None = None


def dechunk(body: bytes) -> tuple[bytes, bool]:
    """The data of a chunked body, and whether its last chunk was there (RFC 9112 7.1). Trailers are dropped."""
    view, position = memoryview(body), 0
    parts: list[memoryview] = []
    while head := _CHUNK_HEAD.match(body, position):
        size = int(head[1], 16)
        if size == 0:
            return b"".join(parts), True
        start, end = head.end(), min(head.end() + size, len(body))
        parts.append(view[start:end])
        line_end = _CHUNK_END.match(body, end)
        if line_end is None:
            break
        position = line_end.end()
    return b"".join(parts), False


def decode(headers: Headers, body: bytes, limit: int, *, url: str = "", partial: bool = False) -> bytes | Failure:
    """``body`` without its transfer and content codings, or why that can't be had.

    ``limit``: bytes of output of each compression at the most. ``partial``: a missing end is no failure (the transfer was
    cut). ``url``: tells a file that is compressed in itself from a page that was compressed for the way.
    """
    undone = undo(headers, body, limit, url=url)
    if undone.failure is None or (partial and undone.failure.kind is FailureKind.BODY_TRUNCATED):
        return undone.data
    return undone.failure


def undo(headers: Headers, body: bytes, limit: int, *, url: str = "") -> Undone:
    """As ``decode``, but what could be decoded before something went wrong is kept."""
    transfer = _listed(headers, "transfer-encoding")
    content = [] if _is_compressed_file(headers, url) else _listed(headers, "content-encoding")
    codings = [name for name in (*content, *transfer) if name not in _NO_CODINGS]
    if len(codings) > MAX_CODINGS:
        return Undone(body, Failure(FailureKind.BODY_UNDECODABLE, f"{len(codings)} codings"))
    failure = None
    for name in reversed(codings):  # RFC 9110 8.4: listed "in the order in which they were applied"
        undone = _undo_one(name, body, limit)
        body = undone.data
        failure = undone.failure or failure
        if failure is not None and failure.kind is not FailureKind.BODY_TRUNCATED:
            return Undone(body, failure)
    return Undone(body, failure)


def _undo_one(name: str, body: bytes, limit: int) -> Undone:
    if name == "chunked":
        data, complete = dechunk(body)
        return Undone(data, None if complete else Failure(FailureKind.BODY_TRUNCATED, name))
    if name not in DECODERS:
        return Undone(body, Failure(FailureKind.BODY_UNDECODABLE, f"unknown coding {name[:40]!r}"))
    return _run(name, body, limit) if body else Undone(b"")


def _run(name: str, body: bytes, limit: int) -> Undone:
    pieces, size, failure = [], 0, None
    try:
        for piece in DECODERS[name](body):
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                failure = Failure(FailureKind.BODY_BOMB, f"{name}: more than {limit} bytes")
                break
    except EOFError:
        failure = Failure(FailureKind.BODY_TRUNCATED, name)
    except DECODING_ERRORS as error:
        failure = Failure(FailureKind.BODY_UNDECODABLE, f"{name}: {error}")
    return Undone(b"".join(pieces), failure)


def _listed(headers: Headers, name: str) -> list[str]:
    """The elements of a list header, which may be repeated (RFC 9110 5.6.1)."""
    values = ",".join(value for key, value in headers if key == name)
    return [element.partition(";")[0].strip().lower() for element in values.split(",")]


def _is_compressed_file(headers: Headers, url: str) -> bool:
    """Whether ``Content-Encoding: gzip`` is only the server's name for a .gz file, which stays as it is.

    Servers label downloads so; browsers (Firefox's nsHttpChannel and its list of non-decodable extensions) then keep
    the file, except where it is of a type they show.
    """
    if not {"gzip", "x-gzip"}.intersection(_listed(headers, "content-encoding")):
        return False
    kind = next((value for key, value in headers if key == "content-type"), "").partition(";")[0].strip().lower()
    if kind in _GZIP_TYPES:
        return True
    return not _SHOWN_TYPES.match(kind) and urlsplit(url).path.lower().endswith(_GZIP_SUFFIXES)
