"""A run that fetches some URLs only, whatever else waits: what was named, where it redirects to, and what it needs."""

from collections.abc import Iterable

from gossamer.records import Claim, Via


class Only:
    """Tells which claims are meant. Asked on the loop and in the writer thread: it only ever learns more."""

    def __init__(self, urls: Iterable[str]) -> None:
        """``urls``: canonical."""
        self._urls = frozenset(urls)
        self._ids: set[int] = set()

    def admits(self, claim: Claim) -> bool:
        """Whether a claim is for one of the URLs, or for what one of them redirects to or needs."""
        is_led_to = claim.parent in self._ids and (claim.hops > 0 or claim.via is Via.NEEDED)
        is_meant = is_led_to or claim.url in self._urls
        if is_meant:
            self._ids.add(claim.url_id)
        return is_meant
