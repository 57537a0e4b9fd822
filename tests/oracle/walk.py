"""Plain breadth-first search of one host by urllib and html.parser: what a crawl has to find."""

import re
import urllib.error
import urllib.request
from collections import deque
from dataclasses import dataclass, field
from email.message import Message
from html.parser import HTMLParser
from http.client import HTTPException, HTTPMessage
from typing import IO
from urllib.parse import quote, urldefrag, urljoin, urlsplit

from oracle.robots import Rules

_SOURCES = {"a": "href", "area": "href", "frame": "src", "iframe": "src", "link": "href"}
_FOLLOWED_RELATIONS = frozenset({"next", "prev", "canonical", "alternate"})
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_SAFE = "!$&'()*+,;=:@/%~[]^|\\`{}"


@dataclass(slots=True)
class Walk:
    """What was found, as URLs without fragment."""

    pages: set[str] = field(default_factory=set)  # 200 and HTML
    statuses: dict[str, int] = field(default_factory=dict)  # all that was asked for but robots.txt; 0: no answer
    types: dict[str, str] = field(default_factory=dict)


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.base = ""
        self.found: list[str] = []
        self.is_nofollow = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in reversed(attrs)}  # of repeated ones the first counts
        relations = values.get("rel", "").lower().split()
        if tag == "base" and not self.base:
            self.base = values.get("href", "").strip()
        elif tag == "meta":
            self._meta(values)
        elif _is_followed(tag, relations) and _SOURCES[tag] in values:
            self.found.append(values[_SOURCES[tag]])

    def _meta(self, values: dict[str, str]) -> None:
        if values.get("name", "").lower() == "robots":
            self.is_nofollow |= bool(re.search("nofollow|none", values.get("content", ""), re.IGNORECASE))
        if values.get("http-equiv", "").lower() == "refresh":
            match = re.search(r"url\s*=\s*[\"']?([^\"']+)", values.get("content", ""), re.IGNORECASE)
            self.found += [match[1]] if match else []


def _is_followed(tag: str, relations: list[str]) -> bool:
    if tag not in _SOURCES or "nofollow" in relations:
        return False
    if tag == "link":  # an alternate style sheet is a style sheet
        return bool(_FOLLOWED_RELATIONS & set(relations)) and "stylesheet" not in relations
    return True


class _Stay(urllib.request.HTTPRedirectHandler):
    """Redirects are answers, not something to follow in silence."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Stay)


def walk(start: str, *, robots: bool = True, nofollow: bool = True, limit: int = 100_000) -> Walk:
    """All that can be reached from ``start`` on its host, by links and redirects; at most ``limit`` requests."""
    origin = urljoin(start, "/")
    _, _, _, body = _get(urljoin(origin, "robots.txt"))
    rules = Rules(body.decode("utf-8", "replace") if robots else "")
    result, queue, seen = Walk(), deque([start]), {start}
    while queue and len(result.statuses) < limit:
        url = queue.popleft()
        for target in _visit(url, result, nofollow=nofollow):
            if target not in seen and target.startswith(origin) and rules.allows(target[len(origin) - 1 :]):
                seen.add(target)
                queue.append(target)
    return result


def _visit(url: str, result: Walk, *, nofollow: bool) -> list[str]:
    status, kind, headers, body = _get(url)
    result.statuses[url] = status
    result.types[url] = kind
    if 300 <= status < 400 and headers.get("location"):
        return _join(url, [headers["location"]], "utf-8")
    if status != 200 or kind not in _PAGES:
        return []
    result.pages.add(url)
    charset = _charset(headers, body)
    parser = _Links()
    parser.feed(body.decode(charset, "replace"))
    if nofollow and (parser.is_nofollow or re.search("nofollow|none", headers.get("x-robots-tag", ""))):
        return []
    base = _join(url, [parser.base], charset) or [url]
    return _join(base[0], parser.found, charset)


def _get(url: str) -> tuple[int, str, dict[str, str], bytes]:
    try:
        with _OPENER.open(urllib.request.Request(url), timeout=30) as response:
            return response.status, *_parts(response.headers), response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, *_parts(error.headers), b""
    except (OSError, HTTPException, ValueError):
        return 0, "", {}, b""


def _parts(message: Message) -> tuple[str, dict[str, str]]:
    headers = {name.lower(): value for name, value in message.items()}
    return headers.get("content-type", "").partition(";")[0].strip().lower(), headers


def _charset(headers: dict[str, str], body: bytes) -> str:
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    named = re.search(r"charset=\s*[\"']?([\w-]+)", headers.get("content-type", ""))
    inside = re.search(rb"charset=\s*[\"']?([\w-]+)", body[:1024])
    name = named[1] if named else inside[1].decode() if inside else "windows-1252"
    return "windows-1252" if name.lower() in ("iso-8859-1", "us-ascii") else name


def _join(base: str, written: list[str], charset: str) -> list[str]:
    """Absolute http(s) URLs without fragment; what can't be read as a URL is left out."""
    encoding = "utf-8" if charset.startswith("utf-16") else charset  # WHATWG Encoding, "get an output encoding"
    joined = []
    for text in written:
        try:
            parts = urlsplit(urldefrag(urljoin(base, re.sub(r"[\t\r\n]", "", text.strip())))[0])
        except ValueError:
            continue
        if parts.scheme in ("http", "https"):
            query = quote(parts.query, safe=_SAFE + "?", encoding=encoding, errors="xmlcharrefreplace")
            url = f"{parts.scheme}://{parts.netloc.lower()}{quote(parts.path, safe=_SAFE) or '/'}"
            joined.append(url + (f"?{query}" if parts.query else ""))
    return joined
