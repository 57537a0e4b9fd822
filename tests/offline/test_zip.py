"""A copy as one zip file: the same files as the folder, the same bytes each time, and as careful with what was there."""

import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer.errors import CollectionError, UsageError
from gossamer.offline.choice import Choice
from gossamer.offline.forms import Form
from gossamer.saving import target
from offline.making import ROOT, Web, check

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def web(tmp_path: Path) -> Web:
    web = Web.create(tmp_path)
    web.put("/", '<title>Start</title><a href="a">a</a><img src="/i.png">')
    web.page("/a", "/")
    web.put("/i.png", PNG * 100, "image/png")
    web.out = tmp_path / "copy.zip"
    return web


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed(path: Path, change: Callable[[zipfile.ZipFile], None]) -> None:
    with zipfile.ZipFile(path, "a") as archive:
        change(archive)


def test_it_holds_what_the_folder_does(web: Web, tmp_path: Path) -> None:
    saved = web.save(form=Form.ZIP)
    assert saved.written == len(contents(web.out))
    assert not check(web.out).unresolved
    zipped, web.out = contents(web.out), tmp_path / "folder"
    web.save()
    assert zipped == web.tree()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "copy.zip", "folder"]


def test_the_same_archive_and_choice_give_the_same_bytes(web: Web, tmp_path: Path) -> None:
    before = os.umask(0o077)
    web.save(form=Form.ZIP)
    os.umask(before)
    first, web.out = web.out.read_bytes(), tmp_path / "other.zip"
    web.save(form=Form.ZIP)
    assert web.out.read_bytes() == first
    with zipfile.ZipFile(web.out) as archive:
        assert archive.namelist() == sorted(archive.namelist())
        assert {entry.external_attr >> 16 for entry in archive.infolist()} == {0o100644}
        stored = {entry.filename for entry in archive.infolist() if entry.compress_type == zipfile.ZIP_STORED}
        assert stored == {f"{ROOT}/i.png"}


def test_saving_again_tells_what_is_other(web: Web) -> None:
    web.save(form=Form.ZIP)
    assert web.save(form=Form.ZIP).written == 0
    web.page("/a", "/b", title="Other")
    web.page("/b")
    web.error("/i.png", 503)
    saved = web.save(form=Form.ZIP)
    assert (saved.new, saved.changed) == (("http://a.test/b",), ("http://a.test/a",))
    assert list(saved.kept) == ["http://a.test/i.png"]
    assert contents(web.out)[f"{ROOT}/i.png"] == PNG * 100
    web.error("/a", 410)
    assert web.save(form=Form.ZIP).gone == ("http://a.test/a",)
    assert web.save(Choice(listed=("http://a.test/b",)), form=Form.ZIP).left_out


# --- what is there already


def test_something_else_is_refused(web: Web) -> None:
    web.out.write_text("mine")
    with pytest.raises(UsageError, match="something else"):
        web.save(form=Form.ZIP)
    with zipfile.ZipFile(web.out, "w") as archive:
        archive.writestr("mine.txt", "mine")
    with pytest.raises(UsageError, match="something else"):
        web.save(form=Form.ZIP)
    assert contents(web.out) == {"mine.txt": b"mine"}
    web.save(form=Form.ZIP, force=True)
    assert "index.html" in contents(web.out)


def test_a_file_of_mine_in_an_earlier_copy_is_not_lost(web: Web) -> None:
    web.save(form=Form.ZIP)
    changed(web.out, lambda archive: archive.writestr("notes.txt", "mine"))
    with pytest.raises(UsageError, match="something else"):
        web.save(form=Form.ZIP)
    assert contents(web.out)["notes.txt"] == b"mine"


def test_the_copy_of_another_collection_is_refused(web: Web, tmp_path: Path) -> None:
    web.save(form=Form.ZIP)
    (tmp_path / "second").mkdir()
    other = Web.create(tmp_path / "second")
    other.page("/")
    other.out = web.out
    with pytest.raises(UsageError, match="another collection"):
        other.save(form=Form.ZIP)


