"""The Allow and Disallow rules of one robots.txt group, compiled once so that a path is judged in microseconds.

Rules without a wildcard lie in one sorted list: every prefix of a path that stands in the list is its predecessor there
or a prefix of that. Rules with a wildcard are tried one by one, strongest first, by plain searches for their fixed
parts: linear in the path however the pattern is built, where a backtracking expression would be exponential.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace

MAX_WILDCARD_TEXT = 64 * 1024
"""Characters of all the patterns with wildcards together; what exceeds it is widened or left out, to the strict side."""

_NEEDS_SPELLING = re.compile(r"[^!#&'()+,\-./0-9:;=?@A-Z\[\]_a-z~]").search
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_PATTERN_SPELLING = re.compile(r"%[0-9A-Fa-f]{2}|[^!#%&'()*+,\-./0-9:;=?@A-Z\[\]_a-z~]")
_PATH_SPELLING = re.compile(r"%[0-9A-Fa-f]{2}|[^!#%&'()+,\-./0-9:;=?@A-Z\[\]_a-z~]")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


@dataclass(frozen=True, slots=True)
class Match:
    """What the rules say of a path, and the line that decided it, safe to show ("" when no line did)."""

    allowed: bool
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One Allow or Disallow line; ``pattern`` is ASCII, what lies outside it percent-encoded."""

    pattern: str
    match: Match

    @property
    def strength(self) -> int:
        """The longest pattern wins, Allow on a tie (RFC 9309, 2.2.2)."""
        return 2 * len(self.pattern) + self.match.allowed


class Rules:
    """All rules of a group. A path is allowed where both readings of percent-encoding allow it.

    RFC 9309 (2.2.2) decodes escaped unreserved characters before comparing (``%7E`` is ``~``); the reference parser of
    those who wrote it does not, and its published cases hold it to that. An Allow line that only one of them sees
    grants nothing, a Disallow line that only one of them sees is obeyed.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        as_written = [_respelled(rule, _capital_escapes(rule.pattern)) for rule in rules]
        normal = [_respelled(rule, _spell_pattern(rule.pattern)) for rule in as_written]
        self._literal = _Table(as_written)
        self._normal = self._literal if normal == as_written else _Table(normal)

    def match(self, path: str) -> Match | None:
        """The line that decides on ``path`` (with query, of a canonical URL); None where none applies."""
        if _NEEDS_SPELLING(path) is None:
            literal = normal = path
        else:
            literal, normal = _capital_escapes(path), _PATH_SPELLING.sub(_spell, path)
        found = self._literal.match(literal)
        if (found is None or found.allowed) and (self._normal is not self._literal or normal != literal):
            second = self._normal.match(normal)
            if second is not None and not second.allowed:
                return second
        return found


class _Table:
    """Rules in one spelling."""

    def __init__(self, rules: list[Rule]) -> None:
        self._exact: dict[str, Rule] = {}
        self._wildcards: list[tuple[int, str, _Wildcard]] = []  # strength, its longest part, the pattern
        prefixes: dict[str, Rule] = {}
        budget = MAX_WILDCARD_TEXT
        for rule in rules:
            wildcard = _Wildcard.of(rule)
            if not wildcard.parts:
                _keep_strongest(self._exact if wildcard.at_end else prefixes, wildcard.head, rule)
                continue
            budget -= len(rule.pattern)
            if budget >= 0:
                self._wildcards.append((rule.strength, max(wildcard.parts, key=len), wildcard))
            elif not rule.match.allowed:
                _keep_strongest(prefixes, wildcard.head, _widened(rule))
        self._wildcards.sort(key=lambda entry: -entry[0])
        self._prefixes = sorted(prefixes)
        self._parents, self._best = _ancestry(self._prefixes, prefixes)

    def match(self, path: str) -> Match | None:
        best = self._exact.get(path)
        place = bisect_right(self._prefixes, path) - 1
        while place >= 0 and not path.startswith(self._prefixes[place]):
            place = self._parents[place]
        if place >= 0:
            best = _stronger(self._best[place], best)
        least = best.strength if best is not None else 0
        for strength, part, wildcard in self._wildcards:
            if strength <= least:
                break
            if part in path and wildcard.matches(path):
                return wildcard.match
        return best.match if best is not None else None


@dataclass(frozen=True, slots=True)
class _Wildcard:
    """A pattern cut at its stars: ``head``, then ``parts`` anywhere after each other, the last one at the end if so."""

    head: str
    parts: tuple[str, ...]
    at_end: bool
    match: Match

    @classmethod
    def of(cls, rule: Rule) -> "_Wildcard":
        body = rule.pattern.removesuffix("$")
        at_end = body != rule.pattern and not body.endswith("*")
        head, *rest = body.split("*")
        parts = tuple(part for part in rest if part)
        return cls(head, parts, at_end, rule.match)

    def matches(self, path: str) -> bool:
        if not path.startswith(self.head):
            return False
        place = len(self.head)
        for part in self.parts[:-1] if self.at_end else self.parts:
            found = path.find(part, place)
            if found < 0:
                return False
            place = found + len(part)
        return not self.at_end or path.endswith(self.parts[-1], place)


def _stronger(rule: Rule, other: Rule | None) -> Rule:
    return rule if other is None or rule.strength >= other.strength else other


def _keep_strongest(table: dict[str, Rule], key: str, rule: Rule) -> None:
    table[key] = _stronger(rule, table.get(key))


def _widened(rule: Rule) -> Rule:
    """A Disallow line beyond the budget, read up to its first star: it forbids more than it says, never less."""
    return replace(rule, match=Match(False, f"{rule.match.rule} (one of too many, read up to its first *)"))


def _respelled(rule: Rule, pattern: str) -> Rule:
    return rule if pattern == rule.pattern else Rule(pattern, rule.match)


def _ancestry(ordered: list[str], rules: dict[str, Rule]) -> tuple[list[int], list[Rule]]:
    """For each prefix the place of the longest other one it starts with (-1: none), and the strongest rule of them."""
    parents: list[int] = []
    best: list[Rule] = []
    for place, prefix in enumerate(ordered):
        parent = place - 1
        while parent >= 0 and not prefix.startswith(ordered[parent]):
            parent = parents[parent]
        parents.append(parent)
        best.append(_stronger(rules[prefix], best[parent] if parent >= 0 else None))
    return parents, best


def _capital_escapes(text: str) -> str:
    """``%2f`` is ``%2F`` (RFC 3986, 2.1); characters outside ASCII stay."""
    return _ESCAPE.sub(lambda escape: escape[0].upper(), text) if "%" in text else text


def _spell_pattern(pattern: str) -> str:
    """As RFC 9309 compares it; ``*`` and a ``$`` at the end keep their meaning, others are characters (2.2.3)."""
    if _NEEDS_SPELLING(pattern) is None:
        return pattern
    body = pattern.removesuffix("$")
    return _PATTERN_SPELLING.sub(_spell, body) + pattern[len(body) :]


def _spell(found: re.Match[str]) -> str:
    text = found[0]
    if len(text) == 3:
        character = chr(int(text[1:], 16))
        return character if character in _UNRESERVED else text.upper()
    return "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass"))
