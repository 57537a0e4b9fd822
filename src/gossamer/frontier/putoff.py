"""Templates that are put off: what may be a trap, or all there is.

A site may have hardly a word, and pages that differ in numbers only. So a template without news is never parked for good
at once, but put off until nothing else of its host waits. Then, on a host that has little else to say, it goes on, unless
it is a very long line of pages, each found on the one before. On any other it may have a few pages more, in proportion
to those that had something to say: so that what is nearly finished is finished.
"""

from collections.abc import Iterable

import apsw

from gossamer.archive.database import select, select_one
from gossamer.frontier.circles import Circles
from gossamer.frontier.gate import Gate, closed_because, is_of_families, is_of_hosts, is_of_variants
from gossamer.frontier.templates import Template
from gossamer.frontier.worth import Worth
from gossamer.records import Claim

LINE = 200
"""Pages in a row that are a trap on any host."""

_MOST = 100_000
"""Pages of one template without news that are too many on any host."""

_SHARE = 16
"""Pages with something to say for each page without news that a host may have more."""

_STEP = 64
"""URLs that are let go on at once, beside as many as there is credit."""


class PutOff:
    """Runs in the writer thread, inside the caller's transaction."""

    def __init__(self, connection: apsw.Connection, gate: Gate, circles: Circles, worth: Worth) -> None:
        self._connection = connection
        self._gate = gate
        self._circles = circles
        self._worth = worth
        self._hosts = {host for (host,) in select(connection, "SELECT DISTINCT put_off FROM template WHERE put_off")}

    def note(self, template: Template, claim: Claim, *, for_good: bool) -> None:
        """A template was parked."""
        if is_of_hosts(template):
            return
        is_for_good = (
            for_good
            or is_of_variants(template)
            or (
                not self._worth.is_rich(claim.host_id)
                and (template.budget.judged >= _MOST or self._circles.is_line(template, claim.parent, LINE))
            )
        )
        put_off = 0 if is_for_good else claim.host_id
        query = "UPDATE template SET host = ?, put_off = ? WHERE id = ?"
        self._connection.execute(query, (claim.host_id, put_off, template.id))
        if put_off:
            self._hosts.add(put_off)

    def resume(self, hosts: Iterable[int]) -> list[int]:
        """Where nothing else waits on a host, let go on what was put off; the URLs that wait again."""
        let_go: list[int] = []
        for host_id in self._hosts.intersection(hosts):
            if not self._has_waiting(host_id):
                resumed = self._resume(host_id)
                let_go += resumed
                if not resumed:
                    self._hosts.discard(host_id)
        return let_go

    def let_go(self, template: Template) -> list[int]:
        """Let a template go on that has credit again, if it was put off."""
        row = select_one(self._connection, "SELECT put_off FROM template WHERE id = ?", (template.id,))
        return self._go_on(template, int(template.budget.credit)) if row is not None and row[0] else []

    def _resume(self, host_id: int) -> list[int]:
        """What is let go on of a host; a template of which nothing is left makes room for the next."""
        while put_off := self._put_off(host_id):
            shares = self._for_rich(host_id, put_off) if self._worth.is_rich(host_id) else self._for_poor(put_off)
            let_go = [url_id for template, credit in shares for url_id in self._go_on(template, credit)]
            if let_go or not shares:
                return let_go
        return []

    def _for_poor(self, put_off: list[Template]) -> list[tuple[Template, int]]:
        """Each may have twice as many pages as it has had; first those whose pages led to something else."""
        first = [template for template in put_off if template.opened and not is_of_families(template)]
        return [(template, template.budget.judged + self._gate.rules.budget) for template in first or put_off]

    def _for_rich(self, host_id: int, put_off: list[Template]) -> list[tuple[Template, int]]:
        """The one of which least is left, as far as the host has earned it."""
        query = "SELECT ifnull(sum(barren), 0) FROM template WHERE host = ?"
        ((barren,),) = select(self._connection, query, (host_id,))
        allowance = self._worth.pages(host_id) // _SHARE - barren
        return [(min(put_off, key=self._left), allowance)] if allowance >= 1 else []

    def _put_off(self, host_id: int) -> list[Template]:
        numbers = select(self._connection, "SELECT id FROM template WHERE put_off = ? ORDER BY id", (host_id,))
        return [self._gate.templates.get(number) for (number,) in numbers]

    def _left(self, template: Template) -> int:
        """How much of a template is parked, as far as it matters."""
        query = (
            "SELECT count(*) FROM"
            " (SELECT 1 FROM url WHERE url.id >> 17 IN block AND template = ? AND state = 0 AND held = 1 LIMIT 1000)"
        )
        ((count,),) = select(self._connection, query, (template.id,))
        return int(count)

    def _has_waiting(self, host_id: int) -> bool:
        """Whether something waits there, or the host is given up for now."""
        query = (
            "SELECT 1 FROM url WHERE url.id >> 17 IN block AND host = :host AND state = 0 AND held = 0"
            " UNION ALL SELECT 1 FROM host WHERE id = :host AND put_aside != '' LIMIT 1"
        )
        return self._connection.execute(query, {"host": host_id}).fetchone() is not None

    def _go_on(self, template: Template, credit: int) -> list[int]:
        """A template with nothing left to let go is not put off any more."""
        query = (
            "SELECT id FROM block CROSS JOIN url ON url.id >> 17 = n"
            " WHERE template = ? AND state = 0 AND held = 1 AND reason = ? LIMIT ?"
        )
        most = credit + _STEP
        rows = select(self._connection, query, (template.id, closed_because(template), most))
        if template.budget.is_closed:
            template.budget = template.budget.reopened(float(credit))
            self._gate.templates.note(template)
        self._connection.executemany("UPDATE url SET held = 0, reason = '' WHERE id = ?", rows)
        if len(rows) < most:
            self._connection.execute("UPDATE template SET put_off = 0 WHERE id = ?", (template.id,))
        return [url_id for (url_id,) in rows]
