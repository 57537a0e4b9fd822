"""A copy as a web archive: the answers of what was chosen and of what that needs, each led to, and checked."""

import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gossamer.errors import ArchiveError, UsageError
from gossamer.offline.choice import Choice
from gossamer.offline.forms import Form
from gossamer.offline.save import Saved
from offline.making import A, Web, check

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def web(tmp_path: Path) -> Web:
    web = Web.create(tmp_path)
    web.put("/", '<title>Start</title>words<a href="/a">a</a><img src="/i.png"><iframe src="/frame"></iframe>')
    web.put("/a", "<title>A</title>text of a<link rel=stylesheet href=s.css>")
    web.put("/s.css", "p{background:url(http://cdn.test/deep.png)}", "text/css")
    web.put("/i.png", PNG, "image/png")
    web.put("http://cdn.test/deep.png", PNG + b"deep", "image/png")
    web.page("/frame")
    web.redirect("/old", "/older")
    web.redirect("/older", "/a")
    web.page("/other")
    web.out = tmp_path / "copy.wacz"
    return web


def save(web: Web, *urls: str, **options: Any) -> Saved:
    return web.save(Choice(listed=tuple(A + url for url in urls)) if urls else None, form=Form.WACZ, **options)


def captured(path: Path) -> list[tuple[str, str]]:
    """URL and status of every entry of the index."""
    with zipfile.ZipFile(path) as archive:
        lines = gzip.decompress(archive.read("indexes/index.cdx.gz")).decode().splitlines()
    entries = [json.loads(line.split(" ", 2)[2]) for line in lines]
    return sorted((entry["url"], entry["status"]) for entry in entries)


def pages(path: Path) -> dict[str, dict[str, Any]]:
    with zipfile.ZipFile(path) as archive:
        _, *rows = map(json.loads, archive.read("pages/pages.jsonl").splitlines())
    return {row["url"]: row for row in rows}


def test_it_holds_the_chosen_pages_and_what_they_need(web: Web) -> None:
    saved = save(web, "a")
    assert captured(web.out) == [
        (f"{A}a", "200"),
        (f"{A}old", "302"),
        (f"{A}older", "302"),
        (f"{A}s.css", "200"),
        ("http://cdn.test/deep.png", "200"),
    ]
    assert list(pages(web.out)) == [f"{A}a"]
    assert pages(web.out)[f"{A}a"]["title"] == "A"
    assert (saved.pages, saved.files, saved.written) == (1, 3, 3)
    assert not check(web.out).unresolved


def test_frames_come_along_and_are_no_pages_of_their_own(web: Web) -> None:
    save(web, "")
    assert (f"{A}frame", "200") in captured(web.out)
    assert list(pages(web.out)) == [A]
    with zipfile.ZipFile(web.out) as archive:
        described = json.loads(archive.read("datapackage.json"))
    assert (described["title"], described["mainPageUrl"]) == ("Start", A)


def test_the_same_archive_and_choice_give_the_same_bytes(web: Web, tmp_path: Path) -> None:
    save(web)
    first, web.out = web.out.read_bytes(), tmp_path / "other.wacz"
    save(web)
    assert web.out.read_bytes() == first
    save(web, "a")
    assert web.out.read_bytes() != first


def test_what_was_sent_only_once_is_in_it_though_its_original_was_not_chosen(web: Web) -> None:
    web.page("/first", title="Same")
    web.page("/second", title="Same")
    save(web, "second")
    assert not check(web.out).unresolved
    assert (f"{A}second", "200") in captured(web.out)


def test_saving_again_tells_what_is_other(web: Web) -> None:
    save(web)
    assert save(web).written == 0
    web.page("/a", "/b", title="Other")
    web.page("/b")
    web.error("/i.png", 503)
    saved = save(web)
    assert (saved.new, saved.changed) == ((f"{A}b",), (f"{A}a",))
    assert list(saved.kept) == [f"{A}i.png"]
    assert (f"{A}i.png", "200") in captured(web.out)
    assert (f"{A}i.png", "503") not in captured(web.out)
    web.error("/b", 404)
    assert save(web).gone == (f"{A}b",)


