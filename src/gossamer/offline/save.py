"""One offline copy from the chosen pages to a folder that is complete and checked, and what has changed since before."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import apsw

from gossamer.archive.database import select
from gossamer.errors import ArchiveError, ProblemFound
from gossamer.offline import manifest as manifests
from gossamer.offline.abreast import Abreast
from gossamer.offline.build import Builder, Built, Rewriter
from gossamer.offline.check import Checked, Observe, Reader, Unresolved, check
from gossamer.offline.choice import Chosen
from gossamer.offline.dead import dead_fragments
from gossamer.offline.files import Files
from gossamer.offline.manifest import MANIFEST, Manifest
from gossamer.offline.place import Workplace
from gossamer.offline.searching import write_index, write_search_page
from gossamer.offline.sitemap import site_map
from gossamer.offline.source import Source
from gossamer.offline.tree import Folder
from gossamer.offline.versions import Version, Versions

INDEX = "index.html"


class Workers(Rewriter, Reader, Protocol):
    """Parser workers."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What a copy holds, and how it differs from the one before. The lists are of URLs."""

    title: str
    pages: int
    files: int
    bytes: int
    written: int  # files that are new or other than before
    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()  # the server says that there is no such page any more
    left_out: tuple[str, ...] = ()  # was in the earlier copy, and is not chosen or needed any more
    kept: Mapping[str, str] = field(default_factory=dict)  # failed today, kept from an earlier day; why
    missing: Mapping[str, str] = field(default_factory=dict)  # chosen, and there is nothing to be saved; why
    lacking: Mapping[str, str] = field(default_factory=dict)  # needed by pages and not there; a page that needs it
    notes: Mapping[str, str] = field(default_factory=dict)  # files that could not be rewritten
    live: Mapping[str, int] = field(default_factory=dict)  # references that lead to the live web, by kind
    resolved: int = 0  # local references that lead to a file
    unresolved: tuple[Unresolved, ...] = ()
    dead: tuple[Unresolved, ...] = ()  # fragments that name nothing, online either


def identity(connection: apsw.Connection) -> str:
    """What tells collections apart: of their secret, which nobody can find out from it."""
    ((secret,),) = select(connection, "SELECT value FROM meta WHERE name = 'secret'")
    return hashlib.blake2b(bytes(secret), digest_size=16, person=b"gossamer copy").hexdigest()


def title_of(connection: apsw.Connection) -> str:
    """The title of the page that the crawl began with, or its host."""
    versions = Versions(connection)
    seeds = select(connection, "SELECT id FROM url WHERE depth = 0 AND host IS NOT NULL ORDER BY id LIMIT 100")
    found = [end for (url_id,) in seeds if (end := versions.end(url_id)) is not None]
    titles = [end.title.strip() for end in found if end.title.strip()]
    if titles:
        return titles[0]
    hosts = select(connection, "SELECT hostname FROM host ORDER BY id LIMIT 1")
    return str(hosts[0][0]) if hosts else "offline copy"


async def save(
    source: Source,
    chosen: list[Chosen],
    place: Workplace,
    earlier: Manifest | None,
    workers: Workers,
    observe: Observe = lambda *_: None,
    *,
    ascii_only: bool = False,
    force: bool = False,
) -> Saved:
    """Build and check the copy of the chosen URLs in the workplace; it is put in place by `Workplace.swap`.

    Raises ArchiveError when it can't be written, and without ``force`` when the earlier copy has a page that is damaged
    in the archive; ProblemFound when there is nothing to save.
    """
    ends, wanted = ends_of(chosen, source)
    files = Files(place.copy, place.out if earlier is not None and place.out.is_dir() else None)
    built = await Builder(source, files, place.folder, workers, observe, ascii_only=ascii_only).build(wanted)
    if earlier is not None and not force:
        keep_what_is_damaged(earlier, built)
    missing = missing_of(chosen, ends, built, source.versions)
    title = title_of(source.connection)
    listed = [end.url for end in wanted]
    files.write(INDEX, site_map(source.connection, title, built, listed, missing))
    own = write_search_page(title, files)
    found: list[Checked] = []

    async def walk() -> None:
        found.append(await check(Folder(place.copy), workers, observe))

    async with Abreast() as abreast:  # workers read what was made while the index is made here
        await abreast.start(0, walk)
        own += await write_index(source.connection, built, files, observe)
    checked = await dead_fragments(found[0], built, source, workers)
    record = Manifest(
        identity(source.connection),
        title,
        tuple(built.files.values()),
        (INDEX, MANIFEST, *own),
        tuple((each.target, each.fragment) for each in checked.dead),
        dict(built.live),
    )
    files.write(MANIFEST, manifests.write(record))
    return report(record, earlier, built, missing, gone(chosen, source.versions), files.written, checked)


def ends_of(chosen: Iterable[Chosen], source: Source) -> tuple[dict[str, Version | None], list[Version]]:
    """What each chosen URL leads to, and those that lead to something. Raises ProblemFound when none does."""
    ends = {each.url: source.versions.end(each.id) for each in chosen}
    wanted = [end for end in ends.values() if end is not None]
    if not wanted:
        raise ProblemFound("of what was chosen nothing could be fetched", hint="gossamer urls tells why")
    return ends, wanted


def keep_what_is_damaged(earlier: Manifest, built: Built) -> None:
    """What the archive has no more stays where it still is."""
    for file in earlier.files:
        if file.url in built.lost:
            raise ArchiveError(
                f"{file.url} can't be saved anew ({built.lost[file.url]}), and the earlier copy has it",
                hint="keep that copy, or replace it with --force",
            )


def missing_of(
    chosen: Iterable[Chosen], ends: Mapping[str, Version | None], built: Built, versions: Versions
) -> dict[str, str]:
    """What was chosen and is not saved, and why."""
    why = {}
    for each in chosen:
        end = ends[each.url]
        if end is None:
            standing = versions.standing(each.id)
            why[each.url] = standing.trouble or each.reason or ("not fetched yet" if each.is_waiting else "no content")
        elif end.url in built.lost:
            why[each.url] = built.lost[end.url]
    return why


def gone(chosen: Iterable[Chosen], versions: Versions) -> list[str]:
    """What was chosen and is there no more."""
    return [each.url for each in chosen if versions.standing(each.id).is_gone]


def report(
    record: Manifest,
    earlier: Manifest | None,
    built: Built,
    missing: Mapping[str, str],
    lost: list[str],
    written: int,
    checked: Checked,
) -> Saved:
    """What is told of a copy, ``earlier`` being the one before it."""
    before = {file.url: file.digest for file in earlier.files} if earlier is not None else {}
    now = {file.url: file.digest for file in record.files}
    return Saved(
        title=record.title,
        pages=sum(version.is_page for version in built.versions.values()),
        files=len(now),
        bytes=sum(version.size for version in built.versions.values()),
        written=written,
        new=tuple(sorted(now.keys() - before.keys())) if earlier is not None else (),
        changed=tuple(sorted(url for url, digest in now.items() if before.get(url, digest) != digest)),
        gone=tuple(sorted(lost)),
        left_out=tuple(sorted(before.keys() - now.keys() - set(lost) - missing.keys())),
        kept={file.url: file.trouble for file in record.files if file.trouble},
        missing={url: why for url, why in missing.items() if url not in lost},
        lacking=built.lacking,
        notes=built.notes,
        live=record.live,
        resolved=checked.local,
        unresolved=checked.unresolved,
        dead=checked.dead,
    )
