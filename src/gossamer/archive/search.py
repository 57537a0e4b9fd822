"""Searching the archive: ranked pages, their newest versions, duplicates folded to one."""

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import apsw

from gossamer.archive import index, titles
from gossamer.archive.query import Query, Term, Tokenizer, parse
from gossamer.archive.snippet import Marker, snippet
from gossamer.archive.titles import TitleMatch
from gossamer.url import canonicalise, origin, path_and_query

WEIGHTS = (2.0, 1.0, 1.0)
"""BM25 weights of title, URL and text; bench/search.py measures them."""

ALL_FIRST = 3
"""Up to so many words, pages that have all of them come before the others."""

MAX_WORDS = 24
"""Of a longer query the rarest words are taken."""

MAX_POSTINGS = 300_000
"""A long query is cut where its words stand in so many pages together, the most frequent words first: they cost most (some
150 ms) and say least."""

_IN_SITE = """EXISTS (SELECT 1 FROM host WHERE host.id = url.host
    AND (substr('.' || hostname, -length(?)) = ? OR substr(origin, -length(?)) = ?)
    AND substr(url.url, length(origin) + 1, length(?)) = ?)"""


_NEWEST = """ AND NOT EXISTS (SELECT 1 FROM page AS newer
    WHERE newer.url = page.url AND newer.attempt > page.attempt AND newer.is_kept = 1)"""
"""What an older version of a URL says counts no more, also where the newest asks not to be found."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. ``score`` falls from hit to hit; ``marks`` are (start, end) in ``snippet``."""

    url: str
    title: str
    snippet: str
    marks: tuple[tuple[int, int], ...]
    score: float
    fetched: float
    duplicates: int  # other URLs with the same text


@dataclass(frozen=True, slots=True)
class _Found:
    page: int
    url_id: int
    url: str
    title: str
    fetched: float
    text_digest: bytes | None
    canonical: str
    score: float


def search(connection: apsw.Connection, text: str, limit: int, offset: int = 0) -> list[Hit]:
    """The best pages for a query, from ``offset`` on, at most ``limit``. Nothing typed raises.

    Of every URL the newest version is searched; of pages with the same text one is shown.
    """
    hits: list[Hit] = []
    with connection:  # one view of a database that a crawl may be writing to
        searcher = _Searcher(connection, text)
        hits += map(searcher.hit, islice(searcher.folded(), offset, offset + limit))
    return hits


def ranked(connection: apsw.Connection, text: str) -> Iterator[tuple[int, float]]:
    """(page id, score) of every page found, best first: the ranking alone, for measuring it."""
    return ((found.page, found.score) for found in _Searcher(connection, text).found())


class _Searcher:
    """Everything about one query."""

    def __init__(self, connection: apsw.Connection, text: str) -> None:
        self._connection = connection
        self._query = parse(connection, text)
        self._pages = _pages(connection)
        tokenizer = Tokenizer(connection)
        self._titles = TitleMatch(connection, self._query, tokenizer, self._pages)
        self._marker = Marker(tokenizer, self._query)

    def folded(self) -> Iterator[_Found]:
        """What was found, of pages with the same text the best."""
        seen: set[bytes] = set()
        for found in self.found():
            if not found.text_digest:
                yield found
            elif found.text_digest not in seen:
                seen.add(found.text_digest)
                yield found

    def found(self) -> Iterator[_Found]:
        """Every page that matches, best first."""
        query = self._query
        if query.is_empty:
            return
        if len(query.words) > ALL_FIRST:
            query = replace(query, words=_telling(self._connection, query.words))
            yield from self._by_title(_matching(self._connection, query, query.matching_any()))
        elif query.words and len(query.words) + len(query.required) + len(query.words[0].parts) > 2:
            yield from self._in_two_steps(query)
        else:
            yield from self._by_title(_matching(self._connection, query, query.matching_any()))

    def _in_two_steps(self, query: Query) -> Iterator[_Found]:
        """Pages with everything, then those with any of it, whose scores never reach those of the first.

        BM25 is below idf * (k1 + 1) for each phrase, and FTS5's k1 is 1.2.
        """
        phrases = sum((len(term.parts) + 1) * term.times for term in query.words + query.required)
        lead = 2.2 * math.log(self._pages + 2) * phrases + titles.WEIGHT
        seen = set()
        for found in self._by_title(_matching(self._connection, query, query.matching_all())):
            seen.add(found.page)
            yield replace(found, score=found.score + lead)
        others = _matching(self._connection, query, query.matching_any())
        yield from self._by_title(found for found in others if found.page not in seen)

    def _by_title(self, ranking: Iterator[_Found]) -> Iterator[_Found]:
        """The top of a ranking with what the titles say counted as well, then the rest of it."""
        top = [
            replace(found, score=found.score + self._titles.score(found.title))
            for found in islice(ranking, titles.LOOKED_AT)
        ]
        top.sort(key=lambda found: -found.score)
        yield from top
        yield from (replace(found, score=min(found.score, top[-1].score)) for found in ranking)

    def hit(self, found: _Found) -> Hit:
        """A result as it is shown."""
        row = self._connection.execute("SELECT blob FROM text WHERE page = ?", (found.page,)).fetchone()
        try:
            text = index.inflate(row[0]) if row else ""
        except zlib.error:  # verify says so; the page is found all the same
            text = ""
        shown, others = _representative(self._connection, found)
        piece, marks = snippet(text, self._marker)
        return Hit(shown.url, shown.title, piece, marks, shown.score, shown.fetched, others)


