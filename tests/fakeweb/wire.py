"""From a page to the bytes on the wire."""

import http
import itertools
import zlib
from collections.abc import Iterator

import brotli
import zstandard

from fakeweb.page import Ending, Framing, Headers, Page

_NO_BODY = frozenset({204, 304})  # RFC 9110, sections 15.3.5 and 15.4.5


def encode(body: bytes, coding: str) -> bytes:
    """``body`` with the content codings of a comma-separated list put on, in order (RFC 9110, section 8.4)."""
    for name in filter(None, (part.strip() for part in coding.split(","))):
        body = _encode_once(body, name)
    return body


def _encode_once(body: bytes, name: str) -> bytes:
    match name:
        case "gzip" | "x-gzip":
            return _deflate(body, 31)
        case "deflate":
            return _deflate(body, 15)
        case "raw-deflate":  # what some servers send and call deflate
            return _deflate(body, -15)
        case "br":
            return bytes(brotli.compress(body, quality=5))
        case "zstd":
            return zstandard.ZstdCompressor().compress(body)
        case "identity":
            return body
    raise ValueError(f"no such coding: {name}")


def _deflate(body: bytes, window: int) -> bytes:
    packer = zlib.compressobj(6, zlib.DEFLATED, window)
    return packer.compress(body) + packer.flush()


def answer(page: Page, *, head_only: bool) -> Iterator[bytes]:
    """The pieces that go over the wire, in order; without end for an endless page."""
    if page.raw is not None:
        return _pieces(iter((page.raw,)), page.piece)
    has_body = not head_only and page.status not in _NO_BODY
    coded = encode(page.body, page.coding)
    blocks = _body(page, coded) if has_body else iter(())
    return _pieces(itertools.chain((page.before + _head(page, len(coded)),), blocks), page.piece)


def _head(page: Page, length: int) -> bytes:
    lines = [f"HTTP/1.1 {page.status} {_reason(page.status)}"]
    if page.content_type is not None:
        lines.append(f"Content-Type: {page.content_type}")
    if page.coding:
        lines.append(f"Content-Encoding: {page.coding.replace('raw-', '')}")
    lines += _framing_lines(page, length)
    lines += [f"{name}: {value}" for name, value in page.headers]
    # Latin-1 with surrogates: any byte at all can be put into a header by a test
    return "\r\n".join([*lines, "", ""]).encode("latin-1", "surrogateescape")


def _framing_lines(page: Page, length: int) -> list[str]:
    lines = []
    if page.framing == Framing.CHUNKED:
        lines.append("Transfer-Encoding: chunked")
    elif page.framing == Framing.LENGTH and page.status not in _NO_BODY and not (page.endless and page.length is None):
        lines.append(f"Content-Length: {length if page.length is None else page.length}")
    return lines if keeps_open(page) else [*lines, "Connection: close"]


def keeps_open(page: Page) -> bool:
    """True when another request may follow on the connection."""
    return page.ending == Ending.KEEP and page.framing != Framing.CLOSE and not page.is_broken


def _reason(status: int) -> str:
    try:
        return http.HTTPStatus(status).phrase
    except ValueError:
        return "Made Up"


def _body(page: Page, coded: bytes) -> Iterator[bytes]:
    blocks: Iterator[bytes] = itertools.repeat(coded) if page.endless else iter((coded,))
    if page.framing == Framing.CHUNKED:
        blocks = _chunked(blocks, page.trailers)
    return blocks if page.cut is None else _first(blocks, page.cut)


def _chunked(blocks: Iterator[bytes], trailers: Headers) -> Iterator[bytes]:
    for block in blocks:
        for start in range(0, len(block), 4096):
            chunk = block[start : start + 4096]
            yield b"%x\r\n%b\r\n" % (len(chunk), chunk)
    lines = "".join(f"{name}: {value}\r\n" for name, value in trailers)
    yield b"0\r\n%b\r\n" % lines.encode("latin-1")


def _first(blocks: Iterator[bytes], count: int) -> Iterator[bytes]:
    for block in blocks:
        if count <= 0:
            return
        yield block[:count]
        count -= len(block)


def _pieces(blocks: Iterator[bytes], size: int) -> Iterator[bytes]:
    for block in blocks:
        for start in range(0, len(block), size):
            yield block[start : start + size]
