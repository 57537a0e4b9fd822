"""The access log: what the server saw, and when; the evidence for politeness."""

import json
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Visit:
    """One request. Times err on the crawler's side: two visits that overlap here really overlapped.

    ``at`` is taken when the head was read and before a byte is answered; ``ended`` before the last byte is sent, or
    when the client was seen to have gone.
    """

    number: int
    at: float  # seconds since 1970
    at_monotonic: float
    connection: int
    address: str  # the server's own, as is port
    port: int
    host: str  # the Host header; name or address:port where there was none
    method: str
    path: str
    user_agent: str
    headers: tuple[tuple[str, str], ...]
    scheme: str = "http"
    status: int = 0  # 0: nothing was answered
    content_type: str = ""
    retry_after: str = ""
    ended: float | None = None  # None: still being answered
    outcome: str = ""  # whole, broken (made so), gone (the client left)
    late: float = 0.0  # seconds that the server was behind at that time: ``at`` may be so much too late

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.host}{self.path}"


class AccessLog:
    """Visits in the order of their arrival, in memory and as JSON lines in a file; safe to read from any thread."""

    def __init__(self, path: Path | None = None) -> None:
        self._visits: list[Visit] = []
        self._changed = threading.Condition()
        self._file = path.open("a", encoding="utf-8") if path else None

    def snapshot(self) -> list[Visit]:
        with self._changed:
            return list(self._visits)

    def arrived(self, make: Callable[[int], Visit]) -> Visit:
        """Append the visit that ``make`` builds from its number."""
        with self._changed:
            visit = make(len(self._visits))
            self._visits.append(visit)
            self._changed.notify_all()
        return visit

    def visit(self, number: int) -> Visit:
        with self._changed:
            return self._visits[number]

    def update(self, number: int, **changes: object) -> None:
        """Fill in what is known later."""
        with self._changed:
            self._visits[number] = replace(self._visits[number], **changes)  # type: ignore[arg-type]  # names of fields
            self._changed.notify_all()

    def write(self, number: int) -> None:
        """Append the finished visit to the file."""
        if self._file:
            self._file.write(json.dumps(asdict(self._visits[number])) + "\n")
            self._file.flush()

    def wait(self, condition: Callable[[list[Visit]], bool], timeout: float) -> list[Visit]:
        """Block until ``condition`` holds for the visits. Raises TimeoutError."""
        with self._changed:
            if not self._changed.wait_for(lambda: condition(self._visits), timeout):
                raise TimeoutError(f"not so after {timeout} s and {len(self._visits)} visits")
            return list(self._visits)

    def close(self) -> None:
        if self._file:
            self._file.close()
