"""WARC 1.1 records (ISO 28500:2017), built from exchanges; each is one gzip member.

Two choices were settled by trying what reads these files:

*Payload digests* are taken over the body as it came, transfer and content codings still on. ISO 28500 6.3.2 speaks of
the entity-body, which has no chunk framing, but wget, warcio and FastWARC all hash what follows the HTTP head, and a
digest that no tool can verify proves nothing. The form is ``sha256:`` in hexadecimal: both tools know base32 only with
its padding, and FastWARC does not know the label ``sha-256``. A head on which readers disagree where it ends (bare LF,
a line of white space) or which is over 32 KiB (FastWARC reads no more) gets no payload digest; the block digest still
covers it.

*Revisit records* carry the digest of their payload as ``WARC-Refers-To-Payload-Digest``, an extension, and not as the
``WARC-Payload-Digest`` that ISO 28500 6.7.2 wants: FastWARC's check hashes the empty payload of a revisit record
against that field and calls every one damaged. Replay needs it nowhere: the original is found by URI and date.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from http.client import responses
from typing import Literal
from urllib.parse import quote
from uuid import UUID

from isal import isal_zlib

from gossamer.clock import timestamp
from gossamer.records import Exchange, Headers

GZIP_HEADER = bytes.fromhex("1f8b08000000000000ff")
"""How every member begins (RFC 1952: deflate, no flags, no time, unknown system); anything else is damage."""

REVISIT_PROFILE = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
REFERRED_DIGEST = "WARC-Refers-To-Payload-Digest"

# isal's level 1 takes a fifth of zlib's time for the same size; bench/archive.py shows it.
_LEVEL = 1
_TRUNCATIONS = frozenset({"length", "time", "disconnect"})
_MAX_AGREED_HEAD = 32 * 1024
# Possessive: a hostile head must not make this quadratic.
_AGREED_HEAD = re.compile(rb"(?:[^\r\n!-~]*+[!-~][^\r\n]*+\r\n)++\r\n")
_PLAIN_URI = re.compile(r"[\x21-\x3f\x41-\x7e]*")  # as nearly all are: no user info, nothing to be encoded
_NOT_IN_URI = re.compile(r"[^\x21-\x7e]+")
_URI_USER_INFO = re.compile(r"^(https?://)[^/?#\\]*@", re.IGNORECASE)
_TARGET_USER_INFO = re.compile(rb"\A(\S+ https?://)[^/?#\s]*@", re.IGNORECASE)
_REFERER_USER_INFO = re.compile(rb"^(Referer[ \t]*:[ \t]*https?://)[^/?#\s]*@", re.IGNORECASE | re.MULTILINE)
_VERSION_ASKED = re.compile(rb"\A([^\r\n]* )HTTP/[23](?:\.0)?(?=\r?\n)")
_VERSION_ANSWERED = re.compile(rb"\AHTTP/[23](?:\.0)? (\d{3})[^\r\n]*(?=\r?\n)")
_ADDRESS = re.compile(r"[0-9a-fA-F.:]+")
_PROTOCOL = re.compile(r"[a-z0-9./]+")
_CONTENT_TYPE = re.compile(r"[!#$&^_.+0-9a-z-]+/[!#$&^_.+0-9a-z-]+")
_SECRET_NAMES = ("authorization", "proxy-authorization", "cookie")


@dataclass(frozen=True, slots=True)
class Record:
    """One record before it is compressed: its named fields and the pieces of its block."""

    fields: Headers
    block: tuple[bytes, ...]

    def member(self) -> bytes:
        """The record as one gzip member."""
        packer = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, 31)
        length = sum(map(len, self.block))
        named = "".join([f"{name}: {value}\r\n" for name, value in self.fields])
        head = f"WARC/1.1\r\n{named}Content-Length: {length}\r\n\r\n".encode()
        return b"".join([*map(packer.compress, (head, *self.block, b"\r\n\r\n")), packer.flush()])


@dataclass(frozen=True, slots=True)
class Original:
    """The response record that a later identical one refers to; ``date`` and ``payload_digest`` as they stand in it."""

    target_uri: str
    date: str
    payload_digest: str
    record_id: str = ""  # optional: replay finds the original by URI and date


@dataclass(frozen=True, slots=True)
class CrawlInfo:
    """What the warcinfo record at the head of a segment says of the crawl. It names no machine and no person."""

    software: str  # "Gossamer/1.0"
    user_agent: str
    robots: Literal["obey", "ignore"]


class Redactor:
    """Takes out of a request's head what must not lie in an archive that is passed on."""

    def __init__(self, secret_headers: Iterable[str] = ()) -> None:
        """``secret_headers``: names of headers whose values are secret, beside the well-known ones."""
        names = "|".join(re.escape(name) for name in (*_SECRET_NAMES, *secret_headers))
        # The value runs over folded lines too (RFC 9112 5.2).
        self._secret = re.compile(
            rf"^({names})[ \t]*:(?:[^\n]*\n[ \t])*+[^\n]*?(?=\r?\n|\Z)".encode(), re.IGNORECASE | re.MULTILINE
        )

    def __call__(self, head: bytes) -> bytes:
        """``head`` with secret values as ``[redacted]`` and without user info in its URLs."""
        head = _TARGET_USER_INFO.sub(rb"\1", head)
        head = _REFERER_USER_INFO.sub(rb"\1", head)
        return self._secret.sub(rb"\1: [redacted]", head)


