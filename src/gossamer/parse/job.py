"""What a parser worker is given: one body to be read or rewritten, and how far it may go with it."""

from dataclasses import dataclass
from enum import StrEnum

from gossamer.records import Headers, Via


class Derived(StrEnum):
    """Another form of a page that is made on demand."""

    NOTHING = ""
    SOURCE = "source"  # the markup as it came, decoded
    CLEANED = "cleaned"  # the markup without scripts, styles, colours, fonts and comments
    BROWSED = "browsed"  # not a page of the web but a local file: what a browser would load from it, as `browse` tells


NO_FACTS = "no facts were extracted"
"""How the note of a page begins in which a person's own function found nothing because it failed."""


@dataclass(frozen=True, slots=True)
class OwnCode:
    """A person's own function for parser workers. It is code: it never comes from the files of a collection."""

    name: str  # "module:function"; where it was pickled, what it is called in messages
    path: tuple[str, ...] = ()  # folders in which modules are looked for, after those of the worker
    pickled: bytes = b""  # the function itself, where it stands in no module that a worker could import


@dataclass(frozen=True, slots=True)
class ParseJob:
    """One body to be read, as it came over the wire: transfer and content codings still on."""

    url: str
    headers: Headers  # names lower-cased
    body: bytes
    truncated: str = ""  # as Exchange.truncated: why the end of the body is missing
    now: float = 0.0  # seconds since 1970; decides whether unavailable_after has passed
    via: Via = Via.ANCHOR  # how it was found: whether it was announced as a list of URLs
    derive: Derived = Derived.NOTHING

    def header(self, name: str) -> str:
        """The first header called ``name`` (lower case), or nothing."""
        return next((value for key, value in self.headers if key == name), "")


@dataclass(frozen=True, slots=True)
class RewriteJob:
    """One file of the offline copy to be made, as `rewrite.rewrite` is asked for it."""

    url: str  # the final one, without fragment
    body: bytes  # without transfer and content codings
    content_type: str
    charset: str  # that came with it, by its WHATWG name; "" to find out
    place: str  # its path inside the copy
    table: str  # the file that holds where each URL is saved, made by `rewriting.places.write_places`
    embed: bool = False  # whether what it needs becomes part of it; then the table has files, as `Embedder` wants them


Job = ParseJob | RewriteJob


LINK_CHARACTERS = 160
"""Characters that the URLs of one page may have on average, where it has very many."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is made of one body at the most."""

    max_decoded: int = 128 * 1024 * 1024  # bytes after undoing the codings
    max_links: int = 100_000
    max_link_characters: int = 16_000_000  # of all URLs of a page: a long base makes long URLs of short links
    max_text: int = 4_000_000  # characters
    max_listing: int = 50 * 1024 * 1024  # decoded bytes of a sitemap or feed that are read (sitemaps.org: 52,428,800)
    max_entries: int = 50_000  # of a sitemap or feed (sitemaps.org)
    max_pdf_pages: int = 1000
    max_pdf_seconds: float = 4.0  # of processor time for the text of a PDF


DEFAULT_LIMITS = Limits()
