"""The one typed table of settings."""

from dataclasses import dataclass, field
from typing import Any


def _setting(default: Any, help: str, *, unit: str = "", trusted: bool = False, local: bool = False) -> Any:
    """A row of the table.

    ``unit``: "s" (durations: 10, 1.5s, 5m, 2h, 1d), "bytes" (sizes: 100, 10k, 64M, 2G) or "".
    ``trusted``: never read from a collection, which may come from a stranger.
    ``local``: does not travel: belongs to one run, is not stored with the collection.
    """
    return field(default=default, metadata={"help": help, "unit": unit, "trusted": trusted, "local": local})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting with its default. Loading, precedence and validation: see below."""

    # how much
    max_urls: int = _setting(1000, "pages to keep in total, also over resumes; 0: no limit")
    max_time: float | None = _setting(None, "stop after this time", unit="s", local=True)
    max_depth: int | None = _setting(None, "links to follow from a seed at the most")
    max_size: int = _setting(64 * 1024 * 1024, "keep at most this much of one body", unit="bytes")
    # where
    scope: str = _setting("host", "what belongs to the crawl: page, prefix, host, domain or any")
    include: tuple[str, ...] = _setting(
        (), "only URLs that match one of these patterns (globs; re: starts a regular expression)"
    )
    exclude: tuple[str, ...] = _setting((), "no URLs that match one of these patterns")
    requisites: bool = _setting(False, "fetch images, styles, scripts and fonts of pages too, from any host")
    # politeness
    delay: float | None = _setting(None, "pause between two requests to a host; unset: 1 s, 0 for loopback", unit="s")
    slow_factor: float = _setting(
        1.0, "the pause is also at least this multiple of the last response time, when delay is not 0"
    )
    max_delay: float = _setting(60.0, "longest pause that Crawl-delay or a slow response may ask for", unit="s")
    max_retry_after: float = _setting(3600.0, "longest pause that Retry-After may ask for", unit="s")
    per_host: int = _setting(1, "fetches at once on one host")
    per_address: int = _setting(8, "connections at once to one address, whatever its names; not for loopback")
    ignore_robots: bool = _setting(False, "do not ask for or obey robots.txt", trusted=True)
    robots_age: float = _setting(86400.0, "robots.txt is asked for again after this time", unit="s")
    # who we are
    user_agent: str = _setting("", "User-Agent; unset: Gossamer's own, with the contact where one is set")
    contact: str = _setting("", "an address or URL that server owners find in our User-Agent")
    header: tuple[str, ...] = _setting(
        (), "extra request headers 'Name: value', sent to the seeds' origins only", trusted=True
    )
    # network
    dns: tuple[str, ...] = _setting((), "DNS servers ADDR[:PORT] instead of the system's", trusted=True)
    allow_private: bool = _setting(False, "also fetch from private, loopback and link-local addresses", trusted=True)
    connect_timeout: float = _setting(20.0, "longest wait for a connection", unit="s")
    first_byte_timeout: float = _setting(60.0, "longest wait for the first byte of an answer", unit="s")
    timeout: float = _setting(300.0, "longest time for one download as a whole", unit="s")
    http2: bool = _setting(True, "use HTTP/2 where a server offers it")
    # downloaders
    downloaders: int = _setting(16, "downloaders to start with")
    max_downloaders: int = _setting(256, "downloaders at the most")
    # failures
    max_tries: int = _setting(4, "tries of one URL before it counts as failed")
    retry_pause: float = _setting(10.0, "pause before the second try; doubles with each further one", unit="s")
    host_failures: int = _setting(8, "failures in a row after which a host is put aside")
    max_redirects: int = _setting(20, "redirects in a row at the most")
    # parsing
    parsers: int = _setting(0, "parser processes; 0: one fewer than processors, at least one")
    parse_timeout: float = _setting(10.0, "longest time to parse one page", unit="s")
    parse_memory: int = _setting(1536 * 1024 * 1024, "memory of one parser process", unit="bytes")
    max_decoded: int = _setting(128 * 1024 * 1024, "longest body after undoing its codings", unit="bytes")
    # archive
    segment_size: int = _setting(1024 * 1024 * 1024, "a WARC file is closed when it reaches this size", unit="bytes")
    segment_age: float = _setting(86400.0, "a WARC file is closed when it is this old", unit="s")
    min_free: int = _setting(512 * 1024 * 1024, "pause when the disk has less room than this", unit="bytes")
    # the program
    log_level: str = _setting("info", "what goes to the log file: debug, info, warning or error", local=True)
