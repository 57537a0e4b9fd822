"""Everything known about one URL: where it was found, what was judged, each try, where its answers lie."""

from collections.abc import Iterator
from dataclasses import dataclass

import apsw

from gossamer import url as urls
from gossamer.archive.catalogue import Entry, entry
from gossamer.errors import ArchiveError, UsageError
from gossamer.parse.links import unpack
from gossamer.policy import robots

MAX_LINKERS = 20
_MAX_WAY = 100
_MAX_REDIRECTS = 20


@dataclass(frozen=True, slots=True)
class Linker:
    """A page that links to the URL."""

    url: str
    via: str
    text: str
    nofollow: bool


@dataclass(frozen=True, slots=True)
class Try:
    """One try. ``status`` is None where there was no HTTP answer; the place is that of its WARC record."""

    at: float
    outcome: str
    status: int | None = None
    content_type: str = ""
    size: int = 0
    duration: float = 0.0
    address: str = ""
    protocol: str = ""
    canonical: str = ""  # what it says that it is better known by
    notes: tuple[str, ...] = ()
    is_indexed: bool = False
    duplicate_of: str | None = None
    segment: str = ""
    offset: int = 0
    length: int = 0


@dataclass(frozen=True, slots=True)
class HostNote:
    """What holds for the URL's whole host."""

    origin: str
    next_at: float
    failures: int
    put_aside: str
    robots_status: int | None  # None: robots.txt was not asked for yet
    robots_fetched: float | None
    robots_allowed: bool | None
    robots_rule: str


@dataclass(frozen=True, slots=True)
class History:
    """The answer to "why was this fetched, or not?"."""

    entry: Entry
    way: tuple[str, ...]  # from the seed to the page it was first found on
    linkers: tuple[Linker, ...]  # at most MAX_LINKERS, in the order fetched
    redirects: tuple[str, ...]  # where it leads to, hop by hop
    tries: tuple[Try, ...]
    host: HostNote | None


def find(connection: apsw.Connection, url: str) -> int | None:
    """The id of a URL, as it stands in the database."""
    secret = connection.execute("SELECT value FROM meta WHERE name = 'secret'").get
    if not isinstance(secret, bytes):
        raise ArchiveError("the secret of the fingerprints is missing", hint="restore the collection from a copy")
    number = int.from_bytes(urls.fingerprint(url, secret), "little", signed=True)
    query = "SELECT id FROM url WHERE url.id >> 17 IN block AND fingerprint = ? AND url = ?"
    found = connection.execute(query, (number, url)).get
    return found if isinstance(found, int) else None


def meant(connection: apsw.Connection, text: str) -> int | None:
    """The id of the URL that a person means; without a scheme, whichever is known."""
    candidates = [text]
    try:
        url, guessed = urls.typed(text)
    except UsageError:
        pass  # a link that is no web address is known as it was written
    else:
        candidates += [url, f"http{url.removeprefix('https')}"] if guessed else [url]
    return next((url_id for each in candidates if (url_id := find(connection, each)) is not None), None)


def history(connection: apsw.Connection, url_id: int, robots_name: str) -> History:
    """What is known about a URL. ``robots_name``: by which robots.txt speaks of us.

    Looking for the pages that link to it reads the links of every page: the first few come fast, none take a while.
    """
    known = entry(connection, url_id)
    return History(
        entry=known,
        way=_way(connection, url_id),
        linkers=tuple(_linkers(connection, known.url)),
        redirects=_redirects(connection, url_id),
        tries=tuple(sorted([*_answers(connection, url_id), *_attempts(connection, url_id)], key=lambda each: each.at)),
        host=_host_note(connection, url_id, known.url, robots_name),
    )


