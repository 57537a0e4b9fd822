"""What is exported is read by others' tools, stands by itself, and is never there by half."""

import gzip
import io
import json
import subprocess
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import apsw
import pytest
from fastwarc.warc import ArchiveIterator

from gossamer.archive.aside import written_aside
from gossamer.archive.catalogue import Filter, opened
from gossamer.archive.export.cdxj import SortedLines, index_of_segments
from gossamer.archive.export.chosen import Choice, captures, chosen
from gossamer.archive.export.pages import PageRow, page_rows
from gossamer.archive.export.surt import surt
from gossamer.archive.export.wacz import write_wacz
from gossamer.archive.export.warc import Trouble, Written, write_warc
from gossamer.errors import ArchiveError
from gossamer.records import Link, Via
from small import Small

T = TypeVar("T")
A, B = "http://a.test/", "http://b.test/"
ALL = Filter()
NOW = 1.8e9


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    small = Small.create(tmp_path / "c")
    small.page(A, "Start", "words of the start", Link(f"{A}a", Via.ANCHOR, "to a", nofollow=True), f"{A}b")
    small.page(f"{A}first", "Copy", "the same text")
    small.page(f"{A}copy", "Copy", "the same text")
    small.page(f"{A}copy2", "Copy", "the same text")
    small.answer(f"{A}old", status=301, redirect=A, headers=(("location", A),))
    small.answer(f"{A}lost", b"nothing", status=404)
    small.page(A, "Start again", "newer words")
    small.page(f"{B}x", "=cmd()", "another\x1bhost")
    small.seal()
    return tmp_path / "c"


def with_chosen(folder: Path, work: Callable[[apsw.Connection], T], wanted: Filter = ALL, **choice: bool) -> T:
    with opened(folder) as connection, chosen(connection, Choice(wanted, **choice)):
        return work(connection)


def warc_of(folder: Path, wanted: Filter = ALL) -> tuple[bytes, list[Written], list[Trouble]]:
    """The file, what was written to it, and what could not be."""
    file, troubles = io.BytesIO(), list[Trouble]()
    written = with_chosen(
        folder,
        lambda connection: list(
            write_warc(connection, folder, file, filename="x.warc.gz", now=NOW, tell=troubles.append)
        ),
        wanted,
    )
    return file.getvalue(), written, troubles


def records(data: bytes) -> list[tuple[str, str]]:
    """Type and URL of each record, its digests checked by FastWARC."""
    found = []
    for record in ArchiveIterator(io.BytesIO(data), parse_http=False):
        record.freeze()
        assert record.verify_block_digest()
        found.append((str(record.headers["WARC-Type"]), str(record.headers.get("WARC-Target-URI") or "")))
    return found


def test_no_room_to_sort_is_told_as_such() -> None:
    lines = SortedLines()
    lines._lines.execute("PRAGMA max_page_count = 2")  # the file has no name, so no disk that could be full
    with pytest.raises(ArchiveError, match="among the temporary files"):
        for number in range(1000):
            lines.add(f"{number} " + "x" * 100)
    lines.close()


# --- what is chosen


@pytest.mark.parametrize(
    ("wanted", "urls"),
    [
        (Filter(host="b.test"), [f"{B}x"]),
        (Filter(patterns=("*copy*",)), [f"{A}copy", f"{A}copy2"]),
        (Filter(statuses=(300, 499)), [f"{A}old", f"{A}lost"]),
        (Filter(patterns=("*copy*",), host="b.test"), []),
    ],
)
def test_what_is_chosen(folder: Path, wanted: Filter, urls: list[str]) -> None:
    assert with_chosen(folder, lambda connection: [each.url for each in captures(connection)], wanted) == urls


def test_versions(folder: Path) -> None:
    def titles(connection: apsw.Connection) -> list[str]:
        return [row.title for row in page_rows(connection) if row.url == A]

    assert with_chosen(folder, titles) == ["Start", "Start again"]
    assert with_chosen(folder, titles, newest_only=True) == ["Start again"]


