"""The links of one page made absolute, as browsers do it (HTML, "encoding-parsing a URL")."""

import re
from functools import lru_cache

from gossamer.parse.encoding import encode_query
from gossamer.parse.links import MAX_TEXT
from gossamer.url import canonicalise, fingerprint, join

_TRIMMED = "".join(map(chr, range(0x21)))  # URL Standard 4.4: C0 control or space, at either end
_REMOVED = dict.fromkeys(map(ord, "\t\n\r"))  # 4.4: "Remove all ASCII tab or newline"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_FETCHED = ("http", "https")
_MAX_KEPT = 1024  # characters of a link
_MAX_LINKS = 2048  # that are kept of one directory
_ANYWHERE = "http://0/"  # what an absolute URL is kept under: it is the same on every page

Resolved = tuple[str, bytes, bool]
"""A URL, its fingerprint, and whether it is no http(s) URL."""


class Resolver:
    """Resolves the links of one page.

    Most pages of a directory link to the same places in the same words, so results are kept by (directory, href).
    """

    def __init__(self, page: str, base: str | None, charset: str, secret: bytes) -> None:
        self._base = base_url(page, base)
        path = self._base.partition("?")[0]
        self._directory = path[: path.rfind("/") + 1]
        self._charset = charset
        self._secret = secret
        self.kept = _kept(self._directory, charset, secret)
        """What some links are known to mean. Who has very many looks here before asking `resolve`."""

    def resolve(self, href: str) -> Resolved | None:
        """The URL that ``href`` (an attribute's value) means; None when it means none."""
        if len(href) + len(self._directory) > _MAX_KEPT or _depends_on_page(href):
            return _join(self._base, href, self._charset, self._secret)
        directory = _ANYWHERE if href.startswith(("http://", "https://")) else self._directory
        kept = _kept(directory, self._charset, self._secret)
        resolved = kept.get(href) or _below(directory, href, self._charset, self._secret)
        if resolved is not None:
            _keep(kept, href, resolved)
            if kept is not self.kept:  # an absolute one: next time it is found here at once
                _keep(self.kept, href, resolved)
        return resolved


def _keep(kept: dict[str, Resolved], href: str, resolved: Resolved) -> None:
    if len(kept) >= _MAX_LINKS:
        kept.clear()
    kept[href] = resolved


@lru_cache(maxsize=64)
def _kept(directory: str, charset: str, secret: bytes) -> dict[str, Resolved]:  # noqa: ARG001 - what it is kept by
    """The links of a directory that were resolved before. A dict of its own: a look at it is all that most links cost."""
    return {}


def _depends_on_page(href: str) -> bool:
    """Whether more of the base than its directory may count: for nothing, a query or a fragment, also after "http:".

    What is to be trimmed first ("\\n?q") may turn out to be one of these.
    """
    return href[:1] <= " " or href[0] in "?#" or (href[0] in "hH" and not href.startswith(("http://", "https://")))


def base_url(page: str, base: str | None) -> str:
    """What the links of ``page`` are relative to, ``base`` being the first base's href.

    HTML, "document base URL": that of the first base with a href, unless it is invalid, data: or javascript:.

    A base with a scheme that is not fetched (file:) stays what it is: nothing relative to it is an http(s) URL.
    """
    if base is None:
        return page
    base = base.strip(_TRIMMED).translate(_REMOVED)
    if other_scheme(base) and not base.lower().startswith(("data:", "javascript:")):
        return base
    return canonicalise(base, page) or page


def cleaned(href: str, charset: str) -> str:
    """``href`` as the URL parser sees it: trimmed, and its query in the encoding of the page."""
    href = href.strip(_TRIMMED)
    if href.isascii() and href.isprintable():
        return href
    return encode_query(href.translate(_REMOVED), charset)


def other_scheme(href: str) -> bool:
    """Whether a cleaned ``href`` begins with a scheme that is not fetched."""
    scheme = _SCHEME.match(href)
    return scheme is not None and scheme[1].lower() not in _FETCHED


def _below(directory: str, href: str, charset: str, secret: bytes) -> Resolved | None:
    url = join(directory, href)
    return _join(directory, href, charset, secret) if url is None else _known(url, secret)


def _join(base: str, href: str, charset: str, secret: bytes) -> Resolved | None:
    href = cleaned(href, charset)
    if other_scheme(href):
        return href[:MAX_TEXT], fingerprint(href[:MAX_TEXT], secret), True
    url = canonicalise(href, base)
    return _known(url, secret) if url is not None else None


@lru_cache(maxsize=32768)
def _known(url: str, secret: bytes) -> Resolved:
    """A URL that many directories lead to is hashed once, and kept once."""
    return url, fingerprint(url, secret), False
