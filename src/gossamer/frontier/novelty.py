"""What the pages of templates bring: their budgets are kept, and what waits is parked where nothing more is to come.

All of it happens in the transaction that makes the pages durable, so that a restart remembers.
"""

import zlib
from collections.abc import Sequence

import apsw

from gossamer.archive import index, store
from gossamer.archive.database import select, select_one
from gossamer.frontier.circles import Circles
from gossamer.frontier.claims import COLUMNS, claim_of
from gossamer.frontier.counters import Counters
from gossamer.frontier.discovery import Discovery, Found
from gossamer.frontier.gate import TRUSTED_AFTER, closed_because, is_of_hosts, is_of_variants
from gossamer.frontier.putoff import PutOff
from gossamer.frontier.templates import Template
from gossamer.frontier.worth import Worth
from gossamer.parse.sketch import Sketch, is_another_text
from gossamer.policy import templates
from gossamer.policy.novelty import News
from gossamer.records import Facts, Hold, Outcome, State

_COPIES = 50
"""Pages with the same text that are looked at."""


class Novelty:
    """Judges the pages of a transaction; runs in the writer thread, as its last step but one."""

    def __init__(self, connection: apsw.Connection, discovery: Discovery, counters: Counters) -> None:
        self._connection = connection
        self._discovery = discovery
        self._gate = discovery.gate
        self._counters = counters
        self._circles = Circles(connection, discovery)
        self._worth = Worth(connection)
        self._put_off = PutOff(connection, self._gate, self._circles, self._worth)

    def judge(self, outcomes: Sequence[Outcome], stored: Sequence[store.Stored | None], found: Found) -> None:
        """Let the templates pay for pages that brought nothing, and park what they can't pay for."""
        for outcome, place in zip(outcomes, stored, strict=True):
            if not outcome.claim.is_robots:
                self._judge_one(outcome, place, found)
        resumed = self._put_off.resume({outcome.claim.host_id for outcome in outcomes})
        self._count(len(resumed))
        if found.parked or resumed:
            parked = {claim.url_id for claim in found.parked} - {claim.url_id for claim in resumed}
            claims = {claim.url_id: claim for claim in [*found.claims, *resumed] if claim.url_id not in parked}
            found.claims = list(claims.values())

    def _judge_one(self, outcome: Outcome, place: store.Stored | None, found: Found) -> None:
        settlement = outcome.settlement
        row = select_one(self._connection, "SELECT template FROM url WHERE id = ?", (outcome.claim.url_id,))
        if row is None or (settlement.state is State.WAITING and not settlement.held):
            return
        if row[0] is None:
            if store.is_success(outcome) and outcome.facts is not None and outcome.facts.is_page:
                self._worth.note(outcome.claim.host_id)
            return
        template = self._gate.templates.get(row[0])
        self._gate.templates.note(template)
        was_open = not template.budget.is_closed
        news = self._news(template, outcome, place, found)
        template.budget = template.budget.after(news, self._gate.rules.budget)
        if news is News.SOME:
            self._worth.note(outcome.claim.host_id)
            if is_of_hosts(template):
                self._credit_host(outcome.claim.host_id, template)
        if was_open and template.budget.is_closed:
            self._close(template, found)
            self._put_off.note(template, outcome.claim)

    # --- what a page brought

    def _news(self, template: Template, outcome: Outcome, place: store.Stored | None, found: Found) -> News:
        facts = outcome.facts
        if not store.is_success(outcome) or facts is None or not facts.is_page:
            return self._news_of_no_page(template, outcome, place)
        is_copy = self._is_known_text(template, outcome, facts)
        is_first = not len(template.known)
        echo = templates.echoed(outcome.claim.url)
        sketch = Sketch((facts.title, facts.text), echo)
        is_news = sketch.is_news(template.unknown(sketch)) and not is_copy
        base = None if is_copy or template.budget.is_proven else self._base_text(outcome)
        says_more = base is None or is_another_text(facts.text, base, echo)
        is_variant = is_of_variants(template)
        if says_more and ((is_variant and base is not None) or (is_news and not is_first)):
            return News.SOME
        if outcome.claim.url_id in found.rich:
            return News.OTHER
        if is_variant or not says_more:
            return News.NONE
        if self._circles.goes_on(template, outcome):
            return News.NONE
        return News.COPY if is_copy and not is_first else News.LEAF

    def _news_of_no_page(self, template: Template, outcome: Outcome, place: store.Stored | None) -> News:
        """A redirect to more of the same may go on so, but not for long: redirects in a row are counted elsewhere."""
        targets = [candidate.url for candidate in outcome.candidates]
        if any(self._circles.is_part(template, url) for url in targets):
            return News.COPY
        if any(self._has_cost(url) for url in targets):
            return News.NONE
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

    # --- what follows from it

    def _credit_host(self, host_id: int, template: Template) -> None:
        """A host of many has shown something; when it has done so often enough, it is like any other from now on."""
        self._connection.execute("UPDATE host SET news = news + 1 WHERE id = ?", (host_id,))
        ((news,),) = select(self._connection, "SELECT news FROM host WHERE id = ?", (host_id,))
        if news == TRUSTED_AFTER:
            self._connection.execute(
                "UPDATE url SET template = NULL WHERE template = ? AND state = 0 AND held = 0 AND host = ?",
                (template.id, host_id),
            )

    def _close(self, template: Template, found: Found) -> None:
        """What waits is parked."""
        query = f"SELECT {COLUMNS} WHERE template = ? AND state = 0 AND held = 0"
        rows = select(self._connection, query, (template.id,))
        found.parked += [claim_of(row) for row in rows]
        self._connection.execute(
            "UPDATE url SET held = ?, reason = ? WHERE template = ? AND state = 0 AND held = 0",
            (Hold.PARKED, closed_because(template), template.id),
        )
        self._count(-len(rows))

    def _count(self, let_go: int) -> None:
        self._counters.change("held", -let_go)
        self._counters.change("waiting", let_go)
