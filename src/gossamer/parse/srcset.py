"""``srcset`` and ``imagesrcset``: every image that may be chosen (HTML, "parse a srcset attribute")."""

import re
from collections.abc import Iterator

_SPACE = " \t\n\f\r"
_SEPARATORS = re.compile(r"[ \t\n\f\r,]*")
_URL = re.compile(r"[^ \t\n\f\r]+")
# A width, a height or a density that is not negative; what is none of these is passed over.
_DESCRIPTOR = re.compile(r"([0-9]+)([wh])|(?:-?0+(?:\.0+)?|(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)(x)")


def candidates(srcset: str) -> Iterator[str]:
    """The URLs of all valid candidates, as written, in order."""
    return (srcset[start:end] for start, end in places(srcset))


def places(srcset: str) -> Iterator[tuple[int, int]]:
    """Where the URLs of all valid candidates begin and end, in order."""
    position = 0
    while True:
        position = _match_end(_SEPARATORS, srcset, position)
        url = _URL.match(srcset, position)
        if url is None:
            return
        position = url.end()
        if url[0].endswith(","):
            yield url.start(), url.start() + len(url[0].rstrip(","))
            continue
        descriptors, position = _descriptors(srcset, position)
        if _valid(descriptors):
            yield url.span()


def _match_end(pattern: re.Pattern[str], text: str, position: int) -> int:
    found = pattern.match(text, position)
    return found.end() if found else position


def _descriptors(srcset: str, position: int) -> tuple[list[str], int]:
    """The words up to the next comma that is not in parentheses, and where they end ("tokenize descriptors")."""
    words: list[str] = []
    word, depth = "", 0
    for index in range(position, len(srcset)):
        character = srcset[index]
        if depth == 0 and character == ",":
            return [each for each in (*words, word) if each], index + 1
        if depth == 0 and character in _SPACE:
            words.append(word)
            word = ""
            continue
        depth = 1 if character == "(" else 0 if character == ")" else depth
        word += character
    return [each for each in (*words, word) if each], len(srcset)


def _valid(descriptors: list[str]) -> bool:
    """At most one width or density, a height only beside a width, no width or height of zero."""
    seen: set[str] = set()
    for descriptor in descriptors:
        found = _DESCRIPTOR.fullmatch(descriptor)
        if found is None:
            continue
        kind = found[2] or found[3]
        if kind in seen or (kind != "x" and not found[1].strip("0")):
            return False
        seen.add(kind)
    return seen == {"w", "h"} if "h" in seen else seen != {"w", "x"}
