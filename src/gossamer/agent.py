"""What we say of ourselves to servers."""

import gossamer
from gossamer.records import Headers
from gossamer.settings import Settings

NAME = "gossamer"
"""The name by which robots.txt files and robots metas speak of us (RFC 9309, 2.2.1)."""


def user_agent(settings: Settings) -> str:
    """The User-Agent: what this is, and where its owner can be reached if that is set."""
    if settings.user_agent:
        return settings.user_agent
    contact = f"; {settings.contact}" if settings.contact else ""
    return f"Mozilla/5.0 (compatible; Gossamer/{gossamer.__version__}{contact})"


def extra_headers(settings: Settings) -> Headers:
    """The headers that the seeds' own origins get beside ours."""
    pairs = (line.partition(":") for line in settings.header)
    return tuple((name.strip(), value.strip()) for name, _, value in pairs)
