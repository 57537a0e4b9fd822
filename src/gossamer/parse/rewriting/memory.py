"""What elements became in other documents of the same folder: a site's pages name the same places in the same words."""

import re
from dataclasses import dataclass

from gossamer.parse.rewriting.contract import Lookup, Reference
from gossamer.parse.rewriting.edits import Edit
from gossamer.parse.rewriting.linker import Linker

_MAX_TAG = 1000  # characters
_MAX_KEPT = 16 * 1024 * 1024  # characters of all that is kept

_BY_DOCUMENT = re.compile(r"[\t\n\f\r\0\\]|&(?!amp;)|[=\"'(, ]\s*(?:\?|https?:(?!//))", re.IGNORECASE)
"""In a tag: it may hold a link that means another place in another document of the folder (a query alone; ``http:x``), or one
that is not written as it is meant.
"""


@dataclass(frozen=True, slots=True)
class Kept:
    """An element that was pointed. Positions are from its beginning."""

    edits: tuple[Edit, ...]
    references: tuple[Reference, ...]
    places: frozenset[str | None]  # that these are saved at; what leads into its own document is written another way
    live: bool


class Memory:
    """Elements by their source, for each folder and encoding. It is about one table of places, and none else."""

    def __init__(self) -> None:
        self._folders: dict[tuple[str, str, str], dict[str, Kept]] = {}
        self._size = 0

    def of(self, linker: Linker) -> "Folder | None":
        """What is known of elements in the document of a linker; None where its links are no others' of the folder."""
        if linker.base != linker.url or linker.embeds:
            return None
        key = (linker.url.partition("?")[0].rpartition("/")[0], linker.place.rpartition("/")[0], linker.charset)
        return Folder(self, self._folders.setdefault(key, {}), linker.lookup, linker.place)

    def take(self, size: int) -> None:
        """Note what is kept; all is forgotten where it gets too much."""
        self._size += size
        if self._size > _MAX_KEPT:
            self._folders.clear()
            self._size = 0


class Folder:
    """Elements of the documents of one folder."""

    def __init__(self, memory: Memory, known: dict[str, Kept], lookup: Lookup, place: str) -> None:
        """``place``: of the document at hand."""
        self._memory = memory
        self._known = known
        self._lookup = lookup
        self._place = place

    def find(self, tag: str) -> Kept | None:
        """What became of an element elsewhere, where that is what it becomes here. ``tag``: its start tag."""
        kept = self._known.get(tag)
        return kept if kept is not None and self._place not in kept.places else None

    def keep(self, tag: str, edits: tuple[Edit, ...], references: tuple[Reference, ...], *, live: bool) -> None:
        """Note what became of an element, if that is so wherever it stands."""
        if len(tag) > _MAX_TAG or _BY_DOCUMENT.search(tag):
            return
        places = frozenset((self._lookup(each.url) or "").partition("\n")[0] for each in references if each.saved)
        if self._place not in places:
            self._known[tag] = Kept(edits, references, places, live)
            self._memory.take(2 * len(tag) + 200)
