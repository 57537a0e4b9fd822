"""Each violation, fed to the oracle, must be found; and a crawl without fault must pass."""

import base64
import gzip
import hashlib
import sqlite3
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from fakeweb import FakeWeb, Site, Visit, generate, recipes
from gossamer.archive import database
from oracle import Expected, check, check_archive, check_politeness, check_visits, expect, walk, warc
from oracle.robots import Rules

HOST = "a.example"
DATE = "2026-01-01T00:00:00Z"
ROBOTS = "User-agent: *\nDisallow: /private"


def visit(at: float, path: str = "/", status: int = 200, **more: object) -> Visit:
    made = Visit(
        number=0,
        at=at,
        at_monotonic=at,
        connection=0,
        address="127.0.0.1",
        port=80,
        host=HOST,
        method="GET",
        path=path,
        user_agent="",
        headers=(),
        status=status,
        ended=at + 0.1,
        outcome="whole",
    )
    return replace(made, **more)  # type: ignore[arg-type]  # names of fields


CLEAN = [visit(0, "/robots.txt"), visit(1), visit(2, "/b")]


# walk


@pytest.mark.parametrize("seed", range(6))
def test_search_and_generator_agree(seed: int) -> None:
    """Two ways to know the reachable pages: from the markup, and from the plan it was made of."""
    site = generate(seed, pages=80)
    with FakeWeb(site) as web:
        result = walk(web.url())
        assert {url.removeprefix(web.origin()) for url in result.pages} == site.reachable
        assert {url.removeprefix(web.origin()) for url in result.statuses} == site.asked


def test_search_does_what_it_asks_of_others() -> None:
    site = generate(3, pages=40)
    with FakeWeb(site) as web:
        walk(web.url())
        told = expect(web, site)
        assert check_visits(web.log, pages=told.pages, asked=told.asked, robots=told.robots) == []
        assert check_politeness(web.log) == []
        first, none = web.url(min(site.reachable)), web.url("/none")
        others = {web.url(path) for path in site.asked} - {first}
        found = [f"missing: {none} was never fetched", f"extra: {first} was fetched"]
        assert check_visits(web.log, pages={none}, asked=others) == found


def test_a_generated_site_is_the_same_for_ever() -> None:
    one, two = generate(7, pages=30, flaky=3), generate(7, pages=30, flaky=3)
    assert (one.reachable, one.asked, one.words) == (two.reachable, two.asked, two.words)
    assert generate(8, pages=30).words.keys() != one.words.keys()
    assert len(one.reachable) > 30
    assert one.forbidden
    assert one.forbidden.isdisjoint(one.asked)


def test_search_stays_on_its_host_and_is_bounded() -> None:
    site = Site({"/robots.txt": recipes.robots("User-agent: *\nDisallow: /x")}, recipes.by_prefix(n=recipes.counter))
    with FakeWeb(site) as web:
        assert len(walk(web.url("/n/1"), limit=10).pages) == 10


# robots


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/c", False),
        ("User-agent: *\nDisallow: /\nUser-agent: Gossamer\nDisallow:", "/a", True),
        ("User-agent: x\nUser-agent: gossamer\nDisallow: /*.gif$", "/a.gif", False),
        ("User-agent: x\nUser-agent: gossamer\nDisallow: /*.gif$", "/a.gif?", True),
        ("User-agent: other\nDisallow: /", "/a", True),
        ("", "/a", True),
    ],
)
def test_rules(rules: str, path: str, allowed: bool) -> None:
    assert Rules(rules).allows(path) is allowed


# visits


