"""The frozen records that travel between the parts. Functions take them and return them; nothing changes them.

Those that are made by the million are tuples: a quarter of the time that a frozen dataclass takes.

Times are seconds since 1970 (float), durations seconds, sizes bytes, digests raw bytes.
"""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import NamedTuple

Headers = tuple[tuple[str, str], ...]


class State(IntEnum):
    """The four queues. *Running* is memory only: no row is ever written with it."""

    WAITING = 0
    RUNNING = 1
    FINISHED = 2
    FAILED = 3


class Hold(IntEnum):
    """Whether and why a waiting URL is not leased. The values stand in the database."""

    NO = 0
    PARKED = 1  # until it is released
    AS_FOUND = 2  # the same, but only because of how it was found: a plain link to it is judged anew
    REFUSED = 3  # by the scope or by robots.txt: until these change, or somebody names it


class Via(StrEnum):
    """How a URL was found: what kind of link led to it. The values stand in the database."""

    SEED = "seed"
    REDIRECT = "redirect"
    ANCHOR = "a"
    AREA = "area"
    FRAME = "frame"
    IFRAME = "iframe"
    LINK = "link"  # rel=next, prev, canonical, alternate, contents, up, …
    REFRESH = "refresh"  # <meta http-equiv=refresh>
    REQUISITE = "requisite"  # image, style, script, font, media: what a page needs to be shown
    SITEMAP = "sitemap"  # a file that lists URLs: named by robots.txt, looked for at /sitemap.xml, or part of an index
    LISTED = "listed"  # it stands in a sitemap or a feed
    IMPORT = "import"  # it has a record in an archive that somebody else made
    NEEDED = "needed"  # by a page that is saved for reading offline, or named for that by a person


FOLLOWED = frozenset(
    {
        Via.ANCHOR,
        Via.AREA,
        Via.FRAME,
        Via.IFRAME,
        Via.LINK,
        Via.REFRESH,
        Via.REDIRECT,
        Via.SEED,
        Via.SITEMAP,
        Via.LISTED,
    }
)
"""The kinds that lead to pages; a requisite is recorded and fetched only when asked for."""


class Kind(StrEnum):
    """What a URL is to the crawl: of its own site, of another, or nothing that is a page."""

    INTERNAL = "internal"
    EXTERNAL = "external"
    OTHER = "other"


class FailureKind(StrEnum):
    """Why there is no (whole) answer. The values stand in the database and in ``--json`` output."""

    DNS_NO_NAME = "dns: no such name"
    DNS_FAILURE = "dns: server failure"
    CONNECT_REFUSED = "connection refused"
    CONNECT_TIMEOUT = "time-out of connect"
    FIRST_BYTE_TIMEOUT = "time-out of the first byte"
    TIMEOUT = "time-out of the whole"
    RESET = "connection reset"
    UNREACHABLE = "network unreachable"
    PROXY = "proxy"  # it can't be reached, refuses us, or wants other credentials
    TLS_CERTIFICATE = "tls: bad certificate"
    TLS_PROTOCOL = "tls: protocol"
    NOT_HTTP = "not http"
    HEADERS_TOO_LARGE = "headers too large"
    ADDRESS_REFUSED = "address refused"
    HTTP_CLIENT = "http client error"  # 4xx but 408 and 429
    HTTP_SERVER = "http server error"  # 5xx, 408
    HTTP_BUSY = "http too many requests"  # 429, and 503 with Retry-After
    HTTP_OTHER = "http status"  # a status that is none of the known classes
    BODY_TRUNCATED = "body truncated"
    BODY_TOO_LARGE = "body too large"
    BODY_UNDECODABLE = "body undecodable"
    BODY_BOMB = "decompression bomb"
    REDIRECT_LOOP = "redirect loop"
    REDIRECT_LIMIT = "too many redirects"
    REDIRECT_NOWHERE = "redirect without location"
    PARSER_CRASHED = "parser crashed"
    PARSER_HUNG = "parser hung"
    CRASHED_US = "crashed the crawler"
    ROBOTS_UNREACHABLE = "robots.txt unreachable"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why something was not fetched: its class, in words, and when it was known."""

    kind: FailureKind
    detail: str = ""
    at: float = 0.0
    retry_after: float | None = None  # seconds, as the server asked

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}" if self.detail else str(self.kind)


@dataclass(frozen=True, slots=True)
class Address:
    """An IP address a name resolved to; ``kind`` is policy.addresses' class of it."""

    ip: str
    kind: str


