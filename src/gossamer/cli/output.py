"""What commands print: results on standard output, each line safe to show and safe to read into other programs.

Titles, URLs and errors come from strangers' pages. On their way to a terminal they lose the characters that would
command it, in CSV what a spreadsheet would run, in JSON they are escaped.
"""

import csv
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, islice

import click
from rich.cells import cell_len, set_cell_size

from gossamer.errors import CollectionError, GossamerError

FORMATS = ("table", "csv", "jsonl")

Row = Mapping[str, object]

_BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"  # they reorder what is shown around them
_BREAKS = "\t\n\v\f\r\x85\u2028\u2029"
_COMMANDS = [*range(0x20), *range(0x7F, 0xA0)]  # C0, DEL, C1
_PLAIN: dict[int, str | None] = (
    dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
    | dict.fromkeys([*_COMMANDS, *map(ord, _BIDI)])
    | dict.fromkeys(map(ord, _BREAKS), " ")
)
_JSON = {code: f"\\u{code:04x}" for code in _PLAIN if code >= 0x7F}  # json escapes the others itself
_REPLACED = re.compile(f"[\ud800-\udfff{''.join(chr(code) for code in _PLAIN if not 0xD800 <= code < 0xE000)}]")
_FORMULA = tuple("=+-@＝＋－＠")
_SAMPLE = 200  # rows that decide how wide the columns of a table are: the rest is not held in memory


class ReaderGone(GossamerError):
    """Who read our output has closed it, as `head` does: nothing is left to do or to say."""

    exit_code = 141  # as in a shell: 128 + SIGPIPE


def plain(text: str) -> str:
    """``text`` in one line, without control characters and without those that reorder text; anything may be in it."""
    return _replaced(text, _PLAIN)


def size_text(size: float) -> str:
    """Bytes for people: ``'812 B'``, ``'1.4 MB'`` (powers of 1000)."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def duration_text(seconds: float) -> str:
    """A duration for people, its two largest parts: ``'0.4 s'``, ``'2 min 5 s'``, ``'1 d 3 h'``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    day, hour = divmod(hours, 24)
    parts = [f"{n} {unit}" for n, unit in ((day, "d"), (hour, "h"), (minute, "min"), (second, "s")) if n]
    return " ".join(parts[:2])


def write_rows(form: str, fields: Sequence[str], rows: Iterable[Row]) -> None:
    """Print ``rows`` as one of FORMATS, as they come: memory does not grow with their number.

    ``fields`` names the columns in order; jsonl has them as keys, a value that is missing as null.
    """
    writer = {"table": _write_table, "csv": _write_csv, "jsonl": _write_jsonl}[form]
    writer(fields, rows)


def write_json(value: Row) -> None:
    """Print one object as a line of JSON."""
    _write(json_text(value) + "\n")


def write_pairs(pairs: Iterable[tuple[str, object]]) -> None:
    """Print labels with their values, one below the other."""
    table = [(plain(label), _cell(value)) for label, value in pairs]
    width = max((cell_len(label) for label, _ in table), default=0)
    for label, value in table:
        _write(f"{set_cell_size(label, width)}  {value}".rstrip() + "\n")


def write_line(text: str = "") -> None:
    """Print one line of a result; control characters in it are removed."""
    _write(plain(text) + "\n")


def say(text: str) -> None:
    """Tell the person something beside the result: one line on standard error.

    Where it can't be written (a file on a full disk) nobody can be told of that either.
    """
    with suppress(OSError):
        click.echo(plain(text), err=True)


def flush() -> None:
    """Write out what is buffered, while something can still be said about it."""
    with mapped_errors():
        sys.stdout.flush()


def json_text(value: object) -> str:
    """``value`` as JSON in one line, in its own script but for what commands terminals, which is escaped."""
    return _replaced(json.dumps(value, ensure_ascii=False, separators=(", ", ": ")), _JSON)


def _replaced(text: str, table: Mapping[int, str | None]) -> str:
    """As ``text.translate(table)`` gives it, for a fifteenth of the cost where hardly anything is to be replaced."""
    return _REPLACED.sub(lambda match: table.get(ord(match[0]), match[0]) or "", text)


@contextmanager
def mapped_errors() -> Iterator[None]:
    """A block that writes to standard output: what fails there becomes our errors."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGone("the reader of the output has gone") from error
    except OSError as error:
        raise CollectionError(f"the output can't be written ({error.strerror})", hint="is the disk full?") from error


def _write(text: str) -> None:
    with mapped_errors():
        sys.stdout.write(text)


def _write_jsonl(fields: Sequence[str], rows: Iterable[Row]) -> None:
    for row in rows:
        write_json({name: row.get(name) for name in fields})


def _write_csv(fields: Sequence[str], rows: Iterable[Row]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\r\n")  # RFC 4180
    with mapped_errors():
        writer.writerow(fields)
    for row in rows:
        cells = [safe_cell(row.get(name)) for name in fields]
        with mapped_errors():
            writer.writerow(cells)


def safe_cell(value: object) -> str:
    """Spreadsheets run cells that start like a formula, unless a quote stands before (OWASP, CSV Injection)."""
    text = _cell(value)
    return "'" + text if isinstance(value, str) and text.lstrip().startswith(_FORMULA) else text


def _write_table(fields: Sequence[str], rows: Iterable[Row]) -> None:
    for line in _table_lines(fields, rows):
        _write(line + "\n")


def _table_lines(fields: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    cells = iter([_cell(row.get(name)) for name in fields] for row in rows)
    sample = [[name.replace("_", " ") for name in fields], *islice(cells, _SAMPLE)]
    widths = [max(map(cell_len, column)) for column in zip(*sample, strict=True)]
    for row in chain(sample, cells):
        yield "  ".join(
            set_cell_size(text, width) if cell_len(text) < width else text
            for text, width in zip(row, widths, strict=True)
        ).rstrip()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return plain(str(value))
