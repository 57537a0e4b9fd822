"""Bodies read: everything the crawl wants to know of one answer. Runs in parser workers."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from itertools import chain

from gossamer.agent import NAME
from gossamer.parse import css, encoding, lexbor, linkheader, listing, pdf, turbo, xmltext, xmltokens
from gossamer.parse.body import undo
from gossamer.parse.directives import directives
from gossamer.parse.job import DEFAULT_LIMITS, Limits, ParseJob
from gossamer.parse.markup import EMPTY, Markup, Reference
from gossamer.parse.refresh import refresh
from gossamer.parse.resolve import Resolver, base_url
from gossamer.parse.rewrite import needed
from gossamer.parse.sniff import PAGES, media_type
from gossamer.parse.table import LinkTable
from gossamer.parse.text import digest, fold, fold_line
from gossamer.records import Facts, Failure, FailureKind, Via

_MAX_TITLE = 1000
_MAX_LANGUAGE = 35  # characters, as RFC 5646 4.4.1 advises
_LITTLE = 200  # characters of text that are next to none beside so many scripts:
_MANY_SCRIPTS = 3
_A_LINE = (
    60  # characters outside of links: with links beside, a short page that stands by itself says at least this much
)
_WAITS = re.compile("javascript|loading", re.IGNORECASE)  # where a script runs, this little text is about that

_DEEPEST = 8  # documents in attributes of documents
# What libraries raise for input they refuse; beside these, hostile input can only crash or hang them.
_REFUSED = (ValueError, LookupError, TypeError, RuntimeError, AttributeError, SystemError)


def read(job: ParseJob, secret: bytes, limits: Limits = DEFAULT_LIMITS, fallback: bool = False) -> Facts:
    """What there is to know of one body; never raises for what the body holds.

    ``secret``: the key of the fingerprints. ``fallback``: use the second HTML parser.
    """
    facts, body = _bare(job, limits)
    if facts.failure is not None and facts.failure.kind is not FailureKind.BODY_TRUNCATED:
        return facts
    if job.via is Via.SITEMAP:
        found = listing.of_sitemap(facts, body, job, secret, limits)
        if found is not None:
            return found
    if facts.is_page:
        return _page(facts, body, job, secret, limits, fallback=fallback)
    return _file(_directed(facts, job), body, job, secret, limits, fallback=fallback)


def read_bare(job: ParseJob, limits: Limits, failure: Failure) -> Facts:
    """What can be known of a body that no parser survives: its type, size and digest."""
    facts, _ = _bare(job, limits)
    return replace(facts, failure=facts.failure or failure)


def _bare(job: ParseJob, limits: Limits) -> tuple[Facts, bytes]:
    undone = undo(job.headers, job.body, limits.max_decoded, url=job.url)
    body, failure = undone.data, undone.failure
    notes: tuple[str, ...] = ()
    if job.truncated:
        notes = (f"body truncated: {job.truncated}",)
        failure = None if failure and failure.kind is FailureKind.BODY_TRUNCATED else failure
        body = encoding.trimmed(body)
    if failure is not None and failure.kind is not FailureKind.BODY_TRUNCATED:
        body = job.body
    kind = media_type(job.headers, body)
    return Facts(kind, len(body), sha256(body).digest(), is_page=kind in PAGES, notes=notes, failure=failure), body


def _directed(facts: Facts, job: ParseJob) -> Facts:
    """``facts`` with what the headers alone say to robots."""
    said = directives((), job.headers, job.now)
    return replace(
        facts, noindex=said.noindex, nofollow=said.nofollow, canonical=linkheader.canonical(job.headers, job.url)
    )


def _file(facts: Facts, body: bytes, job: ParseJob, secret: bytes, limits: Limits, *, fallback: bool) -> Facts:
    """A file that is no page: searchable where there is text in it. Feeds have links, and style sheets."""
    charset = encoding.declared(job.header("content-type"))
    if facts.content_type == "text/css":
        source, charset = css.decode(body, charset)
        parts = ((Via.REQUISITE, url, "", False) for url in css.references(source))
        return _linked(replace(facts, charset=charset), _table(job, None, charset, secret, limits), parts)
    facts = _linked(facts, _table(job, None, "utf-8", secret, limits), ())
    if facts.content_type == "text/plain":
        start = body[: 4 * limits.max_text]
        body = start if len(start) == len(body) else encoding.trimmed(start)
        source, charset = encoding.decode(body, charset or encoding.plainly_utf8(body))
        return _with_text(replace(facts, charset=charset), job, limits, "", fold(source.replace("\r", "\n")))
    if xmltext.is_xml(facts.content_type):
        source, charset = xmltokens.decode(body[: limits.max_listing], charset)
        facts = replace(facts, charset=charset)
        if listing.is_feed(job, facts.content_type):
            facts = listing.with_entries(facts, source, job, secret, limits)
        return _with_text(facts, job, limits, *xmltext.read(source, limits.max_text))
    if facts.content_type == "application/pdf" and not fallback:  # else it has killed two workers already
        found = pdf.read(body, limits)
        return _with_text(replace(facts, notes=facts.notes + found.notes), job, limits, found.title, found.text)
    return facts


def _table(job: ParseJob, base: str | None, charset: str, secret: bytes, limits: Limits) -> LinkTable:
    """The links of a file, begun with what its headers say: those do not depend on ``<base>``."""
    table = LinkTable(Resolver(job.url, base, charset, secret), limits)
    if job.header("link"):
        table.fill(linkheader.references(job.headers), Resolver(job.url, None, "utf-8", secret))
    return table


def _linked(facts: Facts, table: LinkTable, references: Iterable[Reference]) -> Facts:
    """``facts`` with all that a table holds and ``references`` beside it."""
    table.fill(references)
    if facts.nofollow:
        table.distrust()
    return replace(facts, links=table.packed(), fingerprints=table.fingerprints(), notes=(*facts.notes, *table.notes()))


def _with_text(facts: Facts, job: ParseJob, limits: Limits, title: str, text: str) -> Facts:
    text, notes = _cut_text(text, limits)
    return replace(
        facts,
        language=_language("", job),
        title=fold_line(title, _MAX_TITLE),
        text=text,
        text_digest=digest(text) if text else b"",
        notes=facts.notes + notes,
    )


def _page(facts: Facts, body: bytes, job: ParseJob, secret: bytes, limits: Limits, *, fallback: bool) -> Facts:
    try:
        markup, by_fallback = _markup(body, _charset(facts, body, job), fallback=fallback)
    except _REFUSED as error:
        return replace(facts, failure=Failure(FailureKind.PARSER_CRASHED, f"{type(error).__name__}: {error}"[:200]))
    said = directives([meta.content for meta in markup.metas if meta.name in ("robots", NAME)], job.headers, job.now)
    table = _table(job, markup.base, markup.charset, secret, limits)
    table.fill(chain(_refreshes(markup, job), markup.references))
    for base, inner in _frames(markup, base_url(job.url, markup.base), fallback=by_fallback):
        table.fill(inner.references, Resolver(base, None, markup.charset, secret))
    if markup.hides:
        urls = needed(body, content_type=facts.content_type, charset=markup.charset, url=job.url)
        table.fill(((Via.REQUISITE, url, "", False) for url in urls), Resolver(job.url, None, "utf-8", secret))
    if said.nofollow:
        table.distrust()
    named = table.resolver.resolve(markup.canonical) if markup.canonical is not None else None
    text, notes = _cut_text(markup.text, limits)
    return replace(
        facts,
        charset=markup.charset,
        language=_language(markup.language or _pragma(markup, "content-language"), job),
        title=fold_line(markup.title, _MAX_TITLE),
        text=text,
        text_digest=digest(text),
        links=table.packed(),
        fingerprints=table.fingerprints(),
        forms=markup.forms,
        noindex=said.noindex,
        nofollow=said.nofollow,
        canonical=named[0] if named and not named[2] else linkheader.canonical(job.headers, job.url),
        notes=(*facts.notes, *table.notes(), *notes, *_observed(markup, by_fallback=by_fallback)),
    )


def _charset(facts: Facts, body: bytes, job: ParseJob) -> str:
    """What is said of a page's encoding in its header, or before its markup; "" where that is left to the parser."""
    is_xml = facts.content_type == "application/xhtml+xml"
    return encoding.declared(job.header("content-type")) or encoding.hinted(body, is_xml=is_xml)