@dataclass(frozen=True, slots=True)
class Request:
    """What the transport is asked to fetch. ``address`` was checked; the connection is pinned to it."""

    url: str
    address: Address
    headers: Headers = ()  # added to the transport's own (User-Agent, Accept, Accept-Encoding); may override them
    certificate: tuple[str, str] | None = None  # of ours, for the server to see: files of it and of its key
    max_body: int = 64 * 1024 * 1024
    timeout: float = 300.0  # of the whole
    connect_timeout: float = 20.0
    first_byte_timeout: float = 60.0
    pause: float | None = 0.0  # before it is sent once more, where a kept connection is closed unanswered; None: never


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and the answer to it, as they went over the wire. 1xx answers and trailers are left out."""

    url: str
    request_head: bytes  # request line and headers as sent, ending in an empty line
    response_head: bytes  # status line and headers as they came, ending in an empty line
    body: bytes  # as it came: transfer and content codings still on
    status: int
    headers: Headers  # names lower-cased, values decoded as Latin-1, in order, repeated ones kept
    address: str
    protocol: str  # "http/1.0", "http/1.1" or "h2"
    started_at: float
    answered_at: float  # the first byte of the answer: the server has surely seen the request by then
    ended_at: float
    truncated: str = ""  # "" | "length" | "time" | "disconnect": the words of WARC-Truncated

    def header(self, name: str, default: str = "") -> str:
        """The first header called ``name`` (lower case)."""
        return next((value for key, value in self.headers if key == name), default)


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a page, in document order; ``url`` is absolute and canonical.

    ``kind`` OTHER means it is no http(s) URL (mailto:, javascript:, …), kept as written, at most 200 characters.
    """

    url: str
    via: Via
    text: str = ""  # anchor text, folded, at most 200 characters
    nofollow: bool = False
    other: bool = False
    lastmod: float | None = None  # when it last changed, as a sitemap or feed says; whole seconds


@dataclass(frozen=True, slots=True)
class Facts:
    """What a parser worker found out about one body. It never holds the only copy of anything."""

    content_type: str  # sniffed: "text/html", "text/plain", …, lower case, without parameters
    size: int  # decoded bytes
    digest: bytes  # sha256 of the decoded body
    charset: str = ""
    language: str = ""
    title: str = ""
    text: str = ""  # the readable text, white space folded within lines
    text_digest: bytes = b""
    links: bytes = b""  # parse.links.pack() of tuple[Link, ...]; one blob a page
    fingerprints: bytes = b""  # of every link in the blob, in its order, 8 bytes each; url.weaken()ed for weak ones
    forms: int = 0
    noindex: bool = False
    nofollow: bool = False
    canonical: str = ""
    is_page: bool = False  # text/html or application/xhtml+xml
    listing: str = ""  # what it is, where it was read as a list of URLs: "sitemap", "sitemap index", "feed", …
    notes: tuple[str, ...] = ()  # "read by the fallback parser", "empty without JavaScript", …
    failure: Failure | None = None  # undecodable, bomb, crashed or hung the parser
    extracted: str = ""  # JSON: what a person's own function found in the page
    derived: str = ""  # another form of the page, where the job asked for one


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write to a range of shards. An old epoch is refused everywhere."""

    first_shard: int
    last_shard: int
    owner: str
    epoch: int
    until: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A URL that was found and may be new."""

    url: str
    via: Via
    depth: int
    parent: int | None = None  # the url id of the page it was found on
    hops: int = 0  # redirects that led here
    fingerprint: int = 0  # 0: not computed yet
    nofollow: bool = False
    other: bool = False
    guessed: bool = False  # nobody named it: it is worth a row only on the host of a seed
    again: bool = False  # it would be asked with other cookies than when it redirected: that it leads back is no loop


