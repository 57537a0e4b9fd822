"""What a site owner would mend: broken links, pages that nothing links to, redirects in a row, the same page twice."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gossamer.archive.graph.measures import chains
from gossamer.archive.graph.read import Graph, Ints, Is, Nodes
from gossamer.archive.graph.survey import Survey
from gossamer.parse.links import KINDS
from gossamer.records import FailureKind, Via


@dataclass(frozen=True, slots=True)
class Source:
    """Where a link stands."""

    url: str
    kind: Via


@dataclass(frozen=True, slots=True)
class Broken:
    """A URL that failed, or redirects to what failed, and who links to it."""

    url: str
    status: int | None
    reason: str
    end: str | None  # where its redirects end, if it has any and they do
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Orphan:
    """A URL that stands in a sitemap or feed, and no page links to it."""

    url: str
    title: str
    listed_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """Redirects in a row."""

    urls: tuple[str, ...]  # from the first to where they end, or meet again
    hops: int
    is_loop: bool
    is_broken: bool
    status: int | None  # of the last; this is a redirect where it leads nowhere
    reason: str  # of the last


@dataclass(frozen=True, slots=True)
class Duplicates:
    """URLs with the same bytes, in the order found."""

    urls: tuple[str, ...]
    size: int


def broken(survey: Survey) -> Iterator[Broken]:
    """What is wanted and failed, with every link to it."""
    nodes = np.flatnonzero(survey.measures.is_broken & survey.is_wanted)
    for node, places in _links_to(survey.graph, nodes):
        end = int(survey.measures.ends[node])
        yield Broken(
            survey.url(node),
            survey.newest(node, "status"),
            str(survey.column(node, "reason")),
            None if end == node else survey.url_or_none(end),
            tuple(_sources(survey, places)),
        )


def orphans(survey: Survey) -> Iterator[Orphan]:
    """What is wanted, stands in a sitemap or feed, and no page links to."""
    nodes = np.flatnonzero(survey.measures.is_orphan & survey.is_wanted)
    for node, places in _links_to(survey.graph, nodes):
        listing = tuple(source.url for source in _sources(survey, places) if source.kind is Via.LISTED)
        yield Orphan(survey.url(node), str(survey.newest(node, "title") or ""), listing)


def redirects(survey: Survey) -> Iterator[Chain]:
    """The redirects that begin with what is wanted."""
    for chain in chains(survey.graph.leads_to, survey.graph.are(Is.REDIRECT)):
        if survey.is_wanted[chain[0]]:
            reason = str(survey.column(chain[-1], "reason"))
            yield Chain(
                tuple(map(survey.url, chain)),
                len(chain) - 1,
                chain[-1] in chain[:-1] or reason.startswith(FailureKind.REDIRECT_LOOP),
                bool(survey.measures.is_broken[chain[0]]),
                survey.newest(chain[-1], "status"),
                reason,
            )


def duplicates(survey: Survey) -> Iterator[Duplicates]:
    """The groups of URLs with the same bytes of which one is wanted."""
    nodes = np.flatnonzero(survey.measures.originals >= 0)
    nodes = nodes[np.argsort(survey.measures.originals[nodes], kind="stable")]
    _, starts = np.unique(survey.measures.originals[nodes], return_index=True)
    for group in np.split(nodes, starts[1:]) if len(nodes) else []:
        if survey.is_wanted[group].any():
            yield Duplicates(tuple(map(survey.url, group.tolist())), int(survey.newest(int(group[0]), "size") or 0))


def _links_to(graph: Graph, nodes: Ints) -> Iterator[tuple[int, Ints]]:
    """Each of some nodes with the places of the edges that lead to it."""
    is_meant = np.zeros(graph.size, dtype=np.bool_)
    is_meant[nodes] = True
    places = np.flatnonzero(is_meant[graph.targets])
    places = places[np.argsort(graph.targets[places], kind="stable")]
    targets = graph.targets[places]
    starts, ends = np.searchsorted(targets, nodes), np.searchsorted(targets, nodes, side="right")
    for node, start, end in zip(nodes.tolist(), starts.tolist(), ends.tolist(), strict=True):
        yield node, places[start:end]


def _sources(survey: Survey, places: Ints) -> Iterator[Source]:
    sources: Nodes = (np.searchsorted(survey.graph.starts, places, side="right") - 1).astype(np.int32)
    for source, code in zip(sources.tolist(), survey.graph.codes[places].tolist(), strict=True):
        yield Source(survey.url(source), KINDS[code][0])
