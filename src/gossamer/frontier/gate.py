"""Whether a URL that the scope admits may be fetched: traps, templates that brought nothing new, budgets of hosts.

A URL is governed by at most one template:

    *.example.org              hosts of a domain that have shown nothing yet (scope domain or any)
    example.org?sid            variants: another URL is the same but for these parameters; judged by that one's text
    example.org/n/#            its own: what differs in nothing but numbers and ids; judged by the texts of the others
    example.org/n/*            what was found on pages of a family that said nothing new; judged by the family's texts

The first URL of a template of the last kind is free and only remembered in memory, so that the many real URLs with a
number that nothing resembles cost no row.
"""

from collections.abc import Callable
from typing import NamedTuple

import apsw

from gossamer import url as urls
from gossamer.archive.database import select_one
from gossamer.frontier.budgets import HostBudgets
from gossamer.frontier.templates import Template, TemplateTable
from gossamer.policy import templates
from gossamer.policy.scope import Scope
from gossamer.policy.traps import TrapRules, trap
from gossamer.records import Candidate, Hold, Via

TRUSTED_AFTER = 2
"""Pages with news after which a host of many is one that somebody made."""

_ONCE = 65_536
TRUSTED = frozenset({Via.REQUISITE, Via.NEEDED, Via.SITEMAP, Via.LISTED})
"""Named by who made the site, or needed to show a page: they are what they look like."""


class Admission(NamedTuple):
    """What the gate says of a URL."""

    held: Hold = Hold.NO
    reason: str = ""
    template: int | None = None
    is_plain: bool = False  # let in, and nothing like the pages of a trap
    stands_for: str = ""  # the URL without its session id, which it is the first of


ADMITTED = Admission()
_PLAIN = Admission(is_plain=True)


class Gate:
    """Runs in the writer thread, inside the caller's transaction. ``row_of``: the id of a known URL."""

    def __init__(
        self, connection: apsw.Connection, rules: TrapRules, row_of: Callable[[str], int | None], secret: bytes
    ) -> None:
        self._connection = connection
        self.rules = rules
        self._row_of = row_of
        self._secret = secret
        self.templates = TemplateTable(connection, rules.budget)
        self._budgets = HostBudgets(connection, rules)
        self._once: set[int] = set()  # hashes of keys that were met once
        self._once_before: set[int] = set()  # and of some that were met before these
        self._trusted: set[int] = set()  # hosts that are none of many, or have shown enough

    def ask(self, candidate: Candidate, host_id: int, scope: Scope) -> Admission:
        """Whether a URL that is about to become a row may be fetched."""
        if candidate.via is Via.SEED or candidate.depth == 0:
            return ADMITTED
        reason = self._budgets.over(host_id)
        if not reason and candidate.via not in TRUSTED:
            reason = trap(candidate.url, self.rules)
        if reason:
            return Admission(Hold.PARKED, reason)
        if candidate.via in TRUSTED or not self.rules.budget:
            return ADMITTED if candidate.via is Via.REQUISITE else _PLAIN
        return self._judge(candidate.url, host_id, scope)

    def _judge(self, url: str, host_id: int, scope: Scope) -> Admission:
        domain = self.unknown_host_of(url, host_id, scope)
        if domain:
            return self._by(self._template(f"*.{domain}"))
        bare = templates.without_session(url)
        if bare is not None:
            if self.base_of(url) is not None:
                return self._by(self._template(variants_of(url, bare[1])))
            return self._as(bare[0], bare[0])
        return self._as(url, "")

    def _as(self, url: str, stands_for: str) -> Admission:
        """By the template of a URL's own, where there are others like it."""
        key = templates.template(url)
        if key is None:
            return Admission(stands_for=stands_for) if stands_for else _PLAIN
        own = self.templates.look_up(key)
        variant = self._variant(url)
        if own is None and self._is_first(key):
            if variant is not None:
                return self._by(variant)
            return Admission(stands_for=stands_for) if stands_for else ADMITTED
        if own is None:
            own = self.templates.make(key, variant.budget.credit if variant is not None else None)
        if variant is not None and variant.budget.is_closed and not own.budget.is_proven:
            return self._by(variant)
        return self._by(own, stands_for)

    def _variant(self, url: str) -> Template | None:
        """Where the same URL without its query is known: the template of all URLs of the host with these parameters."""
        bare = templates.without_query(url)
        if bare is None or self._row_of(bare[0]) is None:
            return None
        return self._template(variants_of(url, bare[1]))

    def _is_first(self, key: str) -> bool:
        number = hash(key)
        if number in self._once or number in self._once_before:
            return False
        self._once.add(number)
        if len(self._once) > _ONCE:
            self._once, self._once_before = set(), self._once
        return True

    def _template(self, key: str) -> Template:
        return self.templates.look_up(key) or self.templates.make(key)

    def _by(self, template: Template, stands_for: str = "") -> Admission:
        held, reason = (Hold.PARKED, closed_because(template)) if template.budget.is_closed else (Hold.NO, "")
        return Admission(held, reason, template.id, False, stands_for)

    # --- hosts and variants

    def unknown_host_of(self, url: str, host_id: int, scope: Scope) -> str:
        """The domain of a host that is one of many and has shown nothing yet; empty for all others."""
        if host_id in self._trusted:
            return ""
        domain = scope.one_of_many(url)
        if not domain:  # nor will it be: the hosts of seeds only get more
            self._trusted.add(host_id)
            return ""
        news = select_one(self._connection, "SELECT news FROM host WHERE id = ?", (host_id,))
        if news is not None and news[0] >= TRUSTED_AFTER:
            self._trusted.add(host_id)
            return ""
        return domain

    def base_of(self, url: str) -> int | None:
        """The URL that another is a variant of: the same without its session id, or else without its query."""
        session = templates.without_session(url)
        if session is None:
            bare = templates.without_query(url)
            return self._row_of(bare[0]) if bare is not None else None
        known = self._row_of(session[0])
        if known is not None:
            return known
        row = select_one(self._connection, "SELECT url FROM essence WHERE fingerprint = ?", (self._key(session[0]),))
        return None if row is None else int(row[0])

    def remember(self, bare: str, url_id: int) -> None:
        """A URL is the first of those that are the same but for their session ids."""
        self._connection.execute("INSERT OR IGNORE INTO essence VALUES (?, ?)", (self._key(bare), url_id))

    def _key(self, url: str) -> int:
        return int.from_bytes(urls.fingerprint(url, self._secret), "little", signed=True)

    def let_in(self, host_id: int) -> None:
        """Count a URL that may be fetched."""
        self._budgets.count(host_id)


def variants_of(url: str, names: str) -> str:
    """The key of a host's URLs with some parameters."""
    return f"{urls.origin(url).host}?{names}"


def is_of_variants(template: Template) -> bool:
    """Whether a template is judged by the texts of the URLs that its own are variants of."""
    return "/" not in template.key.partition("?")[0] and not is_of_hosts(template)


def is_of_families(template: Template) -> bool:
    """Whether a template holds what was found on pages without news."""
    return template.key.endswith(("/*", "?*"))


def is_of_hosts(template: Template) -> bool:
    """Whether a template holds the hosts of a domain."""
    return template.key.startswith("*.")


def closed_because(template: Template) -> str:
    """Why the URLs of a template are held that has no credit left."""
    return f"trap: pages of {template.key} brought no new text"
