"""A run that fetches some URLs only, whatever else waits: what was named, and where it redirects to."""

from collections.abc import Iterable

from gossamer.records import Claim


class Only:
    """Tells which claims are meant. Asked on the loop and in the writer thread: it only ever learns more."""

    def __init__(self, urls: Iterable[str]) -> None:
        """``urls``: canonical."""
        self._urls = frozenset(urls)
        self._ids: set[int] = set()

    def admits(self, claim: Claim) -> bool:
        """Whether a claim is for one of the URLs, or for what one of them redirects to."""
        is_meant = claim.url in self._urls or (claim.hops > 0 and claim.parent in self._ids)
        if is_meant:
            self._ids.add(claim.url_id)
        return is_meant
