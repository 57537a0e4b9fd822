"""Search inside a copy, with no server: ``search.html`` and an index of plain scripts, of which a query loads a few.

All that browsers let a page on file:// read are scripts. Each of the index's calls ``gossamerPart(name, content)`` with
deflated bytes in base64, in which no text of a page can end a script or begin another:

    index      pages by id, where each word's script is, what ranks, and how letters are folded: JSON
    words-…    a stretch of the words in order, each with where it stands (`postings`)
    text-…     titles, places and texts of some pages: JSON
"""

import asyncio
import base64
import json
import math
import zlib
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from importlib.resources import files as resources

import apsw

from gossamer.archive import index, titles
from gossamer.archive.database import select, select_one
from gossamer.archive.look import look
from gossamer.archive.search import ALL_FIRST, WEIGHTS
from gossamer.archive.snippet import MAX_LOOKED_AT
from gossamer.offline.build import Built
from gossamer.offline.check import Observe
from gossamer.offline.files import Files
from gossamer.offline.manifest import FOLDER
from gossamer.offline.postings import GAP, Postings, packed
from gossamer.offline.versions import Version
from gossamer.offline.vocabulary import Vocabulary

PAGE = "search.html"

_FOLDER = f"{FOLDER}/search"
_PROGRAM = ("words.js", "index.js", "find.js", "snippet.js", "page.js")
_STEPS = 16  # in which a title's rarity is told
_TEXT = 48 * 1024  # bytes of text in one script, on average
_WORDS = 40 * 1024  # bytes of one script's words, at the least
_ONE_IN = 8  # words that a script may begin with


@dataclass(frozen=True, slots=True)
class _Page:
    """What is found: of pages with the same title and text one."""

    version: Version
    language: str
    others: int  # pages that are the same


@dataclass(frozen=True, slots=True)
class _Entry:
    """A page in the index. Lengths are in words."""

    page: _Page
    title: tuple[int, ...]  # numbers of its words
    url: int
    body: int
    size: int  # bytes of the text that is kept


def write_search_page(title: str, files: Files) -> tuple[str, ...]:
    """Write the search page and its program; gives their paths, the page's first. Raises ArchiveError."""
    places = PAGE, f"{_FOLDER}/search.js"
    for place, content in zip(places, (_page(title), _program()), strict=True):
        files.write(place, content)
    return places


async def write_index(connection: apsw.Connection, built: Built, files: Files, observe: Observe) -> tuple[str, ...]:
    """Write the index of what is saved; gives the paths of its files. Others come to their turn meanwhile.

    Found is what `gossamer search` finds of it. Raises ArchiveError when it can't be written.
    """
    places = []
    async for name, content in _index(connection, built, observe):
        places.append(f"{_FOLDER}/{name}.js")
        files.write(places[-1], _part(name, content))
    return tuple(places)


def _page(title: str) -> bytes:
    style = look() + _resource("map.css") + _resource("search", "page.css")
    page = _resource("search", "page.html").replace("$style", style)
    return page.replace("$title", escape(title)).encode("utf-8", "replace")


def _program() -> bytes:
    return "\n".join(_resource("search", name) for name in _PROGRAM).encode()


def _resource(*names: str) -> str:
    return resources("gossamer.offline").joinpath(*names).read_text(encoding="utf-8")


def _part(name: str, content: bytes) -> bytes:
    """A script that hands over bytes."""
    return b'gossamerPart("%s","%s")\n' % (name.encode(), base64.b64encode(zlib.compress(content)))


# --- the index


async def _index(connection: apsw.Connection, built: Built, observe: Observe) -> AsyncIterator[tuple[str, bytes]]:
    """Names and contents of its scripts."""
    vocabulary, postings = Vocabulary(connection), Postings()
    entries: list[_Entry] = []
    pages = _pages(connection, built)
    for number, page in enumerate(pages):
        observe("indexed", number, len(pages))
        entries.append(_read(connection, page, vocabulary, postings))
        await asyncio.sleep(0)
    postings.pack()
    scripts = list(_scripts(vocabulary, postings))
    shift = _shift(entries)
    yield (
        "index",
        _json(_core(entries, vocabulary, postings, [(first, name) for first, name, _ in scripts], 1 << shift)),
    )
    for _, name, content in scripts:
        yield name, content
        await asyncio.sleep(0)
    groups: dict[int, list[_Entry]] = defaultdict(list)
    for entry in entries:
        groups[entry.page.version.url_id >> shift].append(entry)
    for group, members in groups.items():
        yield f"text-{group}", _json([_shown(connection, each.page, built) for each in members])
        await asyncio.sleep(0)


