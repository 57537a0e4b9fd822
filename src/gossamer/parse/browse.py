"""What a browser would load from a local file, and where its links lead: an independent reading, to check copies by.

It shares no code with the rewriting that made them: a parser in place of its tokenizer, and tables of its own. Runs in parser workers.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol, TypeAlias

import turbohtml
from selectolax.lexbor import LexborHTMLParser, LexborNode

from gossamer.parse import css, encoding
from gossamer.parse.job import ParseJob
from gossamer.parse.refresh import refresh
from gossamer.parse.sniff import declared_type
from gossamer.parse.srcset import candidates
from gossamer.records import Facts

DOCUMENTS = frozenset({"text/html", "application/xhtml+xml", "image/svg+xml"})
"""Types that are read as markup, and whose elements fragments can name."""

_SPECIAL = frozenset({"link", "style", "script", "meta"})
_Attribute: TypeAlias = Callable[[str], str | None]
_DEEPEST = 4  # documents in attributes of documents
_MAX_KEPT = 20_000  # characters of CSS
_MOST = 200_000  # references and names of one file that are told
_LOADED = "load"
_VISITED = "visit"

# HTML "attributes-3" and SVG 2: those that hold one URL.
_VISITS = {("a", "href"), ("area", "href"), ("a", "xlink:href"), ("form", "action"), ("button", "formaction")}
_VISITS |= {("input", "formaction"), ("frame", "src"), ("iframe", "src"), ("frame", "longdesc"), ("img", "longdesc")}
_LOADS = {("img", "src"), ("source", "src"), ("audio", "src"), ("video", "src"), ("video", "poster"), ("track", "src")}
_LOADS |= {("embed", "src"), ("object", "data"), ("script", "src"), ("input", "src")}
_LOADS |= {(tag, "background") for tag in ("body", "table", "thead", "tbody", "tfoot", "tr", "td", "th")}
_LOADS |= {(tag, name) for tag in ("image", "use", "script", "feimage", "mpath") for name in ("href", "xlink:href")}
_SRCSETS = {("img", "srcset"), ("source", "srcset"), ("link", "imagesrcset")}
_PAINTED = ("fill", "stroke", "filter", "mask", "clip-path", "cursor", "marker-start", "marker-mid", "marker-end")
"""Attributes of SVG's that hold CSS."""