def test_the_newest_is_that_of_the_time_that_is_wanted(folder: Path) -> None:
    def titles(connection: apsw.Connection) -> list[str]:
        return [row.title for row in page_rows(connection) if row.url == A]

    first, second = with_chosen(folder, lambda c: [row.fetched for row in page_rows(c) if row.url == A])
    assert with_chosen(folder, titles, Filter(fetched_before=second), newest_only=True) == ["Start"]
    assert with_chosen(folder, titles, Filter(fetched_since=second), newest_only=True) == ["Start again"]
    assert with_chosen(folder, titles, Filter(fetched_before=first)) == []


def test_only_what_was_kept(folder: Path) -> None:
    statuses = with_chosen(folder, lambda connection: {row.status for row in page_rows(connection)}, kept_only=True)
    assert statuses == {200}


def test_what_comes_meanwhile_is_not_in_it(tmp_path: Path) -> None:
    small = Small.create(tmp_path / "c")
    small.page(A, "one", "one")
    with opened(tmp_path / "c") as connection, chosen(connection, Choice(ALL)):
        small.page(f"{A}2", "two", "two")
        assert [each.url for each in captures(connection)] == [A]
    small.seal()


# --- WARC


def test_all_of_it_with_requests_and_a_head(folder: Path) -> None:
    data, written, troubles = warc_of(folder)
    assert troubles == []
    found = records(data)
    assert found[0] == ("warcinfo", "")
    assert [kind for kind, _ in found[1:]] == [
        *("response", "request") * 2,
        *("revisit", "request") * 2,
        *("response", "request") * 4,
    ]
    assert [each.capture.url for each in written] == [url for kind, url in found if kind in ("response", "revisit")]
    for each in written:
        assert f"WARC-Target-URI: {each.capture.url}\r\n".encode() in gzip.decompress(
            data[each.offset :][: each.length]
        )


def test_a_copy_without_its_original_is_the_response_that_came(folder: Path) -> None:
    data, written, _ = warc_of(folder, Filter(patterns=("*copy*",)))
    assert [(each.type, each.capture.url) for each in written] == [("response", f"{A}copy"), ("response", f"{A}copy2")]
    text = gzip.decompress(data)
    assert text.count(b"the same text") == 2
    assert b"WARC-Refers-To" not in text
    assert b"WARC-Profile" not in text
    for record in ArchiveIterator(io.BytesIO(data), parse_http=True):
        if record.headers["WARC-Type"] == "response":
            record.freeze()
            assert record.verify_payload_digest()


def test_a_copy_with_its_original_stays_a_revisit(folder: Path) -> None:
    _, written, _ = warc_of(folder, Filter(patterns=("*copy", "*first")))
    assert [each.type for each in written] == ["response", "revisit"]


def damage(folder: Path, url: str) -> None:
    with opened(folder) as connection:
        place = connection.execute("SELECT offset FROM page WHERE url = (SELECT id FROM url WHERE url = ?)", (url,)).get
    (path,) = (folder / "warc").iterdir()
    data = bytearray(path.read_bytes())
    data[int(str(place)) + 40] ^= 0xFF
    path.write_bytes(data)


def test_what_is_damaged_is_left_out_and_told(folder: Path) -> None:
    damage(folder, f"{A}first")
    data, written, troubles = warc_of(folder)
    assert [trouble.message.split(" is damaged")[0] for trouble in troubles] == [f"the answer of {A}first"]
    assert f"{A}first" not in {each.capture.url for each in written}
    records(data)


def test_a_copy_whose_original_is_damaged_keeps_its_reference(folder: Path) -> None:
    damage(folder, f"{A}first")
    _, written, troubles = warc_of(folder, Filter(patterns=("*copy",)))
    assert [each.type for each in written] == ["revisit"]
    assert "it stays a revisit" in troubles[0].message


# --- indexes


