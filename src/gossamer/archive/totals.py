"""The totals of a collection, counted from the rows that they are the totals of."""

import apsw

from gossamer.parse.markup import EMPTY

_URLS = """
SELECT total(state = 0 AND held = 0), total(state = 2 AND held = 0), total(state = 3 AND held = 0), total(held != 0)
FROM url
"""
_PAGES = "SELECT total(is_kept), total(is_kept AND instr(char(10) || notes || char(10), ?)), total(wire_size) FROM page"


def counted(connection: apsw.Connection) -> dict[str, int]:
    """What the table ``counter`` should say of URLs by their queue, of pages that are kept or empty, and of bytes."""
    urls = connection.execute(_URLS).fetchone() or ()
    pages = connection.execute(_PAGES, (f"\n{EMPTY}\n",)).fetchone() or ()
    names = ("waiting", "finished", "failed", "held", "pages", "empty", "bytes")
    return {name: int(value) for name, value in zip(names, (*urls, *pages), strict=True)}
