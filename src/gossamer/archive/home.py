"""Whether a collection is one's own: it was last worked on by this person on this machine.

A collection may come from a stranger, who could have put anything into it.
"""

import hashlib
import os
import socket
from pathlib import Path

import apsw

from gossamer.archive.database import NAME, select_one


def here() -> str:
    """Something that this machine and person know and a stranger's collection can't."""
    try:
        machine = Path("/etc/machine-id").read_text(encoding="ascii").strip()
    except (OSError, UnicodeError):
        machine = socket.gethostname()
    return hashlib.blake2b(f"{machine}:{os.getuid()}".encode(), digest_size=16).hexdigest()


def home_of(connection: apsw.Connection) -> object:
    """Where a collection was last worked on, as it says itself; None where it does not."""
    row = select_one(connection, "SELECT value FROM meta WHERE name = 'home'")
    return None if row is None else row[0]


def is_own(folder: Path) -> bool:
    """Whether the collection in ``folder`` is one's own. One that can't be read is not; where there is none, yes."""
    path = folder / NAME
    if not path.exists():
        return True
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(5000)
            return home_of(connection) == here()
        finally:
            connection.close()
    except apsw.Error:
        return False
