"""The sort keys of web archive indexes: Sort-friendly URI Reordering Transform, as pywb and OpenWayback look URLs up.

A lookup key and no URL: it folds what archives hold to be the same (case, www, order of the query, session ids), which
a crawl never does. Made so that the keys of canonical URLs are those of the tools that read the index.
"""

import re
from urllib.parse import quote_from_bytes, unquote_to_bytes

from gossamer.url import origin, path_and_query

_WWW = re.compile(r"www\d*\.")
_SESSION = re.compile(
    rb"(?:(?:jsessionid|phpsessid|sid)=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24}|cfid=[^&]+&cftoken=[^&]+)(?:&|$)"
)
_ADDRESS = re.compile(r"[\d.]+|\[.*\]")
_SAFE = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_MAX_ESCAPES = 8  # of escapes in escapes that are undone


def surt(url: str) -> str:
    """The key of a canonical http(s) URL: ``com,example)/path?query``."""
    place = origin(url)
    host = place.hostname
    if not _ADDRESS.fullmatch(host):
        host = _WWW.sub("", host.strip("."), count=1) if _WWW.match(host) else host.strip(".")
    _, _, port = place.host.removeprefix(place.hostname).partition(":")
    path, mark, query = path_and_query(url).partition("?")
    key = ",".join(reversed(host.split("."))) + (f":{port}" if port else "") + ")" + _path(path)
    query = _query(query)
    return f"{key}?{query}" if mark and query else key


def _path(path: str) -> str:
    plain = re.sub(rb"/{2,}", b"/", _unescape(path.encode())).lower()
    return _escape(plain[:-1] if plain.endswith(b"/") and len(plain) > 1 else plain)


def _query(query: str) -> str:
    pairs = [pair.split(b"=", 1) for pair in _SESSION.sub(b"", _unescape(query.encode()).lower()).split(b"&")]
    return _escape(b"&".join(b"=".join(pair) for pair in sorted(pairs)))


def _unescape(text: bytes) -> bytes:
    for _ in range(_MAX_ESCAPES):
        plain = unquote_to_bytes(text)
        if plain == text:
            break
        text = plain
    return text


def _escape(text: bytes) -> str:
    return quote_from_bytes(text, safe=_SAFE).lower()
