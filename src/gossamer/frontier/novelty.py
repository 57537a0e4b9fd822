"""What the pages of templates bring: their budgets are kept, and what waits is parked where nothing more is to come.

All of it happens in the transaction that makes the pages durable, so that a restart remembers.

A page that says nothing new is *barren*. What is first found on a barren page, and is no more of the page's own
template, is governed by the family of the page: so a trap ends whose URLs have nothing in common but the folder they
lie in.
"""

from collections.abc import Sequence
from typing import TypeAlias

import apsw

from gossamer.archive import store
from gossamer.archive.database import select, select_one
from gossamer.frontier.brought import Brought
from gossamer.frontier.circles import Circles, key_of
from gossamer.frontier.claims import COLUMNS, claim_of
from gossamer.frontier.counters import Counters
from gossamer.frontier.discovery import Born, Discovery, Found
from gossamer.frontier.gate import TRUSTED, TRUSTED_AFTER, closed_because, is_of_families, is_of_hosts
from gossamer.frontier.putoff import PutOff
from gossamer.frontier.templates import Template
from gossamer.frontier.worth import Worth
from gossamer.policy.novelty import News
from gossamer.records import Claim, Hold, Outcome, State, Via

_Row: TypeAlias = tuple[
    int | None, int | None, str
]  # the template of a URL, that of the page it was found on, and its URL