def test_other_kinds_and_places_are_refused(web: Web, tmp_path: Path) -> None:
    file = web.out
    web.out = tmp_path / "folder"
    web.save()
    for out, says in ((web.out, "a copy as zip is a file"), (web.small.folder, "a copy as zip is a file")):
        with pytest.raises(UsageError, match=says):
            target(web.small.folder, out, Form.ZIP, Choice())
    with pytest.raises(UsageError, match="is no file"):
        web.save(form=Form.ZIP)
    web.out = file
    web.save(form=Form.ZIP)
    with pytest.raises(UsageError, match="is no folder"):
        web.save(force=True)
    web.out = tmp_path / "link.zip"
    web.out.symlink_to(file)
    with pytest.raises(UsageError, match="symbolic link"):
        web.save(form=Form.ZIP, force=True)
    web.out = tmp_path / "missing" / "copy.zip"
    with pytest.raises(UsageError, match="there is no folder"):
        web.save(form=Form.ZIP)
    assert not web.out.parent.exists()


def test_in_a_folder_it_is_named_after_the_title(web: Web, tmp_path: Path) -> None:
    web.order()
    (tmp_path / "shelf").mkdir()
    assert target(web.small.folder, tmp_path / "shelf", Form.ZIP, Choice()) == tmp_path / "shelf" / "Start.zip"
    assert target(web.small.folder, None, Form.WACZ, Choice()) == Path("Start.wacz")
    assert target(web.small.folder, None, Form.FOLDER, Choice()) == Path("Start")
    page = Choice(listed=("http://a.test/a",))
    assert target(web.small.folder, None, Form.SINGLE, page) == Path("_a.html")  # /a is its title
    assert target(web.small.folder, None, Form.ZIP, page) == Path("Start.zip")


def test_whatever_step_fails_the_earlier_copy_is_whole(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    web.save(form=Form.ZIP)
    before = web.out.read_bytes()
    web.page("/a", title="Other")
    for name in ("fsync", "replace", "unlink"):

        def fail(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device", "x")

        with monkeypatch.context() as patch:
            patch.setattr(os, name, fail)
            with pytest.raises(CollectionError):
                web.save(form=Form.ZIP)
        assert web.out.read_bytes() == before
    web.save(form=Form.ZIP)
    assert b"Other" in contents(web.out)[f"{ROOT}/a~.html"]


# --- the check


def test_what_does_not_resolve_in_it_is_found(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/b.html", "<a href=../c.html#x>c</a><img src=i.png><a href=../../out.html>o</a>")
        archive.writestr("c.html", "<p id=y>")
        archive.writestr("../evil.html", "<img src=x>")
    found = {each.reference or each.file: each.reason for each in check(path).unresolved}
    assert found == {
        "../c.html#x": "nothing in c.html has this name",
        "i.png": "there is no such file",
        "../../out.html": "it leads out of the copy",
        "../evil.html": "its name leads out of the copy",
    }


def test_damage_is_found_in_files_that_hold_no_references_too(web: Web) -> None:
    web.save(form=Form.ZIP)
    data = web.out.read_bytes()
    web.out.write_bytes(data.replace(PNG * 2, PNG + b"damaged!", 1))
    (found,) = check(web.out).unresolved
    assert found.file == f"{ROOT}/i.png"
    assert "damaged" in found.reason
    web.out.write_bytes(data[: len(data) // 2])
    with pytest.raises(UsageError, match="no zip file"):
        check(web.out)


def test_damaged_text_is_told_and_the_rest_is_read(web: Web) -> None:
    web.save(form=Form.ZIP)
    with zipfile.ZipFile(web.out) as archive:
        start = archive.getinfo("index.html").header_offset + 100
    data = bytearray(web.out.read_bytes())
    data[start : start + 40] = bytes(40)
    web.out.write_bytes(data)
    (found,) = check(web.out).unresolved
    assert (found.file, found.where) == ("index.html", "")
    assert "damaged" in found.reason
