"""The tags of a document with their positions, as browsers find them (HTML 13.2.5, "Tokenization").

A tokenizer of our own, because none that could be had gives positions to splice at: turbohtml's turns every CRLF into one
character before it counts, takes SVG's titles and styles for HTML's and knows no place of an attribute; its tree has such
places, but only for what the tree has kept, and hostile markup crashes it; selectolax and lxml have none at all. The
state that the tokenizer of the standard gets from the tree is kept here as far as it matters: what is SVG or MathML,
where it ends, and which elements hold raw text. The time is linear whatever comes.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_SPACE = r"\t\n\f\r "
_VALUE = rf"""(?:"[^"]*+"|'[^']*+'|[^{_SPACE}>"'][^{_SPACE}>]*+|(?=>))"""
_NAME = rf"(?:=[^{_SPACE}/>=]*+|[^{_SPACE}/>=]++)"  # 13.2.5.32: an equals sign may begin a name
_ATTRIBUTE = rf"{_NAME}(?:[{_SPACE}]*+=[{_SPACE}]*+{_VALUE}|(?![{_SPACE}]*+=))"
_COMMENT = r"!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))"

# Elements whose start tags may hold a reference, and those that change how what follows is read.
_OF_NOTE = (
    *(
        "a",
        "area",
        "audio",
        "base",
        "body",
        "button",
        "embed",
        "form",
        "frame",
        "head",
        "html",
        "iframe",
        "image",
        "img",
    ),
    *("input", "link", "math", "meta", "noembed", "noframes", "noscript", "object", "picture", "plaintext", "script"),
    *("source", "style", "svg", "template", "textarea", "title", "track", "video", "xmp"),
)
_ENDS_OF_NOTE = ("audio", "form", "picture", "template", "video")
_RAW = frozenset({"iframe", "noembed", "noframes", "noscript", "style", "textarea", "title", "xmp"})

_PLAIN = frozenset(_OF_NOTE) - _RAW - {"math", "plaintext", "script", "svg"}
_LOWER = frozenset((*_OF_NOTE, "alt", "class", "href", "id", "name", "rel", "src", "style", "title"))
"""Names that are often met, and need not be made lower case."""


def _any(words: Iterable[str]) -> str:
    """An expression for one of some words, so made that each letter is looked at once."""
    rests: dict[str, list[str]] = {}
    for word in sorted(words, reverse=True):  # the longer of two that begin alike comes first
        rests.setdefault(word[:1], []).append(word[1:])
    choices = [first + _any(rest) if first else "" for first, rest in rests.items()]
    return choices[0] if len(choices) == 1 else f"(?:{'|'.join(choices)})"


_OTHER_TAG = (
    rf"<(?:/(?!{_any(_ENDS_OF_NOTE)}[{_SPACE}/>])|(?!{_any(_OF_NOTE)}[{_SPACE}/>]))"
    rf"[A-Za-z][^{_SPACE}/>]*+(?:[{_SPACE}/]++|(?!(?:background|style)[{_SPACE}/>=]){_ATTRIBUTE})*+>"
)
_SKIPPED_HTML = rf"(?:[^<]++|{_OTHER_TAG}|<(?![A-Za-z/!?])|<{_COMMENT}|<(?:!(?!--)|\?|/(?![A-Za-z]))[^>]*+(?:>|\Z))*+"
_SKIPPED_FOREIGN = (
    rf"(?:[^<]++|<(?![A-Za-z/!?])|<{_COMMENT}|<!\[CDATA\[(?:[^\]]++|\](?!\]>))*+(?:\]\]>|\Z)"
    rf"|<(?:!(?!--|\[CDATA\[)|\?|/(?![A-Za-z]))[^>]*+(?:>|\Z))*+"
)
_TAG = rf"<(/?)([A-Za-z][^{_SPACE}/>]*+)((?:[{_SPACE}]++|/(?!>)|{_ATTRIBUTE})*+)(/?)>"
_IN_HTML = re.compile(_SKIPPED_HTML + _TAG, re.IGNORECASE | re.ASCII)
_IN_FOREIGN = re.compile(_SKIPPED_FOREIGN + _TAG, re.IGNORECASE | re.ASCII)
_IN_XML = re.compile(
    # A document type with all it declares; a name may be of any script.
    rf"(?:[^<]++|<!--(?:[^-]++|-(?!->))*+(?:-->|\Z)|<!\[CDATA\[(?:[^\]]++|\](?!\]>))*+(?:\]\]>|\Z)"
    rf"|<\?(?:[^?]++|\?(?!>))*+(?:\?>|\Z)|<![A-Za-z][^\[<>]*+(?:\[(?:[^\]]++|\](?!\s*+>))*+(?:\]\s*+>|\Z)|>)|<(?![^{_SPACE}<>!?]))*+"
    rf"<(/?)([^{_SPACE}/><!?][^{_SPACE}/>]*+)((?:[{_SPACE}]++|/(?!>)|{_ATTRIBUTE})*+)(/?)>"
)