def test_keys_are_those_of_the_tools_that_read_them() -> None:
    keys = {
        "http://example.org/": "org,example)/",
        "https://www.example.org/A/B/?b=2&a=1": "org,example)/a/b?a=1&b=2",
        "http://www2.example.co.uk:8080/x//y/": "uk,co,example:8080)/x/y",
        "http://127.0.0.1:8418/a%20b": "1,0,0,127:8418)/a%20b",
        "http://example.org/%7Efoo/%2Fbar?q=%E3%81%82&x": "org,example)/~foo/bar?q=%e3%81%82&x",
        "http://example.org/?": "org,example)/",
        "http://example.org/foo?PHPSESSID=0123456789abcdef0123456789abcdef&z=1": "org,example)/foo?z=1",
        "http://xn--r8jz45g.jp/%E3%83%91": "jp,xn--r8jz45g)/%e3%83%91",
        "http://example.org/%25%32%30": "org,example)/%20",
        "http://example.org/a%23b?c%23d": "org,example)/a%23b?c%23d",
        "http://example.org./x": "org,example)/x",
        "https://example.org:80/": "org,example:80)/",
        "http://www.com/": "com)/",
    }
    assert {url: surt(url) for url in keys} == keys


def test_the_index_of_the_collections_own_files(folder: Path) -> None:
    troubles: list[Trouble] = []
    lines = with_chosen(folder, lambda connection: list(index_of_segments(connection, folder, troubles.append)))
    assert lines == sorted(lines)
    assert troubles == []
    (path,) = (folder / "warc").iterdir()
    for line in lines:
        key, moment, text = line.split(" ", 2)
        entry = json.loads(text)
        assert (key, len(moment)) == (surt(entry["url"]), 14)
        assert entry["filename"] == path.name
        start, length = int(entry["offset"]), int(entry["length"])
        record = gzip.decompress(path.read_bytes()[start:][:length])
        assert f"WARC-Target-URI: {entry['url']}\r\n".encode() in record
        is_revisit = b"WARC-Type: revisit" in record
        typed = "unk" if entry["url"] == f"{A}old" else "text/html"  # the redirect said none
        assert entry["mime"] == ("warc/revisit" if is_revisit else typed)
        assert f"Payload-Digest: {entry['digest']}\r\n".encode() in record
        assert f" {entry['status']} ".encode() in record


# --- WACZ


@pytest.fixture
def package(folder: Path, tmp_path: Path) -> zipfile.ZipFile:
    path = tmp_path / "x.wacz"
    with path.open("wb") as file:
        count = with_chosen(
            folder,
            lambda connection: write_wacz(connection, folder, file, now=NOW, tell=lambda each: pytest.fail(str(each))),
        )
    assert count == 8
    return zipfile.ZipFile(path)


def test_the_package_lists_its_files_with_their_hashes(package: zipfile.ZipFile) -> None:
    names = package.namelist()
    assert names == [
        "archive/data.warc.gz",
        "indexes/index.cdx.gz",
        "indexes/index.idx",
        "pages/pages.jsonl",
        "datapackage.json",
        "datapackage-digest.json",
    ]
    described = json.loads(package.read("datapackage.json"))
    assert (described["profile"], described["wacz_version"]) == ("data-package", "1.1.1")
    assert described["mainPageUrl"] == A
    for resource in described["resources"]:
        data = package.read(resource["path"])
        assert resource["bytes"] == len(data)
        assert resource["hash"] == f"sha256:{sha256(data).hexdigest()}"
    assert [resource["path"] for resource in described["resources"]] == names[:-2]
    digest = json.loads(package.read("datapackage-digest.json"))
    assert digest["hash"] == f"sha256:{sha256(package.read('datapackage.json')).hexdigest()}"


def test_what_is_read_from_its_middle_is_stored(package: zipfile.ZipFile) -> None:
    stored = {each.filename for each in package.infolist() if each.compress_type == zipfile.ZIP_STORED}
    assert {"archive/data.warc.gz", "indexes/index.cdx.gz"} <= stored


