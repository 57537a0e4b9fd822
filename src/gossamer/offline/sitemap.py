"""The first page of a copy: the map of the whole site, what is saved highlighted, what is not listed with why.

One file that needs no other. It hangs on the archive and the choice alone: no time of today is in it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib.resources import files
from urllib.parse import quote, unquote

import apsw

from gossamer.archive.database import select
from gossamer.archive.look import look
from gossamer.offline.build import Built
from gossamer.records import Via
from gossamer.url import origin, path_and_query

MOST_UNSAVED = 5000
"""Pages that are not saved and stand in the map one by one; the others are counted by their reasons."""

_OPEN_UP_TO = 400  # entries of a map that is shown unfolded
_DEEPEST = 40  # folders in one another
_HOSTS = 3  # that are named
_REASON = 90  # characters
_UNITS = ("bytes", "kB", "MB", "GB", "TB")
_NOT_CHOSEN = "not chosen"


@dataclass(frozen=True, slots=True)
class Entry:
    """A page in the map."""

    url: str
    title: str
    place: str = ""  # its file; "" where it is not saved
    note: str = ""  # why it is not saved, or what a person should know of it


@dataclass(slots=True)
class _Folder:
    """A folder of the site; what it is called stands with who holds it."""

    folders: dict[str, "_Folder"] = field(default_factory=dict)
    entries: list[tuple[str, Entry]] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.entries) + sum(folder.size for folder in self.folders.values())


def site_map(
    connection: apsw.Connection, title: str, built: Built, chosen: Iterable[str], missing: Mapping[str, str]
) -> bytes:
    """The page. ``chosen``: URLs of saved files that a person chose; ``missing``: what is not saved, and why."""
    listed, start = set(chosen), _start(connection, built)
    saved = [
        Entry(url, version.title.strip(), built.places[url], "" if url == start else _note(url, built))
        for url, version in built.versions.items()
        if version.is_page or url in listed
    ]
    unsaved, others = _unsaved(connection, built, missing)
    parts = [
        *_head(title, built, saved, start),
        *_tools(bool(unsaved)),
        '<div class="tree">',
        *_tree([*saved, *unsaved]),
        "</div>",
        *_others(others),
        f"<script>{_resource('map.js')}</script>\n",
    ]
    return "".join(parts).encode("utf-8", "replace")


def _note(url: str, built: Built) -> str:
    if built.versions[url].trouble:
        return f"of an earlier day: {built.versions[url].trouble}"
    return "" if url in built.linked else "no saved page links here"


# --- what is not saved


def _unsaved(connection: apsw.Connection, built: Built, missing: Mapping[str, str]) -> tuple[list[Entry], Counter[str]]:
    """Pages of the site that are not saved, and how many more there are, by reason."""
    entries: list[Entry] = []
    others: Counter[str] = Counter()
    rows = connection.execute(
        "SELECT url, reason, state FROM url WHERE kind = 'internal' AND host IS NOT NULL AND via NOT IN (?, ?, ?)"
        " ORDER BY id",
        (Via.REQUISITE, Via.NEEDED, Via.SITEMAP),
    )
    for url, reason, state in rows:
        url = str(url)
        if url in built.places:
            continue
        why = missing.get(url) or str(reason) or ("not fetched" if state == 0 else _NOT_CHOSEN)
        if len(entries) < MOST_UNSAVED:
            entries.append(Entry(url, "", note=why))
        else:
            others[why[:_REASON]] += 1
    return entries, others


def _others(others: Counter[str]) -> Iterator[str]:
    if others:
        yield "<h2>More that is not saved</h2><table>"
        for reason, count in sorted(others.items(), key=lambda item: (-item[1], item[0]))[:100]:
            yield f"<tr><td>{count}<td>{escape(reason)}"
        yield "</table>"


# --- the head


def _head(title: str, built: Built, saved: list[Entry], start: str | None) -> Iterator[str]:
    count, size = len(built.versions), sum(version.size for version in built.versions.values())
    pages = sum(version.is_page for version in built.versions.values())
    hosts = Counter(origin(entry.url).host for entry in saved)
    yield '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
    yield '<meta name="viewport" content="width=device-width">\n<meta name="generator" content="Gossamer">\n'
    yield f"<title>{escape(title)}</title>\n<style>{look()}{_resource('map.css')}</style>\n"
    yield f"<h1>{escape(title)}</h1>\n"
    yield f'<p class="faint">{_number(pages, "page")} and {_number(count - pages, "file")} of '
    names = sorted(hosts, key=lambda host: (-hosts[host], host))
    yield f"{escape(', '.join(names[:_HOSTS]))}{' and others' if len(names) > _HOSTS else ''}, "
    yield f"{_size(size)}, {_days(version.fetched for version in built.versions.values())}. "
    yield "It is all here: no network is needed. A link with a dotted line leads to the live web.</p>\n"
    if start is not None:
        yield f'<p><a class="start" href="{_href(built.places[start])}">Start: {escape(_title_of(start, built))}</a></p>\n'
    yield '<form class="find" action="search.html" role="search"><input name="q" type="search" '
    yield 'placeholder="Search all texts" aria-label="Search all texts" autocomplete="off"></form>\n'


def _start(connection: apsw.Connection, built: Built) -> str | None:
    """Where the crawl began, as far as that is saved."""
    seeds = select(connection, "SELECT url FROM url WHERE depth = 0 AND host IS NOT NULL ORDER BY id LIMIT 100")
    ends = {place: url for url, version in built.versions.items() for place in [built.places[url]] if version.is_page}
    return next((ends[built.places[url]] for (url,) in seeds if built.places.get(url) in ends), None)


def _title_of(url: str, built: Built) -> str:
    return built.versions[url].title.strip() or url


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _size(size: float) -> str:
    power = next((power for power in range(len(_UNITS)) if size < 1000 ** (power + 1)), len(_UNITS) - 1)
    return f"{size / 1000**power:.{1 if power else 0}f} {_UNITS[power]}"


def _days(times: Iterable[float]) -> str:
    """From when to when it was fetched."""
    known = sorted(time for time in times if 0 < time < 1e11)
    days = [datetime.fromtimestamp(time, UTC).date().isoformat() for time in (known[0], known[-1])] if known else []
    if not days:
        return "of unknown age"
    return f"as of {days[0]}" if days[0] == days[1] else f"as of {days[0]} to {days[1]}"


def _tools(has_unsaved: bool) -> Iterator[str]:
    yield '<div class="tools" hidden><input id="filter" type="search" placeholder="Filter titles and addresses" '
    yield 'aria-label="Filter titles and addresses"><span id="said" class="faint" aria-live="polite"></span>'
    hidden = "" if has_unsaved else " hidden"
    yield f'<label{hidden}><input id="only" type="checkbox"> saved pages only</label>'
    yield '<button id="all" type="button">unfold</button><button id="none" type="button">fold</button></div>\n'


# --- the tree


def _tree(entries: list[Entry]) -> Iterator[str]:
    root = _Folder()
    for entry in entries:
        *names, last = path_and_query(entry.url).partition("?")[0][1:].split("/")
        at = root
        if len(names) > _DEEPEST:
            names[_DEEPEST:] = ["/".join(names[_DEEPEST:])]
        for name in (str(origin(entry.url)), *names):
            at = at.folders.setdefault(name, _Folder())
        query = entry.url.partition("?")[2]
        at.entries.append((f"{last}?{query}" if query else last, entry))
    yield "<ul>"
    for name, folder in sorted(root.folders.items(), key=_natural):
        yield from _folder(name, folder, depth=0, is_open=len(entries) <= _OPEN_UP_TO)
    yield "</ul>\n"


def _folder(name: str, folder: _Folder, *, depth: int, is_open: bool) -> Iterator[str]:
    while not folder.entries and len(folder.folders) == 1:  # nothing to choose between
        ((inner, folder),) = folder.folders.items()
        name = f"{name}/{inner}"
    own = next((entry for last, entry in folder.entries if not last), None)
    kind = "dir" if own is None else _class(own)
    opened = " open" if is_open or depth == 0 else ""
    yield f'<li class="dir {kind}"{_page(own)}><details{opened}><summary>{_label(name, own)} '
    yield f"<small>{folder.size:,}</small></summary><ul>"
    stack = sorted(folder.folders.items(), key=_natural)
    for inner, each in stack:
        yield from _folder(inner, each, depth=depth + 1, is_open=is_open)
    for last, entry in sorted(folder.entries, key=_natural):
        if entry is not own:
            yield f'<li class="{_class(entry)}"{_page(entry)}>{_link(entry, _shown(last))}'
    yield "</ul></details>"


def _natural(named: tuple[str, object]) -> list[tuple[int, str]]:
    """The order in which people count: page2 before page10."""
    return [(int(part[:18]) if part.isdecimal() else 0, part) for part in re.split(r"([0-9]+)", named[0])]


def _label(name: str, own: Entry | None) -> str:
    shown = f"<b>{escape(_shown(name))}/</b>"
    return shown if own is None else f"{shown} {_link(own, '')}"


def _link(entry: Entry, name: str) -> str:
    target = _href(entry.place) if entry.place else escape(entry.url)
    outside = "" if entry.place else ' rel="noreferrer"'
    text = entry.title or name or "/"
    more = f" <small>{escape(name)}</small>" if name and entry.title else ""
    note = f'<span class="tag">{escape(entry.note[:_REASON])}</span>' if entry.note else ""
    return f'<a href="{target}"{outside}>{escape(text)}</a>{more}{note}'


def _class(entry: Entry) -> str:
    if not entry.place:
        return "off"
    return "old" if entry.note.startswith("of an earlier day") else "on"


def _page(entry: Entry | None) -> str:
    return "" if entry is None else ' data-page="1"'


def _shown(name: str) -> str:
    """A name as people read it: not for use as an address."""
    return unquote(name, errors="replace")


def _href(place: str) -> str:
    return escape(quote(place))


@cache
def _resource(name: str) -> str:
    return (files("gossamer.offline") / name).read_text(encoding="utf-8")
