"""`gossamer why`: everything known about one URL."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import apsw
import click

from gossamer.agent import NAME
from gossamer.archive.catalogue import opened
from gossamer.archive.history import History, HostNote, Try, history, meant
from gossamer.cli import output
from gossamer.cli.looking import folder_argument, json_option, when
from gossamer.cli.options import Command
from gossamer.errors import ProblemFound
from gossamer.records import State

FIELDS = ("url", "answer", "entry", "way", "linkers", "redirects", "tries", "host")


@click.command(
    name="why",
    cls=Command,
    examples=[
        ("example.org https://example.org/private/", "why it was not fetched"),
        ("example.org example.org/page", "who linked to it, and every try"),
        ("--json example.org https://example.org/", "the same for other programs"),
    ],
)
@folder_argument
@click.argument("url")
@json_option("one object")
def explain(folder: Path, url: str, as_json: bool) -> None:
    """Tell everything known about URL in the crawl in DIR.

    Where it was found, who links to it, what was judged, each try, what its host and robots.txt say, where the
    answer lies in the archive.
    """
    with opened(folder) as connection:
        found = history(connection, _find(connection, url), NAME)
        if as_json:
            output.write_json(_row(found))
        else:
            _show(found)


def _show(found: History) -> None:
    for label, value in _pairs(found):
        output.write_line(f"{label + ':' if label else '':<13} {value}")


def _find(connection: apsw.Connection, text: str) -> int:
    url_id = meant(connection, text)
    if url_id is None:
        raise ProblemFound(
            f"{text} is not known here",
            hint="no page linked to it when it was read, or it was forgotten; gossamer urls lists what is known",
        )
    return url_id


def _row(found: History) -> output.Row:
    entry = asdict(found.entry)
    del entry["id"]
    return {
        "url": found.entry.url,
        "answer": _answer(found),
        "entry": {**entry, "state": found.entry.state.name.lower()},
        "way": found.way,
        "linkers": [asdict(linker) for linker in found.linkers],
        "redirects": found.redirects,
        "tries": [asdict(each) for each in found.tries],
        "host": None if found.host is None else asdict(found.host),
    }


def _answer(found: History) -> str:
    """In one sentence, why it was fetched or not."""
    entry = found.entry
    reason = f": {entry.reason}" if entry.reason else ""
    if entry.held:
        return f"{'refused' if entry.refused else 'held'}, not fetched{reason}"
    match entry.state:
        case State.FINISHED:
            return f"fetched{reason}"
        case State.FAILED:
            return f"given up after {_times(entry.attempts, 'try', 'tries')}{reason}"
        case _:
            return f"waiting for its turn{reason}" if not entry.due else f"waiting until {when(entry.due)}{reason}"


def _times(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _pairs(found: History) -> Iterator[tuple[str, object]]:
    entry = found.entry
    yield "URL", entry.url
    yield "answer", _answer(found)
    yield "kind", f"{entry.kind}, {_times(entry.depth, 'link', 'links')} from a seed"
    yield "found", f"{when(entry.found)} as {entry.via}"
    if entry.lastmod is not None:
        yield "changed", f"{when(entry.lastmod)}, as a sitemap or feed says"
    yield from _list("found on", reversed(found.way))
    yield from _list(
        "linked from", (f"{each.url}  {each.text}{' (nofollow)' * each.nofollow}" for each in found.linkers)
    )
    yield from _list("leads to", found.redirects)
    for number, each in enumerate(found.tries, 1):
        yield from _list(f"try {number}", _try(each))
    if found.host is not None:
        yield from _list("host", _host(found.host))


def _list(label: str, values: Iterator[str] | tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for number, value in enumerate(values):
        yield ("" if number else label), value


def _try(each: Try) -> Iterator[str]:
    answer = f"status {each.status}, {each.content_type or 'no type'}, {output.size_text(each.size)}"
    yield f"{when(each.at)}  {each.outcome or answer}"
    if each.status is None:
        return
    if each.outcome:
        yield answer
    yield f"{each.protocol} from {each.address} in {output.duration_text(each.duration)}"
    yield f"in {each.segment} at {each.offset}, {each.length} bytes{', in the index' if each.is_indexed else ''}"
    if each.duplicate_of:
        yield f"the same bytes as {each.duplicate_of}"
    if each.canonical:
        yield f"canonical: {each.canonical}"
    yield from each.notes


def _host(note: HostNote) -> Iterator[str]:
    yield note.origin + (f", put aside: {note.put_aside}" if note.put_aside else "")
    if note.robots_status is None:
        yield "robots.txt was not asked for yet"
    else:
        verdict = "allows" if note.robots_allowed else "refuses"
        rule = f" by {note.robots_rule}" if note.robots_rule else ""
        yield f"robots.txt (status {note.robots_status}) {verdict} it{rule}"
    if note.failures:
        yield f"{note.failures} failures in a row"
