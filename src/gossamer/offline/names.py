"""Where a URL's file lies in the copy: a function of the URL and the type of its bytes, never of what else is saved.

    host[_port]/folders/stem[.q-<digest of the query>].extension

Different URLs have different names, also where the file system does not tell ``A`` from ``a``. A name that could be
mistaken for another's carries a mark, which begins with a tilde:

    ~           the extension is ours, the URL has none that goes with the type: /a is a~.html, /a.html is a.html
    ~i          /index.html, where index.html is /
    ~c<hex>     the URL has capitals; the bits say where
    ~x<hex>     it had to be changed or cut: a digest of the URL up to here
    ~d          a folder whose name looks like that of a file
    ~p<hex>     stands for many folders, where the whole would be too long

What looks like a mark in a URL gets a mark itself. Nothing leads out of the copy, whatever the URL is.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from urllib.parse import quote, unquote_to_bytes

from gossamer.offline.extensions import KNOWN, extensions_of
from gossamer.url import Origin, origin, path_and_query

MAX_SEGMENT = 120
"""Bytes of a name in UTF-8; file systems allow 255, archives and other tools less."""

MAX_PATH = 1000
"""Bytes of a whole path in the copy."""

OWN = frozenset({"index.html", "search.html", "_gossamer"})
"""Names at the top of a copy that are ours."""

DIGITS = 12
"""Of a digest in a name. Where two of them are equal after all (a site can make that so), all 64 are taken."""

_ALL_DIGITS = 64
_LONGEST_TITLE = 80  # bytes of a folder's name

# Windows' reserved characters, what has a meaning in URLs, and "^", which not everybody escapes.
_UNSAFE = re.compile(r'["*:<>?|\\/%#^]')
_MARKED = re.compile(r"(?:~(?:[id]|[cxp][0-9a-f]+)?|\.q-[0-9a-f]+)$", re.IGNORECASE)
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*(?:\.|$)", re.IGNORECASE)
_EXTENSION = re.compile(r"\.([A-Za-z0-9]{1,12})$")
_PORT = re.compile(r"_\d+$")
# URL Standard, "path percent-encode set": what of ASCII stands in a canonical path as it is.
_PLAIN = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"#<>?^`{}%')


@dataclass(frozen=True, slots=True)
class Form:
    """How names are made."""

    ascii_only: bool = False
    digits: int = DIGITS


_USUAL = Form()


def name_of(url: str, content_type: str, form: Form = _USUAL) -> str:
    """The path of a canonical http(s) URL's file in the copy, with slashes; ``content_type`` as the bytes have it."""
    path, has_query, query = path_and_query(url).partition("?")
    host = _host_name(origin(url), form)
    *folders, last = path[1:].split("/")
    end = len(url) - len(path) - len(has_query) - len(query)
    names = []
    for folder in folders:
        end += len(folder) + 1
        names.append(_folder_name(folder, url[:end], form))
    file = _file_name(last, url, f".q-{_digest(query, form)}" if has_query else "", content_type, form)
    path = "/".join((host, *names, file))
    if len(path.encode()) > MAX_PATH:
        path = f"{host}/~p{_digest('/'.join(names), form)}/{file}"
    return path


def table_of(types: Iterable[tuple[str, str]], *, ascii_only: bool = False) -> dict[str, str]:
    """The names of some URLs, each given with its type. No two are equal, also where case does not count.

    Only where digests are equal, or one port speaks two schemes, does a name depend on what else is there; never on
    the order.
    """
    given = dict(types)
    names = {url: name_of(url, content_type, Form(ascii_only)) for url, content_type in given.items()}
    groups: dict[str, list[str]] = defaultdict(list)
    for url, name in names.items():
        groups[name.casefold()].append(url)
    for urls in groups.values():
        if len(urls) > 1:
            names |= {url: _apart(url, names[url]) for url in urls}
    return names


def folder_named(title: str) -> str:
    """A folder's name that says what a copy is of."""
    text = _cut(_made_safe(" ".join(title.split()), _USUAL), MAX_SEGMENT - _LONGEST_TITLE).lstrip(".-")
    return text or "offline copy"


