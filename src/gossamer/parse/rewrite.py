"""One file of the offline copy: its references made to point into the copy, or to the live web. A pure function."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from urllib.parse import urlsplit

from gossamer.parse.rewriting import charset as encodings
from gossamer.parse.rewriting import css, entities, manifest, modules, page
from gossamer.parse.rewriting.contract import Kind, Lookup, Reference, Rewritten
from gossamer.parse.rewriting.edits import Edit, apply
from gossamer.parse.rewriting.embed import Embedder
from gossamer.parse.rewriting.linker import Linker
from gossamer.parse.rewriting.memory import Memory

__all__ = ["Kind", "Lookup", "Memory", "Reference", "Rewritten", "needed", "rewrite", "rewrite_bare"]

_HTML = frozenset({"text/html"})
_XML = frozenset({"application/xhtml+xml", "image/svg+xml"})
_MAYBE_XML = frozenset({"application/xml", "text/xml"})
_CSS = frozenset({"text/css"})
_TEXT = frozenset({"text/plain"})
_SUPPOSED = ("", encodings.UTF_8, "windows-1252")
"""Encodings of text that browsers see by themselves; the last is what servers say of texts they know nothing of."""

_JSON = frozenset({"application/json", "text/json"})
_MANIFEST = frozenset({"application/manifest+json", "application/x-web-app-manifest+json"})
_MANIFEST_NAMES = (".webmanifest", "/manifest.json", "/site.manifest")
# MIME Sniffing 4.6, "JavaScript MIME type".
_SCRIPT = re.compile(r"(?:application|text)/(?:x-)?(?:java|ecma)script|text/(?:javascript1\.[0-5]|jscript|livescript)")
# The root element of XML, behind its declaration, comments, instructions and document type.
_ROOT = re.compile(
    r"\ufeff?(?:\s++|<\?(?:[^?]++|\?(?!>))*+\?>|<!--(?:[^-]++|-(?!->))*+-->|<![A-Za-z][^\[<>]*+(?:\[(?:[^\]]++|\](?!\s*+>))*+\]\s*+)?>)*+"
    r"<(?:[\w.-]+:)?([\w.-]+)"
)
_STYLESHEET = re.compile(r"""<\?xml-stylesheet\s(?:[^?]|\?(?!>)){0,500}?\bhref\s*+=\s*+(?:"([^"<]*+)"|'([^'<]*+)')""")


def rewrite(
    body: bytes,
    *,
    content_type: str,
    charset: str,
    url: str,
    place: str,
    lookup: Lookup,
    embed: bool = False,
    memory: Memory | None = None,
) -> Rewritten:
    """The file as it stands in the copy.

    ``body``: without its codings. ``content_type``: its media type, by header or sniffing. ``charset``: the WHATWG name
    of the encoding that came with it, "" to find out. ``url``: the final one, without fragment. ``place``: its path
    inside the copy. ``embed``: what it needs becomes part of it, as `Embedder` says. ``memory``: of other files of the same copy. Never raises for what the body
    holds. What is none of the types that have references here stays as it is, byte for byte; so does what has none to
    change and says of its encoding what is so.
    """
    file = _opened(body, content_type, encodings.name(charset), url)
    if file is None:
        return Rewritten(body, ())
    base = page.first_base(file.text, xml=file.format is _Format.XML) if file.format in _PAGES else None
    kind = Embedder if embed else Linker
    linker = kind(url=url, base=base, charset=file.charset, place=place, lookup=lookup)
    if memory is not None and file.format is _Format.HTML:
        changes = page.edits(file.text, linker, xml=False, folder=memory.of(linker))
    else:
        changes = _EDITS[file.format](file.text, linker)
    return Rewritten(file.closed(changes), tuple(linker.references))


def needed(body: bytes, *, content_type: str, charset: str, url: str) -> list[str]:
    """What a file needs wherever it may stand, by all that rewriting knows: canonical URLs, repeated ones too."""
    rewritten = rewrite(body, content_type=content_type, charset=charset, url=url, place="-/-", lookup=lambda _: None)
    return [reference.url for reference in rewritten.references if reference.kind == Kind.REQUISITE]


