"""Whether a page that says nothing new leads to more of the same: only then can there be endlessly many of its kind.

A list of a thousand pages that say little is no trap, and is crawled whole; a chain of them is one.
"""

import re
from collections.abc import Iterable

import apsw

from gossamer import url as urls
from gossamer.archive.database import select_one
from gossamer.frontier.discovery import Discovery
from gossamer.frontier.gate import is_of_hosts
from gossamer.frontier.templates import Template
from gossamer.parse.links import unpack
from gossamer.policy import templates
from gossamer.records import FOLLOWED, Link, Outcome

_ANCESTORS = 8
"""Pages on the way from a seed that are looked at."""

_GENERATIONS = 4
"""Pages in a row whose paths grow by a number each, as in /1/2/3/4/."""

_CACHED = 10_000
_NUMBERS = re.compile(r"(?:/#)+")


class Circles:
    """Runs in the writer thread, inside the caller's transaction."""

    def __init__(self, connection: apsw.Connection, discovery: Discovery) -> None:
        self._connection = connection
        self._discovery = discovery
        self._parents: dict[int, bool] = {}  # pages of others, and whether each leads to more of its own kind

    def is_part(self, template: Template, url: str) -> bool:
        """Whether a URL belongs to a template."""
        if is_of_hosts(template):
            return f"*.{urls.registrable_domain(urls.origin(url).hostname)}" == template.key
        return key_of(url) == template.key

    def goes_on(self, template: Template, outcome: Outcome) -> bool:
        """Whether a page leads to URLs of its template that were not fetched, or was reached through such a page."""
        claim = outcome.claim
        if outcome.facts is not None and self._leads_on(template, claim.url, unpack(outcome.facts.links)):
            return True
        return self._is_of_endless_line(template, claim.url, claim.parent)

    def is_line(self, template: Template, parent: int | None, length: int) -> bool:
        """Whether so many pages of a template were each found on the one before; the last was found on ``parent``."""
        for _ in range(length):
            row = select_one(self._connection, "SELECT url, parent FROM url WHERE id = ?", (parent,))
            if row is None or not self.is_part(template, row[0]):
                return False
            parent = row[1]
        return True

    def _leads_on(self, template: Template, url: str, links: Iterable[Link]) -> bool:
        return any(
            link.via in FOLLOWED
            and not (link.other or link.nofollow)
            and link.url != url
            and self.is_part(template, link.url)
            and not self._was_fetched(link.url)
            for link in links
        )

    def _was_fetched(self, url: str) -> bool:
        row_id = self._discovery.id_of(url)
        if row_id is None:
            return False
        row = select_one(self._connection, "SELECT state != 0 FROM url WHERE id = ?", (row_id,))
        return row is not None and bool(row[0])

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
        if own is not None and own.budget.is_proven:
            return False
        known = self._parents.get(url_id)
        if known is None:
            known = any(link.url != url and key_of(link.url) == key for link in self._links(url_id))
            self._parents[url_id] = known
            if len(self._parents) > _CACHED:
                del self._parents[next(iter(self._parents))]
        return known

    def _links(self, url_id: int) -> Iterable[Link]:
        query = (
            "SELECT blob FROM links JOIN page ON page.id = links.page WHERE page.url = ? ORDER BY page.id DESC LIMIT 1"
        )
        row = select_one(self._connection, query, (url_id,))
        return (
            link
            for link in (unpack(row[0]) if row is not None else ())
            if link.via in FOLLOWED and not (link.other or link.nofollow)
        )


def key_of(url: str) -> str | None:
    """The key of a URL's own template."""
    if not url.startswith(("http://", "https://")):
        return None
    bare = templates.without_session(url)
    return templates.template(bare[0] if bare is not None else url)
