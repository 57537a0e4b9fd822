"""The process that reads what came from the network: ``python -m gossamer.parse.worker``.

HTML from the network is parsed here and nowhere else, because it can crash or hang any parser. The process holds
nothing that would be missed. It answers batches that come on standard input, ends when that closes, and is killed
by its own timer when one page takes too long.
"""

import fcntl
import gc
import os
import resource
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import BinaryIO

from gossamer.parse.browse import browse
from gossamer.parse.html import read, read_bare
from gossamer.parse.job import DEFAULT_LIMITS, LINK_CHARACTERS, Derived, Limits, ParseJob, RewriteJob
from gossamer.parse.own import Extractor, load
from gossamer.parse.rewrite import Memory, rewrite, rewrite_bare
from gossamer.parse.rewriting.contract import Rewritten
from gossamer.parse.rewriting.places import PlaceTable
from gossamer.parse.structure import derive
from gossamer.parse.wire import (
    OUT_OF_MEMORY,
    READY,
    Answer,
    Orders,
    Stage,
    Task,
    frame,
    pack_answers,
    read_frame,
    unpack_orders,
    unpack_tasks,
)
from gossamer.records import Facts, Failure, FailureKind

_PIPE = 1024 * 1024  # bytes
_COLLECT_AFTER = 50_000  # objects
_LOST = Failure(FailureKind.PARSER_CRASHED)


def main() -> None:
    """Answer batches until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the crawler, which lets us finish
    source, sink = _private_input(), _private_output()
    for pipe in (source, sink):
        _widen(pipe)
    payload = read_frame(source.read)
    if payload is None:
        return
    orders = unpack_orders(payload)
    _restrict(orders.memory)
    limits = _limits(orders)
    extractor = _extractor(orders, limits)
    _send(sink, READY)
    _silence(2)  # what went wrong at the start may be said; nothing that a page brings up later
    gc.freeze()  # what is there now stays: the collector need not look at it again,
    gc.set_threshold(_COLLECT_AFTER)  # nor often at what a page makes, which holds no cycles
    try:
        _serve(source, sink, orders, limits, extractor)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except BrokenPipeError:
        os._exit(0)  # the crawler is gone


def _limits(orders: Orders) -> Limits:
    return replace(
        DEFAULT_LIMITS,
        max_decoded=orders.max_decoded,
        max_links=orders.max_links,
        max_link_characters=max(DEFAULT_LIMITS.max_link_characters, LINK_CHARACTERS * orders.max_links),
        max_text=orders.max_text,
        max_pdf_seconds=min(DEFAULT_LIMITS.max_pdf_seconds, orders.seconds / 2),
    )


def _extractor(orders: Orders, limits: Limits) -> Extractor | None:
    """A person's own function, if there is one. When it can't be loaded, that is our last word."""
    if orders.own_code is None:
        return None
    try:
        return Extractor(orders.own_code.name, load(orders.own_code), orders.seconds, limits)
    except ImportError as error:
        sys.exit(" ".join(str(error).split()))


def _serve(source: BinaryIO, sink: BinaryIO, orders: Orders, limits: Limits, extractor: Extractor | None) -> None:
    while (payload := read_frame(source.read)) is not None:
        answers = []
        for task in unpack_tasks(payload):
            signal.setitimer(signal.ITIMER_PROF, orders.seconds)  # its signal ends the process, even in C code
            answers.append(_answer(task, orders.secret, limits, extractor))
        signal.setitimer(signal.ITIMER_PROF, 0)
        _send(sink, pack_answers(answers))


def _answer(task: Task, secret: bytes, limits: Limits, extractor: Extractor | None) -> Answer:
    if isinstance(task.job, RewriteJob):
        return _rewritten(task.job, task.failure if task.stage is Stage.BARE else None)
    return _facts(task, task.job, secret, limits, extractor)


def _facts(task: Task, job: ParseJob, secret: bytes, limits: Limits, extractor: Extractor | None) -> Facts:
    if task.stage is Stage.BARE:
        return read_bare(job, limits, task.failure or _LOST)
    if job.derive is Derived.BROWSED:
        return browse(job, fallback=task.stage is Stage.FALLBACK)
    facts = read(job, secret, limits, fallback=task.stage is Stage.FALLBACK)
    if job.derive:
        facts = derive(facts, job, limits, fallback=task.stage is Stage.FALLBACK)
    if extractor is None:
        return facts
    if task.stage > Stage.ALONE:
        return extractor.without(facts, str(task.failure or _LOST))
    return extractor.extend(facts, job)


@lru_cache(maxsize=1)  # one copy is made at a time
def _table(path: str) -> tuple[PlaceTable, Memory]:
    return PlaceTable(path), Memory()


def _rewritten(job: RewriteJob, failure: Failure | None) -> Rewritten:
    """A file of the copy; after a ``failure`` only its encoding is set right."""
    if failure is not None:
        return rewrite_bare(job.body, content_type=job.content_type, charset=job.charset, note=str(failure))
    table, memory = _table(job.table)
    return rewrite(
        job.body,
        content_type=job.content_type,
        charset=job.charset,
        url=job.url,
        place=job.place,
        lookup=table,
        memory=memory,
        embed=job.embed,
    )


def _send(sink: BinaryIO, payload: bytes) -> None:
    sink.writelines(frame(payload))
    sink.flush()


def _private_input() -> BinaryIO:
    """Standard input for us alone: a person's own function that asks for input must not be given our batches."""
    private = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return private


def _private_output() -> BinaryIO:
    """Standard output for us alone: what a library prints must not fall between the answers."""
    private = os.fdopen(os.dup(1), "wb")
    _silence(1)
    return private


def _silence(descriptor: int) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _widen(pipe: BinaryIO) -> None:
    """Make room for a whole batch, so that neither side wakes up many times for one."""
    with suppress(OSError, AttributeError):  # not every system can, and there may be too many pipes
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)


def _restrict(memory: int) -> None:
    """No core files, for pages may be private; and no more memory than was agreed on."""
    for limit, value in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, memory)):
        with suppress(ValueError, OSError):  # not every system can
            resource.setrlimit(limit, (value, value))


if __name__ == "__main__":
    main()