def rewrite_bare(body: bytes, *, content_type: str, charset: str, note: str) -> Rewritten:
    """A file that can't be rewritten, for the reason in ``note``: only what it says of its encoding is set right."""
    file = _opened(body, content_type, encodings.name(charset), "")
    if file is None:
        return Rewritten(body, (), note)
    changes: list[Edit] = []
    if file.format is _Format.HTML and not file.text.startswith("\ufeff"):
        changes = [(0, 0, "\ufeff")]  # which needs no place to be found
    elif file.format is _Format.CSS:
        changes = encodings.css_edits(file.text)
    elif file.format is _Format.XML:
        changes = encodings.xml_edits(file.text)
    return Rewritten(file.closed(changes), (), note)


class _Format(Enum):
    """What a file is read as."""

    HTML = auto()
    XML = auto()
    CSS = auto()
    MANIFEST = auto()
    SCRIPT = auto()
    TEXT = auto()


_PAGES = (_Format.HTML, _Format.XML)


@dataclass(frozen=True, slots=True)
class _File:
    """A file as text."""

    format: _Format
    body: bytes
    text: str
    charset: str

    def closed(self, changes: list[Edit]) -> bytes:
        """Its bytes in UTF-8, changed."""
        if not changes and self.charset == encodings.UTF_8:
            return self.body
        return apply(self.text, changes).encode("utf-8", "replace")


def _opened(body: bytes, content_type: str, charset: str, url: str) -> _File | None:
    """None: there are no references in it that we know of."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind in _HTML:
        return _File(_Format.HTML, body, *encodings.decode_page(body, charset, is_xml=False))
    if kind in _XML or kind in _MAYBE_XML:
        text, found = encodings.decode_page(body, charset, is_xml=True)
        root = _ROOT.match(text)
        is_page = kind in _XML or (root is not None and root[1].lower() in ("svg", "html"))
        return _File(_Format.XML, body, text, found) if is_page else None
    if kind in _CSS:
        return _File(_Format.CSS, body, *encodings.decode_css(body, charset))
    if kind in _MANIFEST or (kind in _JSON and urlsplit(url).path.endswith(_MANIFEST_NAMES)):
        return _File(_Format.MANIFEST, body, *encodings.decode(body, encodings.UTF_8))
    if kind in _TEXT and charset not in _SUPPOSED and b"\0" not in body and not encodings.likely(body):
        return _File(_Format.TEXT, body, *encodings.decode(body, charset))
    if _SCRIPT.fullmatch(kind):
        return _File(_Format.SCRIPT, body, *encodings.decode(body, charset or encodings.likely(body)))
    return None


def _plain(text: str, _: Linker) -> list[Edit]:
    """Plain text has nothing but a mark to say its encoding with."""
    return [] if text.startswith("\ufeff") else [(0, 0, "\ufeff")]


def _html(text: str, linker: Linker) -> list[Edit]:
    return page.edits(text, linker, xml=False)


def _xml(text: str, linker: Linker) -> list[Edit]:
    return [*_stylesheets(text, linker), *page.edits(text, linker, xml=True)]


def _stylesheets(text: str, linker: Linker) -> list[Edit]:
    """``<?xml-stylesheet href="…"?>`` (Associating Style Sheets with XML documents 1.0), which stands before the root."""
    changes: list[Edit] = []
    root = _ROOT.match(text)
    for found in _STYLESHEET.finditer(text, 0, root.end() if root else 0):
        excerpt = entities.attribute(text, *found.span(1 if found[1] is not None else 2))
        pointed = linker.point(excerpt.text, Kind.REQUISITE) if excerpt.text[:1] not in ("", "#") else None
        if pointed is not None and pointed.value is not None:
            changes += excerpt.place([(0, len(excerpt.text), pointed.value)])
    return changes


def _css(text: str, linker: Linker) -> list[Edit]:
    return [*encodings.css_edits(text), *css.edits(text, linker)]


_EDITS: dict[_Format, Callable[[str, Linker], list[Edit]]] = {
    _Format.HTML: _html,
    _Format.XML: _xml,
    _Format.CSS: _css,
    _Format.MANIFEST: manifest.edits,
    _Format.SCRIPT: modules.edits,
    _Format.TEXT: _plain,
}
