"""Where the links of one document point to, in the copy or on the live web; and the account of them."""

import re
from dataclasses import dataclass
from urllib.parse import quote, quote_from_bytes

import ada_url

from gossamer.parse.resolve import Resolver, base_url, cleaned
from gossamer.parse.rewriting.contract import Kind, Lookup, Reference

# What stands for itself in a path, in HTML, in CSS and in a srcset alike; a colon is not here because it would make a
# scheme of a first segment.
_PATH_SAFE = "/@+=!$~"
_PLAIN_PATH = re.compile(r"https?://[^/?]+/(?:[\w.-]+/)*", re.ASCII)
_ABSOLUTE = re.compile(r"[\x00-\x20]*https?://", re.IGNORECASE)
_SAME = re.compile(r"[\x00-\x20]*(?:#.*)?", re.DOTALL)  # the document itself
# URL Standard, "fragment percent-encode set": what follows is kept; a percent sign is never encoded.
FRAGMENT_SAFE = "".join(map(chr, range(0x21, 0x7F))).translate(dict.fromkeys(map(ord, '"<>`')))
# Files in which a script may run, and so may read the query they were opened with.
_MAY_RUN = (".html", ".htm", ".xhtml", ".xht", ".xml", ".svg", ".js", ".mjs")
# What names no host, and so is no URL online; a browser on file:// takes it for a folder, or for another machine.
_HOSTLESS = re.compile(r"[\x00-\x20]*[/\\][\t\n\r]*[/\\]")
NOTHING = "about:invalid"
"""What a browser asks nobody for, and takes for a file that can't be had (CSS Values 4, 4.5.3). What it stands for follows as
its fragment.
"""

_MAX_KEPT = 4096
"""Characters of a link whose result is kept: a page names the same places again and again, but not in long words."""


@dataclass(frozen=True, slots=True)
class Pointed:
    """What a link becomes."""

    value: str | None  # what it is to be; None: it stays as it is
    local: bool  # it points into the copy
    url: str  # what it means, without fragment; "" where that is nothing


class Linker:
    """Points the links of one document, and keeps the account of them."""

    embeds = False
    """Whether what is needed becomes part of the document."""

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
        self._resolver = Resolver(url, base, charset, b"")
        self._inside = inside
        self._moved = self.base.partition("#")[0] != url
        *self._folders, _ = place.split("/")
        self._kept: dict[tuple[str, Kind, bool], tuple[Pointed, Reference | None] | None] = {}

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
        key = (value, kind, query)
        if key not in self._kept:
            found = self._point(value, kind, query=query)
            self._kept[key] = None if found is None else (found, _reference(found, kind))
        kept = self._kept[key]
        if len(value) > _MAX_KEPT:
            del self._kept[key]
        if kept is None:
            return None
        if kept[1] is not None:
            self.references.append(kept[1])
        return kept[0]

    def frame(self, value: str) -> Pointed | None:
        """As `point`, for what a frame shows."""
        return self.point(value, Kind.PAGE, query=True)

    def live(self, value: str, kind: Kind) -> Pointed | None:
        """As `point`, for what can't be had from a copy: it points to the live web whatever is saved."""
        url = self._resolved(value)
        if url is None:
            return pointless(value)
        self.references.append(Reference(url, kind, saved=False))
        return self._pointed_live(url, value)

    def folder(self, value: str) -> str | None:
        """The way to a folder of this site, None where the copy may not have it under the same name.

        No file tells where a folder is; but names are made of URLs part by part, so that folders keep theirs.
        """
        url = self._resolved(value)
        host, *ours = self.url.split("/")[2:-1]
        if url is None or not _PLAIN_PATH.fullmatch(url) or self._folders[1:] != ours or url.split("/")[2] != host:
            return None
        way = self._relative("/".join((self._folders[0], *url.split("/")[3:-1], "-")))[:-1]
        return way if way.startswith("../") else "./" + way

    def _point(self, value: str, kind: Kind, *, query: bool) -> Pointed | None:
        if self._is_same(value):
            return None
        url = self._resolved(value)
        if url is None:
            return pointless(value)
        place = self.lookup(url) if url.startswith(("http://", "https://")) else None
        if place is None and kind is Kind.REQUISITE:  # a copy asks nothing of the web by itself
            return Pointed(f"{NOTHING}#{url}{self._fragment(value)}", False, url)
        if place is None:
            return self._pointed_live(url, value)
        place, _, named = place.partition("\n")
        fragment = named or self._fragment(value)  # Fetch, "HTTP-redirect fetch": that of a redirect comes first
        asked = url[url.find("?") :] if query and "?" in url and place.lower().endswith(_MAY_RUN) else ""
        if place == self.place and fragment and not self._inside and (not asked or url == self.url):
            local = fragment
        else:
            local = self._relative(place) + asked + fragment
        return Pointed(None if local == value else local, True, url)

    def _is_same(self, value: str) -> bool:
        """Whether a link stays within its document."""
        may_be = not self._moved and (not value or value[0] <= " " or value[0] == "#")
        return may_be and _SAME.fullmatch(value) is not None

    def _resolved(self, value: str) -> str | None:
        resolved = self._resolver.resolve(value)
        if resolved is not None:
            return None if resolved[2] else resolved[0]
        if self.base.startswith(("http://", "https://")):
            return None
        try:  # a base of another scheme, ftp: say: what is relative to it would become relative to the copy
            href: str = ada_url.URL(cleaned(value, self.charset), base=self.base).href
        except ValueError:
            return None
        return href.partition("#")[0]

    def _pointed_live(self, url: str, value: str) -> Pointed:
        """As it was written where that is enough, for the encoding of the document may change its meaning."""
        if _ABSOLUTE.match(value) and value.isascii() and "\\" not in value:
            return Pointed(None, False, url)
        return Pointed(url + self._fragment(value), False, url)

    def _fragment(self, value: str) -> str:
        """With its mark, "" where there is none."""
        if "#" not in value:
            return ""
        fragment = cleaned(value, self.charset).partition("#")[2]
        return "#" + quote_from_bytes(fragment.encode("utf-8", "replace"), safe=FRAGMENT_SAFE)

    def _relative(self, place: str) -> str:
        *folders, name = place.split("/")
        shared = 0
        for ours, theirs in zip(self._folders, folders, strict=False):
            if ours != theirs:
                break
            shared += 1
        up = "../" * (len(self._folders) - shared)
        return up + quote("/".join((*folders[shared:], name)), safe=_PATH_SAFE)


def _reference(found: Pointed, kind: Kind) -> Reference | None:
    return Reference(found.url, kind, found.local) if found.url else None


def pointless(value: str) -> Pointed | None:
    """What becomes of a value that is no URL of the web: it must not be one of the disk either."""
    return Pointed(f"{NOTHING}#", False, "") if _HOSTLESS.match(value) else None
