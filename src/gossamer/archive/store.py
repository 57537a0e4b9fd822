"""The page tables: how one fetched version becomes rows. Every function runs inside the caller's transaction."""

from collections.abc import Iterable
from dataclasses import dataclass

import apsw

from gossamer.archive import index
from gossamer.archive.segments import Segment
from gossamer.parse.markup import EMPTY
from gossamer.records import Exchange, Facts, Outcome, RecordPlace, RobotsAnswer, State, Via

DESCRIPTION = 200
"""Characters of text that describe a page."""


@dataclass(frozen=True, slots=True)
class Original:
    """The first page with the same bytes as another."""

    page_id: int
    url: str
    fetched: float
    payload_digest: bytes


@dataclass(frozen=True, slots=True)
class Stored:
    """Where an exchange went, and what its rows must say of it."""

    place: RecordPlace
    page_id: int  # that its row will have; 0: it will have none
    payload_digest: bytes
    digest: bytes | None  # of the decoded body; None where that is not content (errors, redirects)
    duplicate_of: int | None = None


def original_of(connection: apsw.Connection, digest: bytes, url_id: int) -> Original | None:
    """The first kept page with these bytes, unless it is a version of the same URL."""
    row = connection.execute(
        "SELECT page.id, url.url, fetched, payload_digest, url.id FROM page JOIN url ON url.id = page.url"
        " WHERE digest = ? AND is_kept = 1 ORDER BY page.id LIMIT 1",
        (digest,),
    ).fetchone()
    return None if row is None or row[4] == url_id else Original(*row[:4])


def duplicates_before(connection: apsw.Connection, digest: bytes, host_id: int, page_id: int, at_most: int) -> int:
    """How many duplicates with these bytes a host had before a page, up to a limit."""
    rows = connection.execute(
        "SELECT 1 FROM page JOIN url ON url.id = page.url WHERE digest = ? AND is_kept = 1 AND duplicate_of IS NOT NULL"
        " AND url.host = ? AND page.id < ? LIMIT ?",
        (digest, host_id, page_id, at_most),
    )
    return len(rows.fetchall())


def insert_page(connection: apsw.Connection, outcome: Outcome, stored: Stored, redirect_to: int | None) -> None:
    """The row of a fetched version; `insert_contents` has the rest of it."""
    exchange, facts, page_id = outcome.exchange, outcome.facts, stored.page_id
    assert exchange is not None
    connection.execute(
        "INSERT INTO page (id, url, attempt, fetched, status, content_type, charset, language, title, description, size,"
        " wire_size, duration, digest, payload_digest, text_digest, duplicate_of, redirect_to, canonical, etag,"
        " last_modified, address, protocol, truncated, notes, is_page, is_kept, is_indexed, segment, offset, length)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            page_id,
            outcome.claim.url_id,
            outcome.claim.attempts + 1,
            exchange.started_at,
            exchange.status,
            *_fact_columns(facts, exchange),
            len(exchange.body),
            exchange.ended_at - exchange.started_at,
            stored.digest,
            stored.payload_digest,
            (facts.text_digest or None) if facts else None,
            stored.duplicate_of,
            redirect_to,
            facts.canonical if facts else "",
            exchange.header("etag"),
            exchange.header("last-modified"),
            exchange.address,
            exchange.protocol,
            exchange.truncated,
            "\n".join(_notes(facts)) if facts else "",
            facts.is_page if facts else False,
            is_kept(outcome),
            _is_indexed(outcome),
            stored.place.segment,
            stored.place.offset,
            stored.place.length,
        ),
    )


def insert_contents(connection: apsw.Connection, pages: Iterable[tuple[int, Outcome]]) -> None:
    """Links, texts and index entries of pages by their ids: those of a group, of one kind after the other, cost less."""
    read = [(page_id, outcome, outcome.facts) for page_id, outcome in pages if outcome.facts is not None]
    connection.executemany(
        "INSERT INTO links VALUES (?, ?)", [(page_id, facts.links) for page_id, _, facts in read if facts.links]
    )
    connection.executemany(
        "INSERT INTO extracted VALUES (?, ?)",
        [(page_id, facts.extracted) for page_id, _, facts in read if facts.extracted],
    )
    entries = [
        index.Entry(page_id, facts.title, outcome.exchange.url, facts.text)
        for page_id, outcome, facts in read
        if outcome.exchange is not None and _is_indexed(outcome)
    ]
    index.insert(connection, entries)


