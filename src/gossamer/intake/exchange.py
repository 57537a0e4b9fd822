"""A record of a foreign archive as the exchange it tells of: what the transport would have brought."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPMethod

from gossamer import url as urls
from gossamer.archive.foreign import ForeignRecord
from gossamer.archive.reader import StoredRecord
from gossamer.archive.warc import split_block
from gossamer.intake.pairing import Capture
from gossamer.parse.body import dechunk, undo
from gossamer.records import Exchange, FailureKind, Headers

_NOTHING_NEW = 304
_TRUNCATIONS = frozenset({"length", "time", "disconnect"})
_PROBE = 64 * 1024  # bytes of output that show whether a coding is really there
_PROTOCOL = re.compile(r"http/\d(?:\.\d)?|h[23]")
_VERSION = re.compile(rb"HTTP/(\d)(?:\.(\d))?")
_INTERIM = re.compile(rb"HTTP/\S+ 1(?!01)\d\d\b")  # RFC 9110 15.2: the answer is still to come; but for 101
_METHOD = re.compile(rb"[A-Za-z]+(?= )")
_COARSE = re.compile(r"\d{4}(?:-\d\d)?")
_DIGITS = re.compile(r"\d{14}")
_LEAP_SECOND = re.compile(r"(T\d\d:\d\d:)60")
_CODINGS = ("transfer-encoding", "content-encoding")
_NOT_MODIFIED = "server-not-modified"


class Passed(Exception):
    """Why a capture is no page of anybody's: it is sound, and passed over."""


class Unsound(Exception):
    """What is missing in a record that was read whole."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What a revisit says of the record that has its payload; each of these may be missing."""

    record_id: str
    url: str  # canonical
    date: float | None
    digest: str


def exchange_of(capture: Capture, limit: int) -> Exchange:
    """The exchange that a capture tells of; of its body at the most ``limit`` bytes.

    The body of a revisit is empty: see `reference_of`. Raises Passed and Unsound.
    """
    record = capture.record
    url = urls.canonicalise(record.field("warc-target-uri").strip("<>"))  # some versions of wget write <http://…>
    if url is None:
        raise Passed(f"{record.type} records of no web address")
    method = _METHOD.match(capture.request)
    if method is not None and method[0].decode() != HTTPMethod.GET:
        raise Passed("answers to other requests than GET")
    started_at = _moment(record.field("warc-date"))
    if started_at is None:
        raise Unsound("the record has no date")
    if _NOT_MODIFIED in record.field("warc-profile"):
        raise Passed("visits that found nothing new")
    is_cut = record.size > len(record.block)
    stored = _honest(_http(record), url, is_cut=is_cut or bool(record.field("warc-truncated")))
    if not stored.status and reference_of(record) is None:
        raise Unsound("there is no HTTP answer in it")
    if stored.status == _NOTHING_NEW:  # whoever asked had a copy already, and it says nothing of what that was
        raise Passed("visits that found nothing new")
    return Exchange(
        url=url,
        request_head=capture.request,
        response_head=stored.head,
        body=stored.body[:limit],
        status=stored.status,
        headers=stored.http_headers,
        address=record.field("warc-ip-address"),
        protocol=_protocol(record, stored.head),
        started_at=started_at,
        answered_at=started_at,
        ended_at=started_at,
        truncated="length" if is_cut or len(stored.body) > limit else _truncated(record),
    )


def reference_of(record: ForeignRecord) -> Reference | None:
    """What a revisit stands for; None where the record is none."""
    if record.type != "revisit":
        return None
    target = record.field("warc-refers-to-target-uri") or record.field("warc-target-uri")
    return Reference(
        record_id=record.field("warc-refers-to"),
        url=urls.canonicalise(target.strip("<>")) or "",
        date=_moment(record.field("warc-refers-to-date")),
        digest=digest_of(record) or record.field("warc-refers-to-payload-digest"),
    )


