"""The transport against servers that behave, and servers that do not; all over real sockets."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import TypeVar

import pytest

from fetch.raw import Handler, RawServer, endless, refused_port, reply, reply_and_hang, reply_and_reset
from gossamer.clock import SystemClock
from gossamer.errors import UsageError
from gossamer.fetch.transport import Transport
from gossamer.records import Address, Exchange, Failure, FailureKind, Request

T = TypeVar("T")
LOOPBACK = Address("127.0.0.1", "loopback")
OK = b"HTTP/1.1 200 OK\r\n"
SMALL = OK + b"Content-Length: 2\r\n\r\nhi"
AGENT = "Gossamer/test (+https://example.org/)"
ACCEPT = b"Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\nAccept-Encoding: gzip, deflate\r\n"


def with_transport(use: Callable[[Transport], Awaitable[T]], **options: object) -> T:
    async def main() -> T:
        async with aclosing(Transport(AGENT, SystemClock(), **options)) as transport:  # type: ignore[arg-type]
            return await use(transport)

    return asyncio.run(main())


def fetch(server: RawServer, path: str = "/", *, host: str = "host.test", **fields: object) -> Exchange | Failure:
    request = Request(f"http://{host}:{server.port}{path}", LOOPBACK, **fields)  # type: ignore[arg-type]
    return with_transport(lambda transport: transport.fetch(request))


def answer(handler: Handler, **fields: object) -> Exchange | Failure:
    with RawServer(handler) as server:
        return fetch(server, **fields)  # type: ignore[arg-type]


def exchange(handler: Handler, **fields: object) -> Exchange:
    result = answer(handler, **fields)
    assert isinstance(result, Exchange), result
    return result


def failure(handler: Handler, **fields: object) -> Failure:
    result = answer(handler, **fields)
    assert isinstance(result, Failure), result
    return result


# what is sent


def test_nothing_but_our_head_is_sent_and_it_is_recorded_byte_for_byte() -> None:
    with RawServer(reply(SMALL)) as server:
        result = fetch(server, "/a%2e/b|c?q=%zz&x='", headers=(("X-Extra", "é"), ("Referer", "http://r.test/")))
    assert isinstance(result, Exchange)
    head = f"GET /a%2e/b|c?q=%zz&x=' HTTP/1.1\r\nHost: host.test:{server.port}\r\nUser-Agent: {AGENT}\r\n".encode()
    head += ACCEPT + b"X-Extra: \xe9\r\nReferer: http://r.test/\r\n\r\n"
    assert server.heads == [head]
    assert result.request_head == head


def test_headers_of_a_request_replace_ours_and_are_gone_in_the_next() -> None:
    headers = (("accept", "text/plain"), ("X-Empty", ""), ("user-agent", "me"))

    async def use(transport: Transport) -> list[Exchange | Failure]:
        url = f"http://host.test:{server.port}/"
        return [await transport.fetch(Request(url, LOOPBACK, headers=h)) for h in (headers, ())]

    with RawServer(reply(SMALL), keeps=True) as server:
        results = with_transport(use)
    assert [one.request_head for one in results if isinstance(one, Exchange)] == server.heads
    first, second = server.heads
    assert first.endswith(b"Accept-Encoding: gzip, deflate\r\naccept: text/plain\r\nX-Empty:\r\nuser-agent: me\r\n\r\n")
    assert first.lower().count(b"accept:") == first.lower().count(b"user-agent:") == 1
    assert second.endswith(f"User-Agent: {AGENT}\r\n".encode() + ACCEPT + b"\r\n")


@pytest.mark.parametrize(
    "header",
    [
        ("X", "a\r\nY: b"),
        ("X", "a\nb"),
        ("X", "a\0b"),
        ("X\r\nY", "a"),
        ("", "a"),
        ("X:", "a"),
        ("X", "ł"),
        ("Host", "other.test"),
        ("Content-Length", "5"),
        ("Transfer-Encoding", "chunked"),
    ],
)
def test_headers_that_would_break_out_are_refused(header: tuple[str, str]) -> None:
    with RawServer(reply(SMALL)) as server:
        with pytest.raises(UsageError):
            fetch(server, headers=(header,))
        assert server.connections == 0


@pytest.mark.parametrize(
    "url",
    [
        "http://host.test/a\r\nX: y",
        "http://host.test/a b",
        "http://host.test/\0",
        "http://host.test/é",
        "http://user:pw@host.test/",
        "http://host.test:80@evil.test/",
        "http://host.test",
        "http://host.test/#f",
        "file:///etc/hostname",
        "ftp://host.test/",
        "",
    ],
)
def test_only_canonical_urls_are_fetched(url: str) -> None:
    with pytest.raises(UsageError):
        with_transport(lambda transport: transport.fetch(Request(url, LOOPBACK)))


# what comes back


def test_an_exchange() -> None:
    head = (
        OK
        + b"Content-Type:  text/html \r\nSet-Cookie: a=1\r\nset-cookie: b=\xe9\r\nX-Empty:\r\nContent-Length: 2\r\n\r\n"
    )
    before = time.time()
    result = exchange(reply(head + b"hi"), path="/page")
    assert (result.url.rpartition(":")[2].partition("/")[2], result.status, result.body) == ("page", 200, b"hi")
    assert result.response_head == head
    assert result.headers == (
        ("content-type", "text/html"),
        ("set-cookie", "a=1"),
        ("set-cookie", "b=é"),
        ("x-empty", ""),
        ("content-length", "2"),
    )
    assert (result.protocol, result.truncated) == ("http/1.1", "")
    assert before <= result.started_at <= result.answered_at <= result.ended_at <= time.time()


def test_the_body_comes_with_its_codings_on() -> None:
    body = b"5\r\nhello\r\n3;x=y\r\nabc\r\n0\r\nTrail: er\r\n\r\n"
    headers = b"Transfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"
    result = exchange(reply(OK + headers + body))
    assert (result.body, result.truncated) == (body, "")
    assert [name for name, _ in result.headers] == ["transfer-encoding", "content-encoding"]


@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
def test_interim_answers_are_left_out(end: bytes) -> None:
    interim = b"HTTP/1.1 100 Continue" + end * 2 + b"HTTP/1.1 103 Early Hints" + end + b"Link: </a>" + end * 2
    result = exchange(reply(interim + SMALL))
    assert (result.status, result.response_head) == (200, OK + b"Content-Length: 2\r\n\r\n")


def test_line_ends_without_cr_are_kept() -> None:
    result = exchange(reply(b"HTTP/1.1 404 No\nX: y\nContent-Length: 2\n\nhi"))
    assert (result.status, result.headers[0]) == (404, ("x", "y"))
    assert result.response_head == b"HTTP/1.1 404 No\nX: y\nContent-Length: 2\n\n"


@pytest.mark.parametrize("status", [101, 204, 301, 304, 404, 599, 999])
def test_any_status_is_an_exchange_and_nothing_is_followed(status: int) -> None:
    with RawServer(
        reply(f"HTTP/1.1 {status} Why\r\nLocation: /elsewhere\r\nConnection: close\r\n\r\n".encode())
    ) as server:
        result = fetch(server)
        assert isinstance(result, Exchange), result
        assert (result.status, len(server.heads)) == (status, 1)


def test_http_1_0_and_what_libcurl_asks_after_it() -> None:
    async def use(transport: Transport) -> list[Exchange | Failure]:
        return [await transport.fetch(Request(f"http://host.test:{server.port}/", LOOPBACK)) for _ in range(3)]

    old = b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi"
    with RawServer(reply(old), keeps=True) as server:
        results = [result for result in with_transport(use) if isinstance(result, Exchange)]
    assert [result.protocol for result in results] == ["http/1.0"] * 3
    assert [result.request_head for result in results] == server.heads
    assert [head.partition(b"\r\n")[0].split()[-1] for head in server.heads] == [b"HTTP/1.1", b"HTTP/1.0", b"HTTP/1.0"]


def test_a_body_of_the_limit_is_whole_and_one_byte_more_is_cut() -> None:
    assert exchange(reply(OK + b"Content-Length: 1000\r\n\r\n" + b"x" * 1000), max_body=1000).truncated == ""
    cut = exchange(reply(OK + b"Content-Length: 1001\r\n\r\n" + b"x" * 1001), max_body=1000)
    assert (cut.truncated, cut.body) == ("length", b"x" * 1000)


def test_an_endless_body_is_cut_at_the_limit() -> None:
    result = exchange(endless(b"x" * 65536, OK + b"\r\n"), max_body=1_000_000)
    assert (result.truncated, len(result.body)) == ("length", 1_000_000)


# bodies that break off


@pytest.mark.parametrize(
    ("sent", "body"),
    [
        (b"Content-Length: 5000\r\n\r\n" + b"x" * 100, b"x" * 100),
        (b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", b"5\r\nhello\r\n"),
        (b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nff\r\nab", b"5\r\nhello\r\nff\r\nab"),
        (b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\nab", b"5\r\nhello\r\nzz\r\nab"),
    ],
)
def test_a_connection_lost_in_the_body(sent: bytes, body: bytes) -> None:
    result = exchange(reply(OK + sent))
    assert (result.truncated, result.body) == ("disconnect", body)


def test_a_reset_in_the_body() -> None:
    result = exchange(reply_and_reset(OK + b"Content-Length: 5000\r\n\r\nabc"))
    assert (result.truncated, result.body) == ("disconnect", b"abc")


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    result = exchange(reply(OK + b"\r\nabc"))
    assert (result.truncated, result.body) == ("", b"abc")


def test_the_whole_time_is_over_in_the_body() -> None:
    result = exchange(reply_and_hang(OK + b"Content-Length: 5000\r\n\r\nabc"), timeout=0.2)
    assert (result.truncated, result.body) == ("time", b"abc")
    assert 0.19 < result.ended_at - result.started_at < 2


def test_a_body_that_drips_ends_with_the_whole_time() -> None:
    result = exchange(endless(b"x", OK + b"Content-Length: 5000\r\n\r\n", pause=0.01), timeout=0.3)
    assert result.truncated == "time"
    assert 0 < len(result.body) < 100


# no answer


def test_refused() -> None:
    request = Request(f"http://host.test:{refused_port()}/", LOOPBACK)
    result = with_transport(lambda transport: transport.fetch(request))
    assert isinstance(result, Failure)
    assert result.kind == FailureKind.CONNECT_REFUSED
    assert 0 <= time.time() - result.at < 10


def test_unreachable() -> None:
    request = Request(
        "http://host.test/", Address("255.255.255.255", "reserved")
    )  # broadcast: no system connects there
    result = with_transport(lambda transport: transport.fetch(request))
    assert isinstance(result, Failure)
    assert result.kind == FailureKind.UNREACHABLE


def test_a_server_that_never_ends_the_handshake() -> None:
    with RawServer(reply_and_hang()) as server:
        request = Request(f"https://host.test:{server.port}/", LOOPBACK, connect_timeout=0.2)
        result = with_transport(lambda transport: transport.fetch(request))
    assert isinstance(result, Failure)
    assert result.kind == FailureKind.CONNECT_TIMEOUT


def test_no_first_byte() -> None:
    result = failure(reply_and_hang(), first_byte_timeout=0.2)
    assert result.kind == FailureKind.FIRST_BYTE_TIMEOUT
    assert result.detail == "no answer within 0.2 s"


def test_a_first_byte_in_time_is_enough() -> None:
    late = reply(OK + b"Content-Length: 2\r\n\r\n", b"h", b"i", pause=0.2)
    assert exchange(late, first_byte_timeout=0.15).body == b"hi"


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\nX: y\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"])
def test_the_whole_time_is_over_before_the_body(sent: bytes) -> None:
    assert failure(reply_and_hang(sent), timeout=0.2).kind == FailureKind.TIMEOUT


def test_a_head_that_drips() -> None:
    assert failure(endless(b"X: y\r\n", OK, pause=0.01), timeout=0.3).kind == FailureKind.TIMEOUT


@pytest.mark.parametrize(
    "handler", [reply(), reply_and_reset(), reply(b"HTTP/1.1 200 OK\r\nX: y\r\n"), reply(b"HTTP/1")]
)
def test_closed_without_an_answer(handler: Handler) -> None:
    result = failure(handler)
    assert result.kind in (FailureKind.RESET, FailureKind.NOT_HTTP), result
    assert result.detail


def test_closed_inside_the_headers_is_no_answer() -> None:
    assert failure(reply(OK + b"Content-Length: 2\r\n")).kind == FailureKind.RESET


@pytest.mark.parametrize(
    "sent",
    [
        b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n",
        b"<html>HTTP/0.9</html>",
        b"220 ftp.example ready\r\n",
        b"\x16\x03\x01\x02\x00\x01",
        b"HTTP/1.1 20\r\n\r\n",
        b"HTTP/1.1 2000 Big\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/2 200 OK\r\nContent-Length: 0\r\n\r\n",
        OK + b"no colon\r\n\r\n",
        OK + b"X: a\0b\r\n\r\n",
        OK + b"X: a\rb\r\n\r\n",
    ],
)
def test_what_is_not_http(sent: bytes) -> None:
    result = failure(reply(sent))
    assert result.kind == FailureKind.NOT_HTTP, result
    assert "\0" not in result.detail


@pytest.mark.parametrize(
    "handler",
    [
        endless(b"X-Filler: " + b"x" * 1000 + b"\r\n", OK),
        endless(b"A: b\r\n", OK),
        endless(b"x" * 1000, OK + b"X: "),
        endless(b"HTTP/1.1 102 Processing\r\n\r\n"),
    ],
)
def test_heads_without_end(handler: Handler) -> None:
    assert failure(handler, timeout=20).kind == FailureKind.HEADERS_TOO_LARGE


def test_a_host_that_dns_has_no_name_for() -> None:
    result = with_transport(lambda transport: transport.fetch(Request("http://a*b/", LOOPBACK)))
    assert isinstance(result, Failure)
    assert result.kind == FailureKind.DNS_NO_NAME
