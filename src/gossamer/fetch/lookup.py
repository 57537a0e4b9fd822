"""One name looked up: in the hosts file, then in the DNS, by c-ares."""

import asyncio
import contextlib
from dataclasses import dataclass

import aiodns
import pycares

from gossamer.fetch.hosts_file import HostsFile
from gossamer.records import FailureKind

TRY_TIMEOUT = 2.0
"""Seconds until a server is asked again, or the next one; c-ares doubles it with each round."""

TRIES = 3

PATIENCE = 0.25
"""Seconds the other family is waited for when one has answered: some servers never answer AAAA (RFC 8305, section 3
says 50 ms for a browser; a crawler can wait a little longer)."""

HOSTS_TTL = 60.0
"""Seconds what the hosts file says is kept."""

_TIMEOUT = aiodns.error.ARES_ETIMEOUT
_NO_NAME = frozenset(
    {aiodns.error.ARES_ENOTFOUND, aiodns.error.ARES_ENODATA, aiodns.error.ARES_ENONAME, aiodns.error.ARES_EBADNAME}
)


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of a name: addresses of both families, or a failure."""

    ipv4: tuple[str, ...] = ()
    ipv6: tuple[str, ...] = ()
    ttl: float = 0.0  # the shortest of the answer
    failure: FailureKind | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class _Family:
    """What was answered for one type of record."""

    ips: tuple[str, ...] = ()
    ttl: float = 0.0
    error: int = 0  # of c-ares; 0: none
    text: str = ""


class Lookup:
    """Asks ``servers`` (the system's when there are none), never longer than ``timeout`` seconds for a name."""

    def __init__(self, servers: tuple[str, ...], timeout: float) -> None:
        self._servers = servers
        self._timeout = timeout
        self._hosts = HostsFile()
        self._dns: aiodns.DNSResolver | None = None  # made by the first look-up: it belongs to its loop

    async def find(self, name: str) -> Found:
        """What the hosts file or the DNS says of ``name``."""
        ips = self._hosts.find(name)
        if ips:
            ipv4, ipv6 = (tuple(ip for ip in ips if (":" in ip) is wanted) for wanted in (False, True))
            return Found(ipv4, ipv6, HOSTS_TTL)
        if self._dns is None:
            self._dns = aiodns.DNSResolver(self._servers or None, timeout=TRY_TIMEOUT, tries=TRIES)
        return await self._in_dns(self._dns, name)

    async def _in_dns(self, dns: aiodns.DNSResolver, name: str) -> Found:
        tasks = [asyncio.create_task(_query(dns, name, kind)) for kind in ("A", "AAAA")]
        try:
            await self._wait(tasks)
            ipv4, ipv6 = (task.result() if task.done() else _Family(error=_TIMEOUT, text="no answer") for task in tasks)
        finally:
            for task in tasks:
                task.cancel()
        return _joined(ipv4, ipv6)

    async def _wait(self, tasks: "list[asyncio.Task[_Family]]") -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._timeout):
                done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                if waiting:
                    await asyncio.wait(waiting, timeout=PATIENCE if any(task.result().ips for task in done) else None)

    async def aclose(self) -> None:
        """Stop asking."""
        if self._dns is not None:
            await self._dns.close()


async def _query(dns: aiodns.DNSResolver, name: str, kind: str) -> _Family:
    try:
        result = await dns.query_dns(name, kind)
    except aiodns.error.DNSError as error:
        return _Family(error=error.args[0], text=str(error.args[1]))
    wanted = pycares.ARecordData if kind == "A" else pycares.AAAARecordData
    ips = tuple(record.data.addr for record in result.answer if isinstance(record.data, wanted))
    # Of a chain of aliases the shortest-lived link counts.
    ttl = min((record.ttl for record in result.answer), default=0)
    return _Family(ips, ttl, error=0 if ips else aiodns.error.ARES_ENODATA)


def _joined(ipv4: _Family, ipv6: _Family) -> Found:
    answered = [family for family in (ipv4, ipv6) if family.ips]
    if answered:
        return Found(ipv4.ips, ipv6.ips, min(family.ttl for family in answered))
    failed = next((family for family in (ipv4, ipv6) if family.error not in _NO_NAME), None)
    # Some servers say "no such name" where a name only has no AAAA (RFC 4074, section 4.2): of that, A is to be trusted.
    if failed is not None and ipv4.error != aiodns.error.ARES_ENOTFOUND:
        return Found(failure=FailureKind.DNS_FAILURE, detail=failed.text)
    is_unknown = aiodns.error.ARES_ENOTFOUND in (ipv4.error, ipv6.error)
    detail = "no such name" if is_unknown else "the name has no address"
    return Found(failure=FailureKind.DNS_NO_NAME, detail=detail)
