"""Open files: as many as the system lets us have, and no more connections than there are files for.

Else an archive that can't be opened, or hosts that seem to be dead, would tell of a limit of our own machine.
"""

import resource
from contextlib import suppress

from gossamer.errors import UsageError

_ENOUGH = 65_536  # where the system sets no limit
_OWN = 40  # database, archive, log, the event loop, names looked up
_PER_PARSER = 4
_LEAST = 8  # connections that are worth beginning with


def room_for_connections(wanted: int, parsers: int) -> int:
    """So many connections may be open at once, ``wanted`` at the most, beside so many parser workers.

    Raises UsageError when there is hardly any room.
    """
    limit = _raised()
    room = limit - _OWN - _PER_PARSER * parsers
    if room < _LEAST:
        raise UsageError(
            f"only {limit} files may be open at once, and a crawl needs {limit - room + _LEAST}",
            hint="raise the limit first: ulimit -n 1024",
        )
    return min(wanted, room)


def _raised() -> int:
    """The limit of open files, after it was made as high as an ordinary process may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _ENOUGH if hard == resource.RLIM_INFINITY else hard
    if soft == resource.RLIM_INFINITY or soft >= most:
        return most
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return most
    return soft
