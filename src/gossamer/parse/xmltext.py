"""The text of XML that is no page: DocBook, feeds, exports of databases. Pure."""

import re
from html import unescape

from gossamer.parse.text import fold
from gossamer.parse.xmltokens import Piece, tokens

_XML = re.compile(r"(?:application|text)/(?:xml|[\w.-]+\+xml)", re.ASCII)
_TAG = re.compile(r"<[A-Za-z/!][^<>]*+>")  # of HTML that stands as text in a feed
_TITLES = frozenset({"title"})
_LONGEST_TITLE = 2000


def is_xml(content_type: str) -> bool:
    """Whether a type is XML that is read for its text; images (SVG) and pages (XHTML) are none."""
    return _XML.fullmatch(content_type) is not None


def read(source: str, longest: int) -> tuple[str, str]:
    """Title (the first element of that name) and readable text, about ``longest`` characters of it.

    Each element begins a new line; references to HTML's entities are replaced, and tags that stand as text are left out,
    for that is how feeds hold pages.
    """
    title: list[str] = []
    is_title, titles = False, 0
    lines: list[str] = []
    size = 0
    for piece, name, value in tokens(source):
        if piece is Piece.TEXT:
            text = _plain(value)
            lines.append(text)
            size += len(text)
            if is_title:
                title.append(text[:_LONGEST_TITLE])
            if size > longest:
                break
        elif name in _TITLES:
            is_title = piece is Piece.START and not titles
            titles += piece is Piece.END
    return " ".join(title), fold("\n".join(lines))


def _plain(text: str) -> str:
    if "&" in text:
        text = unescape(text)
    return _TAG.sub("\n", text) if "<" in text else text
