"""The web graph as arrays: a node for every URL that was ever found, an edge for each kind of link from one to another.

Some 40 bytes of memory a URL and 5 a link; addresses and titles stay in the database. Of a URL with many versions the
newest answer counts; one that says that nothing has changed (304) stands for the one before it.
"""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntFlag
from itertools import chain
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from gossamer.archive.catalogue import CONDITIONS, Filter, conditions
from gossamer.archive.database import select
from gossamer.parse.links import KINDS, unpack_targets
from gossamer.policy.patterns import Patterns
from gossamer.records import Kind, State, Via

Ints = NDArray[np.int64]
Nodes = NDArray[np.int32]
"""Numbers of nodes; a node's number is the place of its URL among all, by id. -1 stands for none."""
Bytes = NDArray[np.uint8]
Bools = NDArray[np.bool_]

_ROWS = 1000  # that are read at once
_PAGES = 200  # whose links are read at once
_TARGETS = 1 << 40  # more than there are nodes
_CODES = 1 << 8
_REDIRECT = next(code for code, kind in KINDS.items() if kind == (Via.REDIRECT, False))


class Is(IntFlag):
    """What a URL is."""

    WANTED = 1  # the filter lets it through
    SEED = 2
    PAGE = 4  # HTML
    FAILED = 8  # given up, or answered with an error
    REDIRECT = 16  # also one that leads nowhere
    KEPT = 32  # a success
    WAITING = 64
    INTERNAL = 128


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """The edges of node n are those from ``starts[n]`` to ``starts[n + 1]``, ordered by target, then by code."""

    ids: Ints  # of the rows of the URLs, ascending
    flags: Bytes  # Is
    digests: Ints  # the first 8 bytes of the sha256 of the body; 0: there is none, or it is empty
    leads_to: Nodes  # where a redirect leads
    starts: Ints
    targets: Nodes
    codes: Bytes  # parse.links.KINDS

    @property
    def size(self) -> int:
        """The number of nodes."""
        return len(self.ids)

    def are(self, flag: Is) -> Bools:
        """Which nodes are that."""
        return (self.flags & np.uint8(flag)).astype(np.bool_)

    def sources(self) -> Nodes:
        """The node that each edge starts from."""
        return np.repeat(np.arange(self.size, dtype=np.int32), np.diff(self.starts))


def read_graph(connection: apsw.Connection, wanted: Filter) -> Graph:
    """The graph of all that was found; ``wanted`` marks nodes. Inside the caller's transaction: it is of one moment.

    Raises ArchiveError where a blob of links is damaged, SettingsError for a bad pattern.
    """
    nodes = _read_nodes(connection, wanted)
    starts, targets, codes = _read_edges(connection, nodes)
    return Graph(nodes.ids, nodes.flags, nodes.digests, nodes.leads_to, starts, targets, codes)


@dataclass(frozen=True, slots=True, eq=False)
class _NodeTable:
    ids: Ints
    flags: Bytes
    digests: Ints
    leads_to: Nodes
    keys: Ints  # hashes of the URLs, sorted
    places: Nodes  # the node of each key


def _read_nodes(connection: apsw.Connection, wanted: Filter) -> _NodeTable:
    ids, flags, digests, redirects, keys = array("q"), array("B"), array("q"), array("q"), array("q")
    for number, url, *facts, redirect, digest in _node_rows(connection, wanted):
        ids.append(number)
        flags.append(_flags(*facts))
        digests.append(int.from_bytes(digest[:8], "little", signed=True) if digest else 0)
        redirects.append(redirect or 0)
        keys.append(hash(url))
    hashes = np.frombuffer(keys, dtype=np.int64)
    order = np.argsort(hashes).astype(np.int32)
    known = np.frombuffer(ids, dtype=np.int64)
    return _NodeTable(
        known,
        np.frombuffer(flags, dtype=np.uint8),
        np.frombuffer(digests, dtype=np.int64),
        _find(np.frombuffer(redirects, dtype=np.int64), known, np.arange(len(known), dtype=np.int32)),
        hashes[order],
        order,
    )


def _node_rows(connection: apsw.Connection, wanted: Filter) -> Iterator[tuple[Any, ...]]:
    patterns = Patterns(wanted.patterns) if wanted.patterns else None
    after = -1
    while rows := connection.execute(_NODES, conditions(wanted) | {"after": after, "limit": _ROWS}).fetchall():
        for number, url, is_wanted, *rest in rows:
            is_meant = bool(is_wanted) and (patterns is None or patterns.first_match(str(url)) is not None)
            yield number, url, is_meant, *rest
        after = int(str(rows[-1][0]))


