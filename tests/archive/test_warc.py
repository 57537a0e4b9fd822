import gzip
import time
from dataclasses import replace
from hashlib import sha256
from uuid import UUID

import pytest

from gossamer.archive.warc import GZIP_HEADER, Original, Record, Redactor, capture, split_block, warcinfo
from gossamer.records import Exchange

from .samples import ALL_KINDS, INFO, NOON, PAGE, chunked, exchange, head

RESPONSE_ID = UUID("11111111-1111-4111-8111-111111111111")
REQUEST_ID = UUID("22222222-2222-4222-8222-222222222222")
ORIGINAL = Original(
    target_uri="http://example.org/first",
    date="2025-12-31T23:59:59.000Z",
    payload_digest="sha256:65a568b1fb9ce6f905ceaf99f97f6cfd9d7ad4afa76b6e73b5fbce538acce148",
    record_id="<urn:uuid:33333333-3333-4333-8333-333333333333>",
)


def records(exchanged: Exchange, **options: object) -> tuple[Record, Record]:
    answer, request = capture(exchanged, ids=(RESPONSE_ID, REQUEST_ID), redact=Redactor(), **options)  # type: ignore[arg-type]
    return answer, request


def fields(record: Record) -> dict[str, str]:
    return dict(record.fields)


def test_golden_response() -> None:
    answer, _ = records(exchange(), content_type="text/html")
    assert gzip.decompress(answer.member()) == (
        b"WARC/1.1\r\n"
        b"WARC-Type: response\r\n"
        b"WARC-Record-ID: <urn:uuid:11111111-1111-4111-8111-111111111111>\r\n"
        b"WARC-Date: 2026-01-01T00:00:00.123Z\r\n"
        b"WARC-Target-URI: http://example.org/\r\n"
        b"WARC-IP-Address: 192.0.2.1\r\n"
        b"WARC-Protocol: http/1.1\r\n"
        b"WARC-Concurrent-To: <urn:uuid:22222222-2222-4222-8222-222222222222>\r\n"
        b"Content-Type: application/http;msgtype=response\r\n"
        b"WARC-Block-Digest: sha256:60ed7fbe1b26e960cd4c1497b38b8513b3862ac001948499d2b112c2a3947e91\r\n"
        b"WARC-Payload-Digest: sha256:65a568b1fb9ce6f905ceaf99f97f6cfd9d7ad4afa76b6e73b5fbce538acce148\r\n"
        b"WARC-Identified-Payload-Type: text/html\r\n"
        b"Content-Length: 86\r\n"
        b"\r\n"
        b"HTTP/1.1 200 OK\r\n"
        b"Content-Type: text/html\r\n"
        b"\r\n"
        b"<!doctype html><title>Page</title><p>Hello"
        b"\r\n\r\n"
    )


def test_golden_request() -> None:
    _, request = records(exchange())
    assert gzip.decompress(request.member()) == (
        b"WARC/1.1\r\n"
        b"WARC-Type: request\r\n"
        b"WARC-Record-ID: <urn:uuid:22222222-2222-4222-8222-222222222222>\r\n"
        b"WARC-Date: 2026-01-01T00:00:00.123Z\r\n"
        b"WARC-Target-URI: http://example.org/\r\n"
        b"WARC-IP-Address: 192.0.2.1\r\n"
        b"WARC-Protocol: http/1.1\r\n"
        b"WARC-Concurrent-To: <urn:uuid:11111111-1111-4111-8111-111111111111>\r\n"
        b"Content-Type: application/http;msgtype=request\r\n"
        b"WARC-Block-Digest: sha256:3117431d2024a559a6bbbab11cfa03cb1551db6abeac0913aac6a17632d1113a\r\n"
        b"Content-Length: 37\r\n"
        b"\r\n"
        b"GET / HTTP/1.1\r\n"
        b"Host: example.org\r\n"
        b"\r\n"
        b"\r\n\r\n"
    )


