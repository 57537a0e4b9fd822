"""The Link header (RFC 8288): what a server says of a file, be it that it has no markup of its own to say it in."""

import re
from collections.abc import Iterator

from gossamer.parse.markup import Reference, link_via
from gossamer.records import Headers, Via
from gossamer.url import canonicalise

# Section 3: "<" URI-Reference ">" *( OWS ";" OWS link-param )
_LINK = re.compile(r"""<([^<>]*+)>((?:\s*+;\s*+[\w!#$&+.^`|~*-]++(?:\s*+=\s*+(?:"[^"]*+"|[^\s;,"]++))?+)*+)""")
_LEADS_ON = re.compile(r"|text/html.*|(?:application|text)/(?:[\w.-]+\+)?xml.*", re.ASCII)
_PARAMETER = re.compile(r""";\s*+([\w!#$&+.^`|~*-]++)(?:\s*+=\s*+(?:"([^"]*+)"|([^\s;,"]++)))?+""")


def canonical(headers: Headers, url: str) -> str:
    """The URL that a file is better known by (RFC 6596), where an answer from ``url`` names one; else nothing."""
    target = next((target for target, rels, _ in _links(headers) if "canonical" in rels), None)
    return "" if target is None else canonicalise(target, url) or ""


def references(headers: Headers) -> Iterator[Reference]:
    """The links that would be followed, or be requisites, if they stood as ``<link>`` in a page: other languages too.

    But for alternates that say they are no pages and no feeds: many servers name a JSON file beside every page.
    """
    for target, rels, media_type in _links(headers):
        via = link_via(rels)
        if via is Via.REQUISITE or (via is not None and ("alternate" not in rels or _LEADS_ON.fullmatch(media_type))):
            yield via, target, "", False


def _links(headers: Headers) -> Iterator[tuple[str, set[str], str]]:
    """Target, as written, relation types and media type of each link, but for those that speak of another file (3.2,
    "anchor").
    """
    for value in (value for key, value in headers if key == "link"):
        for target, parameters in _LINK.findall(value):
            said: dict[str, str] = {}
            for name, *texts in _PARAMETER.findall(parameters):
                said.setdefault(name.lower(), "".join(texts))  # 3.3: "occurrences after the first MUST be ignored"
            if "anchor" not in said:
                yield target, set(said.get("rel", "").lower().split()), said.get("type", "").strip().lower()
