"""HTML read by turbohtml: fast, and as browsers do. Hostile markup can crash it: only parser workers call this."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import turbohtml
from turbohtml import Document, Element, Namespace, Node, PlainText, Text

from gossamer.parse import css
from gossamer.parse.markup import ATTRIBUTES, SRCSETS, Markup, Meta, Reference, hides, link_via, runs
from gossamer.parse.srcset import candidates
from gossamer.parse.text import fold
from gossamer.records import Via

_PLAIN = PlainText(layout="strict", bullet="", table_cell_separator=" ")
_SET_APART = ("option", "optgroup", "select", "textarea", "button", "svg")
"""Shown as boxes of their own: their text must not be glued to their neighbours'."""

_NOT_SHOWN = ("iframe", "object", "audio", "video", "canvas")
"""What stands in them is for browsers that can't show them."""

_BLOCKS = (
    *("caption", "center", "dialog", "dir", "fieldset", "form", "hgroup", "legend", "listing", "marquee", "menu", "ol"),
    *("search", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", "xmp"),
)
"""Made plain blocks before the text is taken: the library would glue their text to its neighbours', glue the blocks
within a table's cell to one another, leave out captions and what is in a list but in none of its items, and number
the items."""

_OF_NOTE = (
    *("base", "link", "meta", "noscript", "script", "style", "template", "title"),
    *_SET_APART,
    *_NOT_SHOWN,
    *_BLOCKS,
)

_IMAGE_SET = b"image-set"
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
    found = _by_tag(document)
    if "template" in found:
        _settle(found["template"])
        found = _by_tag(document)
    types = [_attr(script, "type") for script in found["script"]]
    hidden = hides(body, has_svg="svg" in found, script_types=types, styles=(style.text for style in found["style"]))
    references = _references(document, budget=_ANCHOR_TEXT + 4 * len(body))
    if _IMAGE_SET in body:  # a look at every style costs a third of the whole reading
        references += _image_sets(document)
    text = _text(document, found)
    return Markup(
        charset=(document.encoding or "").lower(),
        language=_language(document),
        title=_title(found["title"]),
        base=next((href for each in found["base"] if (href := each.attr("href")) is not None), None),
        metas=tuple(_metas(found["meta"])),
        references=references,
        canonical=next((_attr(link, "href") for link in found["link"] if "canonical" in _rel(link)), None),
        forms=len(found["form"]),
        scripts=(scripts := sum(map(runs, types))),
        text=text,
        fallback_text=_plain(found["noscript"]) if scripts and len(text) < _SHORT else "",
        frames=tuple(source for frame in found["iframe"] if (source := frame.attr("srcdoc"))),
        hides=hidden,
    )


def _by_tag(document: Document) -> dict[str, list[Element]]:
    """The elements of note, found in one walk."""
    found: defaultdict[str, list[Element]] = defaultdict(list)
    for element in document.iter_elements(_OF_NOTE):
        found[element.tag].append(element)
    return found


def _attr(element: Element, name: str) -> str:
    return element.attr(name) or ""


def _rel(element: Element) -> list[str]:
    return _attr(element, "rel").lower().split()


def _settle(templates: list[Element]) -> None:
    """Templates are inert, and go; those that declare a shadow root are shown, and take their own place.

    The library would hide a shadow root's links and text from us, so it is asked not to build any.
    """
    for template in templates:
        if template.attr("shadowrootmode") is not None:
            template.unwrap()
        else:
            template.decompose()


def _title(titles: list[Element]) -> str:
    """HTML, "the title element": the first in the document; SVG has titles too, which are not it."""
    return next((title.text for title in titles if title.namespace is Namespace.HTML), "")


def _language(document: Document) -> str:
    root = document.root
    return (_attr(root, "lang") or _attr(root, "xml:lang")) if root is not None else ""


def _metas(metas: list[Element]) -> Iterator[Meta]:
    for meta in metas:
        content = meta.attr("content")
        if content is not None:
            yield Meta(_attr(meta, "name").strip().lower(), _attr(meta, "http-equiv").strip().lower(), content)


def _text(document: Document, found: dict[str, list[Element]]) -> str:
    for tag in _SET_APART:
        for element in found[tag]:
            element.insert_before(Text(" "))
            element.insert_after(Text(" "))
    for tag in _NOT_SHOWN:
        for element in found[tag]:
            element.clear()
    for tag in _BLOCKS:
        for element in found[tag]:
            element.tag = "div"
    return _plain([document])


def _plain(nodes: Sequence[Node]) -> str:
    return "\n".join(fold(node.to_text(_PLAIN)) for node in nodes)


def _references(document: Document, *, budget: int) -> list[Reference]:
    """The links of a document in order. The text of anchors is read up to a ``budget``: nested ones hold it many times."""
    found: list[Reference] = []
    last_set: tuple[Element, str] | None = None
    for element, attribute, url in document.links():
        tag = element.tag
        if tag == "a" and attribute in ("href", "xlink:href"):
            text = element.text if budget > 0 else ""
            budget -= len(text)
            if (not text or text.isspace()) and budget > 0:
                text = _image_text(element)
            rel = element.attr("rel")
            found.append((Via.ANCHOR, url, text, rel is not None and "nofollow" in rel.lower().split()))
        elif attribute is None or attribute == "style":  # of a style sheet in the page
            found.append((Via.REQUISITE, css.unescape(url), "", False))
        elif (tag, attribute) in SRCSETS:
            if last_set != (element, attribute):
                last_set = (element, attribute)
                found.extend((Via.REQUISITE, each, "", False) for each in candidates(_attr(element, attribute)))
        else:
            found.extend(_simple(element, tag, attribute, url))
    return found


def _image_text(anchor: Element) -> str:
    """What the first image of an anchor without text says of itself."""
    image = anchor.find("img")
    return _attr(image, "alt") if image is not None else ""


def _image_sets(document: Document) -> Iterator[Reference]:
    """The library knows no strings in ``image-set("a.png" 1x)``; what else it found in these styles comes again."""
    for element in document.select("style, [style*='image-set']"):
        source = element.text if element.tag == "style" else _attr(element, "style")
        if "image-set" in source:
            yield from ((Via.REQUISITE, url, "", False) for url in css.references(source))


def _simple(element: Element, tag: str, attribute: str, url: str) -> Iterator[Reference]:
    is_link = tag == "link" and attribute == "href"
    via = link_via(set(_rel(element))) if is_link else ATTRIBUTES.get((tag, attribute))
    if tag == "input" and _attr(element, "type").strip().lower() != "image":
        via = None
    if via is not None:
        text = _attr(element, "alt") if via is Via.AREA else ""
        yield via, url, text, via is Via.AREA and "nofollow" in _rel(element)
