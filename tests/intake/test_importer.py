"""Archives of others become collections that are as good as crawled ones."""

import gzip
import io
from datetime import datetime
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from archive.foreign import DATE, Archive, pages, raw_record
from gossamer.errors import UsageError
from intake.importing import by_path, check, found, import_data, import_files, rows, states


def html(title: str, text: str) -> bytes:
    return b"<title>%s</title><p>%s <a href=/next>on</a>" % (title.encode(), text.encode())


def test_a_page_can_be_searched_listed_and_verified(tmp_path: Path) -> None:
    archive = Archive()
    archive.add(
        "http://a.test/", html("Spiders", "weaving orbs"), headers=[("Content-Type", "text/html; charset=utf-8")]
    )
    imported = import_data(tmp_path / "c", archive.data)
    assert (imported.tally.captures, imported.problems) == (1, [])
    check(tmp_path / "c")
    assert found(tmp_path / "c", "orbs") == ["http://a.test/"]
    (row,) = rows(tmp_path / "c")
    assert (row.title, row.status, row.charset, row.via, row.is_page) == ("Spiders", 200, "utf-8", "import", True)
    assert [link["url"] for link in row.links] == ["http://a.test/next"]
    assert row.fetched == 1_769_860_800.0
    known = states(tmp_path / "c")
    assert known["http://a.test/"] == ("finished", "")
    assert known["http://a.test/next"] == ("held", "out of scope: another host")


def test_importing_twice_adds_nothing(tmp_path: Path) -> None:
    archive = pages(5)
    archive.add("http://a.test/robots.txt", b"User-agent: *\nDisallow: /x", headers=[("Content-Type", "text/plain")])
    first = import_data(tmp_path / "c", archive.data, archive.data)
    assert (first.tally.captures, first.tally.known) == (6, 6)
    before = (rows(tmp_path / "c"), states(tmp_path / "c"))
    again = import_data(tmp_path / "c", archive.data)
    assert (again.tally.captures, again.tally.known) == (0, 6)
    assert (rows(tmp_path / "c"), states(tmp_path / "c")) == before
    check(tmp_path / "c")


def test_redirects_errors_and_files_are_what_they_are_in_a_crawl(tmp_path: Path) -> None:
    archive = Archive()
    archive.add("http://a.test/old", status="301 Moved", headers=[("Location", "/new")])
    archive.add("http://a.test/new", html("New", "here"))
    archive.add("http://a.test/lost", b"nothing", status="404 Not Found")
    archive.add("http://a.test/down", b"", status="503 Unavailable", headers=[("Retry-After", "10")])
    archive.add("http://a.test/x.png", b"\x89PNG\r\n\x1a\n", headers=[("Content-Type", "image/png")])
    import_data(tmp_path / "c", archive.data)
    check(tmp_path / "c")
    known = states(tmp_path / "c")
    assert known["http://a.test/old"] == ("finished", "redirects to http://a.test/new")
    assert known["http://a.test/lost"] == ("failed", "http client error: 404 Not Found")
    assert known["http://a.test/down"][0] == "failed"
    pages_ = by_path(tmp_path / "c")
    assert pages_["/old"].redirect_to == "http://a.test/new"
    assert pages_["/x.png"].content_type == "image/png"


def test_robots_txt_is_a_record_and_no_page(tmp_path: Path) -> None:
    archive = Archive()
    archive.add("http://a.test/robots.txt", b"User-agent: *\nDisallow: /", headers=[("Content-Type", "text/plain")])
    archive.add("http://a.test/a", html("A", "disallowed then, and there all the same"))
    import_data(tmp_path / "c", archive.data)
    check(tmp_path / "c")
    assert list(by_path(tmp_path / "c")) == ["/a"]


def test_requests_come_before_or_after_or_not_at_all(tmp_path: Path) -> None:
    archive = Archive()
    secret = [("Host", "a.test"), ("Authorization", "Basic c2VjcmV0"), ("X-Mark", "before")]
    asked = archive.add("http://a.test/1", type="request", status="GET /1 HTTP/1.1", headers=secret)
    archive.add("http://a.test/1", html("1", "one"), fields={"WARC-Concurrent-To": asked}, date="2026-01-01T00:00:01Z")
    answered = archive.add("http://a.test/2", html("2", "two"))
    fields = {"WARC-Concurrent-To": answered}
    archive.add(
        "http://a.test/2", type="request", status="GET /2 HTTP/1.1", headers=[("X-Mark", "after")], fields=fields
    )
    archive.add("http://a.test/3", html("3", "three"))
    import_data(tmp_path / "c", archive.data)
    check(tmp_path / "c")
    records = _records(tmp_path / "c")
    assert [kind for kind, _ in records] == ["warcinfo", "response", "request", "response", "request", "response"]
    assert b"X-Mark: before" in records[2][1]
    assert b"[redacted]" in records[2][1]
    assert b"X-Mark: after" in records[4][1]


