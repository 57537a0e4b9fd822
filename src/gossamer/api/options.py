"""The settings as keyword arguments, for editors and type checkers. Written by tools/document_settings.py."""

from collections.abc import Sequence
from typing import Literal, TypedDict


class Options(TypedDict, total=False):
    """Every setting; durations also as "1.5s" or "5m", sizes also as "64M". None is as good as not given."""

    max_urls: int | None
    max_time: float | str | None
    max_depth: int | None
    max_host_urls: int | None
    max_domain_urls: int | None
    max_size: int | str | None
    scope: Literal["page", "prefix", "host", "domain", "any"] | None
    include: Sequence[str] | None
    exclude: Sequence[str] | None
    sitemaps: bool | None
    requisites: bool | None
    delay: float | str | None
    slow_factor: float | None
    max_delay: float | str | None
    max_retry_after: float | str | None
    per_host: int | None
    per_address: int | None
    ignore_robots: bool | None
    robots_age: float | str | None
    user_agent: str | None
    contact: str | None
    header: Sequence[str] | None
    accept_cookies: bool | None
    cookies: str | None
    cookie_jar: str | None
    credential: Sequence[str] | None
    client_cert: Sequence[str] | None
    dns: Sequence[str] | None
    proxy: str | None
    ca_file: str | None
    limit_rate: int | str | None
    allow_private: bool | None
    connect_timeout: float | str | None
    first_byte_timeout: float | str | None
    timeout: float | str | None
    http2: bool | None
    downloaders: int | None
    max_downloaders: int | None
    body_memory: int | str | None
    max_tries: int | None
    retry_pause: float | str | None
    host_failures: int | None
    max_redirects: int | None
    trap_budget: int | None
    max_url_length: int | None
    max_path_segments: int | None
    parsers: int | None
    parse_timeout: float | str | None
    parse_memory: int | str | None
    max_decoded: int | str | None
    max_links: int | None
    max_text: int | None
    segment_size: int | str | None
    segment_age: float | str | None
    min_free: int | str | None
    log_level: Literal["debug", "info", "warning", "error"] | None
