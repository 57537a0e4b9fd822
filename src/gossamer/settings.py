"""The one typed table of settings.

Values come from flags, then ``GOSSAMER_*`` environment variables, then the collection's ``gossamer.toml``, then the
user's own file, then the defaults below (``settings_files.load``); what they may look like says ``settings_values``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Literal

Kind = Literal["duration", "size", "whole number", "number", "switch", "text", "list"]


@dataclass(frozen=True, slots=True)
class Setting:
    """A row of the table, as it is documented, parsed and offered as a flag."""

    name: str
    kind: Kind
    default: object
    help: str
    section: str  # heading under which it is shown
    unit: str = ""  # "s" (durations: 10, 1.5s, 5m, 2h, 1d), "bytes" (sizes: 100, 10k, 64M, 2G) or ""
    low: float | None = None  # the range of a number, both ends included
    high: float | None = None
    choices: tuple[str, ...] = ()
    # what a text must look like: "header", "server", "header value", "credential", "certificate", "proxy" or "file"
    form: str = ""
    trusted: bool = False  # never read from a collection, which may come from a stranger
    # from a collection of another machine its value is taken only where that is "at least" or "at most" ``bound`` (None:
    # the default), or "never"; "": whatever it is, it hurts nobody
    elsewhere: Literal["", "at least", "at most", "never"] = ""
    bound: float | None = None
    local: bool = False  # belongs to one run: neither stored with a collection nor read from one
    secret: bool = False  # its value is shown nowhere, also not where it is wrong

    @property
    def flag(self) -> str:
        """Its name on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return "GOSSAMER_" + self.name.upper()

    def is_harmless(self, value: Any) -> bool:
        """Whether a value may come from a stranger's collection."""
        bound: Any = self.default if self.bound is None else self.bound
        match self.elsewhere:
            case "at least":
                return bool(value >= bound)
            case "at most":
                return bool(value <= bound)
            case "never":
                return False
        return True

    @property
    def travels(self) -> bool:
        """Whether it is stored with a collection and read from it."""
        return not (self.trusted or self.local)


