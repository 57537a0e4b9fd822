"""A page as one file: what it needs stands in it as ``data:`` URLs, frames in ``srcdoc``, and links lead to the live web.

Modules have names of their own, which an import map in the page leads to their text: data: URLs could neither import each
other in a circle, nor be one module that is imported from two places.
"""

import json
import re
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256

from gossamer.parse.rewriting.contract import Kind, Reference
from gossamer.parse.rewriting.datauri import content_of
from gossamer.parse.rewriting.elements import MARK
from gossamer.parse.rewriting.entities import escape
from gossamer.parse.rewriting.linker import NOTHING, Linker, Pointed, pointless

MODULES = "modules"
"""What the look-up has, beside URLs: the import map's entries as JSON, "" for none."""

IN_FRAME = "about:srcdoc"
"""The place of a document that is shown in a frame; "" is that of the page itself."""


def module_name(url: str) -> str:
    """What a module is called in imports."""
    return f"gossamer:{sha256(url.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


_SVG = re.compile(r"<svg[\s>]", re.IGNORECASE)


class Embedder(Linker):
    """Puts what a document needs into it. The look-up gives for a URL its file as a ``data:`` URL, or its module's name."""

    embeds = True

    def nested(self, base: str | None) -> "Embedder":
        linker = Embedder(
            url=self.base, base=base, charset=self.charset, place=self.place, lookup=self.lookup, inside=True
        )
        linker.references = self.references
        return linker

    @cached_property
    def modules(self) -> Mapping[str, str]:
        """The modules that the document's scripts import, each with its URL."""
        found: dict[str, str] = json.loads(self.lookup(MODULES) or "{}")
        return found

    def frame(self, value: str) -> Pointed | None:
        url = self._resolved(value)
        if url is None:
            return pointless(value)
        data = self.lookup(url)
        self.references.append(Reference(url, Kind.FRAME, data is not None))
        return self._pointed_live(url, value) if data is None else Pointed(data + self._fragment(value), True, url)

    def folder(self, value: str) -> None:  # noqa: ARG002 - there is none in a file
        return None

    def _point(self, value: str, kind: Kind, *, query: bool) -> Pointed | None:  # noqa: ARG002 - no script sees a query
        if self._is_same(value):
            # the base of such a document is the page's, so that what leads to itself would load the page in the frame
            return Pointed(self.place + self._fragment(value), True, self.url) if self.place else None
        url = self._resolved(value)
        if url is None:
            return pointless(value)
        if kind is Kind.REQUISITE:
            data = self.lookup(url)
            fragment = self._fragment(value)
            return Pointed(f"{NOTHING}#{url}{fragment}" if data is None else data + fragment, data is not None, url)
        if kind is Kind.PAGE and url == self.url and not self._inside:
            return Pointed(self.place + (self._fragment(value) or "#"), True, url)
        return self._pointed_live(url, value)


def import_map(linker: Embedder, *, xml: bool) -> str:
    """The element that says where modules are; "" where there are none."""
    if not linker.modules:
        return ""
    text = json.dumps({"imports": dict(linker.modules)})
    return f'<script {MARK}="modules" type="importmap">{escape(text) if xml else text}</script>'


def sprites(data: str) -> str:
    """An SVG file as part of a page that shows pieces of it."""
    source = content_of(data).decode("utf-8", "replace")
    root = _SVG.search(source)
    if root is None:
        return ""
    hidden = 'aria-hidden="true" style="position:absolute;width:0;height:0;overflow:hidden"'
    return f'<div {MARK}="sprites" {hidden}>{source[root.start() :]}</div>'
