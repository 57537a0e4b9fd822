"""A limit to the bytes a second of all transfers together, on real sockets and by the clock."""

import asyncio
import time
from contextlib import aclosing

import pytest

from fetch.raw import RawServer, reply
from gossamer.clock import SystemClock
from gossamer.fetch.rate import RateLimit
from gossamer.fetch.transport import Transport
from gossamer.records import Address, Exchange, Failure, Request

SIZE = 64 * 1024
BODY = bytes(range(256)) * (SIZE // 256)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % SIZE


def fetch_all(server: RawServer, count: int, limit_rate: int, **more: float) -> tuple[float, list[Exchange | Failure]]:
    """How long so many transfers at once take, and what they bring."""

    async def main() -> tuple[float, list[Exchange | Failure]]:
        async with aclosing(Transport("test", SystemClock(), limit_rate=limit_rate)) as transport:
            url, address = f"http://127.0.0.1:{server.port}/", Address("127.0.0.1", "loopback")
            started = time.monotonic()
            fetches = (transport.fetch(Request(url, address, **more)) for _ in range(count))  # type: ignore[arg-type]
            answers = await asyncio.gather(*fetches)
            return time.monotonic() - started, answers

    return asyncio.run(main())


@pytest.mark.parametrize("count", [1, 4])
def test_all_transfers_together_keep_to_it(count: int) -> None:
    rate = SIZE * 4
    with RawServer(reply(HEAD + BODY)) as server:
        took, answers = fetch_all(server, count, rate * count)
    assert all(isinstance(answer, Exchange) and answer.body == BODY for answer in answers), "paused, and whole"
    expected = count * SIZE / (rate * count)
    assert expected * 0.6 < took < expected * 20


def test_a_tenth_of_the_rate_takes_longer() -> None:
    with RawServer(reply(HEAD + BODY)) as server:
        slow, _ = fetch_all(server, 3, SIZE * 6)
        fast, _ = fetch_all(server, 3, SIZE * 60)
    assert slow > 0.3
    assert slow > fast


def test_without_one_nothing_waits() -> None:
    with RawServer(reply(HEAD + BODY)) as server:
        took, _ = fetch_all(server, 4, 0)
    assert took < 2


def test_a_download_that_is_given_up_while_it_waits_leaves_nothing_behind() -> None:
    with RawServer(reply(HEAD + BODY)) as server:
        took, (answer,) = fetch_all(server, 1, 4096, timeout=0.3)
    assert took < 10
    assert isinstance(answer, Exchange)
    assert answer.truncated == "time"
    assert BODY.startswith(answer.body)


def test_who_waits_comes_in_turn() -> None:
    async def main() -> list[str]:
        limit, order = RateLimit(10_000), []
        assert limit.admits("first", 500, lambda: None)
        for name in ("a", "b", "gone", "c"):
            assert not limit.admits(name, 100, lambda name=name: order.append(name))  # type: ignore[misc]
        limit.forget("gone")
        await asyncio.sleep(0.15)
        limit.close()
        return order

    assert asyncio.run(main()) == ["a", "b", "c"]
