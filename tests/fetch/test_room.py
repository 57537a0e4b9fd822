"""Memory for bodies: large ones wait for each other, on real sockets; no small one waits, and none is lost."""

import asyncio
from contextlib import aclosing

import pytest

from fetch.raw import Handler, RawServer, reply, reply_and_hang
from gossamer.clock import SystemClock
from gossamer.fetch.room import FREE, Room
from gossamer.fetch.transport import Transport
from gossamer.records import Address, Exchange, Failure, Request

SIZE = 1024 * 1024
PIECE = SIZE // 16
BODY = bytes(range(256)) * (SIZE // 256)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % SIZE
SMALL = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


def in_pieces(pause: float = 0.005) -> Handler:
    """A megabyte, so slowly that several are on their way at once."""
    return reply(HEAD, *(BODY[start : start + PIECE] for start in range(0, SIZE, PIECE)), pause=pause)


def request(server: RawServer, **more: float) -> Request:
    return Request(f"http://127.0.0.1:{server.port}/", Address("127.0.0.1", "loopback"), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("limit_rate", [0, 64 * SIZE])
def test_large_bodies_wait_for_each_other(limit_rate: int) -> None:
    async def main() -> tuple[list[Exchange | Failure], int]:
        room, peak = Room(4 * SIZE), 0
        async with aclosing(Transport("test", SystemClock(), room=room, limit_rate=limit_rate)) as transport:

            async def fetch() -> Exchange | Failure:
                answer = await transport.fetch(request(server))
                assert isinstance(answer, Exchange)
                room.keep(len(answer.body))
                await asyncio.sleep(0.05)  # it is parsed and written
                room.let_go(len(answer.body))
                return answer

            fetches = asyncio.gather(*(fetch() for _ in range(12)))
            while not fetches.done():
                peak = max(peak, room.bytes)
                await asyncio.sleep(0.001)
            assert room.bytes == 0
            return await fetches, peak

    with RawServer(in_pieces()) as server:
        answers, peak = asyncio.run(main())
    assert all(isinstance(answer, Exchange) and answer.body == BODY for answer in answers)
    assert SIZE < peak <= 5 * SIZE


def test_without_room_they_do_not() -> None:
    async def main() -> int:
        room, peak = Room(100 * SIZE), 0
        async with aclosing(Transport("test", SystemClock(), room=room)) as transport:
            fetches = asyncio.gather(*(transport.fetch(request(server)) for _ in range(12)))
            while not fetches.done():
                peak = max(peak, room.bytes)
                await asyncio.sleep(0.001)
            return peak

    with RawServer(in_pieces()) as server:
        assert asyncio.run(main()) > 5 * SIZE


def test_no_small_body_waits_for_large_ones_that_hang() -> None:
    async def main() -> list[Exchange | Failure]:
        room = Room(2 * SIZE)
        async with aclosing(Transport("test", SystemClock(), room=room)) as transport:
            large = [asyncio.create_task(transport.fetch(request(hanging, timeout=30))) for _ in range(4)]
            while room.bytes <= SIZE // 2:
                await asyncio.sleep(0.001)
            answers = await asyncio.gather(*(transport.fetch(request(quick)) for _ in range(20)))
            assert not any(task.done() for task in large)
            for task in large:
                task.cancel()
            await asyncio.gather(*large, return_exceptions=True)
            assert room.bytes == 0
            return answers

    with RawServer(reply_and_hang(HEAD, BODY[: SIZE // 2 + FREE])) as hanging, RawServer(reply(SMALL)) as quick:
        answers = asyncio.run(main())
    assert all(isinstance(answer, Exchange) and answer.body == b"hi" for answer in answers)


def test_waiting_for_room_is_not_counted_as_time_of_the_download() -> None:
    """The older one hangs until its time is over; until then there is no room for the other, which has less time."""

    async def main() -> tuple[Exchange | Failure, Exchange | Failure]:
        room = Room(FREE)
        async with aclosing(Transport("test", SystemClock(), room=room)) as transport:
            older = asyncio.create_task(transport.fetch(request(hanging, timeout=2.0)))
            while not room.bytes:
                await asyncio.sleep(0.001)
            return await transport.fetch(request(good, timeout=1.0)), await older

    with RawServer(reply_and_hang(HEAD, BODY[: SIZE // 2])) as hanging, RawServer(reply(HEAD + BODY)) as good:
        younger, older = asyncio.run(main())
    assert isinstance(older, Exchange)
    assert older.truncated == "time"
    assert isinstance(younger, Exchange)
    assert (younger.body, younger.truncated) == (BODY, "")
    assert younger.ended_at - younger.started_at > 1.0


def test_what_waits_to_be_written_holds_up_what_comes() -> None:
    async def main() -> Exchange | Failure:
        room = Room(2 * SIZE)
        room.keep(2 * SIZE)
        async with aclosing(Transport("test", SystemClock(), room=room)) as transport:
            fetch = asyncio.create_task(transport.fetch(request(server, timeout=0.1)))
            await asyncio.sleep(0.3)
            assert not fetch.done()
            assert room.bytes == 2 * SIZE
            room.let_go(2 * SIZE)
            return await fetch

    with RawServer(in_pieces(0.0)) as server:
        answer = asyncio.run(main())
    assert isinstance(answer, Exchange)
    assert answer.body == BODY
