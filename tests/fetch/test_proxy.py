"""Through proxies: what they are told, what they are not, and what their refusals mean."""

import asyncio
from contextlib import aclosing

import pytest

from fetch.authority import Authority
from fetch.proxies import HttpProxy, SocksProxy
from fetch.raw import RawServer, refused_port, reply
from gossamer.clock import SystemClock
from gossamer.fetch.proxy import ByProxy
from gossamer.fetch.transport import Transport
from gossamer.records import Address, Exchange, Failure, FailureKind, Headers, Request
from gossamer.settings_secrets import proxy

SMALL = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
SECRET: Headers = (("Authorization", "Basic hunter2"), ("Cookie", "a=hunter2"))


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    authority = Authority(tmp_path_factory.mktemp("authority"))
    authority.make("server", "subjectAltName=DNS:a.test,IP:127.0.0.1", by="root")
    return authority


def fetch(url: str, through: str, *, authority: Authority | None = None, headers: Headers = ()) -> Exchange | Failure:
    async def main() -> Exchange | Failure:
        ca_file = str(authority.file("root")) if authority else None
        transport = Transport("Gossamer/test", SystemClock(), ca_file=ca_file, proxy=proxy(through))
        async with aclosing(transport):
            return await transport.fetch(Request(url, Address("", "public"), headers=headers, timeout=10))

    return asyncio.run(main())


def failure(answer: Exchange | Failure) -> tuple[FailureKind, str]:
    assert isinstance(answer, Failure)
    return answer.kind, answer.detail


def test_plain_http() -> None:
    with RawServer(reply(SMALL)) as server, HttpProxy(server.port) as through:
        answer = fetch("http://a.test:81/x%2ey?q=1", f"http://127.0.0.1:{through.port}")
    assert isinstance(answer, Exchange)
    assert through.seen.heads[0].startswith(b"GET http://a.test:81/x%2ey?q=1 HTTP/1.1\r\nHost: a.test:81\r\n")
    sent = server.heads[0].replace(b"Connection: close\r\n", b"")
    assert answer.request_head == sent, "the archive has what the server got"
    assert answer.address == "", "the proxy's is not the server's"


def test_a_tunnel(authority: Authority) -> None:
    with RawServer(reply(SMALL), tls=authority.serve("server")) as server, HttpProxy(server.port) as through:
        url = "https://a.test/secret/path"
        answer = fetch(url, f"http://127.0.0.1:{through.port}", authority=authority, headers=SECRET)
    assert isinstance(answer, Exchange)
    assert (answer.status, answer.body, answer.address) == (200, b"hi", "")
    assert b"X-Proxy" not in answer.response_head, "the proxy's own answer is none"
    (head,) = through.seen.heads
    assert head.startswith(b"CONNECT a.test:443 HTTP/1.1\r\n")
    assert b"hunter2" not in head
    assert b"secret/path" not in head
    assert b"User-Agent: Gossamer/test\r\n" in head
    assert server.heads == [answer.request_head]


def test_a_proxy_over_tls(authority: Authority) -> None:
    with RawServer(reply(SMALL)) as server, HttpProxy(server.port, tls=authority.serve("server")) as through:
        assert isinstance(fetch("http://a.test/", f"https://127.0.0.1:{through.port}", authority=authority), Exchange)
        kind, _ = failure(fetch("http://a.test/", f"https://127.0.0.1:{through.port}"))
    assert kind == FailureKind.TLS_CERTIFICATE


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
def test_socks(authority: Authority, scheme: str) -> None:
    with RawServer(reply(SMALL), tls=authority.serve("server")) as server, SocksProxy(server.port) as through:
        address = f"{scheme}://127.0.0.1:{through.port}"
        assert isinstance(fetch("https://a.test/", address, authority=authority), Exchange)
        assert isinstance(fetch("https://127.0.0.1:444/", address, authority=authority), Exchange)
    assert through.seen.targets == [("a.test", 443), ("127.0.0.1", 444)], "the proxy looks names up"


def test_credentials_of_the_proxy_go_to_the_proxy() -> None:
    with RawServer(reply(SMALL)) as server, HttpProxy(server.port, login=b"bWU6aHVudGVyMg==") as through:
        answer = fetch("http://a.test/", f"http://me:hunter2@127.0.0.1:{through.port}")
        assert isinstance(answer, Exchange)
        assert b"Proxy-Authorization" not in server.heads[0]
        assert b"Proxy-Authorization" not in answer.request_head
    with RawServer(reply(SMALL)) as server, SocksProxy(server.port, login=(b"me", b"hunter:2")) as socks:
        assert isinstance(fetch("http://a.test/", f"socks5://me:hunter%3A2@127.0.0.1:{socks.port}"), Exchange)
        assert b"hunter" not in server.heads[0]


