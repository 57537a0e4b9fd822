"""What the collection has of a URL already: its row, its versions, its robots.txt. All is read, nothing written."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import apsw

from gossamer import url as urls
from gossamer.archive.database import select, select_one
from gossamer.archive.reader import read_record
from gossamer.errors import ArchiveError
from gossamer.intake.originals import key_of
from gossamer.records import Claim, Exchange, Hold, RecordPlace, Settlement, State, Via

_SAME_MOMENT = 0.001  # seconds: what WARC-Date says


@dataclass(frozen=True, slots=True)
class Row:
    """A URL that can get one more version."""

    claim: Claim
    settlement: Settlement  # as it is now
    newest: float | None  # when its newest version was fetched


class Known:
    """Looks into the collection that is being added to; what is not committed yet is not seen."""

    def __init__(self, connection: apsw.Connection, folder: Path, secret: bytes) -> None:
        self._connection = connection
        self._folder = folder
        self._secret = secret
        self._robots: set[tuple[str, int]] | None = None  # URL and moment in milliseconds

    def without_known(self, exchanges: Iterable[Exchange]) -> list[Exchange]:
        """Those that are no version of their URL yet, each once, the oldest first."""
        fresh: dict[tuple[object, ...], Exchange] = {}
        for exchange in sorted(exchanges, key=lambda each: each.started_at):
            payload = sha256(exchange.body).digest()
            key = (exchange.url, round(exchange.started_at, 3), exchange.status, payload)
            if key not in fresh and not self._is_known(exchange, payload):
                fresh[key] = exchange
        return list(fresh.values())

    def _is_known(self, exchange: Exchange, payload: bytes) -> bool:
        if is_robots(exchange.url):
            return not self._is_new_robots(exchange)
        row = select_one(
            self._connection,
            "SELECT 1 FROM url JOIN page ON page.url = url.id"
            " WHERE url.id >> 17 IN block AND fingerprint = ? AND url.url = ?"
            " AND abs(fetched - ?) <= ? AND status = ? AND payload_digest = ?",
            (
                key_of(exchange.url, self._secret),
                exchange.url,
                exchange.started_at,
                _SAME_MOMENT,
                exchange.status,
                payload,
            ),
        )
        return row is not None

    def _is_new_robots(self, exchange: Exchange) -> bool:
        if self._robots is None:
            self._robots = set(self._read_robots())
        moment = (exchange.url, int(exchange.started_at * 1000))
        is_new = moment not in self._robots
        self._robots.add(moment)
        return is_new

    def _read_robots(self) -> Iterable[tuple[str, int]]:
        rows = select(
            self._connection,
            "SELECT url, uri, segment, offset, length FROM record JOIN segment ON segment.id = record.segment",
        )
        for url, uri, *place in rows:
            try:
                yield url, int(read_record(self._folder, uri, RecordPlace(*place)).date * 1000)
            except ArchiveError:
                continue  # verify tells of it

    def row(self, url: str) -> Row:
        """What is known of a URL that has a row."""
        (found,) = select(
            self._connection,
            "SELECT url.id, host.id, origin, depth, attempts, parent, state, reason, held,"
            " (SELECT max(fetched) FROM page WHERE page.url = url.id)"
            " FROM url JOIN host ON host.id = url.host WHERE url.id >> 17 IN block AND fingerprint = ? AND url.url = ?",
            (key_of(url, self._secret), url),
        )
        number, host, origin, depth, attempts, parent, state, reason, held, newest = found
        claim = Claim(number, url, host, origin, depth, attempts=attempts, via=Via.IMPORT, parent=parent)
        return Row(claim, Settlement(State(state), reason, held=Hold(held)), newest)


def is_robots(url: str) -> bool:
    """Whether a URL is that of a robots.txt (RFC 9309 2.3), whose records belong to no page."""
    return urls.path_and_query(url) == "/robots.txt"