def _markup(body: bytes, charset: str, *, fallback: bool) -> tuple[Markup, bool]:
    if not fallback:
        try:
            return turbo.read(body, charset), False
        except _REFUSED:
            pass  # rare, and the other parser reads it
    return lexbor.read(body, charset), True


def _frames(markup: Markup, base: str, *, fallback: bool, depth: int = 0) -> Iterator[tuple[str, Markup]]:
    """The documents in attributes of a document, and in theirs, each with its base URL.

    HTML, "fallback base URL": without a base of its own, that of the document around it.
    """
    for source in markup.frames if depth < _DEEPEST else ():
        with suppress(*_REFUSED):
            inner, _ = _markup(source.encode("utf-8", "replace"), "utf-8", fallback=fallback)
            inner_base = base_url(base, inner.base)
            yield inner_base, inner
            yield from _frames(inner, inner_base, fallback=fallback, depth=depth + 1)


def _observed(markup: Markup, *, by_fallback: bool) -> list[str]:
    notes = []
    if by_fallback:
        notes.append("read by the fallback parser")
    if markup.scripts and _is_empty(markup):
        notes.append(EMPTY)
    return notes


def _is_empty(markup: Markup) -> bool:
    shown = len(markup.text) - len(markup.fallback_text)
    if not 0 < shown < _LITTLE:
        return shown <= 0
    links = _link_texts(markup)
    is_waiting = _WAITS.search(markup.text) is not None
    if markup.scripts >= _MANY_SCRIPTS:
        return not links or is_waiting or shown - sum(map(len, links)) < _A_LINE
    return is_waiting and not links


def _link_texts(markup: Markup) -> list[str]:
    """What is written on the links that lead to other pages."""
    return [
        fold_line(text, _LITTLE)
        for via, href, text, _ in markup.references
        if via is not Via.REQUISITE and not href.startswith("#")
    ]


def _cut_text(text: str, limits: Limits) -> tuple[str, tuple[str, ...]]:
    if len(text) <= limits.max_text:
        return text, ()
    return text[: limits.max_text], (f"text cut at {limits.max_text} characters",)


def _pragma(markup: Markup, name: str) -> str:
    return next((meta.content for meta in markup.metas if meta.pragma == name), "")


def _language(declared: str, job: ParseJob) -> str:
    """HTML, "language of a node": a Content-Language with several languages says nothing of the page's."""
    language = declared.strip() or job.header("content-language").strip()
    return "" if "," in language else fold_line(language, _MAX_LANGUAGE)


def _refreshes(markup: Markup, job: ParseJob) -> list[Reference]:
    """The first that is valid counts (HTML: "If document's will declaratively refresh is true, then return")."""
    contents = [job.header("refresh"), *(meta.content for meta in markup.metas if meta.pragma == "refresh")]
    valid = next((found for content in contents if (found := refresh(content)) is not None), None)
    return [(Via.REFRESH, valid[1], "", False)] if valid is not None and valid[1] is not None else []
