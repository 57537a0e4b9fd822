"""The links of a page as one compact blob: what stands in its database row and travels between processes."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgpack

from gossamer.errors import ArchiveError
from gossamer.records import FOLLOWED, Link, Via
from gossamer.url import MAX_URL

MAX_TEXT = 200
"""Characters of an anchor's text, and of a link that is no http(s) URL."""

Row = tuple[int, str, str] | tuple[int, str, str, int]
"""A link as it is packed: the number of its kind with two flags, the URL, the text, and its lastmod where it has one."""

# The numbers stand in databases: only ever add to the end.
_VIAS = (
    Via.SEED,
    Via.REDIRECT,
    Via.ANCHOR,
    Via.AREA,
    Via.FRAME,
    Via.IFRAME,
    Via.LINK,
    Via.REFRESH,
    Via.REQUISITE,
    Via.SITEMAP,
    Via.LISTED,
)
_CODES = {via: code for code, via in enumerate(_VIAS)}
_LEADING = frozenset(code for via, code in _CODES.items() if via in FOLLOWED)
_KIND = 0x0F
_NOFOLLOW = 0x10
_OTHER = 0x20

WEAK = frozenset({code | flags for code in _CODES.values() for flags in (_NOFOLLOW, _NOFOLLOW | _OTHER)}) | {
    _CODES[Via.REQUISITE],
    _CODES[Via.REQUISITE] | _OTHER,
}
"""The codes of links that make their URL known, but are no reason to fetch it: nofollow, or a requisite."""

KINDS = {code | flag: (via, bool(flag)) for code, via in enumerate(_VIAS) for flag in (0, _NOFOLLOW)}
"""The kind of link that a code means, and whether it is not to be followed."""


def row(via: Via, url: str, text: str, nofollow: bool, other: bool, lastmod: float | None = None) -> Row:
    """One link, ready to be packed."""
    code = _CODES[via] | (_NOFOLLOW if nofollow else 0) | (_OTHER if other else 0)
    return (code, url, text) if lastmod is None else (code, url, text, int(lastmod))


def follow(packed: Row) -> Row:
    """The same link without its nofollow."""
    return packed[0] & ~_NOFOLLOW, *packed[1:]


def distrust(packed: Row) -> Row:
    """The same link with nofollow, because its whole page asks for that."""
    return packed[0] | _NOFOLLOW, *packed[1:]


def pack_rows(rows: Sequence[Row]) -> bytes:
    """The blob of rows that are already made."""
    return bytes(msgpack.packb(rows))


def pack(links: Iterable[Link]) -> bytes:
    """The links of a page as one blob; equal links give equal bytes."""
    return pack_rows([row(link.via, link.url, link.text, link.nofollow, link.other, link.lastmod) for link in links])


def unpack(blob: bytes) -> tuple[Link, ...]:
    """The links that were packed; an empty blob holds none. Raises ArchiveError when the blob is damaged."""
    with _telling_of_damage():
        return tuple([_link(*row) for row in _rows(blob)])


def unpack_some(blob: bytes, places: Iterable[int]) -> tuple[Link, ...]:
    """Those links of a blob that stand at ``places``: to make a record of every one costs more than to read them all.

    Raises ArchiveError when the blob is damaged.
    """
    with _telling_of_damage():
        rows = _rows(blob)
        return tuple([_link(*rows[place]) for place in places])


def unpack_last(blob: bytes, count: int) -> list[str]:
    """The URLs of those of the last ``count`` links of a blob that lead to other pages. ArchiveError when it is damaged."""
    with _telling_of_damage():
        return [url for code, url, *_ in _rows(blob)[-count:] if code & _KIND in _LEADING and not code & _OTHER]


def unpack_of(blob: bytes, kinds: Collection[Via]) -> tuple[Link, ...]:
    """The links of a blob that are of some kinds. Raises ArchiveError when the blob is damaged."""
    codes = {_CODES[kind] for kind in kinds}
    with _telling_of_damage():
        return tuple([_link(*row) for row in _rows(blob) if row[0] & _KIND in codes])


def unpack_targets(blob: bytes) -> tuple[list[int], list[str]]:
    """The links of a blob as the codes of their kinds (see `KINDS`) and their URLs: to make records costs five times as much.

    Raises ArchiveError when the blob is damaged.
    """
    with _telling_of_damage():
        rows = _rows(blob)
        codes = [row[0] & (_KIND | _NOFOLLOW) for row in rows]
        if not KINDS.keys() >= set(codes):
            raise ValueError("unknown kind")
        return codes, [row[1] for row in rows]


def _rows(blob: bytes) -> Sequence[Any]:
    return msgpack.unpackb(blob, use_list=False) if blob else ()


@contextmanager
def _telling_of_damage() -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, LookupError, msgpack.UnpackException) as error:
        raise ArchiveError(f"the links of a page are damaged ({error})") from error


def _link(code: int, url: str, text: str, lastmod: int | None = None) -> Link:
    if not (isinstance(code, int) and isinstance(url, str) and isinstance(text, str)):
        raise TypeError("wrong type")
    if not 0 <= code <= _KIND | _NOFOLLOW | _OTHER or code & _KIND >= len(_VIAS):
        raise ValueError(f"unknown kind {code}")
    if len(url) > MAX_URL or len(text) > MAX_TEXT:
        raise ValueError("too long")
    if lastmod is not None and not isinstance(lastmod, int):
        raise TypeError("wrong type")
    return Link(url, _VIAS[code & _KIND], text, bool(code & _NOFOLLOW), bool(code & _OTHER), lastmod)
