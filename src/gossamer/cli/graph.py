"""`gossamer graph`: the web graph of a collection, with its measures."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, fields
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO

import click

from gossamer.archive.catalogue import opened
from gossamer.archive.graph.findings import Broken, Chain, Duplicates, Orphan, broken, duplicates, orphans, redirects
from gossamer.archive.graph.graphml import graphml
from gossamer.archive.graph.html import html
from gossamer.archive.graph.survey import Node, Survey
from gossamer.cli import output
from gossamer.cli.filters import filter_of, filter_options
from gossamer.cli.looking import folder_argument
from gossamer.cli.options import Command
from gossamer.cli.target import refuse_terminal, target_at_the_end
from gossamer.errors import UsageError
from gossamer.parse.links import KINDS

FIELDS = ("directed", "multigraph", "graph", "nodes", "edges", "broken", "orphans", "redirects", "duplicates")
NODE_FIELDS = tuple(field.name for field in fields(Node))
_FINDINGS: dict[str, Callable[[Survey], Iterable[Broken | Orphan | Chain | Duplicates]]] = {
    "broken": broken,
    "orphans": orphans,
    "redirects": redirects,
    "duplicates": duplicates,
}
_PIECE = 1 << 16  # characters that are written together
_KNOWN = 50_000  # addresses that are kept in memory
_FORMATS = ("html", "json", "graphml", "csv")


@click.command(
    cls=Command,
    examples=[
        ("example.org -o graph.html", "a page that shows it, to look around and to choose what is to be saved"),
        ("example.org --format json | jq .broken", "broken links with the pages they stand on"),
        ("example.org --format graphml -o example.graphml", "for Gephi, yEd, igraph or NetworkX"),
        ("example.org --format csv --table broken -o broken.csv", "one of its tables for a spreadsheet"),
    ],
)
@folder_argument
@click.argument("patterns", nargs=-1, metavar="[PATTERN...]")
@click.option("--format", "form", type=click.Choice(_FORMATS), help="what is made  [as FILE ends, or html]")
@click.option("-o", "--output", "target", metavar="FILE", help="where it goes; - is standard output")
@click.option("--table", type=click.Choice(["links", "nodes", *_FINDINGS]), help="which one, for csv  [links]")
@filter_options
def graph(folder: Path, form: str | None, target: str | None, table: str | None, **wanted: Any) -> None:
    """Write the web graph of the crawl in DIR: every URL with where it links to, and what the links say of it.

    Depth from the seeds, links in and out, PageRank, broken links, orphans, redirects and duplicates are those of the
    whole graph, also where only the URLs that match every condition and any PATTERN are written. It can be done beside
    a crawl.
    """
    form = form or _format_of(target)
    if table is not None and form != "csv":
        raise UsageError("--table is for csv", hint="the other formats have all of it")
    if form == "html":
        refuse_terminal(form, target)
    writers: dict[str, Callable[[Survey], Iterable[str]]] = {
        "html": html,
        "json": _json,
        "graphml": graphml,
        "csv": partial(_csv, table or "links"),
    }
    filtered = filter_of(**wanted)
    with target_at_the_end(target) as file, opened(folder) as connection, connection:
        _write(file, writers[form](Survey(connection, filtered)))


def _format_of(target: str | None) -> str:
    ending = Path(target or "").suffix.lower().removeprefix(".")
    return ending if ending in _FORMATS else "html"


def _write(file: BinaryIO, parts: Iterable[str]) -> None:
    file.writelines(part.encode("utf-8", "replace") for part in parts)


# --- JSON


def _json(survey: Survey) -> Iterator[str]:
    """One object; a line for each thing in it."""
    yield '{"directed": true, "multigraph": true,\n"graph": ' + output.json_text(asdict(survey.overview()))
    yield from _array("nodes", (output.json_text(_as_object(node)) for node in survey.nodes()))
    yield from _array("edges", _json_edges(survey))
    for name, find in _FINDINGS.items():
        yield from _array(name, (output.json_text(asdict(found)) for found in find(survey)))
    yield "}\n"


def _as_object(node: Node) -> dict[str, object]:
    return {name: getattr(node, name) for name in NODE_FIELDS}


def _json_edges(survey: Survey) -> Iterator[str]:
    """There are many of them, and they hold nothing that has to be escaped."""
    ends = {kind: f'"kind": "{kind[0]}", "nofollow": {"true" if kind[1] else "false"}}}' for kind in KINDS.values()}
    for edge in survey.edges():
        yield f'{{"source": {edge.source}, "target": {edge.target}, {ends[edge.kind, edge.nofollow]}'


def _array(name: str, items: Iterable[str]) -> Iterator[str]:
    yield f',\n"{name}": ['
    separator = "\n"
    for item in items:
        yield separator + item
        separator = ",\n"
    yield "\n]"


# --- CSV


def _csv(table: str, survey: Survey) -> Iterator[str]:
    """RFC 4180; a cell that a spreadsheet would run is made harmless."""
    names, rows = _TABLES[table]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(names)
    for row in rows(survey):
        writer.writerow(row)
        if text.tell() > _PIECE:
            yield text.getvalue()
            text.seek(0)
            text.truncate()
    yield text.getvalue()


def _cells(*values: object) -> list[str]:
    return [output.safe_cell(value) for value in values]


def _link_rows(survey: Survey) -> Iterator[list[str]]:
    """There are many of them, to few URLs."""
    address = lru_cache(maxsize=_KNOWN)(lambda url_id: output.safe_cell(survey.address(url_id)))
    for edge in survey.edges():
        yield [address(edge.source), address(edge.target), edge.kind, "yes" if edge.nofollow else "no"]


def _node_rows(survey: Survey) -> Iterator[list[str]]:
    for node in survey.nodes():
        yield _cells(*_as_object(node).values())


def _broken_rows(survey: Survey) -> Iterator[list[str]]:
    for found in broken(survey):
        for source in found.sources or (None,):
            place = (source.url, str(source.kind)) if source else (None, None)
            yield _cells(*place, found.url, found.status, found.reason, found.end)


def _orphan_rows(survey: Survey) -> Iterator[list[str]]:
    for found in orphans(survey):
        yield _cells(found.url, found.title, " ".join(found.listed_by))


def _redirect_rows(survey: Survey) -> Iterator[list[str]]:
    for found in redirects(survey):
        start, *between = found.urls
        how = (found.hops, found.is_loop, found.is_broken, found.status, found.reason)
        yield _cells(start, found.urls[-1], *how, " ".join(between[:-1]))


def _duplicate_rows(survey: Survey) -> Iterator[list[str]]:
    for found in duplicates(survey):
        for url in found.urls[1:]:
            yield _cells(url, found.urls[0], found.size)


_TABLES: dict[str, tuple[tuple[str, ...], Callable[[Survey], Iterable[list[str]]]]] = {
    "links": (("source", "target", "kind", "nofollow"), _link_rows),
    "nodes": (NODE_FIELDS, _node_rows),
    "broken": (("source", "kind", "url", "status", "reason", "end"), _broken_rows),
    "orphans": (("url", "title", "listed_by"), _orphan_rows),
    "redirects": (("url", "end", "hops", "is_loop", "is_broken", "status", "reason", "way"), _redirect_rows),
    "duplicates": (("url", "duplicate_of", "size"), _duplicate_rows),
}