def test_entries_lie_where_replayweb_page_looks_for_them(package: zipfile.ZipFile, tmp_path: Path) -> None:
    """Without an extra field in the directory it believes that there is none before the bytes either."""
    data = (tmp_path / "x.wacz").read_bytes()
    for each in package.infolist():
        name, extra = (int.from_bytes(data[each.header_offset + at :][:2], "little") for at in (26, 28))
        assert each.extra or not extra
        if each.compress_type == zipfile.ZIP_STORED:
            assert data[each.header_offset + 30 + name + extra :][: each.file_size] == package.read(each)


def test_the_index_of_the_package_leads_to_its_records(package: zipfile.ZipFile) -> None:
    head, *blocks = package.read("indexes/index.idx").decode().splitlines()
    assert head == '!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}'
    index, archive = package.read("indexes/index.cdx.gz"), package.read("archive/data.warc.gz")
    lines: list[str] = []
    for block in blocks:
        place = json.loads(block[block.index("{") :])
        part = index[place["offset"] :][: place["length"]]
        lines += gzip.decompress(part).decode().splitlines()
        assert place["digest"] == f"sha256:{sha256(part).hexdigest()}"
    assert len(lines) == 8
    assert lines == sorted(lines)
    for line in lines:
        entry = json.loads(line.split(" ", 2)[2])
        record = gzip.decompress(archive[int(entry["offset"]) :][: int(entry["length"])])
        assert f"WARC-Target-URI: {entry['url']}\r\n".encode() in record


def test_the_pages_of_the_package(package: zipfile.ZipFile) -> None:
    head, *pages = map(json.loads, package.read("pages/pages.jsonl").decode().splitlines())
    assert head == {"format": "json-pages-1.0", "id": "pages", "title": "All Pages", "hasText": True}
    assert [page["url"] for page in pages] == [A, f"{A}first", f"{A}copy", f"{A}copy2", A, f"{B}x"]
    assert pages[0]["text"] == "words of the start"
    assert pages[0]["title"] == "Start"
    assert pages[0]["seed"] is True
    assert len({page["id"] for page in pages}) == len(pages)


# --- rows


def test_a_row_has_all_that_is_known(folder: Path) -> None:
    rows: dict[str, PageRow] = with_chosen(
        folder, lambda connection: {row.url: row for row in page_rows(connection)}, newest_only=False
    )
    assert rows[f"{A}copy"].duplicate_of == f"{A}first"
    assert rows[f"{A}old"].redirect_to == A
    assert rows[f"{A}lost"].text is None
    first = with_chosen(folder, lambda connection: next(iter(page_rows(connection))))
    assert first.links == (
        {"url": f"{A}a", "kind": "a", "text": "to a", "nofollow": True},
        {"url": f"{A}b", "kind": "a", "text": "link text", "nofollow": False},
    )
    assert (first.text, first.is_page, first.depth, first.via) == ("words of the start", True, 0, "seed")


# --- files


def test_a_file_takes_its_name_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), written_aside(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert [each.name for each in tmp_path.iterdir()] == ["out"]
    assert path.read_bytes() == b"old"
    with written_aside(path) as file:
        file.write(b"new")
    assert [each.name for each in tmp_path.iterdir()] == ["out"]
    assert path.read_bytes() == b"new"


def test_what_is_no_file_is_written_to_as_it_is(tmp_path: Path) -> None:
    with written_aside(Path("/dev/null")) as file:
        file.write(b"x")
    with pytest.raises(ArchiveError, match="can't be written"), written_aside(tmp_path / "none" / "x"):
        pass


def test_the_mode_of_a_new_file_is_that_of_others(tmp_path: Path) -> None:
    with written_aside(tmp_path / "x") as file:
        file.write(b"x")
    subprocess.run(["touch", tmp_path / "y"], check=True)
    assert (tmp_path / "x").stat().st_mode == (tmp_path / "y").stat().st_mode
