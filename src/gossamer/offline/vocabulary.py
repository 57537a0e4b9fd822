"""Texts to numbers of words, by the analysis of the collection's own index, so that a copy finds what that finds."""

import re
from typing import cast

import apsw

from gossamer.archive import index

_RUN = re.compile("[0-9A-Za-z\x80-\U0010ffff]+")
"""What FTS5's unicode61 never cuts anywhere else: of ASCII only letters and digits are parts of words."""

_KEPT = 200_000  # runs whose words are remembered
_LONGEST = 64  # characters of such a run
_LETTERS = (range(0x80, 0x3000), range(0xA000, 0xAC00), range(0xFB00, 0xFE00), range(0x10000, 0x12000))
"""Where there are scripts with upper and lower case, or accents."""


class Vocabulary:
    """Numbers words from 1 on, in the order met."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._tokenize = connection.fts5_tokenizer(*index.TOKENIZER)
        self._known: dict[str, list[int]] = {}
        self.numbers: dict[str, int] = {}

    def read(self, text: str) -> list[int]:
        """The words of a text; 0 between runs of CJK that are no neighbours."""
        found: list[int] = []
        known = self._known
        for run in _RUN.findall(index.analyse(text)):
            found += known.get(run) or self._learn(run)
        return found

    def _learn(self, run: str) -> list[int]:
        words = [0 if word == index.GAP else self._number(word) for word in self._words(run)]
        if len(run) <= _LONGEST:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[run] = words
        return words

    def _number(self, word: str) -> int:
        return self.numbers.setdefault(word, len(self.numbers) + 1)

    def _words(self, text: str) -> list[str]:
        return cast(
            "list[str]",  # what it returns depends on its flags
            self._tokenize(
                text.encode("utf-8", "replace"),
                apsw.FTS5_TOKENIZE_DOCUMENT,
                None,
                include_offsets=False,
                include_colocated=False,
            ),
        )

    def folding(self) -> dict[str, str]:
        """Letters whose lower case without accents is another than their lower case; "" for accents that stand alone.

        The tokenizer is asked: its tables are older than those of browsers, and it keeps the accents of some scripts.
        """
        folded: dict[str, str] = {}
        for letter in (chr(code) for letters in _LETTERS for code in letters):
            words = self._words(f"0{letter}0")  # digits, so that nothing is taken off as the ending of a word
            if len(words) == 1 and (alone := words[0][1:-1]) != letter.lower():
                folded[letter] = alone
        return folded
