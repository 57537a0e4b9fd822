"""Claims as they are read from the URL table."""

import sys
from collections.abc import Sequence
from typing import Any

from gossamer.records import Claim, Host, Via

FIELDS = "url.id, url, host, origin, depth, hops, attempts, via, parent, ifnull(template, 0), ifnull(due, 0)"
"""What a query selects for `claim_of`; its due time is the last of them."""

COLUMNS = f"{FIELDS} FROM url JOIN host ON host.id = url.host"
"""The same, and where from."""

_VIAS = {str(via): via for via in Via}


def claim_of(row: Sequence[Any], host: Host | None = None) -> Claim:
    """The claim to a URL from its row. ``host``: its host, where that is known: hundreds of thousands of claims share
    its number and its origin."""
    url_id, url, host_id, origin, depth, hops, attempts, via, parent, template, _ = row
    if host is None:
        return Claim(url_id, url, host_id, sys.intern(origin), depth, hops, attempts, _VIAS[via], parent, template)
    return Claim(url_id, url, host.id, host.origin, depth, hops, attempts, _VIAS[via], parent, template)
