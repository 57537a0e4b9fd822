"""How much a page's title is what was asked for.

BM25 counts words; it does not see that "std::vector" is all of one title and a small part of another. Measured: known pages
of a documentation site by their titles, mean reciprocal rank .877 without and .964 with this (short titles .81 and .97);
CACM's MAP .355 and .361.
"""

import math
from collections import Counter

import apsw

from gossamer.archive.query import Query, Tokenizer

WEIGHT = 20.0
"""What a title that is just the query adds to a BM25 score."""

LOOKED_AT = 300
"""Pages at the top of a ranking whose titles are looked at."""

_LONGEST = 300  # characters of a title


class TitleMatch:
    """Compares titles with one query: the words they share, against all that stand in either, by how rare they are."""

    def __init__(self, connection: apsw.Connection, query: Query, tokenizer: Tokenizer, pages: int) -> None:
        self._connection = connection
        self._tokenizer = tokenizer
        self._pages = pages
        self._rarities: dict[str, float] = {}
        terms = query.required + query.words
        self._asked = Counter(stem for term in terms for part in term.parts for stem in part.stems)

    def score(self, title: str) -> float:
        """From 0 to WEIGHT."""
        title = title[:_LONGEST]
        words = Counter(stem for _, _, stem in self._tokenizer(title))
        words.update(self._tokenizer.cjk(title))
        shared = self._weigh(words & self._asked)
        return WEIGHT * shared / self._weigh(words | self._asked) if shared else 0.0

    def _weigh(self, words: Counter[str]) -> float:
        return sum(count * self._rarity(stem) for stem, count in words.items())

    def _rarity(self, stem: str) -> float:
        rarity = self._rarities.get(stem)
        if rarity is None:
            pages = frequency(self._connection, stem)
            rarity = self._rarities[stem] = math.log(1 + (max(self._pages, pages) - pages + 0.5) / (pages + 0.5))
        return rarity


def frequency(connection: apsw.Connection, stem: str) -> int:
    """In how many pages a word of the index stands."""
    found = connection.execute("SELECT doc FROM dictionary WHERE term = ?", (stem,)).get
    return found if isinstance(found, int) else 0
