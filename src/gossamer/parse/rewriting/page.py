"""The references of an HTML, XHTML or SVG document, found with their positions."""

import re
from collections.abc import Callable

from gossamer.parse.encoding import known
from gossamer.parse.markup import link_via
from gossamer.parse.refresh import url_place
from gossamer.parse.rewriting import charset, css, elements, entities
from gossamer.parse.rewriting.contract import Kind
from gossamer.parse.rewriting.edits import Edit
from gossamer.parse.rewriting.element import Element
from gossamer.parse.rewriting.elements import MARK
from gossamer.parse.rewriting.embed import Embedder, import_map, sprites
from gossamer.parse.rewriting.linker import NOTHING, Linker
from gossamer.parse.rewriting.manifest import import_map_edits
from gossamer.parse.rewriting.memory import Folder
from gossamer.parse.rewriting.modules import edits as module_edits
from gossamer.parse.rewriting.tokens import Tag, raw_value, tags, value_span
from gossamer.parse.srcset import places
from gossamer.records import Via

_STYLE = (
    f'<style {MARK}="style">a[{MARK}=live]{{text-decoration:underline dotted!important}}'
    f"img[{MARK}=live]{{outline:1px dotted}}</style>"
)
_MARKED = ("a", "img")
_IN_CONTEXT = frozenset(
    (
        *("audio", "base", "button", "embed", "form", "frame", "head", "html", "iframe", "input", "meta", "object"),
        *("picture", "script", "source", "style", "track", "video"),
    )
)
"""Elements of which more is to be known than what stands in their tags, or that change what is known of others."""

_DEEPEST = 8  # documents in attributes of documents
_KINDS = {Via.REQUISITE: Kind.REQUISITE, Via.LINK: Kind.PAGE}
_WORD = re.compile(r"[^\t\n\f\r ]+")


def edits(source: str, linker: Linker, *, xml: bool, folder: Folder | None = None) -> list[Edit]:
    """What to change in a document. ``xml``: it is XHTML or SVG. ``folder``: what is known of elements in HTML."""
    return _Page(source, linker, xml=xml, depth=0, folder=folder).edits()


def first_base(source: str, *, xml: bool) -> str | None:
    """The href of the first base that has one, wherever it stands (HTML 4.2.3)."""
    if "<base" not in source and "<base" not in source.lower():
        return None
    templates = 0
    for tag in tags(source, 0, len(source), xml=xml):
        if tag.name == "template":
            templates = max(0, templates - 1 if tag.closing else templates + 1)
        elif tag.name == "base" and not (tag.closing or templates or (tag.foreign and not xml)):
            href = tag.attributes.get("href")
            if href is not None:
                return entities.attribute(source, *value_span(href)).text
    return None


