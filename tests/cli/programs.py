"""Runs our programs as a person does: as processes, with nothing but what they print and how they end."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Ended:
    """What a program printed, and its exit code."""

    code: int
    out: str
    err: str


def run(*command: str, stdin: str | bytes = b"", cwd: Path | None = None, **environment: str) -> Ended:
    """Run a program of ours to its end; ``environment`` is added to a bare one without settings of the machine."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GOSSAMER_", "XDG_", "LC_"))}
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]],
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        capture_output=True,
        cwd=cwd,
        env=kept | {"LANG": "C", "COLUMNS": "100"} | environment,
        timeout=60,
        check=False,
    )
    return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())