def _records(folder: Path) -> list[tuple[str, bytes]]:
    return [
        (record.rec_type, record.raw_stream.read())
        for path in sorted((folder / "warc").glob("*.warc.gz"))
        for record in ArchiveIterator(io.BytesIO(gzip.decompress(path.read_bytes())), no_record_parse=True)
    ]


def test_answers_to_post_and_other_records_are_passed_over_and_counted(tmp_path: Path) -> None:
    archive = Archive()
    archive.add("http://a.test/", html("A", "a"))
    asked = archive.add("http://a.test/form", type="request", status="POST /form HTTP/1.1", headers=[])
    archive.add("http://a.test/form", b"posted", fields={"WARC-Concurrent-To": asked})
    archive.add("dns:a.test", b"1.2.3.4", content_type="text/dns", status="")
    archive.add("http://a.test/", b"via: x", type="metadata", content_type="application/warc-fields")
    archive.add("urn:thumbnail:x", b"...", type="resource", content_type="image/png")
    imported = import_data(tmp_path / "c", archive.data)
    assert imported.problems == []
    assert imported.tally.passed == {
        "answers to other requests than GET": 1,
        "response records of no web address": 1,
        "metadata records": 1,
        "resource records of no web address": 1,
    }
    assert list(by_path(tmp_path / "c")) == ["/"]


def test_resources_and_conversions_of_web_addresses_are_answers(tmp_path: Path) -> None:
    archive = Archive()
    archive.add("https://a.test/r", html("R", "resource words"), type="resource", content_type="text/html")
    archive.add("https://a.test/c", b"conversion words", type="conversion", content_type="text/plain")
    import_data(tmp_path / "c", archive.data)
    check(tmp_path / "c")
    assert found(tmp_path / "c", "words") == ["https://a.test/c", "https://a.test/r"]
    assert {row.status for row in rows(tmp_path / "c")} == {200}


@pytest.mark.parametrize("by", ["record id", "url and date"])
def test_a_conversion_of_what_is_there_is_passed_over(tmp_path: Path, by: str) -> None:
    """Common Crawl's text files beside its archives."""
    archive = Archive()
    name = archive.add("http://a.test/1", html("One", "marked up"))
    fields = {"WARC-Refers-To": name} if by == "record id" else {}
    date = EARLIER if by == "record id" else DATE
    archive.add("http://a.test/1", b"marked up", type="conversion", content_type="text/plain", fields=fields, date=date)
    archive.add("http://a.test/2", b"only text", type="conversion", content_type="text/plain")
    for _ in range(2):
        imported = import_data(tmp_path / "c", archive.data)
        assert imported.problems == []
        assert imported.tally.passed["conversions of what is there"] >= 1
    check(tmp_path / "c")
    assert {row.url: row.content_type for row in rows(tmp_path / "c")} == {
        "http://a.test/1": "text/html",
        "http://a.test/2": "text/plain",
    }


DIGEST = "sha1:AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHH"
EARLIER = "2026-01-01T00:00:00Z"


def original(archive: Archive, url: str = "http://a.test/1") -> str:
    return archive.add(url, html("Same", "twice"), date=EARLIER, fields={"WARC-Payload-Digest": DIGEST})


@pytest.mark.parametrize("by", ["record id", "url and date", "digest"])
@pytest.mark.parametrize("order", ["original first", "revisit first", "original in another file"])
def test_revisits_have_the_payload_they_stand_for(tmp_path: Path, by: str, order: str) -> None:
    first, second = Archive(), Archive()
    name = original(first)
    references = {
        "record id": {"WARC-Refers-To": name},
        "url and date": {"WARC-Refers-To-Target-URI": "http://a.test/1", "WARC-Refers-To-Date": EARLIER},
        "digest": {},
    }
    second.revisit("http://a.test/2", refers_to=references[by], digest=DIGEST if by == "digest" else "sha1:NONE")
    c = tmp_path / "c"
    if order == "original in another file":
        imported = import_data(c, second.data, first.data)
    else:
        both = [first.data, second.data] if order == "original first" else [second.data, first.data]
        imported = import_data(c, b"".join(both))
    assert imported.problems == []
    check(c)
    assert found(c, "twice") in (["http://a.test/1"], ["http://a.test/1", "http://a.test/2"])
    pages_ = by_path(c)
    assert pages_["/2"].text == pages_["/1"].text
    assert pages_["/2"].duplicate_of == "http://a.test/1"


