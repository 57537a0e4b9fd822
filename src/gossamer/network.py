"""The way to the servers as the settings want it: straight, with look-ups of our own, or through a proxy."""

import logging

from gossamer.agent import user_agent
from gossamer.clock import Clock
from gossamer.crawl import guess
from gossamer.crawl.fetching import Fetcher
from gossamer.fetch.identity import Identity
from gossamer.fetch.proxy import NOTICE, ByProxy
from gossamer.fetch.resolver import Resolver
from gossamer.fetch.room import Room
from gossamer.fetch.transport import Transport
from gossamer.records import Headers
from gossamer.settings import Settings
from gossamer.settings_secrets import proxy

log = logging.getLogger("gossamer.network")


class Network:
    """Resolver and transport. UsageError for settings that can't be used, as a file without certificates."""

    def __init__(self, settings: Settings, clock: Clock, max_connections: int) -> None:
        through = proxy(settings.proxy) if settings.proxy else None
        if through is not None:
            log.warning("%s", NOTICE)
        self._settings = settings
        self._clock = clock
        self.room = Room(settings.body_memory)
        self.resolver = ByProxy() if through else Resolver(clock, settings.dns)
        self.transport = Transport(
            user_agent(settings),
            clock,
            http2=settings.http2,
            max_connections=max_connections,
            ca_file=settings.ca_file or None,
            proxy=through,
            limit_rate=settings.limit_rate,
            room=self.room,
        )

    def fetcher(self, headers: Headers, identity: Identity) -> Fetcher:
        """Fetches over it; ``headers`` are for the seeds' own origins."""
        return Fetcher(self.resolver, self.transport, self._settings, headers, self._clock, identity)

    async def with_scheme(self, url: str) -> str:
        """``url``, whose scheme https was guessed, or the same with http."""
        return await guess.with_scheme(url, self.resolver, self.transport)

    async def aclose(self) -> None:
        """Close every connection."""
        await self.transport.aclose()
        await self.resolver.aclose()
