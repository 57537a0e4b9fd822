"""Sitemaps and feeds: files that list URLs, read as far as their entries can be read. Pure.

XML sitemaps and their indexes (sitemaps.org), text files with a URL a line, RSS 2.0, RSS 1.0 and Atom. Namespaces and the
case of names are not looked at: too many files have them wrong. What tells an entry's own ``<loc>`` from an image's is
where it stands.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from gossamer.parse.dates import moment
from gossamer.parse.job import Limits
from gossamer.parse.xmltokens import Piece, Token, attributes, tokens
from gossamer.records import Via
from gossamer.url import MAX_URL

SITEMAP, INDEX, FEED, TEXT = "sitemap", "sitemap index", "feed", "text sitemap"
"""The kinds of lists."""

_ROOTS = {"urlset": SITEMAP, "sitemapindex": INDEX, "rss": FEED, "rdf": FEED, "feed": FEED}
_INNER = {"url": SITEMAP, "sitemap": INDEX, "channel": FEED, "item": FEED, "entry": FEED}
"""What such a file holds, where its root is wrong or missing."""

_PAGES = frozenset({"html", "head", "body"})
_ROOT_WITHIN = 20  # start tags by which a list is known
_SITEMAP_ENTRIES = frozenset({"url", "sitemap"})
_FEED_ENTRIES = frozenset({"channel", "feed", "item", "entry"})  # a feed names its own site as well
_AROUND = frozenset({"rss", "rdf", "channel", "feed", "urlset", "sitemapindex"})  # stand around entries, once each
_DATES = ("lastmod", "updated", "modified", "pubdate", "published", "date", "issued")  # dc:date, dcterms:modified, …
_OLDEST = 0.0
_TOMORROW = 86400.0  # seconds that a clock may be ahead; what is dated later than that says nothing
_LONGEST_FIELD = 2 * MAX_URL
_DEEPEST = 32  # elements open within one entry


@dataclass(frozen=True, slots=True)
class Entry:
    """One URL as it is written, and what the list says of it. ``via`` SITEMAP: it is a list itself."""

    url: str
    via: Via = Via.LISTED
    lastmod: float | None = None
    bases: tuple[str, ...] = ()  # what it is relative to (XML Base), the outermost first, as written


@dataclass(frozen=True, slots=True)
class Listing:
    """A file that was read as a list of URLs. ``is_cut``: it has more entries than are read."""

    kind: str
    entries: tuple[Entry, ...]
    is_cut: bool = False


def read(source: str, limits: Limits, now: float, *, announced: bool) -> Listing | None:
    """The entries of a file; None when it is no list of URLs.

    ``announced``: somebody says that it is a sitemap, so a wrong root is no reason not to read it, and neither is it that
    it is no XML. ``now``: dates after it are none.
    """
    kind = _kind(source, announced=announced)
    if kind:
        reader = _Reader(kind, now, limits.max_entries)
        entries, is_cut = _first(reader.read(source), limits.max_links)
        return Listing(kind, entries, is_cut or reader.is_cut)
    if announced and not source.lstrip().startswith("<"):
        entries, is_cut = _first(_lines(source), limits.max_entries)
        return Listing(TEXT, entries, is_cut) if entries else None
    return None


def _first(entries: Iterator[Entry], limit: int) -> tuple[tuple[Entry, ...], bool]:
    """Each URL once, with the first date that any of its entries has; whether there were more than ``limit``."""
    taken: dict[tuple[str, tuple[str, ...]], Entry] = {}
    for entry in entries:
        key = entry.url, entry.bases
        known = taken.get(key)
        if known is not None:
            if known.lastmod is None and entry.lastmod is not None:
                taken[key] = replace(known, lastmod=entry.lastmod)
        elif len(taken) == limit:
            return tuple(taken.values()), True
        else:
            taken[key] = entry
    return tuple(taken.values()), False


def _kind(source: str, *, announced: bool) -> str:
    for piece, name, _ in tokens(source, _ROOT_WITHIN):
        if piece is not Piece.START:
            continue
        kind = _ROOTS.get(name) or (_INNER.get(name) if announced else None)
        if kind:
            return kind
        if name in _PAGES or not announced:
            break
    return ""


def _lines(source: str) -> Iterator[Entry]:
    """sitemaps.org, "Text file": "The text file must have one URL per line"."""
    for line in source.splitlines():
        url = line.strip()
        if url[:8].lower().startswith(("http://", "https://")) and len(url) <= MAX_URL:
            yield Entry(url)


@dataclass(slots=True)
class _Open:
    """An entry while it is read."""

    name: str
    texts: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    size: int = 0
    linked: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)  # hrefs and their bases
    bases: tuple[str, ...] = ()
    about: str = ""
    is_permalink: bool = True
    stack: list[str] = field(default_factory=list)  # elements open within it

    def text(self, name: str) -> str:
        return "".join(self.texts.get(name, ())).strip()


class _Reader:
    """Reads the entries of an XML list; one that is not closed ends where the next begins."""

    def __init__(self, kind: str, now: float, limit: int) -> None:
        self.is_cut = False
        self._room = limit
        self._is_feed = kind == FEED
        self._starters = _FEED_ENTRIES if self._is_feed else _SITEMAP_ENTRIES
        self._newest = now + _TOMORROW
        self._open: _Open | None = None
        self._bases: dict[str, str] = {}  # of the elements around all entries, the outermost first

    def read(self, source: str) -> Iterator[Entry]:
        """The entries in order."""
        piece = Piece.END
        for token in tokens(source):
            yield from self._take(token)
            if self.is_cut:
                return
            piece = token[0]
        if self._open is not None and self._open.stack and piece is Piece.TEXT:
            self._open.texts.pop(self._open.stack[0], None)  # the file broke off here: half a URL is another one
        yield from self._finish()

    def _take(self, token: Token) -> Iterator[Entry]:
        piece, name, value = token
        if piece is Piece.TEXT:
            self._text(value)
        elif piece is Piece.START:
            if name in self._starters and not self._is_inside_something():
                yield from self._finish()
                self.is_cut = self._room == 0
                self._room -= 1
                given = attributes(value)
                self._open = _Open(
                    name, about=given.get("about", "") if name == "item" else "", bases=self._based(name, given)
                )
            else:
                self._start(name, value)
        elif self._open is not None and name == self._open.name:
            yield from self._finish()
        else:
            self._end(name)

    def _is_inside_something(self) -> bool:
        """Whether a name that starts entries is the child of another element here: ``<image><url>`` of a feed."""
        return self._is_feed and self._open is not None and bool(self._open.stack)

    def _based(self, name: str, given: dict[str, str]) -> tuple[str, ...]:
        """What the links within a start tag are relative to (XML Base, which Atom and many RSS files use)."""
        base = given.get("base", "")[:MAX_URL]
        if base and name in _AROUND:
            self._bases[name] = base
            return tuple(self._bases.values())
        return (*self._bases.values(), base) if base else tuple(self._bases.values())

    def _start(self, name: str, value: str) -> None:
        entry = self._open
        if entry is None:
            if name in _AROUND:
                self._based(name, attributes(value))
            return
        if not entry.stack:
            if name == "link" and value:
                self._link(entry, attributes(value))
            elif name == "guid":
                entry.is_permalink = attributes(value).get("ispermalink", "").lower() != "false"
        if len(entry.stack) < _DEEPEST:
            entry.stack.append(name)

    def _link(self, entry: _Open, given: dict[str, str]) -> None:
        """Atom's links, and the other languages of a sitemap's page (hreflang): those that lead to pages."""
        is_alternate = "alternate" in given.get("rel", "alternate").lower().split()
        if is_alternate and given.get("href") and entry.size < _LONGEST_FIELD * 16:
            entry.size += len(given["href"])
            base = given.get("base", "")[:MAX_URL]
            entry.linked.append((given["href"], (*entry.bases, base) if base else entry.bases))

    def _text(self, text: str) -> None:
        entry = self._open
        if entry is not None and len(entry.stack) == 1 and entry.size < _LONGEST_FIELD * 16:
            kept = text[:_LONGEST_FIELD]
            entry.size += len(kept)
            entry.texts[entry.stack[0]].append(kept)

    def _end(self, name: str) -> None:
        stack = self._open.stack if self._open is not None else []
        if name in stack:
            while stack.pop() != name:
                pass

    def _finish(self) -> Iterator[Entry]:
        entry, self._open = self._open, None
        if entry is None:
            return
        lastmod = self._lastmod(entry)
        if self._is_feed:
            written = [(entry.text("link"), entry.bases), *entry.linked]
            if not any(url for url, _ in written) and entry.is_permalink:
                written = [(entry.text("guid"), entry.bases), (entry.about, entry.bases)]
            via = Via.LISTED
        else:
            written = [(entry.text("loc"), entry.bases)]
            via = Via.SITEMAP if entry.name == "sitemap" else Via.LISTED
        yield from (Entry(url, via, lastmod, bases) for url, bases in written if url)
        if not self._is_feed:
            yield from (Entry(url, bases=bases) for url, bases in entry.linked)

    def _lastmod(self, entry: _Open) -> float | None:
        """The latest of its dates that can be true."""
        found = (moment(entry.text(name)) for name in _DATES if name in entry.texts)
        return max((date for date in found if date is not None and _OLDEST <= date <= self._newest), default=None)