@pytest.mark.parametrize("url", ["http://a.test/", "https://a.test/"])
def test_a_proxy_that_wants_other_credentials(url: str) -> None:
    with HttpProxy(0, login=b"eDp5") as through:
        answer = fetch(url, f"http://me:hunter2@127.0.0.1:{through.port}")
    assert failure(answer) == (FailureKind.PROXY, "the proxy answered 407")
    with SocksProxy(0, login=(b"x", b"y")) as socks:
        kind, detail = failure(fetch(url, f"socks5://me:hunter2@127.0.0.1:{socks.port}"))
    assert kind == FailureKind.PROXY
    assert "hunter2" not in detail


@pytest.mark.parametrize(
    ("status", "kind"),
    [(b"403", FailureKind.PROXY), (b"502", FailureKind.UNREACHABLE), (b"504", FailureKind.UNREACHABLE)],
)
def test_a_tunnel_that_is_refused(status: bytes, kind: FailureKind) -> None:
    refusal = b"HTTP/1.1 " + status + b" No\r\nContent-Length: 4\r\n\r\nno!!"
    with HttpProxy(0, refusal=refusal) as through:
        answer = fetch("https://a.test/", f"http://127.0.0.1:{through.port}")
    assert failure(answer) == (kind, f"the proxy answered {status.decode()}")


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (1, FailureKind.UNREACHABLE),
        (2, FailureKind.PROXY),
        (3, FailureKind.UNREACHABLE),
        (4, FailureKind.UNREACHABLE),
        (5, FailureKind.CONNECT_REFUSED),
        (6, FailureKind.CONNECT_TIMEOUT),
        (8, FailureKind.PROXY),
    ],
)
def test_what_socks_answers(number: int, kind: FailureKind) -> None:
    with SocksProxy(0, reply=number) as through:
        assert failure(fetch("http://a.test/", f"socks5://127.0.0.1:{through.port}"))[0] == kind


@pytest.mark.parametrize("scheme", ["http", "https", "socks5"])
@pytest.mark.parametrize("url", ["http://a.test/", "https://a.test/"])
def test_a_proxy_that_is_not_there(scheme: str, url: str) -> None:
    assert failure(fetch(url, f"{scheme}://127.0.0.1:{refused_port()}"))[0] == FailureKind.PROXY


def test_the_environment_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{refused_port()}")
    monkeypatch.setenv("no_proxy", "a.test")
    with RawServer(reply(SMALL)) as server, HttpProxy(server.port) as through:
        assert isinstance(fetch("http://a.test/", f"http://127.0.0.1:{through.port}"), Exchange)
        assert len(through.seen.heads) == 1


def test_names_are_the_proxys_matter_and_addresses_ours() -> None:
    async def kinds(*names: str) -> list[Address]:
        return [address for name in names for address in await ByProxy().resolve(name)]

    assert asyncio.run(kinds("example.org", "10.0.0.1", "[::1]", "169.254.169.254", "LOCALHOST", "a.localhost.")) == [
        Address("", "public"),
        Address("10.0.0.1", "private"),
        Address("::1", "loopback"),
        Address("169.254.169.254", "metadata"),
        Address("", "loopback"),
        Address("", "loopback"),
    ]


def test_whether_a_scheme_can_be_spoken(authority: Authority) -> None:
    async def reach(through: str) -> Failure | None:
        transport = Transport(
            "test", SystemClock(), ca_file=str(authority.file("root")), proxy=proxy(through) if through else None
        )
        async with aclosing(transport):
            request = Request(f"https://a.test:{server.port}/", Address("127.0.0.1", "loopback"), timeout=5)
            return await transport.reach(request)

    with RawServer(reply(SMALL), tls=authority.serve("server")) as server:
        assert asyncio.run(reach("")) is None
        with HttpProxy(server.port) as through:
            assert asyncio.run(reach(f"http://127.0.0.1:{through.port}")) is None
        assert server.heads == [], "nothing was asked"
    with RawServer(reply(SMALL), at_once=True) as server:
        refusal = asyncio.run(reach(""))
        assert refusal is not None
        assert refusal.detail == "what answers there is not TLS"
