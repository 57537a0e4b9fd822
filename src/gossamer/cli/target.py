"""Where a command writes what is no text for people: to a file, or to standard output."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from gossamer.archive.aside import written_aside
from gossamer.cli import output
from gossamer.errors import CollectionError, UsageError


def refuse_terminal(form: str, target: str | None) -> None:
    """Raises UsageError where nothing was said of where to write, and a person would see it."""
    if target is None and sys.stdout.isatty():
        raise UsageError(f"{form} is not for a terminal", hint="give -o FILE")


@contextmanager
def opened_target(target: str | None) -> Iterator[BinaryIO]:
    """What is to be written to: a file, which is there when it is whole, or standard output for ``-`` and None."""
    if target is None or target == "-":
        with output.mapped_errors():
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    with written_aside(Path(target)) as file:
        yield file


@contextmanager
def target_at_the_end(target: str | None) -> Iterator[BinaryIO]:
    """The same, but standard output gets all of it after the block: a slow reader does not hold the block up."""
    if target is not None and target != "-":
        with written_aside(Path(target)) as file:
            yield file
        return
    try:
        with tempfile.TemporaryFile(prefix="gossamer-") as spool:
            yield spool
            spool.seek(0)
            with opened_target(None) as file:
                shutil.copyfileobj(spool, file)
    except OSError as error:
        raise CollectionError(
            f"the output can't be kept for a while ({error.strerror})", hint="is the disk full?"
        ) from error
