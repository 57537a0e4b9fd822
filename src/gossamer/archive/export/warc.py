"""Chosen captures as one WARC file: copied member by member, checked on the way.

A revisit whose original is not among them is written as the response that came, with its payload, so that the file
stands by itself. Where the original can't be read it keeps its reference, and that is told.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from uuid import UUID, uuid4

import apsw

import gossamer
from gossamer.archive.answers import read_answer
from gossamer.archive.export.chosen import Capture, captures, is_chosen
from gossamer.archive.reader import ScannedRecord, open_segment, scan
from gossamer.archive.rewriting import as_response
from gossamer.archive.segments import segment_path
from gossamer.archive.warc import description
from gossamer.errors import ArchiveError


class Sink(Protocol):
    """Where bytes go."""

    def write(self, data: bytes, /) -> object: ...


@dataclass(frozen=True, slots=True)
class Written:
    """A capture in the file that was written, where its answer lies there, and of which type that is."""

    capture: Capture
    offset: int
    length: int
    type: str


@dataclass(frozen=True, slots=True)
class Trouble:
    """A capture that could not be written as it should. ``place``: segment and byte."""

    place: str
    message: str
    lost: str = ""  # the URL of a capture that was left out


def write_warc(
    connection: apsw.Connection,
    folder: Path,
    sink: Sink,
    *,
    filename: str,
    now: float,
    tell: Callable[[Trouble], None],
    whole: str = "",
    record_id: UUID | None = None,
) -> Iterator[Written]:
    """Write what was chosen; gives each capture once it is written. What is damaged is left out and told.

    ``whole``: what it is part of, for the folder's name; ``record_id``: of what says so, for one that nobody had before.
    """
    more = (("isPartOf", whole or folder.resolve().name),)
    software = f"Gossamer/{gossamer.__version__}"
    head = description(software, more, filename=filename, at=now, record_id=record_id or uuid4()).member()
    sink.write(head)
    offset = len(head)
    for capture in captures(connection):
        place = f"{capture.uri}:{capture.place.offset}"
        try:
            members, kind, trouble = _members(connection, folder, capture)
        except ArchiveError as error:
            tell(Trouble(place, error.message, capture.url))
            continue
        if trouble:
            tell(Trouble(place, trouble))
        for member in members:
            sink.write(member)
        yield Written(capture, offset, len(members[0]), kind)
        offset += sum(map(len, members))


def _members(connection: apsw.Connection, folder: Path, capture: Capture) -> tuple[list[bytes], str, str]:
    """The members of a capture, its answer first, the type of that, and what could not be as it should."""
    answer, request = _find(folder, capture)
    trouble = "its request is damaged, and left out" if request is not None and request.problems else ""
    raw = _raw(folder, capture, answer, None if trouble else request)
    lone = answer.type == "revisit" and capture.page is not None and capture.duplicate_of is not None
    if lone and not is_chosen(connection, capture.duplicate_of or 0):
        try:
            whole = as_response(read_answer(connection, folder, capture.page or 0))
        except ArchiveError as error:
            return raw, answer.type, f"it stays a revisit, for its original can't be had: {error.message}"
        return [whole.member(), *raw[1:]], "response", trouble
    return raw, answer.type, trouble


def _find(folder: Path, capture: Capture) -> tuple[ScannedRecord, ScannedRecord | None]:
    """The answer's record and the request's that follows it, where there is one, maybe damaged. Raises ArchiveError."""
    records = scan(segment_path(folder, capture.uri), start=capture.place.offset, end=capture.end)
    answer = next(records, None)
    if answer is None or answer.problems or answer.length != capture.place.length:
        problems = answer.problems if answer and answer.problems else ("the record is not as long as its row says",)
        raise ArchiveError(f"the answer of {capture.url} is damaged ({problems[0]})", hint="run gossamer verify")
    request = next(records, None)
    if request is None or not answer.concurrent_to:
        return answer, None
    is_its_own = request.problems or (request.type == "request" and request.concurrent_to == answer.record_id)
    return answer, request if is_its_own else None


def _raw(folder: Path, capture: Capture, *records: ScannedRecord | None) -> list[bytes]:
    try:
        with open_segment(segment_path(folder, capture.uri)) as file:
            file.seek(capture.place.offset)
            return [file.read(record.length) for record in records if record is not None]
    except OSError as error:
        raise ArchiveError(f"{capture.uri} can't be read ({error.strerror})", hint="look at the disk") from error