_ROLES = {
    **dict.fromkeys(_VISITS, _VISITED),
    **dict.fromkeys(_LOADS, _LOADED),
    **dict.fromkeys(_SRCSETS, "srcset"),
}
_BY_TAG: dict[str, tuple[tuple[str, str], ...]] = {
    tag: tuple((name, role) for (other, name), role in _ROLES.items() if other == tag)
    for tag in sorted({tag for tag, _ in _ROLES})
}
_TAGS = (*_BY_TAG, "feImage", "link", "style", "script", "meta")
_MOST_TAGS = tuple(tag for tag in _TAGS if tag not in ("table", "thead", "tbody", "tfoot", "tr", "td", "th"))
_LINK_LOADS = frozenset(
    (
        *("stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon", "preload"),
        *("modulepreload", "prefetch", "manifest", "search"),
    )
)
_LINK_VISITS = frozenset(
    (
        *("next", "prev", "previous", "help", "license", "author", "alternate", "contents", "index", "copyright", "up"),
        *("start", "first", "last", "home", "top", "toc", "glossary", "chapter", "section", "appendix", "tag"),
    )
)
# An import at the beginning of a statement, with a literal for what is imported (ECMAScript 16.2.2, 16.2.3).
_IMPORT = re.compile(
    r"""(?:^|[;}\n])[ \t]*(?:import|export)\b(?:[\w$\s,{}*]*?\bfrom)?\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)')"""
)
_BACKGROUND = re.compile(r"background[\t\n\f\r ]*=")
_XML_STYLE = re.compile(r"<\?xml-stylesheet\b[^>]*?\bhref\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


class _Element(Protocol):
    """What is asked of an element, whichever parser read it."""

    @property
    def tag(self) -> str: ...

    @property
    def text(self) -> str: ...

    def attr(self, name: str, /) -> str | None: ...


class _Document(Protocol):
    """What is asked of a document."""

    def iter_elements(self, tags: Sequence[str], /) -> Iterable[_Element]: ...

    def select(self, selector: str, /) -> Iterable[_Element]: ...


@dataclass(slots=True)
class _Seen:
    """What was met in one file."""

    references: list[tuple[str, str, str]] = field(default_factory=list)  # load or visit, value, where it stands
    names: dict[str, None] = field(default_factory=dict)  # ids, and names of anchors
    base: str | None = None


def browse(job: ParseJob, *, fallback: bool = False) -> Facts:
    """The references of a file as ``derived``: JSON with ``references``, ``names`` and ``base``.

    Its type is what the job's headers say; its encoding what a browser finds out without them. ``fallback``: use the
    second HTML parser.
    """
    kind = declared_type(job.headers)
    seen = _Seen()
    if kind in DOCUMENTS:
        _document(encoding.decode(job.body, "")[0], seen, 0, _ByLexbor if fallback else _by_turbohtml)
    elif kind == "text/css":
        source, _ = css.decode(job.body, "")
        seen.references.extend((_LOADED, value, "css") for value in css.references(source))
    elif kind == "text/javascript":
        seen.references.extend(_imports(encoding.decode(job.body, "")[0]))
    elif kind == "application/manifest+json":
        seen.references.extend(_manifest(job.body))
    references = list(dict.fromkeys(seen.references))
    found = {"references": references[:_MOST], "names": list(seen.names)[:_MOST], "base": seen.base}
    return Facts(kind, len(job.body), b"", derived=json.dumps(found))


def _document(source: str, seen: _Seen, depth: int, parsed: Callable[[str], _Document]) -> None:
    for found in _XML_STYLE.finditer(source[:4096]):
        seen.references.append((_LOADED, found[1] or found[2] or "", "xml-stylesheet"))
    lower, document = source.lower(), parsed(source)
    if depth == 0:
        _name(document, seen)
    for element in document.iter_elements(_TAGS if _BACKGROUND.search(lower) else _MOST_TAGS):
        tag = element.tag.lower()
        seen.references.extend(_of_attributes(tag, element.attr, _BY_TAG.get(tag, ())))
        if tag in _SPECIAL:
            seen.references.extend(_of_special(tag, element))
        if tag == "iframe" and depth < _DEEPEST and (inner := element.attr("srcdoc")) is not None:
            _document(inner, seen, depth + 1, parsed)
    for name in ("style", *(_PAINTED if "<svg" in lower else ())):
        for element in document.select(f"[{name}*='(']"):
            where = f"{element.tag.lower()} {name}"
            seen.references.extend((_LOADED, url, where) for url in _in_css(element.attr(name) or ""))


def _by_turbohtml(source: str) -> _Document:
    try:
        document = turbohtml.parse(source, positions=False, allow_declarative_shadow_roots=False)
    except (ValueError, LookupError):  # rare input that it refuses
        return _ByLexbor(source)
    for template in document.select("template:not([shadowrootmode])"):
        template.decompose()  # nothing in it is loaded
    return document


class _ByLexbor:
    """A document as the fallback parser reads it."""

    def __init__(self, source: str) -> None:
        self._parser = LexborHTMLParser(source)

    def iter_elements(self, tags: Sequence[str], /) -> Iterable[_Element]:
        return self.select(",".join(tags))

    def select(self, selector: str, /) -> Iterable[_Element]:
        return map(_OfLexbor, self._parser.css(selector))


class _OfLexbor:
    """An element as the fallback parser read it."""

    __slots__ = ("_attributes", "_node", "tag")

    def __init__(self, node: LexborNode) -> None:
        self._node = node
        self._attributes = node.attributes
        self.tag = node.tag or ""

    @property
    def text(self) -> str:
        return self._node.text(deep=True)

    def attr(self, name: str, /) -> str | None:
        return (self._attributes[name] or "") if name in self._attributes else None


def _name(document: _Document, seen: _Seen) -> None:
    """HTML, "find a potential indicated element": an id, or the name of an a. And the first base, wherever it stands."""
    for selector, name in (("[id]", "id"), ("a[name]", "name")):
        seen.names.update((element.attr(name) or "", None) for element in document.select(selector))
    seen.base = next((element.attr("href") for element in document.select("base[href]")), None)


def _of_attributes(tag: str, attr: _Attribute, roles: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    for name, role in roles:
        value = attr(name)
        if value is None:
            continue
        if role == "srcset":
            yield from ((_LOADED, url, f"{tag} {name}") for url in candidates(value))
        elif (tag, name) != ("input", "src") or (attr("type") or "").lower() == "image":
            yield role, value, f"{tag} {name}"


def _in_css(source: str) -> Sequence[str]:
    """Many pages of a site hold the same styles."""
    return _references(source) if len(source) <= _MAX_KEPT else tuple(css.references(source))


@lru_cache(maxsize=512)
def _references(source: str) -> tuple[str, ...]:
    return tuple(css.references(source))


def _of_special(tag: str, element: _Element) -> Iterator[tuple[str, str, str]]:
    attr = element.attr
    match tag:
        case "link" if (href := attr("href")) is not None:
            yield from _link(href, attr("rel") or "")
        case "style":
            yield from ((_LOADED, url, "style") for url in _in_css(element.text))
        case "script" if (attr("type") or "").strip().lower() == "module" and attr("src") is None:
            yield from _imports(element.text)
        case "meta" if (attr("http-equiv") or "").strip().lower() == "refresh":
            found = refresh(attr("content") or "")
            if found is not None and found[1] is not None:
                yield _VISITED, found[1], "meta refresh"


def _link(href: str, rel: str) -> Iterator[tuple[str, str, str]]:
    rels = set(rel.lower().split())
    if rels & _LINK_LOADS:
        yield _LOADED, href, "link href"
    elif rels & _LINK_VISITS:
        yield _VISITED, href, "link href"


def _imports(source: str) -> Iterator[tuple[str, str, str]]:
    """Modules that are imported by a relative address; other names are no addresses without an import map."""
    for found in _IMPORT.finditer(source):
        value = found[1] or found[2] or ""
        if value.startswith(("./", "../", "/")):
            yield _LOADED, value, "import"


def _manifest(body: bytes) -> Iterator[tuple[str, str, str]]:
    """Web Application Manifest: icons, screenshots and shortcuts."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return
    if not isinstance(content, dict):
        return
    shortcuts = _objects(content.get("shortcuts"))
    yield from _strings([content], "start_url", _VISITED)
    yield from _strings(shortcuts, "url", _VISITED)
    for holder in (content, *shortcuts):
        for name in ("icons", "screenshots"):
            yield from _strings(_objects(holder.get(name)), "src", _LOADED)


def _strings(holders: Iterable[dict[str, object]], name: str, kind: str) -> Iterator[tuple[str, str, str]]:
    for holder in holders:
        value = holder.get(name)
        if isinstance(value, str):
            yield kind, value, f"manifest {name}"


def _objects(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
