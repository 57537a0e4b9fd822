"""One request with all that goes before it: the name is looked up, the address checked, the connection pinned to it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from gossamer import url as urls
from gossamer.clock import Clock
from gossamer.fetch.identity import Identity
from gossamer.policy import politeness
from gossamer.policy.addresses import permitted
from gossamer.records import Address, Exchange, Failure, FailureKind, Headers, Host, Request
from gossamer.settings import Settings

PENDING = "pending"
"""A seed's own origin whose address has not been looked up yet: the class it first has will be allowed."""

_ADDRESSES_TRIED = 3

OnSent = Callable[[], None]


class Resolver(Protocol):
    """Names to addresses."""

    async def resolve(self, hostname: str) -> tuple[Address, ...] | Failure: ...


class Transport(Protocol):
    """Requests to exchanges."""

    async def fetch(self, request: Request, on_sent: OnSent | None = None) -> Exchange | Failure: ...


class Fetcher:
    """Fetches URLs of known hosts, within the rules about addresses."""

    def __init__(
        self,
        resolver: Resolver,
        transport: Transport,
        settings: Settings,
        headers: Headers,
        clock: Clock,
        identity: Identity,
    ) -> None:
        self.identity = identity
        self._resolver = resolver
        self._transport = transport
        self._settings = settings
        self._headers = headers
        self._clock = clock
        self._doors: dict[str, _Door] = {}

    async def fetch(
        self,
        url: str,
        host: Host,
        *,
        max_body: int | None = None,
        headers: Headers = (),
        on_sent: OnSent | None = None,
    ) -> tuple[Exchange | Failure, str]:
        """The answer, and the class of address that the host is exempt with from now on (empty: none).

        ``headers`` are for this URL alone. ``on_sent`` is called when a request goes over the wire.
        """
        found = await self._resolver.resolve(urls.origin(url).hostname)
        if isinstance(found, Failure):
            return found, ""
        exempt = found[0].kind if host.exempt == PENDING else host.exempt
        allowed = [
            address
            for address in found
            if permitted(address.kind, exempt=exempt, allow_private=self._settings.allow_private)
        ]
        if not allowed:
            hostname = urls.origin(url).hostname
            kinds = ", ".join(f"{address.ip or hostname} is {address.kind}" for address in found[:_ADDRESSES_TRIED])
            return Failure(FailureKind.ADDRESS_REFUSED, kinds, self._clock.now()), exempt
        settings = self._settings
        presented = self.identity.present(url)
        request = Request(
            url,
            allowed[0],
            # ours to the seeds' own origins only; cookies and credentials to whom they belong
            headers=presented.beside((*(self._headers if host.exempt else ()), *headers)),
            certificate=self.identity.certificate(url),
            max_body=settings.max_size if max_body is None else max_body,
            timeout=settings.timeout,
            connect_timeout=settings.connect_timeout,
            first_byte_timeout=settings.first_byte_timeout,
            pause=self._pause(host),
        )
        answer = await self._try_addresses(request, allowed[:_ADDRESSES_TRIED], on_sent)
        if isinstance(answer, Exchange):
            self.identity.learn(answer, presented)
        return answer, exempt

    async def _try_addresses(
        self, request: Request, addresses: list[Address], on_sent: OnSent | None
    ) -> Exchange | Failure:
        """The next address is tried only where the connection itself failed: no request was seen by anybody."""
        answer: Exchange | Failure
        for address in addresses:
            if address is not request.address:
                request = replace(request, address=address)
            async with self._place_at(address):
                answer = await self._transport.fetch(request, on_sent)
            if isinstance(answer, Exchange) or answer.kind not in _NOT_CONNECTED:
                break
        return answer

    def _pause(self, host: Host) -> float | None:
        """Between two requests to the host, as far as it is known.

        None where other fetches of the host may be under way: only the schedule knows when it is asked next.
        """
        setting = politeness.DEFAULT_DELAY if self._settings.delay is None else self._settings.delay
        delay = setting if host.delay is None else host.delay
        if not delay:
            return 0.0
        return delay + politeness.LOG_LAG if self._settings.per_host == 1 else None

    @asynccontextmanager
    async def _place_at(self, address: Address) -> AsyncIterator[None]:
        """An address serves so many connections at once, whatever its names."""
        if address.kind == "loopback" or not address.ip:  # only a proxy knows it
            yield
            return
        door = self._doors.setdefault(address.ip, _Door(asyncio.Semaphore(self._settings.per_address)))
        door.users += 1
        try:
            async with door.places:
                yield
        finally:
            door.users -= 1
            if not door.users:
                self._doors.pop(address.ip, None)


@dataclass(slots=True)
class _Door:
    """The connections to one address."""

    places: asyncio.Semaphore
    users: int = 0  # at it and waiting for it


_NOT_CONNECTED = frozenset({FailureKind.CONNECT_REFUSED, FailureKind.CONNECT_TIMEOUT, FailureKind.UNREACHABLE})
