"""A person's own function that takes facts out of pages, run in parser workers.

It is code that nobody here has seen: it may raise, hang, crash or return anything, and all that this costs is the facts
it should have found in that one page. What it does in time is caught here; what kills the worker, the pool catches by
trying the page again without it (`wire.Stage`).
"""

import json
import pickle
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from importlib import import_module

import turbohtml

from gossamer.parse import encoding
from gossamer.parse.body import undo
from gossamer.parse.job import NO_FACTS, Limits, OwnCode, ParseJob
from gossamer.parse.links import unpack
from gossamer.parse.text import fold_line
from gossamer.records import Facts, Headers, Link

MAX_JSON = 1024 * 1024
"""Characters of JSON that are kept of one page."""

_MAX_NOTE = 200
_MAX_NAME = 80


@dataclass(frozen=True)
class ParsedPage:
    """What the function is given: one HTML page, as a worker has read it."""

    url: str
    headers: Headers  # names lower-cased
    body: bytes  # without transfer and content codings
    charset: str  # by its WHATWG name, lower case
    language: str
    title: str
    text: str  # readable text, white space folded within lines
    links: tuple[Link, ...]  # absolute, in document order

    @cached_property
    def html(self) -> str:
        """The markup as it came, decoded."""
        return encoding.decode(self.body, self.charset)[0]

    @cached_property
    def document(self) -> turbohtml.Document:
        """The markup parsed as browsers do, by the library turbohtml: ``select_one("h1")``, ``json_ld()``, ``tables()``."""
        return turbohtml.parse(self.html, positions=False)


OwnFunction = Callable[[ParsedPage], object]


class Extractor:
    """The function, and how it is kept within bounds."""

    def __init__(self, name: str, function: OwnFunction, seconds: float, limits: Limits) -> None:
        """``name``: for notes. ``seconds``: of real time for one page."""
        self._name = fold_line(name, _MAX_NAME)
        self._function = function
        self._seconds = seconds
        self._limits = limits

    def extend(self, facts: Facts, job: ParseJob) -> Facts:
        """The facts of a page with what the function found in it, or with a note why there is nothing."""
        if not facts.is_page or facts.failure is not None:
            return facts
        try:
            with _at_most(self._seconds):
                found = self._function(self._page(facts, job))
            return replace(facts, extracted=_as_json(found))
        except MemoryError:
            raise  # nothing can be relied on any more: the worker ends, and the page is tried without the function
        except _TooLong:
            return self.without(facts, f"it took longer than {self._seconds:g} s")
        except BaseException as error:  # noqa: BLE001 - whatever a stranger's code raises, SystemExit too
            return self.without(facts, _words_of(error), line=self._line_of(error))

    def without(self, facts: Facts, why: str, *, line: str = "") -> Facts:
        """The facts of a page whose own function found nothing, for a reason that stands with the page."""
        where = f" (in {self._name}{line})"
        note = fold_line(f"{NO_FACTS}: {why}", _MAX_NOTE - len(where)) + where
        return replace(facts, notes=(*facts.notes, note))

    def _line_of(self, error: BaseException) -> str:
        """Where in the function it came from; nothing where it did not come from there."""
        trace = error.__traceback__.tb_next if error.__traceback__ is not None else None
        if trace is None or trace.tb_frame.f_code is not getattr(self._function, "__code__", None):
            return ""
        return f", line {trace.tb_lineno}"

    def _page(self, facts: Facts, job: ParseJob) -> ParsedPage:
        body = undo(job.headers, job.body, self._limits.max_decoded, url=job.url).data
        links = unpack(facts.links)
        return ParsedPage(job.url, job.headers, body, facts.charset, facts.language, facts.title, facts.text, links)


def load(code: OwnCode) -> OwnFunction:
    """A person's own function. Raises ImportError with what is wrong in words."""
    sys.path += [folder for folder in code.path if folder not in sys.path]
    try:
        # what is pickled comes from the program that started us, as the function itself does, never from a file or page
        found: object = pickle.loads(code.pickled) if code.pickled else _imported(code.name)  # noqa: S301
    except BaseException as error:  # noqa: BLE001 - importing it runs its code
        found = error
    if isinstance(found, BaseException):
        raise ImportError(f"{code.name} can't be loaded: {_words_of(found)}") from found
    if not callable(found):
        raise ImportError(f"{code.name} is no function")
    return found


def _imported(name: str) -> object:
    module_name, _, attributes = name.partition(":")
    return reduce(getattr, attributes.split("."), import_module(module_name))


class _TooLong(BaseException):
    """No Exception: the function must not be able to swallow it by accident."""


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise _TooLong in the block after so long, also in one that only waits (PEP 475)."""
    before = signal.signal(signal.SIGALRM, _ring)
    signal.setitimer(signal.ITIMER_PROF, 2 * seconds)  # ends the process: for code that no exception can reach
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _ring(*_: object) -> None:
    raise _TooLong


def _as_json(found: object) -> str:
    """As it is kept; nothing for None. Raises ValueError or TypeError for what has no JSON (RFC 8259)."""
    if found is None:
        return ""
    text = json.dumps(found, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if len(text) > MAX_JSON:
        raise ValueError(f"{len(text)} characters of JSON are more than {MAX_JSON}")
    return text.encode("utf-8", "replace").decode()


def _words_of(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - it is not ours, and may not even be able to say what it is
        return type(error).__name__
