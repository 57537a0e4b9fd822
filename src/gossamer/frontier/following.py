"""What the links of pages become: candidates that are judged, or are parked because their page is a duplicate.

Runs in the writer thread, inside the caller's transaction.
"""

from collections.abc import Sequence

import apsw

from gossamer.archive import store
from gossamer.clock import Clock
from gossamer.frontier.discovery import Discovery, Found
from gossamer.frontier.portions import portions
from gossamer.records import Candidate, Claim, Facts, Outcome

FOLLOWED_DUPLICATES = 3
"""So many duplicates on one host have their links followed; of further ones new links are parked."""


class Following:
    """Follows the links of pages, with their commit or, where they are very many, ahead of it."""

    def __init__(self, connection: apsw.Connection, discovery: Discovery, clock: Clock) -> None:
        self._connection = connection
        self._discovery = discovery
        self._clock = clock
        self._ahead: dict[int, Found] = {}  # pages whose links are known before they are

    def follow(self, outcomes: Sequence[Outcome], stored: Sequence[store.Stored | None], found: Found) -> None:
        """Make the links of pages known that are being committed."""
        pages: list[tuple[Claim, Facts, store.Stored]] = []
        for outcome, place in zip(outcomes, stored, strict=True):
            ahead = self._ahead.pop(outcome.claim.url_id, None)
            if ahead is not None:
                found.learn(outcome.claim.url_id, ahead)
            if ahead is None and _leads_on(outcome) and outcome.facts is not None and place is not None:
                pages.append((outcome.claim, outcome.facts, place))
        candidates = self._discovery.from_pages([(claim, facts) for claim, facts, _ in pages])
        for (claim, facts, place), links in zip(pages, candidates, strict=True):
            parked = ""
            if links and place.duplicate_of is not None and place.digest is not None:
                parked = self._parked(claim, place.digest, place.page_id)
            self._make_known(facts, links, parked, found)

    def portions(self, outcome: Outcome) -> list[Facts]:
        """Where the links of a page are too many for its commit: the portions in which they are followed ahead of it."""
        if not _leads_on(outcome) or outcome.facts is None:
            return []
        return portions(outcome.facts, self._discovery.seen.contains)

    def follow_ahead(self, outcome: Outcome, portion: Facts, page_id: int, found: Found) -> None:
        """Make links of a page known that will be committed later. ``page_id``: newer than all that are."""
        claim, parked = outcome.claim, ""
        if store.is_kept(outcome) and store.original_of(self._connection, portion.digest, claim.url_id) is not None:
            parked = self._parked(claim, portion.digest, page_id)
        (links,) = self._discovery.from_pages([(claim, portion)])
        self._make_known(portion, links, parked, found)
        self._ahead.setdefault(claim.url_id, Found()).learn(claim.url_id, found)

    def _make_known(self, facts: Facts, links: Sequence[Candidate], parked: str, found: Found) -> None:
        if links:
            self._discovery.add(links, found, self._clock.now(), parked=parked)
        if facts.listing:
            self._discovery.note_lastmod(facts)

    def _parked(self, claim: Claim, digest: bytes, page_id: int) -> str:
        """Why new links of a duplicate are not followed: it is one more page of bytes that its host has served before.

        The first few are followed: equal bytes at /a/ and /b/ with relative links lead elsewhere.
        """
        before = store.duplicates_before(self._connection, digest, claim.host_id, page_id, FOLLOWED_DUPLICATES)
        return f"found only on a duplicate page: {claim.url}" if before >= FOLLOWED_DUPLICATES else ""


def _leads_on(outcome: Outcome) -> bool:
    """Whether a page's links are looked at."""
    return outcome.facts is not None and bool(outcome.facts.links) and store.is_success(outcome)
