"""What the archive has of each URL for the copy: the newest complete success, where it leads, or why there is nothing.

A bad day of a server destroys nothing: an error, a body that was cut short or is empty where there was content never
replaces a good version. 404 and 410 do: the page is gone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import apsw

from gossamer.archive.database import select, select_one

MAX_REDIRECTS = 100
"""Hops that are followed; the crawl's own setting allows no more in a row."""

_GONE = (404, 410)
_UNCHANGED = 304


@dataclass(frozen=True, slots=True)
class Version:
    """A complete answer to a URL, ready to be saved."""

    page: int  # the id of its row
    url_id: int
    url: str
    content_type: str  # by header, then sniffing
    digest: bytes  # sha256 of the decoded body
    size: int  # bytes of it
    fetched: float
    title: str
    is_page: bool  # HTML
    trouble: str = ""  # why no newer answer replaces it; "" where it is the newest


@dataclass(frozen=True, slots=True)
class Standing:
    """How a URL stands as of its newest answer."""

    version: Version | None = None
    leads_to: int | None = None  # the URL that it redirects to
    is_gone: bool = False  # there was something once
    trouble: str = ""  # why its newest answer is no content


class Versions:
    """Reads from one collection, each URL once."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._standings: dict[int, Standing] = {}

    def standing(self, url_id: int) -> Standing:
        """How a URL stands."""
        found = self._standings.get(url_id)
        if found is None:
            found = self._standings[url_id] = self._read(url_id)
        return found

    def end(self, url_id: int) -> Version | None:
        """What a link to the URL leads to, redirects followed; None where that is nothing that can be saved.

        A redirect whose end can't be had (it goes round in a circle, or to an error) does not replace what was there
        before.
        """
        met = [url_id]
        while len(met) <= MAX_REDIRECTS:
            standing = self.standing(met[-1])
            if standing.leads_to is None:
                if standing.version is not None:
                    return standing.version
                break
            if standing.leads_to in met:
                break
            met.append(standing.leads_to)
        return self.standing(url_id).version

    def redirects(self) -> Iterator[tuple[str, int]]:
        """Every URL whose newest answer is a redirect, with its id."""
        yield from select(
            self._connection,
            "SELECT url.url, url.id FROM page JOIN url ON url.id = page.url WHERE redirect_to IS NOT NULL"
            " AND attempt = (SELECT max(attempt) FROM page AS each WHERE each.url = page.url) ORDER BY url.id",
        )

    def _read(self, url_id: int) -> Standing:
        newest = select_one(
            self._connection,
            "SELECT id, attempt, status, redirect_to, truncated, size FROM page WHERE url = ?"
            " ORDER BY attempt DESC LIMIT 1",
            (url_id,),
        )
        if newest is None:
            return Standing(trouble=self._last_try(url_id)[1])
        page, attempt, status, redirect_to, truncated, size = newest
        version = self._good_version(url_id)
        tried, outcome = self._last_try(url_id)
        if tried is not None and tried > attempt:
            return _in_trouble(version, outcome)
        if status in _GONE:
            return Standing(is_gone=version is not None, trouble=f"status {status}")
        if redirect_to is not None:
            return _in_trouble(version, "it redirects to where nothing is", leads_to=redirect_to)
        if status == _UNCHANGED or (version is not None and version.page == page):
            return Standing(version)
        said = outcome if tried == attempt and 200 <= status < 300 else ""
        return _in_trouble(version, said or _fault(status, truncated, size))

    def _good_version(self, url_id: int) -> Version | None:
        row = select_one(
            self._connection,
            "SELECT page.id, url.id, url.url, content_type, ifnull(digest, x''), size, fetched, title, is_page"
            " FROM page JOIN url ON url.id = page.url WHERE page.url = ? AND is_kept AND truncated = ''"
            " ORDER BY size > 0 DESC, attempt DESC LIMIT 1",
            (url_id,),
        )
        if row is None:
            return None
        version = Version(*row)
        return replace(version, is_page=bool(version.is_page))

    def _last_try(self, url_id: int) -> tuple[int | None, str]:
        """The number of the newest try that has something to be told, and that."""
        row = select_one(
            self._connection,
            "SELECT attempt, outcome FROM attempt WHERE url = ? ORDER BY attempt DESC LIMIT 1",
            (url_id,),
        )
        return (None, "") if row is None else (row[0], str(row[1]))


def _in_trouble(version: Version | None, trouble: str, leads_to: int | None = None) -> Standing:
    return Standing(version and replace(version, trouble=trouble), leads_to, trouble=trouble)


def _fault(status: int, truncated: str, size: int) -> str:
    if not 200 <= status < 300:
        return f"status {status}"
    if truncated == "length":
        return f"larger than max_size: only the first {size:,} bytes were fetched"
    if truncated:
        return f"the body was cut short: {truncated}"
    return "the body could not be used" if size else "the body is empty"
