"""One page as one file: what it needs is part of it, so that it opens anywhere and asks nobody for anything."""

import json
from itertools import islice
from pathlib import Path

import apsw

from gossamer.archive.aside import written_aside
from gossamer.errors import ArchiveError, UsageError
from gossamer.offline import manifest as manifests
from gossamer.offline.build import Built, Rewriter, is_text
from gossamer.offline.check import DOCUMENTS, Checked, Reader, names_something
from gossamer.offline.choice import Choice, Chosen, chosen
from gossamer.offline.dead import names_in
from gossamer.offline.manifest import Manifest, SavedFile
from gossamer.offline.pagecheck import check_page, told_apart
from gossamer.offline.place import Workplace
from gossamer.offline.save import (
    Saved,
    Workers,
    ends_of,
    gone,
    identity,
    keep_what_is_damaged,
    missing_of,
    report,
)
from gossamer.offline.source import Source
from gossamer.offline.versions import Version, Versions
from gossamer.parse.job import RewriteJob
from gossamer.parse.rewriting.contract import Kind, Rewritten
from gossamer.parse.rewriting.datauri import data_url
from gossamer.parse.rewriting.embed import IN_FRAME, MODULES, module_name
from gossamer.parse.rewriting.places import write_places

MOST = 64 * 1024 * 1024
"""Bytes of such a file: browsers get slow, and what is met twice in a page is twice in it."""

_LOOKED_AT = 10  # chosen URLs, for a title: more than one is refused
_NOTE = b"<!-- gossamer copy: "
_NOTE_END = b" -->"
_LONGEST_NOTE = 8 * 1024 * 1024
_ESCAPED = {ord(character): f"\\u{ord(character):04x}" for character in "-<>"}
_HTML = "text/html"
_SCRIPTS = ("javascript", "ecmascript")


async def save_page(
    source: Source,
    wanted: list[Chosen],
    place: Workplace,
    earlier: Manifest | None,
    workers: Workers,
    *,
    force: bool,
) -> Saved:
    """Make the file of the one page that is chosen and put it in place.

    Raises UsageError where it is not one, ArchiveError where it is too large or can't be written; else as `save.save`.
    """
    ends, found = ends_of(wanted, source)
    page = _one(found)
    embedding = Embedding(source, workers, place.folder)
    body = await embedding.page(page)
    built = embedding.built
    if earlier is not None and not force:
        keep_what_is_damaged(earlier, built)
    files = tuple(
        SavedFile(each.url, each.url, each.digest.hex(), each.digest.hex(), each.fetched, each.trouble)
        for each in built.versions.values()
    )
    checked = await check_page(body, page.content_type, place.out.name, workers)
    dead = await _dead(checked, built, source, workers)
    title = page.title.strip() or page.url
    record = Manifest(identity(source.connection), title, files, dead=dead, live=dict(built.live))
    before = {(file.url, file.digest) for file in earlier.files} if earlier is not None else set()
    body += _note(record)
    with written_aside(place.file) as file:
        file.write(body)
    place.swap_file()
    written = int(earlier is None or before != {(file.url, file.digest) for file in files})
    missing = missing_of(wanted, ends, built, source.versions)
    return report(
        record, earlier, built, missing, gone(wanted, source.versions), written, told_apart(checked, dead_of(record))
    )


async def _dead(checked: Checked, built: Built, source: Source, reader: Reader) -> tuple[tuple[str, str], ...]:
    """Fragments that name nothing in any file of the page as it came either; they are in no file of their own."""
    found = {each.fragment for each in checked.unresolved if each.fragment}
    names: set[str] = set()
    for version in built.versions.values() if found else ():
        if version.content_type in DOCUMENTS:
            names |= await names_in(version, source, reader)
    return tuple(("", each) for each in sorted(found) if not names_something(each, frozenset(names)))


def dead_of(record: Manifest | None) -> frozenset[str]:
    """The fragments that a page says to be dead online."""
    return frozenset() if record is None else frozenset(fragment for _, fragment in record.dead)


def page_title(connection: apsw.Connection, choice: Choice) -> str:
    """The title of the page that a choice is about, or its address. Raises UsageError as `chosen` does."""
    versions = Versions(connection)
    ends = [(each.url, versions.end(each.id)) for each in islice(chosen(connection, choice), _LOOKED_AT)]
    titles = [end.title.strip() for _, end in ends if end is not None and end.is_page and end.title.strip()]
    return titles[0] if titles else ends[0][0].partition("://")[2]


