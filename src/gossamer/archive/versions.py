"""The versions of a URL in the order in which they were fetched, also when an older one came into the archive later."""

import apsw

from gossamer.archive.database import select

_ASIDE = 1 << 40  # no URL was tried so often


def put_in_order(connection: apsw.Connection) -> int:
    """Number the tries of every URL by their time, so that its newest version is the last; the number of URLs changed.

    Inside the caller's transaction. The numbers of a URL stay the same ones, so that its next try is none of them.
    """
    wrong = select(
        connection,
        "SELECT DISTINCT url FROM page WHERE EXISTS (SELECT 1 FROM page AS later WHERE later.url = page.url"
        " AND later.attempt > page.attempt AND later.fetched < page.fetched)",
    )
    for (url_id,) in wrong:
        _number(connection, url_id)
    return len(wrong)


def _number(connection: apsw.Connection, url_id: int) -> None:
    tries = select(
        connection,
        "SELECT fetched, attempt FROM page WHERE url = ?1 UNION ALL SELECT at, attempt FROM attempt WHERE url = ?1"
        " AND attempt NOT IN (SELECT attempt FROM page WHERE url = ?1)",
        (url_id,),
    )
    numbers = sorted(number for _, number in tries)
    moves = [(new + _ASIDE, url_id, old) for (_, old), new in zip(sorted(tries), numbers, strict=True)]
    for table in ("page", "attempt"):
        connection.executemany(f"UPDATE {table} SET attempt = ? WHERE url = ? AND attempt = ?", moves)  # noqa: S608
        connection.execute(
            f"UPDATE {table} SET attempt = attempt - ?1 WHERE url = ?2 AND attempt > ?1 / 2",  # noqa: S608
            (_ASIDE, url_id),
        )
