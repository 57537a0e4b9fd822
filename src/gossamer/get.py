"""Fetch one page that a person named, and read it: outside of any crawl, nothing is kept."""

import secrets
from dataclasses import dataclass, replace

from gossamer import url as urls
from gossamer.agent import extra_headers
from gossamer.clock import Clock
from gossamer.crawl import fetching
from gossamer.crawl.conclude import REDIRECTS, redirect_target
from gossamer.crawl.fetching import PENDING, Fetcher
from gossamer.crawl.pipeline import Parsers
from gossamer.errors import FetchError, ProblemFound
from gossamer.fetch.credentials import UNAUTHORIZED
from gossamer.fetch.identity import Identity, identity_of
from gossamer.network import Network
from gossamer.parse.job import ParseJob
from gossamer.parse.links import unpack
from gossamer.parse.pool import ParserPool
from gossamer.policy import failures
from gossamer.records import Exchange, Facts, Failure, FailureKind, Host, Via
from gossamer.settings import Settings
from gossamer.settings_files import with_typed_credentials

LINKS = frozenset({Via.ANCHOR, Via.AREA, Via.FRAME, Via.IFRAME})
"""The kinds of link that lead a reader to another page."""

PATIENCE = 5.0
"""Seconds for a connection by a scheme that was only guessed: some servers of plain HTTP never answer a TLS handshake."""

_CONNECTIONS = 16
_NO_ADDRESS = frozenset({FailureKind.DNS_NO_NAME, FailureKind.DNS_FAILURE})
_HINTS = {
    FailureKind.DNS_NO_NAME: "look at the spelling",
    FailureKind.DNS_FAILURE: "is this machine connected?",
    FailureKind.CONNECT_REFUSED: "no web server answers there",
    FailureKind.TLS_CERTIFICATE: "the server can't prove who it is",
    FailureKind.ADDRESS_REFUSED: "a redirect may not lead into a private network; name the address itself if you mean it",
    FailureKind.BODY_BOMB: "--max-size allows more",
}


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was found at the end of its redirects."""

    url: str
    facts: Facts
    is_cut: bool  # longer than max_size: only its beginning was read

    @property
    def text(self) -> str:
        """What is to be read on it, in one line with single spaces."""
        return " ".join(self.facts.text.split())

    @property
    def links(self) -> tuple[str, ...]:
        """The http(s) links to other pages, absolute, in document order, each once."""
        links = unpack(self.facts.links)
        return tuple(dict.fromkeys(link.url for link in links if link.via in LINKS and not link.other))


async def get(typed: str, settings: Settings, clock: Clock) -> Page:
    """The page at an address as a person types it, over the real network, read by a parser worker.

    Raises UsageError when it is no web address, FetchError when it can't be fetched, ProblemFound when what is there is no
    HTML.
    """
    settings = with_typed_credentials(settings, [typed])
    identity = identity_of(settings, clock)
    network = Network(settings, clock, _CONNECTIONS)
    try:
        answer = await Getter(network.resolver, network.transport, settings, clock, identity).fetch(typed)
    finally:
        await network.aclose()
    key = secrets.token_bytes(32)
    async with ParserPool(1, key, settings.parse_timeout, settings.parse_memory, settings.max_decoded) as parsers:
        return await read(answer, parsers, clock)


async def read(answer: Exchange, parsers: Parsers, clock: Clock) -> Page:
    """What is on the page that was answered. Raises ProblemFound when it is no HTML, FetchError when it can't be read."""
    facts = await parsers.parse(ParseJob(answer.url, answer.headers, answer.body, answer.truncated, clock.now()))
    if not facts.is_page:
        raise ProblemFound("document is not text/html")
    if facts.failure is not None:
        raise _error(answer.url, facts.failure)
    return Page(answer.url, facts, answer.truncated == "length")


