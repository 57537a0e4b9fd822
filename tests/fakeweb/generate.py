"""Sites drawn from a seed, whose reachable pages are known without looking at them."""

import html
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from random import Random

from fakeweb import prose, recipes, spelling
from fakeweb.page import Asked, Framing, Handler, Headers, Page, Site

_CHARSETS = ["utf-8"] * 8 + ["windows-1252", "shift_jis", "gb18030", "koi8-r", "utf-16"]
_FOLLOWED = frozenset({"a", "area", "iframe", "frame", "next", "refresh"})
_MAX_SEGMENTS = 5

_ROBOTS = "User-agent: nobody\nDisallow: /\n\nUser-agent: *\nDisallow: /private/ # but\nAllow: /private/open-\n"

_OTHER_LINKS = [
    '<a href="mailto:someone@example.org">mail</a>',
    '<a href="javascript:void(0)">script</a>',
    '<a href="tel:+1234">phone</a>',
    '<a href="ftp://ftp.example.org/file">file</a>',
    '<a href="">empty</a>',
    '<a href="#top">top</a>',
    "<a name=top>no href</a>",
    '<a href="http://[broken">broken</a>',
    '<!-- <a href="/hidden/in-comment.html">comment</a> -->',
    "<script>document.write('<a href=\"/hidden/in-script.html\">script</a>')</script>",
    '<form action="/hidden/form.html"><input name=q></form>',
    '<p data-href="/hidden/in-data.html">data</p>',
    '<a href="http://external.invalid/page.html">elsewhere</a>',
]


@dataclass(slots=True)
class GeneratedSite(Site):
    """A site with what a polite crawler in its host's scope must make of it; all are paths with query."""

    reachable: frozenset[str] = frozenset()  # answered with 200 and HTML
    asked: frozenset[str] = frozenset()  # all that is asked for: also redirects, missing pages, files
    forbidden: frozenset[str] = frozenset()  # by robots.txt
    unreachable: frozenset[str] = frozenset()  # exist, but no link that may be followed leads there
    requisites: frozenset[str] = frozenset()
    rules: str = ""  # its robots.txt
    words: dict[str, str] = field(default_factory=dict)  # page -> a word that stands on no other


@dataclass(slots=True)
class _Draft:
    """A page before it is markup."""

    path: str
    word: str = ""
    charset: str = "utf-8"
    base: str = ""  # <base href>, a folder
    edges: list[tuple[str, str]] = field(default_factory=list)  # (target, kind)
    is_frameset: bool = False
    is_nofollow: str = ""  # "meta" or "header"
    only_absolute: bool = False  # its copies at other paths mean the same


