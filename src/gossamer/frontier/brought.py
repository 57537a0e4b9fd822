"""What a page brought: new text, pictures, pages of another kind, or nothing but more of its own."""

import zlib
from collections.abc import Iterable
from urllib.parse import unquote_plus

import apsw

from gossamer.archive import index, store
from gossamer.archive.database import select, select_one
from gossamer.frontier.circles import Circles
from gossamer.frontier.discovery import Discovery, Found
from gossamer.frontier.gate import is_of_families, is_of_hosts, is_of_variants
from gossamer.frontier.lines import Lines
from gossamer.frontier.templates import Template
from gossamer.parse.links import unpack_last
from gossamer.parse.sketch import Sketch, is_another_text
from gossamer.policy import templates
from gossamer.policy.novelty import News
from gossamer.records import Facts, Outcome

_COPIES = 50
"""Pages with the same text that are looked at."""

_LINKS = 60
"""Links of a page whose addresses are looked for in its text: the last, for the first are those of the whole site."""


class Brought:
    """Runs in the writer thread, inside the caller's transaction."""

    def __init__(self, connection: apsw.Connection, discovery: Discovery, circles: Circles) -> None:
        self._connection = connection
        self._discovery = discovery
        self._gate = discovery.gate
        self._circles = circles
        self._lines = Lines()

    def by(self, template: Template, outcome: Outcome, place: store.Stored | None, found: Found) -> News:
        """What a URL of a template brought."""
        facts = outcome.facts
        if not store.is_success(outcome) or facts is None or not facts.is_page:
            return self._by_no_page(template, outcome, place, found)
        if is_of_families(template):
            return self._by_found_on_barren(template, outcome, facts, found)
        is_copy = self._is_known_text(template, outcome, facts)
        is_news = not is_copy and self._is_news(template, outcome, facts)
        base = None if template.budget.is_proven else self._base_text(outcome)
        says_more = base is None or is_another_text(facts.text, base, templates.echoed(outcome.claim.url))
        if is_news and says_more:
            return News.SOME
        if outcome.claim.url_id in found.pictured or outcome.claim.url_id in found.plain:
            return News.OTHER
        if is_of_variants(template) or not says_more:
            return News.NONE
        if self._circles.goes_on(template, outcome, found):
            return News.NONE
        return News.COPY if is_copy and template.budget.judged else News.LEAF

    def says_something(self, outcome: Outcome, facts: Facts) -> bool:
        """Whether the text of a page that is no part of a template is new to its family; the first one is."""
        if self._lines.are_new(templates.family(outcome.claim.url), facts.text):
            return True
        family = self._gate.templates.family_of(outcome.claim.url)
        if self._is_known_text(family, outcome, facts):
            return False
        is_first = not len(family.known)
        return self._is_new_to((family,), outcome, facts) or is_first

    def _by_found_on_barren(self, template: Template, outcome: Outcome, facts: Facts, found: Found) -> News:
        if self._lines.are_new(template.key, facts.text):
            return News.SOME
        is_copy = self._is_known_text(template, outcome, facts)
        if not is_copy and self._is_new_to((template,), outcome, facts):
            return News.SOME
        if outcome.claim.url_id in found.pictured:
            return News.OTHER
        if self._circles.goes_on(template, outcome, found):
            return News.NONE
        return News.COPY if is_copy else News.LEAF

    def _is_news(self, template: Template, outcome: Outcome, facts: Facts) -> bool:
        """Whether a text is new to a template and to its family; it is known from now on.

        Of a template that is known to be good, a page with many new lines needs no close look.
        """
        if self._lines.are_new(template.key, facts.text) and template.budget.is_proven:
            return True
        family = self._gate.templates.family_of(outcome.claim.url)
        is_first = not (len(template.known) or len(family.known))
        return self._is_new_to((template, family), outcome, facts) and not is_first

    def _is_new_to(self, judges: Iterable[Template], outcome: Outcome, facts: Facts) -> bool:
        sketch = Sketch((facts.title, facts.text), _echo(outcome, facts))
        for each in judges:
            self._gate.templates.note(each)
        verdicts = [each.is_news(sketch) for each in judges]  # each of them learns the text
        return all(verdicts)

    def _by_no_page(self, template: Template, outcome: Outcome, place: store.Stored | None, found: Found) -> News:
        """A redirect to more of the same may go on so, but not for long: redirects in a row are counted elsewhere.

        One to the same with something behind it may grow for ever; it costs, until it is known what comes from there.
        """
        url_id, url = outcome.claim.url_id, outcome.claim.url
        targets = [candidate.url for candidate in outcome.candidates]
        if any(self._circles.is_part(template, target) for target in targets):
            return News.GROWS if any(len(target) > len(url) for target in targets) else News.COPY
        if any(self._has_cost(target) for target in targets):
            return News.NONE
        if url_id in found.born and any(target.startswith(url) for target in targets):
            return News.AWAY
        if place is None or place.duplicate_of is None:
            return News.LEAF
        query = "SELECT host FROM page JOIN url ON url.id = page.url WHERE page.id = ?"
        first = select_one(self._connection, query, (place.duplicate_of,))
        return News.COPY if first is not None and first[0] == outcome.claim.host_id else News.LEAF

    def _has_cost(self, url: str) -> bool:
        """Whether a URL is of a template that has brought nothing yet and cost something."""
        query = "SELECT template FROM url WHERE id = ? AND template IS NOT NULL"
        row = select_one(self._connection, query, (self._discovery.id_of(url),))
        if row is None:
            return False
        budget = self._gate.templates.get(row[0]).budget
        return not budget.novel and budget.credit < self._gate.rules.budget

    def _is_known_text(self, template: Template, outcome: Outcome, facts: Facts) -> bool:
        """Whether another page has the very text; one of the same host, where hosts are not what is judged."""
        query = (
            "SELECT url.host FROM page JOIN url ON url.id = page.url"
            " WHERE text_digest = ? AND is_indexed = 1 AND url.id != ? LIMIT ?"
        )
        values = (facts.text_digest, outcome.claim.url_id, _COPIES)
        hosts = [host for (host,) in select(self._connection, query, values)] if facts.text else []
        return bool(hosts) if is_of_hosts(template) else outcome.claim.host_id in hosts

    def _base_text(self, outcome: Outcome) -> str | None:
        """The text of the page that this one is a variant of; None when it has not come, or can't be read."""
        base = self._gate.base_of(outcome.claim.url)
        if base is None or base == outcome.claim.url_id:
            return None
        query = (
            "SELECT blob FROM text JOIN page ON page.id = text.page WHERE page.url = ? ORDER BY page.id DESC LIMIT 1"
        )
        row = select_one(self._connection, query, (base,))
        try:
            return index.inflate(row[0]) if row is not None else None
        except zlib.error:
            return None


def _echo(outcome: Outcome, facts: Facts) -> str:
    """What a page may only repeat: its own address, and those of its links."""
    addresses = [url.partition("://")[2] for url in unpack_last(facts.links, _LINKS)]
    return f"{templates.echoed(outcome.claim.url)} {unquote_plus(' '.join(addresses))}"
