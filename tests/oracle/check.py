"""All invariants of a crawl at once."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fakeweb import FakeWeb, GeneratedSite, Visit
from oracle.archive import check_archive
from oracle.politeness import check_politeness
from oracle.visits import check_visits


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a crawl was told and what it had to find."""

    pages: Collection[str] | None = None  # URLs of the HTML pages that must be fetched and kept, no others
    asked: Collection[str] | None = None  # all URLs that may be asked for, beside robots.txt
    robots: Mapping[str, str] = field(default_factory=dict)  # host -> robots.txt
    delay: float = 0.0  # seconds
    delays: Mapping[str, float] = field(default_factory=dict)  # host -> its own delay
    per_host: int = 1
    tries: int = 4
    robots_tries: int = 8
    kills: Sequence[float] = ()  # when the crawler was killed, seconds since 1970
    window: float = 5.0  # an answer that came this long before a kill may not have been committed
    is_finished: bool = True
    exit_code: int = 0


def expect(web: FakeWeb, *sites: GeneratedSite, **more: object) -> Expected:
    """What a crawl of generated sites, from the root of each, has to find; ``more``: the other fields."""
    return Expected(
        pages={web.url(path, site) for site in sites for path in site.reachable},
        asked={web.url(path, site) for site in sites for path in site.asked},
        robots={web.origin(site).partition("://")[2]: site.rules for site in sites},
        **more,  # type: ignore[arg-type]  # names of fields
    )


def check(visits: Iterable[Visit], collection: Path, expected: Expected, exit_code: int) -> list[str]:
    """Every violation of the promises, each as one line; none when the crawl was as it should be."""
    visits = list(visits)
    found = check_visits(
        visits,
        pages=expected.pages,
        asked=expected.asked,
        robots=expected.robots,
        tries=expected.tries,
        robots_tries=expected.robots_tries,
        kills=expected.kills,
        window=expected.window,
    )
    found += check_politeness(visits, expected.delay, delays=expected.delays, per_host=expected.per_host)
    found += check_archive(collection, pages=expected.pages, is_finished=expected.is_finished)
    if exit_code != expected.exit_code:
        found.append(f"exit code: {exit_code}, not {expected.exit_code}")
    return found