def test_what_is_needed_and_not_there_is_told(web: Web) -> None:
    web.put("/x", "<img src=/lost.png>")
    assert save(web, "x").lacking == {f"{A}lost.png": f"{A}x"}


def test_the_archive_of_somebody_else_is_refused(web: Web) -> None:
    save(web)
    with zipfile.ZipFile(web.out, "a") as archive:
        archive.writestr("mine.txt", "mine")
    with pytest.raises(UsageError, match="something else"):
        save(web)
    save(web, force=True)
    assert not check(web.out).unresolved


def damage_segments(web: Web, url: str) -> None:
    row = web.small.connection.execute(
        "SELECT uri, offset, length FROM page JOIN url ON url.id = page.url JOIN segment ON segment.id = page.segment"
        " WHERE url.url = ?",
        (url,),
    ).fetchall()[-1]
    offset, length = row[1:]
    assert isinstance(offset, int) and isinstance(length, int)
    middle = offset + length // 2
    (path,) = web.small.folder.rglob(str(row[0]).rpartition("/")[2])
    data = bytearray(path.read_bytes())
    data[middle] ^= 0xFF
    path.write_bytes(data)


def test_what_is_damaged_in_the_collection_is_left_out_and_told(web: Web) -> None:
    save(web, "other", "a")
    before = web.out.read_bytes()
    web.order()
    damage_segments(web, f"{A}other")
    with pytest.raises(ArchiveError, match="the earlier copy has it"):
        save(web, "other", "a")
    assert web.out.read_bytes() == before
    saved = save(web, "other", "a", force=True)
    assert list(saved.missing) == [f"{A}other"]
    assert not check(web.out).unresolved
    assert list(pages(web.out)) == [f"{A}a"]


# --- the check


def rewritten(path: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """The package with one file changed, its own checksums right."""
    with zipfile.ZipFile(path) as archive:
        entries = [(entry, archive.read(entry)) for entry in archive.infolist()]
    with zipfile.ZipFile(path, "w") as archive:
        for entry, data in entries:
            entry.file_size = 0
            archive.writestr(entry.filename, change(data) if entry.filename == name else data)


def reasons(path: Path) -> set[str]:
    return {f"{each.file} {each.reference}: {each.reason}" for each in check(path).unresolved}


def test_a_page_without_a_record_is_found(web: Web) -> None:
    save(web, "a")
    rewritten(web.out, "pages/pages.jsonl", lambda data: data + b'{"url": "http://a.test/nobody"}\n')
    assert reasons(web.out) == {
        "pages/pages.jsonl http://a.test/nobody: the index leads to no record of it",
        "datapackage.json pages/pages.jsonl: the file is another than that of the digest",
    }


def test_an_index_that_leads_elsewhere_is_found(web: Web) -> None:
    save(web, "a")
    rewritten(
        web.out,
        "indexes/index.cdx.gz",
        lambda data: gzip.compress(
            gzip.decompress(data).replace(b'"url": "http://a.test/a"', b'"url": "http://a.test/b"')
        ),
    )
    found = reasons(web.out)
    assert "indexes/index.cdx.gz http://a.test/b: the record is that of http://a.test/a" in found
    assert "_gossamer/copy.json http://a.test/a: the index leads to no record of it" in found


def test_damage_is_found(web: Web) -> None:
    save(web, "a")
    whole = web.out.read_bytes()
    data = bytearray(whole)
    data[300] ^= 0xFF
    web.out.write_bytes(data)
    assert any("damaged" in reason for reason in reasons(web.out))
    web.out.write_bytes(whole)
    rewritten(web.out, "datapackage.json", lambda data: b"[" * 100_000)
    assert "datapackage-digest.json datapackage.json: the file is another than that of the digest" in reasons(web.out)