def _setting(default: Any, help: str, **row: Any) -> Any:
    """A row of the table; ``row`` are further fields of Setting.

    ``section`` stands at the first row of each and holds for those that follow.
    """
    return field(default=default, repr=not row.get("secret"), metadata={"help": help, **row})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting with its default, in the sections in which they are shown."""

    max_urls: int = _setting(1000, "pages to keep in total, also over resumes; 0: no limit", section="How much", low=0)
    max_time: float | None = _setting(None, "stop after this time", unit="s", local=True, low=0.1)
    max_depth: int | None = _setting(None, "links to follow from a seed at the most", low=0)
    max_host_urls: int = _setting(0, "URLs of one host to fetch at the most; 0: no limit", low=0)
    max_domain_urls: int = _setting(0, "URLs of all hosts of one domain to fetch at the most; 0: no limit", low=0)
    max_size: int = _setting(
        64 * 1024 * 1024, "keep at most this much of one body", unit="bytes", low=1, elsewhere="at most"
    )
    scope: str = _setting(
        "host",
        "what belongs to the crawl: page, prefix, host, domain or any",
        section="Where",
        choices=("page", "prefix", "host", "domain", "any"),
    )
    include: tuple[str, ...] = _setting(
        (), "only URLs that match one of these patterns (globs; re: starts a regular expression)"
    )
    exclude: tuple[str, ...] = _setting((), "no URLs that match one of these patterns")
    sitemaps: bool = _setting(True, "read the sitemaps that robots.txt names, or else /sitemap.xml of the seeds' hosts")
    requisites: bool = _setting(False, "fetch images, styles, scripts and fonts of pages too, from any host")
    delay: float | None = _setting(
        None,
        "pause between two requests to a host; unset: 1 s, 0 for loopback",
        unit="s",
        section="Politeness",
        low=0,
        high=86400,
        elsewhere="at least",
        bound=1,
    )
    slow_factor: float = _setting(
        1.0,
        "the pause is also at least this multiple of the last response time, when delay is not 0",
        low=0,
        high=100,
        elsewhere="at least",
    )
    max_delay: float = _setting(
        60.0,
        "longest pause that Crawl-delay or a slow response may ask for",
        unit="s",
        low=0,
        high=86400,
        elsewhere="at least",
    )
    max_retry_after: float = _setting(
        3600.0, "longest pause that Retry-After may ask for", unit="s", low=0, high=604800, elsewhere="at least"
    )
    per_host: int = _setting(1, "fetches at once on one host", low=1, high=64, elsewhere="at most")
    per_address: int = _setting(
        8,
        "connections at once to one address, whatever its names; not for loopback",
        low=1,
        high=1024,
        elsewhere="at most",
    )
    ignore_robots: bool = _setting(False, "do not ask for or obey robots.txt", trusted=True)
    robots_age: float = _setting(86400.0, "robots.txt is asked for again after this time", unit="s", low=0, high=86400)
    user_agent: str = _setting(
        "",
        "User-Agent; unset: Gossamer's own, with the contact where one is set",
        section="Who we are",
        form="header value",
        elsewhere="never",
    )
    contact: str = _setting(
        "", "an address or URL that server owners find in our User-Agent", form="header value", elsewhere="never"
    )
    header: tuple[str, ...] = _setting(
        (),
        "extra request headers 'Name: value', sent to the seeds' origins only",
        trusted=True,
        form="header",
        secret=True,
    )
    accept_cookies: bool = _setting(True, "take the cookies that servers set, as browsers do, and send them back")
    cookies: str = _setting("", "a cookies.txt file whose cookies are there from the start", trusted=True, form="file")
    cookie_jar: str = _setting(
        "",
        "a cookies.txt file that is read at the start, where it is there, and keeps the cookies for the next run",
        trusted=True,
        form="file",
    )
    credential: tuple[str, ...] = _setting(
        (),
        "what an origin is told so that it knows us: 'ORIGIN basic USER:PASSWORD', 'ORIGIN digest USER:PASSWORD' or"
        " 'ORIGIN bearer TOKEN'",
        trusted=True,
        form="credential",
        secret=True,
    )
    client_cert: tuple[str, ...] = _setting(
        (),
        "a certificate of ours that an origin is shown: 'ORIGIN FILE [KEYFILE]', in PEM format",
        trusted=True,
        form="certificate",
    )
    dns: tuple[str, ...] = _setting(
        (), "DNS servers ADDR[:PORT] instead of the system's", trusted=True, section="Network", form="server"
    )
    proxy: str = _setting(
        "",
        "go through this proxy: http, https, socks5 or socks5h; it looks up names, so addresses are not checked",
        trusted=True,
        form="proxy",
        secret=True,
    )
    ca_file: str = _setting(
        "", "certificates that are trusted beside the system's, in PEM format", trusted=True, form="file"
    )
    limit_rate: int = _setting(0, "bytes a second that all downloads together bring; 0: no limit", unit="bytes", low=0)
    allow_private: bool = _setting(False, "also fetch from private, loopback and link-local addresses", trusted=True)
    connect_timeout: float = _setting(20.0, "longest wait for a connection", unit="s", low=0.1, high=3600)
    first_byte_timeout: float = _setting(
        60.0, "longest wait for the first byte of an answer", unit="s", low=0.1, high=3600
    )
    timeout: float = _setting(300.0, "longest time for one download as a whole", unit="s", low=0.1, high=86400)
    http2: bool = _setting(True, "use HTTP/2 where a server offers it")
    downloaders: int = _setting(
        16, "downloaders to start with", section="Downloaders", low=1, high=4096, elsewhere="at most"
    )
    max_downloaders: int = _setting(256, "downloaders at the most", low=1, high=4096, elsewhere="at most")
    body_memory: int = _setting(
        192 * 1024 * 1024,
        "memory for bodies on their way, being parsed or waiting to be written; large ones wait for each other",
        unit="bytes",
        low=1024 * 1024,
        elsewhere="at most",
    )
    max_tries: int = _setting(
        4, "tries of one URL before it counts as failed", section="Failures", low=1, high=100, elsewhere="at most"
    )
    retry_pause: float = _setting(
        10.0,
        "pause before the second try; doubles with each further one",
        unit="s",
        low=0,
        high=86400,
        elsewhere="at least",
    )
    host_failures: int = _setting(
        8, "failures in a row after which a host is put aside", low=1, high=1000, elsewhere="at most"
    )
    max_redirects: int = _setting(20, "redirects in a row at the most", low=0, high=100)
    trap_budget: int = _setting(
        6,
        "pages without new text before more of their kind are parked as a trap; 0: never",
        section="Traps",
        low=0,
        high=1000,
    )
    max_url_length: int = _setting(2048, "characters of a URL; longer ones are parked", low=100, high=8192)
    max_path_segments: int = _setting(32, "segments of a URL's path; URLs with more are parked", low=1, high=1000)
    parsers: int = _setting(
        0,
        "parser processes; 0: one fewer than processors, at least one",
        section="Parsing",
        low=0,
        high=256,
        elsewhere="never",
    )
    parse_timeout: float = _setting(
        10.0, "longest time to parse one page", unit="s", low=0.1, high=600, elsewhere="at most"
    )
    parse_memory: int = _setting(
        1536 * 1024 * 1024, "memory of one parser process", unit="bytes", low=64 * 1024 * 1024, elsewhere="at most"
    )
    max_decoded: int = _setting(
        128 * 1024 * 1024,
        "longest body after undoing a compression; one that came without is bounded by max_size",
        unit="bytes",
        low=1,
        elsewhere="at most",
    )
    max_links: int = _setting(
        100_000,
        "links of one page; those behind them are not looked at, nor those behind 16 million characters of URLs (where it is"
        " more than 100000: behind 160 for each)",
        low=1,
        high=10_000_000,
        elsewhere="at most",
    )
    max_text: int = _setting(
        4_000_000,
        "characters of one page's text that are kept and searched",
        low=1,
        high=100_000_000,
        elsewhere="at most",
    )
    segment_size: int = _setting(
        1024 * 1024 * 1024,
        "a WARC file is closed when it reaches this size",
        unit="bytes",
        section="Archive",
        low=1024,
        elsewhere="at least",
    )
    segment_age: float = _setting(
        86400.0, "a WARC file is closed when it is this old", unit="s", low=1, elsewhere="at least"
    )
    min_free: int = _setting(
        512 * 1024 * 1024, "pause when the disk has less room than this", unit="bytes", low=0, elsewhere="at least"
    )
    log_level: str = _setting(
        "info",
        "what goes to the log file: debug, info, warning or error",
        local=True,
        section="The program",
        choices=("debug", "info", "warning", "error"),
    )


_KINDS: dict[object, Kind] = {
    bool: "switch",
    int: "whole number",
    int | None: "whole number",
    float: "number",
    float | None: "number",
    str: "text",
    tuple[str, ...]: "list",
}
_UNITS: dict[str, Kind] = {"s": "duration", "bytes": "size"}


def _table() -> dict[str, Setting]:
    table: dict[str, Setting] = {}
    section = ""
    for row in fields(Settings):
        section = row.metadata.get("section", section)
        kind = _UNITS.get(row.metadata.get("unit", ""), _KINDS[row.type])
        table[row.name] = Setting(row.name, kind, row.default, **{**row.metadata, "section": section})
    return table


TABLE: Mapping[str, Setting] = MappingProxyType(_table())
"""Every setting by its name, in the order in which they are shown."""
