"""A person's own code in a crawl. Where there is none, nothing is asked and nothing is paid.

It is code: it comes from the program that starts the crawl, never from the files of a collection.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from gossamer.parse.job import OwnCode
from gossamer.policy.judge import OwnJudge
from gossamer.records import Headers, Outcome


@dataclass(frozen=True, slots=True)
class Skip:
    """A URL is not to be asked for: it is held with the reason until it is released."""

    reason: str


Prepare = Callable[[str], Headers | Skip]
"""Given a URL whose turn has come: the headers to send beside ours, or that it is not to be asked for.

Called on the event loop, so it must be quick. What it raises ends the crawl.
"""

Committed = Callable[[Sequence[Outcome]], Awaitable[None]]
"""Given outcomes that are durable now. While it waits, the crawl does."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """The places where own code can stand."""

    judge: OwnJudge | None = None
    prepare: Prepare | None = None
    own_code: OwnCode | None = None
    committed: Committed | None = None


NONE = Hooks()
