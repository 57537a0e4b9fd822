"""Whether a page that says nothing new leads to more of the same: only then can there be endlessly many of its kind.

A list of a thousand pages that say little is no trap, and is crawled whole, though each may lead to the next; a chain
of them, each of which nobody knew before, is one.
"""

import re
from collections.abc import Iterable, Sequence

import apsw

from gossamer import url as urls
from gossamer.archive.database import select_one
from gossamer.frontier.discovery import Born, Discovery, Found
from gossamer.frontier.gate import is_of_families, is_of_hosts
from gossamer.frontier.templates import Template
from gossamer.parse.links import unpack
from gossamer.policy import templates
from gossamer.records import FOLLOWED, Claim, Link, Outcome

_ANCESTORS = 8
"""Pages on the way from a seed that are looked at."""

_GENERATIONS = 4
"""Pages in a row whose paths grow by a number each, as in /1/2/3/4/."""

_LIST = 3
"""URLs of a template that a page names: it lists them, and there are no more than it lists."""

_NEAR = 8

_CACHED = 10_000
_NUMBERS = re.compile(r"(?:/#)+")


class Circles:
    """Runs in the writer thread, inside the caller's transaction."""

    def __init__(self, connection: apsw.Connection, discovery: Discovery) -> None:
        self._connection = connection
        self._discovery = discovery
        self._parents: dict[int, bool] = {}  # pages of others, and whether each leads to more of its own kind

    def is_part(self, template: Template, url: str) -> bool:
        """Whether a URL belongs to a template by its looks."""
        if is_of_hosts(template):
            return f"*.{urls.registrable_domain(urls.origin(url).hostname)}" == template.key
        return key_of(url) == template.key

    def goes_on(self, template: Template, outcome: Outcome, found: Found) -> bool:
        """Whether a page was the first to lead to URLs of its template, or was itself found on such a page."""
        claim = outcome.claim
        born = found.born.get(claim.url_id, ())
        if is_of_families(template):
            return any(each.host_id == claim.host_id for each in born) or self._is_of_barren(claim.parent)
        if any(each.template == template.id for each in born):
            return True
        if self._is_of_endless_line(template, claim.url, claim.parent) or self._is_of_barren(claim.parent):
            return True
        leads_on = self._leads_into_traps(claim, born) or self._leads_on(template, outcome)
        return leads_on and not self._is_listed(template, claim)

    def leads_to(self, url_id: int | None, url: str) -> bool:
        """Whether the newest page of a URL has a link to another URL."""
        return url_id is not None and any(link.url == url for link in self._links(url_id))

    def is_line(self, template: Template, parent: int | None, length: int) -> bool:
        """Whether so many pages of a template were each found on the one before; the last was found on ``parent``."""
        for _ in range(length):
            row = select_one(self._connection, "SELECT url, parent, template FROM url WHERE id = ?", (parent,))
            if row is None or not (row[2] == template.id or self.is_part(template, row[0])):
                return False
            parent = row[1]
        return True

    def _leads_on(self, template: Template, outcome: Outcome) -> bool:
        """Whether a page has links to URLs of its template that are known but were not fetched."""
        return outcome.facts is not None and any(
            link.url != outcome.claim.url and self.is_part(template, link.url) and not self._was_fetched(link.url)
            for link in _followed(outcome.facts.links)
        )

    def _leads_into_traps(self, claim: Claim, born: Sequence[Born]) -> bool:
        """Whether a page was the first to lead to what has cost enough and brought nothing."""
        table = self._discovery.gate.templates
        own = table.find(templates.family(claim.url))
        kinds = [table.get(each.template) for each in born if each.template is not None]
        return any(_is_spent(kind) for kind in kinds) or (bool(born) and own is not None and _is_spent(own))

    def _was_fetched(self, url: str) -> bool:
        row_id = self._discovery.id_of(url)
        row = select_one(self._connection, "SELECT state != 0 FROM url WHERE id = ?", (row_id,))
        return row is not None and bool(row[0])

    def _is_listed(self, template: Template, claim: Claim) -> bool:
        """Whether the page that a URL was found on was the first to name several of its template: URLs found together."""
        query = "SELECT count(*) FROM url WHERE id BETWEEN ? AND ? AND parent = ? AND template = ?"
        near = (claim.url_id - _NEAR, claim.url_id + _NEAR, claim.parent, template.id)
        row = select_one(self._connection, query, near)
        return row is not None and int(row[0]) >= _LIST

    def _is_of_barren(self, url_id: int | None) -> bool:
        """Whether a page is of a template with pages that led on and said nothing."""
        row = select_one(self._connection, "SELECT template FROM url WHERE id = ?", (url_id,))
        return row is not None and row[0] is not None and self._discovery.gate.templates.get(row[0]).budget.barren > 0

    def _is_of_endless_line(self, template: Template, url: str, parent: int | None) -> bool:
        numbered = _NUMBERS.sub("/#", key_of(url) or "")
        generations = 0
        for _ in range(_ANCESTORS):
            row = select_one(self._connection, "SELECT url, parent FROM url WHERE id = ?", (parent,))
            if row is None:
                return False
            if self.is_part(template, row[0]) or self._is_endless(int(parent or 0), row[0]):
                return True
            generations += _NUMBERS.sub("/#", key_of(row[0]) or "?") == numbered
            if generations >= _GENERATIONS:
                return True
            parent = row[1]
        return False

    def _is_endless(self, url_id: int, url: str) -> bool:
        """Whether a page on the way is one of a chain that has not shown its worth."""
        key = key_of(url)
        if key is None:
            return False
        own = self._discovery.gate.templates.find(key)
        if own is not None and own.budget.is_earning:
            return False
        known = self._parents.get(url_id)
        if known is None:
            known = any(link.url != url and key_of(link.url) == key for link in self._links(url_id))
            self._parents[url_id] = known
            if len(self._parents) > _CACHED:
                self._parents.clear()
        return known

    def _links(self, url_id: int) -> Iterable[Link]:
        query = (
            "SELECT blob FROM links JOIN page ON page.id = links.page WHERE page.url = ? ORDER BY page.id DESC LIMIT 1"
        )
        row = select_one(self._connection, query, (url_id,))
        return _followed(row[0]) if row is not None else ()


def _is_spent(template: Template) -> bool:
    return template.budget.is_closed and not template.budget.novel


def _followed(blob: bytes) -> Iterable[Link]:
    """The links of a page that are followed."""
    return (link for link in unpack(blob) if link.via in FOLLOWED and not (link.other or link.nofollow))


def key_of(url: str) -> str | None:
    """The key of a URL's own template."""
    if not url.startswith(("http://", "https://")):
        return None
    bare = templates.without_session(url)
    return templates.template(bare[0] if bare is not None else url)
