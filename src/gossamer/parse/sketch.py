"""What a text says, in a few hundred numbers: enough to see whether another text says something new.

Numbers and names of days and months count as one and the same word: pages of a calendar or a counter are alike.
Where a script has no spaces between words, as Chinese, Japanese and Thai, each character counts as a word. Everything is
done on whole arrays, because a page has thousands of words.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint32]

SAMPLE = 256
"""Hashes that are kept of a text: the smallest, so that equal parts of two texts have the same ones (bottom-k)."""

MAX_TEXT = 50_000
"""Characters that are looked at."""

_SHARE = 0.25  # of a text that is new: it is news,
_ENOUGH = 3  # and so are so many groups of three words: one new word stands in three
_ENOUGH_WORDS = 8
_SHARE_OF_WORDS = 0.25

_DATES = (
    # English, with what tables of a calendar are headed by
    "january february march april may june july august september october november december jan feb mar apr jun jul aug"
    " sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun mo tu we"
    " th fr sa su am pm st nd rd"
    # German
    " januar februar märz mai juni juli oktober dezember jän mär okt dez montag dienstag mittwoch donnerstag freitag"
    " samstag sonnabend sonntag di mi do"
    # French
    " janvier février mars avril juin juillet août septembre octobre novembre décembre janv févr juil lundi mardi"
    " mercredi jeudi vendredi samedi dimanche lun mer jeu ven sam dim"
    # Spanish, Portuguese, Italian
    " enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre ene abr ago dic lunes"
    " martes miércoles jueves viernes sábado domingo janeiro fevereiro março maio junho julho setembro outubro novembro"
    " dezembro segunda terça quarta quinta sexta gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre"
    " lunedì martedì mercoledì giovedì venerdì sabato domenica gen mag giu lug set ott"
    # Dutch, Swedish
    " januari februari maart mei augustus maandag dinsdag woensdag donderdag vrijdag zaterdag zondag maj augusti måndag"
    " tisdag onsdag torsdag fredag lördag söndag"
    # Polish, Russian
    " styczeń luty marzec kwiecień czerwiec lipiec sierpień wrzesień październik listopad grudzień poniedziałek wtorek"
    " środa czwartek piątek sobota niedziela январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь"
    " декабрь января февраля марта апреля мая июня июля августа сентября октября ноября декабря понедельник вторник"
    " среда четверг пятница суббота воскресенье пн вт ср чт пт сб вс"
    # Chinese and Japanese: days of the week, and numbers
    " 月 火 水 木 金 土 日 一 二 三 四 五 六 七 八 九 十 〇"
)
_LONGEST = 64  # bytes of a word; those behind count too, but not where they stand


_NO_WORD, _DIGIT = 0, 1  # what those bytes become; letters are lower case, and all others above 1
_LONG_CHARACTER = 0xE0  # the least first byte of a character of three bytes (RFC 3629, section 3)

_FOLD = bytes(
    _DIGIT
    if 48 <= byte <= 57
    else ord(chr(byte).lower())
    if byte < 128 and chr(byte).isalpha()
    else byte & -(byte >> 7)
    for byte in range(256)
)
_PLACES = np.random.default_rng(20260102).integers(0, 2**31, _LONGEST, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
_NUMBER = np.uint32(0x9E3779B9)


def _words(text: str, echo: str) -> Hashes:
    """A hash for each word; one that holds a digit, names a day or month, or is an echo, is the same as any other such."""
    words = _plain_words(text)
    words[_are_among(words, _DATE_HASHES)] = _NUMBER
    words[_are_among(words, np.sort(_plain_words(echo)))] = _NUMBER
    return words


def _plain_words(text: str) -> Hashes:
    text = text[:MAX_TEXT]
    lower = text if text.isascii() else text.lower()  # the table does it for ASCII
    data = np.frombuffer(lower.encode("utf-8", "replace").translate(_FOLD), dtype=np.uint8)
    starts = _starts(data)
    if not len(starts):
        return np.zeros(0, dtype=np.uint32)
    data, starts = data[starts[0] :], starts - starts[0]
    places = np.arange(len(data), dtype=np.int32) - np.repeat(
        starts.astype(np.int32), np.diff(starts, append=len(data))
    )
    hashes = np.add.reduceat(_PLACES.take(places, mode="clip") * data, starts, dtype=np.uint32)
    hashes ^= hashes >> np.uint32(16)
    hashes[np.logical_or.reduceat(data == _DIGIT, starts)] = _NUMBER
    return hashes


def _starts(data: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Where words begin: behind what is no part of one, and around characters of three bytes and more.

    Latin, Greek, Cyrillic, Hebrew and Arabic have two bytes in UTF-8 at the most; behind them come the scripts in which
    a sentence may be a single run, and those in which three characters say as much as a word.
    """
    inside = data != _NO_WORD
    starts = inside.copy()
    starts[1:] &= ~inside[:-1]
    if len(data) > 3 and data.max() >= _LONG_CHARACTER:
        follows = (data & 0xC0) == 0x80
        starts |= data >= _LONG_CHARACTER
        starts[2:] |= inside[2:] & ~follows[2:] & follows[1:-1] & follows[:-2]
    return np.flatnonzero(starts)


def _are_among(wanted: Hashes, ordered: Hashes) -> NDArray[np.bool_]:
    """For each, whether it stands in an ordered array; np.isin takes forty times as long."""
    if not len(ordered):
        return np.zeros(len(wanted), dtype=np.bool_)
    nearest = ordered[np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)]
    return np.equal(nearest, wanted)


_DATE_HASHES = np.sort(_plain_words(_DATES))


def _distinct(hashes: Hashes) -> Hashes:
    ordered = np.sort(hashes)  # np.unique takes seventy times as long
    return (
        ordered[np.concatenate((np.ones(1, dtype=np.bool_), ordered[1:] != ordered[:-1]))] if len(ordered) else ordered
    )


class Sketch:
    """A sample of the groups of three words in a text.

    ``echo``: words that say nothing, because the page only repeats what it was asked for.
    """

    def __init__(self, texts: Iterable[str], echo: str = "") -> None:
        words = _words("\n".join(texts), echo)
        padded = np.concatenate((np.zeros(2, np.uint32), words, np.zeros(2, np.uint32)))
        groups = padded[:-2] * np.uint32(0x9E3779B1) + padded[1:-1] * np.uint32(0x85EBCA6B)
        groups += padded[2:] * np.uint32(0xC2B2AE35)
        groups ^= groups >> np.uint32(15)
        groups *= np.uint32(0x2C1B3C6D)
        groups ^= groups >> np.uint32(13)
        distinct = _distinct(groups)
        self.total = len(distinct)
        self.hashes = distinct[:SAMPLE]

    def unknown(self, known: Hashes) -> Hashes:
        """The part of the sample that is not among ``known``."""
        return self.hashes[~_are_among(self.hashes, np.sort(known))]

    def others(self, known: Hashes) -> Hashes:
        """The part of ``known`` that is not in the sample."""
        return known[~_are_among(known, self.hashes)]

    def is_news(self, unknown: int) -> bool:
        """Whether a text is new of whose sample so many are not known."""
        share = unknown / len(self.hashes)
        return share >= _SHARE or share * self.total >= _ENOUGH


def is_another_text(text: str, base: str, echo: str = "") -> bool:
    """Whether ``text`` says what ``base`` does not, in whatever order: more than a few words that do not stand there."""
    words = _distinct(_words(text, echo))
    new = int(np.count_nonzero(~_are_among(words, _distinct(_words(base, echo)))))
    return new >= _ENOUGH_WORDS or new > _SHARE_OF_WORDS * len(words)
