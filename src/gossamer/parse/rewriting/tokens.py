"""The tags of a document with their positions, as browsers find them (HTML 13.2.5, "Tokenization").

A tokenizer of our own, because none that could be had gives positions to splice at: turbohtml's turns every CRLF into one
character before it counts, takes SVG's titles and styles for HTML's and knows no place of an attribute; its tree has such
places, but only for what the tree has kept, and hostile markup crashes it; selectolax and lxml have none at all. The
state that the tokenizer of the standard gets from the tree is kept here as far as it matters: what is SVG or MathML,
where it ends, and which elements hold raw text. The time is linear whatever comes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
    *("source", "style", "svg", "table", "tbody", "td", "template", "textarea", "tfoot", "th", "thead", "title", "tr"),
    *("track", "video", "xmp"),
)
_ENDS_OF_NOTE = ("audio", "form", "picture", "template", "video")
_RAW = frozenset({"iframe", "noembed", "noframes", "noscript", "style", "textarea", "title", "xmp"})

_OTHER_TAG = (
    rf"<(?:/(?!(?:{'|'.join(_ENDS_OF_NOTE)})[{_SPACE}/>])|(?!(?:{'|'.join(_OF_NOTE)})[{_SPACE}/>]))"
    rf"[A-Za-z][^{_SPACE}/>]*+(?:[{_SPACE}/]++|(?!style[{_SPACE}/>=]){_ATTRIBUTE})*+>"
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
    rf"|<\?(?:[^?]++|\?(?!>))*+(?:\?>|\Z)|<![A-Za-z][^\[<>]*+(?:\[(?:[^\]]++|\](?!\s*+>))*+\]\s*+)?>|<(?![^{_SPACE}<>!?]))*+"
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
_AROUND = _BREAKOUT.union(
    ("a", "article", "body", "button", "footer", "form", "header", "html", "label", "main", "nav"),
    ("section", "td", "th", "tr"),
)
_HTML_INSIDE = frozenset({"annotation-xml+", "desc", "foreignobject", "mi", "mn", "mo", "ms", "mtext", "title"})
"""Elements of SVG and MathML in which HTML stands ("integration points"). An annotation-xml is one by its encoding."""


@dataclass(slots=True)
class Tag:
    """A tag; positions are those of the document."""

    name: str  # lower case in HTML, without prefix in XML
    closing: bool
    start: int
    name_end: int
    attributes_end: int
    end: int
    foreign: bool  # in SVG or MathML, and in XML, where it may be either
    text: tuple[int, int] | None = None  # of an element that holds raw text: where it stands


@dataclass(slots=True)
class Attribute:
    """An attribute of a tag; positions are those of the document."""

    start: int
    end: int
    value_start: int
    value_end: int
    quoted: bool


_UPPER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def lower(name: str) -> str:
    """ASCII letters only: the Kelvin sign is no k."""
    return name.lower() if name.isascii() else name.translate(_UPPER)


def attributes(source: str, tag: Tag) -> dict[str, Attribute]:
    """By their names, lower case; of repeated ones the first counts (13.2.5.33)."""
    found: dict[str, Attribute] = {}
    position = tag.name_end
    while (match := _PARTS.match(source, position, tag.attributes_end)) is not None:
        position = match.end()
        name = lower(match[1])
        if name in found:
            continue
        group = match.lastindex or 1
        start, end = match.span(group) if group > 1 else (position, position)
        found[name] = Attribute(match.start(1), position, start, end, quoted=group in (2, 3))
    return found


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
        yield _tag(match, match[2].rpartition(":")[2], foreign=True)


def _tag(match: re.Match[str], name: str, *, foreign: bool) -> Tag:
    return Tag(name, bool(match[1]), match.start(1) - 1, match.end(2), match.end(3), match.end(), foreign)


class _Html:
    """Walks through HTML, and knows when it is within SVG or MathML."""

    def __init__(self, source: str, end: int, *, scripting: bool) -> None:
        self._source = source
        self._end = end
        self._scripting = scripting
        self._open: list[str] = []  # elements of SVG and MathML around the position

    def tags(self, position: int) -> Iterator[Tag]:
        while True:
            foreign = self._in_foreign()
            match = (_IN_FOREIGN if foreign else _IN_HTML).match(self._source, position, self._end)
            if match is None:
                return  # also where the document ends within a tag: that tag is none (13.2.5, "eof-in-tag")
            position = match.end()
            name = lower(match[2])
            if match[1]:
                self._close(name)
                yield _tag(match, name, foreign=foreign)
                continue
            foreign = self._opened(name, match)
            tag = _tag(match, name, foreign=foreign)
            if not foreign:
                position = self._raw(tag, position)
            yield tag
            if name == "plaintext" and not foreign:
                return

    def _in_foreign(self) -> bool:
        return bool(self._open) and self._open[-1] not in _HTML_INSIDE

    def _opened(self, name: str, match: re.Match[str]) -> bool:
        """Whether an element that begins is one of SVG or MathML."""
        if self._in_foreign() and (name in _BREAKOUT or (name == "font" and _FONT.search(match[3]))):
            self._leave()
        foreign = self._in_foreign()
        if not foreign:
            if name in ("svg", "math") and not match[4]:
                self._open.append(name)
            return name in ("svg", "math")
        if not match[4]:
            self._open.append(
                "annotation-xml+" if name == "annotation-xml" and _HTML_ENCODING.search(match[3]) else name
            )
        return True

    def _leave(self) -> None:
        while self._in_foreign():
            self._open.pop()

    def _close(self, name: str) -> None:
        if not self._open:
            return
        for index in range(len(self._open) - 1, -1, -1):
            if self._open[index].rstrip("+") == name:
                del self._open[index:]
                return
        if name in _AROUND and self._in_foreign():
            self._leave()

    def _raw(self, tag: Tag, position: int) -> int:
        """Note where the raw text of an element ends; returns where tags may come again."""
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
