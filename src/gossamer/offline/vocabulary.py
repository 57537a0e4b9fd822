"""Texts to numbers of words, by the analysis of the collection's own index, so that a copy finds what that finds."""

import re
from dataclasses import dataclass
from typing import cast

import apsw

from gossamer.archive import index

_RUN = re.compile("[0-9A-Za-z\x80-\U0010ffff]+")
"""What FTS5's unicode61 never cuts anywhere else: of ASCII only letters and digits are parts of words."""

_KEPT = 200_000  # runs whose words are remembered
_LONGEST = 64  # characters of such a run
_SCRIPTS = (range(0x30, 0x7B), range(0x80, 0xD800), range(0xE000, 0x20000), range(0xE0000, 0xE1000))
"""Where there are letters: ASCII, the first planes of Unicode, and marks that choose between forms of a letter."""

_CJK = re.compile(f"[{index.CJK}]")


@dataclass(frozen=True, slots=True)
class Alphabet:
    """How the tokenizer sees single characters, for who has to do as it does."""

    letters: str  # lower and upper case, digits: what words consist of but for CJK; pairs, the first and last of a row
    folding: dict[str, str]  # where that is not the lower case; "" for accents that stand alone and are left out


_known_alphabet: list[Alphabet] = []
"""All connections of a process have the same tokenizer."""


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

    def alphabet(self) -> Alphabet:
        """The tokenizer is asked, once: its tables are older than those of browsers, and it keeps the accents of some scripts."""
        if not _known_alphabet:
            _known_alphabet.append(self._asked())
        return _known_alphabet[0]

    def _asked(self) -> Alphabet:
        folding: dict[str, str] = {}
        rows: list[list[int]] = []
        for code in (code for script in _SCRIPTS for code in script):
            letter = chr(code)
            if _CJK.match(letter):
                continue
            words = self._words(f"0{letter}0")  # digits, so that nothing is taken off as the ending of a word
            if len(words) > 1:
                continue
            folded = words[0][1:-1]
            if folded != letter.lower():
                folding[letter] = folded
            if folded and rows and rows[-1][1] == code - 1:
                rows[-1][1] = code
            elif folded:
                rows.append([code, code])
        return Alphabet("".join(chr(code) for row in rows for code in row), folding)
