"""Ready-made answers: what the real web does, one function each."""

import json
from collections.abc import Callable, Iterable
from urllib.parse import parse_qs, urlsplit

from fakeweb import wire
from fakeweb.page import FOREVER, Asked, Ending, Framing, Handler, Headers, Page


def html(body: str, *, title: str = "", charset: str = "utf-8", **more: object) -> Page:
    """A whole document with ``body`` in it, in ``charset``, which the header names."""
    text = f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{body}</body></html>"
    return Page(text.encode(charset), content_type=f"text/html; charset={charset}", **more)  # type: ignore[arg-type]


def links(*targets: str, text: str = "", title: str = "") -> Page:
    """A page that links to ``targets``."""
    return html(text + "".join(f'<p><a href="{target}">{target}</a></p>' for target in targets), title=title)


def text(body: str, **more: object) -> Page:
    return Page(body.encode(), content_type="text/plain; charset=utf-8", **more)  # type: ignore[arg-type]


def redirect(to: str, status: int = 302) -> Page:
    """``to`` may be relative."""
    return Page(b"moved", status, headers=(("Location", to),))


def status(code: int, **more: object) -> Page:
    return Page(f"<title>{code}</title>".encode(), code, **more)  # type: ignore[arg-type]


def busy(code: int = 503, retry_after: str = "1") -> Page:
    """429 or 503 with Retry-After, in seconds or as a date."""
    return Page(b"later", code, headers=(("Retry-After", retry_after),))


def sequence(*answers: Page | Handler) -> Handler:
    """The first answer to the first request of a path, and so on; the last one from then on."""

    def handler(asked: Asked) -> Page:
        answer = answers[min(asked.nth, len(answers) - 1)]
        return answer if isinstance(answer, Page) else answer(asked)

    return handler


def times(count: int, first: Page | Handler, then: Page | Handler) -> Handler:
    """``first`` for ``count`` requests, ``then`` afterwards."""
    return sequence(*[first] * count, then)


def echo(asked: Asked) -> Page:
    """The request, as JSON."""
    seen = {"method": asked.method, "path": asked.path, "host": asked.host, "headers": asked.headers}
    return Page(json.dumps(seen).encode(), content_type="application/json")


# robots.txt in every state: for pages["/robots.txt"]


def robots(rules: str, **more: object) -> Page:
    return text(rules, **more)


def robots_hanging() -> Page:
    return Page(delay=FOREVER)


# redirects that do not end


def redirect_loop(*paths: str) -> dict[str, Page | Handler]:
    """Each path leads to the next, and the last to the first."""
    return {path: redirect(paths[(index + 1) % len(paths)]) for index, path in enumerate(paths)}


def cookie_wall(inside: Page) -> Handler:
    """Redirects to itself with Set-Cookie until the cookie comes back: a loop for who keeps none."""

    def handler(asked: Asked) -> Page:
        if "seen=1" in asked.header("cookie"):
            return inside
        return Page(b"", 302, headers=(("Location", asked.path), ("Set-Cookie", "seen=1; Path=/")))

    return handler


def growing_redirect(asked: Asked) -> Page:
    """Each hop is a new, longer URL."""
    return redirect(f"{asked.path}{'&' if '?' in asked.path else '?'}x=1")


# bodies and connections that misbehave


def slow(page_body: str, delay: float) -> Page:
    """The first byte takes ``delay`` seconds."""
    return html(page_body, delay=delay)


def dripping(body: bytes, *, piece: int = 1, drip: float = 0.05) -> Page:
    return Page(body, piece=piece, drip=drip)


def endless(block: bytes = b"<p>and so on</p>" * 1000, *, drip: float = 0.0) -> Page:
    return Page(block, endless=True, drip=drip, framing=Framing.CHUNKED)


def truncated(body: bytes, missing: int = 10) -> Page:
    """Content-Length promises ``missing`` more bytes than come; then the connection ends in order."""
    return Page(body, length=len(body) + missing, ending=Ending.CLOSE)


def truncated_chunks(body: bytes) -> Page:
    """The last chunk never comes."""
    return Page(body, framing=Framing.CHUNKED, cut=len(body) // 2, ending=Ending.CLOSE)


def truncated_coding(body: bytes, coding: str = "gzip") -> Page:
    """A coded body without its end, but with the right Content-Length: only the coding knows."""
    coded = wire.encode(body, coding)
    return Page(coded[: len(coded) // 2], headers=(("Content-Encoding", coding),))


def reset_midway(body: bytes = b"<p>half of it" * 1000) -> Page:
    return Page(body, cut=len(body) // 2, ending=Ending.RESET)


def garbage(data: bytes = b"\x00\xff\x13\x37" * 64) -> Page:
    """Bytes that are no HTTP, in answer to a request."""
    return Page(raw=data)


def ssh_banner() -> bytes:
    """For ``Site.greeting``."""
    return b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"


def huge_headers(size: int = 4 * 1024 * 1024) -> Page:
    lines: Headers = tuple((f"X-Filler-{index}", "x" * 4000) for index in range(size // 4020))
    return Page(b"<p>small body", headers=lines)


def wrong_charset(body: str, real: str, declared: str) -> Page:
    """Bytes in one encoding, the header says another."""
    return Page(body.encode(real), content_type=f"text/html; charset={declared}")


def wrong_type(body: bytes, content_type: str | None) -> Page:
    """A body under a type it is not, or under none."""
    return Page(body, content_type=content_type)


def bomb(size: int = 256 * 1024 * 1024, coding: str = "gzip") -> Page:
    """``size`` bytes that are a few on the wire; with "gzip, gzip" fewer still."""
    return Page(wire.encode(b"\0" * size, coding), headers=(("Content-Encoding", coding),))


# sites without end


def calendar(asked: Asked) -> Page:
    """A month that links to the next and the one before, for ever; hardly any text of its own."""
    month = int(parse_qs(urlsplit(asked.path).query).get("month", ["0"])[0])
    path = urlsplit(asked.path).path
    return links(f"{path}?month={month + 1}", f"{path}?month={month - 1}", text="no appointments", title="Calendar")


def counter(asked: Asked) -> Page:
    """/n/5 links to /n/6."""
    stem, _, number = asked.path.rpartition("/")
    return links(f"{stem}/{int(number) + 1 if number.isdigit() else 1}", text="next", title="Counter")


def deepening(asked: Asked) -> Page:
    """A relative link to a folder of the same name below: /a/a/a/…"""
    return links("a/", text="deeper", title="Deep")


def session_ids(body: str) -> Handler:
    """Each answer links to itself under a fresh session id."""

    def handler(asked: Asked) -> Page:
        path = urlsplit(asked.path).path
        return links(f"{path}?sid={abs(hash((asked.at, asked.path))):016x}", text=body, title="Session")

    return handler


def by_prefix(**handlers: Page | Handler) -> Callable[[Asked], Page]:
    """A ``Site.fallback`` that chooses by the first segment of the path: by_prefix(calendar=calendar, n=counter)."""

    def handler(asked: Asked) -> Page:
        first = urlsplit(asked.path).path.split("/")[1]
        answer = handlers.get(first, status(404))
        return answer if isinstance(answer, Page) else answer(asked)

    return handler


def sitemap(urls: Iterable[str]) -> Page:
    entries = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    body = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'
    return Page(body.encode(), content_type="application/xml")