def test_a_clean_log_passes() -> None:
    urls = {f"http://{HOST}/", f"http://{HOST}/b"}
    assert check_visits(CLEAN, pages=urls, asked=urls, robots={HOST: ROBOTS}) == []
    assert check_politeness(CLEAN, 1.0) == []


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ([], "missing: http://a.example/c was never fetched"),
        ([visit(3, "/c", outcome="gone")], "missing: http://a.example/c"),
        ([visit(3, "/d")], "extra: http://a.example/d was fetched"),
        ([visit(3, "/private/x")], "robots: http://a.example/private/x is forbidden"),
        ([visit(3)], "repeat: http://a.example/ was fetched again"),
        ([visit(3 + n, "/e", 503) for n in range(5)], "repeat: http://a.example/e was tried 5 times, not 4"),
        ([visit(3, host="b.example")], "robots: b.example got / before its robots.txt was known"),
        ([visit(3, "/robots.txt", 503, host="c.example"), visit(4, host="c.example")], "robots: c.example got /"),
    ],
)
def test_violations_of_what_was_fetched(more: list[Visit], found: str) -> None:
    urls = {f"http://{HOST}/", f"http://{HOST}/c"}
    violations = check_visits([*CLEAN, *more], pages=urls, asked=urls, robots={HOST: ROBOTS})
    assert any(line.startswith(found) for line in violations), violations


def test_retries_and_restarts_are_allowed_to_repeat() -> None:
    failures = [visit(3 + n, "/e", 503) for n in range(3)] + [visit(6, "/e")]
    assert check_visits([*CLEAN, *failures]) == []
    again = [*CLEAN, visit(9, "/b")]
    assert check_visits(again, kills=[3.0], window=2.0) == []
    assert check_visits(again, kills=[3.0], window=0.5) != []  # long since committed
    assert check_visits(again, kills=[1.5], window=2.0) != []  # killed before it was asked for
    assert check_visits([*again, visit(12, "/b")], kills=[3.0], window=20.0) != []  # one restart, two repeats


# politeness


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ([visit(2.5, "/c")], "gap: a.example got /c 0.5000 s after /b, not 1.0 s"),
        ([visit(3, "/c", 503, retry_after="5"), visit(7, "/d")], "retry-after: a.example asked for '5' and got /d"),
        (
            [visit(3, "/c", 429, retry_after="Thu, 01 Jan 1970 00:01:00 GMT"), visit(59, "/d")],
            "retry-after: a.example asked for 'Thu",
        ),
        ([visit(3, "/c", ended=None), visit(10, "/d")], "concurrency: a.example had 2 requests at once, not 1: /c, /d"),
        ([visit(3, "/c", ended=4.5), visit(4, "/d")], "concurrency: a.example had 2 requests at once"),
    ],
)
def test_violations_of_politeness(more: list[Visit], found: str) -> None:
    violations = check_politeness([*CLEAN, *more], 1.0)
    assert [line for line in violations if line.startswith(found)], violations
    assert check_politeness([*CLEAN, visit(2.5, "/c", host="b.example")], 1.0) == []


def test_limits_of_single_hosts() -> None:
    assert check_politeness(CLEAN, 0.0, delays={HOST: 1.5}) != []
    assert check_politeness([*CLEAN, visit(2.05, "/c")], per_host=2) == []


# archive


