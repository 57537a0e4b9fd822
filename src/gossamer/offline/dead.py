"""Fragments that name nothing in a copy, told apart: dead online too, or lost on the way into the copy."""

import codecs
import json
from collections import defaultdict
from dataclasses import replace

from gossamer.errors import ArchiveError
from gossamer.offline.build import Built
from gossamer.offline.check import Checked, Reader, Unresolved, names_something
from gossamer.offline.source import Source
from gossamer.offline.versions import Version
from gossamer.parse import encoding
from gossamer.parse.job import Derived, ParseJob


async def dead_fragments(checked: Checked, built: Built, source: Source, reader: Reader) -> Checked:
    """The same findings, those fragments among the dead that name nothing in the page as it came either."""
    urls = {file.path: url for url, file in built.files.items()}
    by_file: dict[str, list[Unresolved]] = defaultdict(list)
    for each in checked.unresolved:
        if each.fragment:
            by_file[each.target].append(each)
    dead: list[Unresolved] = []
    for path, found in by_file.items():
        url = urls.get(path)
        names = frozenset[str]() if url is None else await names_in(built.versions[url], source, reader)
        dead += [each for each in found if not names_something(each.fragment, names)]
    known = set(map(id, dead))
    unresolved = tuple(each for each in checked.unresolved if id(each) not in known)
    return replace(checked, unresolved=unresolved, dead=(*checked.dead, *dead))


async def names_in(version: Version, source: Source, reader: Reader) -> frozenset[str]:
    """What fragments can name in a page as it came."""
    try:
        body, charset = source.read(version)
    except ArchiveError:
        return frozenset()
    text, _ = encoding.decode(body, charset)
    job = ParseJob(
        version.url,
        (("content-type", version.content_type),),
        codecs.BOM_UTF8 + text.encode("utf-8", "replace"),
        derive=Derived.BROWSED,
    )
    facts = await reader.parse(job)
    return frozenset(json.loads(facts.derived)["names"]) if facts.derived else frozenset()
