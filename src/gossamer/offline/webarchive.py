"""A copy as a web archive (WACZ): the answers themselves, of the chosen pages and of what they need, in one file.

Nothing is rewritten: replayweb.page shows the pages under their own addresses.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from gossamer.archive.database import select
from gossamer.archive.disk import write_error
from gossamer.archive.export.chosen import chosen_pages
from gossamer.archive.export.wacz import Identity, write_wacz
from gossamer.archive.export.warc import Trouble
from gossamer.offline import manifest as manifests
from gossamer.offline.build import Built, Rewriter
from gossamer.offline.check import Observe
from gossamer.offline.choice import Chosen
from gossamer.offline.manifest import MANIFEST, Manifest, SavedFile
from gossamer.offline.place import Workplace
from gossamer.offline.plan import Planner
from gossamer.offline.save import Saved, ends_of, gone, identity, keep_what_is_damaged, missing_of, report, title_of
from gossamer.offline.source import Source
from gossamer.offline.versions import Version
from gossamer.offline.webcheck import check_web_archive


@dataclass(frozen=True, slots=True)
class _Content:
    """What goes into an archive."""

    title: str
    listed: frozenset[str]  # chosen pages, by URL
    versions: tuple[Version, ...]  # in the order of their pages' rows
    redirects: tuple[int, ...]  # rows of answers that lead to these


async def save_web_archive(
    source: Source,
    chosen: list[Chosen],
    place: Workplace,
    earlier: Manifest | None,
    workers: Rewriter,
    observe: Observe,
    *,
    force: bool,
) -> Saved:
    """Make the web archive of the chosen URLs and put it in place. Raises as `save.save` and `Workplace.swap_file` do."""
    ends, wanted = ends_of(chosen, source)
    built = Built()
    built.versions, lacking = await Planner(source, workers, place.folder).needed(wanted)
    built.lacking = {url: parent.url for url, parent in lacking.items()}
    content = _Content(
        title_of(source.connection),
        frozenset(end.url for end in wanted),
        tuple(sorted(built.versions.values(), key=lambda version: version.page)),
        tuple(_redirects(source, built.versions)),
    )
    record = _record(source, content, built.lost)
    lost = _write(source, place.file, content, record)
    if lost:
        _drop(built, lost)
        if earlier is not None and not force:
            keep_what_is_damaged(earlier, built)
        content = _without(content, lost)
        record = _record(source, content, built.lost)
        _write(source, place.file, content, record)
    checked = check_web_archive(place.file, observe)
    place.swap_file()
    before = {(file.url, file.fetched, file.digest) for file in earlier.files} if earlier is not None else set()
    written = sum((file.url, file.fetched, file.digest) not in before for file in record.files)
    missing = missing_of(chosen, ends, built, source.versions)
    return report(record, earlier, built, missing, gone(chosen, source.versions), written, checked)


def _redirects(source: Source, versions: dict[str, Version]) -> Iterable[int]:
    """The newest answers that lead to what is saved."""
    for url, url_id in source.versions.redirects():
        end = source.versions.end(url_id)
        if end is not None and end.url != url and end.url in versions:
            rows = select(
                source.connection, "SELECT id FROM page WHERE url = ? ORDER BY attempt DESC LIMIT 1", (url_id,)
            )
            yield from (page for (page,) in rows)


def _record(source: Source, content: _Content, lost: dict[str, str]) -> Manifest:
    files = tuple(
        SavedFile(each.url, each.url, each.digest.hex(), each.digest.hex(), each.fetched, each.trouble)
        for each in content.versions
        if each.url not in lost
    )
    return Manifest(identity(source.connection), content.title, files, _ENTRIES)


def _write(source: Source, target: Path, content: _Content, record: Manifest) -> dict[str, str]:
    """Write the archive; gives the URLs whose answers are damaged, with the reason. Raises ArchiveError."""
    pages = [version.page for version in content.versions] + list(content.redirects)
    note = manifests.write(record)
    lost: dict[str, str] = {}

    def tell(trouble: Trouble) -> None:
        if trouble.lost:
            lost[trouble.lost] = trouble.message

    about = Identity(
        content.title, uuid5(NAMESPACE_URL, f"{record.collection} {sorted(pages)}"), content.listed, (MANIFEST, note)
    )
    newest = max((version.fetched for version in content.versions), default=0.0)
    try:
        with target.open("wb") as file:
            with chosen_pages(source.connection, pages):
                write_wacz(source.connection, source.folder, file, now=newest, tell=tell, identity=about)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise write_error(target, error) from error
    return lost


def _drop(built: Built, lost: dict[str, str]) -> None:
    for url, reason in lost.items():
        built.lost[url] = reason
        built.versions.pop(url, None)


def _without(content: _Content, lost: dict[str, str]) -> _Content:
    versions = tuple(version for version in content.versions if version.url not in lost)
    return _Content(content.title, content.listed - lost.keys(), versions, content.redirects)


_ENTRIES = (
    *("archive/data.warc.gz", "indexes/index.cdx.gz", "indexes/index.idx", "pages/pages.jsonl", MANIFEST),
    *("datapackage.json", "datapackage-digest.json"),
)