def _way(connection: apsw.Connection, url_id: int) -> tuple[str, ...]:
    rows = connection.execute(
        "WITH RECURSIVE way(id, url, parent, step) AS (SELECT id, url, parent, 0 FROM url WHERE id = ?"
        " UNION ALL SELECT url.id, url.url, url.parent, step + 1 FROM url JOIN way ON url.id = way.parent"
        " WHERE step < ?) SELECT url FROM way WHERE step > 0 ORDER BY step DESC",
        (url_id, _MAX_WAY),
    )
    return tuple(str(url) for (url,) in rows)


def _linkers(connection: apsw.Connection, url: str) -> Iterator[Linker]:
    """The pages whose newest version links to ``url``."""
    rows = connection.execute(
        "SELECT url.url, blob FROM links JOIN page ON page.id = links.page JOIN url ON url.id = page.url"
        " WHERE instr(blob, CAST(? AS BLOB)) AND NOT EXISTS (SELECT 1 FROM page AS newer"
        " WHERE newer.url = page.url AND newer.attempt > page.attempt AND newer.is_kept = 1)",
        (url,),
    )
    found = 0
    for page, blob in rows:
        for link in unpack(bytes(blob)):
            if link.url == url:
                yield Linker(str(page), link.via, link.text, link.nofollow)
                found += 1
                break
        if found >= MAX_LINKERS:
            break


def _redirects(connection: apsw.Connection, url_id: int) -> tuple[str, ...]:
    rows = connection.execute(
        "WITH RECURSIVE hop(id, step) AS (SELECT ?, 0 UNION ALL SELECT redirect_to, step + 1 FROM hop JOIN page"
        " ON page.id = (SELECT id FROM page WHERE page.url = hop.id ORDER BY attempt DESC LIMIT 1)"
        " WHERE redirect_to IS NOT NULL AND step < ?)"
        " SELECT url.url FROM hop JOIN url ON url.id = hop.id WHERE step > 0 ORDER BY step",
        (url_id, _MAX_REDIRECTS),
    )
    return tuple(str(url) for (url,) in rows)


def _answers(connection: apsw.Connection, url_id: int) -> Iterator[Try]:
    rows = connection.execute(
        "SELECT fetched, ifnull(outcome, ''), status, content_type, size, duration, address, protocol, canonical, notes,"
        " is_indexed, (SELECT url.url FROM page AS first JOIN url ON url.id = first.url WHERE first.id ="
        " page.duplicate_of), ifnull(uri, ''), offset, length FROM page LEFT JOIN attempt USING (url, attempt)"
        " LEFT JOIN segment ON segment.id = segment WHERE page.url = ? ORDER BY attempt",
        (url_id,),
    )
    for at, outcome, status, kind, size, duration, address, protocol, canonical, notes, indexed, first, *place in rows:
        yield Try(
            at,
            str(outcome),
            status,
            str(kind),
            size,
            duration,
            str(address),
            str(protocol),
            str(canonical),
            tuple(str(notes).splitlines()),
            bool(indexed),
            first,
            *place,
        )


def _attempts(connection: apsw.Connection, url_id: int) -> Iterator[Try]:
    """The tries without an answer that was kept."""
    rows = connection.execute(
        "SELECT at, outcome FROM attempt WHERE url = ?1"
        " AND attempt NOT IN (SELECT attempt FROM page WHERE page.url = ?1)",
        (url_id,),
    )
    return (Try(float(str(at)), str(outcome)) for at, outcome in rows)


def _host_note(connection: apsw.Connection, url_id: int, url: str, robots_name: str) -> HostNote | None:
    row = connection.execute(
        "SELECT origin, next_at, failures, put_aside, robots_status, robots_fetched, robots_body"
        " FROM host WHERE id = (SELECT host FROM url WHERE id = ?)",
        (url_id,),
    ).fetchone()
    if row is None:
        return None
    allowed, rule = None, ""
    origin, next_at, failures, put_aside, robots_status, robots_fetched, body = row
    if robots_status is not None:
        match = robots.parse(body or b"").group(robots_name).match(urls.path_and_query(url))
        allowed, rule = match.allowed, match.rule
    return HostNote(origin, next_at, failures, put_aside, robots_status, robots_fetched, allowed, rule)
