"""How every program of ours ends: an exit code that says what happened, at most one line, never a traceback.

0 done, 1 a problem was found, 2 usage or settings, 3 nothing could be fetched, 4 the collection can't be opened or
written, 70 our fault, 130 interrupted and resumable; 141, as in a shell, when the reader of our output has gone.
"""

import io
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from gossamer.cli.output import ReaderGone, flush, plain, say
from gossamer.errors import ArchiveError, GossamerError

OUR_FAULT = 70
INTERRUPTED = 130

_CONTEXT: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 120}


def run(command: click.Command, name: str) -> None:
    """Run ``command`` as the program called ``name`` with the arguments of this process, and exit."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # else numpy starts threads for algebra, which we have none of
    _write_utf8()
    sys.exit(_leave(_status(command, name)))


def _status(command: click.Command, name: str) -> int:
    try:
        status = command.main(prog_name=name, standalone_mode=False, **_CONTEXT)
        flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else name
        return _tell(f"{error.format_message().rstrip('.')}; see: {path} --help", error.exit_code)
    except click.ClickException as error:
        return _tell(error.format_message(), error.exit_code)
    except ReaderGone as error:
        return error.exit_code
    except GossamerError as error:
        return _tell(str(error), error.exit_code)
    except PermissionError as error:  # of a path that was named: nothing of ours could be done about it
        return _tell(f"{error.filename}: {error.strerror}; look at its permissions", ArchiveError.exit_code)
    except (click.Abort, KeyboardInterrupt):
        return _tell("interrupted", INTERRUPTED)
    except SystemExit as error:  # how completion ends
        return error.code if isinstance(error.code, int) else 0
    except Exception as error:  # noqa: BLE001 - whatever nobody foresaw: the person gets a line, we get the traceback
        return _tell(_our_fault(error, os.environ), OUR_FAULT)
    return status if isinstance(status, int) else 0


def _tell(message: str, status: int) -> int:
    say(f"Error: {message}")
    return status


def _our_fault(error: Exception, environment: Mapping[str, str]) -> str:
    text = "".join(traceback.format_exception(error))
    if environment.get("GOSSAMER_DEBUG"):
        for line in text.splitlines():
            say(line)
    place = _keep(text, environment)
    where = f"the traceback is in {place}, please report it" if place else "GOSSAMER_DEBUG=1 shows the traceback"
    return f"this is our fault: {type(error).__name__}: {str(error)[:200]}; {where}"


def _keep(text: str, environment: Mapping[str, str]) -> Path | None:
    """Write a traceback where programs keep their state (XDG_STATE_HOME), or else among the temporary files."""
    state = environment.get("XDG_STATE_HOME") or str(Path(environment.get("HOME", "/nonexistent"), ".local", "state"))
    folders = [Path(state, "gossamer")]
    with suppress(OSError):  # there may be none that can be written
        folders.append(Path(tempfile.gettempdir()))
    for folder in folders:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(prefix=time.strftime("crash-%Y%m%d-%H%M%S-"), suffix=".txt", dir=folder)
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write("\n".join(map(plain, text.splitlines())) + "\n")
            return Path(name)
        except OSError:
            continue
    return None


def _write_utf8() -> None:
    """Results are UTF-8 whatever the locale says, and no character stops them."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _leave(status: int) -> int:
    """Drop what can't be written any more: Python would try again at its end, and complain."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return status
