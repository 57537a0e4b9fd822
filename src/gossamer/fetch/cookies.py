"""The cookies of a crawl: what servers set, kept in memory, and sent back to whom they are for (RFC 6265bis).

Why not a library's: of the 222 cases of the http-state suite, ours does as 219 say, libcurl's engine as 206, and
``http.cookiejar`` as 180 (``docs/identity.md``); and what would be sent now must be known without sending it.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from gossamer import url as urls
from gossamer.fetch.set_cookie import Cookie, Key, is_within, parse, path_of, port_of
from gossamer.records import Headers

MAX_PER_DOMAIN = 180
"""Cookies of a registrable domain, as Chrome has it; one more drops the one that was set longest ago."""

MAX_COOKIES = 20_000
"""Of all domains; beyond that those of the domain that was longest not asked go. 80 MB at the very worst."""

MAX_HEADER = 8192
"""Octets of a Cookie header; servers refuse longer ones. What no longer fits is left out, shortest paths first."""


class CookieJar:
    """Takes cookies and hands them out. Everything in it is secret: it goes to servers and nowhere else.

    ``cookies`` are there from the start; ``takes``: also those that servers set.
    """

    def __init__(self, cookies: Iterable[Cookie] = (), *, takes: bool = True) -> None:
        self._takes = takes
        # By registrable domain, the one longest not used first; a domain's own in the order in which they were set.
        self._domains: OrderedDict[str, dict[Key, tuple[int, Cookie]]] = OrderedDict()
        self._count = 0
        self._serial = 0
        self.changes = 0
        """Counts up whenever something is taken or dropped."""
        for cookie in cookies:
            self._put(cookie, 0.0)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Cookie]:
        return (cookie for domain in self._domains.values() for _, cookie in domain.values())

    def take(self, url: str, headers: Headers, now: float) -> None:
        """Take the cookies that the answer of ``url`` sets; one that is over already takes the old one away."""
        if not self._takes:
            return
        for name, value in headers:
            if name == "set-cookie":
                cookie = parse(value, url, now)
                if cookie is not None and not self._is_shadow(cookie, url):
                    self._put(cookie, now)

    def header(self, url: str, now: float) -> str:
        """The Cookie header for a request, longer paths first, then older cookies (RFC 6265bis, section 5.8.3)."""
        if not self._count:
            return ""
        origin = urls.origin(url)
        domain = urls.registrable_domain(origin.hostname)
        kept = self._domains.get(domain)
        if kept is None:
            return ""
        self._domains.move_to_end(domain)
        path, is_secure, port = path_of(url), origin.scheme == "https", port_of(origin)
        meant = [
            (-len(cookie.path), serial, cookie)
            for serial, cookie in kept.values()
            if (is_secure or not cookie.secure)
            and (cookie.domain == origin.hostname if cookie.host_only else is_within(origin.hostname, cookie.domain))
            and cookie.port in (None, port)
            and _covers(cookie.path, path)
            and not cookie.is_expired(now)
        ]
        return _joined(cookie for _, _, cookie in sorted(meant, key=lambda each: each[:2]))

    def _is_shadow(self, cookie: Cookie, url: str) -> bool:
        """Whether it would hide a secure cookie without being one (RFC 6265bis, section 5.7, step 15)."""
        if cookie.secure or urls.origin(url).scheme == "https":
            return False
        kept = self._domains.get(urls.registrable_domain(cookie.domain), {})
        return any(
            old.secure
            and old.name == cookie.name
            and (is_within(old.domain, cookie.domain) or is_within(cookie.domain, old.domain))
            and _covers(old.path, cookie.path)
            for _, old in kept.values()
        )

    def _put(self, cookie: Cookie, now: float) -> None:
        domain = urls.registrable_domain(cookie.domain)
        kept = self._domains.setdefault(domain, {})
        from_file = replace(cookie, port=None).key  # a server may change what a person brought
        serial, old = kept.pop(cookie.key if cookie.key in kept else from_file, (0, None))
        self._count -= old is not None
        if cookie.is_expired(now):
            self.changes += old is not None
        else:
            self._serial += 1
            kept[cookie.key] = (serial or self._serial, cookie)  # it keeps its age
            self._count += 1
            self.changes += old != cookie
        self._shrink(domain, now)

    def _shrink(self, domain: str, now: float) -> None:
        kept = self._domains[domain]
        if len(kept) > MAX_PER_DOMAIN:
            over = [key for key, (_, cookie) in kept.items() if cookie.is_expired(now)]
            for key in over or [next(iter(kept))]:
                del kept[key]
                self._count -= 1
        if not kept:
            del self._domains[domain]
        while self._count > MAX_COOKIES:
            _, dropped = self._domains.popitem(last=False)
            self._count -= len(dropped)


def _covers(cookie_path: str, path: str) -> bool:
    """Whether a cookie's path is the path or a folder above it (RFC 6265bis, section 5.1.4)."""
    if not path.startswith(cookie_path):
        return False
    return len(path) == len(cookie_path) or cookie_path.endswith("/") or path[len(cookie_path)] == "/"


def _joined(cookies: Iterable[Cookie]) -> str:
    parts: list[str] = []
    length = 0
    for cookie in cookies:
        part = f"{cookie.name}={cookie.value}"
        length += len(part) + 2
        if length > MAX_HEADER + 2:
            break
        parts.append(part)
    return "; ".join(parts)