def _one(wanted: list[Version]) -> Version:
    pages = {version.url: version for version in wanted if version.is_page}
    if len(pages) == 1:
        return next(iter(pages.values()))
    hint = "name it in a file that --from gets, or make a zip file: --format zip"
    if not pages:
        raise UsageError(f"{wanted[0].url} is no page but {wanted[0].content_type}", hint=hint)
    raise UsageError(f"{len(pages)} pages are chosen, and a single file holds one", hint=hint)


class Embedding:
    """Makes one page with all that it needs. Each file is made once, whoever needs it."""

    def __init__(self, source: Source, rewriter: Rewriter, work: Path) -> None:
        """``work``: a folder for what is needed meanwhile."""
        self.built = Built()
        self._source = source
        self._rewriter = rewriter
        self._work = work
        self._tables = 0
        self._made: dict[str, str] = {}  # data: URLs, by URL
        self._busy: set[str] = set()  # files that are being made: what needs itself gets nothing
        self._modules: dict[str, str] = {}  # their names, and the URLs of their files

    async def page(self, version: Version) -> bytes:
        """The page. Raises ArchiveError where its body can't be read, or it is too large."""
        self._busy.add(version.url)
        return await self._file(version, "")

    async def _file(self, version: Version, place: str) -> bytes:
        """A file with what it needs in it."""
        body, charset = self._source.read(version)
        self.built.versions[version.url] = version
        if not is_text(version.content_type):
            return body
        first = await self._rewrite(version, body, charset, place, {})
        own = frozenset(self._source.needed(version))  # frames of the same site among it
        needed = [
            each.url
            for each in first.references
            if each.kind == Kind.REQUISITE or (each.kind == Kind.FRAME and each.url in own)
        ]
        table: dict[str, str] = {}
        for url in dict.fromkeys(needed):
            data = await self._needed(url, version)
            if data is not None:
                table[url] = data
        if not _is_script(version):
            table[MODULES] = json.dumps(
                {name: self._made[url] for name, url in sorted(self._modules.items()) if url in self._made}
            )
        last = await self._rewrite(version, body, charset, place, table)
        if last.note:
            self.built.notes[version.url] = last.note
        self.built.live.update(
            Kind.PAGE if each.kind == Kind.FRAME else each.kind for each in last.references if not each.saved
        )
        return self._bounded(last.body)

    async def _rewrite(
        self, version: Version, body: bytes, charset: str, place: str, table: dict[str, str]
    ) -> Rewritten:
        self._tables += 1
        path = self._work / f"embedded-{self._tables}.db"
        write_places(path, table.items())
        job = RewriteJob(version.url, body, version.content_type, charset, place, str(path), embed=True)
        return await self._rewriter.rewrite(job)

    async def _needed(self, url: str, by: Version) -> str | None:
        """What stands for a URL in the file that needs it; None where it can't be had."""
        end = self._source.end(url)
        if end is None:
            self.built.lacking.setdefault(url, by.url)
            return None
        if end.url not in self._made and end.url not in self._busy:
            self._busy.add(end.url)
            try:
                body = await self._file(end, IN_FRAME if end.content_type == _HTML else "")
            except ArchiveError as error:
                if end.url in self.built.versions or isinstance(error.__cause__, OSError):
                    raise  # it is too large, or it is the disk's trouble
                self.built.lost[end.url] = error.message
                return None
            finally:
                self._busy.discard(end.url)
            self._made[end.url] = data_url(end.content_type, body)
            self._bounded(self._made[end.url].encode())
        if _is_script(by) and _is_script(end):
            self._modules[module_name(end.url)] = end.url
            return module_name(end.url)
        return self._made.get(end.url, f"data:{end.content_type},")

    def _bounded(self, body: bytes) -> bytes:
        if len(body) > MOST:
            raise ArchiveError(
                f"the page with all that it needs is larger than {MOST // 1024 // 1024} MB, which a single file may be",
                hint="save it as a folder or zip file: --format zip",
            )
        return body


def _is_script(version: Version) -> bool:
    return version.content_type.endswith(_SCRIPTS)


# --- what the file says of itself


def _note(record: Manifest) -> bytes:
    """A comment behind everything, by which the next save knows what it changes."""
    text = manifests.write(record).decode().replace("\n", "").translate(_ESCAPED)
    return b"%b%b%b" % (_NOTE, text.encode(), _NOTE_END)


def noted(path: Path) -> Manifest | None:
    """The manifest in such a file; None where there is none."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _LONGEST_NOTE))
            end = file.read(_LONGEST_NOTE)
    except OSError:
        return None
    start = end.rfind(_NOTE)
    if start < 0 or not end.rstrip().endswith(_NOTE_END.strip()):
        return None
    return manifests.loads(end[start + len(_NOTE) : end.rfind(_NOTE_END)])
