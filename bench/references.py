"""What the references of a saved site lead to: an oracle that knows nothing of who saved it, and reads with lxml."""

import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path
from sys import intern
from urllib.parse import quote, unquote, urljoin, urlsplit

from lxml import etree, html

PAGES = (".html", ".htm", ".xhtml", ".shtml")

_ATTRIBUTES = {
    ("a", "href"),
    ("area", "href"),
    ("link", "href"),
    ("script", "src"),
    ("img", "src"),
    ("input", "src"),
    ("frame", "src"),
    ("iframe", "src"),
    ("embed", "src"),
    ("source", "src"),
    ("audio", "src"),
    ("video", "src"),
    ("video", "poster"),
    ("track", "src"),
    ("object", "data"),
    ("body", "background"),
    ("table", "background"),
    ("td", "background"),
    ("th", "background"),
}
"""Forms are left out: where they lead is decided by who sends them."""

_SRCSETS = {("img", "srcset"), ("source", "srcset"), ("link", "imagesrcset")}
_NO_LINKS = frozenset(("canonical", "dns-prefetch", "preconnect", "pingback", "edituri", "wlwmanifest", "shortlink"))
"""Words of a ``rel`` that name something, but neither load it nor lead a person there."""
_CSS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_CSS_URL = re.compile(
    r"""url\(\s*(?:"([^"]*)"|'([^']*)'|([^)"'\s]*))\s*\)|@import\s+(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE
)
_REFRESH = re.compile(r"""^[\s\d.]*[;,]\s*(?:url\s*=\s*)?["']?([^"']+)""", re.IGNORECASE)

Reference = tuple[str, str]
"""Element with attribute, and the value as it stands."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page or style sheet."""

    base: str | None
    references: list[list[Reference]]  # by element, in the order of the document
    names: frozenset[str]  # that fragments can mean


@dataclass(slots=True)
class Counts:
    """The references of a saved site, by what they lead to."""

    pages: int = 0
    resolve: int = 0
    dead: Counter[str] = field(default_factory=Counter)  # local, and nothing is there; the kind
    own: Counter[str] = field(default_factory=Counter)  # to the live web, to the site itself
    elsewhere: Counter[str] = field(default_factory=Counter)  # to other sites
    loads: Counter[str] = field(default_factory=Counter)  # of all that lead to the live web: what a browser would load
    fragments: Counter[str] = field(
        default_factory=Counter
    )  # of references that resolve: they name nothing in the page


def read(path: Path) -> Page:
    """The references of a file."""
    body = path.read_bytes()
    if path.suffix.lower() == ".css":
        return Page(None, [[("css url", url)] for url in _css(body.decode("utf-8", "replace"))], frozenset())
    return _page(body)


def _page(body: bytes) -> Page:
    try:
        body.decode()
        parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    except UnicodeDecodeError:
        parser = html.HTMLParser(huge_tree=True)
    try:
        document = html.document_fromstring(body or b"<p>", parser=parser)
    except etree.ParserError:
        return Page(None, [], frozenset())
    base: str | None = None
    references: list[list[Reference]] = []
    names: set[str] = set()
    for element in document.iter(etree.Element):
        values = element.attrib
        names.update(values[name] for name in ("id", "name") if name in values)
        if element.tag == "base" and base is None:
            base = values.get("href")
        elif element.tag in _TAGS or "style" in values:
            found = list(_of_element(element))
            if found or element.tag not in _MAY_BE_ADDED:
                references.append(found)
    return Page(base, references, frozenset(names))


def _of_element(element: etree._Element) -> Iterator[Reference]:
    tag, values = element.tag, element.attrib
    if tag == "link" and _NO_LINKS & set(values.get("rel", "").lower().split()):
        return
    for name, value in values.items():
        where = f"{tag} {name}" + (f" {values.get('rel', '').lower()}" if tag == "link" else "")
        if (tag, name) in _ATTRIBUTES and (value.strip() or tag in ("a", "area")):
            yield where, value.strip()
        elif (tag, name) in _SRCSETS:
            yield from ((where, url) for url in _srcset(value))
        elif name == "style":
            yield from (("style url", url) for url in _css(value))
    if tag == "style":
        yield from (("style url", url) for url in _css(element.text or ""))
    elif tag == "meta" and values.get("http-equiv", "").lower() == "refresh":
        found = _REFRESH.match(values.get("content", ""))
        if found:
            yield "meta refresh", found[1].strip()


_TAGS = frozenset(tag for tag, _ in (*_ATTRIBUTES, *_SRCSETS)) | {"style", "meta"}
_MAY_BE_ADDED = ("style", "meta")
"""Elements that savers add to a page: they count only where they refer to something."""


def _css(source: str) -> Iterator[str]:
    for found in _CSS_URL.finditer(_CSS_COMMENT.sub("", source)):
        url = next(filter(None, found.groups()), "")
        if url and not url.startswith("#"):
            yield url


def _srcset(value: str) -> Iterator[str]:
    """Enough for what is here: no URL with a comma at its end or beginning."""
    for candidate in value.split(","):
        if words := candidate.split():
            yield words[0]


def is_loaded(where: str) -> bool:
    """Whether a browser loads such a reference by itself."""
    if where.startswith("link "):
        return bool({"stylesheet", "icon", "preload", "modulepreload", "prefetch", "manifest"} & set(where.split()))
    return where not in ("a href", "area href")


# --- one folder


@dataclass(frozen=True, slots=True)
class Folder:
    """A saved site, or one as its server has it."""

    pages: dict[Path, Page]  # and style sheets
    files: frozenset[str]  # the paths of all

    @classmethod
    def open(cls, root: Path) -> "Folder":
        """Read it, on all processors."""
        files = sorted(path for path in root.resolve().rglob("*") if path.is_file())
        paths = [path for path in files if path.suffix.lower() in (*PAGES, ".css")]
        with ProcessPoolExecutor() as pool:
            pages = dict(zip(paths, map(_thrifty, pool.map(read, paths, chunksize=32)), strict=True))
        return cls(pages, frozenset(map(str, files)))


def _thrifty(page: Page) -> Page:
    """The same, without a string of its own for each reference: the pages of a site name the same places."""
    shared = [[(intern(where), intern(value)) for where, value in each] for each in page.references]
    return Page(page.base, shared, page.names)


def count(folder: Folder, host: str) -> Counts:
    """``folder``: one saved site and nothing that its maker added. ``host``: the site's, with port."""
    counts = Counts(sum(path.suffix.lower() in PAGES for path in folder.pages))
    for path, page in folder.pages.items():
        for where, value in chain.from_iterable(page.references):
            _tell(where, followed(value, path, page.base), host, folder, counts)
    return counts


def followed(value: str, path: Path, base: str | None) -> str:
    """The URL that a browser goes to from a file, "" where it is none. An empty link leads to the page itself."""
    if base is None and value[:1] not in ("", "?", "#"):
        return _joined("file://" + quote(str(path.parent)) + "/", value)
    here = "file://" + quote(str(path))
    return _joined(_joined(here, base) if base else here, value) if value else here


@lru_cache(maxsize=1 << 16)
def _joined(base: str, value: str) -> str:
    try:
        return urljoin(base, value)
    except ValueError:
        return ""


def _tell(where: str, target: str, host: str, folder: Folder, counts: Counts) -> None:
    place = local(target)
    if place is not None:
        if place not in folder.files:
            counts.dead[where] += 1
            return
        counts.resolve += 1
        fragment, page = unquote(target.partition("#")[2]), folder.pages.get(Path(place))
        if fragment and page is not None and fragment not in page.names:
            counts.fragments[where] += 1
    elif target.lower().startswith(("http:", "https:")):
        (counts.own if urlsplit(target).netloc == host else counts.elsewhere)[where] += 1
        counts.loads[where] += is_loaded(where)


@lru_cache(maxsize=1 << 16)
def local(target: str) -> str | None:
    """The path that a file URL means."""
    return unquote(urlsplit(target).path) if target.startswith("file:") else None


# --- beside the original


def resolved(original: Page, saved: Page, path: Path, files: frozenset[str]) -> list[bool] | None:
    """Of each reference of a page as it came, whether it resolves in the page that was saved at ``path``.

    None where the saved page has other elements.
    """
    if len(original.references) != len(saved.references):
        return None
    found = []
    for old, new in zip(original.references, saved.references, strict=True):
        yes = [(where, local(followed(value, path, saved.base)) in files) for where, value in new]
        if [where for where, _ in old] == [where for where, _ in new]:
            found += [each for _, each in yes]
            continue
        left = Counter(where for where, each in yes if each)
        for where, _ in old:
            found.append(left[where] > 0)
            left[where] -= 1
    return found
