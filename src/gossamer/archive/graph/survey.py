"""A graph with its measures, read out: its nodes and edges, with what the database says of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import apsw
import numpy as np

from gossamer import url as urls
from gossamer.archive.catalogue import Filter
from gossamer.archive.database import select, select_one
from gossamer.archive.graph.measures import Measures, measure
from gossamer.archive.graph.read import NEWEST, Bools, Graph, Is, read_graph
from gossamer.parse.links import KINDS
from gossamer.records import State, Via

_ROWS = 1000  # that are read at once
_KNOWN = 50_000  # addresses that are kept in memory


@dataclass(frozen=True, slots=True)
class Node:
    """A URL. What follows ``via`` is that of its newest answer, and None or empty where it gave none."""

    id: int
    url: str
    kind: str
    state: str
    held: bool
    reason: str
    via: str
    status: int | None
    content_type: str | None
    title: str | None
    size: int | None
    fetched: float | None
    is_page: bool
    is_seed: bool
    is_broken: bool  # it failed, or redirects to what failed or never ends
    is_orphan: bool  # a sitemap or feed has it, and no page links to it
    depth: int | None  # links from the nearest seed; None: no links lead there
    in_degree: int
    out_degree: int
    pagerank: float | None  # None: no page, and nothing links to it
    redirect_to: str | None
    duplicate_of: str | None  # the first URL with the same bytes


class Edge(NamedTuple):
    """A link, by the ids of two URLs; there may be millions of them."""

    source: int
    target: int
    kind: Via
    nofollow: bool


@dataclass(frozen=True, slots=True)
class Overview:
    """What a graph is of."""

    title: str
    nodes: int
    edges: int
    fetched: float | None  # the newest answer


class Survey:
    """The graph of a collection as of one moment: for use inside one transaction, as long as the object is in use."""

    def __init__(self, connection: apsw.Connection, wanted: Filter) -> None:
        self._connection = connection
        self.graph: Graph = read_graph(connection, wanted)
        self.measures: Measures = measure(self.graph)
        self.is_wanted: Bools = self.graph.are(Is.WANTED)
        self.url = lru_cache(maxsize=_KNOWN)(self._url)

    def _url(self, node: int) -> str:
        """The address of a node."""
        return str(self.column(node, "url"))

    def overview(self) -> Overview:
        """What it is of; counted is what is wanted."""
        newest = select(self._connection, "SELECT max(fetched) FROM page")[0][0]
        edges = np.count_nonzero(self.wanted_edges())
        return Overview(self._title(), int(np.count_nonzero(self.is_wanted)), int(edges), newest)

    def _title(self) -> str:
        """The title of the page that the crawl began with, or its host."""
        seeds = np.flatnonzero(self.graph.are(Is.SEED))
        for end in self.measures.ends[seeds[:100]].tolist():
            title = self.newest(end, "title") if end >= 0 else None
            if title and str(title).strip():
                return str(title).strip()
        return urls.origin(self._url(int(seeds[0]))).host if len(seeds) else ""

    def nodes(self) -> Iterator[Node]:
        """The nodes that are wanted, in the order found."""
        ids = self.graph.ids.tolist()
        for start in range(0, len(ids), _ROWS):
            part = ids[start : start + _ROWS]
            if self.is_wanted[start : start + _ROWS].any():
                for node, row in enumerate(select(self._connection, _NODES, (part[0], part[-1])), start):
                    if self.is_wanted[node]:
                        yield self._node(node, row)

    def _node(self, node: int, row: tuple[Any, ...]) -> Node:
        number, url, kind, state, held, *newest = row
        known = (number, str(url), kind, State(state).name.lower(), bool(held), *newest)
        return Node(*known, *self._measured(node))

    def _measured(self, node: int) -> tuple[Any, ...]:
        """The values of a Node from ``is_page`` on."""
        measures, flags = self.measures, Is(int(self.graph.flags[node]))
        depth, rank = int(measures.depth[node]), float(measures.pagerank[node])
        original = int(measures.originals[node])
        return (
            Is.PAGE in flags,
            Is.SEED in flags,
            bool(measures.is_broken[node]),
            bool(measures.is_orphan[node]),
            None if depth < 0 else depth,
            int(measures.in_degree[node]),
            int(measures.out_degree[node]),
            None if np.isnan(rank) else rank,
            self.url_or_none(int(self.graph.leads_to[node])),
            self.url_or_none(-1 if original == node else original),
        )

    def address(self, url_id: int) -> str:
        """The address of a node by its id."""
        return self.url(int(np.searchsorted(self.graph.ids, url_id)))

    def url_or_none(self, node: int) -> str | None:
        """The address of a node, None for -1."""
        return None if node < 0 else self.url(node)

    def edges(self) -> Iterator[Edge]:
        """The links between wanted nodes, ordered by source and target."""
        places = np.flatnonzero(self.wanted_edges())
        ids, sources = self.graph.ids, self.graph.sources()
        for start in range(0, len(places), _ROWS):
            part = places[start : start + _ROWS]
            for source, target, code in zip(
                ids[sources[part]].tolist(),
                ids[self.graph.targets[part]].tolist(),
                self.graph.codes[part].tolist(),
                strict=True,
            ):
                yield Edge(source, target, *KINDS[code])

    def wanted_edges(self) -> Bools:
        """Which edges are between wanted nodes."""
        is_wanted = self.is_wanted
        wanted: Bools = is_wanted[self.graph.targets] & np.repeat(is_wanted, np.diff(self.graph.starts))
        return wanted

    def column(self, node: int, name: str) -> Any:
        """What the URL table says of a node."""
        row = select_one(self._connection, f"SELECT {name} FROM url WHERE id = ?", (int(self.graph.ids[node]),))  # noqa: S608
        return row[0] if row else None

    def newest(self, node: int, name: str) -> Any:
        """What the newest answer of a node says; None where there was none."""
        query = f"SELECT page.{name} FROM url JOIN page ON page.id = {NEWEST} WHERE url.id = ?"  # noqa: S608
        row = select_one(self._connection, query, (int(self.graph.ids[node]),))
        return row[0] if row else None


_NODES = f"""
SELECT url.id, url.url, url.kind, url.state, url.held, url.reason, url.via, page.status, page.content_type, page.title,
    page.size, page.fetched
FROM url LEFT JOIN page ON page.id = {NEWEST} WHERE url.id BETWEEN ? AND ? ORDER BY url.id
"""  # noqa: S608 - all of it stands here
