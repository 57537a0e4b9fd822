"""The graph as one page that needs no other file, works from file:// and asks for nothing in the network.

Data and script are kept apart: what comes from strangers' pages is packed and base64, so that none of it can end an
element, and a Content-Security-Policy lets the page's own script run and nothing else.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from importlib.resources import files
from string import Formatter

import numpy as np

from gossamer.archive.graph.measures import HYPERLINKS
from gossamer.archive.graph.read import Nodes
from gossamer.archive.graph.survey import Node, Survey
from gossamer.archive.look import look
from gossamer.parse.links import KINDS
from gossamer.records import Kind, State

_SCRIPTS = ("data", "marks", "choice", "tree", "details", "findings", "bubbles", "chart", "main")
"""Parts of one script, in the order in which they need each other."""

_PAGE, _FILE, _REDIRECT, _BROKEN, _WAITING, _HELD, _OUTSIDE, _OTHER = range(8)  # the places in marks.js
_SEED, _ORPHAN, _SAVABLE, _OURS = 1, 2, 4, 8  # bits in data.js


def html(survey: Survey) -> Iterator[str]:
    """The page, piece by piece."""
    graph, wanted = survey.graph, survey.is_wanted
    is_edge = survey.wanted_edges()
    numbers = np.cumsum(wanted, dtype=np.int32) - 1
    edges_before = np.concatenate(([0], np.cumsum(is_edge)))
    counts = np.diff(edges_before[graph.starts])[wanted].astype("<i4")
    parts: dict[str, Iterable[str]] = {
        "nodes": _packed(_node_rows(survey, numbers)),
        "counts": _packed([counts.tobytes()]),
        "targets": _packed([numbers[graph.targets[is_edge]].astype("<i4").tobytes()]),
        "codes": _packed([graph.codes[is_edge].tobytes()]),
    }
    overview = survey.overview()
    style, script = look() + _resource("page.css"), "".join(_resource(f"{name}.js") for name in _SCRIPTS)
    texts = {
        "title": escape(overview.title or "Web graph"),
        "style": style,
        "style_hash": _hash(style),
        "script": script,
        "script_hash": _hash(script),
        "about": json.dumps(_about(survey, overview.fetched)),
    }
    for literal, name, _, _ in Formatter().parse(_resource("page.html")):
        yield literal
        yield from parts.get(name or "", (texts.get(name or "", ""),))


def _about(survey: Survey, fetched: float | None) -> dict[str, object]:
    kinds = {
        code: {"kind": kind, "nofollow": nofollow, "leads": kind in HYPERLINKS}
        for code, (kind, nofollow) in KINDS.items()
    }
    return {"fetched": fetched, "kinds": kinds, "ranked": int(np.count_nonzero(~np.isnan(survey.measures.pagerank)))}


def _node_rows(survey: Survey, numbers: Nodes) -> Iterator[bytes]:
    """A JSON array with an array for each node: see the columns in data.js."""
    separator = "["
    originals = survey.measures.originals[survey.is_wanted].tolist()
    for node, original in zip(survey.nodes(), originals, strict=True):
        first = int(numbers[original]) if original >= 0 and survey.is_wanted[original] else -1
        yield f"{separator}{json.dumps(_row(node, first), ensure_ascii=False, separators=(',', ':'))}".encode(
            "utf-8", "replace"
        )
        separator = ",\n"
    yield b"]" if separator != "[" else b"[]"


def _row(node: Node, original: int) -> list[object]:
    kind = _mark(node)
    flags = _SEED * node.is_seed | _ORPHAN * node.is_orphan | _OURS * (node.kind == Kind.INTERNAL)
    return [
        node.url,
        (node.title or "").strip(),
        kind,
        flags | _SAVABLE * (kind not in (_BROKEN, _OTHER)),
        -1 if node.depth is None else node.depth,
        node.in_degree,
        node.out_degree,
        float(f"{node.pagerank or 0:.4g}"),
        original,
        node.reason,
        node.via,
        node.status,
        node.content_type,
        node.size,
        None if node.fetched is None else round(node.fetched),
    ]


def _mark(node: Node) -> int:
    """By which mark a URL is shown."""
    if node.kind == Kind.OTHER and not node.url.startswith(("http://", "https://")):
        return _OTHER
    if node.is_broken:
        return _BROKEN
    if node.redirect_to is not None:
        return _REDIRECT
    if node.state == State.FINISHED.name.lower():
        return _PAGE if node.is_page else _FILE
    if node.kind == Kind.EXTERNAL:
        return _OUTSIDE
    return _HELD if node.held else _WAITING


def _packed(pieces: Iterable[bytes]) -> Iterator[str]:
    """Deflated, and as base64."""
    squeeze, rest = zlib.compressobj(), b""
    for piece in pieces:
        rest += squeeze.compress(piece)
        whole = len(rest) - len(rest) % 3
        yield base64.b64encode(rest[:whole]).decode()
        rest = rest[whole:]
    yield base64.b64encode(rest + squeeze.flush()).decode()


def _hash(text: str) -> str:
    """As Content-Security-Policy names what may run (CSP 3, 2.3.1)."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _resource(name: str) -> str:
    return (files("gossamer.archive.graph") / "page" / name).read_text(encoding="utf-8")
