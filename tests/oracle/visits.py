"""What was asked for and how often, from the server's own access log."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

from fakeweb.log import Visit
from oracle.politeness import by_host
from oracle.robots import Rules

_SITEMAP = "/sitemap.xml"  # looked for on the hosts of seeds, whether anything leads there or not
_RETRIED = frozenset({408, 425, 429})


def check_visits(  # everything a run can be held against
    visits: Iterable[Visit],
    *,
    pages: Collection[str] | None = None,
    asked: Collection[str] | None = None,
    robots: Mapping[str, str] | None = None,
    tries: int = 4,
    robots_tries: int = 8,
    kills: Sequence[float] = (),
    window: float = 5.0,
) -> list[str]:
    """Violations of what had to be fetched (``pages``), what may be at all (``asked``), and how often.

    ``robots``: host -> text of its robots.txt. ``kills``: when the crawler was killed, seconds since 1970; an answer
    that came at most ``window`` seconds before may be asked for once more.
    """
    visits = list(visits)
    found: list[str] = []
    if pages is not None:
        whole = {visit.url for visit in visits if visit.status == 200 and visit.outcome == "whole"}
        found += [f"missing: {url} was never fetched" for url in sorted(set(pages) - whole)]
    if asked is not None:
        strangers = {visit.url for visit in visits if not is_robots(visit) and visit.path != _SITEMAP} - set(asked)
        found += [f"extra: {url} was fetched" for url in sorted(strangers)]
    found += _forbidden(visits, robots or {})
    found += _robots_first(visits)
    for url, own in _by_url(visits).items():
        found += _repeats(url, own, robots_tries if is_robots(own[0]) else tries, kills, window)
    return found


def is_robots(visit: Visit) -> bool:
    return visit.path == "/robots.txt"


def _by_url(visits: list[Visit]) -> dict[str, list[Visit]]:
    urls: dict[str, list[Visit]] = defaultdict(list)
    for visit in visits:
        if visit.path:  # a greeting has none
            urls[visit.url].append(visit)
    return urls


def _forbidden(visits: list[Visit], robots: Mapping[str, str]) -> list[str]:
    rules = {host: Rules(text) for host, text in robots.items()}
    return [
        f"robots: {visit.url} is forbidden"
        for visit in visits
        if visit.host in rules and not is_robots(visit) and not rules[visit.host].allows(visit.path)
    ]


def _robots_first(visits: list[Visit]) -> list[str]:
    """Nothing is fetched before robots.txt was answered with rules (2xx) or with their absence (4xx but 429)."""
    found = []
    for host, own in by_host(visits).items():
        known = False
        for visit in own:
            if is_robots(visit):
                known = known or (200 <= visit.status < 500 and visit.status != 429)
            elif visit.path and not known:
                found.append(f"robots: {host} got {visit.path} before its robots.txt was known")
                break
    return found


def _repeats(url: str, visits: list[Visit], tries: int, kills: Sequence[float], window: float) -> list[str]:
    failures = 0
    for before, after in pairwise(visits):
        if any(_was_in_flight(before, kill, window) and kill <= after.at for kill in kills):
            continue
        if not has_failed(before):
            return [f"repeat: {url} was fetched again {after.at - before.at:.2f} s after a whole answer"]
        failures += 1
    if failures >= tries:
        return [f"repeat: {url} was tried {failures + 1} times, not {tries}"]
    return []


def has_failed(visit: Visit) -> bool:
    """True when another try is in order: no whole answer, a server's error, or a moment's."""
    return visit.outcome != "whole" or visit.status in _RETRIED or not 100 <= visit.status < 500


def _was_in_flight(visit: Visit, kill: float, window: float) -> bool:
    """A kill can only make the crawler forget what it had not committed by then."""
    return visit.at <= kill and (visit.ended is None or kill - visit.ended <= window)