class Novelty:
    """Judges the pages of a transaction; runs in the writer thread, as its last step but one."""

    def __init__(self, connection: apsw.Connection, discovery: Discovery, counters: Counters) -> None:
        self._connection = connection
        self._gate = discovery.gate
        self._counters = counters
        self._circles = Circles(connection, discovery)
        self._brought = Brought(connection, discovery, self._circles)
        self._worth = Worth(connection)
        self._put_off = PutOff(connection, self._gate, self._circles, self._worth)

    def judge(self, outcomes: Sequence[Outcome], stored: Sequence[store.Stored | None], found: Found) -> None:
        """Let the templates pay for pages that brought nothing, and park what they can't pay for."""
        if not self._gate.rules.budget:
            return
        rows = self._rows([outcome.claim.url_id for outcome in outcomes])
        for outcome, place in zip(outcomes, stored, strict=True):
            row = rows.get(outcome.claim.url_id)
            if row is not None:
                self._judge_one(outcome, place, row, found)
        self._worth.flush()
        self._resume(self._put_off.resume({outcome.claim.host_id for outcome in outcomes}), found)
        if found.touched:
            found.claims = self._still_waiting(found)

    def _still_waiting(self, found: Found) -> list[Claim]:
        """What was discovered or let go on, and not parked in the end."""
        query = f"SELECT {COLUMNS} WHERE url.id = ? AND state = 0 AND held = 0"
        rows = (select_one(self._connection, query, (url_id,)) for url_id in sorted(found.touched))
        claims = [claim for claim in found.claims if claim.url_id not in found.touched]
        found.let_in = [new for new in found.let_in if new.url_id not in found.touched]
        return claims + [claim_of(row) for row in rows if row is not None]

    def _rows(self, url_ids: Sequence[int]) -> dict[int, _Row]:
        query = (
            "SELECT url.id, url.template, parent.template, parent.url"
            " FROM url LEFT JOIN url AS parent ON parent.id = url.parent WHERE url.id = ?"
        )
        found = self._connection.executemany(query, [(url_id,) for url_id in url_ids])
        return {url_id: row for url_id, *row in found}

    def _judge_one(self, outcome: Outcome, place: store.Stored | None, row: _Row, found: Found) -> None:
        settlement = outcome.settlement
        if settlement.state is State.WAITING and not settlement.held:
            return
        if row[0] is not None:
            news = self._judge_by(self._gate.templates.get(row[0]), outcome, place, found)
        else:
            news = self._judge_plain(outcome, found)
        if news is News.SOME:
            self._worth.note(outcome.claim.host_id)
        if row[1] is not None and row[1] != row[0]:
            self._settle_with_parent(self._gate.templates.get(row[1]), row[2], outcome.claim, news, found)

    def _judge_plain(self, outcome: Outcome, found: Found) -> News:
        """A URL that is no part of a template; whether it has something to say."""
        claim = outcome.claim
        if not store.is_success(outcome) or outcome.facts is None or not outcome.facts.is_page:
            if any(len(candidate.url) > len(claim.url) for candidate in outcome.candidates):
                self._govern(self._gate.templates.family_of(claim.url), claim, found)  # a redirect that may grow
            return News.LEAF
        if claim.depth == 0 or claim.via in TRUSTED or self._brought.says_something(outcome, outcome.facts):
            return News.SOME
        self._govern(self._gate.templates.family_of(claim.url), claim, found)
        return News.LEAF

    def _judge_by(self, template: Template, outcome: Outcome, place: store.Stored | None, found: Found) -> News:
        """A URL of a template."""
        self._gate.templates.note(template)
        was_open = not template.budget.is_closed
        news = self._brought.by(template, outcome, place, found)
        template.budget = template.budget.after(news, self._gate.rules.budget)
        template.opened += self._opens(template, outcome.claim, found)
        if news is News.SOME and is_of_hosts(template):
            self._credit_host(outcome.claim.host_id, template)
        is_page = outcome.facts is not None and outcome.facts.is_page
        is_good = news is News.SOME or template.budget.is_earning
        if (is_page or news is News.GROWS) and not (is_good or is_of_hosts(template)):
            self._govern(self._family(template, outcome.claim), outcome.claim, found)
            self._charge_family(template, news, outcome.claim, found)
        if was_open and template.budget.is_closed:
            self._close(template, outcome.claim, found, for_good=news is News.GROWS)
        return news

    def _opens(self, template: Template, claim: Claim, found: Found) -> bool:
        """Whether a page was the first to lead to something that is not of its own kind."""
        born = found.born.get(claim.url_id, ())
        return any(each.template != template.id and key_of(each.url) != template.key for each in born)

    # --- what follows from it

    def _family(self, template: Template, claim: Claim) -> Template:
        """The family that governs what a barren page leads to: that which governs the page itself, if one does."""
        return template if is_of_families(template) else self._gate.templates.family_of(claim.url)

    def _govern(self, family: Template, claim: Claim, found: Found) -> None:
        """What a barren page led to is the family's from now on, unless it is of a kind that is known to be good."""
        own = key_of(claim.url)
        for born in found.born.get(claim.url_id, ()):
            if born.held or born.host_id != claim.host_id or not self._is_unknown_kind(born, own):
                continue
            is_closed = family.budget.is_closed
            held, reason = (Hold.PARKED, closed_because(family)) if is_closed else (Hold.NO, "")
            query = "UPDATE url SET template = ?, held = ?, reason = ? WHERE id = ?"
            self._connection.execute(query, (family.id, held, reason, born.url_id))
            found.touched.add(born.url_id)
            self._count(-is_closed)

    def _charge_family(self, template: Template, news: News, claim: Claim, found: Found) -> None:
        """What costs a template that has brought nothing costs its family too, and all like it with it."""
        if news < News.NONE or template.budget.novel or is_of_families(template):
            return
        family = self._gate.templates.family_of(claim.url)
        self._gate.templates.note(family)
        was_open = not family.budget.is_closed
        family.budget = family.budget.charged(news)
        if was_open and family.budget.is_closed:
            self._close(family, claim, found)
            for each in self._gate.templates.members(family):
                if each.budget.barren and not (each.budget.novel or each.budget.is_closed):
                    each.budget = each.budget.reopened(0.0)
                    self._gate.templates.note(each)
                    self._close(each, claim, found)

    def _is_unknown_kind(self, born: Born, own: str | None) -> bool:
        """Whether a URL belongs to no template that has an account of its own already."""
        if born.template is None:
            key = key_of(born.url)
            return key is None or key != own
        template = self._gate.templates.get(born.template)
        return not (template.budget.judged or template.key == own or is_of_hosts(template))

    def _settle_with_parent(self, template: Template, parent: str, claim: Claim, news: News, found: Found) -> None:
        """What a page led to was worth it, if that page is no variant of another; a redirect was, if no harm came of it."""
        if claim.via is Via.REDIRECT and news < News.NONE:
            self._repay(template, found, has_news=news is News.SOME)
        elif news is News.SOME and not self._circles.leads_to(self._gate.base_of(parent), claim.url):
            self._repay(template, found, has_news=True)

    def _repay(self, template: Template, found: Found, *, has_news: bool) -> None:
        was_closed = template.budget.is_closed
        template.budget = template.budget.repaid(self._gate.rules.budget, has_news=has_news)
        self._gate.templates.note(template)
        if was_closed and not template.budget.is_closed:
            self._resume(self._put_off.let_go(template), found)

    def _resume(self, url_ids: Sequence[int], found: Found) -> None:
        self._count(len(url_ids))
        found.touched.update(url_ids)

    def _credit_host(self, host_id: int, template: Template) -> None:
        """A host of many has shown something; when it has done so often enough, it is like any other from now on."""
        self._connection.execute("UPDATE host SET news = news + 1 WHERE id = ?", (host_id,))
        ((news,),) = select(self._connection, "SELECT news FROM host WHERE id = ?", (host_id,))
        if news == TRUSTED_AFTER:
            self._connection.execute(
                "UPDATE url SET template = NULL"
                " WHERE url.id >> 17 IN block AND template = ? AND state = 0 AND held = 0 AND host = ?",
                (template.id, host_id),
            )

    def _close(self, template: Template, claim: Claim, found: Found, *, for_good: bool = False) -> None:
        """What waits is parked. ``claim``: what the last of its credit was spent for."""
        query = f"SELECT {COLUMNS} WHERE url.id >> 17 IN block AND template = ? AND state = 0 AND held = 0"
        rows = select(self._connection, query, (template.id,))
        found.parked += [claim_of(row) for row in rows]
        found.touched.update(row[0] for row in rows)
        self._connection.execute(
            "UPDATE url SET held = ?, reason = ? WHERE url.id >> 17 IN block AND template = ? AND state = 0 AND held = 0",
            (Hold.PARKED, closed_because(template), template.id),
        )
        self._count(-len(rows))
        self._put_off.note(template, claim, for_good=for_good)

    def _count(self, let_go: int) -> None:
        self._counters.change("held", -let_go)
        self._counters.change("waiting", let_go)
