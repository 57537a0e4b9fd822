"""The indices of the URL table are in blocks: what lies in several is found, and in its order."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from frontier.desk import SETTINGS, SqliteDesk, named
from gossamer.archive.database import SCHEMA, create, select
from gossamer.frontier.runs import RUN
from gossamer.records import Candidate, Via

BLOCK = 1 << 17


class Spread(SqliteDesk):
    """Each URL that is added comes into a block of its own, the first into the second."""

    def add(self, *addresses: str, via: Via = Via.SEED, **more: object) -> int:
        return sum(self._add_one(url, via, more) for url in addresses)

    def _add_one(self, url: str, via: Via, more: dict[str, object]) -> int:
        database = apsw.Connection(str(self.folder / "crawl.db"))
        database.execute(
            "INSERT INTO url (id, fingerprint, url, shard, state, held, kind, via, depth, found)"
            " SELECT ifnull(max(id), 0) + ?, 0, 'filler:', 0, 3, 1, 'other', 'a', 1, 0 FROM url",
            (BLOCK,),
        )
        database.close()
        return super().add(url, via=via, **more)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[SqliteDesk]:
    desk = Spread(tmp_path / "collection", SETTINGS)
    desk.open()
    yield desk
    desk.close()
    desk.finish()


def addresses(count: int) -> list[str]:
    return [f"http://{'ab'[number % 2]}.test/{'xyz'[number % 3]}{number}" for number in range(count)]


def test_all_is_read_in_the_order_found(desk: SqliteDesk) -> None:
    urls = addresses(12)
    assert desk.add(*urls) == 12
    desk.reopen()
    assert sorted(desk.visit_all()) == sorted(urls)


def test_a_host_is_asked_in_the_order_found(desk: SqliteDesk) -> None:
    urls = [f"http://a.test/{number}" for number in range(9)]
    desk.add(*urls)
    desk.reopen()
    assert desk.visit_all() == urls


def test_what_is_known_is_not_added_again(desk: SqliteDesk) -> None:
    urls = addresses(6)
    desk.add(*urls)
    assert desk.add(*urls, via=Via.ANCHOR, depth=1) == 0
    desk.crash()
    desk.open()
    assert desk.run(desk.frontier.add([Candidate(url, Via.ANCHOR, 1) for url in urls])) == 0


def test_hosts_and_selections_are_held_and_released_as_a_whole(desk: SqliteDesk) -> None:
    desk.add(*addresses(10))
    host = desk.claim().host_id
    assert desk.run(desk.frontier.hold(host, "enough")) == 5
    assert desk.run(desk.frontier.release(named("*"))) == 5
    assert desk.run(desk.frontier.park(named("*/x*"), "later")) == 4


def test_no_index_is_left_unused() -> None:
    """A query that does not say the expression of an index as the index does would read the whole table."""
    database = apsw.Connection(":memory:")
    database.execute(SCHEMA)
    for query, index in (
        (RUN, "url_waiting (<expr>=? AND host=? AND rowid>?)"),
        ("SELECT id FROM url WHERE url.id >> 17 IN block AND fingerprint = ?", "url_fingerprint (<expr>=?"),
        ("SELECT id FROM url WHERE url.id >> 17 IN block AND template = ? AND state = 0", "url_template (<expr>=?"),
        ("SELECT id FROM url WHERE url.id >> 17 IN block AND host = ? AND state = 0 AND held = 0", "url_waiting (<ex"),
    ):
        plan = select(database, f"EXPLAIN QUERY PLAN {query}", (0,) * (3 if query is RUN else query.count("?")))
        assert any(index in step[3] for step in plan), plan
    database.close()


def test_a_query_is_compiled_once_whatever_its_limit_is(tmp_path: Path) -> None:
    connection = create(tmp_path / "crawl.db", 0.0)
    asked: list[int] = []

    def allow(action: int, *_: object) -> int:
        asked.append(action)
        return apsw.SQLITE_OK

    connection.authorizer = allow  # asked while a statement is compiled
    connection.execute(RUN, (0, 1, 2)).fetchall()
    assert asked
    asked.clear()
    connection.execute(RUN, (5, 2, 100)).fetchall()
    assert not asked
    connection.close()
