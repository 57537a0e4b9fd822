"""What the commands that look into a collection share."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import click


def folder_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """The argument DIR."""
    return click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")(command)


def json_option(help_text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option --json."""
    return click.option("--json", "as_json", is_flag=True, help=help_text)


def when(seconds: float | None) -> str:
    """A moment for people, in their own time zone."""
    if seconds is None:
        return ""
    try:
        return datetime.fromtimestamp(seconds).astimezone().isoformat(sep=" ", timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return str(seconds)  # a stranger's collection can say anything
