"""What a style sheet refers to: ``url(…)``, ``@import``, ``image-set(…)`` (CSS Syntax 3, CSS Cascade 5, CSS Images 4). Pure.

A scanner of our own: tinycss2 takes 7 s for a megabyte, which many sites have, and 20 s for a megabyte of brackets. Each
piece of the expression below is possessive and ends where the next begins, so the time is linear whatever comes.
"""

import re
from collections.abc import Iterator

from gossamer.parse import encoding

LONGEST = 2 * 1024 * 1024
"""Bytes or characters of a style sheet that are read; a megabyte takes half a second, a hostile one four times as long."""

# CSS Syntax 3, 4.3. Whatever matches outside a group only has to be passed over as a whole: comments, names, numbers and
# what looks like them, strings that their line's end cuts, bad urls.
_ONE = r"\\(?:[0-9A-Fa-f]{1,6}[ \t\n]?|[^\n])"  # an escape (4.3.7)


def _letter(letter: str) -> str:
    """An expression for a letter of a name, which may be written as an escape (4.3.4: it is the *value* that counts)."""
    small, large = f"{ord(letter):x}", f"{ord(letter.upper()):x}"
    return rf"(?:\\?[{letter}{letter.upper()}]|\\0{{0,4}}(?:{small}|{large})(?:[ \t\n]|(?![0-9A-Fa-f])))"


_TOKEN = re.compile(
    rf"""
      /\*.*?(?:\*/|\Z)
    | [#0-9](?:[\w-]|{_ONE})*+
    | {_letter("u")}{_letter("r")}{_letter("l")}\((?![ \t\n]*+["'])
      (?:[ \t\n]*+(?P<url>(?:[^"'()\\\x00-\x20\x7f]|{_ONE})*+)[ \t\n]*+(?:\)|\Z) | (?:[^)\\]|\\.)*+\)?)
    | (?:[\w-]|{_ONE})++(?!\()
    | (?P<function>(?:[\w-]|{_ONE})++)\(
    | @(?P<statement>(?:[\w-]|{_ONE})++)
    | "(?P<double>(?:[^"\\\n]|\\.)*+)(?:"|\Z)
    | '(?P<single>(?:[^'\\\n]|\\.)*+)(?:'|\Z)
    | "(?:[^"\\\n]|\\.)*+ | '(?:[^'\\\n]|\\.)*+
    | (?P<bracket>[()])
    | (?P<end>[{{}};])
    """,
    re.DOTALL | re.VERBOSE,
)
_NEWLINE = re.compile(r"\r\n?|\f")
_ESCAPE = re.compile(r"\\(?:([0-9A-Fa-f]{1,6})[ \t\n]?|(\n)|(.?))", re.DOTALL)
_CHARSET = re.compile(rb'@charset "([\x21\x23-\x7e]{1,40})";')

_SETS = frozenset({"image-set", "-webkit-image-set"})
_STATEMENTS = frozenset({"import", "namespace"})


def decode(body: bytes, charset: str) -> tuple[str, str]:
    """The text of a style sheet and the name of its encoding. ``charset``: what its header declares, "" for nothing.

    CSS Syntax 3, 3.2: a byte order mark, the header, ``@charset``, UTF-8; one that can be read byte by byte is no UTF-16.
    """
    declared = _CHARSET.match(body)
    name = charset or (encoding.known(declared[1].decode("ascii")) if declared else "")
    if not charset and name.startswith("utf-16"):
        name = "utf-8"
    return encoding.decode(body[:LONGEST], name or "utf-8")


def references(source: str) -> Iterator[str]:
    """The URLs in a style sheet or a ``style`` attribute, as written but for escapes, in order, repeated ones too.

    Namespaces (``@namespace svg url(…)``) are names and none of them.
    """
    scanner = _Scanner()
    for token in _TOKEN.finditer(_NEWLINE.sub("\n", source[:LONGEST])):
        kind = token.lastgroup
        if kind is not None and (url := scanner.take(kind, token[kind])):
            yield unescape(url)


class _Scanner:
    """Where in a style sheet we are."""

    def __init__(self) -> None:
        self._statement = ""  # import or namespace, while its URL is still to come
        self._open: list[str] = []  # functions and brackets around us

    def take(self, kind: str, text: str) -> str | None:
        """The URL that a token holds."""
        match kind:
            case "statement":
                name = unescape(text).lower()
                self._statement = name if name in _STATEMENTS else ""
            case "function":
                self._open.append(unescape(text).lower())
            case "end":  # what was not closed ends with its declaration
                self._statement = ""
                self._open.clear()
            case "bracket" if text == "(":
                self._open.append("")
            case "bracket":
                del self._open[-1:]
            case "url":
                return self._meant(text)
            case _ if self._is_url_here:
                return self._meant(text)
        return None

    @property
    def _is_url_here(self) -> bool:
        if not self._open:
            return self._statement == "import"
        return self._open[-1] == "url" or self._open[-1] in _SETS

    def _meant(self, url: str) -> str | None:
        is_name = self._statement == "namespace"
        self._statement = ""
        return None if is_name else url


def unescape(text: str) -> str:
    """CSS Syntax 3, 4.3.7: ``text`` with its escapes undone, once."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    digits, newline, character = match.groups()
    if digits:
        number = int(digits, 16)
        is_one = 0 < number <= 0x10FFFF and not 0xD800 <= number < 0xE000
        return chr(number) if is_one else "\N{REPLACEMENT CHARACTER}"
    return "" if newline else character
