import errno
import itertools
import os
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.archive.disk import DiskFull
from gossamer.archive.reader import ScannedRecord, read_record, scan
from gossamer.archive.segment_writer import SegmentWriter
from gossamer.archive.segments import Segment, repair
from gossamer.clock import ManualClock
from gossamer.errors import ArchiveError
from gossamer.records import Exchange, RecordPlace

from .samples import ALL_KINDS, NOON, PAGE, RULES, BreakingDisk, exchange, original_of, writer

LINES = st.lists(st.binary(min_size=1, max_size=60).map(lambda line: line.translate(None, b"\r\n") + b"x"), max_size=6)
HEADS = st.builds(
    lambda lines, end: b"".join(line + end for line in (b"HTTP/1.1 200 OK", *lines, b"")),
    LINES,
    st.sampled_from((b"\r\n", b"\n")),
)
EXCHANGES = st.builds(
    exchange,
    url=st.text(max_size=50).map(lambda text: "http://example.org/" + text),
    request_head=HEADS,
    response_head=HEADS,
    body=st.binary(max_size=3000) | st.binary(max_size=10).map(lambda piece: piece * 20_000),
    status=st.integers(100, 999),
    address=st.sampled_from(("192.0.2.1", "2001:db8::1", "")),
    protocol=st.sampled_from(("http/1.0", "http/1.1")),
    started_at=st.floats(0, 4e9),
    truncated=st.sampled_from(("", "length", "time", "disconnect")),
)


def records(collection: Path, segment: Segment) -> list[ScannedRecord]:
    return list(scan(collection / segment.uri, end=segment.bytes))


@given(exchanges=st.lists(EXCHANGES, min_size=1, max_size=4))
def test_what_was_written_is_read_back(exchanges: list[Exchange], tmp_path_factory: pytest.TempPathFactory) -> None:
    collection = tmp_path_factory.mktemp("collection")
    archive = writer(collection)
    places = [archive.append(sample) for sample in exchanges]
    (segment,) = archive.sync()
    archive.close()
    for sample, place in zip(exchanges, places, strict=True):
        record = read_record(collection, segment.uri, place)
        assert (record.head, record.body) == (sample.response_head, sample.body)
        assert record.type == "response"
        assert record.date == pytest.approx(sample.started_at, abs=0.001)
        assert record.field("warc-truncated") == sample.truncated
        assert record.field("warc-ip-address") == sample.address
    assert [record.problems for record in records(collection, segment)] == [()] * (1 + 2 * len(exchanges))


