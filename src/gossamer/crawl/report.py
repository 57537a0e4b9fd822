"""What a crawl says of itself: while it runs, and at its end."""

from dataclasses import dataclass, field
from enum import StrEnum

from gossamer.records import Statistics


class Ending(StrEnum):
    """Why a crawl ended."""

    DONE = "nothing is left to fetch"
    MAX_URLS = "the number of pages asked for was reached"
    MAX_TIME = "the time asked for is over"
    STOPPED = "stopped"
    NO_SEED = "no seed could be fetched"


@dataclass(frozen=True, slots=True)
class Depths:
    """What lies between the downloaders and the disk."""

    parsing: int
    committing: int
    bytes: int  # of bodies, large ones that are on their way included
    parse_seconds: float  # from an answer to its facts, the mean of the last ones
    commit_seconds: float  # of one group, the mean of the last ones
    slowest_commit: float  # of these


@dataclass(frozen=True, slots=True)
class Progress:
    """A snapshot of a running crawl; rates are over the last seconds."""

    state: str  # running, paused, stopping, stopped
    statistics: Statistics
    errors: dict[str, int]
    pages_per_second: float
    bytes_per_second: float
    downloaders_busy: int
    downloaders: int
    depths: Depths
    elapsed: float
    pause: str = ""  # why it is paused

    def as_json(self) -> dict[str, object]:
        """What stands in the heartbeat."""
        return {
            "running": self.statistics.running,
            "pages_per_second": round(self.pages_per_second, 2),
            "bytes_per_second": round(self.bytes_per_second),
            "downloaders": self.downloaders,
            "downloaders_busy": self.downloaders_busy,
            "parsing": self.depths.parsing,
            "committing": self.depths.committing,
            "pending_bytes": self.depths.bytes,
            "parse_seconds": round(self.depths.parse_seconds, 4),
            "commit_seconds": round(self.depths.commit_seconds, 4),
            "slowest_commit": round(self.depths.slowest_commit, 4),
            "ready_hosts": self.statistics.ready_hosts,
            "elapsed": round(self.elapsed, 1),
            "pause": self.pause,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """How a crawl ended."""

    ending: Ending
    progress: Progress
    seed_failures: tuple[str, ...] = field(default=())  # one line each, where no seed could be fetched
    without_facts: int = 0  # pages in which your own function failed; each has a note why

    @property
    def statistics(self) -> Statistics:
        """The counts at the end."""
        return self.progress.statistics
