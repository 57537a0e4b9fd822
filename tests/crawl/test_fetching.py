"""One request with all that goes before it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from gossamer.clock import ManualClock
from gossamer.crawl.fetching import PENDING, Fetcher
from gossamer.fetch.identity import Identity
from gossamer.policy.addresses import classify
from gossamer.records import Address, Exchange, Failure, FailureKind, Host, Request
from gossamer.settings import Settings

URL = "http://a.test/x"


@dataclass
class Names:
    answer: tuple[str, ...] | Failure

    async def resolve(self, hostname: str) -> tuple[Address, ...] | Failure:
        if isinstance(self.answer, Failure):
            return self.answer
        return tuple(Address(ip, classify(ip)) for ip in self.answer)


@dataclass
class Wire:
    """A transport that answers when it is told to."""

    answers: dict[str, FailureKind] = field(default_factory=dict)  # by address
    requests: list[Request] = field(default_factory=list)
    running: int = 0
    most: int = 0
    gate: asyncio.Event | None = None

    async def fetch(self, request: Request, on_sent: Callable[[], None] | None = None) -> Exchange | Failure:
        self.requests.append(request)
        self.running += 1
        self.most = max(self.most, self.running)
        if self.gate is not None:
            await self.gate.wait()
        self.running -= 1
        kind = self.answers.get(request.address.ip)
        if kind is not None:
            return Failure(kind)
        return Exchange(request.url, b"", b"", b"", 200, (), request.address.ip, "http/1.1", 0.0, 0.0, 0.0)


def fetcher(names: Names, wire: Wire, **settings: object) -> Fetcher:
    header = (("Authorization", "secret"),)
    clock = ManualClock()
    chosen = Settings(**settings)  # type: ignore[arg-type]  # a test knows their types
    return Fetcher(names, wire, chosen, header, clock, Identity(clock))


def fetch(names: Names, wire: Wire, exempt: str = "", **settings: object) -> tuple[Exchange | Failure, str]:
    host = Host(1, "http://a.test", exempt=exempt)
    return asyncio.run(fetcher(names, wire, **settings).fetch(URL, host))


def kind(answer: Exchange | Failure) -> FailureKind | None:
    return answer.kind if isinstance(answer, Failure) else None


def test_a_name_without_an_address() -> None:
    wire = Wire()
    answer, _ = fetch(Names(Failure(FailureKind.DNS_NO_NAME)), wire)
    assert kind(answer) is FailureKind.DNS_NO_NAME
    assert wire.requests == []


def test_the_request_is_bound_to_the_address_that_was_checked() -> None:
    wire = Wire()
    fetch(Names(("10.0.0.1", "192.0.9.1")), wire, max_size=1000, timeout=7.0)
    (request,) = wire.requests
    assert (request.address.ip, request.max_body, request.timeout) == ("192.0.9.1", 1000, 7.0)


def test_refused_addresses() -> None:
    wire = Wire()
    answer, exempt = fetch(Names(("10.0.0.1", "169.254.169.254")), wire)
    assert str(answer) == "address refused: 10.0.0.1 is private, 169.254.169.254 is metadata"
    assert exempt == ""
    assert wire.requests == []


@pytest.mark.parametrize(
    ("exempt", "ip", "allowed", "known"),
    [
        (PENDING, "127.0.0.1", True, "loopback"),
        (PENDING, "192.0.9.1", True, "public"),
        ("loopback", "127.0.0.9", True, "loopback"),
        ("loopback", "10.0.0.1", False, "loopback"),
        ("public", "127.0.0.1", False, "public"),
        ("loopback", "192.0.9.1", True, "loopback"),
        ("", "127.0.0.1", False, ""),
    ],
)
def test_a_seeds_own_origin(exempt: str, ip: str, allowed: bool, known: str) -> None:
    """It may have an address of the class that it first had, and only it gets the extra headers."""
    wire = Wire()
    answer, found = fetch(Names((ip,)), wire, exempt)
    assert isinstance(answer, Exchange) is allowed
    assert found == known
    assert all(bool(request.headers) is bool(exempt) for request in wire.requests)


def test_the_next_address_is_tried_where_the_connection_failed() -> None:
    wire = Wire({"192.0.9.1": FailureKind.CONNECT_REFUSED, "192.0.9.2": FailureKind.CONNECT_TIMEOUT})
    answer, _ = fetch(Names(("192.0.9.1", "192.0.9.2", "192.0.9.3", "192.0.9.4")), wire)
    assert isinstance(answer, Exchange)
    assert [request.address.ip for request in wire.requests] == ["192.0.9.1", "192.0.9.2", "192.0.9.3"]


def test_no_other_address_is_tried_where_a_request_was_seen() -> None:
    wire = Wire({"192.0.9.1": FailureKind.RESET})
    answer, _ = fetch(Names(("192.0.9.1", "192.0.9.2")), wire)
    assert kind(answer) is FailureKind.RESET


@pytest.mark.parametrize(("ip", "at_once"), [("192.0.9.1", 3), ("127.0.0.1", 10)])
def test_an_address_has_few_connections_whatever_its_names(ip: str, at_once: int) -> None:
    """Not for loopback."""

    async def scenario() -> int:
        wire = Wire(gate=asyncio.Event())
        fetching = fetcher(Names((ip,)), wire, per_address=3, allow_private=True)
        tasks = [
            asyncio.create_task(fetching.fetch(f"http://h{n}.test/", Host(n, f"http://h{n}.test"))) for n in range(10)
        ]
        for _ in range(20):
            await asyncio.sleep(0)
        assert wire.gate is not None
        wire.gate.set()
        await asyncio.gather(*tasks)
        return wire.most

    assert asyncio.run(scenario()) == at_once
