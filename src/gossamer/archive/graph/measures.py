"""What a site owner wants to know of a web graph. Pure.

A link, here, is what takes a reader from one URL to another: `<a>`, areas, frames, a refresh, a redirect. Several from
one page to another count once, and those of a page to itself not at all.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer.archive.graph.read import Bools, Graph, Ints, Is, Nodes
from gossamer.parse.links import KINDS
from gossamer.records import Via

Floats = NDArray[np.float64]

DAMPING = 0.85
"""How often a reader follows a link, in PageRank, rather than to go to any page at random (Brin and Page, 1998)."""

MAX_HOPS = 100
"""Redirects in a row that are followed; the crawl's own setting allows no more."""


def _of_codes(holds: Callable[[Via, bool], bool]) -> Bools:
    """For each code of a kind of link, whether that holds."""
    return np.array([code in KINDS and holds(*KINDS[code]) for code in range(256)])


HYPERLINKS = (Via.ANCHOR, Via.AREA, Via.FRAME, Via.IFRAME, Via.REFRESH, Via.REDIRECT)
_IS_HYPERLINK = _of_codes(lambda via, _: via in HYPERLINKS)
_IS_FOLLOWED = _of_codes(lambda _, nofollow: not nofollow)
_IS_LISTING = _of_codes(lambda via, _: via is Via.LISTED)
_PRECISE = 1e-9  # the sum of what a round of PageRank changes when it ends
_ROUNDS = 200  # of it, at the most
_CHUNK = 1 << 20  # edges that are looked at together


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """The pairs of nodes of which the first links to the second, each once, ordered."""

    starts: Ints  # those of node n are from starts[n] to starts[n + 1]
    sources: Nodes
    targets: Nodes
    is_followed: Bools  # false: nofollow, wherever the page has it


@dataclass(frozen=True, slots=True, eq=False)
class Measures:
    """A value for each node."""

    depth: Nodes  # links from the nearest seed, redirects not counted; -1: no links lead there
    in_degree: Ints  # URLs that link to it
    out_degree: Ints  # URLs that it links to
    pagerank: Floats  # of all pages and whatever is linked to; their sum is 1. NaN: none of these
    ends: Nodes  # where redirects from it end: itself, where it is none; -1: they never end
    is_broken: Bools  # it failed, or redirects to what failed or never ends
    is_orphan: Bools  # a sitemap or feed has it, and no links do
    originals: Nodes  # the first node with the same bytes, itself included; -1: it has none


def measure(graph: Graph) -> Measures:
    """All measures of a graph."""
    links = hyperlinks(graph)
    in_degree = np.bincount(links.targets, minlength=graph.size)
    ends = redirect_ends(graph.leads_to)
    is_failed = graph.are(Is.FAILED)
    seeds = graph.are(Is.SEED)
    return Measures(
        depth=distances(links, np.flatnonzero(seeds), graph.leads_to),
        in_degree=in_degree,
        out_degree=np.diff(links.starts),
        pagerank=pagerank(links, graph.are(Is.PAGE)),
        ends=ends,
        is_broken=is_failed | (ends < 0) | is_failed[ends],
        is_orphan=_is_listed(graph) & (in_degree == 0) & ~seeds,
        originals=originals(graph.digests),
    )


def hyperlinks(graph: Graph) -> Links:
    """The links of a graph that readers follow."""
    sources = graph.sources()
    is_one = _IS_HYPERLINK[graph.codes] & (sources != graph.targets)
    sources, targets, follows = sources[is_one], graph.targets[is_one], _IS_FOLLOWED[graph.codes[is_one]]
    is_first = np.ones(len(sources), dtype=np.bool_)
    is_first[1:] = (sources[1:] != sources[:-1]) | (targets[1:] != targets[:-1])
    if len(follows):
        follows = np.logical_or.reduceat(follows, np.flatnonzero(is_first))
    sources, targets = sources[is_first], targets[is_first]
    starts = np.zeros(graph.size + 1, dtype=np.int64)
    np.cumsum(np.bincount(sources, minlength=graph.size), out=starts[1:])
    return Links(starts, sources, targets, follows)


def _is_listed(graph: Graph) -> Bools:
    listed = np.zeros(graph.size, dtype=np.bool_)
    listed[graph.targets[_IS_LISTING[graph.codes]]] = True
    return listed


