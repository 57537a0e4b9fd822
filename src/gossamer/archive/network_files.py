"""File systems of the network: the database is not safe there."""

import os
from pathlib import Path

from gossamer.errors import CollectionError

_NETWORK_FILE_SYSTEMS = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs", "ceph", "glusterfs"}
)


def refuse_network_file_system(path: Path) -> None:
    """SQLite's WAL needs shared memory, which network file systems do not have."""
    real = os.path.realpath(path.parent)
    best, kind = "", ""
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in mounts:
        _, folder, system, *_ = line.split(" ")
        folder = folder.replace("\\040", " ")
        if (real + "/").startswith(folder.rstrip("/") + "/") and len(folder) >= len(best):
            best, kind = folder, system
    if kind in _NETWORK_FILE_SYSTEMS:
        raise CollectionError(
            f"{real} lies on a network file system ({kind}), where the database is not safe",
            hint="use a folder on a local disk",
        )