class _Plan:
    """Draws a site step by step."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.drafts: dict[str, _Draft] = {}
        self.redirects: dict[str, str] = {}
        self.copies: dict[str, str] = {}  # path -> the page it repeats, byte for byte
        self.files: dict[str, Page] = {}
        self.requisites: set[str] = set()
        self._words = 0

    def word(self) -> str:
        self._words += 1
        return prose.unique_word(self._words)

    def add(self, path: str, **more: object) -> _Draft:
        draft = _Draft(path, self.word(), **more)  # type: ignore[arg-type]  # names of fields
        self.drafts[path] = draft
        return draft

    def link(self, source: _Draft, target: str) -> None:
        """A followed link of a kind that fits into the page."""
        kinds = ["a"] * 12 + ["area", "iframe", "next"]
        if not any(kind == "refresh" for _, kind in source.edges):
            kinds.append("refresh")
        source.edges.append((target, "frame" if source.is_frameset else self.rng.choice(kinds)))

    def source(self) -> _Draft:
        """Any page whose links count."""
        return self.rng.choice([draft for draft in self._linking if not draft.is_nofollow])

    def draw_pages(self, count: int) -> None:
        """A tree of pages with links across it."""
        folders = ["/"]
        self._linking = [self.add("/")]
        for _ in range(count - 1):
            draft = self.add(self._new_path(folders), charset=self.rng.choice(_CHARSETS))
            draft.is_frameset = self.rng.random() < 0.03
            if not draft.is_frameset and self.rng.random() < 0.1:
                draft.base = self.rng.choice(folders)
            self.link(self.rng.choice(self._linking[-40:]), self._perhaps_redirected(draft.path))
            self._linking.append(draft)
        for draft in self._linking:
            for other in self.rng.choices(self._linking, k=self.rng.randrange(6)):
                self.link(draft, other.path)

    def _new_path(self, folders: list[str]) -> str:
        folder = self.rng.choice(folders)
        word = self.word()
        form = self.rng.randrange(12)
        if form < 3 and folder.count("/") < _MAX_SEGMENTS:
            folders.append(f"{folder}{word}/")
            return f"{folder}{word}/"
        if form == 3:
            return f"{folder}show?topic={word}&b={self.rng.randrange(100)}"
        if form == 4:
            return f"{folder}%C3%A9t%C3%A9-{word}.html"
        if form == 5:
            return f"{folder}{word.upper()}"
        return f"{folder}{word}.html"

    def _perhaps_redirected(self, path: str) -> str:
        if self.rng.random() > 0.06:
            return path
        for _ in range(self.rng.randrange(1, 4)):
            hop = f"/go/{self.word()}"
            self.redirects[hop] = path
            path = hop
        return path

    def draw_copies(self, count: int) -> None:
        """Pages that are the same bytes as another; all their links are absolute."""
        originals = [draft for draft in self._linking[1:] if not draft.is_frameset][:count]
        for original in originals:
            original.only_absolute, original.base = True, ""
            path = f"/copies/{self.word()}.html"
            self.copies[path] = original.path
            self.link(self.source(), path)

    def draw_dead_ends(self, missing: int, files: int) -> None:
        for _ in range(missing):
            self.link(self.source(), f"/missing/{self.word()}.html")
        for index in range(files):
            path, page = _file(index, self.word())
            self.files[path] = page
            self.link(self.source(), path)

    def draw_forbidden(self, count: int) -> None:
        """Pages that robots.txt forbids, the pages behind them, and one that an Allow line opens again."""
        for _ in range(count):
            draft = self.add(f"/private/{self.word()}.html")
            hidden = self.add(f"/hidden/{self.word()}.html")
            draft.edges.append((hidden.path, "a"))
            self.link(self.source(), draft.path)
            opened = self.add(f"/private/open-{self.word()}.html")
            self.link(self.source(), opened.path)

    def draw_unfollowed(self, count: int) -> None:
        """Pages that only links marked nofollow lead to: the link, its page by <meta>, its page by header."""
        for way in ["link", "meta", "header"] * count:
            hidden = self.add(f"/hidden/{self.word()}.html")
            if way == "link":
                source = next(draft for draft in iter(self.source, None) if not draft.is_frameset)
                source.edges.append((hidden.path, "nofollow"))
                continue
            marked = self.add(f"/marked/{self.word()}.html", is_nofollow=way)
            self.link(self.source(), marked.path)
            marked.edges.append((hidden.path, "a"))

    def draw_requisites(self, count: int) -> None:
        for _ in range(count):
            path = f"/img/{self.word()}.png"
            self.files[path] = Page(b"\x89PNG\r\n\x1a\n" + path.encode(), content_type="image/png")
            self.requisites.add(path)
            draft = self.source()
            if not draft.is_frameset:
                draft.edges.append((path, "img"))

    def walk(self) -> set[str]:
        """All paths that are asked for, by the edges alone."""
        asked, queue = {"/"}, deque(["/"])
        while queue:
            for target in self._targets(queue.popleft()):
                if target not in asked and not is_forbidden(target):
                    asked.add(target)
                    queue.append(target)
        return asked

    def _targets(self, path: str) -> Iterable[str]:
        if path in self.redirects:
            return [self.redirects[path]]
        draft = self.drafts.get(self.copies.get(path, path))
        if draft is None or draft.is_nofollow:
            return []
        return [target for target, kind in draft.edges if kind in _FOLLOWED]


def is_forbidden(path: str) -> bool:
    """What a generated site's robots.txt says."""
    return path.startswith("/private/") and not path.startswith("/private/open-")


def generate(
    seed: int,
    pages: int = 300,
    *,
    copies: int = 3,
    missing: int = 5,
    files: int = 6,
    forbidden: int = 4,
    unfollowed: int = 2,
    requisites: int = 5,
    flaky: int = 0,
    max_delay: float = 0.0,
    crawl_delay: float | None = None,
    name: str = "",
    address: str = "127.0.0.1",
) -> GeneratedSite:
    """The site of ``seed``: the same for ever.

    ``pages`` in the tree (a few more are added by the other arguments, each a count); ``flaky`` of them fail once or
    twice in different ways before they answer; ``max_delay`` is the longest time to the first byte, in seconds.
    """
    plan = _Plan(Random(seed))
    rules = _ROBOTS + (f"Crawl-delay: {crawl_delay}\n" if crawl_delay is not None else "")
    plan.draw_pages(pages)
    plan.draw_copies(copies)
    plan.draw_dead_ends(missing, files)
    plan.draw_forbidden(forbidden)
    plan.draw_unfollowed(unfollowed)
    plan.draw_requisites(requisites)
    asked = plan.walk()
    html_paths = plan.drafts.keys() | plan.copies.keys()
    existing = html_paths | plan.files.keys() | plan.redirects.keys()
    return GeneratedSite(
        pages=_answers(plan, rules, flaky, max_delay),
        name=name,
        address=address,
        reachable=frozenset(asked & html_paths),
        asked=frozenset(asked),
        forbidden=frozenset(path for path in existing if is_forbidden(path)),
        unreachable=frozenset(existing - asked - plan.requisites),
        requisites=frozenset(plan.requisites),
        rules=rules,
        words={path: draft.word for path, draft in plan.drafts.items() if path in asked},
    )