def _matching(connection: apsw.Connection, query: Query, expression: str) -> Iterator[_Found]:
    """The newest versions that match, best first; SQLite hands them out one by one."""
    condition, bindings = _sites(query)
    rows = connection.execute(
        f"""SELECT page.id, page.url, url.url, page.title, page.fetched, page.text_digest, page.canonical, -rank
        FROM page_index CROSS JOIN page ON page.id = page_index.rowid CROSS JOIN url ON url.id = page.url
        WHERE page_index MATCH ? AND rank MATCH ?{condition}{_NEWEST}
        ORDER BY rank""",  # noqa: S608 (the condition is made of constants)
        (expression, f"bm25({', '.join(map(str, WEIGHTS))})", *bindings),
    )
    return (_Found(*row) for row in rows)


def _sites(query: Query) -> tuple[str, list[str]]:
    """The condition for site: and -site:, with its bindings."""
    bindings: list[str] = []
    condition = ""
    for sites, joint, no in ((query.sites, " OR ", ""), (query.not_sites, " OR ", "NOT ")):
        tests = []
        for site in sites:
            host, path = _host_and_path(site)
            tests.append(_IN_SITE)
            bindings += [f".{host}"] * 2 + [f"://{host}"] * 2 + [path] * 2
        if tests:
            condition += f" AND {no}({joint.join(tests)})"
    return condition, bindings


def _host_and_path(site: str) -> tuple[str, str]:
    """What ``site:`` names, as hosts and paths stand in the database."""
    bare = site.partition("://")[2] or site
    url = canonicalise("http://" + bare.lstrip("./"))
    if url is None:
        return bare, ""
    return str(origin(url)).partition("://")[2], "" if "/" not in bare else path_and_query(url)


def _telling(connection: apsw.Connection, words: tuple[Term, ...]) -> tuple[Term, ...]:
    """Of a long query, the words that tell pages apart."""
    counted = sorted((_frequency(connection, word), number) for number, word in enumerate(words))
    rare = [(count, number) for count, number in counted if count > 0][:MAX_WORDS] or counted[:1]
    total = 0
    chosen: list[int] = []
    for count, number in rare:
        total += count * words[number].times
        if total > MAX_POSTINGS and len(chosen) >= ALL_FIRST:
            break
        chosen.append(number)
    return tuple(words[number] for number in sorted(chosen))


def _frequency(connection: apsw.Connection, word: Term) -> int:
    """In how many pages a word stands; of several parts, the rarest counts."""
    return min(titles.frequency(connection, stem) for part in word.parts for stem in part.stems)


def _pages(connection: apsw.Connection) -> int:
    row = connection.execute("SELECT value FROM counter WHERE name = 'pages'").fetchone()
    return int(row[0]) if row else 0


def _representative(connection: apsw.Connection, found: _Found) -> tuple[_Found, int]:
    """Which of the pages with one text is shown, and how many others there are.

    The canonical one when it was fetched and has this very text, otherwise the best.
    """
    if not found.text_digest:
        return found, 0
    same = f"FROM page JOIN url ON url.id = page.url WHERE text_digest = ? AND is_indexed = 1{_NEWEST}"
    others = int(connection.execute(f"SELECT count(DISTINCT page.url) - 1 {same}", (found.text_digest,)).get)
    if found.canonical and others:
        row = connection.execute(
            f"SELECT url.url, page.title, page.fetched {same} AND url.url = ?",
            (found.text_digest, found.canonical),
        ).fetchone()
        if row:
            return replace(found, url=row[0], title=row[1], fetched=row[2]), others
    return found, others
