"""robots.txt as RFC 9309 reads it: groups, rules, Crawl-delay and Sitemap lines, and what an answer means.

Whatever is unclear is read to the strict side: no cut, overlong or doubtful line ever opens a path.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from gossamer.policy.robots_rules import Match, Rule, Rules
from gossamer.url import MAX_URL

LIMIT = 500 * 1024
"""Bytes of a robots.txt that are read; the rest is ignored (RFC 9309, 2.5: at least 500 kibibytes)."""

REFUSED_BY_ROBOTS = "robots.txt: "
"""How the reason begins that a URL is kept for which a rule forbids; the rule follows."""

MAX_SITEMAPS = 1000
_SHOWN = 200  # characters of a rule that are shown

# The spellings are those the reference parser takes; a line may lack its colon.
_LINE = re.compile(
    rb"^[ \t\f\v]*(?:(?P<agent>user[- ]?agent)|(?P<disallow>diss?all?ow|diasllow|disallaw)|(?P<allow>allow)"
    rb"|(?P<delay>crawl-?delay)|(?P<sitemap>site-?map))(?:[ \t]*(?P<colon>:)|[ \t])(?P<value>[^\n#]*)",
    re.IGNORECASE | re.MULTILINE,
)
_NAME = re.compile(rb"\*(?=\s|$)|[A-Za-z0-9_-]+")
_DELAY = re.compile(rb"\d{1,9}(?:\.\d{1,9})?|\.\d{1,9}")
_OUTSIDE_ASCII = re.compile(rb"[\x80-\xff]+")
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


class Meaning(StrEnum):
    """What the answer to a request for robots.txt means for the host."""

    RULES = "rules"
    ALLOW_ALL = "allow all"
    ASK_AGAIN = "ask again"


def meaning(status: int | None) -> Meaning:
    """What an answer with ``status`` (after redirects; None: there was none, or not the whole) means.

    RFC 9309, 2.3.1: success brings rules; 4xx is "unavailable", which allows all. Everything else is never taken as
    permission: nothing is fetched from the host and it is asked again, with the pauses and the number of tries of
    ``failures.settle`` for ROBOTS_UNREACHABLE; when those are used up the host is put aside. Among them are 429, which
    RFC 9309 counts with 4xx but which asks for patience, and redirects that lead nowhere, where the RFC leaves the choice.
    """
    if status is None:
        return Meaning.ASK_AGAIN
    if 200 <= status < 300:
        return Meaning.RULES
    return Meaning.ALLOW_ALL if 400 <= status < 500 and status != 429 else Meaning.ASK_AGAIN


class Group:
    """The rules that apply to one crawler, compiled for use."""

    def __init__(self, rules: Iterable[Rule], crawl_delay: float | None) -> None:
        self.crawl_delay = crawl_delay
        self._rules = Rules(rules)

    def match(self, path_and_query: str) -> Match:
        """Whether the path and query of a canonical URL may be fetched, and the line that decides."""
        if path_and_query == "/robots.txt":  # RFC 9309, 2.2.2: "The /robots.txt URI is implicitly allowed."
            return Match(True)
        return self._rules.match(path_and_query or "/") or Match(True)


@dataclass(slots=True)
class _Section:
    """Lines that belong together in the file: whom they are for, and what they say."""

    names: set[str] = field(default_factory=set)
    rules: dict[tuple[bytes, bool], None] = field(default_factory=dict)  # value, allowed
    delays: list[float] = field(default_factory=list)
    is_closed: bool = False  # a rule has been seen: the next User-agent line starts another


class Robots:
    """A parsed robots.txt."""

    def __init__(self, sections: tuple[_Section, ...], sitemaps: tuple[str, ...]) -> None:
        self._sections = sections
        self.sitemaps = sitemaps
        """The values of Sitemap lines as written, wherever they stand, each once, at most 1000."""

    def group(self, token: str) -> Group:
        """The rules for the crawler with this product token, all of its groups merged (RFC 9309, 2.2.1).

        The most specific name wins: for ``a-b`` a group of ``a-b``, else of ``a``, else ``*``; names are compared without
        regard to case. Of several Crawl-delays the longest counts.
        """
        known = frozenset().union(*(section.names for section in self._sections))
        name = next((name for name in _names_of(token) if name in known), None)
        sections = [section for section in self._sections if name in section.names]
        lines = {line: None for section in sections for line in section.rules}
        rules = [rule for value, allowed in lines for rule in _rules(value, allowed=allowed)]
        return Group(rules, max((delay for section in sections for delay in section.delays), default=None))


def _names_of(token: str) -> list[str]:
    parts = token.lower().split("-")
    return ["-".join(parts[:length]) for length in range(len(parts), 0, -1)] + ["*"]


def cut(body: bytes) -> bytes:
    """The part of a robots.txt that is read and worth keeping: at most 500 KiB, whole lines.

    Of the line that the limit splits, a Disallow is kept as far as it goes: shorter, it forbids more (against an Allow it
    counts with the length that is left). Its half escape or ``$`` is dropped, since "/a$" of "/a$b" would forbid less.
    Any other split line is dropped. Cutting again changes nothing.
    """
    if len(body) < LIMIT:
        return body
    body = body[:LIMIT]
    start = max(body.rfind(b"\n"), body.rfind(b"\r")) + 1
    line = _LINE.match(body[start:])
    if line is None or line["disallow"] is None or not line["value"].strip():
        return body[:start]
    return re.sub(rb"(?:%[0-9A-Fa-f]?)?[\s$]*\Z", b"", body)


def parse(body: bytes) -> Robots:
    """Read a robots.txt. Nothing raises: what is no line of a robots.txt, such as HTML, is passed over.

    A byte order mark and NULs are dropped (so that UTF-16 reads as well); CR, LF and both end lines.
    """
    text = cut(body)
    for mark in _BYTE_ORDER_MARKS:
        text = text.removeprefix(mark)
    text = text.replace(b"\0", b"").replace(b"\r", b"\n")
    sections: list[_Section] = []
    sitemaps: dict[str, None] = {}
    for line in _LINE.finditer(text):
        value = line["value"].strip()
        if line["colon"] is None and len(value.split()) != 1:
            continue  # without a colon only "word word" is a line, not a sentence that starts with "allow"
        if line["sitemap"] is not None:
            _add_sitemap(value, sitemaps)
        elif line["agent"] is not None:
            _add_name(value, sections)
        elif sections:  # RFC 9309, 2.1: rules before the first group belong to nobody
            _add_rule(line, value, sections[-1])
    return Robots(tuple(sections), tuple(sitemaps))


def _add_sitemap(value: bytes, sitemaps: dict[str, None]) -> None:
    if value and len(value) <= MAX_URL and len(sitemaps) < MAX_SITEMAPS:
        sitemaps[_decode(value)] = None


def _add_name(value: bytes, sections: list[_Section]) -> None:
    if not sections or sections[-1].is_closed:
        sections.append(_Section())
    name = _NAME.match(value)
    if name is not None:
        sections[-1].names.add(name[0].decode("ascii").lower())


def _add_rule(line: re.Match[bytes], value: bytes, section: _Section) -> None:
    if line["delay"] is not None:
        # RFC 9309, 2.2.4: other records "MUST NOT interfere" with groups, so a delay does not close one
        if _DELAY.fullmatch(value):
            section.delays.append(float(value))
        return
    section.is_closed = True
    if value.startswith((b"/", b"*")):
        section.rules[value, line["allow"] is not None] = None


def _rules(value: bytes, *, allowed: bool) -> list[Rule]:
    """The rules that one line makes."""
    match = Match(allowed, f"{'Allow' if allowed else 'Disallow'}: {_show(value)}")
    patterns = [_escape(value)]
    if not _is_utf8(value):  # a file in Latin-1: in the site's URLs the same characters stand in UTF-8
        patterns.append(_escape(value.decode("latin-1").encode()))
    folder, _, name = patterns[0].rpartition("/")
    if allowed and name.startswith("index.htm"):  # as the reference parser: who allows the index allows its folder
        patterns.append(f"{folder}/$")
    return [Rule(pattern, match) for pattern in patterns]


def _escape(value: bytes) -> str:
    if not value.isascii():
        value = _OUTSIDE_ASCII.sub(lambda run: b"%" + run[0].hex("%").upper().encode(), value)
    return value.decode("ascii")


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decode(value: bytes) -> str:
    return value.decode("utf-8" if _is_utf8(value) else "latin-1")


def _show(value: bytes) -> str:
    """A rule as a person may see it: no control characters, no more than a line."""
    text = _decode(value)
    shown = text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")
    return (
        shown if shown.isprintable() else "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in shown)
    )
