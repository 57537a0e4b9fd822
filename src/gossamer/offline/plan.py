"""What has to be fetched before a copy can be made: chosen pages that wait, and what pages need that is not here yet."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gossamer.archive.database import select_one
from gossamer.archive.history import find
from gossamer.errors import ArchiveError
from gossamer.offline.build import Rewriter, is_text
from gossamer.offline.choice import Chosen
from gossamer.offline.source import Source
from gossamer.offline.versions import MAX_REDIRECTS, Version
from gossamer.parse.job import RewriteJob
from gossamer.parse.rewriting.contract import Kind
from gossamer.parse.rewriting.places import write_places
from gossamer.policy.robots import REFUSED_BY_ROBOTS
from gossamer.policy.scope import HELD_BY_JUDGE
from gossamer.records import Candidate, Hold, State, Via

_FOR_GOOD = (REFUSED_BY_ROBOTS, "excluded by", "skipped", HELD_BY_JUDGE)
"""How the reasons begin for which a URL stays unfetched, also when it is named or needed."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is here already, and what has to be fetched."""

    pages: int  # HTML that is here
    files: int  # pages included
    bytes: int  # of all that is here, decoded
    fetch: tuple[Candidate, ...]

    @property
    def expected(self) -> int:
        """Bytes that are still to come, about: by the average of what is here. 0: nobody knows."""
        return self.bytes // self.files * len(self.fetch) if self.files else 0


class Planner:
    """Finds out what is missing; what was asked for once is not asked for again."""

    def __init__(self, source: Source, rewriter: Rewriter, work: Path) -> None:
        """``work``: a folder for what is needed meanwhile."""
        self._source = source
        self._rewriter = rewriter
        self._table = work / "nothing.db"
        self._fetch: dict[str, Candidate] = {}

    async def plan(self, chosen: Iterable[Chosen]) -> Plan:
        """What the copy of the chosen URLs takes."""
        waiting: list[Version] = []
        for each in chosen:
            end = self._source.versions.end(each.id)
            if each.is_waiting or end is None:
                self._want(each.url, None)
            if end is not None:
                waiting.append(end)
        here, lacking = await self.needed(waiting)
        for url, parent in lacking.items():
            self._want(url, parent)
        pages = sum(version.is_page for version in here.values())
        size = sum(version.size for version in here.values())
        return Plan(pages, len(here), size, tuple(self._fetch.values()))

    async def needed(self, versions: Iterable[Version]) -> tuple[dict[str, Version], dict[str, Version]]:
        """Some files and all that they need, by URL; and the URLs that are needed and not here, each with what needs it."""
        write_places(self._table, ())
        here: dict[str, Version] = {}
        lacking: dict[str, Version] = {}
        waiting = list(versions)
        while waiting:
            version = waiting.pop()
            if version.url in here:
                continue
            here[version.url] = version
            for url in await self._needed(version):
                end = self._source.end(url)
                if end is None:
                    lacking.setdefault(url, version)
                elif end.url not in here:
                    waiting.append(end)
        return here, lacking

    async def _needed(self, version: Version) -> list[str]:
        known = self._source.needed(version)
        if version.is_page or not is_text(version.content_type):
            return known
        try:
            body, charset = self._source.read(version)
        except ArchiveError:
            return known  # told when it is to be saved
        # its place does not matter where nothing is saved
        job = RewriteJob(version.url, body, version.content_type, charset, "a/b", str(self._table))
        rewritten = await self._rewriter.rewrite(job)
        return known + [reference.url for reference in rewritten.references if reference.kind == Kind.REQUISITE]

    def _want(self, url: str, parent: Version | None) -> None:
        """Note a URL to be fetched, or the end of its redirects, where that can be."""
        connection = self._source.connection
        url_id = find(connection, url)
        for _ in range(MAX_REDIRECTS):
            target = None if url_id is None else self._source.versions.standing(url_id).leads_to
            if target is None:
                break
            url_id = target
        if url_id is None:
            self._fetch[url] = _candidate(url, parent)
            return
        row = select_one(
            connection,
            "SELECT url, state, held, reason, put_aside FROM url JOIN host ON host.id = url.host WHERE url.id = ?",
            (url_id,),
        )
        if row is None:
            return
        url, state, held, reason, put_aside = row
        may_be = state == State.WAITING and not put_aside
        if may_be and not (held != Hold.NO and str(reason).startswith(_FOR_GOOD)):
            self._fetch[url] = _candidate(url, parent)


def _candidate(url: str, parent: Version | None) -> Candidate:
    return Candidate(url, Via.NEEDED, depth=1, parent=None if parent is None else parent.url_id)
