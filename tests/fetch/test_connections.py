"""Connections: kept, pinned, limited, given up, and none left behind."""

import asyncio
import gc
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from fetch.raw import RawServer, refused_port, reply, reply_and_hang
from fetch.test_transport import AGENT, LOOPBACK, OK, SMALL, fetch, with_transport
from gossamer.clock import ManualClock
from gossamer.errors import GossamerError, UsageError
from gossamer.fetch.transport import Transport
from gossamer.records import Address, Exchange, Request

# where it is sent


@pytest.mark.parametrize("host", ["host.test", "host.test.", "HOST.test", "localhost", "192.0.2.7", "[2001:db8::1]"])
def test_every_name_is_pinned_to_the_checked_address(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/")
    with RawServer(reply(SMALL)) as server:
        result = fetch(server, host=host)
    assert isinstance(result, Exchange), result
    assert result.address == "127.0.0.1"
    assert f"\r\nHost: {host}:{server.port}\r\n".encode() in server.heads[0]
    assert server.heads == [result.request_head]


def test_a_connection_to_one_address_is_not_used_for_another() -> None:
    async def use(transport: Transport) -> list[str]:
        url = f"http://host.test:{server.port}/"
        addresses = [LOOPBACK, Address("127.0.0.2", "loopback"), LOOPBACK]
        results = [await transport.fetch(Request(url, address)) for address in addresses]
        return [result.address if isinstance(result, Exchange) else str(result) for result in results]

    with RawServer(reply(SMALL), keeps=True, address="0.0.0.0") as server:
        assert with_transport(use) == ["127.0.0.1", "127.0.0.2", "127.0.0.1"]
        assert server.connections == 2


def test_ipv6() -> None:
    with RawServer(reply(SMALL), address="::1") as server:
        request = Request(f"http://host.test:{server.port}/", Address("::1", "loopback"))
        result = with_transport(lambda transport: transport.fetch(request))
    assert isinstance(result, Exchange), result
    assert result.address == "::1"


# connections


def test_connections_are_kept_and_counted() -> None:
    async def use(transport: Transport) -> None:
        for _ in range(5):
            await transport.fetch(Request(f"http://host.test:{server.port}/", LOOPBACK))
        await transport.fetch(Request(f"http://host.test:{refused_port()}/", LOOPBACK))
        now = transport.statistics()
        assert (now.running, now.exchanges, now.failures, now.connections, now.bytes) == (0, 5, 1, 1, 10)

    with RawServer(reply(SMALL), keeps=True) as server:
        with_transport(use)
        assert server.connections == 1


def test_a_kept_connection_that_died_is_replaced() -> None:
    async def use(transport: Transport) -> None:
        for _ in range(3):
            result = await transport.fetch(Request(f"http://host.test:{server.port}/", LOOPBACK))
            assert isinstance(result, Exchange), result

    with RawServer(reply(SMALL)) as server:  # closes after each answer without having said so
        with_transport(use)
        assert len(server.heads) == 3, "none was asked twice"
        assert 3 <= server.connections <= 5, "libcurl opens one of its own before it hears that it must not ask again"


def test_many_at_once_leave_no_descriptor_behind() -> None:
    async def use(transport: Transport) -> None:
        requests = [Request(f"http://h{n}.test:{server.port}/", LOOPBACK) for n in range(500)]
        results = await asyncio.gather(*(transport.fetch(request) for request in requests))
        assert all(isinstance(result, Exchange) and result.body == b"hi" for result in results)
        assert transport.statistics().exchanges == 500

    with RawServer(reply(SMALL), keeps=True) as server:
        before = _descriptors()
        with_transport(use, max_connections=500)
        with_transport(use, max_connections=20)
        gc.collect()
        assert server.connections == 1000
        # the server shares this process: its ends close in its own time
        assert _settles(lambda: _descriptors() <= before)


def test_connections_at_once_are_limited() -> None:
    most = 0

    async def slow(writer: asyncio.StreamWriter) -> None:
        nonlocal most
        most = max(most, server.open)
        await asyncio.sleep(0.01)
        writer.write(SMALL)

    async def use(transport: Transport) -> None:
        urls = [f"http://h{n}.test:{server.port}/" for n in range(30)]
        results = await asyncio.gather(*(transport.fetch(Request(url, LOOPBACK)) for url in urls))
        assert all(isinstance(result, Exchange) for result in results)

    with RawServer(slow, keeps=True) as server:
        with_transport(use, max_connections=4)
    assert 0 < most <= 5  # the server may see a new one before the end of an old one


@pytest.mark.parametrize("sent", [b"", OK + b"Content-Length: 50\r\n\r\nabc"])
def test_cancelling_closes_the_connection_and_leaves_the_others_alone(sent: bytes) -> None:
    async def use(transport: Transport) -> None:
        request = Request(f"http://host.test:{hung.port}/", LOOPBACK)
        tasks = [asyncio.create_task(transport.fetch(request)) for _ in range(3)]
        while hung.connections < 3:
            await asyncio.sleep(0.005)
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results)
        assert transport.statistics().running == 0
        for _ in range(5):
            other = await transport.fetch(Request(f"http://host.test:{good.port}/", LOOPBACK))
            assert isinstance(other, Exchange)
            assert other.body == b"hi"

    with RawServer(reply_and_hang(sent)) as hung, RawServer(reply(SMALL), keeps=True) as good:
        with_transport(use)


def test_closing_cancels_what_runs_and_refuses_what_comes() -> None:
    async def main() -> None:
        transport = Transport(AGENT, ManualClock())
        request = Request(f"http://host.test:{server.port}/", LOOPBACK)
        task = asyncio.create_task(transport.fetch(request))
        while not server.heads:
            await asyncio.sleep(0.005)
        await transport.aclose()
        await transport.aclose()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(GossamerError):
            await transport.fetch(request)

    with RawServer(reply_and_hang()) as server:
        asyncio.run(main())


def test_a_transport_that_was_never_used_closes() -> None:
    asyncio.run(Transport(AGENT, ManualClock()).aclose())


@pytest.mark.parametrize("content", [None, "nothing in it"])
def test_certificates_that_can_t_be_read(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "ca.pem"
    if content:
        path.write_text(content)
    with pytest.raises(UsageError):
        Transport(AGENT, ManualClock(), ca_file=str(path))


def test_nothing_is_read_from_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".netrc").write_text("machine host.test login me password secret\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    with RawServer(reply(OK + b"Set-Cookie: a=1; Path=/\r\nContent-Length: 0\r\n\r\n"), keeps=True) as server:

        async def use(transport: Transport) -> None:
            for _ in range(2):
                await transport.fetch(Request(f"http://host.test:{server.port}/", LOOPBACK))

        with_transport(use)
        assert server.heads[0] == server.heads[1]
        assert b"secret" not in server.heads[0]
        assert b"Authorization" not in server.heads[0]


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208  # a count, no paths


def _settles(condition: Callable[[], bool]) -> bool:
    done = threading.Event()
    return any(condition() or done.wait(0.02) for _ in range(200))
