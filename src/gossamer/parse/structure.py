"""The structure of a page and nothing else: its markup without scripts, styles, colours, fonts and comments.

Derived on demand from the body in the archive. Only parser workers call this: it parses HTML from the network.
"""

from dataclasses import replace

import turbohtml
from selectolax.lexbor import LexborHTMLParser
from turbohtml import Html, Minify

from gossamer.parse.body import undo
from gossamer.parse.encoding import decode
from gossamer.parse.job import Derived, Limits, ParseJob
from gossamer.records import Facts

_GONE = "script, style, template, link[rel~=stylesheet i], link[as], basefont"
_UNWRAPPED = ("font", "center")
_STYLING = frozenset(
    (
        *("align", "alink", "background", "bgcolor", "border", "bordercolor", "cellpadding", "cellspacing", "class"),
        *(
            "clear",
            "color",
            "face",
            "frameborder",
            "height",
            "hspace",
            "link",
            "marginheight",
            "marginwidth",
            "noshade",
        ),
        *("nowrap", "size", "style", "text", "valign", "vlink", "vspace", "width"),
    )
)
"""Attributes that only say how something looks (HTML, "Obsolete features"), or what styles are tied to."""

_ADDRESSES = frozenset(("href", "poster", "src", "srcset", "xlink:href"))
_FOR_SCRIPTS = ("on", "data-")  # how attributes begin that are for scripts alone
_COMPACT = Html(layout=Minify(omit_optional_tags=False, unquote_attributes=False))


def derive(facts: Facts, job: ParseJob, limits: Limits, *, fallback: bool) -> Facts:
    """The facts of a page with the form that the job asks for; without it where the body is no page or can't be read."""
    if not facts.is_page or facts.failure is not None:
        return facts
    body = undo(job.headers, job.body, limits.max_decoded, url=job.url).data
    if job.derive is Derived.SOURCE:
        return replace(facts, derived=decode(body, facts.charset)[0])
    try:
        return replace(facts, derived=cleaned(body, facts.charset, fallback=fallback))
    except Exception:  # noqa: BLE001 - what a library raises for input it refuses; the other one reads it
        return replace(facts, derived=cleaned(body, facts.charset, fallback=True))


def cleaned(body: bytes, charset: str, *, fallback: bool = False) -> str:
    """The cleaned markup of a page, white space that is not shown made single spaces.

    ``charset``: by its WHATWG name. ``fallback``: read it with the second parser.
    """
    source, _ = decode(body, charset)
    return _by_lexbor(source) if fallback else _by_turbo(source)


def _by_turbo(source: str) -> str:
    document = turbohtml.parse(source, positions=False)
    document.remove(_GONE)
    bare = []
    for element in document.iter_elements():
        attributes = element.attrs
        for name in [name for name, value in attributes.items() if _is_left_out(name, value)]:
            del attributes[name]
        if element.tag in _UNWRAPPED or (element.tag == "span" and not attributes):
            bare.append(element)
    for element in bare:
        element.unwrap()
    return document.serialize(_COMPACT)


def _by_lexbor(source: str) -> str:
    document = LexborHTMLParser(source)
    for node in document.css(_GONE):
        node.decompose()
    for node in document.css("*"):
        for name in [name for name, value in node.attributes.items() if _is_left_out(name, value)]:
            del node.attrs[name]
    document.unwrap_tags(list(_UNWRAPPED))
    nodes = document.root.traverse(include_text=True) if document.root is not None else ()
    for node in [node for node in nodes if node.tag == "-comment"]:
        node.decompose()
    return document.html or ""


def _is_left_out(name: str, value: object) -> bool:
    if name in _STYLING or name.startswith(_FOR_SCRIPTS):
        return True
    return name in _ADDRESSES and isinstance(value, str) and value[:5].lower() == "data:"  # an image within the page