def _answers(plan: _Plan, rules: str, flaky: int, max_delay: float) -> dict[str, Page | Handler]:
    rng = plan.rng
    answers: dict[str, Page | Handler] = {"/robots.txt": recipes.robots(rules)}
    answers |= plan.files
    answers |= {path: _moved(rng, target) for path, target in plan.redirects.items()}
    answers |= {path: _render(rng, draft, rng.uniform(0, max_delay)) for path, draft in plan.drafts.items()}
    answers |= {path: answers[original] for path, original in plan.copies.items()}
    for path in rng.sample(sorted(plan.drafts), flaky):
        answers[path] = recipes.times(rng.randrange(1, 3), _fault(rng), answers[path])
    return answers


def _fault(rng: Random) -> Page:
    return rng.choice(
        [
            recipes.status(503),
            recipes.status(500),
            recipes.reset_midway(),
            recipes.truncated(b"<p>not all of it"),
            Page(raw=b""),
        ]
    )


def _moved(rng: Random, target: str) -> Handler:
    status = rng.choice([301, 302, 303, 307, 308])
    is_absolute = rng.random() < 0.5

    def handler(asked: Asked) -> Page:
        return recipes.redirect(f"http://{asked.host}{target}" if is_absolute else target, status)

    return handler


def _file(index: int, word: str) -> tuple[str, Page]:
    kinds = [
        (f"/files/{word}.pdf", b"%PDF-1.4\n" + word.encode(), "application/pdf"),
        (f"/files/{word}.txt", b"see /hidden/in-text.html " + word.encode(), "text/plain"),
        (f"/files/{word}.zip", b"PK\x03\x04" + word.encode(), "application/zip"),
    ]
    path, body, content_type = kinds[index % len(kinds)]
    return path, Page(body, content_type=content_type)


def _render(rng: Random, draft: _Draft, delay: float) -> Handler:
    declared_by_header = rng.random() < 0.5 or draft.charset == "utf-16"
    markup = _markup(rng, draft, "" if declared_by_header else draft.charset)
    content_type = f"text/html; charset={draft.charset}" if declared_by_header else "text/html"
    headers: Headers = (("X-Robots-Tag", "nofollow"),) if draft.is_nofollow == "header" else ()
    coding = rng.choice(["", "gzip", "gzip", "deflate", "br", "zstd"])
    framing = rng.choice([Framing.LENGTH, Framing.LENGTH, Framing.CHUNKED, Framing.CLOSE])

    def handler(asked: Asked) -> Page:
        filled = markup.replace(spelling.ORIGIN, f"http://{asked.host}").replace(spelling.HOST, asked.host)
        chosen = coding if asked.accepts(coding) else ""
        body = filled.encode(draft.charset)
        return Page(body, 200, content_type, headers, coding=chosen, framing=framing, delay=delay)

    return handler


def _markup(rng: Random, draft: _Draft, meta_charset: str) -> str:
    head = [f"<title>Page {draft.word}</title>"]
    if meta_charset:
        head.insert(0, f'<meta charset="{meta_charset}">')
    if draft.base:
        head.append(f'<base href="{html.escape(draft.base)}">')
    if draft.is_nofollow == "meta":
        head.append('<meta name="robots" content="nofollow">')
    head += [_element(rng, draft, target, kind) for target, kind in draft.edges if kind in ("next", "refresh")]
    content = [_element(rng, draft, target, kind) for target, kind in draft.edges if kind not in ("next", "refresh")]
    start = f"<!DOCTYPE html>\n<html><head>{''.join(head)}</head>"
    if draft.is_frameset:
        return f"{start}<frameset>{''.join(content)}</frameset></html>"
    content += rng.sample(_OTHER_LINKS, 2)
    rng.shuffle(content)
    paragraphs = (f"<p>{prose.sentence(rng, draft.charset, 12)} {part}" for part in content)
    return f"{start}<body><h1>{draft.word}</h1>{''.join(paragraphs)}</body></html>"


def _element(rng: Random, draft: _Draft, target: str, kind: str) -> str:
    base = draft.base or draft.path
    written = target if draft.only_absolute else spelling.spell(rng, base, target, draft.charset)
    value = html.escape(written)
    match kind:
        case "a":
            return spelling.anchor(rng, written, prose.sentence(rng, draft.charset, 2))
        case "nofollow":
            return f'<a rel="external nofollow" href="{value}">not followed</a>'
        case "next":
            return f'<link rel="next" href="{value}">'
        case "refresh":
            return f'<meta http-equiv="Refresh" content="600; URL={value}">'
        case "area":
            return f'<map name=m><area shape=default href="{value}"></map>'
        case "img":
            return f'<img src="{value}" alt="">'
    return f'<{kind} src="{value}"></{kind}>'
