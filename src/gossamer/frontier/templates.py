"""The template table: what is known of URLs that differ in nothing but numbers and ids."""

from collections import OrderedDict
from dataclasses import dataclass, field

import apsw
import numpy as np

from gossamer.archive.database import select, select_one
from gossamer.parse.sketch import Hashes, Sketch
from gossamer.policy.novelty import Budget
from gossamer.policy.templates import family

_CACHED = 4096
_KNOWN = 2048
"""Hashes that are kept of a template's texts: those met last, for what was new once may be repeated for ever."""


_NOTHING: Hashes = np.zeros(0, dtype=np.uint32)


_WHOLE = "SELECT id, key, credit, judged, novel, barren, opened, known FROM template"
_BY_ID = f"{_WHOLE} WHERE id = ?"
_BY_KEY = f"{_WHOLE} WHERE key = ?"
_STANDING = "SELECT id, credit, judged, novel, barren FROM template WHERE key = ?"


@dataclass(slots=True)
class Template:
    """A row of the table, as the writer thread works on it."""

    id: int
    key: str
    budget: Budget
    opened: int = 0  # its pages that were the first to lead to something else
    known: Hashes = field(default_factory=lambda: _NOTHING)  # of the texts of its pages, those met last at the end

    def is_news(self, sketch: Sketch) -> bool:
        """Whether a text is new; it is known from now on."""
        new = sketch.unknown(self.known)
        self.known = np.concatenate((sketch.others(self.known), sketch.hashes))[-_KNOWN:]
        return sketch.is_news(len(new))


class TemplateTable:
    """Templates by key and by id; runs in the writer thread, inside the caller's transaction."""

    def __init__(self, connection: apsw.Connection, budget: int) -> None:
        self._connection = connection
        self._budget = budget
        self._by_key: OrderedDict[str, Template] = OrderedDict()
        self._by_id: dict[int, Template] = {}  # the same
        self._changed: dict[int, Template] = {}
        self._limits: dict[int, int | None] = {}

    def find(self, key: str) -> Template | None:
        """The template with this key, where it has a row."""
        known = self._by_key.get(key)
        return known if known is not None else self._load(_BY_KEY, key)

    def look_up(self, key: str) -> Template | None:
        """The same for who only asks how it stands: without its texts, and nothing is kept."""
        known = self._by_key.get(key)
        if known is not None:
            return known
        row = self._connection.execute(_STANDING, (key,)).fetchone()
        return None if row is None else Template(row[0], key, Budget(*row[1:]))

    def get(self, template_id: int) -> Template:
        """The template of a row that names it."""
        known = self._by_id.get(template_id)
        if known is not None:
            return known
        found = self._load(_BY_ID, template_id)
        if found is None:
            raise KeyError(template_id)
        return found

    def make(self, key: str, most: float | None = None) -> Template:
        """A new row, with a whole budget or ``most`` of it, but for one page at least."""
        credit = float(self._budget) if most is None else max(1.0, min(most, self._budget))
        self._connection.execute("INSERT INTO template (key, credit) VALUES (?, ?)", (key, credit))
        template = Template(self._connection.last_insert_rowid(), key, Budget(credit))
        self._limits[template.id] = template.budget.under_way(self._budget)
        return self._keep(template)

    def family_of(self, url: str) -> Template:
        """The template of the family of a URL; it has a row from now on."""
        key = family(url)
        return self.find(key) or self.make(key)

    def members(self, of: Template) -> list[Template]:
        """The templates whose URLs belong to a family by their looks."""
        start = of.key.removesuffix("*")
        rows = select(
            self._connection, "SELECT key FROM template WHERE key >= ? AND key < ?", (start, start + "\U0010ffff")
        )
        keys = [key for (key,) in rows if key != of.key and family(f"http://{key}") == of.key]
        return [found for key in keys if (found := self.find(key)) is not None]

    def note(self, template: Template) -> None:
        """Its row is to be written at the end of the transaction."""
        self._changed[template.id] = template

    def flush(self) -> None:
        """Write what changed, as a last step of the transaction."""
        self._connection.executemany(
            "UPDATE template SET credit = ?, judged = ?, novel = ?, barren = ?, opened = ?, known = ? WHERE id = ?",
            [
                (
                    each.budget.credit,
                    each.budget.judged,
                    each.budget.novel,
                    each.budget.barren,
                    each.opened,
                    each.known.astype("<u4").tobytes(),
                    each.id,
                )
                for each in self._changed.values()
            ],
        )
        self._limits |= {each.id: each.budget.under_way(self._budget) for each in self._changed.values()}
        self._changed.clear()

    def take_limits(self) -> tuple[tuple[int, int | None], ...]:
        """What changed since the last time: templates, and how many URLs of each may be under way."""
        limits, self._limits = self._limits, {}
        return tuple(limits.items())

    def _load(self, query: str, value: int | str) -> Template | None:
        row = select_one(self._connection, query, (value,))
        if row is None:
            return None
        number, key, credit, judged, novel, barren, opened, known = row
        hashes = np.frombuffer(known, dtype="<u4").astype(np.uint32) if known else _NOTHING
        return self._keep(Template(number, key, Budget(credit, judged, novel, barren), opened, hashes))

    def _keep(self, template: Template) -> Template:
        self._by_key[template.key] = self._by_id[template.id] = template
        while len(self._by_key) > _CACHED:
            key, oldest = self._by_key.popitem(last=False)
            if oldest.id in self._changed:  # it is needed until it is written
                self._by_key[key] = oldest
                break
            del self._by_id[oldest.id]
        return template
