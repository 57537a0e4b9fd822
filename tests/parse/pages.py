"""Reading pages in tests: the facts of a piece of HTML, and of its links."""

from hashlib import sha256

from gossamer.parse.html import read
from gossamer.parse.job import DEFAULT_LIMITS, Limits, ParseJob
from gossamer.parse.links import unpack
from gossamer.records import Facts, Link, Via

SECRET = b"s" * 32
URL = "http://site.example/dir/page.html?q=1"
HTML = ("content-type", "text/html; charset=utf-8")


def job(body: str | bytes, *headers: tuple[str, str], url: str = URL, truncated: str = "") -> ParseJob:
    """A page as it would come, of type text/html in UTF-8 unless ``headers`` say otherwise."""
    return ParseJob(url, headers or (HTML,), body.encode() if isinstance(body, str) else body, truncated, 1.8e9)


def facts(body: str | bytes, *headers: tuple[str, str], url: str = URL, limits: Limits = DEFAULT_LIMITS) -> Facts:
    """The facts of a page that both parsers agree on; those of the first."""
    page = job(body, *headers, url=url)
    first, second = read(page, SECRET, limits), read(page, SECRET, limits, fallback=True)
    assert first.failure == second.failure
    assert (first.digest, first.size, first.title, first.language) == (
        second.digest,
        second.size,
        second.title,
        second.language,
    )
    return first


def links(body: str | bytes, *headers: tuple[str, str], url: str = URL) -> list[Link]:
    """The links of a page, on which both parsers have to agree."""
    page = job(body, *headers, url=url)
    first, second = unpack(read(page, SECRET).links), unpack(read(page, SECRET, fallback=True).links)
    assert first == second
    return list(first)


def urls(body: str | bytes, *via: Via, url: str = URL) -> list[str]:
    """The URLs of a page's links, of all kinds or of some."""
    return [link.url for link in links(body, url=url) if not via or link.via in via]


def digest(body: str | bytes) -> bytes:
    return sha256(body.encode() if isinstance(body, str) else body).digest()
