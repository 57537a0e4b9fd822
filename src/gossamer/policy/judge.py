"""A scope with a person's own function behind it, which holds more URLs and admits none that the scope does not."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Self

from gossamer.policy.scope import HELD_BY_JUDGE, Scope
from gossamer.records import Candidate, Decision, Verdict, Via

OwnJudge = Callable[[Candidate], str | None]
"""Why a URL that the scope admits is not to be fetched; nothing where it is. Called in the thread that writes."""


def _nothing(_: Candidate) -> None:
    return None


@dataclass(frozen=True)
class JudgedScope(Scope):
    """Asks ``own`` of everything that the scope admits, but for the start of a crawl and for sitemaps: the start has to
    be somewhere, and sitemaps only help to find pages.

    No two are equal: nobody can see whether a function is still the same, so what waits is judged anew by each.
    """

    own: OwnJudge = field(default=_nothing, kw_only=True)
    number: str = field(default_factory=lambda: secrets.token_hex(8), kw_only=True)

    @classmethod
    def around(cls, scope: Scope, own: OwnJudge) -> Self:
        """``scope`` with the function behind it."""
        given = {row.name: getattr(scope, row.name) for row in fields(scope) if row.init}
        return cls(**given, own=own)

    def judge(self, candidate: Candidate) -> Verdict:
        verdict = super().judge(candidate)
        if verdict.decision is not Decision.ADMIT or candidate.depth == 0 or candidate.via is Via.SITEMAP:
            return verdict
        reason = self.own(candidate)
        return replace(verdict, decision=Decision.HOLD, reason=f"{HELD_BY_JUDGE}: {reason}") if reason else verdict
