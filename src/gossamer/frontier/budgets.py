"""How many URLs a host or a domain may have: the rest is parked."""

from collections import Counter

import apsw

from gossamer.archive.database import select, select_one
from gossamer.policy.traps import TrapRules

OVER = "over the budget of "


class HostBudgets:
    """Counts what is let in; nothing is counted where there is no limit. Runs in the writer thread."""

    def __init__(self, connection: apsw.Connection, rules: TrapRules) -> None:
        self._connection = connection
        self._rules = rules
        self._counts_anything = bool(rules.max_host_urls or rules.max_domain_urls)
        self._of_host: Counter[int] = Counter()
        self._of_domain: Counter[str] = Counter()
        if self._counts_anything:
            query = "SELECT host, count(*) FROM url WHERE held = 0 AND host IS NOT NULL GROUP BY host"
            for host_id, count in select(connection, query):
                self._of_host[host_id] += count
                self._of_domain[self._domain(host_id)] += count

    def over(self, host_id: int) -> str:
        """Why a URL of the host is one too many; empty when it is not."""
        most = self._rules.max_host_urls
        if most and self._of_host[host_id] >= most:
            return f"{OVER}{most} URLs for a host"
        most = self._rules.max_domain_urls
        if most and self._of_domain[domain := self._domain(host_id)] >= most:
            return f"{OVER}{most} URLs for the domain {domain}"
        return ""

    def count(self, host_id: int) -> None:
        """One more URL of the host may be fetched."""
        if self._counts_anything:
            self._of_host[host_id] += 1
            self._of_domain[self._domain(host_id)] += 1

    def _domain(self, host_id: int) -> str:
        row = select_one(self._connection, "SELECT domain FROM host WHERE id = ?", (host_id,))
        return "" if row is None else str(row[0])
