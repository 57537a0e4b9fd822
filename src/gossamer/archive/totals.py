"""The totals of a collection, counted from the rows that they are the totals of."""

import apsw

_URLS = """
SELECT total(state = 0 AND held = 0), total(state = 2 AND held = 0), total(state = 3 AND held = 0), total(held != 0)
FROM url
"""
_PAGES = "SELECT total(is_kept), total(wire_size) FROM page"


def counted(connection: apsw.Connection) -> dict[str, int]:
    """What the table ``counter`` should say of URLs by their queue, of pages that are kept, and of bytes."""
    urls, pages = (connection.execute(query).fetchone() or () for query in (_URLS, _PAGES))
    names = ("waiting", "finished", "failed", "held", "pages", "bytes")
    return {name: int(value) for name, value in zip(names, (*urls, *pages), strict=True)}
