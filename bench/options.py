"""What a run is told."""

import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Options:
    """``scale``: 1 is the full size. ``debs``: a folder with Debian packages, where they need not be downloaded."""

    scale: float = 1.0
    rounds: int = 3
    debs: Path | None = None

    @property
    def is_tiny(self) -> bool:
        """Whether it is only to be seen that it works."""
        return self.scale <= 0.01

    def say(self, line: str) -> None:
        """Tell a waiting person how far it is."""
        print(line, file=sys.stderr, flush=True)

    def scaled(self, number: int, least: int = 1) -> int:
        """A number at the size that is asked for."""
        return max(least, round(number * self.scale))
