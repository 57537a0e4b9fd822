"""What a page asks of robots: ``<meta name=robots>`` and X-Robots-Tag."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from gossamer.agent import NAME
from gossamer.parse.dates import moment
from gossamer.records import Headers

_AGENT_PREFIX = re.compile(r"\s*([A-Za-z0-9_*-]+)\s*:(.*)", re.DOTALL)
_WITH_VALUE = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_VALUED = re.compile(r"[\w-]+\s*+:[^,;]*+")  # max-image-preview: none is no "none"
_SEPARATORS = re.compile(r"[\s,;]+")
_UNAVAILABLE = re.compile(r"unavailable_after\s*:(.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Directives:
    """Whether the page may be indexed and its links followed."""

    noindex: bool = False
    nofollow: bool = False


def directives(metas: Iterable[str], headers: Headers, now: float) -> Directives:
    """All that was said to everybody or to us, taken together: the strictest counts.

    ``metas``: the contents of the robots metas; ``now``: seconds since 1970.
    """
    said: set[str] = set()
    for content in metas:
        said |= _words(content, now)
    for value in (value for key, value in headers if key == "x-robots-tag"):
        for part in _for_us(value):
            said |= _words(part, now)
    none = "none" in said
    return Directives(noindex=none or "noindex" in said, nofollow=none or "nofollow" in said)


def _for_us(value: str) -> Iterable[str]:
    """The parts of an X-Robots-Tag that speak to us: a name and a colon before them speak to one crawler only."""
    ours, parts = True, []
    for part in value.split(","):
        addressed = _AGENT_PREFIX.match(part)
        if addressed and addressed[1].lower() not in _WITH_VALUE:
            ours = addressed[1].lower() in (NAME, "*")
            part = addressed[2]
        if ours:
            parts.append(part)
    return [",".join(parts)]


def _words(content: str, now: float) -> set[str]:
    """What is said; with commas or, as many write it, with spaces or semicolons between."""
    words = set(_SEPARATORS.split(_VALUED.sub("", content).lower()))
    dated = _UNAVAILABLE.search(content)
    if dated and _has_passed(dated[1], now):
        words.add("noindex")
    return words


def _has_passed(text: str, now: float) -> bool:
    """Whether a date (ISO 8601, RFC 822, RFC 850), perhaps with more directives behind it, lies before ``now``."""
    parts = text.partition(";")[0].split(",")
    for count in (1, 2):  # "Wed, 25 Jun 2025 …" holds a comma itself
        found = moment(",".join(parts[:count]))
        if found is not None:
            return found < now
    return False
