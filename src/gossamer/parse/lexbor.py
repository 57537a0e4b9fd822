"""HTML read by lexbor: the fallback for pages that turbohtml can't read. Only parser workers call this."""

from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from gossamer.parse import css
from gossamer.parse.encoding import decode
from gossamer.parse.markup import ATTRIBUTES, SRCSETS, Markup, Meta, Reference, link_via, runs
from gossamer.parse.srcset import candidates
from gossamer.parse.text import fold
from gossamer.records import Via

_SILENT = frozenset(
    (
        *("script", "style", "title", "template", "iframe", "noembed", "noframes", "object", "audio"),
        *("video", "canvas", "head"),
    )
)
_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details"),
        *("dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form"),
        *("frameset", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "html", "legend", "li"),
        *("listing", "main", "marquee", "menu", "nav", "ol", "p", "pre", "search", "section", "summary"),
        *("table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul", "xmp"),
    )
)
_APART = frozenset(("option", "optgroup", "select", "textarea", "button", "svg"))


def read(body: bytes, charset: str) -> Markup:
    """The markup of a page. ``charset``: the name that was declared with it, "" to find out."""
    source, name = decode(body, charset)
    reader = _Reader()
    root = LexborHTMLParser(source).root
    if root is not None:
        for node, entering in _walk(root):
            (reader.enter if entering else reader.leave)(node)
    return reader.markup(name)


def _walk(root: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """All nodes in document order, each when it begins and when it ends; no recursion, for pages may be deep."""
    node: LexborNode | None = root
    depth = 0
    while node is not None:
        yield node, True
        child = node.first_child
        if child is not None:
            node, depth = child, depth + 1
            continue
        yield node, False
        while depth and node.next is None:
            parent = node.parent
            if parent is None:
                return
            node, depth = parent, depth - 1
            yield node, False
        node = node.next if depth else None


class _Reader:
    """Collects the facts of a document while it is walked."""

    def __init__(self) -> None:
        self._language = ""
        self._title: str | None = None
        self._base: str | None = None
        self._canonical: str | None = None
        self._metas: list[Meta] = []
        self._references: list[Reference] = []
        self._frames: list[str] = []
        self._forms = 0
        self._scripts = 0
        self._text: list[str] = []
        self._fallback: list[str] = []
        self._silent = 0  # how many elements around us are not shown
        self._noscript = 0
        self._anchors: list[tuple[range, list[str]]] = []  # open ones: their places in the references, their text

    def enter(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag == "-text":
            self._add_text(node.text_content or "")
        elif not tag.startswith("-"):
            attributes = {name: value or "" for name, value in node.attributes.items()}
            self._silent += tag in _SILENT
            self._noscript += tag == "noscript"
            self._separate(tag)
            self._note(tag, attributes, node)
            first = len(self._references)
            self._references.extend(_references(tag, attributes, node))
            if tag == "a":
                self._anchors.append((range(first, len(self._references)), []))
            if tag == "img" and self._anchors:
                self._anchors[-1][1].append(f"\0{attributes.get('alt', '')}")

    def leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag.startswith("-"):
            return
        self._separate(tag)
        self._silent -= tag in _SILENT
        self._noscript -= tag == "noscript"
        if tag == "a" and self._anchors:
            self._name_anchor(*self._anchors.pop())

    def markup(self, charset: str) -> Markup:
        return Markup(
            charset=charset,
            language=self._language,
            title=self._title or "",
            base=self._base,
            metas=tuple(self._metas),
            references=self._references,
            canonical=self._canonical,
            forms=self._forms,
            scripts=self._scripts,
            text=fold("".join(self._text)),
            fallback_text=fold("".join(self._fallback)),
            frames=tuple(self._frames),
            hides=True,  # it is too rare that a page is read here to find out
        )

    def _add_text(self, text: str) -> None:
        if self._silent:
            return
        self._text.append(text)
        if self._noscript:
            self._fallback.append(text)
        if self._anchors:
            self._anchors[-1][1].append(text)

    def _separate(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._text.append("\n")
        elif tag in _APART:
            self._text.append(" ")

    def _name_anchor(self, places: range, parts: list[str]) -> None:
        """The anchor's text, or else what its first image says of itself."""
        text = "".join(part for part in parts if not part.startswith("\0"))
        if not text.strip():
            text = next((part[1:] for part in parts if part.startswith("\0")), "")
        for place in places:
            via, url, _, nofollow = self._references[place]
            if via is Via.ANCHOR:
                self._references[place] = via, url, text, nofollow

    def _note(self, tag: str, attributes: dict[str, str], node: LexborNode) -> None:
        match tag:
            case "html":
                self._language = attributes.get("lang") or attributes.get("xml:lang") or ""
            case "title" if self._title is None and not _is_foreign(node):
                self._title = node.text_content or node.text()
            case "base" if self._base is None:
                self._base = attributes.get("href")
            case "meta" if "content" in attributes:
                name, pragma = attributes.get("name", ""), attributes.get("http-equiv", "")
                self._metas.append(Meta(name.strip().lower(), pragma.strip().lower(), attributes["content"]))
            case "link" if self._canonical is None and "canonical" in attributes.get("rel", "").lower().split():
                self._canonical = attributes.get("href")
            case "form":
                self._forms += 1
            case "iframe" if attributes.get("srcdoc"):
                self._frames.append(attributes["srcdoc"])
            case "script":
                self._scripts += runs(attributes.get("type", ""))


def _is_foreign(node: LexborNode) -> bool:
    parent = node.parent
    return parent is not None and parent.tag not in ("head", "body", "html")


def _references(tag: str, attributes: dict[str, str], node: LexborNode) -> Iterator[Reference]:
    if tag == "style":
        yield from _css(node.text())
    if "style" in attributes:
        yield from _css(attributes["style"])
    if tag == "link" and "href" in attributes:
        via = link_via(set(attributes.get("rel", "").lower().split()))
        if via is not None:
            yield via, attributes["href"], "", False
    nofollow = tag in ("a", "area") and "nofollow" in attributes.get("rel", "").lower().split()
    for name, value in attributes.items():
        if (tag, name) in SRCSETS:
            yield from ((Via.REQUISITE, url, "", False) for url in candidates(value))
        elif (tag, name) in ATTRIBUTES and not (tag == "input" and attributes.get("type", "").lower() != "image"):
            yield ATTRIBUTES[tag, name], value, attributes.get("alt", "") if tag == "area" else "", nofollow


def _css(source: str) -> Iterator[Reference]:
    return ((Via.REQUISITE, url, "", False) for url in css.references(source))
