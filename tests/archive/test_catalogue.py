"""What the catalogue says of a collection is what was committed."""

import os
from pathlib import Path

import apsw
import pytest

from gossamer.archive import requests
from gossamer.archive.catalogue import Filter, database_path, entries, opened
from gossamer.archive.history import find, history
from gossamer.archive.status import status
from gossamer.archive.verify import verify
from gossamer.errors import CollectionError, SettingsError
from gossamer.records import Failure, FailureKind, Link, Selection, Settlement, State, Via
from small import Small


@pytest.fixture
def small(tmp_path: Path) -> Small:
    """Pages, a redirect, a 404, a dead host, what is held."""
    small = Small.create(tmp_path / "site")
    small.seed("http://a.test/")
    small.page("http://a.test/", "Home", "welcome", "http://a.test/1", "http://far.test/", "http://a.test/private")
    small.page("http://a.test/1", "One", "first", "http://a.test/2", Link("mailto:a@b", Via.ANCHOR, other=True))
    small.page("http://a.test/2", "Two", "second", Link("http://a.test/1", Via.ANCHOR, "back", nofollow=True))
    small.answer("http://a.test/old", status=301, redirect="http://a.test/1")
    small.answer("http://a.test/gone", b"no", status=404, settlement=failed(FailureKind.HTTP_CLIENT, "404"))
    small.fail("http://b.a.test/x", Failure(FailureKind.RESET), state=State.WAITING)
    small.fail("http://b.a.test/x", Failure(FailureKind.RESET), state=State.WAITING, put_aside="reset 8 times")
    return small


def failed(kind: FailureKind, detail: str) -> Settlement:
    failure = Failure(kind, detail)
    return Settlement(State.FAILED, str(failure), failure=failure)


def listed(small: Small, wanted: Filter) -> list[str]:
    return [entry.url.removeprefix("http://a.test") for entry in entries(small.connection, wanted)]


def count(small: Small, query: str) -> int:
    return int(str(small.connection.execute(f"SELECT count(*) FROM {query}").get))


# --- opening


def test_what_is_no_collection_is_said_so(tmp_path: Path) -> None:
    for folder, text in ((tmp_path, "is no collection"), (tmp_path / "nothing", "does not exist")):
        with pytest.raises(CollectionError, match=text):
            database_path(folder)
    (tmp_path / "crawl.db").write_text("something else, and not short at all " * 100)
    with pytest.raises(CollectionError), opened(tmp_path):
        pass


def test_a_newer_collection_is_refused(small: Small) -> None:
    small.connection.execute("PRAGMA user_version = 999")
    with pytest.raises(CollectionError, match="newer Gossamer"), opened(small.folder):
        pass


def test_errors_of_sqlite_become_ours(small: Small) -> None:
    with pytest.raises(CollectionError, match=r"crawl\.db can't be used"), opened(small.folder) as connection:
        connection.execute("INSERT INTO meta VALUES ('a', 1)")


# --- status


def test_the_counts_of_urls_add_up_to_all_of_them(small: Small) -> None:
    found = status(small.connection, small.clock.now())
    assert (found.waiting, found.running, found.finished, found.failed, found.held) == (0, 0, 4, 1, 4)
    assert found.waiting + found.finished + found.failed + found.held == count(small, "url")
    assert found.pages == 3
    assert found.errors == {"http client error": 1, "connection reset": 2}
    assert found.hosts == 3
    assert found.hosts_aside == (("http://b.a.test", "reset 8 times"),)


OURS = -1  # stands for this process: names of tests must be the same in every process that runs them


@pytest.mark.parametrize(
    ("state", "pid", "age", "clean", "expected"),
    [
        ("running", OURS, 0.5, 0, "running"),
        ("paused", OURS, 5, 0, "paused"),
        ("running", OURS, 11, 0, "interrupted"),
        ("running", 1 << 22, 0.5, 0, "interrupted"),
        ("running", 1 << 70, 0.5, 0, "interrupted"),
        ("running", 0, 0.5, 0, "interrupted"),
        ("stopped", OURS, 0.5, 1, "stopped"),
    ],
)
def test_a_crawl_is_at_work_when_its_heart_beats_and_its_process_lives(
    small: Small, state: str, pid: int, age: float, clean: int, expected: str
) -> None:
    now = small.clock.now()
    small.seed("http://a.test/9", "http://a.test/8")
    body = '{"running": 1, "pages_per_second": 2.5}'
    small.connection.execute(
        "UPDATE heartbeat SET state = ?, pid = ?, at = ?, clean = ?, body = ?",
        (state, os.getpid() if pid == OURS else min(pid, (1 << 63) - 1), now - age, clean, body),
    )
    found = status(small.connection, now)
    assert found.state == expected
    at_work = expected in ("running", "paused")
    assert (found.waiting, found.running) == ((1, 1) if at_work else (2, 0))
    assert found.activity.get("pages_per_second") == (2.5 if at_work else None)


