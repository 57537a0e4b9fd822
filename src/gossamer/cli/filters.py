"""The options by which commands are told which URLs they are about; `urls` and `export` have them."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import click

from gossamer.archive.catalogue import Filter
from gossamer.clock import SystemClock
from gossamer.errors import UsageError
from gossamer.records import Kind, State

_STATES = {state.name.lower(): state for state in State if state is not State.RUNNING}

_MOMENTS = ("fetched_since", "fetched_before", "due_before")

_OPTIONS = (
    click.option("--state", type=click.Choice(tuple(_STATES)), help="only those in this state"),
    click.option("--reason", metavar="TEXT", help="only those with TEXT in their reason"),
    click.option("--held/--not-held", default=None, help="only those that are held, or are not"),
    click.option("--status", "statuses", metavar="N", help="only those that answered so: 404, or 4xx"),
    click.option("--content-type", metavar="TYPE", help="only those of this type: text/html, or image/*"),
    click.option("--kind", type=click.Choice([kind.value for kind in Kind]), help="only those of this kind"),
    click.option("--depth", type=click.IntRange(0), metavar="N", help="only those so many links from a seed"),
    click.option("--host", metavar="HOST", help="only those of this host, with or without its port"),
    click.option("--digest", metavar="HEX", help="only those whose body has this sha256, or one that begins so"),
    click.option("--fetched-since", metavar="DATE", help="only those that were fetched then or later"),
    click.option("--fetched-before", metavar="DATE", help="only those that were fetched earlier"),
    click.option("--due-before", metavar="DATE", help="only those to be visited before: now, or 2027-01-31[T12:00:00]"),
)


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of a filter; `filter_of` takes what they were given."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def filter_of(state: str | None, statuses: str | None, **wanted: Any) -> Filter:
    """The filter that the options describe. Raises UsageError."""
    moments = {name: _moment(text) for name in _MOMENTS if (text := wanted.pop(name))}
    return Filter(
        state=_STATES[state] if state else None,
        statuses=_status_range(statuses) if statuses else None,
        **wanted | moments,
    )


def _status_range(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"([1-9])(\d\d|xx)", text.lower())
    if match is None:
        raise UsageError(f"{text!r} is no HTTP status", hint="write it as 404, or as 4xx")
    first = int(match[1]) * 100
    return (first, first + 99) if match[2] == "xx" else (first + int(match[2]),) * 2


def _moment(text: str) -> float:
    if text == "now":
        return SystemClock().now()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{text!r} is no date", hint="write it as 2027-01-31 or 2027-01-31T12:00:00") from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