class Decision(StrEnum):
    """What scope says of a URL."""

    ADMIT = "admit"
    HOLD = "hold"  # recorded, parked, can be released
    REFUSE = "refuse"  # recorded with its reason, held as well; judged anew with other settings, or released by name


@dataclass(frozen=True, slots=True)
class Verdict:
    """A decision with the reason that is kept: the answer to "why was this not fetched?"."""

    decision: Decision
    reason: str = ""
    kind: Kind = Kind.INTERNAL


class Claim(NamedTuple):
    """A URL (or a host's robots.txt, ``url_id`` 0) that was leased: waiting became running."""

    url_id: int
    url: str
    host_id: int
    origin: str  # scheme://host[:port]
    depth: int = 0
    hops: int = 0
    attempts: int = 0  # tries before this one
    via: Via = Via.ANCHOR
    parent: int | None = None
    template: int = 0  # what it is like, of which no more are under way than it may cost; 0: like nothing

    @property
    def is_robots(self) -> bool:
        return self.url_id == 0


@dataclass(frozen=True, slots=True)
class Settlement:
    """What becomes of a leased URL: running became finished, failed, or waiting again."""

    state: State
    reason: str = ""
    held: Hold = Hold.NO
    due: float | None = None  # waiting: not before; finished: to be visited again
    failure: Failure | None = None
    counts_as_try: bool = True


class HostUpdate(NamedTuple):
    """What a fetch taught about its host."""

    host_id: int
    next_at: float
    failures: int = 0  # in a row
    put_aside: str = ""  # the reason, when the host is given up for now
    robots: "RobotsAnswer | None" = None
    robots_tries: int = 0  # in a row without an answer that means anything
    exempt: str = ""  # a seed's own origin: the class its address first had
    delay: float = 0.0  # the pause between two requests, as known by now


@dataclass(frozen=True, slots=True)
class RobotsAnswer:
    """The rules of one origin as they are kept: the body that was parsed, or what its absence means."""

    body: bytes  # at most 500 KiB; empty when all is allowed
    fetched_at: float
    expires: float
    status: int
    crawl_delay: float | None = None  # seconds that it asks for, not capped


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that one fetch brought: what the writer turns into records and rows, in one transaction with others."""

    claim: Claim
    settlement: Settlement
    host: HostUpdate | None = None
    exchange: Exchange | None = None
    facts: Facts | None = None
    candidates: tuple[Candidate, ...] = ()  # beside the links in facts: redirects, other spellings of a seed


@dataclass(frozen=True, slots=True)
class Batch:
    """A group of outcomes that are committed together, idempotent by (URL, attempt)."""

    outcomes: tuple[Outcome, ...]
    lease: Lease


@dataclass(frozen=True, slots=True)
class Selection:
    """Which URLs a command is about; all given conditions must hold. No condition: all."""

    patterns: tuple[str, ...] = ()  # SQLite GLOB on the whole URL
    reason: str = ""  # part of the reason
    host: str = ""  # hostname


@dataclass(frozen=True, slots=True)
class Command:
    """Something another process asked of this crawl."""

    id: int
    verb: str
    arguments: dict[str, object] | None  # None: they could not be read
    at: float  # when it was asked


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """Where a WARC record lies: never a path."""

    segment: int
    offset: int
    length: int


class Host(NamedTuple):
    """What is known of an origin when its URLs are scheduled."""

    id: int
    origin: str
    next_at: float = 0.0
    failures: int = 0
    put_aside: str = ""
    exempt: str = ""
    robots_expires: float = 0.0  # 0: never asked, or never an answer that means anything
    robots_tries: int = 0
    delay: float | None = None  # the pause between two requests; None: not known yet


@dataclass(frozen=True, slots=True)
class Statistics:
    """An honest snapshot of a frontier. ``waiting`` leaves out what is held and what is running."""

    waiting: int = 0
    running: int = 0
    finished: int = 0
    failed: int = 0
    held: int = 0
    pages: int = 0
    bytes: int = 0
    hosts: int = 0  # with URLs in memory
    ready_hosts: int = 0  # of these, could be asked now
