"""The full-text index: what is handed to FTS5 of a page, and the pages' texts beside it.

One analysis for pages and queries. FTS5's own tokenizer (porter over unicode61) does the common case in C; Python
touches only what it glues together: unicode61 makes one token of a whole run of Chinese, Japanese or Korean. Such a
run is cut into single characters, so that a phrase of characters finds exactly the pages that have them in a row.
"""

import re
import unicodedata
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

import apsw
from isal import isal_zlib

TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])
"""As the table ``page_index`` was made with."""

MAX_TEXT = 4 * 1024 * 1024
"""Characters of one page that are indexed and kept as text: a page can be a dump of a whole database."""

CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f\u30a1-\u30fa"
    "\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c"
    "\uac00-\ud7a3\ud7b0-\ud7fb\uf900-\ufaff\U0001b000-\U0001b2ff\U00020000-\U0003ffff"
)
"""Letters of Han, Hiragana, Katakana, Bopomofo and Hangul, as the inside of a character class: unicode61 makes a token
of each of them when it stands alone."""

_RUN = re.compile(f"([{CJK}]+)")
_VARIANT = "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uff9f\uffa0-\uffdc"
_WIDTH_VARIANTS = re.compile(f"[{_VARIANT}]+")
_LOOSE_SOUND_MARK = re.compile("[\u3041-\u30ff][\u3099\u309a]")
_NEEDS_WORK = re.compile(f"[{CJK}{_VARIANT}]")
_WESTERN = bytes(range(0xE1)) + b"\xe2"
"""What no character begins with in UTF-8 that needs work: U+2000 to U+2FFF are signs and symbols."""
GAP = "\uefff"
"""A private character: a token of its own, between characters that were not neighbours."""

_NO_WORD = re.compile(r"[\W_]*")


def analyse(text: str) -> str:
    """What FTS5 is given for ``text``, of a page and of a query alike.

    Two runs of CJK with nothing but punctuation or space between them are kept apart, so that a phrase does not reach
    over a full stop. Half- and full-width forms become the ordinary ones (Unicode Standard Annex 15, NFKC).
    """
    if _is_plain(text):
        return text
    pieces = _RUN.split(fold_width(text))  # other, run, other, run, …, other
    last = len(pieces) - 1
    return "".join(
        f" {' '.join(piece)} "
        if number % 2
        else f" {GAP} "
        if 0 < number < last and _NO_WORD.fullmatch(piece)
        else piece
        for number, piece in enumerate(pieces)
    )


def _is_plain(text: str) -> bool:
    """Whether nothing in a text needs work. To look for each such letter in a page would take longer than to index it."""
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        may_need_it = text.encode("utf-8", "surrogatepass").translate(None, _WESTERN)
        return not may_need_it or _NEEDS_WORK.search(text) is None
    return True


def fold_width(text: str) -> str:
    """``text`` with half-width katakana, full-width letters and loose sound marks as their ordinary forms."""
    text = _WIDTH_VARIANTS.sub(_normalise, text)
    return _LOOSE_SOUND_MARK.sub(_normalise, text) if "\u3099" in text or "\u309a" in text else text


def _normalise(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", match[0])


def url_words(url: str) -> str:
    """The words of a URL: host, path and query, with the percent-encoding undone where it is UTF-8."""
    return unquote(url.partition("://")[2], errors="replace")


@dataclass(frozen=True, slots=True)
class Entry:
    """What is indexed of a page."""

    page_id: int
    title: str
    url: str
    text: str


def insert(connection: apsw.Connection, entries: Sequence[Entry]) -> None:
    """Put pages into the index, inside the caller's transaction; none of them may stand there yet."""
    connection.executemany(
        "INSERT INTO page_index(rowid, title, url, text) VALUES (?, ?, ?, ?)", map(_indexed, entries)
    )
    connection.executemany(
        "INSERT INTO text(page, blob) VALUES (?, ?)",
        ((each.page_id, deflate(each.text[:MAX_TEXT])) for each in entries),
    )


def _indexed(entry: Entry) -> tuple[int, str, str, str]:
    title, url, text = (analyse(clean(each)) for each in (entry.title, url_words(entry.url), entry.text[:MAX_TEXT]))
    return entry.page_id, title, url, text


def delete(connection: apsw.Connection, page_id: int) -> None:
    """Take a page out of the index, inside the caller's transaction; nothing happens when it is not there."""
    connection.execute("DELETE FROM page_index WHERE rowid = ?", (page_id,))
    connection.execute("DELETE FROM text WHERE page = ?", (page_id,))


def clean(text: str) -> str:
    """``text`` without what can't be UTF-8: a lone surrogate becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def deflate(text: str) -> bytes:
    """The form in which texts are kept (RFC 1950)."""
    return isal_zlib.compress(text.encode("utf-8", "replace"), 1)


def inflate(blob: bytes, limit: int = MAX_TEXT * 4) -> str:
    """The text of a blob, at most ``limit`` bytes of it. Raises zlib.error when the blob is damaged."""
    engine = zlib.decompressobj()
    data = engine.decompress(blob, limit)
    if not engine.eof and len(data) < limit:
        raise zlib.error("it is cut short")
    return data.decode("utf-8", "ignore")
