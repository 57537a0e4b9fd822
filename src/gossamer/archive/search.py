"""Searching the archive: ranked pages, their newest versions, duplicates folded to one."""

import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

import apsw

from gossamer.archive import index
from gossamer.archive.query import Query, Term, Tokenizer, parse
from gossamer.archive.snippet import Marker, snippet
from gossamer.url import canonicalise, origin, path_and_query

WEIGHTS = (2.0, 1.0, 1.0)
"""BM25 weights of title, URL and text. On CACM: see bench/search.py."""

ALL_FIRST = 3
"""Up to so many words, pages that have all of them come before the others."""

MAX_WORDS = 24
"""Of a longer query the rarest words are taken."""

COMMON = 0.25
"""A word that stands in more than this share of the pages is left out of a query of more than ALL_FIRST words."""

_CHEAP = 100  # pages: a word in fewer costs nothing


_IN_SITE = """EXISTS (SELECT 1 FROM host WHERE host.id = url.host
    AND (substr('.' || hostname, -length(?)) = ? OR substr(origin, -length(?)) = ?)
    AND substr(url.url, length(origin) + 1, length(?)) = ?)"""


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
    with connection:  # one view of a database that a crawl may be writing to
        query = parse(connection, text)
        marker = Marker(Tokenizer(connection), query)
        hits = []
        for number, found in enumerate(_folded(connection, query)):
            if number >= offset + limit:
                break
            if number >= offset:
                hits.append(_hit(connection, found, marker))
    return hits


def ranked(connection: apsw.Connection, text: str) -> Iterator[tuple[int, float]]:
    """(page id, score) of every page found, best first: the ranking alone, for measuring it."""
    return ((found.page, found.score) for found in _found(connection, parse(connection, text)))


def _folded(connection: apsw.Connection, query: Query) -> Iterator[_Found]:
    seen: set[bytes] = set()
    for found in _found(connection, query):
        if not found.text_digest:
            yield found
        elif found.text_digest not in seen:
            seen.add(found.text_digest)
            yield found


def _found(connection: apsw.Connection, query: Query) -> Iterator[_Found]:
    if query.is_empty:
        return
    terms = len(query.words) + len(query.required)
    if len(query.words) > ALL_FIRST:
        query = replace(query, words=_telling(connection, query.words))
    elif query.words and (terms > 1 or len(query.words[0].parts) > 1):
        # no score of a page that lacks a word reaches this: BM25 is below idf * (k1 + 1) for each phrase
        lead = 2.2 * math.log(_pages(connection) + 2) * _most_phrases(query)
        seen = set()
        for found in _matching(connection, query, query.matching_all()):
            seen.add(found.page)
            yield replace(found, score=found.score + lead)
        yield from (found for found in _matching(connection, query, query.matching_any()) if found.page not in seen)
        return
    yield from _matching(connection, query, query.matching_any())


def _most_phrases(query: Query) -> int:
    return sum((len(term.parts) + 1) * term.times for term in query.words + query.required)


def _matching(connection: apsw.Connection, query: Query, expression: str) -> Iterator[_Found]:
    """The newest versions that match, best first; SQLite hands them out one by one."""
    condition, bindings = _sites(query)
    rows = connection.execute(
        f"""SELECT page.id, page.url, url.url, page.title, page.fetched, page.text_digest, page.canonical, -rank
        FROM page_index CROSS JOIN page ON page.id = page_index.rowid CROSS JOIN url ON url.id = page.url
        WHERE page_index MATCH ? AND rank MATCH ?{condition}
        AND NOT EXISTS (SELECT 1 FROM page AS newer
            WHERE newer.url = page.url AND newer.attempt > page.attempt AND newer.is_indexed = 1)
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
    """Of a long query, the words that tell pages apart: the most frequent ones cost most and say least."""
    pages = _pages(connection)
    counted = sorted(((_frequency(connection, word), number) for number, word in enumerate(words)))
    known = [(count, number) for count, number in counted if count > 0] or counted
    rare = [(count, number) for count, number in known if count <= max(COMMON * pages, _CHEAP)] or known[:ALL_FIRST]
    return tuple(words[number] for number in sorted(number for _, number in rare[:MAX_WORDS]))


def _frequency(connection: apsw.Connection, word: Term) -> int:
    """In how many pages a word stands; of several parts, the rarest counts."""
    counts = []
    for part in word.parts:
        for stem in part.stems:
            row = connection.execute("SELECT doc FROM dictionary WHERE term = ?", (stem,)).fetchone()
            counts.append(int(row[0]) if row else 0)
    return min(counts)


def _pages(connection: apsw.Connection) -> int:
    row = connection.execute("SELECT value FROM counter WHERE name = 'pages'").fetchone()
    return int(row[0]) if row else 0


def _hit(connection: apsw.Connection, found: _Found, marker: Marker) -> Hit:
    row = connection.execute("SELECT blob FROM text WHERE page = ?", (found.page,)).fetchone()
    try:
        text = index.inflate(row[0]) if row else ""
    except zlib.error:  # verify says so; the page is found all the same
        text = ""
    shown, others = _representative(connection, found)
    piece, marks = snippet(text, marker)
    return Hit(shown.url, shown.title, piece, marks, shown.score, shown.fetched, others)


def _representative(connection: apsw.Connection, found: _Found) -> tuple[_Found, int]:
    """Which of the pages with one text is shown, and how many others there are.

    The canonical one when it was fetched and has this very text, otherwise the best.
    """
    if not found.text_digest:
        return found, 0
    same = "FROM page JOIN url ON url.id = page.url WHERE text_digest = ? AND is_indexed = 1"
    others = int(connection.execute(f"SELECT count(DISTINCT page.url) - 1 {same}", (found.text_digest,)).get)
    if found.canonical and others:
        row = connection.execute(
            f"SELECT url.url, page.title, page.fetched {same} AND url.url = ? ORDER BY attempt DESC LIMIT 1",
            (found.text_digest, found.canonical),
        ).fetchone()
        if row:
            return replace(found, url=row[0], title=row[1], fetched=row[2]), others
    return found, others