def _pages(connection: apsw.Connection, built: Built) -> list[_Page]:
    """The pages that are searched, by the ids of their URLs: these stay when other pages come and go."""
    same: dict[tuple[str, bytes], list[tuple[Version, str, str]]] = defaultdict(list)
    for version in built.versions.values():
        row = select_one(
            connection,
            "SELECT ifnull(text_digest, x''), canonical, language FROM page WHERE id = ? AND is_indexed",
            (version.page,),
        )
        if row is not None:
            digest, canonical, language = row
            same[version.title, digest or version.url.encode()].append((version, canonical, language))
    pages = []
    for members in same.values():
        members.sort(key=lambda member: member[0].url_id)
        wanted = {canonical for _, canonical, _ in members}
        version, _, language = next((member for member in members if member[0].url in wanted), members[0])
        pages.append(_Page(version, language, len(members) - 1))
    return sorted(pages, key=lambda page: page.version.url_id)


def _read(connection: apsw.Connection, page: _Page, vocabulary: Vocabulary, postings: Postings) -> _Entry:
    """Take a page into the index."""
    version = page.version
    text = _text(connection, version)
    title, url, body = map(
        vocabulary.read, (index.clean(version.title), index.clean(index.url_words(version.url)), text)
    )
    postings.add(version.url_id, [*title, GAP, *url, GAP, *body])
    return _Entry(page, tuple(title), len(url), len(body), len(text[:MAX_LOOKED_AT].encode()))


def _text(connection: apsw.Connection, version: Version) -> str:
    rows = select(connection, "SELECT blob FROM text WHERE page = ?", (version.page,))
    try:
        return index.inflate(rows[0][0]) if rows else ""
    except zlib.error:  # verify says so; the page is found all the same
        return ""


def _scripts(vocabulary: Vocabulary, postings: Postings) -> Iterator[tuple[str, str, bytes]]:
    """The words in the order in which browsers compare them: first word, name and content of each script.

    Which words may begin one is told by themselves, so that a script stays as it is when another grows.
    """
    first, content = "", bytearray()
    for word, number in sorted(vocabulary.numbers.items(), key=lambda item: item[0].encode("utf-16-be")):
        name, data = word.encode(), postings.of(number)
        if len(content) >= _WORDS and zlib.crc32(name) % _ONE_IN == 0:
            yield first, _named(first), bytes(content)
            content.clear()
        if not content:
            first = word
        content += packed(len(name)) + name + packed(postings.frequencies[number]) + packed(len(data)) + data
    if content:
        yield first, _named(first), bytes(content)


def _named(first: str) -> str:
    return f"words-{sha256(first.encode()).hexdigest()[:16]}"


def _shift(entries: Sequence[_Entry]) -> int:
    """How many of the lowest bits of their ids pages in one script differ in."""
    most = sum(entry.size for entry in entries) / _TEXT
    groups, shift = {entry.page.version.url_id for entry in entries}, 0
    while len(groups) > max(1, most):
        groups, shift = {group >> 1 for group in groups}, shift + 1
    return shift


def _core(
    entries: Sequence[_Entry],
    vocabulary: Vocabulary,
    postings: Postings,
    scripts: Sequence[tuple[str, str]],
    group: int,
) -> object:
    """What is needed for every query."""
    ids = [entry.page.version.url_id for entry in entries]
    rarity = {
        number: math.log(1 + (len(entries) - pages + 0.5) / (pages + 0.5))
        for number, pages in postings.frequencies.items()
    }
    alphabet = vocabulary.alphabet()
    return {
        "ids": [new - old for old, new in zip([0, *ids], ids, strict=False)],
        "titles": [len(entry.title) for entry in entries],
        "urls": [entry.url for entry in entries],
        "bodies": [entry.body for entry in entries],
        "rarities": [round(_STEPS * _weigh(entry.title, rarity)) for entry in entries],
        "scripts": scripts,
        "group": group,
        "weights": WEIGHTS,
        "likeTitle": titles.WEIGHT,
        "allFirst": ALL_FIRST,
        "letters": alphabet.letters,
        "folding": alphabet.folding,
        "cjk": index.CJK,
    }


def _weigh(words: Iterable[int], rarity: dict[int, float]) -> float:
    return sum(count * rarity[word] for word, count in Counter(words).items() if word != GAP)


def _shown(connection: apsw.Connection, page: _Page, built: Built) -> list[object]:
    """What is shown of a page; of its text what snippets are cut from."""
    version = page.version
    text = _text(connection, version)[:MAX_LOOKED_AT]
    return [
        version.url_id,
        version.title.strip(),
        built.places[version.url],
        version.url,
        page.language,
        page.others,
        text,
    ]


def _json(content: object) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