def warcinfo(info: CrawlInfo, *, filename: str, at: float, record_id: UUID) -> Record:
    """The record that describes those after it in the file ``filename``."""
    lines = (("robots", info.robots), ("http-header-user-agent", info.user_agent))
    return description(info.software, lines, filename=filename, at=at, record_id=record_id)


def description(software: str, more: Headers, *, filename: str, at: float, record_id: UUID) -> Record:
    """A warcinfo record (ISO 28500 6.2); ``more`` are named values beside those that say what the file is."""
    lines = (
        ("software", software),
        ("format", "WARC File Format 1.1"),
        ("conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
        *more,
    )
    block = "".join(f"{name}: {' '.join(value.split())}\r\n" for name, value in lines).encode("utf-8", "replace")
    fields = (
        ("WARC-Type", "warcinfo"),
        ("WARC-Record-ID", _urn(record_id)),
        ("WARC-Date", timestamp(at)),
        ("WARC-Filename", " ".join(filename.split())),
        ("Content-Type", "application/warc-fields"),
        ("WARC-Block-Digest", digest_label(sha256(block).digest())),
    )
    return Record(fields, (block,))


def capture(
    exchange: Exchange,
    *,
    ids: tuple[UUID, UUID],
    redact: Redactor,
    content_type: str = "",
    payload_digest: bytes | None = None,
    original: Original | None = None,
) -> tuple[Record, ...]:
    """The response (or revisit) record of an exchange, and the request record that goes with it.

    An exchange that comes from an archive may have no request: then there is no record of it.

    ``ids`` are those of the two, ``content_type`` is what the body was found to be, ``payload_digest`` the sha256 of
    the body as it came, for callers that have it already. A revisit is made only when the
    payload as it came is that of ``original``, so that the head kept with it and the payload kept there fit together.
    """
    response_id, request_id = map(_urn, ids)
    event = _event(exchange)
    named = (
        ("WARC-Record-ID", response_id),
        *event,
        *((("WARC-Concurrent-To", request_id),) if exchange.request_head else ()),
        ("Content-Type", "application/http;msgtype=response"),
    )
    digest = payload_digest or sha256(exchange.body).digest()
    answer = _response(exchange, named, content_type, digest_label(digest), original)
    if not exchange.request_head:
        return (answer,)
    block = redact(_request_head(exchange))
    fields = (
        ("WARC-Type", "request"),
        ("WARC-Record-ID", request_id),
        *event,
        ("WARC-Concurrent-To", response_id),
        ("Content-Type", "application/http;msgtype=request"),
        ("WARC-Block-Digest", digest_label(sha256(block).digest())),
    )
    return answer, Record(fields, (block,))


def _response(
    exchange: Exchange, named: Headers, content_type: str, payload_digest: str, original: Original | None
) -> Record:
    head = _response_head(exchange)
    is_agreed = _readers_agree(head)
    truncated = exchange.truncated in _TRUNCATIONS
    is_whole = is_agreed and not truncated and bool(exchange.body)
    revisit = original if original and is_whole and payload_digest == original.payload_digest else None
    block = (head,) if revisit else (head, exchange.body)
    fields = [
        ("WARC-Type", "revisit" if revisit else "response"),
        *named,
        ("WARC-Block-Digest", digest_label(_digest(block))),
    ]
    if revisit:
        fields += reference(revisit)
    elif is_agreed:
        fields.append(("WARC-Payload-Digest", payload_digest))
    if _CONTENT_TYPE.fullmatch(content_type):
        fields.append(("WARC-Identified-Payload-Type", content_type))
    if truncated:
        fields.append(("WARC-Truncated", exchange.truncated))
    return Record(tuple(fields), block)


def _event(exchange: Exchange) -> Headers:
    """What the records of one capture have in common; they must bear the same date (ISO 28500 5.4)."""
    fields = [("WARC-Date", timestamp(exchange.started_at)), ("WARC-Target-URI", _uri(exchange.url))]
    if _ADDRESS.fullmatch(exchange.address):
        fields.append(("WARC-IP-Address", exchange.address))
    if _PROTOCOL.fullmatch(exchange.protocol):
        fields.append(("WARC-Protocol", exchange.protocol))
    return tuple(fields)


def reference(original: Original) -> Headers:
    """The fields by which a revisit names what it stands for (ISO 28500 6.7.2)."""
    return (
        ("WARC-Profile", REVISIT_PROFILE),
        *((("WARC-Refers-To", original.record_id),) if original.record_id else ()),
        ("WARC-Refers-To-Target-URI", original.target_uri),
        ("WARC-Refers-To-Date", original.date),
        (REFERRED_DIGEST, original.payload_digest),
    )


def split_block(block: bytes) -> tuple[bytes, bytes]:
    """The block of an HTTP record as head and body: the head ends with its first empty line."""
    end = re.search(rb"\n\r?\n", block)
    return (block[: end.end()], block[end.end() :]) if end else (block, b"")


def _readers_agree(head: bytes) -> bool:
    return len(head) <= _MAX_AGREED_HEAD and _AGREED_HEAD.fullmatch(head) is not None


def _request_head(exchange: Exchange) -> bytes:
    """HTTP/2 sends no text: its heads are written as HTTP/1.1, which every reader parses; WARC-Protocol says the rest."""
    if exchange.protocol.startswith("http/1"):
        return exchange.request_head
    return _VERSION_ASKED.sub(rb"\1HTTP/1.1", exchange.request_head)


def _response_head(exchange: Exchange) -> bytes:
    """As `_request_head`; the reason, which HTTP/2 has none of, is filled in (pywb would say ``200 None``)."""
    if exchange.protocol.startswith("http/1"):
        return exchange.response_head
    reason = responses.get(exchange.status, "").encode()
    return _VERSION_ANSWERED.sub(rb"HTTP/1.1 \1 " + reason, exchange.response_head)


def _uri(url: str) -> str:
    """``url`` without user info, and without anything that could end the line it stands in."""
    if _PLAIN_URI.fullmatch(url):
        return url
    return _NOT_IN_URI.sub(lambda found: quote(found[0], safe="", errors="replace"), _URI_USER_INFO.sub(r"\1", url))


def _digest(pieces: Iterable[bytes]) -> bytes:
    digester = sha256()
    for piece in pieces:
        digester.update(piece)
    return digester.digest()


def digest_label(digest: bytes) -> str:
    """A sha256 digest in the form in which WARC fields carry it."""
    return "sha256:" + digest.hex()


def _urn(record_id: UUID) -> str:
    return f"<urn:uuid:{record_id}>"