def _apart(url: str, name: str) -> str:
    """The name of a URL that shares its own with others."""
    folder, _, file = name.rpartition("/")
    stem, _, extension = file.rpartition(".")
    return f"{folder}/{_cut(stem, _ALL_DIGITS)}~x{sha256(url.encode('utf-8', 'surrogatepass')).hexdigest()}.{extension}"


@lru_cache(maxsize=4096)
def _host_name(place: Origin, form: Form) -> str:
    """https on its own port is the host alone: http://a/x and https://a/x are two pages."""
    text, mark = _cleaned(place.hostname, place.hostname, form)
    if not mark and (_PORT.search(text) or text in OWN):
        mark = f"~x{_digest(place.hostname, form)}"
    port = "" if (place.scheme, place.port) == ("https", 443) else f"_{place.port}"
    return f"{_cut(text, len(mark) + len(port))}{mark}{port}"


@lru_cache(maxsize=65536)
def _folder_name(raw: str, url: str, form: Form) -> str:
    text, mark = _cleaned(raw, url, form)
    extension = _EXTENSION.search(text)
    if not mark and extension and extension[1].lower() in KNOWN:
        mark = "~d"
    if len(f"{text}{mark}".encode()) > MAX_SEGMENT:
        mark = f"~x{_digest(url, form)}"
    return f"{_cut(text, len(mark))}{mark}"


def _file_name(raw: str, url: str, query: str, content_type: str, form: Form) -> str:
    extensions = extensions_of(content_type)
    if not raw:
        return f"index{query}.{extensions[0]}"
    text, mark = _cleaned(raw, url, form)
    found = _EXTENSION.search(text)
    if found and found.start() and found[1].lower() in extensions:
        stem, extension, ours = (
            text[: found.start()],
            found[1].lower(),
            "~i" if text[: found.start()] == "index" else "",
        )
    else:
        stem, extension, ours = text, extensions[0], "~"
    if not mark.startswith("~x"):
        mark = f"~x{_digest(url, form)}" if _MARKED.search(stem) else mark + ours
    if len(f"{stem}{mark}{query}.{extension}".encode()) > MAX_SEGMENT:
        mark, query = f"~x{_digest(url, form)}", ""
    return f"{_cut(stem, len(mark) + len(query) + len(extension) + 1)}{mark}{query}.{extension}"


def _cleaned(raw: str, url: str, form: Form) -> tuple[str, str]:
    """A segment's text as a name may have it, and the mark it needs; "" where it stands for itself."""
    text, is_itself = _decoded(raw)
    lower = "".join(each.lower() if each.isascii() else each for each in text)
    if not is_itself or not _is_safe(text) or _blind(lower) != lower or (form.ascii_only and not text.isascii()):
        return _made_safe(text, form), f"~x{_digest(url, form)}"
    capitals = sum(1 << place for place, each in enumerate(text) if each != lower[place])
    return text, f"~c{capitals:x}" if capitals else ""


def _decoded(raw: str) -> tuple[str, bool]:
    """The text of a segment, and whether no other segment has the same."""
    data = unquote_to_bytes(raw)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data.decode(errors="replace"), False
    return text, quote(text, safe=_PLAIN) == raw


def _is_safe(text: str) -> bool:
    """Whether every file system can have it as a name."""
    if not text or text[0] == " " or text[-1] in ". " or _UNSAFE.search(text) or _DEVICE.match(text):
        return False
    return not _MARKED.search(text) and not any(unicodedata.category(each)[0] == "C" for each in text)


def _blind(text: str) -> str:
    """What a file system may see that tells neither cases nor ways to write an accent apart."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).upper().casefold())


def _made_safe(text: str, form: Form) -> str:
    """A name that reminds of the text; its mark tells it from others."""
    text = unicodedata.normalize("NFC", text)
    if form.ascii_only:
        text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    text = "".join("_" if unicodedata.category(each)[0] == "C" else each for each in _UNSAFE.sub("_", text))
    text = text.strip(" ").rstrip(". ")
    return f"_{text}" if not text or _DEVICE.match(text) else text


def _cut(text: str, room_taken: int) -> str:
    """As much of a text as fits beside ``room_taken`` bytes; no half character, and nothing that a name may not end in."""
    data = text.encode()
    if len(data) + room_taken <= MAX_SEGMENT:
        return text
    return data[: MAX_SEGMENT - room_taken].decode(errors="ignore").rstrip(". ")


def _digest(text: str, form: Form) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[: form.digits]
