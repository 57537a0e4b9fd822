"""One element of a document while its references are pointed: its attributes, and the edits made to them."""

from urllib.parse import quote

from gossamer.parse.rewriting import charset, elements, entities
from gossamer.parse.rewriting.contract import Kind
from gossamer.parse.rewriting.datauri import content_of
from gossamer.parse.rewriting.edits import Edit, Excerpt, apply
from gossamer.parse.rewriting.elements import MARK
from gossamer.parse.rewriting.linker import Linker
from gossamer.parse.rewriting.tokens import Tag, is_quoted, raw_value, value_span

_LINK_IN_FRAME = f"data:text/html;charset={charset.UTF_8}," + quote("<!doctype html><title>Not saved</title>", safe="")


class Element:
    """An element; its edits are those of the document, by position."""

    __slots__ = ("_linker", "_source", "edits", "found", "live", "local", "name", "tag")

    def __init__(self, source: str, tag: Tag, linker: Linker) -> None:
        self.tag = tag
        self.name = "img" if tag.name == "image" and not tag.foreign else tag.name  # 13.2.6.4.7: "Don't ask."
        self.found = tag.attributes
        self.edits: list[Edit] = []
        self.local = False  # whether something that it points to is in the copy,
        self.live = False  # or on the live web
        self._source = source
        self._linker = linker

    def excerpt(self, name: str) -> Excerpt:
        """The value of an attribute that is there."""
        return entities.attribute(self._source, *value_span(self.found[name]))

    def value(self, name: str) -> str:
        """The value of an attribute, "" where it is not there."""
        if name not in self.found:
            return ""
        raw = raw_value(self.found[name])
        return self.excerpt(name).text if "&" in raw or "\0" in raw else raw

    def word(self, name: str) -> str:
        """The value of an attribute that holds a keyword."""
        return self.value(name).strip("\t\n\f\r ").lower() if name in self.found else ""

    def point(self, name: str, kind: Kind, *, query: bool = False, live: bool = False) -> None:
        """Point the attribute, if it is there. ``live``: whatever is saved. ``query``: see `Linker.point`."""
        if name in self.found:
            new = self.pointed(self.value(name), kind, query=query, live=live)
            if new is not None:
                self.replace(name, new)

    def point_frame(self, name: str) -> None:
        """Point what a frame shows. A page that is not saved is not shown, for nobody has asked for it: a link to it is."""
        value = self.value(name)
        pointed = self._linker.frame(value) if value else None
        if pointed is None:
            return
        new = pointed.value
        if pointed.local:
            self.local = True
        else:
            self.live = True
            new = _LINK_IN_FRAME + quote(f'<a href="{entities.escape(new or value.strip())}" target=_blank>', safe="")
            new += quote(entities.escape(pointed.url) + "</a>", safe="")
        if self._linker.embeds and new is not None and pointed.local and self.name == "iframe":
            self._show(name, new)
        elif new is not None:
            self.replace(name, new)

    def _show(self, name: str, data: str) -> None:
        """Show a document that stands in the element itself, as far as there can be one."""
        if "srcdoc" in self.found:  # it comes first, and what is named beside it is never loaded
            self.drop(name)
        elif data.startswith("data:text/html"):
            text = entities.escape(content_of(data).decode("utf-8", "replace"))
            self.edits.append((self.found[name].start(1), self.found[name].end(), f'srcdoc="{text}"'))
        else:
            self.replace(name, data)

    def point_piece(self, name: str) -> str:
        """Point to a piece of a file that becomes part of the document; gives that file, "" where it does not."""
        new = self.pointed(self.value(name), Kind.REQUISITE) or ""
        data, mark, piece = new.partition("#")
        is_part = bool(piece) and data.startswith("data:image/svg+xml")
        if new:
            self.replace(name, mark + piece if is_part else new)
        return data if is_part else ""

    def pointed(self, value: str, kind: Kind, *, query: bool = False, live: bool = False) -> str | None:
        """What a URL in the element becomes; None: it stays."""
        pointed = self._linker.live(value, kind) if live else self._linker.point(value, kind, query=query)
        if pointed is None:
            return None
        self.local = self.local or pointed.local
        self.live = self.live or not pointed.local
        return pointed.value

    def replace(self, name: str, value: str) -> None:
        """Write another value."""
        attribute, text = self.found[name], entities.escape(value)
        if not is_quoted(attribute):
            text = f'"{text}"'
        self.edits.append((*value_span(attribute), text))

    def change(self, name: str, excerpt: Excerpt, changes: list[Edit]) -> None:
        """Change parts of a value, and leave the others as they are written."""
        if changes and is_quoted(self.found[name]):
            self.edits += excerpt.place(changes)
        elif changes:
            self.replace(name, apply(excerpt.text, changes))

    def dropped(self, name: str) -> Edit:
        """The edit that takes an attribute away with the space after it, but not the last between its neighbours."""
        attribute = self.found[name]
        start, end = attribute.start(1), attribute.end()
        while self._source[end : end + 1].isspace():
            end += 1
        if end == attribute.end() and self._source[end : end + 1] == ">" and self._source[start - 1].isspace():
            start -= 1
        return start, end, ""

    def drop(self, name: str) -> None:
        """Take an attribute away, if it is there."""
        if name in self.found:
            self.edits.append(self.dropped(name))

    def disarm(self, name: str) -> None:
        """Give an attribute a name that means nothing."""
        start = self.found[name].start(1)
        self.edits.append((start, start, f"{MARK}-"))

    def add(self, name: str, value: str) -> None:
        """Add an attribute."""
        self.edits.append((self.tag.name_end, self.tag.name_end, f' {name}="{entities.escape(value)}"'))

    def held_against(self) -> list[Edit]:
        """The edits that take away what a browser would hold against a file."""
        return [self.dropped(name) for name in elements.FROM_LOCAL.intersection(self.found)]

    def settle(self) -> None:
        """Finish the element, now that it is known where it points."""
        if self.local:
            self.edits += self.held_against()
            if self.name in ("link", "script") and "charset" in self.found:
                self.replace("charset", charset.UTF_8)
        if self.live and MARK not in self.found:
            self.add(MARK, "live")
