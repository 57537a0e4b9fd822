"""Lines of text met lately: whether a page says something of its own, for a small part of what a sketch of it costs."""

_ENOUGH = 4
"""New lines that make a page one with something to say."""

_LONG = 24
"""Bytes of a line that counts, without its digits: names of links and fields are shorter."""

_MAX_TEXT = 10_000
_REMEMBERED = 100_000
_DIGITS = b"0123456789"


class Lines:
    """In memory, and of bounded size: the lines of the latest pages, and those before that were met again since."""

    def __init__(self) -> None:
        self._late: set[int] = set()
        self._before: set[int] = set()

    def are_new(self, key: str, text: str) -> bool:
        """Whether a text has lines that differ in more than numbers from those met before under a key; now they are met."""
        data = text[:_MAX_TEXT].encode("utf-8", "replace").translate(None, _DIGITS)
        salt = hash(key)
        lines = {hash(line) ^ salt for line in data.split(b"\n") if len(line) >= _LONG}
        new = lines - self._late - self._before
        self._late |= lines
        if len(self._late) > _REMEMBERED:
            self._late, self._before = set(), self._late
        return len(new) >= _ENOUGH
