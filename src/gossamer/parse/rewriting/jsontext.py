"""The strings of a JSON text with their positions, and by which keys they are reached (RFC 8259)."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

_STRING = r'"((?:[^"\\]++|\\.)*+)"'
_TOKEN = re.compile(rf"{_STRING}(?=([ \t\n\r]*+:)?)|[\[\]{{}},]", re.DOTALL)
_DEEPEST = 64

Path = tuple[str, ...]
"""The keys that lead to a value; the members of an array have the key ``*``."""


@dataclass(frozen=True, slots=True)
class Word:
    """A string of the text."""

    path: Path  # of the value; of a key: that of its object
    is_key: bool
    start: int  # within the quotes
    end: int
    value: str


def words(source: str, start: int = 0, end: int | None = None) -> Iterator[Word]:
    """The strings of the JSON text that stands in ``source``, in order; none where it is no JSON, or nested too deep."""
    end = len(source) if end is None else end
    try:
        json.loads(source[start:end].removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return
    path: list[str] = []  # the last one is the key of the value that is read now
    for token in _TOKEN.finditer(source, start, end):
        text = token[0]
        if text in "{[":
            path.append("*" if text == "[" else "")
            if len(path) > _DEEPEST:
                return
        elif text in "}]":
            path.pop()
        elif text != ",":
            value = json.loads(text, strict=False)
            if token[2]:
                path[-1] = value
            yield Word(tuple(path[:-1] if token[2] else path), bool(token[2]), *token.span(1), value)


def write(text: str) -> str:
    """``text`` as it stands within the quotes of a string."""
    return json.dumps(text)[1:-1]