def test_a_revisit_of_what_was_imported_before_or_crawled(tmp_path: Path) -> None:
    first, second = Archive(), Archive()
    original(first)
    fields = {"WARC-Refers-To-Target-URI": "http://a.test/1", "WARC-Refers-To-Date": EARLIER}
    second.revisit("http://a.test/2", refers_to=fields, digest=DIGEST)
    import_data(tmp_path / "c", first.data)
    assert import_data(tmp_path / "c", second.data).problems == []
    check(tmp_path / "c")
    assert by_path(tmp_path / "c")["/2"].duplicate_of == "http://a.test/1"


def test_a_revisit_without_its_original_is_left_out_and_told(tmp_path: Path) -> None:
    archive = pages(1)
    fields = {"WARC-Refers-To-Target-URI": "http://a.test/gone", "WARC-Refers-To-Date": EARLIER}
    archive.revisit("http://a.test/2", refers_to=fields, digest="sha1:NONE")
    imported = import_data(tmp_path / "c", archive.data)
    assert imported.places == [str(archive.offsets[1])]
    assert "which is not there" in imported.problems[0].message
    assert list(by_path(tmp_path / "c")) == ["/0"]


def test_broken_archives_are_read_as_far_as_they_are_whole(tmp_path: Path) -> None:
    archive = pages(6)
    place = archive.offsets[2]
    data = archive.data[:place] + b"damage" * 9 + archive.data[place:-5]
    imported = import_data(tmp_path / "c", data)
    assert imported.places == [str(place), str(archive.offsets[5] + 54)]
    assert imported.tally.problems == 2
    check(tmp_path / "c")
    assert list(by_path(tmp_path / "c")) == ["/0", "/1", "/2", "/3", "/4"]


def test_a_response_without_http_or_date_is_told(tmp_path: Path) -> None:
    named = {"WARC-Type": "response", "WARC-Target-URI": "http://a.test/1", "WARC-Record-ID": "<urn:x>"}
    answer = b"HTTP/1.1 200 OK\r\n\r\nx"
    data = raw_record({**named, "WARC-Date": EARLIER}, b"no http at all")
    data += raw_record({**named, "WARC-Date": "yesterday"}, answer) + raw_record(named, answer)
    imported = import_data(tmp_path / "c", data)
    assert [problem.message for problem in imported.problems] == [
        "there is no HTTP answer in it",
        "the record has no date",
        "the record has no date",
    ]


def test_several_versions_are_in_the_order_of_their_dates(tmp_path: Path) -> None:
    archive = Archive()
    for day, title in ((3, "third"), (1, "first"), (2, "second")):
        archive.add("http://a.test/", html(title, title), date=f"2026-01-0{day}T00:00:00Z")
    older = Archive()
    older.add("http://a.test/", b"gone then", status="404 Not Found", date="2025-01-01T00:00:00Z")
    c = tmp_path / "c"
    import_data(c, archive.data)
    import_data(c, older.data)
    check(c)
    assert [row.title for row in sorted(rows(c), key=lambda row: row.fetched)] == ["", "first", "second", "third"]
    assert by_path(c)["/"].title == "third"
    assert states(c)["http://a.test/"] == ("finished", "")


NOT_MODIFIED = {"WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/server-not-modified"}


@pytest.mark.parametrize(
    ("type", "status", "fields"),
    [
        ("revisit", "304 Not Modified", NOT_MODIFIED),
        ("revisit", "200 OK", NOT_MODIFIED),
        ("response", "304 Not Modified", {}),
    ],
)
def test_a_visit_that_found_nothing_new_changes_nothing(
    tmp_path: Path, type: str, status: str, fields: dict[str, str]
) -> None:
    archive = Archive()
    archive.add("http://a.test/", html("T", "still here"), date="2026-01-01T00:00:00Z")
    archive.add("http://a.test/", type=type, status=status, date="2026-02-01T00:00:00Z", fields=fields)
    imported = import_data(tmp_path / "c", archive.data)
    assert (imported.tally.captures, imported.problems) == (1, [])
    assert imported.tally.passed["visits that found nothing new"] == 1
    check(tmp_path / "c")
    assert states(tmp_path / "c")["http://a.test/"] == ("finished", "")
    assert found(tmp_path / "c", "still") == ["http://a.test/"]


