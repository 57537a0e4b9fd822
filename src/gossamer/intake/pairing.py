"""Which request belongs to which answer: archives have it before or after, and say so in one of two places or not."""

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gossamer.archive.foreign import Broken, ForeignRecord

ANSWERS = frozenset({"response", "revisit", "resource", "conversion"})
"""The records that hold what a URL gave, or something made of it (ISO 28500 6)."""

_KEPT_REQUESTS = 16
_MAX_REQUEST = 64 * 1024


@dataclass(frozen=True, slots=True)
class Capture:
    """An answer, and the request that brought it; empty where the archive has none."""

    record: ForeignRecord
    request: bytes = b""


def pair(records: Iterable[ForeignRecord | Broken], passed: Counter[str]) -> Iterator[Capture | Broken]:
    """Answers with their requests, in order; records of other types are counted in ``passed``."""
    requests: OrderedDict[str, ForeignRecord] = OrderedDict()
    waiting: ForeignRecord | None = None
    for record in records:
        if isinstance(record, Broken):
            yield record
        elif record.type == "request":
            if waiting is not None and _belong(waiting, record):
                yield Capture(waiting, _request(record))
                waiting = None
            else:
                requests[record.field("warc-record-id")] = record
                if len(requests) > _KEPT_REQUESTS:
                    requests.popitem(last=False)
        elif record.type in ANSWERS:
            if waiting is not None:
                yield Capture(waiting)
            waiting = record
            request = next((known for known in requests.values() if _belong(record, known)), None)
            if request is not None:
                yield Capture(record, _request(requests.pop(request.field("warc-record-id"))))
                waiting = None
        else:
            passed[f"{record.type} records"] += 1
    if waiting is not None:
        yield Capture(waiting)


def _belong(answer: ForeignRecord, request: ForeignRecord) -> bool:
    """One names the other (ISO 28500 5.8), or both tell of the same URL at the same moment."""
    if _names(answer, request) or _names(request, answer):
        return True
    same = ("warc-target-uri", "warc-date")
    return all(answer.field(name) and answer.field(name) == request.field(name) for name in same)


def _names(one: ForeignRecord, other: ForeignRecord) -> bool:
    number = other.field("warc-record-id")
    return bool(number) and ("warc-concurrent-to", number) in one.fields


def _request(record: ForeignRecord) -> bytes:
    return record.block[:_MAX_REQUEST]
