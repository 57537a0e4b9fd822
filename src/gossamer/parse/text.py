"""The text of pages: white space, digests."""

import unicodedata
from hashlib import sha256

_INVISIBLE = {0x00: None, 0xAD: None}
"""NUL, which databases end strings at, and the soft hyphen, which would split words in the index."""


def fold(text: str) -> str:
    """White space within lines made single spaces, empty lines dropped, nothing that is invisible."""
    if "\0" in text or "\xad" in text:
        text = text.translate(_INVISIBLE)
    lines = [_single_spaced(line) for line in text.split("\n") if line]
    return "\n".join([line for line in lines if line])


def fold_line(text: str, limit: int) -> str:
    """``text`` as one line of at most ``limit`` characters."""
    if len(text) <= limit and text.isprintable() and "  " not in text:  # as most are: far quicker
        return text.strip(" ")
    return _single_spaced(text[: 8 * limit].replace("\0", ""))[:limit]


def _single_spaced(text: str) -> str:
    if text.isprintable() and "  " not in text:  # no white space but single spaces, as in most lines: far quicker
        return text.strip(" ")
    return " ".join(text.split())


def digest(text: str) -> bytes:
    """sha256 of folded text, the same whatever its line breaks and compatibility characters (NFKC)."""
    return sha256(unicodedata.normalize("NFKC", text).replace("\n", " ").encode("utf-8", "replace")).digest()
