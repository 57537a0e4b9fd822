"""The Link header (RFC 8288): what a server says of a file that has no markup of its own to say it in."""

import re

from gossamer.records import Headers
from gossamer.url import canonicalise

# Section 3: "<" URI-Reference ">" *( OWS ";" OWS link-param )
_LINK = re.compile(r"""<([^<>]*+)>((?:\s*+;\s*+[\w!#$&+.^`|~*-]++(?:\s*+=\s*+(?:"[^"]*+"|[^\s;,"]++))?+)*+)""")
# Section 3.3: of several rel parameters "occurrences after the first MUST be ignored"
_REL = re.compile(r""";\s*+rel\s*+=\s*+"?+([^";,]*+)""", re.IGNORECASE)


def canonical(headers: Headers, url: str) -> str:
    """The URL that a file is better known by (RFC 6596), where an answer from ``url`` names one; else nothing."""
    for value in (value for key, value in headers if key == "link"):
        for target, parameters in _LINK.findall(value):
            rel = _REL.search(parameters)
            if rel is not None and "canonical" in rel[1].lower().split():
                return canonicalise(target, url) or ""
    return ""
