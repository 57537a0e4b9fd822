"""What parser workers and their pool say to each other: msgpack in frames with a length before each. Never pickle.

The pool sends one `Orders`, then batches of tasks; the worker says READY when it can begin, then answers each batch
with one frame of answers, in the order of its tasks: facts of what was to be read, files of what was to be rewritten.
"""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from enum import IntEnum
from itertools import starmap
from operator import attrgetter
from typing import Any

import msgpack

from gossamer.parse.job import DEFAULT_LIMITS, Derived, Job, OwnCode, ParseJob, RewriteJob
from gossamer.parse.rewriting.contract import Reference, Rewritten
from gossamer.records import Facts, Failure, FailureKind, Via

LENGTH = 4
"""Bytes of the length before each frame, big-endian."""

MAX_FRAME = 1 << 30
READY = b"ready"
OUT_OF_MEMORY = 12
"""The exit code of a worker that met its memory limit (ENOMEM)."""


Answer = Facts | Rewritten


class Stage(IntEnum):
    """How a page is tried; each comes after the one before it has killed a worker."""

    FIRST = 0  # with others in a batch
    ALONE = 1
    OURS = 2  # alone, without a person's own function; only where there is one
    FALLBACK = 3  # alone, with the second HTML parser
    BARE = 4  # alone, without any HTML parser


@dataclass(frozen=True, slots=True)
class Orders:
    """What a worker is told when it starts."""

    secret: bytes  # the key of fingerprints
    max_decoded: int  # bytes
    memory: int  # bytes of address space
    seconds: float  # of processor time for one page
    own_code: OwnCode | None = None
    max_links: int = DEFAULT_LIMITS.max_links
    max_text: int = DEFAULT_LIMITS.max_text


@dataclass(frozen=True, slots=True)
class Task:
    """One page, how it is to be tried, and what its failure was (OURS, BARE)."""

    stage: Stage
    job: Job
    failure: Failure | None = None


def frame(payload: bytes) -> tuple[bytes, bytes]:
    """A payload after its length."""
    return len(payload).to_bytes(LENGTH), payload


def read_frame(read: Callable[[int], bytes]) -> bytes | None:
    """The next payload, or None where the stream ends. Raises ValueError when it is longer than can be meant."""
    head = read(LENGTH)
    if len(head) < LENGTH:
        return None
    size = frame_size(head)
    payload = read(size)
    return payload if len(payload) == size else None


def frame_size(head: bytes) -> int:
    """The length that a frame's head tells."""
    size = int.from_bytes(head)
    if size > MAX_FRAME:
        raise ValueError(f"a frame of {size} bytes")
    return size


def pack_orders(orders: Orders) -> bytes:
    return bytes(msgpack.packb(astuple(orders)))


def unpack_orders(payload: bytes) -> Orders:
    secret, max_decoded, memory, seconds, own_code, *most = msgpack.unpackb(payload, use_list=False)
    own_code = None if own_code is None else OwnCode(*own_code)
    return Orders(secret, max_decoded, memory, seconds, own_code, *most)


def pack_tasks(tasks: Sequence[Task]) -> bytes:
    rows = [(task.stage, _failure_row(task.failure), *_job_row(task.job)) for task in tasks]
    return bytes(msgpack.packb(rows, unicode_errors="surrogatepass"))


def unpack_tasks(payload: bytes) -> list[Task]:
    rows = msgpack.unpackb(payload, use_list=False, unicode_errors="surrogatepass")
    return [Task(Stage(stage), _job(*row), _failure(failure)) for stage, failure, *row in rows]


def _job_row(job: Job) -> tuple[object, ...]:
    if isinstance(job, RewriteJob):
        return True, *astuple(job)
    return False, job.url, job.headers, job.body, job.truncated, job.now, job.via, job.derive


def _job(is_rewrite: bool, *row: Any) -> Job:
    if is_rewrite:
        return RewriteJob(*row)
    url, headers, body, truncated, now, via, derive = row
    return ParseJob(url, headers, body, truncated, now, Via(via), Derived(derive))


_NAMES = Facts.__match_args__
_values = attrgetter(*_NAMES)
_FAILURE = _NAMES.index("failure")


def pack_answers(answers: Sequence[Answer]) -> bytes:
    return bytes(msgpack.packb([_answer_row(answer) for answer in answers], unicode_errors="replace"))


def unpack_answers(payload: bytes) -> list[Answer]:
    """Raises ValueError or TypeError when the payload is none of ours."""
    return [_answer(*row) for row in msgpack.unpackb(payload, use_list=False)]


def _answer_row(answer: Answer) -> tuple[object, ...]:
    if isinstance(answer, Rewritten):
        references = [(each.url, each.kind, each.saved) for each in answer.references]
        return True, answer.body, references, answer.note
    values = list(_values(answer))
    values[_FAILURE] = _failure_row(answer.failure)
    return False, *values


def _answer(is_rewritten: bool, *row: Any) -> Answer:
    if is_rewritten:
        body, references, note = row
        return Rewritten(body, tuple(starmap(Reference, references)), note)
    values = list(row)
    values[_FAILURE] = _failure(values[_FAILURE])
    return Facts(*values)


def _failure_row(failure: Failure | None) -> tuple[str, str] | None:
    return None if failure is None else (failure.kind.value, failure.detail)


def _failure(row: tuple[str, str] | None) -> Failure | None:
    return None if row is None else Failure(FailureKind(row[0]), row[1])
