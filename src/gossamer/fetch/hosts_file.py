"""The hosts file of the machine, and the names that mean the machine itself.

c-ares reads it too, but pycares 5.2.1 gives it the wish for the file alone in memory that is already free again (its
``lookups``), so that now and then a name of the file is not found.
"""

import ipaddress
from pathlib import Path

_LONGEST = 32 * 1024 * 1024  # bytes; lists against advertising have some
_LOOPBACK = ("127.0.0.1", "::1")


class HostsFile:
    """Answers from the file as it is now: it is read again when it changed."""

    def __init__(self, path: Path = Path("/etc/hosts")) -> None:
        self._path = path
        self._version: tuple[int, int, int] | None = None
        self._names: dict[str, tuple[str, ...]] = {}

    def find(self, name: str) -> tuple[str, ...]:
        """The addresses of a lower-case name, in the order of the file; empty when it is not there.

        ``localhost`` and what is below it never leave the machine (RFC 6761, section 6.3).
        """
        self._refresh()
        found = self._names.get(name, ())
        return found or (_LOOPBACK if name == "localhost" or name.endswith(".localhost") else ())

    def _refresh(self) -> None:
        try:
            status = self._path.stat()
            version = (status.st_mtime_ns, status.st_size, status.st_ino)
            if version != self._version:
                with self._path.open(encoding="utf-8", errors="replace") as file:
                    self._names = _parsed(file.read(_LONGEST))
                self._version = version
        except OSError:  # there need not be one
            self._names, self._version = {}, None


def _parsed(text: str) -> dict[str, tuple[str, ...]]:
    """hosts(5): an address and its names on each line; the same name on several has several addresses."""
    names: dict[str, dict[str, None]] = {}
    for line in text.splitlines():
        ip, *aliases = line.partition("#")[0].split() or [""]
        try:
            address = str(ipaddress.ip_address(ip))
        except ValueError:
            continue
        for alias in aliases:
            names.setdefault(alias.lower().removesuffix("."), {})[address] = None
    return {name: tuple(addresses) for name, addresses in names.items()}
