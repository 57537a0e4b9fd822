"""The set of seen URLs beside the database: saved now and then, so that a killed process need not build it anew."""

import logging
from itertools import chain, islice
from pathlib import Path

import apsw
import numpy as np

from gossamer.archive.database import select
from gossamer.frontier.seen import AS_FOUND, SeenSet

log = logging.getLogger("gossamer.frontier")

WORTH_SAVING = 1 << 18
"""Fingerprints that are not in the file yet, and a quarter of those that are: building the set anew takes a microsecond
for each."""

_PART = 1 << 18

_FINAL = "SELECT fingerprint FROM url WHERE id > ? AND held != 2"
_NOT_FINAL = "SELECT fingerprint FROM url WHERE id > ? AND held = 2"


class SeenFile:
    """Belongs to the set as of the last transaction; runs in the writer thread, outside of transactions."""

    def __init__(self, connection: apsw.Connection, path: Path, secret: bytes) -> None:
        self._connection = connection
        self._path = path
        self._secret = secret
        self._saved = 0

    def load(self) -> SeenSet:
        """The saved set, and what came after it; built anew where there is none. Rows that are not final have another
        key."""
        loaded = SeenSet.load(self._path, owner=self._secret)
        seen, after = loaded if loaded is not None and loaded[1] <= self._newest() else (SeenSet(), 0)
        self._saved = len(seen)
        for query, mark in ((_FINAL, 0), (_NOT_FINAL, AS_FOUND)):
            rows = chain.from_iterable(self._connection.execute(query, (after,)))
            while len(keys := np.fromiter(islice(rows, _PART), dtype=np.int64)):
                seen.add(keys.view(np.uint64) ^ np.uint64(mark))
        return seen

    def save_grown(self, seen: SeenSet) -> None:
        """Save a set that has grown by much."""
        if len(seen) - self._saved >= max(WORTH_SAVING, self._saved // 4):
            self.save(seen)

    def save(self, seen: SeenSet) -> None:
        """The set can be built anew from the database: where it can't be saved, that is no loss."""
        self._saved = len(seen)
        try:
            seen.save(self._path, last_id=self._newest(), owner=self._secret)
        except OSError as error:
            log.warning("the set of seen URLs can't be saved (%s)", error)

    def _newest(self) -> int:
        ((newest,),) = select(self._connection, "SELECT ifnull(max(id), 0) FROM url")
        return int(newest)
