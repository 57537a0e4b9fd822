"""The oracle: what of a folder can be reached as a web site, by a plain breadth-first search over its files.

It shares no code with gossamer: lxml and urllib.parse, and nginx's rules of what a path means, with no server in between.
"""

import hashlib
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from lxml import etree

PAGES = (".html", ".htm", ".shtml")  # what nginx calls text/html
RELATIONS = {"next", "prev", "previous", "canonical", "alternate"}
REQUISITES = {"stylesheet", "icon"}  # "alternate stylesheet" is no page
REFRESH = re.compile(r"""^\s*[\d.]*\s*[;,]?\s*url\s*=\s*['"]?([^'"]*)""", re.IGNORECASE)
CHARSET = re.compile(rb"""<meta[^>]*charset\s*=\s*["']?([\w-]+)""", re.IGNORECASE)
ATTRIBUTES = {"a": "href", "area": "href", "frame": "src", "iframe": "src", "link": "href"}


@dataclass(frozen=True, slots=True)
class Page:
    """What an HTML file says."""

    title: str  # white space folded
    digest: bytes


@dataclass(slots=True)
class Reached:
    """Of one host; all by request target, percent escapes undone."""

    pages: dict[str, Page] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)  # answered, but no HTML
    others: dict[str, int] = field(default_factory=dict)  # target -> status: redirects and errors

    @property
    def targets(self) -> set[str]:
        return self.pages.keys() | self.files | self.others.keys()


def key(target: str) -> str:
    """One spelling of a request target. Neither nginx nor urljoin keeps empty segments apart."""
    path, mark, query = target.partition("?")
    return unquote(re.sub("//+", "/", path) + mark + query, errors="surrogateescape")


def walk(root: Path, starts: tuple[str, ...], charset: str) -> Reached:
    """Everything that ``starts`` (paths) lead to. ``charset``: what the server's header says, or "off"."""
    reached = Reached()
    queue, seen = deque(starts), {key(start) for start in starts}
    while queue:
        target = queue.popleft()
        for found in visit(root, target, charset, reached):
            if key(found) not in seen:
                seen.add(key(found))
                queue.append(found)
    return reached


def visit(root: Path, target: str, charset: str, reached: Reached) -> Iterator[str]:
    """Answer as nginx does; the targets that the answer leads to."""
    path = key(target.partition("?")[0])
    place = root / path.strip("/")
    if place.is_dir() and not path.endswith("/"):
        reached.others[key(target)] = 301
        yield target.partition("?")[0] + "/" + "".join(target.partition("?")[1:])
        return
    if place.is_dir():
        place = place / "index.html"
        if not place.exists():
            reached.others[key(target)] = 403
            return
    elif path.endswith("/") or not place.is_file():
        reached.others[key(target)] = 404
        return
    if not place.name.endswith(PAGES):
        reached.files.add(key(target))
        return
    body = place.read_bytes()
    document = parse(body, charset)
    reached.pages[key(target)] = Page(title(document), hashlib.blake2b(body, digest_size=16).digest())
    yield from links(document, target)


def parse(body: bytes, charset: str) -> etree._Element:
    parser = etree.HTMLParser(huge_tree=True, encoding=declared(body) if charset == "off" else charset)
    root = etree.fromstring(body or b"<html>", parser)
    return root if root is not None else etree.Element("html")


def declared(body: bytes) -> str | None:
    """The encoding by the page's own meta; lxml would read what stands before the meta as Latin-1."""
    found = CHARSET.search(body[:1024])
    return found[1].decode() if found else None


def title(document: etree._Element) -> str:
    first = next(document.iter("title"), None)
    return "" if first is None else " ".join("".join(first.itertext()).split())


def links(document: etree._Element, target: str) -> Iterator[str]:
    """The targets on the same host that a crawler follows from here."""
    here = "http://here" + target
    base = next((each.get("href") for each in document.iter("base") if each.get("href")), None)
    base = urljoin(here, base) if base else here
    for found in dict.fromkeys(raw_links(document)):
        try:
            path, mark, query = urldefrag(found).url.partition("?")
            parts = urlsplit(
                urljoin(base, path.replace("\\", "/") + mark + query)
            )  # a backslash is a slash to browsers
        except ValueError:  # a bracket where an address should be: no URL
            continue
        if parts.scheme == "http" and parts.netloc == "here":
            yield (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def raw_links(document: etree._Element) -> Iterator[str]:
    if is_closed(document):
        return
    for element in document.iter(*ATTRIBUTES):
        relations = (element.get("rel") or "").lower().split()
        is_page = RELATIONS.intersection(relations) and not REQUISITES.intersection(relations)
        is_followed = is_page if element.tag == "link" else "nofollow" not in relations
        found = element.get(ATTRIBUTES[element.tag])
        if found is not None and is_followed:
            yield re.sub(r"[\t\r\n]", "", found.strip())
    for meta in document.iter("meta"):
        refresh = REFRESH.match(meta.get("content") or "")
        if (meta.get("http-equiv") or "").lower() == "refresh" and refresh:
            yield refresh[1].strip()


def is_closed(document: etree._Element) -> bool:
    """Whether the page asks that its links are not followed."""
    metas = (meta for meta in document.iter("meta") if (meta.get("name") or "").lower() == "robots")
    return any(re.search(r"\b(nofollow|none)\b", meta.get("content") or "", re.IGNORECASE) for meta in metas)
