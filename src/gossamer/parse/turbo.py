"""HTML read by turbohtml: fast, and as browsers do. Hostile markup can crash it: only parser workers call this."""

from collections.abc import Iterator

import turbohtml
from turbohtml import Document, Element, Namespace, PlainText, Text

from gossamer.parse.markup import ATTRIBUTES, SRCSETS, Markup, Meta, Reference, link_via, runs
from gossamer.parse.srcset import candidates
from gossamer.parse.text import fold
from gossamer.records import Via

_PLAIN = PlainText(layout="strict", bullet="", table_cell_separator=" ")
_ANCHOR_TEXT = 200_000  # characters that are read for sure

_SHORT = 300  # characters; only in pages with less text is it asked what is for browsers without scripts


def read(body: bytes, charset: str) -> Markup:
    """The markup of a page. ``charset``: the name that was declared with it, "" to find out.

    Raises ValueError and LookupError for the rare input the library refuses.
    """
    document = turbohtml.parse(
        body,
        encoding=charset or None,
        detect_encoding=not charset,
        positions=False,
        allow_declarative_shadow_roots=False,
    )
    _settle_templates(document)
    references = list(_References(document, budget=_ANCHOR_TEXT + 4 * len(body)))
    canonical = next((_attr(link, "href") for link in document.find_all("link") if "canonical" in _rel(link)), None)
    forms, scripts = len(document.find_all("form")), _scripts(document)
    text = _text(document)
    return Markup(
        charset=(document.encoding or "").lower(),
        language=_language(document),
        title=_title(document),
        base=next((href for each in document.find_all("base") if (href := each.attr("href")) is not None), None),
        metas=tuple(_metas(document)),
        references=references,
        canonical=canonical,
        forms=forms,
        scripts=scripts,
        text=text,
        fallback_text=_fallback_text(document) if scripts and len(text) < _SHORT else "",
    )


def _attr(element: Element, name: str) -> str:
    return element.attr(name) or ""


def _rel(element: Element) -> set[str]:
    return set(_attr(element, "rel").lower().split())


def _settle_templates(document: Document) -> None:
    """Templates are inert, and go; those that declare a shadow root are shown, and take their own place.

    The library would hide a shadow root's links and text from us, so it is asked not to build any.
    """
    for template in list(document.find_all("template")):
        if template.attr("shadowrootmode") is not None:
            template.unwrap()
        else:
            template.decompose()


def _title(document: Document) -> str:
    """HTML, "the title element": the first in the document; SVG has titles too, which are not it."""
    return next((title.text for title in document.find_all("title") if title.namespace is Namespace.HTML), "")


def _language(document: Document) -> str:
    root = document.root
    return (_attr(root, "lang") or _attr(root, "xml:lang")) if root is not None else ""


def _metas(document: Document) -> Iterator[Meta]:
    for meta in document.find_all("meta"):
        content = meta.attr("content")
        if content is not None:
            yield Meta(_attr(meta, "name").strip().lower(), _attr(meta, "http-equiv").strip().lower(), content)


def _scripts(document: Document) -> int:
    return sum(runs(_attr(script, "type")) for script in document.find_all("script"))


def _text(document: Document) -> str:
    """The readable text. Boxes of their own must not be glued to their neighbours; what is for browsers that can't
    show an element is not shown."""
    for tag in ("option", "optgroup", "select", "textarea", "button"):
        for element in document.find_all(tag):
            element.insert_before(Text(" "))
            element.insert_after(Text(" "))
    for tag in ("iframe", "object", "audio", "video", "canvas"):
        for element in document.find_all(tag):
            element.clear()
    return fold(document.to_text(_PLAIN))


def _fallback_text(document: Document) -> str:
    return "\n".join(fold(element.to_text(_PLAIN)) for element in document.find_all("noscript"))


class _References:
    """The links of a document in order. The text of anchors is read up to a budget: nested ones hold it many times."""

    def __init__(self, document: Document, *, budget: int) -> None:
        self._document = document
        self._budget = budget

    def __iter__(self) -> Iterator[Reference]:
        last_set: tuple[Element, str] | None = None
        for element, attribute, url in self._document.links():
            tag = element.tag
            if tag == "a" and attribute in ("href", "xlink:href"):
                yield Via.ANCHOR, url, self._anchor_text(element), "nofollow" in _attr(element, "rel").lower()
            elif attribute is None or attribute == "style":
                yield Via.REQUISITE, url, "", False
            elif (tag, attribute) in SRCSETS:
                if last_set != (element, attribute):
                    last_set = (element, attribute)
                    for candidate in candidates(_attr(element, attribute)):
                        yield Via.REQUISITE, candidate, "", False
            else:
                yield from _simple(element, tag, attribute, url)

    def _anchor_text(self, anchor: Element) -> str:
        if self._budget <= 0:
            return ""
        text = anchor.text
        self._budget -= len(text)
        if text and not text.isspace():
            return text
        image = anchor.find("img")
        return _attr(image, "alt") if image is not None else ""


def _simple(element: Element, tag: str, attribute: str, url: str) -> Iterator[Reference]:
    is_link = tag == "link" and attribute == "href"
    via = link_via(_rel(element)) if is_link else ATTRIBUTES.get((tag, attribute))
    if tag == "input" and _attr(element, "type").strip().lower() != "image":
        via = None
    if via is not None:
        text = _attr(element, "alt") if via is Via.AREA else ""
        yield via, url, text, via is Via.AREA and "nofollow" in _attr(element, "rel").lower()
