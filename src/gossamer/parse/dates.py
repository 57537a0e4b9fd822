"""Dates as the web writes them: ISO 8601 and its W3C profile, RFC 822, RFC 850."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache

_LONGEST = 64  # characters; no date is longer
_PARTIAL = re.compile(r"\d{4}(?:-\d{2})?")
_LOOSE_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[ T](\d):")  # an hour of one digit


@lru_cache(maxsize=1024)  # a sitemap has the same dates over and over
def moment(text: str) -> float | None:
    """The moment that ``text`` names, seconds since 1970; None when it names none. Without a zone it is UTC.

    A year or a month alone (W3C, "Date and Time Formats") is its first day.
    """
    text = text.strip()[:_LONGEST]
    if _PARTIAL.fullmatch(text):
        text += "-01" if len(text) > 4 else "-01-01"
    text = _LOOSE_TIME.sub(r"\1T0\2:", text)
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = read(text)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
    return None
