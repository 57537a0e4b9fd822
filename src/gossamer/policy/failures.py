"""The one table of failures: what each means for the URL and its host, and how often and when it is tried again."""

import re
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from gossamer.records import Failure, FailureKind, Headers, Settlement, State
from gossamer.settings import Settings

MAX_PAUSE = 3600.0
"""Seconds; pauses double until they are this long."""

MAX_HOST_PAUSE = 60.0
"""Seconds; a host that can't be reached is not left alone for longer, so that it is soon known whether it comes back."""

BUSY_PAUSE = 30.0
"""Seconds that a host is left alone that answers 429 and does not say for how long."""

_SECONDS = re.compile(r"\d{1,10}(?:\.\d{1,6})?")


@dataclass(frozen=True, slots=True)
class Rule:
    """What a kind of failure means.

    ``retry``: another try may go better, up to ``max_tries`` of the settings; otherwise it is final.
    ``pause``: times ``retry_pause`` of the settings: the pause before the second try.
    ``host``: it says something about the host: it counts among the failures in a row that put the host aside.
    ``link``: it may be our own link that is down. A refusal or reset is none: it came over the link.
    ``kept``: what came is kept and the URL is finished all the same, marked with the reason.
    """

    retry: bool = False
    pause: float = 1.0
    host: bool = False
    link: bool = False
    kept: bool = False


RULES: dict[FailureKind, Rule] = {
    FailureKind.DNS_NO_NAME: Rule(host=True),
    FailureKind.DNS_FAILURE: Rule(retry=True, host=True, link=True),
    FailureKind.CONNECT_REFUSED: Rule(retry=True, host=True),
    FailureKind.CONNECT_TIMEOUT: Rule(retry=True, host=True, link=True),
    FailureKind.FIRST_BYTE_TIMEOUT: Rule(retry=True, host=True, link=True),
    FailureKind.TIMEOUT: Rule(retry=True, host=True),
    FailureKind.RESET: Rule(retry=True, host=True),
    FailureKind.UNREACHABLE: Rule(retry=True, host=True, link=True),
    FailureKind.PROXY: Rule(retry=True, link=True),
    FailureKind.TLS_CERTIFICATE: Rule(host=True),
    FailureKind.TLS_PROTOCOL: Rule(retry=True, host=True),
    FailureKind.NOT_HTTP: Rule(host=True),
    FailureKind.HEADERS_TOO_LARGE: Rule(),
    FailureKind.ADDRESS_REFUSED: Rule(),
    FailureKind.HTTP_CLIENT: Rule(),
    FailureKind.HTTP_SERVER: Rule(retry=True, host=True),
    FailureKind.HTTP_BUSY: Rule(retry=True, pause=3.0, host=True),
    FailureKind.HTTP_OTHER: Rule(),
    FailureKind.BODY_TRUNCATED: Rule(retry=True),
    FailureKind.BODY_TOO_LARGE: Rule(kept=True),
    FailureKind.BODY_UNDECODABLE: Rule(),
    FailureKind.BODY_BOMB: Rule(),
    FailureKind.REDIRECT_LOOP: Rule(),
    FailureKind.REDIRECT_LIMIT: Rule(),
    FailureKind.REDIRECT_NOWHERE: Rule(),
    FailureKind.PARSER_CRASHED: Rule(kept=True),
    FailureKind.PARSER_HUNG: Rule(kept=True),
    FailureKind.CRASHED_US: Rule(retry=True),
    FailureKind.ROBOTS_UNREACHABLE: Rule(retry=True, host=True),
}


def of_status(status: int, headers: Headers, now: float) -> Failure | None:
    """What an HTTP status says went wrong; None for success and redirects.

    Retry-After (RFC 9110, 10.2.3) is read for 429 and 503, in seconds from ``now``, not yet capped; a 429 without a
    sensible one counts as asking for ``BUSY_PAUSE``.
    """
    if 200 <= status < 400:
        return None
    retry_after = _retry_after(headers, now) if status in (429, 503) else None
    if status == 429 and retry_after is None:
        retry_after = BUSY_PAUSE
    return Failure(_kind_of_status(status, retry_after), _name(status), now, retry_after)


def settle(
    failure: Failure, attempts: int, settings: Settings, now: float, jitter: float, *, link_is_down: bool = False
) -> Settlement:
    """What becomes of a URL whose fetch failed, after ``attempts`` tries before this one.

    It waits for the next try, pauses doubling, up to half as long again by ``jitter`` (in [0, 1): URLs that failed together
    do not come back together), or it failed for good. While the link is down no try is burnt that the link may have
    spoiled. Retry-After is not looked at: it holds the host, not the URL (``politeness.next_at``).
    """
    rule = RULES[failure.kind]
    if rule.kept:
        return Settlement(State.FINISHED, str(failure), failure=failure)
    is_spoilt = link_is_down and rule.link
    tries = attempts + (not is_spoilt)
    if not rule.retry or tries >= max(settings.max_tries, 1):
        return Settlement(State.FAILED, str(failure), failure=failure)
    pause = min(settings.retry_pause * rule.pause * 2.0 ** min(attempts, 32), MAX_PAUSE) * (1 + jitter / 2)
    return Settlement(State.WAITING, str(failure), due=now + pause, failure=failure, counts_as_try=not is_spoilt)


def host_pause(failures_in_a_row: int, settings: Settings) -> float:
    """Seconds that a host is left alone which could not be reached for the n-th time in a row.

    Its other URLs would fare the same at once, and a host that is down for a minute must not be given up for it.
    """
    doubled = settings.retry_pause * 2.0 ** min(failures_in_a_row - 1, 32)
    return min(doubled, MAX_HOST_PAUSE) if failures_in_a_row else 0.0


def host_put_aside(failures_in_a_row: int, settings: Settings) -> str:
    """Why a host is given up for now; "" while it is not."""
    return f"{failures_in_a_row} failures in a row" if failures_in_a_row >= settings.host_failures else ""


def _kind_of_status(status: int, retry_after: float | None) -> FailureKind:
    if status == 429 or (status == 503 and retry_after is not None):
        return FailureKind.HTTP_BUSY
    if status == 408 or 500 <= status < 600:
        return FailureKind.HTTP_SERVER
    return FailureKind.HTTP_CLIENT if 400 <= status < 500 else FailureKind.HTTP_OTHER


def _name(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _retry_after(headers: Headers, now: float) -> float | None:
    """Seconds to wait as the first Retry-After says, in seconds or as a date; None without a sensible one."""
    text = next((value.strip() for name, value in headers if name == "retry-after"), "")
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        date = parsedate_to_datetime(text)
        # RFC 9110, 5.6.7: dates are in GMT, and asctime's form does not say so
        return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, OverflowError):
        return None
