"""Small fake webs for programs to crawl."""

from random import Random

from fakeweb import Page, Site
from fakeweb.page import Handler


def html(title: str, text: str = "", *links: str) -> bytes:
    anchors = " ".join(f'<a href="{link}">{link}</a>' for link in links)
    return f"<!DOCTYPE html><title>{title}</title><style>p{{}}</style><p class=x>{text or title} {anchors}".encode()


def small() -> Site:
    """A start page with two others, a text, a redirect, a page that is lost, and one on which indexing is refused."""
    return Site(
        {
            "/": Page(html("Start", "where it begins", "/a", "/b", "/notes.txt", "/old", "/lost", "/shy")),
            "/a": Page(html("A", "the first letter")),
            "/b": Page(html("B", "the second letter", "/a")),
            "/notes.txt": Page(b"plain notes", content_type="text/plain"),
            "/old": Page(status=301, headers=(("Location", "/new"),)),
            "/new": Page(html("New", "moved here"), coding="gzip"),
            "/shy": Page(b"<title>Shy</title><meta name=robots content=noindex><p>not to be found <a href=/a>a</a>"),
        }
    )


def chain(length: int) -> Site:
    """Pages that lead one to the next, of which no two say the same."""
    return Site({path(number): _numbered(number, length) for number in range(length + 1)})


def fan(width: int) -> Site:
    """A start page that leads to all the others."""
    pages: dict[str, Page | Handler] = {path(number): _numbered(number, 0) for number in range(1, width + 1)}
    return Site({"/": Page(html("page 0", "", *pages)), **pages})


def path(number: int) -> str:
    """Of page ``number``: a word, for numbers would look like a trap."""
    return "/" + "".join(_words(number)[:2]) if number else "/"


def _numbered(number: int, length: int) -> Page:
    links = (path(number + 1),) if number < length else ()
    return Page(html(f"page {number}", " ".join(_words(number)), *links))


def _words(number: int) -> list[str]:
    draw = Random(number)
    return ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(40)]
