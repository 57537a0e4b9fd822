"""What a browser would load from a local file, and where its links lead: an independent reading, to check copies by.

It shares no code with the rewriting that made them: another parser, and tables of its own. Runs in parser workers.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from gossamer.parse import css, encoding
from gossamer.parse.job import ParseJob
from gossamer.parse.refresh import refresh
from gossamer.parse.sniff import declared_type
from gossamer.parse.srcset import candidates
from gossamer.records import Facts

DOCUMENTS = frozenset({"text/html", "application/xhtml+xml", "image/svg+xml"})
"""Types that are read as markup, and whose elements fragments can name."""

_DEEPEST = 4  # documents in attributes of documents
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
_STYLED = (
    "style",
    "fill",
    "stroke",
    "filter",
    "mask",
    "clip-path",
    "cursor",
    "marker-start",
    "marker-mid",
    "marker-end",
)
_ROLES = {
    **dict.fromkeys(_VISITS, _VISITED),
    **dict.fromkeys(_LOADS, _LOADED),
    **dict.fromkeys(_SRCSETS, "srcset"),
}
_NAMES = frozenset(name for _, name in _ROLES)
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
_SELECTED = {
    **{
        name: f"[{name}]"
        for name in (
            *("href", "src", "srcset", "style", "background", "action", "formaction", "data", "poster", "srcdoc"),
            *("imagesrcset", "longdesc", "id", "name"),
        )
    },
    **{f"<{tag}": tag for tag in ("style", "meta", "script")},
    "<svg": "svg *",
}
"""Selectors of the elements that are looked at, by what stands in a document that has any: each selector takes its time."""
# An import at the beginning of a statement, with a literal for what is imported (ECMAScript 16.2.2, 16.2.3).
_IMPORT = re.compile(
    r"""(?:^|[;}\n])[ \t]*(?:import|export)\b(?:[\w$\s,{}*]*?\bfrom)?\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)')"""
)
_XML_STYLE = re.compile(r"<\?xml-stylesheet\b[^>]*?\bhref\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


@dataclass(slots=True)
class _Seen:
    """What was met in one file."""

    references: list[tuple[str, str, str]] = field(default_factory=list)  # load or visit, value, where it stands
    names: dict[str, None] = field(default_factory=dict)  # ids, and names of anchors
    base: str | None = None


def browse(job: ParseJob) -> Facts:
    """The references of a file as ``derived``: JSON with ``references``, ``names`` and ``base``.

    Its type is what the job's headers say; its encoding what a browser finds out without them.
    """
    kind = declared_type(job.headers)
    seen = _Seen()
    if kind in DOCUMENTS:
        _document(encoding.decode(job.body, "")[0], seen, 0)
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


def _document(source: str, seen: _Seen, depth: int) -> None:
    for found in _XML_STYLE.finditer(source[:4096]):
        seen.references.append((_LOADED, found[1] or found[2] or "", "xml-stylesheet"))
    parser = LexborHTMLParser(source)
    base = next((node for node in parser.css("base[href]")), None)
    if base is not None and depth == 0:
        seen.base = base.attributes.get("href") or ""
    lower = source.lower()
    for node in parser.css(",".join(selector for word, selector in _SELECTED.items() if word in lower) or "html"):
        tag = (node.tag or "").lower()
        attributes = {name: value or "" for name, value in node.attributes.items()}
        if depth == 0:
            _name(tag, attributes, seen)
        seen.references.extend(_references(tag, attributes, node))
        if tag == "iframe" and "srcdoc" in attributes and depth < _DEEPEST:
            _document(attributes["srcdoc"], seen, depth + 1)


def _name(tag: str, attributes: dict[str, str], seen: _Seen) -> None:
    """HTML, "find a potential indicated element": an id, or the name of an a."""
    if "id" in attributes:
        seen.names[attributes["id"]] = None
    if tag == "a" and "name" in attributes:
        seen.names[attributes["name"]] = None


def _references(tag: str, attributes: dict[str, str], node: LexborNode) -> Iterator[tuple[str, str, str]]:
    yield from _of_attributes(tag, attributes)
    match tag:
        case "link" if "href" in attributes:
            yield from _link(attributes)
        case "style":
            yield from ((_LOADED, url, "style") for url in css.references(node.text(deep=True)))
        case "script" if attributes.get("type", "").strip().lower() == "module" and "src" not in attributes:
            yield from _imports(node.text(deep=True))
        case "meta" if attributes.get("http-equiv", "").strip().lower() == "refresh":
            found = refresh(attributes.get("content", ""))
            if found is not None and found[1] is not None:
                yield _VISITED, found[1], "meta refresh"


def _of_attributes(tag: str, attributes: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    for name, value in attributes.items():
        role = _ROLES.get((tag, name)) if name in _NAMES else None
        if role == "srcset":
            yield from ((_LOADED, url, f"{tag} {name}") for url in candidates(value))
        elif role is not None:
            if (tag, name) != ("input", "src") or attributes.get("type", "").lower() == "image":
                yield role, value, f"{tag} {name}"
        elif name in _STYLED and "(" in value:
            yield from ((_LOADED, url, f"{tag} {name}") for url in css.references(value))


def _link(attributes: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    rels = set(attributes.get("rel", "").lower().split())
    if rels & _LINK_LOADS:
        yield _LOADED, attributes["href"], "link href"
    elif rels & _LINK_VISITS:
        yield _VISITED, attributes["href"], "link href"


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
