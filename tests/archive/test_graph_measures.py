"""The measures of any graph against what a plain search, or their definition, says."""

import itertools
from collections import deque
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.archive.graph.measures import (
    DAMPING,
    MAX_HOPS,
    Links,
    chains,
    distances,
    originals,
    pagerank,
    redirect_ends,
)
from gossamer.archive.graph.read import Nodes

MOST = 12
Pairs = dict[tuple[int, int], bool]
pairs = st.dictionaries(st.tuples(st.integers(0, MOST - 1), st.integers(0, MOST - 1)), st.booleans(), max_size=40)
nodes = st.lists(st.integers(-1, MOST - 1), min_size=MOST, max_size=MOST)


def links_of(found: Pairs) -> Links:
    ordered = sorted(pair for pair in found if pair[0] != pair[1])
    sources = np.array([source for source, _ in ordered], dtype=np.int32)
    starts = np.searchsorted(sources, np.arange(MOST + 1))
    targets = np.array([target for _, target in ordered], dtype=np.int32)
    return Links(starts, sources, targets, np.array([found[pair] for pair in ordered], dtype=np.bool_))


def as_nodes(values: Iterable[int]) -> Nodes:
    return np.array(list(values), dtype=np.int32)


def searched(found: Pairs, seeds: Iterable[int], leads_to: list[int]) -> list[int]:
    """Depths by a search with two ends: what costs nothing comes first."""
    depth = [-1] * MOST
    queue = deque((0, seed) for seed in seeds)
    while queue:
        steps, node = queue.popleft()
        if depth[node] >= 0:
            continue
        depth[node] = steps
        if leads_to[node] >= 0:
            queue.appendleft((steps, leads_to[node]))
        queue.extend((steps + 1, target) for source, target in found if source == node)
    return depth


@given(pairs, st.sets(st.integers(0, MOST - 1)), nodes)
def test_depth_is_what_a_plain_search_finds(found: Pairs, seeds: set[int], leads_to: list[int]) -> None:
    depth = distances(links_of(found), np.array(sorted(seeds), dtype=np.int64), as_nodes(leads_to))
    assert depth.tolist() == searched(found, seeds, leads_to)


@given(pairs, st.lists(st.booleans(), min_size=MOST, max_size=MOST))
def test_pagerank_sums_to_one_and_is_what_its_formula_says(found: Pairs, is_page: list[bool]) -> None:
    rank = pagerank(links_of(found), np.array(is_page))
    meant = {node for pair in found if pair[0] != pair[1] for node in pair} | {n for n in range(MOST) if is_page[n]}
    assert {node for node in range(MOST) if not np.isnan(rank[node])} == meant
    if not meant:
        return
    assert np.nansum(rank) == pytest.approx(1)
    follows = [pair for pair, is_followed in found.items() if is_followed and pair[0] != pair[1]]
    out = {node: sum(source == node for source, _ in follows) for node in meant}
    idle = sum(rank[node] for node in meant if not out[node])
    for node in meant:
        passed = sum(rank[source] / out[source] for source, target in follows if target == node)
        expected = (1 - DAMPING + DAMPING * idle) / len(meant) + DAMPING * passed
        assert rank[node] == pytest.approx(expected, abs=1e-7)


@given(nodes)
def test_redirects_end_where_following_them_ends(leads_to: list[int]) -> None:
    ends = redirect_ends(as_nodes(leads_to)).tolist()
    for node in range(MOST):
        at = node
        for _ in range(MOST):
            at = leads_to[at] if leads_to[at] >= 0 else at
        assert ends[node] == (-1 if leads_to[at] >= 0 else at)


@given(nodes, st.sets(st.integers(0, MOST - 1)))
def test_every_redirect_is_in_a_chain(leads_to: list[int], nowhere: set[int]) -> None:
    is_redirect = [target >= 0 or node in nowhere for node, target in enumerate(leads_to)]
    found = list(chains(as_nodes(leads_to), np.array(is_redirect)))
    assert {node for chain in found for node in chain} >= {node for node in range(MOST) if is_redirect[node]}
    assert len({chain[0] for chain in found}) == len(found)
    for chain in found:
        assert all(leads_to[node] == after for node, after in itertools.pairwise(chain))
        assert leads_to[chain[-1]] < 0 or chain[-1] in chain[:-1]
        assert len(set(chain[:-1])) == len(chain) - 1


def test_redirects_without_end_are_not_followed_for_ever() -> None:
    size = 3 * MAX_HOPS
    leads_to = as_nodes([*range(1, size), -1])
    assert redirect_ends(leads_to)[0] == -1
    assert redirect_ends(leads_to)[size - 10] == size - 1
    assert next(len(chain) for chain in chains(leads_to, leads_to >= 0)) == MAX_HOPS + 1


@given(st.lists(st.integers(0, 4), max_size=MOST))
def test_the_first_with_the_same_bytes(digests: list[int]) -> None:
    expected = [digests.index(each) if each and digests.count(each) > 1 else -1 for each in digests]
    assert originals(np.array(digests, dtype=np.int64)).tolist() == expected
