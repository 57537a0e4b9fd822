"""What ``<meta http-equiv=refresh>`` and the Refresh header mean (HTML, "shared declarative refresh steps")."""

import re

# Steps 3 to 7: digits or a dot, what else there is of a number, then nothing or a separator.
_TIME = re.compile(r"[ \t\n\f\r]*(?:([0-9]+)|(?=\.))[0-9.]*(?:\Z|(?=[;, \t\n\f\r])[ \t\n\f\r]*[;,]?[ \t\n\f\r]*)")
_URL_PREFIX = re.compile(r"[Uu][Rr][Ll][ \t\n\f\r]*=[ \t\n\f\r]*")


def refresh(content: str) -> tuple[int, str | None] | None:
    """Seconds and the URL as written (None: the page itself), or None when ``content`` asks for no refresh."""
    time = _TIME.match(content)
    if time is None:
        return None
    seconds = int((time[1] or "0")[:9])
    place = url_place(content)
    return seconds, None if place is None else content[slice(*place)]


def url_place(content: str) -> tuple[int, int] | None:
    """Where the URL begins and ends in ``content``; None when there is none."""
    time = _TIME.match(content)
    if time is None or time.end() == len(content):
        return None
    prefix = _URL_PREFIX.match(content, time.end())
    start = prefix.end() if prefix else time.end()
    quote = content[start : start + 1]
    if quote not in ("'", '"'):
        return start, len(content)
    end = content.find(quote, start + 1)
    return start + 1, len(content) if end < 0 else end
