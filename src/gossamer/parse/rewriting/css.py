"""The references of CSS, found with their positions (CSS Syntax Level 3, 4 "Tokenization").

Three constructs hold URLs: ``url()`` in all its spellings, the string of an ``@import``, the strings of an
``image-set()``. tinycss2 reads them too, but makes an object of every token of a file, in pure Python: thirty times slower
than an expression that runs to the next of these three, and it counts lines and columns of a text that it has changed.
"""

import re
from collections.abc import Callable

from gossamer.parse.rewriting.contract import Kind
from gossamer.parse.rewriting.edits import Edit
from gossamer.parse.rewriting.linker import Linker

_ESCAPE = r"\\(?:[0-9A-Fa-f]{1,6}(?:\r\n|[ \t\n\f\r])?|[^0-9A-Fa-f\n\f\r])"
_COMMENT = r"/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)"
_DOUBLE = r'"(?:[^"\\\n\f\r]++|\\(?:\r\n|[\s\S]|\Z))*+"?+'
_SINGLE = r"'(?:[^'\\\n\f\r]++|\\(?:\r\n|[\s\S]|\Z))*+'?+"
_TEXT = rf"(?:{_COMMENT}|{_DOUBLE}|{_SINGLE}|\\[\s\S]?|/(?!\*))"
_TO_NEXT = re.compile(rf"""(?:[^"'/\\(@]++|{_TEXT})*+([(@])""")
_NAME = rf"(?:[-\w]|[^\x00-\x7f]|{_ESCAPE})"
_NAME_BEFORE = re.compile(rf"(?<![-\w\\])({_NAME}+)\Z", re.ASCII)
_NAME_AFTER = re.compile(rf"{_NAME}++", re.ASCII)
_GAP = re.compile(rf"(?:[ \t\n\f\r]++|{_COMMENT})*+")
_SPACES = re.compile(r"[ \t\n\f\r]*+")
_STRING = re.compile(
    r"""
      "((?:[^"\\\n\f\r]++|\\(?:\r\n|[\s\S]|\Z))*+)("?)
    | '((?:[^'\\\n\f\r]++|\\(?:\r\n|[\s\S]|\Z))*+)('?)
    """,
    re.VERBOSE,
)
_UNQUOTED = re.compile(rf"((?:[^\"'()\\ \t\n\f\r\x00-\x08\x0b\x0e-\x1f\x7f]++|{_ESCAPE})*+)[ \t\n\f\r]*+(?:\)|\Z)")
_BAD_URL = re.compile(r"(?:[^)\\]++|\\[\s\S]?)*+\)?")
_IN_IMAGE_SET = re.compile(rf"(?:[^\"'/\\()]++|{_COMMENT}|\\[\s\S]?|/(?!\*))*+")
_TO_SEMICOLON = re.compile(rf"(?:[^\"'/\\;{{}}]++|{_TEXT})*+")
_TO_BRACE = re.compile(rf"(?:[^\"'/\\;{{]++|{_TEXT})*+")
_UNESCAPE = re.compile(r"\\(?:([0-9A-Fa-f]{1,6})(?:\r\n|[ \t\n\f\r])?|\r\n|[\n\f\r]|([\s\S])|\Z)")

_LOOK_BACK = 96  # characters before a parenthesis in which a name is looked for: enough for three escaped letters
_DEEPEST = 32  # parentheses within an image-set


_Write = Callable[[str], str]


def edits(source: str, linker: Linker, start: int = 0, end: int | None = None) -> list[Edit]:
    """What to change in the CSS that stands in ``source`` from ``start`` to ``end``."""
    return _Sheet(source, linker, len(source) if end is None else end).edits(start)


def may_refer(source: str) -> bool:
    """Whether there can be a reference at all: most style attributes have no parenthesis."""
    return "(" in source or "@" in source


