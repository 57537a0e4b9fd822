"""A person's own functions as the crawl takes them: checked before it starts, and told where they went wrong."""

import pickle
import re
import sys
from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path

import cloudpickle

from gossamer.api.checks import check_function, name_of
from gossamer.crawl.hooks import Prepare, Skip
from gossamer.errors import UsageError
from gossamer.parse.job import OwnCode
from gossamer.parse.text import fold_line
from gossamer.policy.judge import OwnJudge
from gossamer.records import Candidate, Headers

Judge = Callable[[Candidate], str | None]
"""Why a URL is not to be fetched: it is held with that reason. None: as the scope says."""

RequestHook = Callable[[str], Mapping[str, str] | Skip | None]
"""What to send beside our own headers when this URL is asked for, or that it is not to be asked for."""

Extract = str | Callable[..., object]
"""A function for parser workers: itself, or as "module:function"."""

_UNPICKLABLE = (pickle.PicklingError, TypeError, AttributeError, ValueError, RuntimeError)
_MAX_REASON = 200  # characters that are kept
_MAX_PICKLED = 64 * 1024 * 1024  # bytes
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def guarded(judge: Judge, fail: Callable[[BaseException], None]) -> OwnJudge:
    """A judge that never raises where rows are written: after its first error URLs are held, and the crawl stops."""

    def guarded_judge(candidate: Candidate) -> str | None:
        try:
            reason = judge(candidate)
            if reason is not None and not isinstance(reason, str):
                raise TypeError(f"the judge {name_of(judge)} gave {reason!r}; it must give a reason, or None")
        except BaseException as error:  # noqa: BLE001 - SystemExit too; it is raised in the program that gave us the judge
            fail(error)
            return f"it failed: {type(error).__name__}"
        return None if reason is None else fold_line(reason, _MAX_REASON)

    return guarded_judge


def prepared(hook: RequestHook) -> Prepare:
    """A request hook as the crawl asks it."""

    def prepare(url: str) -> Headers | Skip:
        found = hook(url)
        if isinstance(found, Skip):
            return Skip(fold_line(str(found.reason), _MAX_REASON))
        headers = found if found is not None else {}
        if not isinstance(headers, Mapping) or not all(
            isinstance(text, str) for item in headers.items() for text in item
        ):
            raise TypeError(
                f"the request hook {name_of(hook)} gave {found!r}; it must give headers as a dict of texts, Skip, or None"
            )
        return tuple(headers.items())

    return prepare


def own_code(extract: Extract) -> OwnCode:
    """Where workers find a function. Raises UsageError where they can't."""
    path = tuple(str(Path(folder).absolute()) for folder in sys.path)
    if not isinstance(extract, str):
        check_function("extract", extract)
        if (name := _name_in_module(extract)) is None:
            return OwnCode(name_of(extract), path, _pickled(extract))
    else:
        name = extract
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} names no function", hint="write module:function")
    return OwnCode(name, path)


def _name_in_module(function: Callable[..., object]) -> str | None:
    """Under which name a worker can import a function; None where it stands in a script, a notebook, or a function."""
    module, name = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
    if module == "__main__":
        return None
    try:
        found: object = reduce(getattr, name.split("."), sys.modules[module])
    except (AttributeError, KeyError):
        return None
    return f"{module}:{name}" if found is function else None


def _pickled(function: Callable[..., object]) -> bytes:
    """A function with what it uses of the script around it. Raises UsageError where that can't leave this process."""
    try:
        pickled = cloudpickle.dumps(function)
    except _UNPICKLABLE as error:
        raise UsageError(
            f"{name_of(function)} can't be passed on to the parser workers: {type(error).__name__}: {error}",
            hint="it must not use what belongs to this process, such as an open collection, file or connection",
        ) from error
    if len(pickled) > _MAX_PICKLED:
        raise UsageError(
            f"{name_of(function)} brings {len(pickled)} bytes with it, more than {_MAX_PICKLED}",
            hint="let it read what is so large where it runs",
        )
    return bytes(pickled)