def test_golden_warcinfo() -> None:
    record = warcinfo(INFO, filename="a.warc.gz", at=NOON, record_id=RESPONSE_ID)
    assert gzip.decompress(record.member()) == (
        b"WARC/1.1\r\n"
        b"WARC-Type: warcinfo\r\n"
        b"WARC-Record-ID: <urn:uuid:11111111-1111-4111-8111-111111111111>\r\n"
        b"WARC-Date: 2026-01-01T00:00:00.123Z\r\n"
        b"WARC-Filename: a.warc.gz\r\n"
        b"Content-Type: application/warc-fields\r\n"
        b"WARC-Block-Digest: sha256:36038b652f465219cada4557dcd0b75ab1e53dc689981fbb691eb02115a4c0df\r\n"
        b"Content-Length: 222\r\n"
        b"\r\n"
        b"software: Gossamer/0\r\n"
        b"format: WARC File Format 1.1\r\n"
        b"conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n"
        b"robots: obey\r\n"
        b"http-header-user-agent: Gossamer/0 (+https://crawler.example/)\r\n"
        b"\r\n\r\n"
    )


def test_every_member_begins_as_the_reader_expects() -> None:
    """isal writes this header; were a version of it to write another, the reader would call all of it damage."""
    assert Record((), (b"",)).member()[:10] == GZIP_HEADER


def test_identical_payload_becomes_a_revisit() -> None:
    answer, request = records(exchange(url="http://example.org/second"), original=ORIGINAL)
    found = fields(answer)
    assert found["WARC-Type"] == "revisit"
    assert found["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    assert found["WARC-Refers-To"] == ORIGINAL.record_id
    assert found["WARC-Refers-To-Target-URI"] == ORIGINAL.target_uri
    assert found["WARC-Refers-To-Date"] == ORIGINAL.date
    assert found["WARC-Refers-To-Payload-Digest"] == ORIGINAL.payload_digest
    assert answer.block == (exchange().response_head,)
    assert fields(request)["WARC-Concurrent-To"] == found["WARC-Record-ID"]


def test_a_revisit_needs_no_record_id_of_its_original() -> None:
    answer, _ = records(exchange(), original=replace(ORIGINAL, record_id=""))
    assert "WARC-Refers-To" not in fields(answer)
    assert "WARC-Refers-To-Target-URI" in fields(answer)


def test_a_payload_digest_that_is_known_is_taken() -> None:
    digest = sha256(PAGE).digest()
    assert records(exchange(), payload_digest=digest) == records(exchange())


@pytest.mark.parametrize(
    "changes",
    [
        {"body": PAGE + b"!"},
        {"body": chunked(PAGE)},  # the same page, but the payload as it came differs
        {"body": b""},
        {"truncated": "length"},
        {"response_head": b"HTTP/1.1 200 OK\n\n"},  # readers disagree on where the payload begins
    ],
)
def test_anything_else_is_kept_whole(changes: dict[str, object]) -> None:
    answer, _ = records(exchange(**changes), original=ORIGINAL)
    assert fields(answer)["WARC-Type"] == "response"


@pytest.mark.parametrize("kind", ["bare LF", "white line", "huge head"])
def test_no_payload_digest_where_readers_disagree_on_the_head(kind: str) -> None:
    answer, _ = records(ALL_KINDS[kind])
    assert "WARC-Payload-Digest" not in fields(answer)
    assert "WARC-Block-Digest" in fields(answer)


def test_hostile_head_costs_no_time() -> None:
    hostile = b"HTTP/1.1 200 OK\r\n" + b"a " * 16_000 + b"\n\r\n\r\n"
    started = time.perf_counter()
    records(exchange(response_head=hostile))
    assert time.perf_counter() - started < 1


def test_http2_is_written_as_http1() -> None:
    answer, request = records(ALL_KINDS["http/2"])
    assert answer.block[0] == head("HTTP/1.1 200 OK", "content-type: text/html")
    assert request.block[0] == head("GET /h2 HTTP/1.1", "Host: example.org")
    assert fields(answer)["WARC-Protocol"] == "h2"


@pytest.mark.parametrize("word", ["length", "time", "disconnect"])
def test_truncation_is_marked(word: str) -> None:
    answer, request = records(exchange(truncated=word))
    assert fields(answer)["WARC-Truncated"] == word
    assert "WARC-Truncated" not in fields(request)


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("Authorization: Basic c2VjcmV0", "Authorization: [redacted]"),
        ("proxy-authorization:secret", "proxy-authorization: [redacted]"),
        ("COOKIE: a=secret; b=secret", "COOKIE: [redacted]"),
        ("Cookie : secret", "Cookie: [redacted]"),
        ("Cookie: sec\r\n ret\r\n\tsecret", "Cookie: [redacted]"),
        ("Cookie: a\rsecret", "Cookie: [redacted]"),
        ("X-Token: secret", "X-Token: [redacted]"),
        ("X-Tokens: public", "X-Tokens: public"),
        ("Referer: http://user:secret@example.org/a@b", "Referer: http://example.org/a@b"),
        ("Accept: text/html", "Accept: text/html"),
    ],
)
def test_secrets_do_not_reach_the_archive(line: str, kept: str) -> None:
    request = head("GET / HTTP/1.1", "Host: example.org", line, "Accept-Encoding: gzip")
    redact = Redactor(["x-token"])
    assert redact(request) == head("GET / HTTP/1.1", "Host: example.org", kept, "Accept-Encoding: gzip")


