"""Pages with very many new links, such as sitemaps: these become rows a portion at a time, before the page itself does.

A transaction of 50,000 URLs would hold up every other page, and every command, for seconds. A process that is killed in
between leaves a page that still waits: it is fetched again, and the links that are known by then change nothing.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gossamer.frontier.seen import Fingerprints
from gossamer.parse.links import pack, unpack
from gossamer.records import Facts

MOST = 2000
"""Links of one page that one transaction takes: about a tenth of a second."""

_KEY = 8


def count_of(facts: Facts) -> int:
    """Links of a page."""
    return len(facts.fingerprints) // _KEY


def has_many(facts: Facts | None) -> bool:
    """Whether the links of a page may be too many for one transaction."""
    return facts is not None and count_of(facts) > MOST


def portions(facts: Facts, are_known: Callable[[Fingerprints], NDArray[np.bool_]]) -> list[Facts]:
    """The page once for each portion of its links; none where most are known, and it says nothing new of these."""
    if not facts.listing and np.count_nonzero(~are_known(keys_of(facts))) <= MOST:
        return []
    links = unpack(facts.links)
    return [
        replace(
            facts,
            links=pack(links[start : start + MOST]),
            fingerprints=facts.fingerprints[start * _KEY : (start + MOST) * _KEY],
        )
        for start in range(0, len(links), MOST)
    ]


def keys_of(facts: Facts) -> Fingerprints:
    """The fingerprints of a page's links."""
    return np.frombuffer(facts.fingerprints, dtype="<u8").astype(np.uint64, copy=False)
