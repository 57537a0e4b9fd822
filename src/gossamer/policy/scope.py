"""What belongs to the crawl: each URL that is found is admitted, held or refused, with a reason that is kept."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from gossamer.errors import SettingsError
from gossamer.policy.patterns import Patterns
from gossamer.records import Candidate, Decision, Kind, Verdict, Via
from gossamer.settings import Settings
from gossamer.url import origin, registrable_domain

EXTENTS = ("page", "prefix", "host", "domain", "any")

HELD_BY_JUDGE = "held by judge"

REASONS = ("out of scope", "excluded by", "not included", "deeper than", "requisite", "sitemaps are not", HELD_BY_JUDGE)
"""How the reasons begin that a change of the scope can lift."""

MAX_NESTING = 3
"""Sitemap indexes in one another: what the innermost names is read, but no index among it."""

_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.-]{0,19}):")


@dataclass(frozen=True)
class Scope:
    """Where the crawl goes from its seeds (canonical URLs).

    ``extent``: *page* is the seeds alone; *prefix* what lies in a seed's folder or below; *host* the seeds' hosts;
    *domain* all hosts of the domains that somebody registered; *any* the whole web. A host is hostname and port; http and
    https on their own ports are the same host, since a site that is reached by both is one site.

    What a person says last counts most: an ``exclude`` pattern is obeyed for everything, a seed too ("no URLs that match"
    is a promise, and a refused seed is listed with the pattern). ``include``, ``max_depth`` and nofollow do not apply to
    seeds and the redirects of seeds, since something has to be the start, nor to requisites, since a page is not shown
    without them; what is needed for reading offline, or was named for that, may lie anywhere. Raises SettingsError for an
    unknown extent or a bad pattern.
    """

    seeds: tuple[str, ...]
    extent: str = "host"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    max_depth: int | None = None
    requisites: bool = False
    sitemaps: bool = True
    _include: Patterns = field(init=False, repr=False, compare=False)
    _exclude: Patterns = field(init=False, repr=False, compare=False)
    _seeds: frozenset[str] = field(init=False, repr=False, compare=False)
    _hosts: dict[str, str] = field(
        init=False, repr=False, compare=False
    )  # and what is said of URLs outside its prefixes
    _domains: frozenset[str] = field(init=False, repr=False, compare=False)
    _prefixes: frozenset[str] = field(init=False, repr=False, compare=False)
    _longest_prefix: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.extent not in EXTENTS:
            raise SettingsError(f"the scope {self.extent!r} is not known", hint=f"it is one of {', '.join(EXTENTS)}")
        prefixes = frozenset(_folder(url) for url in self.seeds)
        computed = {
            "_include": Patterns(self.include),
            "_exclude": Patterns(self.exclude),
            "_seeds": frozenset(self.seeds),
            "_hosts": _hosts_of(prefixes),
            "_domains": frozenset(_domain(url) for url in self.seeds),
            "_prefixes": prefixes,
            "_longest_prefix": max(map(len, prefixes), default=0),
        }
        for name, value in computed.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, settings: Settings, seeds: Iterable[str]) -> "Scope":
        """The scope that the settings describe."""
        return cls(
            seeds=tuple(dict.fromkeys(seeds)),
            extent=settings.scope,
            include=settings.include,
            exclude=settings.exclude,
            max_depth=settings.max_depth,
            requisites=settings.requisites,
            sitemaps=settings.sitemaps,
        )

    def with_seeds(self, urls: Iterable[str]) -> "Scope":
        """The same scope with more seeds: those a person adds, and the pages that seeds redirect to."""
        added = tuple(dict.fromkeys(url for url in urls if url not in self._seeds))
        return replace(self, seeds=self.seeds + added) if added else self

    def judge(self, candidate: Candidate) -> Verdict:
        """What becomes of a URL that was found; total: whatever the web wrote gets a verdict."""
        if candidate.other:
            return Verdict(Decision.REFUSE, f"not fetched: {_scheme(candidate.url)}", Kind.OTHER)
        url = candidate.url
        if candidate.via is Via.IMPORT:
            return _IMPORTED
        host = _host(url)
        is_start = candidate.via is Via.SEED or url in self._seeds or self._is_redirected_seed(candidate)
        kind = Kind.INTERNAL if is_start or self._is_internal(url, host) else Kind.EXTERNAL
        excluded_by = self._exclude.first_match(url)
        if excluded_by is not None:
            return Verdict(Decision.REFUSE, f"excluded by {excluded_by}", kind)
        if is_start or candidate.via is Via.NEEDED:
            return _ADMITTED[kind]
        if candidate.via is Via.REQUISITE:
            return _ADMITTED[kind] if self.requisites else _REQUISITES[kind]
        if candidate.via is Via.SITEMAP:
            return self._judge_sitemap(candidate, host, kind)
        outside = self._outside(url, host)
        if outside:
            return Verdict(Decision.REFUSE, outside, kind)
        return self._judge_link(candidate, kind)

    def _judge_link(self, candidate: Candidate, kind: Kind) -> Verdict:
        """Of a link that lies within the extent."""
        if self.include and self._include.first_match(candidate.url) is None:
            return Verdict(Decision.REFUSE, "not included by any pattern", kind)
        if candidate.nofollow:
            return Verdict(Decision.HOLD, "nofollow", kind)
        if self.max_depth is not None and candidate.depth > self.max_depth:
            return Verdict(Decision.HOLD, f"deeper than {self.max_depth}", kind)
        return _ADMITTED[kind]

    def _judge_sitemap(self, candidate: Candidate, host: str, kind: Kind) -> Verdict:
        """Of a file that lists URLs: it only helps to find pages, so it may lie outside their folder, at any depth."""
        outside = "" if self.extent == "prefix" and host in self._hosts else self._outside(candidate.url, host)
        if outside:
            return Verdict(Decision.REFUSE, outside, kind)
        if candidate.depth > MAX_NESTING + 1:
            return Verdict(Decision.HOLD, f"in sitemap indexes nested more than {MAX_NESTING} deep", kind)
        if not self.sitemaps:
            return Verdict(Decision.HOLD, "sitemaps are not asked for", kind)
        if self.max_depth == 0:
            return Verdict(Decision.HOLD, "deeper than 0", kind)
        return _ADMITTED[kind]

    def may_guess(self, url: str) -> bool:
        """Whether a sitemap that nobody named is looked for: on the host of a seed, or of what a seed redirects to."""
        return self.sitemaps and _host(url) in self._hosts

    def one_of_many(self, url: str) -> str:
        """The registrable domain of a URL on a host that the domain may have any number of; empty for other hosts.

        The hosts of seeds are none of these, nor the domain itself and its www.
        """
        if self.extent not in ("domain", "any") or _host(url) in self._hosts:
            return ""
        hostname = origin(url).hostname
        domain = registrable_domain(hostname)
        return "" if hostname in (domain, f"www.{domain}") else domain

    def _is_redirected_seed(self, candidate: Candidate) -> bool:
        """example.org that answers from www.example.org is still what was asked for."""
        return candidate.via is Via.REDIRECT and candidate.depth == 0 and _domain(candidate.url) in self._domains

    def _is_internal(self, url: str, host: str) -> bool:
        return host in self._hosts or (self.extent == "domain" and _domain(url) in self._domains)

    def _outside(self, url: str, host: str) -> str:
        """Why a URL lies outside the extent; "" when it does not."""
        if self.extent == "any":
            return ""
        if self.extent == "domain":
            return "" if _domain(url) in self._domains else "out of scope: another domain"
        if host not in self._hosts:
            return "out of scope: another host"
        if self.extent == "page":
            return "out of scope: not one of the given pages"
        return "" if self.extent == "host" or self._is_under_a_prefix(url) else self._hosts[host]

    def _is_under_a_prefix(self, url: str) -> bool:
        rest = _without_scheme(url)
        end = rest.find("/") + 1
        while end and end <= self._longest_prefix:
            if rest[:end] in self._prefixes:
                return True
            end = rest.find("/", end) + 1
        return False


_IMPORTED = Verdict(Decision.HOLD, "imported", Kind.INTERNAL)
"""An archive's own pages belong to the collection, and are not fetched: they are finished in the next transaction."""