class Getter:
    """Fetches what a person names.

    The origin that was named may have any address, the extra headers go there alone. Where it redirects to must be
    public, or of the same kind of address: what is public never leads into a private network.
    """

    def __init__(
        self,
        resolver: fetching.Resolver,
        transport: fetching.Transport,
        settings: Settings,
        clock: Clock,
        identity: Identity,
    ) -> None:
        self._identity = identity
        self._resolver = resolver
        self._transport = transport
        self._settings = settings
        self._clock = clock

    async def fetch(self, typed: str) -> Exchange:
        """The answer at an address; without a scheme https is tried, then http. Raises UsageError, FetchError."""
        url, guessed = urls.typed(typed)
        patience = min(self._settings.connect_timeout, PATIENCE) if guessed else self._settings.connect_timeout
        answer = await self._success(url, replace(self._settings, connect_timeout=patience))
        if guessed and isinstance(answer, Failure) and answer.kind not in _NO_ADDRESS:
            answer = await self._success(f"http{url.removeprefix('https')}", self._settings)
        if isinstance(answer, Failure):
            raise _error(urls.shown(typed), answer)
        return answer

    async def _success(self, url: str, settings: Settings) -> Exchange | Failure:
        answer = await self._follow(url, settings)
        return answer if isinstance(answer, Failure) else _wrong_with(answer, self._clock.now()) or answer

    async def _follow(self, url: str, settings: Settings) -> Exchange | Failure:
        """The answer at the end of the redirects; each hop is checked as the first was."""
        parts = self._resolver, self._transport, settings
        named = Fetcher(*parts, extra_headers(settings), self._clock, self._identity)
        others = Fetcher(*parts, (), self._clock, self._identity)
        chain = [url]
        exempt = PENDING
        while True:
            here = urls.origin(chain[-1])
            fetcher = named if here == urls.origin(url) else others
            answer, kind = await fetcher.fetch(chain[-1], Host(0, str(here), exempt=exempt))
            exempt = kind or exempt
            if isinstance(answer, Failure):
                return replace(answer, detail=_at_the_end(chain, answer.detail))
            target = self._leads_to(answer)
            if target is None:
                return answer
            if isinstance(target, Failure):
                return target
            again = answer.status == UNAUTHORIZED or (target in chain and self._identity.would_change(target))
            failure = self._wrong_hop(chain, target, again=again)
            if failure is not None:
                return failure
            chain.append(target)

    def _leads_to(self, answer: Exchange) -> str | Failure | None:
        """Where a redirect leads, or the same once more with the credentials that it wants."""
        if answer.status == UNAUTHORIZED and self._identity.would_change(answer.url):
            return answer.url
        return redirect_target(answer) if answer.status in REDIRECTS else None

    def _wrong_hop(self, chain: list[str], target: str, *, again: bool) -> Failure | None:
        if target in chain and not again:
            circle = " -> ".join([*chain[chain.index(target) :], target])
            return Failure(FailureKind.REDIRECT_LOOP, circle, self._clock.now())
        if len(chain) > self._settings.max_redirects:
            detail = f"more than {self._settings.max_redirects}, the last to {target}"
            return Failure(FailureKind.REDIRECT_LIMIT, detail, self._clock.now())
        return None


def _wrong_with(answer: Exchange, now: float) -> Failure | None:
    if answer.truncated in ("disconnect", "time"):
        kind = FailureKind.TIMEOUT if answer.truncated == "time" else FailureKind.BODY_TRUNCATED
        return Failure(kind, f"after {len(answer.body)} bytes", now)
    return failures.of_status(answer.status, answer.headers, now)


def _at_the_end(chain: list[str], detail: str) -> str:
    return detail if len(chain) == 1 else f"{detail}, where it redirects to: {chain[-1]}"


def _error(url: str, failure: Failure) -> FetchError:
    return FetchError(f"{url} can't be fetched: {failure}", hint=_HINTS.get(failure.kind, ""))
