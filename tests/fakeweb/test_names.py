"""The DNS server, asked by c-ares and over plain sockets."""

import asyncio
import socket
import struct

import aiodns
import pytest

from fakeweb import NXDOMAIN, SERVFAIL, Answer, Names
from fakeweb.names import HANG


def resolve(names: Names, name: str, kind: str = "A", timeout: float = 5.0) -> list[tuple[str, int]]:
    async def query() -> list[tuple[str, int]]:
        resolver = aiodns.DNSResolver(nameservers=[names.server], timeout=timeout, tries=1)
        try:
            result = await resolver.query_dns(name, kind)
            return [(record.data.addr, record.ttl) for record in result.answer if hasattr(record.data, "addr")]
        finally:
            await resolver.close()

    return asyncio.run(query())


def test_addresses_with_their_ttl() -> None:
    with Names({"a.example": "127.0.0.5", "b.example": Answer(("127.0.0.6", "127.0.0.7", "::1"), ttl=9)}) as names:
        assert resolve(names, "a.example") == [("127.0.0.5", 60)]
        assert resolve(names, "B.example") == [("127.0.0.6", 9), ("127.0.0.7", 9)]
        assert resolve(names, "b.example", "AAAA") == [("::1", 9)]
        assert {(query.name, query.transport) for query in names.queries} == {
            ("a.example", "udp"),
            ("b.example", "udp"),
        }


def test_other_names() -> None:
    with Names({"*.w.example": "127.0.0.5", "alias.example": Answer(("127.0.0.8",), cname="real.example")}) as names:
        assert resolve(names, "x.y.w.example") == [("127.0.0.5", 60)]
        assert resolve(names, "alias.example") == [("127.0.0.8", 60)]


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (NXDOMAIN, aiodns.error.ARES_ENOTFOUND),
        (SERVFAIL, aiodns.error.ARES_ESERVFAIL),
        (HANG, aiodns.error.ARES_ETIMEOUT),
        (Answer(), aiodns.error.ARES_ENODATA),
    ],
)
def test_failures(answer: Answer, code: int) -> None:
    with Names({"a.example": answer}) as names:
        with pytest.raises(aiodns.error.DNSError) as caught:
            resolve(names, "a.example", timeout=0.3)
        assert caught.value.args[0] == code


def test_names_that_change() -> None:
    with Names({"a.example": lambda count: Answer((f"127.0.0.{count + 1}",), ttl=0)}) as names:
        assert [resolve(names, "a.example")[0][0] for _ in range(3)] == ["127.0.0.1", "127.0.0.2", "127.0.0.3"]


def test_a_truncated_answer_is_asked_again_by_tcp() -> None:
    with Names({"a.example": Answer(("127.0.0.5",), only_tcp=True)}) as names:
        assert resolve(names, "a.example") == [("127.0.0.5", 60)]
        assert [query.transport for query in names.queries] == ["udp", "tcp"]


def test_rubbish_is_not_answered_and_does_no_harm() -> None:
    with Names({"a.example": "127.0.0.5"}) as names:
        with socket.create_connection((names.server.split(":")[0], names.port), timeout=5) as client:
            client.sendall(struct.pack("!H", 3) + b"abc")
        assert resolve(names, "a.example") == [("127.0.0.5", 60)]
