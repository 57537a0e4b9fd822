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
    rest = content[time.end() :]
    if not rest:
        return seconds, None
    prefix = _URL_PREFIX.match(rest)
    if prefix:
        rest = rest[prefix.end() :]
    if rest[:1] in ("'", '"'):
        rest = rest[1:].partition(rest[0])[0]
    return seconds, rest
