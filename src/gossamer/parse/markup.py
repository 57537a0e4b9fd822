"""What any HTML parser is asked for: the same record, whichever parser filled it in."""

from collections.abc import Iterable
from dataclasses import dataclass

from gossamer.records import Via

EMPTY = "empty without JavaScript"
"""The note on a page that shows next to nothing before its scripts have run."""

Reference = tuple[Via, str, str, bool]
"""A link as it stands in the page: kind, the attribute's value, anchor text, whether rel says nofollow."""


@dataclass(frozen=True, slots=True)
class Meta:
    """One ``<meta>``; name and pragma lower case, each "" where it has none."""

    name: str
    pragma: str  # http-equiv
    content: str


@dataclass(frozen=True, slots=True)
class Markup:
    """The raw facts of one document, nothing resolved or folded yet."""

    charset: str
    language: str
    title: str
    base: str | None  # the first <base href>, wherever it stands
    metas: tuple[Meta, ...]
    references: Iterable[Reference]  # in document order, repeated ones too
    canonical: str | None
    forms: int
    scripts: int  # those that run
    text: str
    fallback_text: str  # of <noscript>, which is in ``text`` as well
    frames: tuple[str, ...]  # documents that stand in attributes (srcdoc)
    hides: bool  # it may need what is none of the references: only its rewriting finds that


ATTRIBUTES = {
    ("a", "href"): Via.ANCHOR,
    ("a", "xlink:href"): Via.ANCHOR,
    ("area", "href"): Via.AREA,
    ("frame", "src"): Via.FRAME,
    ("iframe", "src"): Via.IFRAME,
    ("audio", "src"): Via.REQUISITE,
    ("body", "background"): Via.REQUISITE,
    ("embed", "src"): Via.REQUISITE,
    ("image", "href"): Via.REQUISITE,
    ("image", "xlink:href"): Via.REQUISITE,
    ("img", "src"): Via.REQUISITE,
    ("input", "src"): Via.REQUISITE,
    ("object", "data"): Via.REQUISITE,
    ("script", "href"): Via.REQUISITE,  # SVG's
    ("script", "src"): Via.REQUISITE,
    ("script", "xlink:href"): Via.REQUISITE,
    ("source", "src"): Via.REQUISITE,
    **{(tag, "background"): Via.REQUISITE for tag in ("table", "tbody", "td", "tfoot", "th", "thead", "tr")},
    ("track", "src"): Via.REQUISITE,
    ("use", "href"): Via.REQUISITE,
    ("use", "xlink:href"): Via.REQUISITE,
    ("video", "poster"): Via.REQUISITE,
    ("video", "src"): Via.REQUISITE,
}
"""The attributes that hold one URL, and what kind of link it is. Those of forms are left out on purpose."""

SRCSETS = frozenset({("img", "srcset"), ("source", "srcset"), ("link", "imagesrcset")})

_FOLLOWED_RELS = frozenset(
    {
        *("alternate", "canonical", "next", "prev", "previous"),
        # the other ways through a document (HTML 4.01, 6.12 "Link types"), and what manuals call them
        *("appendix", "chapter", "contents", "glossary", "index", "section", "start", "subsection"),
        *("begin", "end", "first", "home", "last", "toc", "top", "up"),
    }
)
"""Not those that lead away from what is read: author, help, license, tag."""

_REQUISITE_RELS = frozenset(
    {
        *("stylesheet", "icon", "mask-icon", "preload", "modulepreload", "prefetch", "manifest"),
        *("apple-touch-icon", "apple-touch-icon-precomposed", "apple-touch-startup-image"),
        "search",  # OpenSearch: what browsers load to offer the site's own search
    }
)


def link_via(rel: set[str]) -> Via | None:
    """The kind of a ``<link>`` with these keywords; an alternate stylesheet is a stylesheet."""
    if rel & _REQUISITE_RELS:
        return Via.REQUISITE
    return Via.LINK if rel & _FOLLOWED_RELS else None


_SCRIPT_TYPES = frozenset({"", "module", "text/javascript", "application/javascript", "text/ecmascript"})


_DRAWN = (b"<feimage", b"=url(", b'="url(', b"='url(")
_MODULES = frozenset({"module", "importmap"})


def hides(body: bytes, *, has_svg: bool, script_types: Iterable[str], styles: Iterable[str]) -> bool:
    """Whether a page may need what no parser finds as a link: for pictures within pictures and paint in SVG, modules that
    modules import, and what escapes in style sheets make an import of."""
    if any(kind.strip().lower() in _MODULES for kind in script_types) or any("@\\" in style for style in styles):
        return True
    lower = body.lower() if has_svg else b""  # takes as long as a third of the parsing
    return any(mark in lower for mark in _DRAWN)


def runs(script_type: str) -> bool:
    """Whether a ``<script>`` of this type is a program and no block of data."""
    return script_type.strip().lower() in _SCRIPT_TYPES