def test_user_info_is_stripped() -> None:
    request = b"GET http://us:secret@er@example.org/?u=http://a@b HTTP/1.1\r\n\r\n"
    assert Redactor()(request) == b"GET http://example.org/?u=http://a@b HTTP/1.1\r\n\r\n"
    answer, _ = records(exchange(url="http://us@er:secret@example.org/?u=http://a@b"))
    assert fields(answer)["WARC-Target-URI"] == "http://example.org/?u=http://a@b"


def test_nothing_adds_a_field_of_its_own() -> None:
    hostile = exchange(
        url="http://example.org/a b\r\nX: y\x00\ud800é",
        address="192.0.2.1\r\nX: y",
        protocol="h9\r\nX: y",
        truncated="length\r\nX: y",
    )
    answer, request = records(hostile, content_type="text/html\r\nX: y")
    for record in (answer, request):
        written = gzip.decompress(record.member()).partition(b"\r\n\r\n")[0]
        assert b"\r\nX: y" not in written
        assert b"WARC-Target-URI: http://example.org/a%20b%0D%0AX:%20y%00%3F%C3%A9\r\n" in written


def test_user_agent_stays_on_its_line() -> None:
    info = warcinfo(
        type(INFO)("a", "b\r\nrobots: ignore", "obey"), filename="a.warc.gz", at=NOON, record_id=RESPONSE_ID
    )
    assert info.block[0].count(b"\r\n") == 5


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_a_block_is_split_where_it_was_joined(kind: str) -> None:
    sample = ALL_KINDS[kind]
    assert split_block(sample.response_head + sample.body) == (sample.response_head, sample.body)


def test_a_block_without_an_empty_line_is_all_head() -> None:
    assert split_block(b"HTTP/1.1 200 OK\r\n") == (b"HTTP/1.1 200 OK\r\n", b"")


def test_an_exchange_without_a_request_is_one_record() -> None:
    """As archives of others have them: nothing is made up."""
    (answer,) = capture(exchange(request_head=b""), ids=(RESPONSE_ID, REQUEST_ID), redact=Redactor())
    assert dict(answer.fields)["WARC-Type"] == "response"
    assert "WARC-Concurrent-To" not in dict(answer.fields)
