"""Pages as a Parquet file, for data frames and databases. The library for it is large, so it is an extra."""

import importlib
import sys
from collections.abc import Iterable
from dataclasses import astuple, fields
from itertools import islice
from typing import Any, BinaryIO

from gossamer.archive.export.pages import PageRow
from gossamer.errors import UsageError

ROW_GROUP = 1000
"""Pages that are held in memory at once, and lie together in the file."""

_NAMES = tuple(field.name for field in fields(PageRow))
_TYPES: dict[Any, str] = {str: "string", str | None: "string", int: "int64", float: "float64", bool: "bool_"}


def write_parquet(rows: Iterable[PageRow], file: BinaryIO) -> None:
    """Write pages as columns. Raises UsageError when the library is missing."""
    arrow, parquet = library()
    link = arrow.struct([(name, arrow.string()) for name in ("url", "kind", "text")] + [("nofollow", arrow.bool_())])
    columns = [
        (field.name, arrow.list_(link) if field.name == "links" else getattr(arrow, _TYPES[field.type])())
        for field in fields(PageRow)
    ]
    schema = arrow.schema(columns)
    remaining = iter(rows)
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while group := [_cells(row) for row in islice(remaining, ROW_GROUP)]:
            writer.write_table(arrow.table(dict(zip(_NAMES, zip(*group, strict=True), strict=True)), schema=schema))


def library() -> tuple[Any, Any]:
    """pyarrow and its part for Parquet. Raises UsageError when it is not installed."""
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise UsageError(
            f"Parquet needs pyarrow, which can't be loaded ({error})",
            hint=f"install it with: {sys.executable} -m pip install pyarrow",
        ) from error


def _cells(row: PageRow) -> tuple[Any, ...]:
    return tuple(map(_cell, astuple(row)))


def _cell(value: Any) -> Any:
    """Text from the web may hold what can't be UTF-8; Arrow refuses it."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
