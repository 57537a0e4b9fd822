"""What the rewriting of one file is given and what it gives back."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class Lookup(Protocol):
    """Where a URL is saved."""

    def __call__(self, url: str, /) -> str | None:
        """The path inside the copy (``example.org/a/b.html``) of a canonical URL without fragment; None: not saved.

        Of a URL that redirects, the path of its end, with the fragment that the redirects name in a line of its own.
        """


class Kind(StrEnum):
    """What a reference is for."""

    PAGE = "page"  # something a person goes to, or a frame shows
    REQUISITE = "requisite"  # what a page needs: images, styles, fonts, scripts, media
    FRAME = "frame"  # a page that a frame shows, where frames become part of their page
    OTHER = "other"  # neither: where a form is sent, who wrote the page


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference that was met, each time it was met."""

    url: str  # canonical, without fragment
    kind: str  # a `Kind`
    saved: bool


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A file as it stands in the copy."""

    body: bytes
    references: tuple[Reference, ...]  # in the order in which they were met
    note: str = ""  # why its links were left as they are, where they were
