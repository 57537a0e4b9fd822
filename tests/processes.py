"""What a test started and is to be gone."""

import os
from pathlib import Path


def children() -> list[int]:
    """The processes this one has started that still run."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == os.getpid() and state != "Z":
            found.append(int(folder.name))
    return found