class Made:
    """A small collection, written byte by byte, and by plain SQL in the tables of the crawler's own schema."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        database.create(folder / "crawl.db", 0.0).close()
        (folder / "warc").mkdir()
        self.path = folder / "warc" / "1.warc.gz"
        self.sql("INSERT INTO segment (id, uri, bytes, opened) VALUES (1, 'warc/1.warc.gz', 0, 0)")
        for number, path in enumerate(["/", "/b"], 1):
            body = f"<p>page {number}".encode()
            self.page(number, f"http://{HOST}{path}", body, *self.record(f"http://{HOST}{path}", body))

    def sql(self, statement: str, *values: object) -> None:
        with closing(sqlite3.connect(self.folder / "crawl.db")) as connection, connection:
            connection.execute(statement, values)

    def record(
        self, url: str, body: bytes, kind: str = "response", more: Mapping[str, str] | None = None
    ) -> tuple[int, int]:
        head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
        block = b"GET / HTTP/1.1\r\nAuthorization: Basic abc\r\n\r\n"
        payload = gzip.compress(body)
        if kind != "request":
            block = head + payload if kind == "response" else head
        fields = {
            "WARC-Type": kind,
            "WARC-Record-ID": f"<urn:uuid:{uuid.uuid4()}>",
            "WARC-Target-URI": url,
            "WARC-Block-Digest": f"sha256:{hashlib.sha256(block).hexdigest()}",
            "WARC-Payload-Digest": f"sha1:{base64.b32encode(hashlib.sha1(payload).digest()).decode()}",
            "WARC-Date": DATE,
            "Content-Length": str(len(block)),
            **(more or {}),
        }
        return self.append(gzip.compress(_content(warc.Record(0, 0, fields, block))))

    def append(self, member: bytes) -> tuple[int, int]:
        data = self.path.read_bytes() if self.path.exists() else b""
        self.path.write_bytes(data + member)
        self.sql("UPDATE segment SET bytes = ?", len(data + member))
        return len(data), len(member)

    def page(self, number: int, url: str, body: bytes, offset: int, length: int) -> None:
        self.sql(
            "INSERT INTO url (id, fingerprint, url, shard, state, kind, via, depth, found)"
            " VALUES (?, ?, ?, 0, 2, 'internal', 'a', 0, 0)",
            number,
            number,
            url,
        )
        self.sql(
            "INSERT INTO page (id, url, attempt, fetched, status, content_type, size, wire_size, duration, digest,"
            " is_page, is_kept, is_indexed, segment, offset, length)"
            " VALUES (?, ?, 1, 0, 200, 'text/html', 0, 0, 0, ?, 1, 1, 1, 1, ?, ?)",
            number,
            number,
            hashlib.sha256(body).digest(),
            offset,
            length,
        )
        self.sql("INSERT INTO text VALUES (?, x'')", number)
        self.sql("INSERT INTO page_index_docsize VALUES (?, x'', 0)", number)

    def flip(self, position: int) -> None:
        data = bytearray(self.path.read_bytes())
        data[position] ^= 255
        self.path.write_bytes(data)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    yield Made(tmp_path)


def test_a_clean_archive_passes(made: Made) -> None:
    pages = {f"http://{HOST}/", f"http://{HOST}/b"}
    before = {path: path.read_bytes() for path in made.folder.rglob("*") if path.is_file()}
    assert check_archive(made.folder, pages=pages) == []
    assert check(CLEAN, made.folder, Expected(pages=pages, asked=pages, delay=1.0, robots={HOST: ROBOTS}), 0) == []
    assert check(CLEAN, made.folder, Expected(exit_code=3), 0) == ["exit code: 0, not 3"]
    assert {path: path.read_bytes() for path in made.folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE page SET digest = zeroblob(32) WHERE id = 2", "digest: the page warc/1.warc.gz at"),
        ("UPDATE page SET offset = offset + 1 WHERE id = 1", "rows: there is no record warc/1.warc.gz at 1"),
        ("UPDATE page SET offset = 0 WHERE id = 2", "rows: 2 rows point at warc/1.warc.gz at 0"),
        ("UPDATE page SET length = length + 1 WHERE id = 1", "rows: the record warc/1.warc.gz at 0"),
        ("DELETE FROM page WHERE id = 2", "rows: no row points at warc/1.warc.gz at"),
        ("DELETE FROM page WHERE id = 2", "urls: http://a.example/b is finished without a page"),
        ("UPDATE url SET url = 'http://a.example/x' WHERE id = 2", "rows: the record warc/1.warc.gz at"),
        ("UPDATE url SET url = 'http://a.example/' WHERE id = 2", "urls: http://a.example/ stands there twice"),
        ("UPDATE url SET state = 0 WHERE id = 2", "urls: http://a.example/b still waits"),
        ("UPDATE url SET state = 1 WHERE id = 2", "urls: http://a.example/b is in no state"),
        ("UPDATE page SET is_page = 0 WHERE id = 2", "pages: http://a.example/b was not kept"),
        ("UPDATE page SET is_indexed = 0 WHERE id = 2", "index: page 2 is in the index only"),
        ("DELETE FROM page_index_docsize WHERE id = 2", "index: page 2 is in its row only"),
        ("DELETE FROM text WHERE page = 2", "index: page 2 has no text"),
        ("INSERT INTO links VALUES (9, x'')", "links: page 9 does not exist"),
        ("UPDATE segment SET bytes = 5", "segment: warc/1.warc.gz has"),
        ("UPDATE segment SET uri = 'warc/2.warc.gz'", "segment: the file warc/1.warc.gz has no row"),
    ],
)
def test_violations_in_the_database(made: Made, statement: str, found: str) -> None:
    made.sql(statement)
    violations = check_archive(made.folder, pages={f"http://{HOST}/", f"http://{HOST}/b"})
    assert [line for line in violations if line.startswith(found)], violations


def test_records_without_rows_and_secrets(made: Made) -> None:
    made.record(f"http://{HOST}/b", b"once more")
    made.record(f"http://{HOST}/b", b"", kind="request")
    violations = check_archive(made.folder)
    assert len(violations) == 2
    assert violations[0].startswith("secret: warc/1.warc.gz at")
    assert violations[1].startswith("rows: no row points at")


def test_a_torn_or_damaged_file(made: Made) -> None:
    whole = made.path.read_bytes()
    made.path.write_bytes(whole[:-10])
    assert any("is cut off" in line for line in check_archive(made.folder))
    made.path.write_bytes(whole)
    made.flip(60)
    assert any(line.startswith("warc: warc/1.warc.gz") for line in check_archive(made.folder))


def test_a_wrong_digest_in_a_record(made: Made) -> None:
    members = b"".join(gzip.compress(_content(record).replace(b"200 OK", b"200 KO")) for record in warc.read(made.path))
    made.path.write_bytes(members)
    violations = check_archive(made.folder)
    assert len([line for line in violations if line.endswith("the block's is wrong")]) == 2, violations


def test_revisits_must_have_an_original(made: Made) -> None:
    body, url = b"<p>page 1", f"http://{HOST}/copy"
    digest = next(warc.read(made.path)).headers["warc-payload-digest"]
    reference = {"WARC-Refers-To-Target-URI": f"http://{HOST}/", "WARC-Refers-To-Date": DATE}
    place = made.record(url, body, "revisit", {**reference, "WARC-Payload-Digest": digest})
    made.page(3, url, body, *place)
    assert check_archive(made.folder) == []
    made.sql("UPDATE page SET digest = zeroblob(32) WHERE id = 3")
    assert [line for line in check_archive(made.folder) if line.startswith("digest: the page")]
    made.record(url, body, "revisit", {**reference, "WARC-Payload-Digest": "sha256:00"})
    assert any(line.endswith("revisits what is nowhere") for line in check_archive(made.folder))


def test_no_collection(tmp_path: Path) -> None:
    assert check_archive(tmp_path) == [f"database: there is none in {tmp_path}"]


def _content(record: warc.Record) -> bytes:
    head = "".join(f"{name}: {value}\r\n" for name, value in record.headers.items())
    return b"WARC/1.1\r\n" + head.encode() + b"\r\n" + record.block + b"\r\n\r\n"


def test_a_damaged_database(made: Made) -> None:
    path = made.folder / "crawl.db"
    data = bytearray(path.read_bytes())
    data[4096 * 3 : 4096 * 4] = bytes(4096)
    path.write_bytes(data)
    assert [line for line in check_archive(made.folder) if line.startswith("database: ")]
