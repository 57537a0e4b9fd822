"""robots.txt of the hosts that are crawled: asked for once a day, kept over restarts, compiled once."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable

from gossamer import url as urls
from gossamer.agent import NAME
from gossamer.clock import Clock
from gossamer.crawl import sitemaps
from gossamer.crawl.conclude import NEVER_REACHED, REDIRECTS, redirect_target
from gossamer.crawl.fetching import Fetcher
from gossamer.fetch.credentials import UNAUTHORIZED
from gossamer.frontier.contract import Frontier
from gossamer.parse.body import decode
from gossamer.policy import failures, politeness, robots
from gossamer.records import (
    Claim,
    Exchange,
    Failure,
    FailureKind,
    Host,
    HostUpdate,
    Outcome,
    RobotsAnswer,
    Settlement,
    State,
)
from gossamer.settings import Settings

MAX_REDIRECTS = 5
_CACHED = 10_000
_LONG = 32 * 1024  # bytes; a longer one would hold up the loop


class RobotsKeeper:
    """The rules of every host that is asked."""

    def __init__(self, frontier: Frontier, fetcher: Fetcher, settings: Settings, clock: Clock) -> None:
        self._frontier = frontier
        self._fetcher = fetcher
        self._settings = settings
        self._clock = clock
        self._groups: OrderedDict[int, robots.Group] = OrderedDict()

    async def rules(self, host_id: int) -> robots.Group:
        """The rules that apply to us on a host whose robots.txt was asked for."""
        if host_id not in self._groups:
            answer = await self._frontier.robots(host_id)
            await self._keep(host_id, answer.body if answer else b"")
        self._groups.move_to_end(host_id)
        return self._groups[host_id]

    async def _keep(self, host_id: int, body: bytes) -> robots.Robots:
        parsed = await asyncio.to_thread(robots.parse, body) if len(body) > _LONG else robots.parse(body)
        self._groups[host_id] = parsed.group(NAME)
        if len(self._groups) > _CACHED:
            self._groups.popitem(last=False)
        return parsed

    async def ask(
        self, claim: Claim, jitter: float, link_was_down: Callable[[], bool]
    ) -> tuple[list[Outcome], Exchange | Failure]:
        """Ask a host for its robots.txt; every hop is an exchange of its own, and the host's place is held meanwhile.

        While the link is down no try is burnt that the link may have spoiled.
        The last outcome says what is known now. Never is an error taken as permission, never is one cached as such.
        """
        host = self._frontier.host(claim.host_id)
        hops: list[Outcome] = []
        url, answer, exempt = claim.url, await self._fetch(claim.url, host), host.exempt
        for _ in range(MAX_REDIRECTS):
            target = self._leads_to(answer[0])
            if target is None or isinstance(answer[0], Failure):
                break
            hops.append(_archived(claim, answer[0]))
            if isinstance(target, Failure):
                break
            url, answer = target, await self._next_hop(target, claim, answer[0].ended_at)
        else:
            if isinstance(answer[0], Exchange) and answer[0].status in REDIRECTS:
                hops.append(_archived(claim, answer[0]))
        exempt = exempt if urls.origin(url) != urls.origin(claim.url) else answer[1] or exempt
        last = await self._conclude(claim, host, answer[0], exempt, jitter, link_is_down=link_was_down())
        return [*hops, last], answer[0]

    def _leads_to(self, answer: Exchange | Failure) -> str | Failure | None:
        """What is to be asked next: where a redirect leads, or the same once more with the credentials it wants."""
        if isinstance(answer, Failure):
            return None
        if answer.status == UNAUTHORIZED and self._fetcher.identity.would_change(answer.url):
            return answer.url
        return redirect_target(answer) if answer.status in REDIRECTS else None

    async def _fetch(self, url: str, host: Host) -> tuple[Exchange | Failure, str]:
        return await self._fetcher.fetch(url, host, max_body=2 * robots.LIMIT)

    async def _next_hop(self, url: str, claim: Claim, ended_at: float) -> tuple[Exchange | Failure, str]:
        """A redirect of robots.txt: it keeps the distance that its host asks for, whichever host that is."""
        origin = urls.origin(url)
        if str(origin) == claim.origin:
            host = self._frontier.host(claim.host_id)
            await asyncio.sleep(max(0.0, ended_at + self._pause(host) - self._clock.now()))
            return await self._fetch(url, host)
        host_id = await self._frontier.meet(origin)
        await self._borrow(host_id)
        host = self._frontier.host(host_id)
        try:
            return await self._fetch(url, host)
        finally:
            self._frontier.give_back(host_id, self._clock.now() + self._pause(host))

    async def _borrow(self, host_id: int) -> None:
        """Wait until another host may be asked, and take its place."""
        again = self._frontier.borrow(host_id, self._clock.now())
        if again is not None:
            await asyncio.sleep(max(0.01, again - self._clock.now()))
            await self._borrow(host_id)

    def _pause(self, host: Host) -> float:
        if host.delay is not None:
            return host.delay
        return politeness.DEFAULT_DELAY if self._settings.delay is None else self._settings.delay

    async def _conclude(
        self,
        claim: Claim,
        host: Host,
        answer: Exchange | Failure,
        exempt: str,
        jitter: float,
        *,
        link_is_down: bool,
    ) -> Outcome:
        now = self._clock.now()
        status = answer.status if isinstance(answer, Exchange) and answer.truncated in ("", "length") else None
        body = _body(answer) if isinstance(answer, Exchange) else b""
        exchange = answer if isinstance(answer, Exchange) and answer.status not in REDIRECTS else None
        meaning = robots.meaning(None if body is None else status)
        if meaning is robots.Meaning.ASK_AGAIN:
            update = self._ask_again(host, answer, exempt, now, jitter, link_is_down=link_is_down)
            return Outcome(claim, Settlement(State.FINISHED), host=update, exchange=exchange)
        kept = robots.cut(body or b"") if meaning is robots.Meaning.RULES else b""
        found = sitemaps.announced(claim.url, (await self._keep(host.id, kept)).sitemaps)
        delay = self._groups[host.id].crawl_delay
        known = RobotsAnswer(kept, now, now + self._settings.robots_age, status or 0, delay)
        update = HostUpdate(host.id, next_at=now, robots=known, exempt=exempt)
        return Outcome(claim, Settlement(State.FINISHED), host=update, exchange=exchange, candidates=found)

    def _ask_again(
        self,
        host: Host,
        answer: Exchange | Failure,
        exempt: str,
        now: float,
        jitter: float,
        *,
        link_is_down: bool,
    ) -> HostUpdate:
        """The host waits, and is asked again with growing pauses; after so many tries it is put aside."""
        detail = f"status {answer.status}" if isinstance(answer, Exchange) else str(answer)
        asked = failures.of_status(answer.status, answer.headers, now) if isinstance(answer, Exchange) else answer
        retry_after = asked.retry_after if asked else None
        failure = Failure(FailureKind.ROBOTS_UNREACHABLE, detail, now, retry_after)
        if link_is_down and isinstance(answer, Failure) and failures.RULES[answer.kind].link:
            again = now + self._settings.retry_pause
            return HostUpdate(host.id, again, host.failures, robots_tries=host.robots_tries, exempt=exempt)
        settlement = failures.settle(failure, host.robots_tries, self._settings, now, jitter)
        tries = host.robots_tries + 1
        if settlement.due is None or _is_final(answer):
            return HostUpdate(host.id, now, tries, put_aside=str(failure), robots_tries=0, exempt=exempt)
        return HostUpdate(host.id, settlement.due, tries, robots_tries=tries, exempt=exempt)


def _is_final(answer: Exchange | Failure) -> bool:
    """Whether pauses would change nothing: no such name, a bad certificate, a refused address, no HTTP."""
    return isinstance(answer, Failure) and answer.kind in NEVER_REACHED and not failures.RULES[answer.kind].retry


def _body(exchange: Exchange) -> bytes | None:
    """The decoded body, as far as it is read; None when it can't be decoded, which is no permission."""
    decoded = decode(exchange.headers, exchange.body, 4 * robots.LIMIT)
    if not isinstance(decoded, Failure):
        return decoded
    return None


def _archived(claim: Claim, exchange: Exchange) -> Outcome:
    return Outcome(claim._replace(url=exchange.url), Settlement(State.FINISHED), exchange=exchange)