def distances(links: Links, seeds: Ints, leads_to: Nodes) -> Nodes:
    """How many links lead from the nearest seed to each node; a redirect takes nobody further. -1: none lead there."""
    found = np.full(len(leads_to), -1, dtype=np.int32)
    reached, depth = seeds.astype(np.int32), 0
    while len(reached):
        found[reached] = depth
        level = [reached]
        while len(reached := _unmet(leads_to[reached], found)):
            found[reached] = depth
            level.append(reached)
        reached = _unmet(_targets_of(links, np.concatenate(level)), found)
        depth += 1
    return found


def _unmet(nodes: Nodes, found: Nodes) -> Nodes:
    nodes = nodes[nodes >= 0]
    return np.unique(nodes[found[nodes] < 0])


def _targets_of(links: Links, nodes: Nodes) -> Nodes:
    """All targets of some nodes' links."""
    starts, counts = links.starts[nodes], links.starts[nodes + 1] - links.starts[nodes]
    before = np.cumsum(counts) - counts
    places = np.repeat(starts - before, counts) + np.arange(counts.sum())
    return links.targets.take(places)


def pagerank(links: Links, is_page: Bools) -> Floats:
    """The chance to meet a reader at each node who begins at any, and for ever follows a link at random or begins anew.

    Where no link leads on, a reader begins anew. Links with nofollow are not followed. NaN: no page, and not linked to.
    """
    is_meant = is_page.copy()
    is_meant[links.sources] = is_meant[links.targets] = True
    size = max(int(np.count_nonzero(is_meant)), 1)
    sources, targets = links.sources[links.is_followed], links.targets[links.is_followed]
    counts = np.bincount(sources, minlength=len(is_page))
    rank = is_meant / size
    for _ in range(_ROUNDS):
        passed = _passed_on(rank / np.maximum(counts, 1), sources, targets)
        anew = 1 - DAMPING * passed.sum()
        before, rank = rank, np.where(is_meant, DAMPING * passed + anew / size, 0)
        if np.abs(rank - before).sum() < _PRECISE:
            break
    return np.where(is_meant, rank, np.nan)


def _passed_on(shares: Floats, sources: Nodes, targets: Nodes) -> Floats:
    passed = np.zeros(len(shares))
    for start in range(0, len(sources), _CHUNK):
        part = slice(start, start + _CHUNK)
        passed += np.bincount(targets[part], weights=shares[sources[part]], minlength=len(shares))
    return passed


def redirect_ends(leads_to: Nodes) -> Nodes:
    """The node where redirects from each one end; -1 where they go round in a circle, or on for too long."""
    ends = np.arange(len(leads_to), dtype=np.int32)
    moving = np.flatnonzero(leads_to >= 0)
    for _ in range(MAX_HOPS):
        ends[moving] = leads_to[ends[moving]]
        moving = moving[leads_to[ends[moving]] >= 0]
        if not len(moving):
            break
    ends[moving] = -1
    return ends


def chains(leads_to: Nodes, is_redirect: Bools) -> Iterator[list[int]]:
    """Each redirect from its first node on; one that goes round in a circle ends with the node that it meets again."""
    is_target = np.zeros(len(leads_to), dtype=np.bool_)
    is_target[leads_to[leads_to >= 0]] = True
    is_met = np.zeros(len(leads_to), dtype=np.bool_)
    redirects = np.flatnonzero(is_redirect)
    begins = redirects[~is_target[redirects]]
    for start in (*begins, *redirects):  # those that are in no chain then are circles that nothing leads into
        if not is_met[start]:
            chain = _chain(int(start), leads_to)
            is_met[chain] = True
            yield chain


def _chain(start: int, leads_to: Nodes) -> list[int]:
    chain, met = [start], {start}
    while len(chain) <= MAX_HOPS and (after := int(leads_to[chain[-1]])) >= 0:
        chain.append(after)
        if after in met:
            break
        met.add(after)
    return chain


def originals(digests: Ints) -> Nodes:
    """For each node the first with the same bytes; -1 where it is the only one."""
    found = np.full(len(digests), -1, dtype=np.int32)
    have = np.flatnonzero(digests)
    _, firsts, groups, sizes = np.unique(digests[have], return_index=True, return_inverse=True, return_counts=True)
    found[have] = np.where(sizes[groups] > 1, have[firsts[groups]], -1)
    return found