_ADMITTED = {kind: Verdict(Decision.ADMIT, "", kind) for kind in Kind}
_REQUISITES = {kind: Verdict(Decision.HOLD, "requisite", kind) for kind in Kind}


def _without_scheme(url: str) -> str:
    return url[url.index("://") + 3 :]


def _host(url: str) -> str:
    """Hostname, and port where the canonical URL has one (it is not the scheme's own)."""
    start = url.index("://") + 3
    end = url.find("/", start)
    return url[start:] if end < 0 else url[start:end]


def _hosts_of(prefixes: Iterable[str]) -> dict[str, str]:
    hosts: dict[str, str] = {}
    for prefix in prefixes:
        host = prefix.partition("/")[0]
        under = "the folder of any seed" if host in hosts else prefix
        hosts[host] = f"out of scope: not under {under}"
    return hosts


def _folder(url: str) -> str:
    """Host and path up to the last slash."""
    path = _without_scheme(url).partition("?")[0]
    return path[: path.rindex("/") + 1]


def _domain(url: str) -> str:
    return registrable_domain(origin(url).hostname)


def _scheme(text: str) -> str:
    """What kind of thing a link is that is no page, in a word that is safe to show."""
    found = _SCHEME.match(text)
    scheme = found[1].lower() if found else "http"
    return "not a web address" if scheme in ("http", "https") else scheme
