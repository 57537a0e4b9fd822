"""What people write to say which URLs they mean: globs on the whole URL, or ``re:`` and a regular expression.

In a glob ``*`` stands for any run of characters, slashes too, ``?`` for any one, ``[a-z]`` for one of these and ``[!a-z]``
for any other. A regular expression is RE2's and is searched for in the URL. Both take linear time whatever the URL.
"""

import re

import re2

from gossamer.errors import SettingsError

_HINT = "write a glob such as */forum/*, or re: and an RE2 regular expression"
_MAX_MEMORY = 64 << 20  # bytes that RE2 may use for the program and its cache of states


class Patterns:
    """Some patterns, compiled. Raises SettingsError that names the one that can't be."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._each = [(pattern, _compile(pattern, _expression(pattern))) for pattern in patterns]
        # All globs in one expression say in one go that none matches, as is the rule. A regular expression stays alone:
        # within another it might not mean the same (an open \Q).
        globs = [f"(?:{_expression(pattern)})" for pattern in patterns if not pattern.startswith("re:")]
        self._quick = [compiled for pattern, compiled in self._each if pattern.startswith("re:")]
        if globs:
            self._quick.append(_compile("all globs together", "|".join(globs)))

    def first_match(self, url: str) -> str | None:
        """The first pattern that means ``url``, as it was written; None when none does."""
        for compiled in self._quick:
            if compiled.search(url):
                return next(pattern for pattern, one in self._each if one.search(url))
        return None


def literal(text: str) -> str:
    """The glob that means this text and no other."""
    return re.sub(r"[*?]|(?<!://)\[", r"[\g<0>]", text)  # behind :// a bracket is that of an address, see below


def any_of_host(host: str) -> str:
    """The pattern that means every URL of a host; without a port whatever its port."""
    port = "" if re.search(r":\d+\Z", host) else r"(?::\d+)?"
    return f"re:^https?://{re2.escape(host)}{port}/"


def _compile(pattern: str, expression: str) -> "re2._Regexp[str]":
    options = re2.Options()
    options.never_capture = True  # whether, not where: RE2's fastest way
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    try:
        return re2.compile(expression, options)
    except re2.error as error:
        reason = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error)
        raise SettingsError(f"the pattern {pattern!r} is not valid: {reason}", hint=_HINT) from error


def _expression(pattern: str) -> str:
    text = pattern.removeprefix("re:")
    if not text:
        raise SettingsError("an empty pattern was given", hint=_HINT)
    return _from_glob(text) if text == pattern else text


def _from_glob(glob: str) -> str:
    parts = []
    place = 0
    while place < len(glob):
        text, place = _next_part(glob, place)
        parts.append(text)
    return rf"(?s)\A{''.join(parts)}\z"


def _next_part(glob: str, place: int) -> tuple[str, int]:
    """The expression for what stands at ``place``, and the place after it."""
    character = glob[place]
    if character == "*":
        return ".*", place + 1
    if character == "?":
        return ".", place + 1
    # the closing bracket may not come first, so that []] can mean it; the address of http://[::1]/ is no class
    end = glob.find("]", place + (3 if glob.startswith("[!", place) else 2))
    if character != "[" or end < 0 or glob.endswith("://", 0, place):
        return re2.escape(character), place + 1
    inside = glob[place + 1 : end].removeprefix("!")
    negation = "^" if glob.startswith("[!", place) else ""
    return f"[{negation}{_class(inside)}]", end + 1


def _class(inside: str) -> str:
    """The inside of a class: all but the hyphens of ranges stand for themselves."""
    return "".join(character if character == "-" else re2.escape(character) for character in inside)
