"""Attributes and text of HTML and XML, read with their character references undone and written again.

Libraries undo references, but none tells where in the source a character of the result stood.
"""

import re
from html.entities import html5

from gossamer.parse.rewriting.edits import Excerpt

_REFERENCE = re.compile(r"&(?:#[xX]([0-9A-Fa-f]{1,16});?|#([0-9]{1,16});?|([A-Za-z][A-Za-z0-9]*;?))|\0")
_TEXT_OF_XML = re.compile(
    r"([^<]++)|<!\[CDATA\[((?:[^\]]++|\](?!\]>))*+)(?:\]\]>|\Z)|<!--(?:[^-]++|-(?!->))*+(?:-->|\Z)"
)
# HTML 13.2.5.80, "numeric character reference end state".
_WINDOWS_1252 = {number: bytes([number]).decode("cp1252", "ignore") or chr(number) for number in range(0x80, 0xA0)}
_LONGEST_BARE = max(len(name) for name in html5 if not name.endswith(";"))
_ESCAPES = {ord("&"): "&amp;", ord('"'): "&quot;", ord("'"): "&#39;", ord("<"): "&lt;", ord(">"): "&gt;"}
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def escape(text: str) -> str:
    """``text`` as it stands in an attribute, whatever the quotes, and in text."""
    return text.translate(_ESCAPES)


def attribute(source: str, start: int, end: int) -> Excerpt:
    """The value of an attribute. ``&copy=2`` in it is no copyright sign (13.2.5.73: "for historical reasons")."""
    excerpt = Excerpt()
    add_escaped(excerpt, source, start, end, in_attribute=True)
    return excerpt.done()


def add_escaped(excerpt: Excerpt, source: str, start: int, end: int, *, in_attribute: bool) -> None:
    """Add what stands in ``source`` from ``start`` to ``end``, with its character references undone."""
    position = start
    for found in _REFERENCE.finditer(source, start, end):
        text, length = _character(found, source, in_attribute=in_attribute)
        if length:
            at = found.start()
            excerpt.add(source[position:at], position, at, escape)
            excerpt.add(text, at, at + length, escape)
            position = at + length
    excerpt.add(source[position:end], position, end, escape)


def text_of_xml(source: str, position: int) -> Excerpt:
    """The text that an element of XML begins with, from ``position`` on; what it holds of elements is not taken in."""
    excerpt = Excerpt()
    while (found := _TEXT_OF_XML.match(source, position)) is not None:
        if found[1] is not None:
            add_escaped(excerpt, source, *found.span(1), in_attribute=False)
        elif found[2] is not None:
            excerpt.add(found[2], *found.span(2), str)
        position = found.end()
    return excerpt.done()


def _character(found: re.Match[str], source: str, *, in_attribute: bool) -> tuple[str, int]:
    """What a reference means and how long it is; 0 where it is none."""
    hexadecimal, decimal, name = found.groups()
    if name is None:
        if hexadecimal is None and decimal is None:
            return _REPLACEMENT, 1
        return _numbered(int(hexadecimal, 16) if hexadecimal else int(decimal)), len(found[0])
    if name in html5 and name.endswith(";"):
        return html5[name], len(name) + 1
    for length in range(min(len(name), _LONGEST_BARE), 1, -1):
        if (bare := html5.get(name[:length])) is not None and name[length - 1] != ";":
            after = source[found.start() + 1 + length : found.start() + 2 + length] if in_attribute else ""
            if after == "=" or (after.isascii() and after.isalnum()):
                return "", 0
            return bare, length + 1
    return "", 0


def _numbered(number: int) -> str:
    if number == 0 or number > 0x10FFFF or 0xD800 <= number < 0xE000:
        return _REPLACEMENT
    return _WINDOWS_1252.get(number) or chr(number)