@pytest.mark.parametrize("body", ["", "[]", "{", "null", '{"running": "many"}', '{"running": 1e999}', "[" * 100_000])
def test_a_heartbeat_can_say_anything(small: Small, body: str) -> None:
    now = small.clock.now()
    small.connection.execute(
        "UPDATE heartbeat SET pid = ?, at = ?, clean = 0, body = ?, state = 'running'", (os.getpid(), now, body)
    )
    assert status(small.connection, now).running == 0


def test_a_collection_that_was_never_crawled(small: Small) -> None:
    small.connection.execute("DELETE FROM heartbeat")
    assert status(small.connection, 0).state == "new"


def test_the_last_events_are_shown_in_order(small: Small) -> None:
    small.connection.executemany(
        "INSERT INTO event (at, kind, body) VALUES (?, 'tick', '{\"n\": 1}')", [(float(n),) for n in range(30)]
    )
    events = status(small.connection, 0).events
    assert [event.at for event in events] == [float(n) for n in range(20, 30)]
    assert events[0].body == {"n": 1}


# --- the list of URLs


def test_entries_are_in_the_order_found_with_what_is_known(small: Small) -> None:
    found = {entry.url: entry for entry in entries(small.connection, Filter())}
    assert list(found)[:4] == ["http://a.test/", "http://a.test/1", "http://far.test/", "http://a.test/private"]
    one = found["http://a.test/1"]
    assert (one.state, one.status, one.title, one.depth, one.via) == (State.FINISHED, 200, "One", 1, "a")
    assert (one.host, one.parent, one.kind) == ("a.test", "http://a.test/", "internal")
    assert one.digest is not None
    assert len(one.digest) == 64
    assert found["http://a.test/old"].redirect_to == "http://a.test/1"
    assert found["mailto:a@b"].host is None
    assert found["http://far.test/"].status is None
    assert found["http://far.test/"].digest is None


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Filter(state=State.FAILED), ["/gone"]),
        (Filter(state=State.WAITING, held=False), []),
        (Filter(held=True, kind="internal"), ["/private", "http://b.a.test/x"]),
        (Filter(reason="excluded"), ["/private"]),
        (Filter(statuses=(400, 499)), ["/gone"]),
        (Filter(statuses=(301, 301)), ["/old"]),
        (Filter(content_type="text/*", depth=1), ["/1"]),
        (Filter(kind="other"), ["mailto:a@b"]),
        (Filter(depth=2), ["/2", "mailto:a@b"]),
        (Filter(host="far.test"), ["http://far.test/"]),
        (Filter(host="far.test:81"), []),
        (Filter(due_before=9e9), []),
        (Filter(patterns=("*/private", "re:/[12]$")), ["/1", "/private", "/2"]),
        (Filter(digest="zz"), []),
    ],
    ids=repr,
)
def test_filters(small: Small, wanted: Filter, expected: list[str]) -> None:
    assert listed(small, wanted) == expected


def test_a_digest_is_found_by_its_beginning(small: Small) -> None:
    digest = next(entry.digest for entry in entries(small.connection, Filter()) if entry.url.endswith("/1"))
    assert digest is not None
    assert listed(small, Filter(digest=digest[:12].upper())) == ["/1"]


def test_a_bad_pattern_is_an_error_of_the_person(small: Small) -> None:
    with pytest.raises(SettingsError):
        listed(small, Filter(patterns=("re:(",)))


def test_many_urls_are_read_in_groups(small: Small) -> None:
    small.page("http://a.test/many", "", "", *(f"http://a.test/n/{number}" for number in range(2500)))
    assert len(listed(small, Filter(patterns=("*/n/*",)))) == 2500


# --- the history of a URL


def test_why_a_page_was_fetched(small: Small) -> None:
    url_id = find(small.connection, "http://a.test/1")
    assert url_id is not None
    found = history(small.connection, url_id, "gossamer")
    assert found.way == ("http://a.test/",)
    assert [(linker.url, linker.text, linker.nofollow) for linker in found.linkers] == [
        ("http://a.test/", "link text", False),
        ("http://a.test/2", "back", True),
    ]
    (only,) = found.tries
    assert (only.status, only.is_indexed, only.outcome) == (200, True, "")
    assert only.segment.startswith("warc/")
    assert only.length > 0


def test_why_a_page_failed_and_where_a_redirect_leads(small: Small) -> None:
    gone = history(small.connection, find(small.connection, "http://a.test/gone") or 0, "gossamer")
    assert [(each.status, each.outcome) for each in gone.tries] == [(404, "http client error: 404")]
    old = history(small.connection, find(small.connection, "http://a.test/old") or 0, "gossamer")
    assert old.redirects == ("http://a.test/1",)
    dead = history(small.connection, find(small.connection, "http://b.a.test/x") or 0, "gossamer")
    assert [each.outcome for each in dead.tries] == ["connection reset"] * 2
    assert dead.host is not None
    assert dead.host.put_aside == "reset 8 times"


