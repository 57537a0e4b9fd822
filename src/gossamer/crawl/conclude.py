"""What becomes of a URL once its answer is known. Pure."""

from contextlib import suppress
from dataclasses import dataclass

from gossamer import url as urls
from gossamer.crawl import sitemaps
from gossamer.fetch.credentials import UNAUTHORIZED
from gossamer.policy import failures
from gossamer.records import (
    Candidate,
    Claim,
    Exchange,
    Facts,
    Failure,
    FailureKind,
    Settlement,
    State,
    Via,
)
from gossamer.settings import Settings

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CHOICES = 300

NEVER_REACHED = frozenset(
    {
        FailureKind.DNS_NO_NAME,
        FailureKind.DNS_FAILURE,
        FailureKind.CONNECT_REFUSED,
        FailureKind.CONNECT_TIMEOUT,
        FailureKind.UNREACHABLE,
        FailureKind.TLS_CERTIFICATE,
        FailureKind.TLS_PROTOCOL,
        FailureKind.NOT_HTTP,
        FailureKind.ADDRESS_REFUSED,
    }
)
"""Failures after which a person who just named the host would rather hear of it than wait for further tries."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The settlement of a URL, and the URLs that its answer (not its page) leads to."""

    settlement: Settlement
    candidates: tuple[Candidate, ...] = ()


def conclude(
    claim: Claim,
    answer: Exchange | Failure,
    facts: Facts | None,
    settings: Settings,
    *,
    now: float,
    jitter: float,
    link_is_down: bool = False,
    again: bool = False,
) -> Conclusion:
    """The settlement of a URL after one try. ``jitter`` in [0, 1) spreads the pauses before further tries.

    ``again``: what the answer taught of cookies and credentials makes it worth to ask once more, it or its target.
    """
    if isinstance(answer, Failure):
        return Conclusion(failures.settle(answer, claim.attempts, settings, now, jitter, link_is_down=link_is_down))
    if is_redirect(answer):
        return _after_redirect(claim, answer, settings, now, jitter, again=again)
    if again and answer.status == UNAUTHORIZED:
        return Conclusion(Settlement(State.WAITING, "asked again, with credentials", due=now))
    failure = failures.of_status(answer.status, answer.headers, now) or _of_answer(answer, facts)
    if claim.via is Via.SITEMAP and not (facts is not None and facts.is_page):
        settlement = sitemaps.settlement(claim, failure, facts)
        if settlement is not None:
            return Conclusion(settlement)
    if failure is not None:
        return Conclusion(failures.settle(failure, claim.attempts, settings, now, jitter))
    return Conclusion(Settlement(State.FINISHED, reason=_remark(answer)))


def is_redirect(exchange: Exchange) -> bool:
    """Whether an answer leads elsewhere. RFC 9110, 15.4.1: with 300, a Location is the server's preferred choice."""
    return exchange.status in REDIRECTS or (exchange.status == _CHOICES and bool(exchange.header("location")))


def _after_redirect(
    claim: Claim, exchange: Exchange, settings: Settings, now: float, jitter: float, *, again: bool
) -> Conclusion:
    target = redirect_target(exchange)
    if isinstance(target, Failure):
        return Conclusion(failures.settle(target, claim.attempts, settings, now, jitter))
    hops = claim.hops + 1
    failure = None
    if target == claim.url and again:
        return Conclusion(Settlement(State.WAITING, "asked again, with the cookies that it set", due=now))
    if target == claim.url:
        failure = Failure(FailureKind.REDIRECT_LOOP, "it redirects to itself", now)
    elif hops > settings.max_redirects:
        failure = Failure(FailureKind.REDIRECT_LIMIT, f"more than {settings.max_redirects} in a row", now)
    if failure is not None:
        return Conclusion(failures.settle(failure, claim.attempts, settings, now, jitter))
    if claim.via is Via.SITEMAP and not sitemaps.may_be_one(claim, target):
        return Conclusion(Settlement(State.FINISHED, reason=f"{sitemaps.NONE}: it redirects to {target}"))
    candidate = Candidate(
        target, _via_redirect(claim, settings), claim.depth, parent=claim.url_id, hops=hops, again=again
    )
    return Conclusion(Settlement(State.FINISHED, reason=f"redirects to {target}"), (candidate,))


def _via_redirect(claim: Claim, settings: Settings) -> Via:
    """An image that redirects into another network is still what its page shows; a link that redirects there is not."""
    is_kept = claim.via in (Via.SITEMAP, Via.NEEDED) or (claim.via is Via.REQUISITE and settings.requisites)
    return claim.via if is_kept else Via.REDIRECT


def redirect_target(exchange: Exchange) -> str | Failure:
    """Where a redirect leads: http(s) only. Bytes outside ASCII are UTF-8 to browsers, else Latin-1."""
    location = exchange.header("location").strip()
    if not location:
        return Failure(FailureKind.REDIRECT_NOWHERE, f"status {exchange.status}", exchange.ended_at)
    with suppress(UnicodeError):
        location = location.encode("latin-1").decode("utf-8")
    target = urls.canonicalise(location, exchange.url)
    if target is None:
        return Failure(
            FailureKind.REDIRECT_NOWHERE, f"to {location[:200]!r}, which is no web address", exchange.ended_at
        )
    return target


def _of_answer(exchange: Exchange, facts: Facts | None) -> Failure | None:
    """What is wrong with an answer that is no error: it is none to our question, is cut short, or can't be decoded."""
    if exchange.status >= _CHOICES:
        return Failure(FailureKind.HTTP_OTHER, f"{exchange.status} was not asked for", exchange.ended_at)
    if exchange.truncated == "disconnect":
        return Failure(FailureKind.BODY_TRUNCATED, f"{len(exchange.body)} bytes came", exchange.ended_at)
    if exchange.truncated == "time":
        return Failure(FailureKind.TIMEOUT, f"{len(exchange.body)} bytes came", exchange.ended_at)
    return facts.failure if facts is not None else None


def _remark(exchange: Exchange) -> str:
    if exchange.truncated == "length":
        return f"body too large: the first {len(exchange.body)} bytes were kept"
    return ""


def wants_parsing(answer: Exchange | Failure | None) -> bool:
    """Whether a parser worker is to look at an answer: a success with a body that is whole, or cut at our own limit."""
    if not isinstance(answer, Exchange):
        return False
    return 200 <= answer.status < 300 and answer.truncated in ("", "length")
