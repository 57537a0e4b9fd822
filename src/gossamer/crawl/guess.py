"""Which scheme a person means who typed none: https is tried, then http."""

import asyncio
import ssl
from contextlib import suppress

from gossamer import url as urls
from gossamer.crawl.fetching import Resolver
from gossamer.records import Failure

_PATIENCE = 5.0


async def with_scheme(url: str, resolver: Resolver) -> str:
    """``url``, an https one, or the same with http where nobody answers the TLS handshake with a good certificate.

    Only a connection is opened, nothing is requested: it costs the server no page and us no politeness.
    """
    origin = urls.origin(url)
    addresses = await resolver.resolve(origin.hostname)
    if isinstance(addresses, Failure):
        return url
    if await _speaks_tls(addresses[0].ip, origin):
        return url
    return f"http{url.removeprefix('https')}"


async def _speaks_tls(ip: str, origin: urls.Origin) -> bool:
    name = origin.hostname.strip("[]").rstrip(".")
    try:
        async with asyncio.timeout(_PATIENCE):
            _, writer = await asyncio.open_connection(
                ip, origin.port, ssl=ssl.create_default_context(), server_hostname=name
            )
    except (OSError, TimeoutError, ValueError):
        return False
    writer.close()
    with suppress(OSError, TimeoutError):
        await writer.wait_closed()
    return True
