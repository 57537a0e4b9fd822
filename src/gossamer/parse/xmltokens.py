"""XML in pieces: start tags, end tags and text, read from whatever is left of a file that ought to be XML.

A scanner of our own, because what the web calls XML is often none, and what the libraries then do is wrong here: expat
and turbohtml stop at the first error (an ``&`` in a query ends the file), libxml2's recovery goes on but makes
``?x=1=2`` of ``?x=1&y=2``, another URL. Sitemaps, feeds and plain text need no tree, no namespaces and no validity.

It is safe by what it can't do: a document type declaration is skipped, no entity but XML's own five is ever replaced, and
nothing is ever opened, so there is nothing to expand and nothing to include (billion laughs, quadratic blow-up, XXE).
Each piece of the expression below ends at the next ``<``, or takes the rest: the time is linear whatever comes.
"""

import re
from collections.abc import Iterator
from enum import Enum

from gossamer.parse import encoding

MAX_TOKENS = 2_000_000
"""Pieces of one file that are read at the most: 50,000 entries in thirty languages have as many."""

_TOKEN = re.compile(
    r"""
      <!--.*?(?:-->|\Z)
    | <!\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)
    | <\?[^<>]*+>                                     # also one that lacks its second question mark
    | <![A-Za-z][^\[<>]*+(?:\[.*?(?:\]\s*+>|\Z)|>)    # a document type, with all it declares
    | <(?P<end>/?)(?P<name>[^\s<>/"'=!?&;]++)
      (?P<rest>(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+)>  # XML 1.0, 3.1: no "<" in attribute values
    | <(?P<bad_end>/?)(?P<bad_name>[^\s<>/"'=!?&;]++)(?P<bad_rest>[^<>]*+)>  # quotes that do not close
    """,
    re.DOTALL | re.VERBOSE,
)
_ATTRIBUTE = re.compile(r"""([^\s=/"'<>]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>]++)))?+""")
_REFERENCE = re.compile(r"&(?:(amp|lt|gt|quot|apos)|#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6}));")
_PREDEFINED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_SPACE = b"\t\n\r "


class Piece(Enum):
    """What a token is."""

    START = "start"
    END = "end"
    TEXT = "text"


Token = tuple[Piece, str, str]
"""A start tag with its local name and the text of its attributes, an end tag with its local name, or a run of text."""


def decode(body: bytes, charset: str) -> tuple[str, str]:
    """The text of an XML file and the name of its encoding. ``charset``: what the header declares, "" for nothing.

    A byte order mark decides, then what the bytes are beyond doubt: UTF-8 that is no ASCII is UTF-8, whatever is said of
    it. Then the header, the XML declaration (RFC 7303, 3), and what the text looks like.
    """
    if body.startswith(encoding.MARKS):
        return encoding.decode(body, "")
    wide = encoding.utf16(body)
    name = wide or encoding.plainly_utf8(body) or charset or encoding.xml_declared(body.lstrip(_SPACE))
    if name.startswith("utf-16") and not wide:
        name = "utf-8"  # what can be read byte by byte is not in UTF-16
    return encoding.decode(body, name or ("utf-8" if body.isascii() else ""))


def tokens(source: str, limit: int = MAX_TOKENS) -> Iterator[Token]:
    """The pieces of a file in order, at most those of ``limit`` tags, without text that is all white space.

    Nothing raises; what is no tag is text.
    """
    position = 0
    for number, match in enumerate(_TOKEN.finditer(source)):
        if number == limit:
            return
        start, end = match.span()
        if start > position and not (text := source[position:start]).isspace():
            yield Piece.TEXT, "", unescape(text)
        position = end
        cdata, slash, name, rest, bad_slash, bad_name, bad_rest = match.groups()
        name, rest = name or bad_name, rest or bad_rest or ""
        if name:
            local = name.rpartition(":")[2].lower()
            if not (slash or bad_slash):
                yield Piece.START, local, rest
            if slash or bad_slash or rest[-1:] == "/":
                yield Piece.END, local, ""
        elif cdata:
            yield Piece.TEXT, "", cdata
    if position < len(source):
        yield Piece.TEXT, "", unescape(source[position:])


def attributes(rest: str) -> dict[str, str]:
    """The attributes of a start tag by their local names, lower case; of repeated ones the first counts."""
    found: dict[str, str] = {}
    for name, *values in _ATTRIBUTE.findall(rest):
        found.setdefault(name.rpartition(":")[2].lower(), unescape("".join(values)))
    return found


def unescape(text: str) -> str:
    """``text`` with XML's five entities and character references replaced, once; what else begins with ``&`` stays."""
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(match: re.Match[str]) -> str:
    if match[1]:
        return _PREDEFINED[match[1]]
    number = int(match[2]) if match[2] else int(match[3], 16)
    if number > 0x10FFFF or number == 0 or 0xD800 <= number < 0xE000:
        return "\N{REPLACEMENT CHARACTER}"
    return chr(number)
