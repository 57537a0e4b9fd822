"""A person's own functions as the crawl takes them: checked before it starts, and told where they went wrong."""

import re
import sys
from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path

from gossamer.crawl.hooks import Prepare, Skip
from gossamer.errors import UsageError
from gossamer.parse.job import OwnCode
from gossamer.policy.judge import OwnJudge
from gossamer.records import Candidate, Headers

Judge = Callable[[Candidate], str | None]
"""Why a URL is not to be fetched: it is held with that reason. None: as the scope says."""

RequestHook = Callable[[str], Mapping[str, str] | Skip | None]
"""What to send beside our own headers when this URL is asked for, or that it is not to be asked for."""

Extract = str | Callable[..., object]
"""A function for parser workers: itself, or as "module:function"."""

_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def guarded(judge: Judge, fail: Callable[[BaseException], None]) -> OwnJudge:
    """A judge that never raises where rows are written: after its first error URLs are held, and the crawl stops."""

    def guarded_judge(candidate: Candidate) -> str | None:
        try:
            reason = judge(candidate)
            if reason is not None and not isinstance(reason, str):
                raise TypeError(f"the judge gave {reason!r}; it must give a reason, or None")
        except Exception as error:  # noqa: BLE001 - it is raised in the program that gave us the judge
            fail(error)
            return f"it failed: {type(error).__name__}"
        return reason

    return guarded_judge


def prepared(hook: RequestHook) -> Prepare:
    """A request hook as the crawl asks it."""

    def prepare(url: str) -> Headers | Skip:
        found = hook(url)
        return found if isinstance(found, Skip) else tuple((found or {}).items())

    return prepare


def own_code(extract: Extract) -> OwnCode:
    """Where workers find a function. Raises UsageError where they can't."""
    name = extract if isinstance(extract, str) else _name_of(extract)
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} names no function", hint="write module:function")
    return OwnCode(name, tuple(str(Path(folder).absolute()) for folder in sys.path))


def _name_of(function: Callable[..., object]) -> str:
    module, name = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
    if module == "__main__":
        raise UsageError(
            f"parser workers can't import {name or 'the function'} from a script or notebook",
            hint="put it into a module, a file beside it",
        )
    try:
        found: object = reduce(getattr, name.split("."), sys.modules[module])
    except (AttributeError, KeyError):
        found = None
    if found is not function:
        raise UsageError(f"parser workers can't import {function!r}", hint="put it into a module, under its own name")
    return f"{module}:{name}"
