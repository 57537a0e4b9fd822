"""Traps that a URL shows by itself: what is too long, too deep or goes round in a circle. Pure; nothing is remembered."""

from collections import Counter
from dataclasses import dataclass

from gossamer.settings import Settings

IN_A_ROW = 3
"""Times that a segment, or a group of up to three, stands in a row in a path that goes round in a circle."""

IN_ALL = 6
"""Times that one segment stands anywhere in such a path."""

_LONGEST_GROUP = 3


@dataclass(frozen=True, slots=True)
class TrapRules:
    """How far a URL may go, and how many pages without news a template may have."""

    max_length: int  # characters
    max_segments: int
    budget: int  # pages; 0: templates are not judged
    max_host_urls: int = 0  # 0: any number
    max_domain_urls: int = 0

    @classmethod
    def of(cls, settings: Settings) -> "TrapRules":
        """The rules that the settings describe."""
        return cls(
            settings.max_url_length,
            settings.max_path_segments,
            settings.trap_budget,
            settings.max_host_urls,
            settings.max_domain_urls,
        )


def trap(url: str, rules: TrapRules) -> str:
    """Why a canonical http(s) URL looks like part of a trap; empty when it does not."""
    if len(url) > rules.max_length:
        return f"trap: the URL has more than {rules.max_length} characters"
    path = url.partition("?")[0]
    segments = path.split("/")[3:]
    if len(segments) > rules.max_segments:
        return f"trap: the path has more than {rules.max_segments} segments"
    if len(segments) < IN_A_ROW or len(set(segments)) == len(segments):
        return ""
    return _circle(segments)


def _circle(segments: list[str]) -> str:
    """Numbers may come back: a date is no circle."""
    for size in range(1, _LONGEST_GROUP + 1):
        for start in range(len(segments) - size * IN_A_ROW + 1):
            group = segments[start : start + size]
            if group * IN_A_ROW == segments[start : start + size * IN_A_ROW] and not _are_numbers(group):
                return f"trap: segments repeat: {'/'.join(group)}"
    counts = Counter(segment for segment in segments if segment and not segment.isdigit())
    most, count = counts.most_common(1)[0] if counts else ("", 0)
    return f"trap: a segment repeats: {most}" if count >= IN_ALL else ""


def _are_numbers(group: list[str]) -> bool:
    return all(segment.isdigit() for segment in group)
