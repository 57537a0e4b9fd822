"""The resolver against a DNS server on loopback."""

import asyncio
import re
import socket
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakeweb import NXDOMAIN, SERVFAIL, Answer, Names
from fakeweb.names import HANG, Entry
from gossamer.clock import ManualClock
from gossamer.errors import UsageError
from gossamer.fetch.resolver import Resolver
from gossamer.records import Address, Failure, FailureKind

T = TypeVar("T")
MakeNames = Callable[[dict[str, Entry | str]], Names]
ONE = Answer(("192.0.2.1",), ttl=0)  # c-ares has a cache of its own, with real time; it keeps nothing with a TTL of 0


def with_resolver(
    use: Callable[[Resolver], Awaitable[T]], *servers: str, clock: ManualClock | None = None, **options: object
) -> T:
    async def main() -> T:
        resolver = Resolver(clock or ManualClock(1000.0), tuple(servers), **options)  # type: ignore[arg-type]
        async with aclosing(resolver):
            return await use(resolver)

    return asyncio.run(main())


def resolve(names: Names, *hosts: str, **options: object) -> list[tuple[str, ...] | Failure]:
    async def use(resolver: Resolver) -> list[tuple[str, ...] | Failure]:
        return [ips(await resolver.resolve(host)) for host in hosts]

    return with_resolver(use, names.server, **options)  # type: ignore[arg-type]


def ips(answer: tuple[Address, ...] | Failure) -> tuple[str, ...] | Failure:
    return answer if isinstance(answer, Failure) else tuple(address.ip for address in answer)


def test_addresses_and_their_kinds(names: MakeNames) -> None:
    server = names({"a.test": Answer(("8.8.8.8", "10.0.0.1", "127.0.0.1"))})
    answer = with_resolver(lambda resolver: resolver.resolve("a.test"), server.server)
    assert answer == (Address("8.8.8.8", "public"), Address("10.0.0.1", "private"), Address("127.0.0.1", "loopback"))


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", Address("127.0.0.1", "loopback")),
        ("8.8.8.8", Address("8.8.8.8", "public")),
        ("[::1]", Address("::1", "loopback")),
        ("[2001:4860::8888]", Address("2001:4860::8888", "public")),
    ],
)
def test_literals_are_not_asked_for(names: MakeNames, host: str, address: Address) -> None:
    server = names({})
    assert with_resolver(lambda resolver: resolver.resolve(host), server.server) == (address,)
    assert server.queries == []


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "localhost.", "sub.localhost"])
def test_localhost_is_never_asked_for(names: MakeNames, host: str) -> None:
    server = names({"*.localhost": "192.0.2.1", "localhost": "192.0.2.1"})
    (answer,) = resolve(server, host)
    assert "127.0.0.1" in answer  # type: ignore[operator]
    assert server.queries == []


def test_the_hosts_file_goes_first(names: MakeNames) -> None:
    """Whatever else stands in the hosts file of this machine; its first name that is not localhost."""
    rows = [line.partition("#")[0].split() for line in Path("/etc/hosts").read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if len(row) > 1 and re.fullmatch(r"[0-9.]+", row[0]) and "localhost" not in row[1]]
    if not rows:
        pytest.skip("the hosts file has no name but localhost")
    server = names({rows[0][1]: "192.0.2.1"})
    (answer,) = resolve(server, rows[0][1])
    assert rows[0][0] in answer  # type: ignore[operator]
    assert server.queries == []


@pytest.mark.parametrize(
    "host", ["a..test", ".test", "", "x" * 64 + ".test", "a." * 127 + "toolong", "a b.test", "é.test", "a*b", "a\0b"]
)
def test_what_can_t_be_a_name_is_not_asked_for(names: MakeNames, host: str) -> None:
    server = names({})
    (answer,) = resolve(server, host)
    assert isinstance(answer, Failure)
    assert answer.kind == FailureKind.DNS_NO_NAME
    assert server.queries == []


@given(st.text(max_size=80))
def test_no_name_raises(host: str) -> None:
    answer = with_resolver(lambda resolver: resolver.resolve(host), "127.0.0.1:9", timeout=0.01)
    assert isinstance(answer, Failure) or answer


def test_spellings_of_a_name_are_one_name(names: MakeNames) -> None:
    server = names({"a.test": ONE})
    assert resolve(server, "a.test", "A.TEST", "a.test.") == [("192.0.2.1",)] * 3
    assert len(server.queries) == 2  # A and AAAA


