"""Writes exchanges to WARC segments, one after the other, and says what is durable."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID, uuid4

from gossamer.archive.disk import Disk, write_error
from gossamer.archive.segments import Segment, segment_path, segment_uri
from gossamer.archive.warc import CrawlInfo, Original, Redactor, capture, warcinfo
from gossamer.clock import Clock
from gossamer.errors import ArchiveError
from gossamer.records import Exchange, RecordPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentRules:
    """How segments are named and when they are sealed."""

    prefix: str
    owner: str
    epoch: int
    max_bytes: int
    max_age: float  # seconds


class SegmentWriter:
    """The one writer of a collection's segments. It lives in one thread.

    A segment is created by the first ``append`` that needs one. Bytes count from the ``sync`` that returns after them;
    the rows it gives belong in the same transaction as the pages that lie there. After a failed write or sync nothing
    is tried again (the kernel may have dropped the dirty pages and say so only once): every further call raises
    ArchiveError, DiskFull when that was the reason, and what lies beyond the last durable byte is cut at the next open.
    """

    def __init__(
        self,
        collection: Path,
        *,
        rules: SegmentRules,
        info: CrawlInfo,
        clock: Clock,
        next_id: Callable[[], int],
        secret_headers: Iterable[str] = (),
        resume: Segment | None = None,
        disk: Disk | None = None,
        new_uuid: Callable[[], UUID] = uuid4,
    ) -> None:
        """``next_id`` gives the id of each new segment; ``resume`` is an open one, repaired, to be continued.

        Raises ArchiveError when that one can't be opened, or is not as long as its row says.
        """
        self._collection = collection
        self._rules = rules
        self._info = info
        self._clock = clock
        self._next_id = next_id
        self._redact = Redactor(secret_headers)
        self._disk = disk or Disk()
        self._new_uuid = new_uuid
        self._current: Segment | None = None  # its bytes: as far as it is written
        self._descriptor = -1
        self._path = collection
        self._described = False  # has a warcinfo record of ours
        self._durable = 0
        self._sealed: list[Segment] = []
        self._failure: OSError | None = None
        if resume is not None:
            self._resume(resume)

    def append(
        self,
        exchange: Exchange,
        *,
        content_type: str = "",
        payload_digest: bytes | None = None,
        original: Original | None = None,
    ) -> RecordPlace:
        """Write the records of an exchange; gives the place of its response, or of the revisit made of it.

        ``content_type`` is what the body was found to be, ``payload_digest`` its sha256 as it came, where that is known
        already, ``original`` an earlier response that may have the same payload: see `warc.capture`. Nothing is durable
        before `sync`.
        """
        records = capture(
            exchange,
            ids=(self._new_uuid(), self._new_uuid()),
            redact=self._redact,
            content_type=content_type,
            payload_digest=payload_digest,
            original=original,
        )
        members = [record.member() for record in records]
        with self._poisoning():
            segment = self._ready()
            self._write(b"".join(members))
        return RecordPlace(segment.id, segment.bytes, len(members[0]))

    def sync(self) -> tuple[Segment, ...]:
        """Make all that was appended durable; gives the rows of the segments that changed since the last time."""
        with self._poisoning():
            self._sync()
        changed = self._sealed
        self._sealed = []
        if self._current is not None and self._current.bytes > self._durable:
            changed = [*changed, self._current]
            self._durable = self._current.bytes
        return tuple(changed)

    def close(self) -> None:
        """Let go of the file. What was not synced is not durable."""
        if self._descriptor >= 0:
            self._disk.close(self._descriptor)
            self._descriptor = -1
        self._current = None

    @contextmanager
    def _poisoning(self) -> Iterator[None]:
        if self._failure is not None:
            raise write_error(self._path, self._failure)
        try:
            yield
        except OSError as error:
            self._failure = error
            raise write_error(self._path, error) from error

    def _ready(self) -> Segment:
        """The segment to write to. A warcinfo record describes those after it up to the next one (ISO 28500 6.2),
        so each process writes its own, also into a segment that another began."""
        if self._current is not None and self._is_full(self._current):
            self._seal(self._current)
        segment = self._current or self._create()
        return segment if self._described else self._describe()

    def _is_full(self, segment: Segment) -> bool:
        return segment.bytes >= self._rules.max_bytes or self._clock.now() - segment.opened >= self._rules.max_age

    def _seal(self, segment: Segment) -> None:
        self._sync()
        self.close()
        self._sealed.append(replace(segment, sealed=True))

    def _create(self) -> Segment:
        now = self._clock.now()
        number = self._next_id()
        rules = self._rules
        uri = segment_uri(rules.prefix, at=now, owner=rules.owner, epoch=rules.epoch, segment=number)
        self._path = segment_path(self._collection, uri)
        self._path.parent.mkdir(exist_ok=True)
        self._disk.sync_folder(self._collection)
        self._descriptor = self._disk.create(self._path)
        self._disk.sync_folder(self._path.parent)
        self._durable = 0
        self._described = False
        self._current = Segment(number, uri, 0, sealed=False, opened=now)
        return self._current

    def _resume(self, segment: Segment) -> None:
        self._path = segment_path(self._collection, segment.uri)
        with self._poisoning():
            size = self._path.lstat().st_size
            if size != segment.bytes:
                raise ArchiveError(f"{self._path} has {size} bytes and its row says {segment.bytes}")
            self._descriptor = self._disk.reopen(self._path)
            self._durable = size
            self._current = segment

    def _describe(self) -> Segment:
        record = warcinfo(self._info, filename=self._path.name, at=self._clock.now(), record_id=self._new_uuid())
        segment = self._write(record.member())
        self._described = True
        return segment

    def _write(self, data: bytes) -> Segment:
        assert self._current is not None
        self._disk.write(self._descriptor, data)
        self._current = replace(self._current, bytes=self._current.bytes + len(data))
        return self._current

    def _sync(self) -> None:
        if self._current is not None and self._current.bytes > self._durable:
            self._disk.sync(self._descriptor)