def _is_indexed(outcome: Outcome) -> bool:
    facts = outcome.facts
    return facts is not None and bool(facts.text or facts.title) and not facts.noindex and is_kept(outcome)


def _notes(facts: Facts) -> tuple[str, ...]:
    """What a person should know of a page; what is behind forms is left out of the crawl."""
    return (
        *facts.notes,
        *(["noindex: it is not searched"] if facts.noindex else []),
        *(["nofollow: its links are not followed"] if facts.nofollow else []),
        *(["1 form" if facts.forms == 1 else f"{facts.forms} forms"] if facts.forms else []),
    )


def leads_back(connection: apsw.Connection, target: int, url_id: int, at_most: int) -> bool:
    """Whether the redirects that were met when ``target`` was fetched lead to ``url_id``."""
    at: int | None = target
    for _ in range(at_most):
        if at is None or at == url_id:
            break
        row = connection.execute(
            "SELECT redirect_to FROM page WHERE url = ? ORDER BY attempt DESC LIMIT 1", (at,)
        ).fetchone()
        at = row[0] if row is not None else None
    return at == url_id


def _fact_columns(facts: Facts | None, exchange: Exchange) -> tuple[str, str, str, str, str, int]:
    if facts is None:
        return media_type(exchange), "", "", "", "", len(exchange.body)
    description = " ".join(facts.text[: DESCRIPTION * 2].split())[:DESCRIPTION]
    return facts.content_type, facts.charset, facts.language, facts.title, description, facts.size


def media_type(exchange: Exchange) -> str:
    """The Content-Type of an answer without its parameters, lower case; empty when there is none."""
    return exchange.header("content-type").partition(";")[0].strip().lower()


def is_kept(outcome: Outcome) -> bool:
    """Whether an outcome counts for --max-urls: a success whose body is content, and does not only tell of it."""
    is_page = outcome.facts is not None and outcome.facts.is_page
    return is_success(outcome) and (is_page or outcome.claim.via is not Via.SITEMAP)


def is_empty(outcome: Outcome) -> bool:
    """Whether a page that is kept shows next to nothing without JavaScript."""
    return outcome.facts is not None and EMPTY in outcome.facts.notes and is_kept(outcome)


def is_success(outcome: Outcome) -> bool:
    """Whether a URL was asked for and a body came that can be used."""
    exchange = outcome.exchange
    return exchange is not None and 200 <= exchange.status < 300 and outcome.settlement.state is State.FINISHED


def save_robots(connection: apsw.Connection, host_id: int, answer: RobotsAnswer) -> None:
    """Keep a host's robots.txt over a restart."""
    connection.execute(
        "UPDATE host SET robots_status = ?, robots_body = ?, robots_fetched = ?, robots_expires = ?, crawl_delay = ?"
        " WHERE id = ?",
        (answer.status, answer.body, answer.fetched_at, answer.expires, answer.crawl_delay, host_id),
    )


def load_robots(connection: apsw.Connection, host_id: int) -> RobotsAnswer | None:
    """The robots.txt that is kept for a host."""
    row = connection.execute(
        "SELECT robots_body, robots_fetched, robots_expires, robots_status, crawl_delay FROM host WHERE id = ?",
        (host_id,),
    ).fetchone()
    return None if row is None or row[3] is None else RobotsAnswer(row[0] or b"", *row[1:])


def insert_record(connection: apsw.Connection, place: RecordPlace, url: str, what: str) -> None:
    """The row of an archived answer that is no version of a URL: a robots.txt."""
    connection.execute(
        "INSERT INTO record VALUES (?, ?, ?, ?, ?)", (place.segment, place.offset, place.length, url, what)
    )


def save_segment(connection: apsw.Connection, segment: Segment) -> None:
    """What is known of a WARC file: how many bytes of it are durable, and whether it is still written to."""
    connection.execute(
        "INSERT INTO segment VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET bytes = excluded.bytes,"
        " state = excluded.state",
        (segment.id, segment.uri, segment.bytes, "sealed" if segment.sealed else "open", segment.opened),
    )


def load_segments(connection: apsw.Connection) -> list[Segment]:
    """The WARC files of the collection, oldest first."""
    rows = connection.execute("SELECT id, uri, bytes, state = 'sealed', opened FROM segment ORDER BY id")
    return [Segment(number, uri, size, bool(sealed), opened) for number, uri, size, sealed, opened in rows]