@pytest.mark.parametrize(
    ("date", "moment"),
    [
        ("2026", "2026-01-01T00:00:00"),
        ("2026-02", "2026-02-01T00:00:00"),
        ("2026-02-03", "2026-02-03T00:00:00"),
        ("2026-02-03T04:05Z", "2026-02-03T04:05:00"),
        ("2026-02-03T04:05:06.123456789Z", "2026-02-03T04:05:06.123456"),
        ("2026-02-03T04:05:60Z", "2026-02-03T04:05:59"),
        ("20260203040506", "2026-02-03T04:05:06"),
        ("2026-02-03T04:05:06+09:00", "2026-02-02T19:05:06"),
    ],
)
def test_dates_may_be_as_coarse_and_as_fine_as_their_writers_have_them(tmp_path: Path, date: str, moment: str) -> None:
    archive = Archive()
    archive.add("http://a.test/", html("T", "t"), date=date)
    assert import_data(tmp_path / "c", archive.data).problems == []
    (row,) = rows(tmp_path / "c")
    assert row.fetched == datetime.fromisoformat(f"{moment}+00:00").timestamp()


def test_an_answer_behind_one_that_said_to_wait(tmp_path: Path) -> None:
    block = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\n"
    block += b"Content-Type: text/html\r\n\r\n" + html("T", "at last")
    fields = {"WARC-Type": "response", "WARC-Target-URI": "http://a.test/", "WARC-Date": DATE}
    import_data(tmp_path / "c", raw_record(fields, block))
    check(tmp_path / "c")
    assert found(tmp_path / "c", "last") == ["http://a.test/"]


def test_a_record_in_segments_is_one_whose_end_is_missing(tmp_path: Path) -> None:
    archive = Archive()
    archive.add("http://a.test/", html("T", "the beginning"), fields={"WARC-Segment-Number": "1"})
    archive.add("http://a.test/", b" and the end", type="continuation", fields={"WARC-Segment-Number": "2"})
    imported = import_data(tmp_path / "c", archive.data)
    assert (imported.tally.captures, imported.tally.passed["continuation records"]) == (1, 1)
    (row,) = rows(tmp_path / "c")
    assert row.truncated == "length"


def test_bodies_that_were_decoded_already_are_read(tmp_path: Path) -> None:
    archive = Archive()
    for number, header in enumerate(
        [
            ("Transfer-Encoding", "chunked"),
            ("Content-Encoding", "gzip"),
            ("Content-Encoding", "br"),
            ("Content-Encoding", "zstd"),
        ]
    ):
        archive.add(
            f"http://a.test/{number}", html("T", f"decoded{number}"), headers=[("Content-Type", "text/html"), header]
        )
    import_data(tmp_path / "c", archive.data)
    check(tmp_path / "c")
    for number in range(4):
        assert found(tmp_path / "c", f"decoded{number}") == [f"http://a.test/{number}"]


def test_a_body_over_the_limit_is_cut_and_marked(tmp_path: Path) -> None:
    archive = Archive()
    archive.add("http://a.test/", b"<p>" + b"word " * 100_000)
    import_data(tmp_path / "c", archive.data, max_size="10k")
    check(tmp_path / "c")
    (row,) = rows(tmp_path / "c")
    assert (row.wire_size, row.truncated) == (10_240, "length")


def test_hostile_fields_stay_fields(tmp_path: Path) -> None:
    archive = Archive()
    archive.add(
        "http://user:secret@a.test/x?q=%0d%0aX#f",
        html("A", "a"),
        fields={"WARC-Filename": "../../evil", "WARC-IP-Address": "1.2.3.4\tX", "WARC-Truncated": "whatever"},
    )
    import_data(tmp_path / "c", archive.data)
    check(tmp_path / "c")
    (row,) = rows(tmp_path / "c")
    assert row.url == "http://a.test/x?q=%0d%0aX"
    assert row.truncated == "length"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "c-0.warc.gz"]


def test_what_is_no_file_is_refused_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no file"):
        import_files(tmp_path / "c", tmp_path)
    assert not (tmp_path / "c").exists()
