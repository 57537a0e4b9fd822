"""Imports within the test: what was taken in, what was left out, and what the collection then has."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from crawl.crawling import ParsersInThreads
from gossamer import session
from gossamer.archive.catalogue import Filter, opened
from gossamer.archive.export.chosen import Choice, chosen
from gossamer.archive.export.pages import PageRow, page_rows
from gossamer.archive.search import search
from gossamer.archive.verify import verify
from gossamer.clock import timestamp
from gossamer.importing import ImportOrder, take_in
from gossamer.intake.importer import Problem, Tally
from gossamer.settings_files import load


@dataclass
class Imported:
    """What came of an import."""

    tally: Tally
    problems: list[Problem] = field(default_factory=list)

    @property
    def places(self) -> list[str]:
        """Where something was left out: the byte."""
        return [problem.place.rpartition(":")[2] for problem in self.problems]


def import_files(folder: Path, *files: Path, **settings: object) -> Imported:
    """Import files, pages being read in threads."""
    known = folder if (folder / "crawl.db").exists() else None
    loaded = load({"min_free": 0, **settings}, collection=known, environment={}, user_file=None)
    problems: list[Problem] = []
    with patch.object(session, "ParserPool", ParsersInThreads):
        tally = asyncio.run(take_in(ImportOrder(folder, files, loaded), problems.append))
    return Imported(tally, problems)


def import_data(folder: Path, *archives: bytes, **settings: object) -> Imported:
    """Import archives that are no files yet."""
    paths = []
    for number, data in enumerate(archives):
        paths.append(folder.parent / f"{folder.name}-{number}.warc.gz")
        paths[-1].write_bytes(data)
    return import_files(folder, *paths, **settings)


def check(folder: Path) -> None:
    """The collection is whole."""
    with opened(folder) as connection:
        assert [str(problem) for problem in verify(connection, folder, at_rest=True)] == []


def rows(folder: Path, *, newest_only: bool = False) -> list[PageRow]:
    """Every answer of a collection."""
    with opened(folder) as connection, chosen(connection, Choice(Filter(), newest_only=newest_only)):
        return list(page_rows(connection))


def by_path(folder: Path) -> dict[str, PageRow]:
    """The newest answer of each URL, by its path."""
    return {"/" + row.url.split("/", 3)[3]: row for row in rows(folder, newest_only=True)}


_WHERE_AND_WHEN = ("fetched", "duration", "segment", "offset", "length", "depth", "via", "parent", "payload_digest")


def said(row: PageRow) -> dict[str, Any]:
    """What an answer says, wherever it lies and however it was found."""
    return {name: getattr(row, name) for name in PageRow.__match_args__ if name not in _WHERE_AND_WHEN}


def contents(folder: Path) -> list[tuple[object, ...]]:
    """What a collection has: each answer, and each URL with its state."""
    answers = [(row.url, timestamp(row.fetched), str(said(row))) for row in rows(folder)]
    with opened(folder) as connection:
        states = connection.execute("SELECT url, state, held != 0 FROM url WHERE host IS NOT NULL OR kind = 'other'")
        robots = connection.execute("SELECT url FROM record")
        return sorted([*answers, *states, *robots], key=str)


def found(folder: Path, words: str) -> list[str]:
    """The URLs that a search finds, sorted."""
    with opened(folder) as connection:
        return sorted(hit.url for hit in search(connection, words, 100, 0))


def states(folder: Path) -> Mapping[str, tuple[str, str]]:
    """State and reason of each URL."""
    names = {0: "waiting", 2: "finished", 3: "failed"}
    with opened(folder) as connection:
        listed = connection.execute("SELECT url, state, held, reason FROM url")
        return {str(url): ("held" if held else names[int(state)], str(why)) for url, state, held, why in listed}
