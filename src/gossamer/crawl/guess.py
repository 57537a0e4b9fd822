"""Which scheme a person means who typed none: https is tried, then http."""

from typing import Protocol

from gossamer import url as urls
from gossamer.crawl.fetching import Resolver
from gossamer.records import Failure, Request

_PATIENCE = 5.0


class Transport(Protocol):
    """Connections that nothing is asked over."""

    async def reach(self, request: Request) -> Failure | None: ...


async def with_scheme(url: str, resolver: Resolver, transport: Transport) -> str:
    """``url``, an https one, or the same with http where nobody answers the TLS handshake with a good certificate.

    Only a connection is opened, nothing is requested: it costs the server no page and us no politeness.
    """
    addresses = await resolver.resolve(urls.origin(url).hostname)
    if isinstance(addresses, Failure):
        return url
    request = Request(url, addresses[0], timeout=_PATIENCE, connect_timeout=_PATIENCE)
    return url if await transport.reach(request) is None else f"http{url.removeprefix('https')}"
