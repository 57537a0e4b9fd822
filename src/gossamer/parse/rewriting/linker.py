"""Where the links of one document point to, in the copy or on the live web; and the account of them."""

import re
from dataclasses import dataclass
from urllib.parse import quote, quote_from_bytes

import ada_url

from gossamer.parse.resolve import base_url, cleaned, other_scheme
from gossamer.parse.rewriting.contract import Kind, Lookup, Reference
from gossamer.url import canonicalise

# What stands for itself in a path, in HTML, in CSS and in a srcset alike; a colon is not here because it would make a
# scheme of a first segment.
_PATH_SAFE = "/@+=!$~"
_PLAIN_PATH = re.compile(r"https?://[^/?]+/(?:[\w.-]+/)*", re.ASCII)
_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)
# URL Standard, "fragment percent-encode set": what follows is kept; a percent sign is never encoded.
_FRAGMENT_SAFE = "".join(map(chr, range(0x21, 0x7F))).translate(dict.fromkeys(map(ord, '"<>`')))
# Files in which a script may run, and so may read the query they were opened with.
_MAY_RUN = (".html", ".htm", ".xhtml", ".xht", ".xml", ".svg", ".js", ".mjs")
_MAX_KEPT = 4096
"""Characters of a link whose result is kept: a page names the same places again and again, but not in long words."""


@dataclass(frozen=True, slots=True)
class Pointed:
    """What a link becomes."""

    value: str | None  # what it is to be; None: it stays as it is
    local: bool  # it points into the copy
    url: str  # what it means, without fragment


class Linker:
    """Points the links of one document, and keeps the account of them."""

    def __init__(
        self, *, url: str, base: str | None, charset: str, place: str, lookup: Lookup, inside: bool = False
    ) -> None:
        """``base``: the first base's href. ``inside``: the document stands in an attribute of the file at ``place``."""
        self.references: list[Reference] = []
        self.url = url
        self.place = place
        self.charset = charset
        self.lookup = lookup
        self.base = base_url(url, base)
        self._inside = inside
        self._moved = self.base.partition("#")[0] != url
        *self._folders, _ = place.split("/")
        self._kept: dict[tuple[str, bool], Pointed | None] = {}
        self._live_base = self.base.startswith(("http://", "https://"))

    def nested(self, base: str | None) -> "Linker":
        """For a document in an attribute of this one; its references are counted here."""
        linker = Linker(
            url=self.base, base=base, charset=self.charset, place=self.place, lookup=self.lookup, inside=True
        )
        linker.references = self.references
        return linker

    def point(self, value: str, kind: Kind, *, query: bool = False) -> Pointed | None:
        """What a link becomes; None where it is no link to the web, or stays within its document.

        ``query``: a script where it leads to may read the link's query.
        """
        key = (value, query)
        if key in self._kept:
            pointed = self._kept[key]
        else:
            pointed = self._point(cleaned(value, self.charset), value, query=query)
            if len(value) < _MAX_KEPT:
                self._kept[key] = pointed
        if pointed is not None:
            self.references.append(Reference(pointed.url, kind, pointed.local))
        return pointed

    def live(self, value: str, kind: Kind) -> Pointed | None:
        """As `point`, for what can't be had from a copy: it points to the live web whatever is saved."""
        text = cleaned(value, self.charset)
        url = self._resolved(text)
        if url is None:
            return None
        self.references.append(Reference(url, kind, saved=False))
        return self._pointed_live(url, text, value)

    def folder(self, value: str) -> str | None:
        """The way to a folder of this site, None where the copy may not have it under the same name.

        No file tells where a folder is; but names are made of URLs part by part, so that folders keep theirs.
        """
        url = self._resolved(cleaned(value, self.charset))
        host, *ours = self.url.split("/")[2:-1]
        if url is None or not _PLAIN_PATH.fullmatch(url) or self._folders[1:] != ours or url.split("/")[2] != host:
            return None
        way = self._relative("/".join((self._folders[0], *url.split("/")[3:-1], "-")))[:-1]
        return way if way.startswith("../") else "./" + way

    def _point(self, text: str, value: str, *, query: bool) -> Pointed | None:
        if not self._moved and (not text or text[0] == "#"):
            return None
        url = self._resolved(text)
        if url is None:
            return None
        place = self.lookup(url) if self._live_base or _ABSOLUTE.match(url) else None
        if place is None:
            return self._pointed_live(url, text, value)
        fragment = _fragment(text)
        asked = url[url.find("?") :] if query and "?" in url and place.lower().endswith(_MAY_RUN) else ""
        if place == self.place and fragment and not self._inside and (not asked or url == self.url):
            local = fragment
        else:
            local = self._relative(place) + asked + fragment
        return Pointed(None if local == value else local, True, url)

    def _resolved(self, text: str) -> str | None:
        if other_scheme(text):
            return None
        url = canonicalise(text, self.base)
        if url is not None or self._live_base:
            return url
        try:  # a base of another scheme, ftp: say: what is relative to it would become relative to the copy
            href: str = ada_url.URL(text, base=self.base).href
        except ValueError:
            return None
        return href.partition("#")[0]

    def _pointed_live(self, url: str, text: str, value: str) -> Pointed:
        """As it was written where that is enough, for the encoding of the document may change its meaning."""
        if _ABSOLUTE.match(text) and value.isascii() and "\\" not in text:
            return Pointed(None, False, url)
        return Pointed(url + _fragment(text), False, url)

    def _relative(self, place: str) -> str:
        *folders, name = place.split("/")
        shared = 0
        for ours, theirs in zip(self._folders, folders, strict=False):
            if ours != theirs:
                break
            shared += 1
        up = "../" * (len(self._folders) - shared)
        return up + quote("/".join((*folders[shared:], name)), safe=_PATH_SAFE)


def _fragment(text: str) -> str:
    _, mark, fragment = text.partition("#")
    if not mark:
        return ""
    return mark + quote_from_bytes(fragment.encode("utf-8", "replace"), safe=_FRAGMENT_SAFE)
