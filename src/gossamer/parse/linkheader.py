"""The Link header (RFC 8288): what a server says of a file, be it that it has no markup of its own to say it in."""

import re
from collections.abc import Iterator

from gossamer.parse.markup import Reference, link_via
from gossamer.records import Headers
from gossamer.url import canonicalise

# Section 3: "<" URI-Reference ">" *( OWS ";" OWS link-param )
_LINK = re.compile(r"""<([^<>]*+)>((?:\s*+;\s*+[\w!#$&+.^`|~*-]++(?:\s*+=\s*+(?:"[^"]*+"|[^\s;,"]++))?+)*+)""")
_PARAMETER = re.compile(r""";\s*+([\w!#$&+.^`|~*-]++)(?:\s*+=\s*+(?:"([^"]*+)"|([^\s;,"]++)))?+""")


def canonical(headers: Headers, url: str) -> str:
    """The URL that a file is better known by (RFC 6596), where an answer from ``url`` names one; else nothing."""
    target = next((target for target, rels in _links(headers) if "canonical" in rels), None)
    return "" if target is None else canonicalise(target, url) or ""


def references(headers: Headers) -> Iterator[Reference]:
    """The links that would be followed, or be requisites, if they stood as ``<link>`` in a page: other languages too."""
    for target, rels in _links(headers):
        via = link_via(rels)
        if via is not None:
            yield via, target, "", False


def _links(headers: Headers) -> Iterator[tuple[str, set[str]]]:
    """Target, as written, and relation types of each link, but for those that speak of another file (3.2, "anchor")."""
    for value in (value for key, value in headers if key == "link"):
        for target, parameters in _LINK.findall(value):
            said: dict[str, str] = {}
            for name, *texts in _PARAMETER.findall(parameters):
                said.setdefault(name.lower(), "".join(texts))  # 3.3: "occurrences after the first MUST be ignored"
            if "anchor" not in said:
                yield target, set(said.get("rel", "").lower().split())
