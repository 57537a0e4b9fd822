"""One visit of a URL: what robots.txt says, the fetch, and what it taught about the host."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from gossamer import url as urls
from gossamer.archive.warc import Redactor
from gossamer.clock import Clock
from gossamer.crawl.conclude import NEVER_REACHED, is_redirect, redirect_target
from gossamer.crawl.fetching import Fetcher, OnSent
from gossamer.crawl.hooks import Prepare, Skip
from gossamer.crawl.robots import RobotsKeeper
from gossamer.fetch.credentials import UNAUTHORIZED
from gossamer.frontier.contract import Frontier
from gossamer.policy import failures, politeness
from gossamer.policy.robots import REFUSED_BY_ROBOTS
from gossamer.records import Claim, Exchange, Failure, Headers, Hold, Host, HostUpdate, Outcome, Settlement, State
from gossamer.settings import Settings


@dataclass(frozen=True, slots=True)
class Visit:
    """A URL was asked for: the answer, and the host as it is now known."""

    claim: Claim
    answer: Exchange | Failure
    update: HostUpdate
    again: bool = False  # what it taught of cookies and credentials makes it worth to ask once more


class Visitor:
    """Makes visits; gives the host back to the frontier as soon as its answer is there."""

    def __init__(
        self,
        frontier: Frontier,
        fetcher: Fetcher,
        robots: RobotsKeeper,
        settings: Settings,
        clock: Clock,
        random: Callable[[], float],
        prepare: Prepare | None = None,
    ) -> None:
        self._frontier = frontier
        self._fetcher = fetcher
        self._robots = robots
        self._settings = settings
        self._clock = clock
        self._random = random
        self._prepare = prepare
        # whether a fetch from an origin that began then may have met a dead link; set by the crawl manager
        self.link_was_down: Callable[[str, float], bool] = lambda *_: False

    def set_delay(self, delay: float) -> None:
        """Change the pause between two requests to a host from now on."""
        self._settings = replace(self._settings, delay=delay)

    async def visit_robots(self, claim: Claim) -> tuple[list[Outcome], Exchange | Failure]:
        """Ask for the robots.txt of a host; the last answer stands beside the outcomes."""
        began = self._clock.now()
        outcomes, answer = await self._robots.ask(
            claim, self._random(), partial(self.link_was_down, claim.origin, began)
        )
        last = outcomes[-1]
        assert last.host is not None
        crawl_delay = (await self._robots.rules(claim.host_id)).crawl_delay if last.host.robots else None
        update = self._with_distance(last.host, answer, crawl_delay, began)
        self._frontier.answered(claim, update)
        return [*outcomes[:-1], replace(last, host=update)], answer

    async def visit(self, claim: Claim) -> Visit | Outcome:
        """Fetch a URL, or say that robots.txt or a person's own function forbids it."""
        crawl_delay = None
        if not self._settings.ignore_robots:
            rules = await self._robots.rules(claim.host_id)
            match = rules.match(urls.path_and_query(claim.url))
            if not match.allowed:
                return self._held(claim, Hold.REFUSED, f"{REFUSED_BY_ROBOTS}{match.rule}")
            crawl_delay = rules.crawl_delay
        headers = () if self._prepare is None else self._prepare(claim.url)
        if isinstance(headers, Skip):
            return self._held(claim, Hold.PARKED, f"skipped: {headers.reason}")
        reserved_at = self._clock.now()
        host = self._frontier.host(claim.host_id)
        answer, exempt = await self._fetcher.fetch(claim.url, host, headers=headers, on_sent=self._on_sent(claim))
        if headers and isinstance(answer, Exchange):
            answer = _without(headers, answer)
        update = self._learn(host, answer, exempt, crawl_delay, reserved_at)
        self._frontier.answered(claim, update)
        return Visit(claim, answer, update, self._is_worth_asking_again(answer))

    def _is_worth_asking_again(self, answer: Exchange | Failure) -> bool:
        """After a refusal the URL itself, after a redirect what it leads to, if that has turned us away before."""
        if isinstance(answer, Exchange) and answer.status == UNAUTHORIZED:
            return self._fetcher.identity.would_change(answer.url)
        target = redirect_target(answer) if isinstance(answer, Exchange) and is_redirect(answer) else None
        return isinstance(target, str) and self._fetcher.identity.would_change(target)

    def _held(self, claim: Claim, held: Hold, reason: str) -> Outcome:
        self._frontier.skip(claim)
        return Outcome(claim, Settlement(State.WAITING, reason, held=held, counts_as_try=False))

    def _on_sent(self, claim: Claim) -> OnSent | None:
        """With one fetch at a time the next request waits for this one's answer anyway."""
        if self._settings.per_host == 1:
            return None
        return lambda: self._frontier.sent(claim, self._clock.now())

    def _learn(
        self, host: Host, answer: Exchange | Failure, exempt: str, crawl_delay: float | None, reserved_at: float
    ) -> HostUpdate:
        now = self._clock.now()
        failure = answer if isinstance(answer, Failure) else failures.of_status(answer.status, answer.headers, now)
        in_a_row = self._failures_in_a_row(host, failure, reserved_at)
        delay = self._delay(exempt, answer, crawl_delay)
        next_at = politeness.next_at(
            reserved_at=reserved_at,
            ended_at=answer.ended_at if isinstance(answer, Exchange) else now,
            delay=delay,
            retry_after=failure.retry_after if failure else None,
            now=now,
            max_retry_after=self._settings.max_retry_after,
        )
        if isinstance(answer, Failure) and answer.kind in NEVER_REACHED:
            next_at = max(next_at, now + failures.host_pause(in_a_row, self._settings))
        aside = failures.host_put_aside(in_a_row, self._settings)
        return HostUpdate(
            host.id, next_at, in_a_row, put_aside=f"{aside}: {failure}" if aside else "", exempt=exempt, delay=delay
        )

    def _failures_in_a_row(self, host: Host, failure: Failure | None, began: float) -> int:
        """No host is blamed for what a dead link of ours may have done."""
        if failure is None:
            return 0
        rule = failures.RULES[failure.kind]
        if rule.link and self.link_was_down(host.origin, began):
            return host.failures
        return host.failures + 1 if rule.host else 0

    def _with_distance(
        self, update: HostUpdate, answer: Exchange | Failure, crawl_delay: float | None, began: float
    ) -> HostUpdate:
        """robots.txt counts as a request like any other: the next one keeps its distance from it."""
        host = self._frontier.host(update.host_id)
        learned = self._learn(host, answer, update.exempt, crawl_delay, began)
        return update._replace(next_at=max(update.next_at, learned.next_at), delay=learned.delay)

    def _delay(self, exempt: str, answer: Exchange | Failure | None, crawl_delay: float | None) -> float:
        took = answer.answered_at - answer.started_at if isinstance(answer, Exchange) else 0.0
        return politeness.delay(self._settings, address_kind=exempt, crawl_delay=crawl_delay, response_time=took)


def _without(secret: Headers, answer: Exchange) -> Exchange:
    """What a person's own function sends may be secret, and goes into no archive."""
    redact = Redactor(name for name, _ in secret)
    return replace(answer, request_head=redact(answer.request_head))