def test_a_redirect_that_goes_round_ends(small: Small) -> None:
    small.answer("http://a.test/l1", status=302, redirect="http://a.test/l2")
    small.answer("http://a.test/l2", status=302, redirect="http://a.test/l1")
    found = history(small.connection, find(small.connection, "http://a.test/l1") or 0, "gossamer")
    assert len(found.redirects) == 20


def test_what_robots_says_is_told_with_its_line(small: Small) -> None:
    small.connection.execute(
        "UPDATE host SET robots_status = 200, robots_body = ?, robots_fetched = 5 WHERE hostname = 'a.test'",
        (b"User-agent: *\nDisallow: /gone\n",),
    )
    note = history(small.connection, find(small.connection, "http://a.test/gone") or 0, "gossamer").host
    assert note is not None
    assert (note.robots_allowed, note.robots_rule) == (False, "Disallow: /gone")


def test_an_unknown_url_is_not_found(small: Small) -> None:
    assert find(small.connection, "http://a.test/nowhere") is None


# --- requests


def test_failed_urls_wait_again_with_no_tries_counted(small: Small) -> None:
    with small.connection:
        assert requests.requeue(small.connection, Selection(patterns=("*/gone",))) == 1
    (entry,) = entries(small.connection, Filter(patterns=("*/gone",)))
    assert (entry.state, entry.attempts, entry.reason, entry.due) == (State.WAITING, 0, "", None)
    small.answer("http://a.test/gone", b"no", status=404, settlement=failed(FailureKind.HTTP_CLIENT, "404"))
    with small.connection:
        assert requests.requeue(small.connection, Selection()) > 0
    small.page("http://a.test/gone", "Back", "here again")
    found = history(small.connection, entry.id, "gossamer")
    assert [each.status for each in found.tries] == [404, 404, 200]
    assert found.entry.title == "Back"
    assert list(verify(small.connection, small.folder, at_rest=True)) == []


def test_a_host_that_was_put_aside_comes_back_with_its_urls(small: Small) -> None:
    with small.connection:
        assert requests.requeue(small.connection, Selection(host="other.test")) == 0
        assert requests.requeue(small.connection, Selection(host="b.a.test")) == 1
    found = status(small.connection, 0)
    assert (found.waiting, found.hosts_aside, found.failed) == (1, (), 1)
    assert list(verify(small.connection, small.folder, at_rest=True)) == []


def test_held_urls_are_released_those_of_other_sites_only_by_name(small: Small) -> None:
    with small.connection:
        assert requests.release(small.connection, Selection()) == 0  # nothing is parked
        assert requests.release(small.connection, Selection(patterns=("*/private",))) == 1
        assert listed(small, Filter(state=State.WAITING, held=False)) == ["/private"]
        assert requests.release(small.connection, Selection(patterns=("http://far.test/*",))) == 1
        assert requests.release(small.connection, Selection(reason="reset 8 times")) == 0  # comes with a retry
        assert requests.release(small.connection, Selection(reason="not fetched")) == 0  # mailto: is nothing to fetch
    assert list(verify(small.connection, small.folder, at_rest=True)) == []


def test_waiting_urls_are_parked_with_a_reason(small: Small) -> None:
    small.seed("http://a.test/7", "http://a.test/8")
    with small.connection:
        assert requests.park(small.connection, Selection(patterns=("*/7",)), "by command") == 1
    assert listed(small, Filter(reason="by command", held=True)) == ["/7"]
    assert list(verify(small.connection, small.folder, at_rest=True)) == []


def test_a_bad_pattern_changes_nothing(small: Small) -> None:
    with pytest.raises(SettingsError), small.connection:
        requests.release(small.connection, Selection(patterns=("re:(",)))
    assert status(small.connection, 0).held == 4


def test_a_command_waits_for_its_answer(small: Small) -> None:
    number = requests.ask(small.connection, "retry", Selection(host="a.test"), 1.0)
    assert requests.answer(small.connection, number) is None
    small.connection.execute("UPDATE command SET done = 2, answer = '3' WHERE id = ?", (number,))
    assert requests.answer(small.connection, number) == "3"


def test_reading_goes_on_beside_a_writer(small: Small) -> None:
    with opened(small.folder) as connection:
        rows = entries(connection, Filter())
        next(rows)
        small.page("http://a.test/new", "New", "new")
        assert list(rows)
        assert status(connection, small.clock.now()).pages == 4
    assert isinstance(small.connection, apsw.Connection)