_PARTS = re.compile(
    rf"""[{_SPACE}/]*+({_NAME})(?:[{_SPACE}]*+=[{_SPACE}]*+(?:"([^"]*+)"|'([^']*+)'|([^{_SPACE}>"'][^{_SPACE}>]*+)?))?+"""
)
_RAW_END = {name: re.compile(rf"</{name}(?=[{_SPACE}/>])", re.IGNORECASE | re.ASCII) for name in _RAW}
_IN_SCRIPT = re.compile(rf"<!--|--+>|<(/?)script(?=[{_SPACE}/>])", re.IGNORECASE | re.ASCII)

# 13.2.6.5, "any start tag … in foreign content" that is HTML's: it ends the SVG.
_BREAKOUT = frozenset(
    (
        *("b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2"),
        *("h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre"),
        *("ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "table", "tt", "u", "ul", "var"),
    )
)
_FONT = re.compile(rf"[{_SPACE}/](?:color|face|size)(?=[{_SPACE}/>=]|\Z)", re.IGNORECASE | re.ASCII)
_HTML_ENCODING = re.compile(
    rf"""[{_SPACE}/]encoding[{_SPACE}]*=[{_SPACE}]*["']?(?:text/html|application/xhtml\+xml)(?=["'{_SPACE}>]|\Z)""",
    re.IGNORECASE | re.ASCII,
)
# Ends of these, where no such element of SVG is open, end the HTML element around the SVG, and it with it.
_AROUND = _BREAKOUT.difference(("body", "br", "embed", "head", "hr", "img", "meta")).union(
    ("a", "article", "button", "footer", "form", "header", "label", "main", "nav", "section", "td", "th", "tr"),
)
_HTML_INSIDE = {
    "svg": frozenset({"desc", "foreignobject", "title"}),
    "math": frozenset({"annotation-xml", "mi", "mn", "mo", "ms", "mtext"}),
}
"""Elements of SVG and MathML in which HTML stands ("integration points"); an annotation-xml only by its encoding."""


class Tag:
    """A tag; positions are those of the document."""

    __slots__ = ("_found", "closing", "foreign", "name", "text")

    def __init__(self, found: re.Match[str], name: str, *, foreign: bool) -> None:
        self._found = found
        self.name = name  # lower case in HTML, without prefix in XML
        self.closing = bool(found[1])
        self.foreign = foreign  # in SVG or MathML; and in XML, where it may be either
        self.text: tuple[int, int] | None = None  # of an element that holds raw text: where it stands

    @property
    def start(self) -> int:
        return self._found.start(1) - 1

    @property
    def name_end(self) -> int:
        return self._found.end(2)

    @property
    def end(self) -> int:
        return self._found.end()

    @property
    def attributes(self) -> dict[str, re.Match[str]]:
        """By their names, lower case; of repeated ones the first counts (13.2.5.33). See `value_span`."""
        found: dict[str, re.Match[str]] = {}
        start, end = self._found.span(3)
        if start < end:
            for match in _PARTS.finditer(self._found.string, start, end):
                name = match[1]
                if name not in _LOWER:
                    name = lower(name)
                if name not in found:
                    found[name] = match
        return found


def value_span(attribute: re.Match[str]) -> tuple[int, int]:
    """Where the value of an attribute stands, within its quotes."""
    group = attribute.lastindex or 1
    return attribute.span(group) if group > 1 else (attribute.end(), attribute.end())


def raw_value(attribute: re.Match[str]) -> str:
    """The value of an attribute as it is written."""
    group = attribute.lastindex or 1
    return attribute[group] if group > 1 else ""


def is_quoted(attribute: re.Match[str]) -> bool:
    """Whether the value of an attribute stands in quotes."""
    return attribute.lastindex in (2, 3)


_UPPER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def lower(name: str) -> str:
    """ASCII letters only: the Kelvin sign is no k."""
    return name.lower() if name.isascii() else name.translate(_UPPER)


def tags(source: str, start: int, end: int, *, xml: bool = False, scripting: bool = True) -> Iterator[Tag]:
    """The tags that may matter, in order.

    ``scripting``: the content of ``<noscript>`` is raw text, as it is in a browser that runs scripts.
    """
    if xml:
        return _xml_tags(source, start, end)
    return _Html(source, end, scripting=scripting).tags(start)


def _xml_tags(source: str, start: int, end: int) -> Iterator[Tag]:
    while (match := _IN_XML.match(source, start, end)) is not None:
        start = match.end()
        yield Tag(match, match[2].rpartition(":")[2], foreign=True)


class _Foreign(NamedTuple):
    """An element of SVG or MathML that is open."""

    name: str
    language: str  # "svg" or "math"
    holds_html: bool


class _Html:
    """Walks through HTML, and knows when it is within SVG or MathML."""

    def __init__(self, source: str, end: int, *, scripting: bool) -> None:
        self._source = source
        self._end = end
        self._scripting = scripting
        self._open: list[_Foreign] = []  # elements of SVG and MathML around the position
        self._names: Counter[str] = Counter()  # of these
        self._first: dict[str, int] = {}  # where the first HTML element of a name may begin

    def tags(self, position: int) -> Iterator[Tag]:
        """Those from ``position`` on. A document may end within a tag: that is none (13.2.5, "eof-in-tag")."""
        while (match := self._pattern().match(self._source, position, self._end)) is not None:
            position = match.end()
            name = match[2]
            if name not in _LOWER:
                name = lower(name)
            if match[1]:
                yield Tag(match, name, foreign=self._in_foreign())
                self._close(name, position)
            elif name in _PLAIN and not self._open:
                yield Tag(match, name, foreign=False)
            else:
                foreign = self._opened(name, match)
                tag = Tag(match, name, foreign=foreign)
                if not foreign:
                    position = self._raw(tag, position)
                yield tag

    def _pattern(self) -> re.Pattern[str]:
        return _IN_FOREIGN if self._open and self._in_foreign() else _IN_HTML

    def _in_foreign(self) -> bool:
        return bool(self._open) and not self._open[-1].holds_html

    def _opened(self, name: str, match: re.Match[str]) -> bool:
        """Whether an element that begins is one of SVG or MathML."""
        if self._in_foreign() and (name in _BREAKOUT or (name == "font" and _FONT.search(match[3]))):
            self._leave()
        if not self._in_foreign():
            if name in _HTML_INSIDE and not match[4]:
                self._push(_Foreign(name, name, holds_html=False))
            return name in _HTML_INSIDE
        if not match[4]:
            language = self._open[-1].language
            holds_html = name in _HTML_INSIDE[language]
            if name == "annotation-xml":
                holds_html = holds_html and _HTML_ENCODING.search(match[3]) is not None
            self._push(_Foreign(name, language, holds_html=holds_html))
        return True

    def _push(self, element: _Foreign) -> None:
        self._open.append(element)
        self._names[element.name] += 1

    def _pop(self) -> _Foreign:
        element = self._open.pop()
        self._names[element.name] -= 1
        return element

    def _leave(self) -> None:
        while self._in_foreign():
            self._pop()

    def _close(self, name: str, position: int) -> None:
        if not self._open:
            return
        if self._names[name]:
            while self._pop().name != name:
                pass
        elif name in _AROUND and self._in_foreign() and self._began(name) < position:
            self._leave()

    def _began(self, name: str) -> int:
        """Where an element of this name may have begun first. Which are open, only a tree could tell."""
        if name not in self._first:
            found = re.compile(rf"<{name}(?=[{_SPACE}/>])", re.IGNORECASE | re.ASCII).search(self._source, 0, self._end)
            self._first[name] = found.start() if found else self._end
        return self._first[name]

    def _raw(self, tag: Tag, position: int) -> int:
        """Note where the raw text of an element ends; returns where tags may come again."""
        if tag.name == "plaintext":
            return self._end
        if tag.name == "script":
            end = self._script_end(position)
        elif tag.name in _RAW and (tag.name != "noscript" or self._scripting):
            found = _RAW_END[tag.name].search(self._source, position, self._end)
            end = found.start() if found else self._end
        else:
            return position
        tag.text = position, end
        return end

    def _script_end(self, position: int) -> int:
        """13.2.5.15 ff.: after ``<!--``, a ``<script>`` within the script needs an end of its own, until ``-->``."""
        escaped = doubly = False
        while (found := _IN_SCRIPT.search(self._source, position, self._end)) is not None:
            position = found.end()
            mark = found[0]
            if mark == "<!--":
                escaped = True
                position -= 2  # its dashes may be those of "-->"
            elif mark[0] == "-":
                escaped = doubly = False
            elif not found[1]:
                doubly = escaped
            elif not doubly:
                return found.start()
            else:
                doubly = False
        return self._end
