"""Segments written anew without some of their records, under new names: the old files stay as they are until then."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path

from gossamer.archive.disk import Disk, write_error
from gossamer.archive.reader import ScannedRecord, open_segment, read_record, scan
from gossamer.archive.rewriting import renamed
from gossamer.archive.segments import Segment, segment_path
from gossamer.records import RecordPlace

_ANSWERS = frozenset({"response", "revisit"})


@dataclass(frozen=True, slots=True)
class Plan:
    """What becomes of each record. Both are asked with a record that begins a capture."""

    drops: Callable[[Segment, ScannedRecord], bool]
    replaces: Callable[[Segment, ScannedRecord], bytes | None]  # by another member, or None: it stays as it is


@dataclass(frozen=True, slots=True)
class Move:
    """Where a record went: from the old file's ``old`` to the new one's ``new``."""

    segment: int
    old: int
    new: int
    length: int


@dataclass(frozen=True, slots=True)
class Recast:
    """A segment in its new file; without ``moves`` no answer was left, and it need not be kept."""

    segment: Segment
    moves: tuple[Move, ...]


def new_uri(folder: Path, segment: Segment, now: float) -> str:
    """A name that no file has: that of the segment with another moment in it."""
    moment = datetime.fromtimestamp(now, UTC).strftime("%Y%m%d%H%M%S%f")[:17]
    uri, count = re.subn(r"-\d{17}(?=-[^-]+-\d+-\d+\.warc\.gz$)", f"-{moment}", segment.uri)
    if not count:
        uri = segment.uri.removesuffix(".warc.gz") + f"-{moment}.warc.gz"
    return new_uri(folder, segment, now + 1) if segment_path(folder, uri).exists() else uri


def recast(folder: Path, segment: Segment, uri: str, plan: Plan, disk: Disk) -> Recast:
    """Write the segment anew as ``uri``, synced but for its name; it is sealed then.

    Stretches that are no record are left out. Raises ArchiveError.
    """
    source, target = segment_path(folder, segment.uri), segment_path(folder, uri)
    try:
        with open_segment(source) as file:
            descriptor = disk.create(target)
            try:
                size, moves = 0, []
                for record, member in _members(folder, segment, target.name, plan, file):
                    disk.write(descriptor, member)
                    if record.type in _ANSWERS:
                        moves.append(Move(segment.id, record.offset, size, len(member)))
                    size += len(member)
                disk.sync(descriptor)
            finally:
                disk.close(descriptor)
    except OSError as error:
        raise write_error(target, error) from error
    return Recast(replace(segment, uri=uri, bytes=size, sealed=True), tuple(moves))


def _members(
    folder: Path, segment: Segment, name: str, plan: Plan, file: BufferedReader
) -> Iterator[tuple[ScannedRecord, bytes]]:
    dropped = ""  # the id of the last answer that is not to be kept: its request goes with it
    for record in scan(segment_path(folder, segment.uri), end=segment.bytes):
        if plan.drops(segment, record):
            dropped = record.record_id
        elif record.type and not (dropped and record.concurrent_to == dropped):
            yield record, _member(folder, segment, name, plan, record, file)


def _member(
    folder: Path, segment: Segment, name: str, plan: Plan, record: ScannedRecord, file: BufferedReader
) -> bytes:
    if record.type == "warcinfo":
        place = RecordPlace(segment.id, record.offset, record.length)
        return renamed(read_record(folder, segment.uri, place), name).member()
    other = plan.replaces(segment, record) if record.type in _ANSWERS else None
    if other is not None:
        return other
    file.seek(record.offset)
    return file.read(record.length)