def test_aliases_and_truncated_answers(names: MakeNames) -> None:
    many = tuple(f"10.0.{n}.1" for n in range(100))
    server = names({"alias.test": Answer(("192.0.2.7",), cname="real.test"), "big.test": Answer(many, only_tcp=True)})
    alias, big = resolve(server, "alias.test", "big.test")
    assert alias == ("192.0.2.7",)
    assert big == many[:16]
    assert "tcp" in {query.transport for query in server.queries}


def test_both_families_in_turns(names: MakeNames) -> None:
    server = names({"both.test": Answer(("192.0.2.1", "192.0.2.2", "2001:db8::1", "192.0.2.3"))})
    (answer,) = resolve(server, "both.test")
    four, six = "192.0.2.1", "2001:db8::1"
    assert answer in ((four, six, "192.0.2.2", "192.0.2.3"), (six, four, "192.0.2.2", "192.0.2.3"))


# how long


def asked_at(clock: ManualClock, server: Names, host: str, *pauses: float) -> list[int]:
    """How often the DNS was asked, after the first time and after each further pause."""

    async def use(resolver: Resolver) -> list[int]:
        counts = []
        for pause in (0.0, *pauses):
            clock.advance(pause)
            await resolver.resolve(host)
            counts.append(resolver.statistics().looked_up)
        return counts

    return with_resolver(use, server.server, clock=clock)


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        (Answer(("192.0.2.1",), ttl=0), 5.0),
        (Answer(("192.0.2.1",), ttl=100), 100.0),
        (Answer(("192.0.2.1",), ttl=100_000), 3600.0),
        (NXDOMAIN, 300.0),
        (Answer(), 300.0),
        (SERVFAIL, 10.0),
    ],
)
def test_how_long_answers_are_kept(names: MakeNames, answer: Answer, kept: float) -> None:
    server = names({"a.test": answer})
    assert asked_at(ManualClock(), server, "a.test", kept - 0.5, 1.0, kept - 0.5, 1.0) == [1, 1, 2, 2, 3]


def test_the_shortest_ttl_counts(names: MakeNames) -> None:
    families = iter([50, 20])  # A and AAAA, whichever comes first
    server = names({"a.test": lambda _: Answer(("192.0.2.1", "2001:db8::1"), ttl=next(families))})
    assert asked_at(ManualClock(), server, "a.test", 19.0, 2.0) == [1, 1, 2]


def test_a_name_that_moves_is_found_again(names: MakeNames) -> None:
    clock = ManualClock()

    async def use(resolver: Resolver) -> list[tuple[str, ...] | Failure]:
        first = await resolver.resolve("a.test")
        clock.advance(6)
        return [ips(first), ips(await resolver.resolve("a.test"))]

    server = names({"a.test": lambda count: Answer((f"192.0.2.{count}",), ttl=0)})
    assert with_resolver(use, server.server, clock=clock) == [("192.0.2.0",), ("192.0.2.1",)]


def test_the_cache_is_bounded_and_the_longest_unused_go(names: MakeNames) -> None:
    async def use(resolver: Resolver) -> None:
        for host in ("a.test", "b.test", "a.test", "c.test", "a.test"):
            await resolver.resolve(host)
        assert (resolver.statistics().looked_up, resolver.statistics().kept) == (3, 2)
        await resolver.resolve("b.test")
        assert resolver.statistics().looked_up == 4

    with_resolver(use, names({"*.test": ONE}).server, max_names=2)


# failures


def test_no_such_name(names: MakeNames) -> None:
    (answer,) = resolve(names({}), "a.test")
    assert answer == Failure(FailureKind.DNS_NO_NAME, "no such name", 1000.0)


def test_a_name_without_addresses(names: MakeNames) -> None:
    (answer,) = resolve(names({"a.test": Answer()}), "a.test")
    assert answer == Failure(FailureKind.DNS_NO_NAME, "the name has no address", 1000.0)


def test_a_server_that_fails(names: MakeNames) -> None:
    (answer,) = resolve(names({"a.test": SERVFAIL}), "a.test")
    assert isinstance(answer, Failure)
    assert answer.kind == FailureKind.DNS_FAILURE
    assert answer.detail


def test_no_server_at_all() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    answer = with_resolver(lambda resolver: resolver.resolve("a.test"), f"127.0.0.1:{port}", timeout=2.0)
    assert isinstance(answer, Failure)
    assert answer.kind == FailureKind.DNS_FAILURE


