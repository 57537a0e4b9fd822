"""Which files of a host are asked for because they may list its URLs, and what becomes of them. Pure."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from gossamer import url as urls
from gossamer.parse.usual import WELL_KNOWN
from gossamer.records import Candidate, Claim, Facts, Failure, FailureKind, Settlement, State, Via

NONE = "no sitemap there"
_SUFFIXES = (".xml", ".gz", ".txt")


def announced(robots_url: str, named: Iterable[str]) -> tuple[Candidate, ...]:
    """The sitemaps that a robots.txt names, http(s) only; where it names none, the usual place."""
    targets = dict.fromkeys(url for text in named if (url := urls.canonicalise(text, robots_url)) is not None)
    if targets:
        return tuple(Candidate(url, Via.SITEMAP, depth=1) for url in targets)
    return (guess(robots_url),)


def guess(url: str) -> Candidate:
    """The usual place of a sitemap on the host of a URL."""
    return Candidate(f"{urls.origin(url)}{WELL_KNOWN}", Via.SITEMAP, depth=1, guessed=True)


def settlement(claim: Claim, failure: Failure | None, facts: Facts | None) -> Settlement | None:
    """What becomes of a sitemap; None where that is as with any URL.

    That nothing is where nobody said there was is no failure.
    """
    if failure is not None:
        is_missing = _is_guess(claim) and failure.kind is FailureKind.HTTP_CLIENT
        return Settlement(State.FINISHED, NONE) if is_missing else None
    return Settlement(State.FINISHED, f"read as {facts.listing}" if facts is not None and facts.listing else NONE)


def may_be_one(claim: Claim, target: str) -> bool:
    """Whether a redirect of a sitemap is worth following: where missing pages lead to a start page, that is none."""
    return not _is_guess(claim) or urlsplit(target).path.lower().endswith(_SUFFIXES)


def _is_guess(claim: Claim) -> bool:
    return urls.path_and_query(claim.url) == WELL_KNOWN