def test_every_kind_of_answer_is_written_beside_its_request(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    places = {kind: archive.append(sample) for kind, sample in ALL_KINDS.items()}
    (segment,) = archive.sync()
    archive.close()
    found = records(tmp_path, segment)
    assert [record.type for record in found] == ["warcinfo"] + ["response", "request"] * len(ALL_KINDS)
    assert not [record for record in found if record.problems]
    assert [record.offset for record in found[1::2]] == [place.offset for place in places.values()]
    assert sum(record.length for record in found) == segment.bytes == (tmp_path / segment.uri).stat().st_size


def test_secret_headers_are_redacted(tmp_path: Path) -> None:
    archive = writer(tmp_path, secret_headers=["X-Token"])
    place = archive.append(exchange(request_head=b"GET / HTTP/1.1\r\nX-Token: s3cret\r\n\r\n"))
    (segment,) = archive.sync()
    archive.close()
    request = RecordPlace(1, place.offset + place.length, segment.bytes - place.offset - place.length)
    assert read_record(tmp_path, segment.uri, request).head == b"GET / HTTP/1.1\r\nX-Token: [redacted]\r\n\r\n"


def test_a_revisit_refers_to_the_record_it_repeats(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    original = original_of(exchange())
    archive.append(exchange())
    again = archive.append(exchange(url="http://example.org/copy", started_at=NOON + 5), original=original)
    (segment,) = archive.sync()
    archive.close()
    record = read_record(tmp_path, segment.uri, again)
    assert (record.type, record.target_uri, record.body) == ("revisit", "http://example.org/copy", b"")
    assert record.refers_to == original


def test_nothing_is_made_before_it_is_needed(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    assert archive.sync() == ()
    archive.close()
    assert list(tmp_path.iterdir()) == []


def test_sync_gives_each_change_once(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    archive.append(exchange())
    (first,) = archive.sync()
    assert (first.id, first.sealed, first.opened) == (1, False, NOON)
    assert archive.sync() == ()
    place = archive.append(exchange())
    (second,) = archive.sync()
    assert place.offset == first.bytes
    assert second.bytes > first.bytes
    archive.close()


def test_a_segment_is_sealed_when_it_is_large_enough(tmp_path: Path) -> None:
    archive = writer(tmp_path, rules=replace(RULES, max_bytes=1500))
    places = [archive.append(exchange()) for _ in range(5)]
    changed = archive.sync()
    archive.close()
    assert [place.segment for place in places] == [1, 1, 2, 2, 3]
    assert [(segment.id, segment.sealed) for segment in changed] == [(1, True), (2, True), (3, False)]
    for segment in changed:
        assert [record.type for record in records(tmp_path, segment)][:3] == ["warcinfo", "response", "request"]
        assert (tmp_path / segment.uri).stat().st_size == segment.bytes


def test_a_segment_is_sealed_when_it_is_old_enough(tmp_path: Path) -> None:
    clock = ManualClock(NOON)
    archive = writer(tmp_path, clock=clock)
    places = []
    for _ in range(3):
        places.append(archive.append(exchange()))
        clock.advance(RULES.max_age / 2)
    changed = archive.sync()
    archive.close()
    assert [place.segment for place in places] == [1, 1, 2]
    assert [segment.opened for segment in changed] == [NOON, NOON + RULES.max_age]


def test_an_open_segment_is_continued(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    archive.append(exchange())
    (segment,) = archive.sync()
    archive.close()
    archive = writer(tmp_path, resume=segment)
    assert archive.sync() == (), "nothing was fetched: nothing is written"
    place = archive.append(exchange())
    (longer,) = archive.sync()
    archive.close()
    assert place.segment == segment.id
    assert (longer.id, longer.uri, longer.opened) == (segment.id, segment.uri, segment.opened)
    types = [record.type for record in records(tmp_path, longer)]
    assert types == ["warcinfo", "response", "request", "warcinfo", "response", "request"]


def test_an_old_segment_is_sealed_before_it_is_continued(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    archive.append(exchange())
    (segment,) = archive.sync()
    archive.close()
    archive = writer(
        tmp_path, resume=segment, clock=ManualClock(NOON + RULES.max_age), next_id=itertools.count(2).__next__
    )
    assert archive.append(exchange()).segment == 2
    assert archive.sync()[0] == replace(segment, sealed=True)
    archive.close()


@pytest.mark.parametrize("change", [1, -1])
def test_a_segment_that_was_not_repaired_is_not_continued(change: int, tmp_path: Path) -> None:
    archive = writer(tmp_path)
    archive.append(exchange())
    (segment,) = archive.sync()
    archive.close()
    os.truncate(tmp_path / segment.uri, segment.bytes + change)
    with pytest.raises(ArchiveError, match="its row says"):
        writer(tmp_path, resume=segment)


def test_a_segment_is_never_written_over(tmp_path: Path) -> None:
    first, second = writer(tmp_path), writer(tmp_path)
    first.append(exchange())
    with pytest.raises(ArchiveError, match="File exists"):
        second.append(exchange())
    first.close()
    second.close()


def test_a_linked_segment_is_not_written_to(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    archive.append(exchange())
    (segment,) = archive.sync()
    archive.close()
    path = tmp_path / segment.uri
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ArchiveError):
        writer(tmp_path, resume=segment)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_full_disk_is_told_from_a_broken_one(code: int, tmp_path: Path) -> None:
    archive = writer(tmp_path, disk=BreakingDisk(4, error=code))
    with pytest.raises(ArchiveError) as caught:
        archive.append(exchange())
    assert isinstance(caught.value, DiskFull) == (code != errno.EIO)
    assert caught.value.hint
    archive.close()


def test_a_failed_sync_is_not_tried_again(tmp_path: Path) -> None:
    disk = BreakingDisk(fail_at=6)
    archive = writer(tmp_path, disk=disk)
    archive.append(exchange())
    for _ in range(3):
        with pytest.raises(ArchiveError, match="broken"):
            archive.sync()
    with pytest.raises(ArchiveError, match="broken"):
        archive.append(exchange())
    assert disk.calls == 6, "the disk was not asked again"
    archive.close()


class Crawl:
    """What the store does: appends, syncs, commits the rows, and starts over after each failure."""

    def __init__(self, collection: Path) -> None:
        self.collection = collection
        self.rows: dict[int, Segment] = {}
        self.pages: dict[int, RecordPlace] = {}
        self.runs = 0

    def run(self, disk: BreakingDisk) -> bool:
        """Fetch what is missing of ten pages; false when the disk failed."""
        self.runs += 1
        repair(self.collection, self.rows.values())
        archive: SegmentWriter | None = None
        try:
            archive = self._open(disk)
            for group in _groups(number for number in range(10) if number not in self.pages):
                places = {number: archive.append(page(number)) for number in group}
                self.rows.update((segment.id, segment) for segment in archive.sync())
                self.pages.update(places)
        except ArchiveError:
            return False
        finally:
            if archive is not None:
                archive.close()
        return True

    def _open(self, disk: BreakingDisk) -> SegmentWriter:
        resume = next((row for row in self.rows.values() if not row.sealed), None)
        numbers = itertools.count(max(self.rows, default=0) + 1)
        rules = replace(RULES, max_bytes=2500, epoch=self.runs)
        return writer(self.collection, rules=rules, resume=resume, next_id=numbers.__next__, disk=disk)

    def check(self) -> None:
        """Every page is in exactly one record, and there is nothing else."""
        repair(self.collection, self.rows.values())
        for number, place in self.pages.items():
            record = read_record(self.collection, self.rows[place.segment].uri, place)
            assert record.body == page(number).body
        found = [record for row in self.rows.values() for record in scan(self.collection / row.uri)]
        assert not [record for record in found if record.problems]
        responses = [record for record in found if record.type == "response"]
        assert len(responses) == len(self.pages)
        files = {path.name for path in (self.collection / "warc").glob("*.warc.gz")}
        assert files == {Path(row.uri).name for row in self.rows.values()}


def page(number: int) -> Exchange:
    return exchange(url=f"http://example.org/{number}", body=PAGE * (number + 1))


def _groups(numbers: Iterator[int]) -> Iterator[tuple[int, ...]]:
    while group := tuple(itertools.islice(numbers, 3)):
        yield group


@pytest.mark.parametrize("for_good", [False, True])
def test_each_operation_failing_in_turn_loses_nothing(for_good: bool, tmp_path: Path) -> None:
    """SQLite's loop: make the N-th operation fail, start over, until a run meets no fault."""
    for number in itertools.count(1):
        collection = tmp_path / str(number)
        collection.mkdir()
        crawl = Crawl(collection)
        whole = crawl.run(BreakingDisk(number, for_good=for_good))
        if crawl.rows:
            crawl.check()
        assert crawl.run(BreakingDisk(0))
        assert len(crawl.pages) == 10
        crawl.check()
        if whole:
            break
    assert number > 30


def test_a_power_cut_at_any_operation_loses_nothing(tmp_path: Path) -> None:
    """As above, and what was not synced is lost in part: only the first bytes of it, and then zeros, reach the disk."""
    dice = random.Random(4)
    for number in range(1, 40):
        collection = tmp_path / str(number)
        collection.mkdir()
        crawl = Crawl(collection)
        crawl.run(BreakingDisk(number, for_good=True))
        for row in crawl.rows.values():
            _lose_unsynced(collection / row.uri, row.bytes, dice)
        assert crawl.run(BreakingDisk(0))
        crawl.check()


def _lose_unsynced(path: Path, durable: int, dice: random.Random) -> None:
    data = path.read_bytes()
    kept = dice.randint(durable, len(data))
    path.write_bytes(data[:kept] + b"\0" * (dice.randint(kept, len(data)) - kept))