def test_a_server_that_hangs_costs_a_bounded_time(names: MakeNames) -> None:
    start = time.monotonic()
    (answer,) = resolve(names({"a.test": HANG}), "a.test", timeout=0.3)
    assert time.monotonic() - start < 3
    assert isinstance(answer, Failure)
    assert (answer.kind, answer.detail) == (FailureKind.DNS_FAILURE, "no answer")


def broken_aaaa(answer: Answer) -> Entry:
    """``names`` tells a function how often a name and type was asked, not which type: the two come in this order."""
    entries = iter([Answer(("192.0.2.1",)), answer])
    return lambda _: next(entries)


@pytest.mark.parametrize("answer", [HANG, SERVFAIL, NXDOMAIN, Answer(rcode=4), Answer(rcode=5)])
def test_a_server_that_is_no_good_at_ipv6(names: MakeNames, answer: Answer) -> None:
    assert resolve(names({"a.test": broken_aaaa(answer)}), "a.test") == [("192.0.2.1",)]


def test_the_second_server_answers_when_the_first_fails(names: MakeNames) -> None:
    first, second = names({"a.test": SERVFAIL}), names({"a.test": ONE})
    answer = with_resolver(lambda resolver: resolver.resolve("a.test"), first.server, second.server)
    assert ips(answer) == ("192.0.2.1",)
    assert first.queries


# at once


def test_one_query_a_name_is_in_flight_and_a_cancelled_waiter_cancels_no_other(names: MakeNames) -> None:
    async def use(resolver: Resolver) -> list[tuple[str, ...] | Failure]:
        waiters = [asyncio.create_task(resolver.resolve("a.test")) for _ in range(50)]
        await asyncio.sleep(0)
        waiters[0].cancel()
        waiters[7].cancel()
        results = await asyncio.gather(*waiters, return_exceptions=True)
        assert isinstance(results[0], asyncio.CancelledError)
        assert isinstance(results[7], asyncio.CancelledError)
        return [ips(result) for result in results if not isinstance(result, BaseException)]

    server = names({"a.test": Answer(("192.0.2.1",), delay=0.1)})
    assert with_resolver(use, server.server) == [("192.0.2.1",)] * 48
    assert Counter(query.type for query in server.queries) == {"A": 1, "AAAA": 1}


def test_many_names_at_once(names: MakeNames) -> None:
    async def use(resolver: Resolver) -> None:
        answers = await asyncio.gather(*(resolver.resolve(f"n{n}.test") for n in range(200)))
        assert {ips(answer) for answer in answers} == {("192.0.2.1",)}

    start = time.monotonic()
    with_resolver(use, names({"*.test": Answer(("192.0.2.1",), delay=0.2)}).server)
    assert time.monotonic() - start < 10  # one after the other: 40 s


def test_closing_ends_what_waits(names: MakeNames) -> None:
    async def main() -> None:
        resolver = Resolver(ManualClock(), (server.server,))
        task = asyncio.create_task(resolver.resolve("a.test"))
        await asyncio.sleep(0.05)
        await resolver.aclose()
        await resolver.aclose()
        with pytest.raises(asyncio.CancelledError):
            await task

    server = names({"a.test": HANG})
    asyncio.run(main())


# servers


@pytest.mark.parametrize(
    "server",
    [
        "",
        "example.org",
        "1.2.3",
        "1.2.3.4:",
        "1.2.3.4:0",
        "1.2.3.4:65536",
        "1.2.3.4:x",
        "[::1",
        "::1:x",
        "[1.2.3.4.5]:53",
        "1.2.3.4,5.6.7.8",
    ],
)
def test_what_is_no_server(server: str) -> None:
    with pytest.raises(UsageError):
        Resolver(ManualClock(), (server,))


@pytest.mark.parametrize("server", ["127.0.0.1", "127.0.0.1:5353", "::1", "[::1]", "[::1]:5353"])
def test_what_is_a_server(server: str) -> None:
    answer = with_resolver(lambda resolver: resolver.resolve("a.test"), server, timeout=0.01)
    assert isinstance(answer, Failure)


def test_a_server_on_ipv6() -> None:
    with Names({"a.test": "192.0.2.1"}, "::1") as server:
        answer = with_resolver(lambda resolver: resolver.resolve("a.test"), f"[::1]:{server.port}")
    assert ips(answer) == ("192.0.2.1",)
