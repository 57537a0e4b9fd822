"""The graph as GraphML, which Gephi, yEd, igraph and NetworkX read (graphml.graphdrawing.org, version 1.0)."""

import re
from collections.abc import Iterator
from typing import get_args, get_type_hints
from xml.sax.saxutils import escape

from gossamer.archive.graph.survey import Edge, Node, Survey
from gossamer.parse.links import KINDS

_TYPES = {int: "long", float: "double", bool: "boolean"}
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, 2.2: the production Char
_ENDS = ("source", "target")
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns'
    ' http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">\n'
)


def graphml(survey: Survey) -> Iterator[str]:
    """The document, piece by piece."""
    yield _HEAD
    yield from _keys("node", Node, ("id",))
    yield from _keys("edge", Edge, _ENDS)
    yield '<graph id="web" edgedefault="directed">\n'
    names = [name for name in get_type_hints(Node) if name != "id"]
    for node in survey.nodes():
        data = "".join(_data("node", name, getattr(node, name)) for name in names)
        yield f'<node id="n{node.id}">{data}</node>\n'
    ends = {kind: _data("edge", "kind", kind[0]) + _data("edge", "nofollow", kind[1]) for kind in KINDS.values()}
    for edge in survey.edges():
        yield f'<edge source="n{edge.source}" target="n{edge.target}">{ends[edge.kind, edge.nofollow]}</edge>\n'
    yield "</graph>\n</graphml>\n"


def _keys(of: str, record: type, without: tuple[str, ...]) -> Iterator[str]:
    hints = get_type_hints(record)
    for name in (name for name in hints if name not in without):
        (kind, *_) = get_args(hints[name]) or (hints[name],)
        yield f'<key id="{of}_{name}" for="{of}" attr.name="{name}" attr.type="{_TYPES.get(kind, "string")}"/>\n'


def _data(of: str, name: str, value: object) -> str:
    """One value; None is left out, as GraphML has it."""
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else _NO_XML.sub("\ufffd", escape(str(value)))
    return f'<data key="{of}_{name}">{text}</data>'