def _flags(
    is_wanted: bool,
    kind: str,
    depth: int,
    state: int,
    status: int | None,
    is_page: int,
    is_kept: int,
) -> int:
    is_failed = state == State.FAILED or (state != State.WAITING and status is not None and status >= 400)
    found = (
        (Is.WANTED, is_wanted),
        (Is.SEED, depth == 0 and kind != Kind.OTHER),
        (Is.PAGE, is_page),
        (Is.FAILED, is_failed),
        (Is.REDIRECT, status is not None and 300 <= status < 400),
        (Is.KEPT, is_kept),
        (Is.WAITING, state == State.WAITING),
        (Is.INTERNAL, kind == Kind.INTERNAL),
    )
    return sum(int(flag) for flag, holds in found if holds)


def _find(wanted: Ints, known: Ints, nodes: Nodes) -> Nodes:
    """The node of each wanted value: ``known`` is sorted, and ``nodes`` are theirs."""
    if not len(known):
        return np.full(len(wanted), -1, dtype=np.int32)
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[places] == wanted, nodes[places], np.int32(-1)).astype(np.int32)


# --- edges


def _read_edges(connection: apsw.Connection, nodes: _NodeTable) -> tuple[Ints, Nodes, Bytes]:
    counts = np.zeros(len(nodes.ids), dtype=np.int64)
    parts = []
    after = -1
    while rows := select(connection, _LINKS, (after, _PAGES)):
        pages = np.searchsorted(nodes.ids, [row[0] for row in rows])
        edges = _edges_of([row[1] for row in rows], nodes)
        counts[pages] = np.bincount(edges // (_TARGETS * _CODES), minlength=len(rows))
        parts.append(((edges // _CODES % _TARGETS).astype(np.int32), (edges % _CODES).astype(np.uint8)))
        after = rows[-1][0]
    targets = np.concatenate([part for part, _ in parts] or [np.empty(0, dtype=np.int32)])
    codes = np.concatenate([part for _, part in parts] or [np.empty(0, dtype=np.uint8)])
    return _with_redirects(nodes.leads_to, counts, targets, codes)


def _edges_of(blobs: Sequence[bytes], nodes: _NodeTable) -> Ints:
    """The different edges of some pages, each as one number: of the page among them, of the target, of the kind.

    URLs are found by the hashes that Python keeps sets by. They are keyed, anew for each process, so that nobody can make
    URLs that are taken for each other.
    """
    unpacked = [unpack_targets(blob) for blob in blobs]
    sources = np.repeat(np.arange(len(blobs), dtype=np.int64), [len(codes) for codes, _ in unpacked])
    codes = np.fromiter(chain.from_iterable(codes for codes, _ in unpacked), dtype=np.int64)
    keys = np.fromiter(map(hash, chain.from_iterable(urls for _, urls in unpacked)), dtype=np.int64)
    targets = _find(keys, nodes.keys, nodes.places).astype(np.int64)
    is_known = targets >= 0  # what is no address, as javascript:, has no row
    return np.unique(((sources * _TARGETS + targets) * _CODES + codes)[is_known])


def _with_redirects(leads_to: Nodes, counts: Ints, targets: Nodes, codes: Bytes) -> tuple[Ints, Nodes, Bytes]:
    """The edges with those of redirects; their nodes have no others, because nobody sees a body that came with one."""
    redirects = np.flatnonzero(leads_to >= 0)
    places = (np.cumsum(counts) - counts)[redirects]
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    counts[redirects] += 1
    np.cumsum(counts, out=starts[1:])
    targets = np.insert(targets, places, leads_to[redirects])
    return starts, targets, np.insert(codes, places, _REDIRECT)


NEWEST = "(SELECT id FROM page AS newest WHERE newest.url = url.id AND status != 304 ORDER BY attempt DESC LIMIT 1)"

_NODES = f"""
SELECT url.id, url.url, {CONDITIONS}, url.kind, url.depth, url.state, page.status, ifnull(page.is_page, 0),
    ifnull(page.is_kept, 0), page.redirect_to, iif(page.is_kept AND page.size > 0, page.digest, NULL)
FROM url LEFT JOIN host ON host.id = url.host LEFT JOIN page ON page.id = {NEWEST}
WHERE url.id > :after ORDER BY url.id LIMIT :limit
"""  # noqa: S608 - all of it stands here

_LINKS = f"""
SELECT url.id, links.blob FROM url JOIN page ON page.id = {NEWEST} JOIN links ON links.page = page.id
WHERE url.id > ? AND page.redirect_to IS NULL ORDER BY url.id LIMIT ?
"""  # noqa: S608 - all of it stands here
