"""Which pages a person wants to have offline."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import apsw

from gossamer.archive.database import select
from gossamer.archive.history import meant
from gossamer.errors import UsageError
from gossamer.policy.patterns import Patterns
from gossamer.records import State, Via

_GROUP = 1000  # rows that are read at once
_NAMED = 3  # URLs that an error names
_NO_PAGES = (Via.REQUISITE, Via.NEEDED, Via.SITEMAP)
"""How URLs were found that nobody chooses for themselves: they come along with the pages that need them."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is wanted; all given conditions must hold, and without any it is everything that was found."""

    listed: tuple[str, ...] | None = None  # these and no others, as a person writes them
    under: tuple[str, ...] = ()  # how the URLs begin
    include: tuple[str, ...] = ()  # any of these: see policy.patterns
    exclude: tuple[str, ...] = ()  # none of these
    depth: int | None = None  # links from a seed, at the most


@dataclass(frozen=True, slots=True)
class Chosen:
    """A URL that was chosen."""

    id: int
    url: str
    is_waiting: bool  # not fetched yet, and it could be
    reason: str  # why it is held, or failed


def chosen(connection: apsw.Connection, choice: Choice) -> list[Chosen]:
    """What was chosen, in the order found.

    A URL that is held is waiting only where it was named itself. Raises UsageError where a URL is not known, or nothing
    is chosen; SettingsError for a bad pattern.
    """
    wanted = None if choice.listed is None else _ids_of(connection, choice.listed)
    for start in choice.under:
        _check_known(connection, start)
    found = list(_matching(connection, choice, wanted))
    if not found:
        raise UsageError("no page of this collection is chosen", hint="gossamer urls lists what there is")
    return found


def _ids_of(connection: apsw.Connection, texts: tuple[str, ...]) -> frozenset[int]:
    ids = {text: meant(connection, text.partition("#")[0]) for text in texts}
    unknown = [text for text, url_id in ids.items() if url_id is None]
    if unknown:
        more = f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else ""
        raise UsageError(
            f"{', '.join(map(repr, unknown[:_NAMED]))}{more}: not in this collection",
            hint="gossamer urls lists what is, gossamer crawl DIR URL adds to it",
        )
    return frozenset(url_id for url_id in ids.values() if url_id is not None)


def _check_known(connection: apsw.Connection, start: str) -> None:
    if not select(connection, "SELECT 1 FROM url WHERE substr(url, 1, length(?1)) = ?1 LIMIT 1", (start,)):
        raise UsageError(f"no URL of this collection begins with {start!r}", hint="gossamer urls lists what there is")


def _matching(connection: apsw.Connection, choice: Choice, wanted: frozenset[int] | None) -> Iterator[Chosen]:
    include = Patterns(choice.include) if choice.include else None
    exclude = Patterns(choice.exclude)
    for number, url, depth, state, held, reason, via in _rows(connection):
        if wanted is None and (via in _NO_PAGES or (held and state == State.WAITING)):
            continue
        if wanted is not None and number not in wanted:
            continue
        if choice.under and not url.startswith(choice.under):
            continue
        if choice.depth is not None and depth > choice.depth:
            continue
        if (include is None or include.first_match(url) is not None) and exclude.first_match(url) is None:
            yield Chosen(number, url, state == State.WAITING, reason)


def _rows(connection: apsw.Connection) -> Iterator[tuple[Any, ...]]:
    after = 0
    while rows := select(
        connection,
        "SELECT id, url, depth, state, held, reason, via FROM url WHERE host IS NOT NULL AND id > ?"
        " ORDER BY id LIMIT ?",
        (after, _GROUP),
    ):
        yield from rows
        after = rows[-1][0]
