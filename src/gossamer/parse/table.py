"""The links of one page, collected: each (URL, kind) once, at the place where it first stood."""

from collections.abc import Iterable

from gossamer.parse.job import Limits
from gossamer.parse.links import MAX_TEXT, WEAK, Row, distrust, follow, pack_rows, row
from gossamer.parse.markup import Reference
from gossamer.parse.resolve import Resolver
from gossamer.parse.text import fold_line
from gossamer.records import Via
from gossamer.url import weaken


class LinkTable:
    """Takes references as they stand in a page; gives the blob of its links and their fingerprints."""

    def __init__(self, resolver: Resolver, limits: Limits) -> None:
        self.resolver = resolver
        self._limits = limits
        self._rows: list[Row] = []
        self._fingerprints: list[bytes] = []
        self._places: dict[tuple[str, Via], int] = {}
        self._characters = 0
        self._unusable = 0
        self._cut = False

    def fill(self, references: Iterable[Reference], resolver: Resolver | None = None) -> None:
        """Add what is not there yet, up to the limits. ``resolver``: where they are relative to something else."""
        if self._cut:
            return
        resolver = resolver or self.resolver
        kept, resolve, places, rows = resolver.kept.get, resolver.resolve, self._places, self._rows
        for via, href, text, nofollow in references:  # some hundred a page: nothing here that could be done elsewhere
            resolved = kept(href)
            if resolved is None:
                if not href or (href[0] == "#" and via is Via.REQUISITE):
                    continue  # nothing is fetched for an empty one, and SVG finds "#name" in the page itself
                resolved = resolve(href)
                if resolved is None:
                    self._unusable += 1
                    continue
            url, fingerprint, other = resolved
            place = places.get((url, via))
            if place is None:
                if not self._has_room(url):
                    return  # a million more may follow
                places[url, via] = len(rows)
                rows.append(row(via, url, fold_line(text, MAX_TEXT) if text else "", nofollow, other))
                self._fingerprints.append(fingerprint)
            elif not nofollow:
                rows[place] = follow(rows[place])

    def _has_room(self, url: str) -> bool:
        self._characters += len(url)
        if len(self._rows) >= self._limits.max_links or self._characters > self._limits.max_link_characters:
            self._cut = True
        return not self._cut

    def distrust(self) -> None:
        """No link of the page is to be followed: each says so from now on."""
        self._rows = [distrust(packed) for packed in self._rows]

    def packed(self) -> bytes:
        """The blob, as `links.unpack` reads it."""
        return pack_rows(self._rows) if self._rows else b""

    def fingerprints(self) -> bytes:
        """Keys for the URL-seen test."""
        pairs = zip(self._fingerprints, self._rows, strict=True)
        return b"".join([weaken(key) if packed[0] in WEAK else key for key, packed in pairs])

    def notes(self) -> list[str]:
        """What was left out."""
        notes = []
        if self._cut:
            is_long = len(self._rows) < self._limits.max_links
            because = f": their URLs have more than {self._limits.max_link_characters} characters" if is_long else ""
            notes.append(f"links cut after {len(self._rows)}{because}")
        if self._unusable:
            notes.append(f"{self._unusable} links that are no URLs")
        return notes
