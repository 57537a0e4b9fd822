"""The files of a copy: each saved URL's newest good body, its references made to point into the copy.

What pages need comes along: what the links of an HTML page say is known before; what only its rewriting or that of a
style sheet finds is added then, and the files that refer to it are made once more. So the result depends on the archive
and the chosen pages alone.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from gossamer.errors import ArchiveError
from gossamer.offline.abreast import Abreast
from gossamer.offline.check import Observe
from gossamer.offline.files import Files
from gossamer.offline.manifest import SavedFile
from gossamer.offline.names import table_of
from gossamer.offline.source import Source
from gossamer.offline.versions import Version
from gossamer.parse.job import RewriteJob
from gossamer.parse.rewriting.contract import Kind, Reference, Rewritten
from gossamer.parse.rewriting.places import write_places

_WHOLE = frozenset({"image/svg+xml"})
_BINARY = ("image/", "audio/", "video/", "font/", "application/octet-stream", "application/pdf", "application/zip")


class Rewriter(Protocol):
    """Files to be rewritten, in other processes."""

    async def rewrite(self, job: RewriteJob) -> Rewritten: ...


@dataclass(slots=True)
class Built:
    """What was made."""

    files: dict[str, SavedFile] = field(default_factory=dict)  # by URL
    places: dict[str, str] = field(default_factory=dict)  # of saved URLs and of those that redirect to them
    versions: dict[str, Version] = field(default_factory=dict)  # by URL
    lost: dict[str, str] = field(default_factory=dict)  # URLs whose bodies could not be read, with the reason
    lacking: dict[str, str] = field(default_factory=dict)  # what pages need and the archive has not, and who needs it
    notes: dict[str, str] = field(default_factory=dict)  # files that could not be rewritten
    live: Counter[str] = field(default_factory=Counter)  # references that lead to the live web, by kind
    linked: set[str] = field(default_factory=set)  # URLs that a person can go to from another saved page


class Builder:
    """Makes the files of one copy."""

    def __init__(
        self,
        source: Source,
        files: Files,
        work: Path,
        rewriter: Rewriter,
        observe: Observe,
        *,
        ascii_only: bool,
    ) -> None:
        """``work``: where the tables of places may lie."""
        self._observe = observe
        self._source = source
        self._files = files
        self._work = work
        self._rewriter = rewriter
        self._ascii_only = ascii_only
        self._built = Built()
        self._redirects = [
            (url, url_id, end.url)
            for url, url_id in source.versions.redirects()
            if (end := source.versions.end(url_id)) is not None and end.url != url
        ]
        self._would_change: dict[str, set[str]] = defaultdict(set)  # URL that may be saved yet: files that refer to it
        self._live: dict[str, Counter[str]] = {}  # by file's URL
        self._linked: set[str] = set()
        self._landing = cache(source.landing)
        self._tables = 0

    async def build(self, chosen: Iterable[Version]) -> Built:
        """Make the files of what was chosen and of what that needs. Raises ArchiveError when a file can't be written."""
        built = self._built
        pending = self._take(chosen)
        while pending:
            self._name()
            lacking: dict[str, str] = {}
            lost = await self._make_all(pending, lacking)
            built.lost |= lost
            for url in lost:
                self._drop(url)
            more = self._take(end for url in lacking if (end := self._source.end(url)) is not None)
            built.lacking |= {url: by for url, by in lacking.items() if self._source.end(url) is None}
            pending = self._again(more, lost=bool(lost))
        for counts in self._live.values():
            built.live.update(counts)
        built.linked |= {end.url for url in self._linked if (end := self._source.end(url)) is not None}
        return built

    def _take(self, versions: Iterable[Version]) -> list[Version]:
        """Versions that are to be saved, with all that they are known to need; those that are new."""
        built = self._built
        new: list[Version] = []
        waiting = list(versions)
        while waiting:
            version = waiting.pop()
            if version.url in built.versions or version.url in built.lost:
                continue
            built.versions[version.url] = version
            new.append(version)
            needed = self._source.needed(version)
            waiting += [end for url in needed if (end := self._source.end(url)) is not None]
        return new

    def _name(self) -> None:
        """The places of all that is saved by now."""
        built = self._built
        kinds = sorted((version.url, version.content_type) for version in built.versions.values())
        built.places = table_of(kinds, ascii_only=self._ascii_only)
        redirects = [each for each in self._redirects if each[2] in built.versions]
        landings = {url: f"{built.places[end]}\n{self._landing(url_id)}" for url, url_id, end in redirects}
        self._tables += 1
        write_places(self._table, sorted((built.places | landings).items()))
        built.places |= {url: built.places[end] for url, _, end in redirects}

    @property
    def _table(self) -> Path:
        return self._work / f"places-{self._tables}.db"

    def _again(self, more: list[Version], *, lost: bool) -> list[Version]:
        """What has to be made next: what is new, and what referred to it before; all, where something was lost."""
        built = self._built
        if lost:
            return list(built.versions.values())
        urls = {url for version in more for url in self._would_change.pop(version.url, ())}
        return more + [built.versions[url] for url in sorted(urls) if url in built.versions]

    def _drop(self, url: str) -> None:
        del self._built.versions[url]
        self._built.files.pop(url, None)
        self._live.pop(url, None)

    # --- one file

    async def _make_all(self, pending: list[Version], lacking: dict[str, str]) -> dict[str, str]:
        """Make files; gives those whose bodies can't be read."""
        lost: dict[str, str] = {}
        async with Abreast() as abreast:
            for number, version in enumerate(sorted(pending, key=lambda each: each.page)):  # as they lie in the archive
                self._observe("made", number, len(pending))
                try:
                    body, charset = self._source.read(version)
                except ArchiveError as error:
                    if isinstance(error.__cause__, OSError):
                        raise  # a disk's trouble says nothing of a page
                    lost[version.url] = error.message
                    continue
                await abreast.start(len(body), partial(self._make, version, body, charset, lacking))
        return lost

    async def _make(self, version: Version, body: bytes, charset: str, lacking: dict[str, str]) -> None:
        built = self._built
        place = built.places[version.url]
        if is_text(version.content_type):
            job = RewriteJob(version.url, body, version.content_type, charset, place, str(self._table))
            rewritten = await self._rewriter.rewrite(job)
            body = rewritten.body
            self._note(version, rewritten.references, lacking)
            if rewritten.note:
                built.notes[version.url] = rewritten.note
        self._files.write(place, body, version.fetched)
        digest, written = version.digest.hex(), sha256(body).hexdigest()
        built.files[version.url] = SavedFile(place, version.url, digest, written, version.fetched, version.trouble)

    def _note(self, version: Version, references: Iterable[Reference], lacking: dict[str, str]) -> None:
        """What a file refers to that is not saved: it may be yet, or is to be counted."""
        live: Counter[str] = Counter()
        for reference in references:
            if reference.saved:
                if reference.kind == Kind.PAGE and reference.url != version.url:
                    self._linked.add(reference.url)
                continue
            live[reference.kind] += 1
            end = self._source.end(reference.url)
            if end is not None:
                self._would_change[end.url].add(version.url)
            if reference.kind == Kind.REQUISITE and (end is None or end.url not in self._built.lost):
                lacking[reference.url] = min(version.url, lacking.get(reference.url, version.url))
        self._live[version.url] = live


def is_text(content_type: str) -> bool:
    """Whether a file may hold references, or characters whose encoding has to be said."""
    return content_type in _WHOLE or not content_type.startswith(_BINARY)