def made_of(record: ForeignRecord) -> Reference | None:
    """What a conversion was made of, as the text of a page; None for other records."""
    if record.type != "conversion":
        return None
    url = urls.canonicalise(record.field("warc-target-uri").strip("<>")) or ""
    return Reference(record.field("warc-refers-to"), url, _moment(record.field("warc-date")), "")


def digest_of(record: ForeignRecord) -> str:
    """The payload digest of a record as its writer put it."""
    return record.field("warc-payload-digest")


def with_payload(revisit: Exchange, original: StoredRecord) -> Exchange:
    """A revisit with the payload it stands for; with the head of the original, where it has none of its own.

    A head of its own may speak of codings that the payload there has not (any more).
    """
    head = revisit.response_head if revisit.status else original.head
    stored = _honest(replace(original, head=head), revisit.url)
    return replace(
        revisit,
        response_head=stored.head,
        headers=stored.http_headers,
        status=stored.status,
        body=stored.body,
        truncated="",
    )


def _http(record: ForeignRecord) -> StoredRecord:
    """Head and body; what is kept without a head gets one that says what the record says of it."""
    if record.type in ("response", "revisit"):
        head, body = split_block(record.block)
        while _INTERIM.match(head) and body.startswith(b"HTTP/"):
            head, body = split_block(body)
        return StoredRecord(record.fields, head, b"" if record.type == "revisit" else body)
    kind = re.sub(r"[^\x20-\x7e]", "", record.field("content-type")) or "application/octet-stream"
    made = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {record.size}\r\n\r\n"
    return StoredRecord(record.fields, made.encode(), record.block)


def _honest(record: StoredRecord, url: str, *, is_cut: bool = False) -> StoredRecord:
    """Archivers that sit in a browser keep bodies decoded under heads that say otherwise: those lines are renamed.

    ``X-Orig-`` is what such archivers put before them themselves.
    """
    for name in _CODINGS:
        headers = record.http_headers
        values = ",".join(value for key, value in headers if key == name).lower()
        if record.body and values and not _is_coded(values, headers, record.body, url, is_cut=is_cut):
            line = re.compile(rb"^(?=" + name.encode() + rb"[ \t]*:)", re.IGNORECASE | re.MULTILINE)
            record = replace(record, head=line.sub(b"X-Orig-", record.head))
    return record


def _is_coded(values: str, headers: Headers, body: bytes, url: str, *, is_cut: bool) -> bool:
    if "chunked" in values:
        data, is_whole = dechunk(body)
        return is_whole or (is_cut and bool(data)) or len(data) * 2 > len(body)
    failure = undo(headers, body, _PROBE, url=url).failure
    return failure is None or failure.kind is not FailureKind.BODY_UNDECODABLE


def _moment(text: str) -> float | None:
    """A date of WARC (W3C-DTF) in seconds since 1970: of a year, a month or a day the beginning.

    Some writers have the 14 digits of ARC files and indexes instead.
    """
    if _DIGITS.fullmatch(text):
        text = f"{text[:8]}T{text[8:]}"
    elif _COARSE.fullmatch(text):
        text += "-01-01"[len(text) - 4 :]
    try:
        moment = datetime.fromisoformat(_LEAP_SECOND.sub(r"\g<1>59", text))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _truncated(record: ForeignRecord) -> str:
    """Why the end is missing. That of a record in segments lies in continuations (ISO 28500 7), which are passed over."""
    reason = record.field("warc-truncated").lower() or record.field("warc-segment-number")
    return reason if reason in _TRUNCATIONS or not reason else "length"


def _protocol(record: ForeignRecord, head: bytes) -> str:
    named = record.field("warc-protocol").lower()
    if _PROTOCOL.fullmatch(named):
        return named
    version = _VERSION.match(head)
    if version is None or version[1] != b"1":
        return f"h{version[1].decode()}" if version else ""
    return f"http/1.{(version[2] or b'1').decode()}"
