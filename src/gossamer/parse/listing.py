"""From a file that lists URLs to the facts that the crawl needs of it: unpacked, decoded, its entries as links."""

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

from gossamer.parse import encoding, xmltokens
from gossamer.parse.codings import DECODERS, DECODING_ERRORS
from gossamer.parse.job import Limits, ParseJob
from gossamer.parse.links import Row, distrust, pack_rows, row
from gossamer.parse.resolve import Resolver, base_url
from gossamer.parse.sitemap import Entry, Listing, read
from gossamer.parse.usual import WELL_KNOWN
from gossamer.records import Facts, Via
from gossamer.url import path_and_query, weaken

_GZIP = b"\x1f\x8b"
_LAYERS = 2
_FEED_TYPES = frozenset({"application/rss+xml", "application/atom+xml", "application/rdf+xml"})


def of_sitemap(facts: Facts, body: bytes, job: ParseJob, secret: bytes, limits: Limits) -> Facts | None:
    """The facts of a file that was announced as a sitemap: its links, without text; None when it is a page instead.

    A site that answers /sitemap.xml with a page answers so to anything: that is none. What the headers of a sitemap say
    to robots is about the file; its URLs are listed to be visited.
    """
    body, is_cut = _unpacked(body, limits.max_listing)
    source, charset = xmltokens.decode(body, encoding.declared(job.header("content-type")))
    listing = read(source, limits, job.now, announced=True)
    if listing is None and facts.is_page and path_and_query(job.url) != WELL_KNOWN:
        return None
    facts = replace(facts, is_page=False, charset=charset)
    if listing is None:
        return facts
    return _with_links(facts, replace(listing, is_cut=listing.is_cut or is_cut), job, secret, limits)


def is_feed(job: ParseJob, content_type: str) -> bool:
    """Whether an XML file may be read as a feed or sitemap, if its root is one: not what a page only shows or runs."""
    return job.via not in (Via.REQUISITE, Via.NEEDED) or content_type in _FEED_TYPES


def with_entries(facts: Facts, source: str, job: ParseJob, secret: bytes, limits: Limits) -> Facts:
    """``facts`` with the links of an XML file, where it is a feed or a sitemap."""
    listing = read(source, limits, job.now, announced=False)
    return facts if listing is None else _with_links(facts, listing, job, secret, limits)


def _unpacked(body: bytes, limit: int) -> tuple[bytes, bool]:
    """The contents of ``sitemap.xml.gz``, whatever type it has; of what is broken or too long, the beginning.

    Where a server compressed a packed file once more for the way, that may be undone or not: it calls both gzip.
    """
    is_cut = False
    for _ in range(_LAYERS):
        if body.startswith(_GZIP):
            body, cut_here = _unzipped(body, limit)
            is_cut = is_cut or cut_here
    return body[:limit], is_cut or len(body) > limit


def _unzipped(body: bytes, limit: int) -> tuple[bytes, bool]:
    parts, size = [], 0
    try:
        for part in DECODERS["gzip"](body):
            parts.append(part)
            size += len(part)
            if size > limit:
                break
    except (EOFError, *DECODING_ERRORS):
        return b"".join(parts), True
    return b"".join(parts)[:limit], size > limit


def _with_links(facts: Facts, listing: Listing, job: ParseJob, secret: bytes, limits: Limits) -> Facts:
    rows, fingerprints, is_full = _resolved(listing.entries, job.url, secret, limits)
    rows = list(map(distrust, rows)) if facts.nofollow else rows
    notes = [f"{listing.kind}: {len(rows)} URLs"]
    if listing.is_cut or is_full:
        notes.append("not all of its entries were read")
    if unusable := 0 if is_full else len(listing.entries) - len(rows):
        notes.append(f"{unusable} entries that are no web addresses, or repeated")
    return replace(
        facts,
        listing=listing.kind,
        links=pack_rows(rows) if rows else b"",
        fingerprints=b"".join(map(weaken, fingerprints) if facts.nofollow else fingerprints),
        notes=(*facts.notes, *notes),
    )


def _resolved(entries: Iterable[Entry], url: str, secret: bytes, limits: Limits) -> tuple[list[Row], list[bytes], bool]:
    """The entries that are http(s) URLs, each once; and whether there are too many of them."""
    found: dict[bytes, Row] = {}
    characters = 0
    bases: tuple[str, ...] = ()
    resolver = Resolver(url, None, "utf-8", secret)
    for entry in entries:
        if entry.bases != bases:
            bases, resolver = entry.bases, Resolver(reduce(base_url, entry.bases, url), None, "utf-8", secret)
        resolved = resolver.resolve(entry.url)
        if resolved is None or resolved[2] or resolved[1] in found:
            continue
        target, fingerprint, _ = resolved
        characters += len(target)
        if characters > limits.max_link_characters:
            return list(found.values()), list(found), True
        found[fingerprint] = row(entry.via, target, "", False, False, entry.lastmod)
    return list(found.values()), list(found), False
