"""The query language: what a person types becomes terms, and terms become an expression for FTS5.

    words                 ranked over any of them; pages that have all come first when there are up to three
    "a phrase"            must stand in the page like this (but only ranks in a text of more than eight terms)
    title:word  url:word  must stand in the title, in the URL; title:"a phrase" too
    -word  -"a phrase"    must not stand in the page
    site:example.org      only this host and those below it; site:example.org/docs only what starts so; -site: not those

Nothing a person types is an error: what has no meaning as a query is taken as words, and every token is handed to FTS5
in quotes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import apsw

from gossamer.archive import index

MAX_TERMS = 400
"""Different terms of a query that are looked at; a longer query is cut."""

PROSE = 8
"""More terms than these are a text that was pasted in, where quotes do not mean "must stand like this"."""

_MAX_TERM = 500  # characters of one term
_MAX_PARTS = 40
_MAX_TIMES = 8
_MAX_SITES = 20
_TERM = re.compile(
    r"""(?P<minus>-(?!-))? (?:(?P<field>site|title|url):)? (?: "(?P<phrase>[^"]*)"? | (?P<word>\S+) )""",
    re.VERBOSE | re.IGNORECASE,
)
_RUN = re.compile(f"([{index.CJK}]+)")


@dataclass(frozen=True)
class Part:
    """A word as the index knows it, or a run of CJK characters: looked for as a phrase of ``stems``."""

    text: str
    stems: tuple[str, ...]
    is_cjk: bool = False


@dataclass(frozen=True)
class Term:
    """One thing that was asked for. ``std::vector`` is one term with the parts std and vector."""

    text: str
    parts: tuple[Part, ...]
    field: str = ""  # "" any, "title" or "url"
    times: int = 1  # a word said twice counts twice, as in BM25's query term frequency

    @cached_property
    def phrase(self) -> str:
        """The FTS5 expression for the term as it was written."""
        return _in_field(self.field, _quoted(self.text))

    @cached_property
    def all_parts(self) -> str:
        """The FTS5 expression for all parts of it, wherever they stand; as it was written counts for the rank."""
        parts = " AND ".join(self.alternatives)
        return f"({self.phrase} OR ({parts}))" if self.is_compound else parts

    @property
    def is_compound(self) -> bool:
        """Whether its parts in a row say more than each: not so in ``it's``, a rare row of common words."""
        return len(self.parts) > 1 and not ("'" in self.text or "’" in self.text)

    @cached_property
    def alternatives(self) -> list[str]:
        """The FTS5 expressions of its parts."""
        return [_in_field(self.field, _quoted(part.text)) for part in self.parts]


@dataclass(frozen=True)
class Query:
    """What was asked for. ``words`` rank; ``required`` and ``excluded`` decide."""

    words: tuple[Term, ...] = ()
    required: tuple[Term, ...] = ()
    excluded: tuple[Term, ...] = ()
    sites: tuple[str, ...] = ()
    not_sites: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.words and not self.required

    def matching_all(self) -> str:
        """The FTS5 expression for the pages that have everything that was asked for."""
        return self._without(" AND ".join([t.phrase for t in self.required] + [word.all_parts for word in self.words]))

    def matching_any(self) -> str:
        """The FTS5 expression for the pages that have what is required and, if there are words, any of them."""
        required = [term.phrase for term in self.required]
        # a required one stands among the alternatives, so that they are no condition but count for the rank
        any_of = required[:1]
        for word in self.words:
            any_of += [word.phrase] * word.is_compound + word.alternatives * word.times
        return self._without(" AND ".join([*required, f"({' OR '.join(any_of)})"]))

    def _without(self, expression: str) -> str:
        if not self.excluded:
            return expression
        return f"({expression}) NOT ({' OR '.join(term.phrase for term in self.excluded)})"


def parse(connection: apsw.Connection, text: str) -> Query:
    """The query a person typed. Raises nothing."""
    reader = _Reader(connection)
    terms: dict[tuple[str, Term], int] = {}  # how often
    sites: dict[str, list[str]] = {"": [], "-": []}
    for match in _TERM.finditer(index.clean(text).replace("\0", " ")):
        if len(terms) >= MAX_TERMS:
            break
        minus, field, phrase = match["minus"] or "", (match["field"] or "").lower(), match["phrase"]
        body = match["word"] if phrase is None else phrase
        if field == "site":
            sites[minus].append(body.lower())
        elif term := reader.term(body, field):
            key = minus or ("must" if field else "word" if phrase is None else "phrase"), term
            terms[key] = terms.get(key, 0) + 1
    return _query(terms, tuple(sites[""][:_MAX_SITES]), tuple(sites["-"][:_MAX_SITES]))


def _query(terms: Mapping[tuple[str, Term], int], sites: tuple[str, ...], not_sites: tuple[str, ...]) -> Query:
    """Who plays which part: in a text of many words phrases only rank; a minus needs something to be taken from."""
    ranking = {"word", "phrase"} if len(terms) > PROSE else {"word"}
    if {role for role, _ in terms} == {"-"}:  # `-r` alone is a word that somebody looks for
        ranking = {"-"}
    words = tuple(
        replace(term, times=min(times, _MAX_TIMES)) for (role, term), times in terms.items() if role in ranking
    )
    required = tuple(term for role, term in terms if role in {"must", "phrase"} - ranking)
    excluded = tuple(term for role, term in terms if role in {"-"} - ranking)
    return Query(words, required, excluded, sites, not_sites)


class Tokenizer:
    """FTS5's own tokenizer, as the index uses it, with offsets in characters."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._tokenize = connection.fts5_tokenizer(*index.TOKENIZER)

    def __call__(self, text: str) -> list[tuple[int, int, str]]:
        """(start, end, stem) of each word of ``text``; runs of CJK are left out."""
        text = _RUN.sub(_blank, text)
        data = text.encode()
        tokens = cast(
            "list[tuple[int, int, str]]",  # what it returns depends on its flags
            self._tokenize(data, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False),
        )
        if len(data) == len(text):
            return tokens
        return _in_characters(data, tokens)

    def cjk(self, text: str) -> str:
        """The CJK characters of ``text``, which are words of the index each."""
        return "".join(_RUN.findall(text))


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _in_characters(data: bytes, tokens: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    result = []
    at_byte = at_character = 0
    for start, end, stem in tokens:
        begin = at_character + len(data[at_byte:start].decode())
        at_character = begin + len(data[start:end].decode())
        at_byte = end
        result.append((begin, at_character, stem))
    return result


class _Reader:
    """Cuts what was typed into the parts that the index knows."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._tokenizer = Tokenizer(connection)

    def term(self, text: str, field: str) -> Term | None:
        text = index.fold_width(text).lower()
        parts = self._parts(text[:_MAX_TERM])
        if not parts:
            return None
        parts = parts[:_MAX_PARTS]
        return Term(text[: parts[-1][0]], tuple(part for _, part in parts), field)

    def _parts(self, text: str) -> list[tuple[int, Part]]:
        words = [(end, Part(text[start:end], (stem,))) for start, end, stem in self._tokenizer(text)]
        runs = [(match.end(), Part(match[0], tuple(match[0]), True)) for match in _RUN.finditer(text)]
        return sorted(words + runs, key=lambda item: item[0])


def _in_field(field: str, phrase: str) -> str:
    return f"{{{field}}} : {phrase}" if field else phrase


def _quoted(text: str) -> str:
    """A string of FTS5, in which nothing has a meaning."""
    return '"' + index.analyse(text).replace('"', '""') + '"'
