"""What a parser worker is given: one body, and how far it may go with it."""

from dataclasses import dataclass

from gossamer.records import Headers


@dataclass(frozen=True, slots=True)
class ParseJob:
    """One body to be read, as it came over the wire: transfer and content codings still on."""

    url: str
    headers: Headers  # names lower-cased
    body: bytes
    truncated: str = ""  # as Exchange.truncated: why the end of the body is missing
    now: float = 0.0  # seconds since 1970; decides whether unavailable_after has passed

    def header(self, name: str) -> str:
        """The first header called ``name`` (lower case), or nothing."""
        return next((value for key, value in self.headers if key == name), "")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is made of one body at the most."""

    max_decoded: int = 128 * 1024 * 1024  # bytes after undoing the codings
    max_links: int = 100_000
    max_link_characters: int = 16_000_000  # of all URLs of a page: a long base makes long URLs of short links
    max_text: int = 4_000_000  # characters


DEFAULT_LIMITS = Limits()
