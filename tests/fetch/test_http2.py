"""HTTP/2 over TLS, against nginx, where it is installed."""

import asyncio
from collections.abc import Iterator
from contextlib import aclosing

import pytest

from fetch.h2 import PAGE, Nginx, serving
from gossamer.clock import ManualClock
from gossamer.fetch.transport import Transport
from gossamer.records import Address, Exchange, Failure, FailureKind, Request


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    with serving(tmp_path_factory.mktemp("nginx")) as server:
        yield server


def fetch(nginx: Nginx, *paths: str, http2: bool = True, **fields: object) -> list[Exchange | Failure]:
    async def main() -> list[Exchange | Failure]:
        ca_file = str(nginx.folder / "cert.pem")
        address = Address("127.0.0.1", "loopback")
        async with aclosing(Transport("Gossamer/test", ManualClock(), http2=http2, ca_file=ca_file)) as transport:
            urls = [f"https://h2.test:{nginx.port}{path}" for path in paths]
            requests = [Request(url, address, **fields) for url in urls]  # type: ignore[arg-type]
            return list(await asyncio.gather(*map(transport.fetch, requests)))

    return asyncio.run(main())


def exchanges(nginx: Nginx, *paths: str, http2: bool = True, **fields: object) -> list[Exchange]:
    results = fetch(nginx, *paths, http2=http2, **fields)
    assert all(isinstance(result, Exchange) for result in results), results
    return [result for result in results if isinstance(result, Exchange)]


def test_an_exchange_over_http_2(nginx: Nginx) -> None:
    (result,) = exchanges(nginx, "/page.html?a%2eb|c", headers=(("X-Extra", "1"),))
    assert (result.protocol, result.status, result.body, result.truncated) == ("h2", 200, PAGE, "")
    assert result.address == "127.0.0.1"
    assert result.header("x-answer") == "yes"
    assert result.header("content-length") == str(len(PAGE))
    assert result.request_head.startswith(
        f"GET /page.html?a%2eb|c HTTP/1.1\r\nHost: h2.test:{nginx.port}\r\nUser-Agent: Gossamer/test\r\n".encode()
    )
    assert result.response_head.startswith(b"HTTP/1.1 200 \r\nserver: nginx")
    assert result.response_head.endswith(b"\r\n\r\n")
    assert '/page.html?a%2eb|c h2.test "Gossamer/test" "text/html,application/xhtml+xml,*/*;q=0.8"' in nginx.log[-1]
    assert nginx.log[-1].startswith("HTTP/2.0 ")


def test_streams_share_a_connection(nginx: Nginx) -> None:
    before = len(nginx.log)
    results = exchanges(nginx, *(f"/page.html?{n}" for n in range(20)))
    assert all(result.body == PAGE for result in results)
    assert len({line.split()[-1] for line in nginx.log[before:]}) == 1


def test_a_body_over_the_limit_is_cut_and_the_others_are_whole(nginx: Nginx) -> None:
    (result,) = exchanges(nginx, "/page.html", max_body=1000)
    assert (result.truncated, result.body) == ("length", PAGE[:1000])
    assert [result.status for result in exchanges(nginx, "/none", "/page.html")] == [404, 200]


def test_http_2_can_be_left_out(nginx: Nginx) -> None:
    (result,) = exchanges(nginx, "/page.html", http2=False)
    assert (result.protocol, result.body) == ("http/1.1", PAGE)
    assert result.response_head.startswith(b"HTTP/1.1 200 OK\r\n")


def test_no_first_byte_on_one_stream_of_several(nginx: Nginx) -> None:
    silent, page = fetch(nginx, "/silent", "/page.html", first_byte_timeout=0.3)
    assert isinstance(silent, Failure)
    assert silent.kind == FailureKind.FIRST_BYTE_TIMEOUT
    assert isinstance(page, Exchange)
    assert page.body == PAGE


def test_the_whole_time_is_over(nginx: Nginx) -> None:
    silent, begun = fetch(nginx, "/silent", "/begun", timeout=0.4)
    assert isinstance(silent, Failure)
    assert silent.kind == FailureKind.TIMEOUT
    assert isinstance(begun, Exchange)
    assert (begun.truncated, begun.body) == ("time", b"abc")


def test_a_stream_that_breaks_off(nginx: Nginx) -> None:
    (result,) = exchanges(nginx, "/cut")
    assert (result.truncated, result.body) == ("disconnect", b"abc")