class _Page:
    """Walks through one document and collects its edits."""

    def __init__(self, source: str, linker: Linker, *, xml: bool, depth: int, folder: Folder | None = None) -> None:
        self._source = source
        self._folder = folder
        self._linker = linker
        self._xml = xml
        self._depth = depth
        self._edits: list[Edit] = []
        self._declares = False  # its encoding, where browsers look for that
        self._shows_marks = False
        self._has_style = False
        self._starts: list[int] = []  # where its html and its head begin
        self._form_method = ""
        self._sprites: dict[str, None] = {}  # files of SVG that are to be part of the document
        self._has_import_map = False
        self._picture_is_local = False
        self._media: list[Edit] = []  # of the audio or video around: what goes if one of its sources is local
        self._special: dict[str, Callable[[Element], None]] = {
            "a": self._anchor,
            "area": self._anchor,
            "audio": self._audio,
            "base": self._base,
            "button": self._button,
            "embed": self._plugin,
            "form": self._form,
            "frame": self._frame,
            "head": self._start,
            "html": self._start,
            "iframe": self._iframe,
            "img": self._img,
            "input": self._input,
            "link": self._link,
            "meta": self._meta,
            "object": self._plugin,
            "picture": self._picture,
            "source": self._media_source,
            "track": self._media_source,
            "video": self._audio,
        }

    def edits(self) -> list[Edit]:
        self._walk(0, len(self._source), scripting=True)
        self._edits += charset.xml_edits(self._source)
        self._begin()
        return self._edits

    def _walk(self, start: int, end: int, *, scripting: bool) -> None:
        for tag in tags(self._source, start, end, xml=self._xml, scripting=scripting):
            if tag.closing:
                self._close(tag.name)
                continue
            if self._folder is None or tag.foreign or tag.name in _IN_CONTEXT or self._picture_is_local:
                self._open(Element(self._source, tag, self._linker))
            else:
                self._recall(tag, self._folder)
            if tag.text is not None and tag.name in ("noscript", "noframes"):  # they are for browsers of other kinds
                self._walk(*tag.text, scripting=False)

    def _close(self, name: str) -> None:
        match name:
            case "audio" | "video":
                self._media = []
            case "picture":
                self._picture_is_local = False
            case "form":
                self._form_method = ""

    def _recall(self, tag: Tag, folder: Folder) -> None:
        """An element that stands for itself: it may be known what it becomes."""
        start, linker = tag.start, self._linker
        text = self._source[start : tag.end]
        kept = folder.find(text)
        if kept is not None:
            if kept.edits:
                self._edits += [(start + begin, start + end, new) for begin, end, new in kept.edits]
                self._shows_marks = self._shows_marks or kept.live
            linker.references += kept.references
            return
        before = len(linker.references)
        element = Element(self._source, tag, linker)
        self._open(element)
        changes = tuple((begin - start, end - start, new) for begin, end, new in element.edits)
        live = element.live and element.name in _MARKED
        folder.keep(text, changes, tuple(linker.references[before:]), live=live)

    def _open(self, element: Element) -> None:
        name, is_html = element.name, not element.tag.foreign or self._xml
        if is_html:
            self._point_html(element)
        if element.tag.foreign:
            self._point_svg(element)
        if "style" in element.found:
            self._style_value(element, "style")
        if is_html and name in self._special:
            self._special[name](element)
        if name == "style":
            self._style(element)
        elif name == "script":
            self._script(element)
        element.settle()
        self._shows_marks = self._shows_marks or (element.live and name in _MARKED)
        self._edits += element.edits

    def _point_html(self, element: Element) -> None:
        name = element.name
        for attribute, kind in elements.LINKS.get(name, ()):
            if attribute in element.found and (name in ("a", "area") or element.value(attribute)):
                local = element.local
                element.point(attribute, kind, query=name in elements.RUNS)
                if attribute in elements.ASIDE:
                    element.local = local
        srcset = elements.SRCSETS.get(name)
        if srcset is not None and srcset in element.found:
            self._srcset(element, srcset)

    def _point_svg(self, element: Element) -> None:
        """SVG 2, 16.1.3: href, xlink:href. One that is only a fragment means the document itself, whatever its base."""
        done_as_html = self._xml and element.name in ("a", "area", "base", "link")
        for attribute in element.found:
            if (attribute == "href" and not done_as_html) or attribute.endswith(":href"):
                value = element.value(attribute)
                is_anchor = element.name == "a"
                if is_anchor or (value and value[0] != "#"):
                    kind = Kind.PAGE if is_anchor else Kind.REQUISITE
                    if self._linker.embeds and element.name == "use" and not self._xml:
                        self._use(element, attribute)
                        continue
                    element.point(attribute, kind, query=is_anchor or element.name == "script")
            elif attribute in elements.PAINTS:
                self._style_value(element, attribute)

    def _use(self, element: Element, attribute: str) -> None:
        """What a use refers to in a file, taken into the document: browsers load none of a data: URL (SVG 2, 5.6)."""
        data = element.point_piece(attribute)
        if data:
            self._sprites[data] = None

    # Elements that are not like others

    def _anchor(self, element: Element) -> None:
        """HTML 4.6.4: the pings of a link go out when it is followed, which from a copy into the copy nobody means."""
        if "ping" not in element.found:
            return
        if element.local:
            element.drop("ping")
            return
        excerpt = element.excerpt("ping")
        changes = []
        for found in _WORD.finditer(excerpt.text):
            new = element.pointed(found[0], Kind.OTHER, live=True)
            if new is not None:
                changes.append((*found.span(), new))
        element.change("ping", excerpt, changes)

    def _audio(self, element: Element) -> None:
        """What it says of CORS is for the sources in it as well."""
        self._media = [] if "src" in element.found else element.held_against()

    def _base(self, element: Element) -> None:
        element.drop("href")

    def _button(self, element: Element) -> None:
        self._submits(element, "formaction", element.word("formmethod") or self._form_method)

    def _form(self, element: Element) -> None:
        self._form_method = element.word("method")
        self._submits(element, "action", self._form_method)
        if element.live and self._linker.charset != charset.UTF_8 and "accept-charset" not in element.found:
            element.add("accept-charset", self._linker.charset)  # as it was sent until now

    def _submits(self, element: Element, attribute: str, method: str) -> None:
        """What is saved is the answer to a GET; whatever else is sent goes where it always went."""
        if method != "dialog" and element.value(attribute):
            element.point(attribute, Kind.OTHER, live=method == "post")

    def _start(self, element: Element) -> None:
        if self._source[element.tag.start + 1 : element.tag.name_end].lower() == element.name:  # else it has a prefix
            self._starts.append(element.tag.end)

    def _frame(self, element: Element) -> None:
        element.point_frame("src")

    def _iframe(self, element: Element) -> None:
        element.point_frame("src")
        if "srcdoc" not in element.found or self._depth == _DEEPEST:
            return
        excerpt = element.excerpt("srcdoc")
        linker = self._linker.nested(first_base(excerpt.text, xml=False))
        inner = _Page(excerpt.text, linker, xml=False, depth=self._depth + 1)
        element.change("srcdoc", excerpt, inner.edits())

    def _img(self, element: Element) -> None:
        element.local = element.local or self._picture_is_local

    def _input(self, element: Element) -> None:
        kind = element.word("type")
        if kind == "image" and element.value("src"):
            element.point("src", Kind.REQUISITE)
        if kind in ("image", "submit"):
            self._button(element)

    def _link(self, element: Element) -> None:
        if element.value("href"):
            rel = set(element.value("rel").lower().split())
            if self._linker.embeds and rel & elements.EARLY and element.word("as") != "style":
                element.point("href", Kind.OTHER, live=True)
                element.disarm("rel")
                return
            via = link_via(rel)
            kind = _KINDS.get(via, Kind.OTHER) if via else Kind.OTHER
            element.point("href", kind, query=kind is Kind.PAGE)
            if rel & elements.HINTS and (element.live or rel <= elements.HINTS):
                element.disarm("rel")

    def _meta(self, element: Element) -> None:
        if "charset" in element.found:
            if known(element.value("charset").strip()) != charset.UTF_8:
                element.replace("charset", charset.UTF_8)
            self._declared(element)
        if "content" not in element.found:
            return
        match element.word("http-equiv"):
            case "refresh":
                self._change_part(element, url_place, self._refreshed)
                if element.live:  # nobody has asked to go there
                    element.disarm("http-equiv")
            case "content-type":
                self._change_part(element, charset.content_place, self._recoded)
                self._declared(element)
            case "content-security-policy":
                element.disarm("http-equiv")

    def _change_part(
        self,
        element: Element,
        find: Callable[[str], tuple[int, int] | None],
        change: Callable[[Element, str], str | None],
    ) -> None:
        excerpt = element.excerpt("content")
        place = find(excerpt.text)
        new = None if place is None else change(element, excerpt.text[slice(*place)])
        if place is not None and new is not None:
            element.change("content", excerpt, [(*place, new)])

    def _refreshed(self, element: Element, value: str) -> str | None:
        new = element.pointed(value, Kind.PAGE, query=True)
        return None if new is None else new.replace("'", "%27")

    def _recoded(self, _: Element, label: str) -> str | None:
        return None if known(label) == charset.UTF_8 else charset.UTF_8

    def _declared(self, element: Element) -> None:
        self._declares = self._declares or element.tag.end <= charset.PRESCANNED

    def _plugin(self, element: Element) -> None:
        if element.live:
            element.disarm(elements.PLUGINS[element.name])

    def _picture(self, _: Element) -> None:
        self._picture_is_local = False

    def _media_source(self, element: Element) -> None:
        if element.local:
            self._picture_is_local = True
            self._edits += self._media
            self._media = []

    # Values that hold more than a URL

    def _srcset(self, element: Element, attribute: str) -> None:
        """One that is not saved is left out, so that the browser takes another, or what stands in ``src``."""
        excerpt = element.excerpt(attribute)
        found = list(places(excerpt.text))
        changes, unsaved = [], []
        following = [start for start, _ in found[1:]] + [len(excerpt.text)]
        for (start, end), behind in zip(found, following, strict=False):
            new = element.pointed(excerpt.text[start:end], Kind.REQUISITE)
            if new is not None and new.startswith(NOTHING):
                changes.append((start, behind, ""))
                unsaved.append((start, end, new.removeprefix(f"{NOTHING}#")))
            elif new is not None:
                changes.append((start, end, new.removesuffix(",") + "%2C" * new.endswith(",")))
        if unsaved and len(unsaved) == len(found):
            element.disarm(attribute)
            changes = unsaved
        element.change(attribute, excerpt, changes)

    def _style_value(self, element: Element, attribute: str) -> None:
        raw = raw_value(element.found[attribute])
        if css.may_refer(raw) or "&" in raw:
            excerpt = element.excerpt(attribute)
            element.change(attribute, excerpt, css.edits(excerpt.text, self._linker))

    def _style(self, element: Element) -> None:
        if MARK in element.found:
            self._has_style = True
        elif element.word("type") in ("", "text/css"):
            if element.tag.text is not None:
                start, end = element.tag.text
                self._edits += css.edits(self._source, self._linker, start, end)
            elif element.tag.foreign:
                excerpt = entities.text_of_xml(self._source, element.tag.end)
                self._edits += excerpt.place(css.edits(excerpt.text, self._linker))

    def _script(self, element: Element) -> None:
        kind = element.word("type")
        if kind not in ("module", "importmap") or "src" in element.found:
            return
        self._has_import_map = self._has_import_map or kind == "importmap"
        if element.tag.text is not None:
            change = module_edits if kind == "module" else import_map_edits
            self._edits += change(self._source, self._linker, *element.tag.text)
        elif self._xml:
            excerpt = entities.text_of_xml(self._source, element.tag.end)
            change = module_edits if kind == "module" else import_map_edits
            self._edits += excerpt.place(change(excerpt.text, self._linker, 0, len(excerpt.text)))

    # What is added

    def _begin(self) -> None:
        """Say the encoding where nothing does, and how links to the live web are shown."""
        start = self._source[:1]
        needs_charset = not (self._xml or self._depth or self._declares or start == "\ufeff")
        early = [place for place in self._starts[:2] if place <= charset.PRESCANNED]
        place = max(early) if early else charset.beginning(self._source)
        if needs_charset and place > charset.PRESCANNED:
            self._edits.append((0, 0, "\ufeff"))
        elif needs_charset:
            self._edits.append((place, place, charset.META))
        marks = self._shows_marks and not self._linker.embeds  # where all links are live, none needs a mark
        if marks and not self._has_style and (early or not self._xml):
            self._edits.append((place, place, _STYLE))
        if isinstance(self._linker, Embedder) and not self._depth:
            if not self._has_import_map:
                self._edits.append((place, place, import_map(self._linker, xml=self._xml)))
            self._edits += [(len(self._source), len(self._source), sprites(data)) for data in self._sprites]