class _Sheet:
    def __init__(self, source: str, linker: Linker, end: int) -> None:
        self._source = source
        self._linker = linker
        self._end = end
        self._edits: list[Edit] = []

    def edits(self, position: int) -> list[Edit]:
        while (found := _TO_NEXT.match(self._source, position, self._end)) is not None:
            position = found.end()
            if found[1] == "@":
                position = self._at_rule(position)
            else:
                position = self._function(self._name_before(position - 1, found.start()), position)
        return self._edits

    def _name_before(self, position: int, first: int) -> str:
        """The name of the function whose parenthesis stands at ``position``."""
        text = self._source[max(first, position - _LOOK_BACK) : position]
        if text[-1:].isspace() and "\\" not in text[-8:]:
            return ""
        found = _NAME_BEFORE.search(text)
        return _unescaped(found[1]).lower() if found else ""

    def _function(self, name: str, position: int) -> int:
        match name:
            case "url":
                return self._url(position)
            case "image-set" | "-webkit-image-set":
                return self._image_set(position)
        return position

    def _url(self, position: int) -> int:
        start = self._match_end(_SPACES, position)
        if self._source[start : start + 1] in ("'", '"') and start < self._end:
            return self._string(start)
        found = _UNQUOTED.match(self._source, start, self._end)
        if found is None:
            return self._match_end(_BAD_URL, position)
        self._point(*found.span(1), _write_unquoted)
        return found.end()

    def _string(self, position: int) -> int:
        """A string that is a URL; returns where it ends. What has no end on its line is none."""
        found = _STRING.match(self._source, position, self._end)
        if found is None:
            return position
        group, write = (1, _write_double) if found[1] is not None else (3, _write_single)
        if found[group + 1] or found.end() == self._end:  # 4.3.5: a string that the end of the file cuts is one
            self._point(*found.span(group), write)
        return found.end()

    def _image_set(self, position: int) -> int:
        """Its strings are URLs, but not those of the functions in it, such as ``type()``."""
        depth = 1
        while 0 < depth <= _DEEPEST:
            position = self._match_end(_IN_IMAGE_SET, position)
            if position >= self._end:
                break
            match self._source[position]:
                case ")":
                    depth, position = depth - 1, position + 1
                case "(":
                    name = self._name_before(position, 0)
                    position += 1
                    if name == "url":
                        position = self._url(position)
                        continue
                    depth += 1
                case _ if depth == 1:
                    position = self._string(position)
                case _:
                    position = self._match_end(_STRING, position)
        return position

    def _at_rule(self, position: int) -> int:
        found = _NAME_AFTER.match(self._source, position, self._end)
        name = _unescaped(found[0]).lower() if found else ""
        after = found.end() if found else position
        match name:
            case "import":
                return self._string(self._match_end(_GAP, after))
            case "namespace":  # its URL is a name and no link
                return self._match_end(_TO_SEMICOLON, after)
            case "document" | "-moz-document":  # its URLs are patterns
                return self._match_end(_TO_BRACE, after)
        return after

    def _match_end(self, pattern: re.Pattern[str], position: int) -> int:
        found = pattern.match(self._source, position, self._end)
        return found.end() if found else position

    def _point(self, start: int, end: int, write: _Write) -> None:
        raw = self._source[start:end]
        if raw[:5].lower() == "data:":
            return
        value = _unescaped(raw)
        if not value or value[0] == "#":  # CSS Values 4, 4.5.1.1: "#…" is always the document itself
            return
        pointed = self._linker.point(value, Kind.REQUISITE)
        if pointed is not None and pointed.value is not None:
            self._edits.append((start, end, write(pointed.value)))


def _unescaped(text: str) -> str:
    return _UNESCAPE.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    if not found[1]:
        return found[2] or ""  # a line break that is escaped in a string is not there
    number = int(found[1], 16)
    if number == 0 or number > 0x10FFFF or 0xD800 <= number < 0xE000:
        return "\N{REPLACEMENT CHARACTER}"
    return chr(number)


# No URL that a linker gives holds white space, a quotation mark or a line break.
def _write_unquoted(url: str) -> str:
    return re.sub(r"(['()\\])", r"\\\1", url)


def _write_double(url: str) -> str:
    return url.replace("\\", "\\\\")


def _write_single(url: str) -> str:
    return url.replace("\\", "\\\\").replace("'", "\\'")
