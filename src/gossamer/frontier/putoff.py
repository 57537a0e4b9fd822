"""Templates that are put off: what may be a trap, or all there is.

A site may have hardly a word, and pages that differ in numbers only. So a template without news is parked for good only
on a host that is known to have something else to say, or when it is a long line of pages, each found on the one
before. Else it is put off: it goes on as soon as nothing else of its host waits, unless the host has proved to be rich
by then.
"""

from collections.abc import Iterable

import apsw

from gossamer.archive.database import select
from gossamer.frontier.circles import Circles
from gossamer.frontier.claims import COLUMNS, claim_of
from gossamer.frontier.gate import Gate, closed_because, is_of_hosts, is_of_variants
from gossamer.frontier.templates import Template
from gossamer.frontier.worth import Worth
from gossamer.records import Claim

_LINE = 30
"""Pages in a row that are a trap on any host."""

_MOST = 10_000
"""Pages without news of one template that are too many on any host."""


class PutOff:
    """Runs in the writer thread, inside the caller's transaction."""

    def __init__(self, connection: apsw.Connection, gate: Gate, circles: Circles, worth: Worth) -> None:
        self._connection = connection
        self._gate = gate
        self._circles = circles
        self._worth = worth
        self._hosts = {host for (host,) in select(connection, "SELECT DISTINCT put_off FROM template WHERE put_off")}

    def note(self, template: Template, claim: Claim) -> None:
        """A template was parked: for good or not."""
        if is_of_hosts(template) or is_of_variants(template) or self._worth.is_rich(claim.host_id):
            return
        if template.budget.judged < _MOST and not self._circles.is_line(template, claim.parent, _LINE):
            self._connection.execute("UPDATE template SET put_off = ? WHERE id = ?", (claim.host_id, template.id))
            self._hosts.add(claim.host_id)

    def resume(self, hosts: Iterable[int]) -> list[Claim]:
        """Where nothing else waits on a host that has said little, let go on what was put off: twice as much each time."""
        claims: list[Claim] = []
        for host_id in self._hosts.intersection(hosts):
            if self._worth.is_rich(host_id):
                self._hosts.discard(host_id)
            elif not self._has_waiting(host_id):
                numbers = select(self._connection, "SELECT id FROM template WHERE put_off = ? ORDER BY id", (host_id,))
                for (number,) in numbers:
                    claims += self._go_on(self._gate.templates.get(number))
        return claims

    def _has_waiting(self, host_id: int) -> bool:
        """Whether something waits there, or the host is given up for now."""
        query = (
            "SELECT 1 FROM url WHERE host = :host AND state = 0 AND held = 0"
            " UNION ALL SELECT 1 FROM host WHERE id = :host AND put_aside != '' LIMIT 1"
        )
        return self._connection.execute(query, {"host": host_id}).fetchone() is not None

    def _go_on(self, template: Template) -> list[Claim]:
        credit = template.budget.judged + self._gate.rules.budget
        query = f"SELECT {COLUMNS} WHERE template = ? AND state = 0 AND held = 1 AND reason = ? ORDER BY url.id LIMIT ?"
        rows = select(self._connection, query, (template.id, closed_because(template), credit))
        template.budget = template.budget.reopened(float(credit))
        self._gate.templates.note(template)
        self._connection.executemany("UPDATE url SET held = 0, reason = '' WHERE id = ?", [(row[0],) for row in rows])
        self._connection.execute("UPDATE template SET put_off = 0 WHERE id = ?", (template.id,))
        return [claim_of(row) for row in rows]
