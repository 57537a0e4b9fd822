"""A copy is a function of the archive and the choice: what is in it, what is not and why, and what a bad day does to it."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer.errors import ArchiveError, CollectionError, CollectionLocked, ProblemFound, UsageError
from gossamer.lock import FolderLock
from gossamer.offline import place
from gossamer.offline.choice import Choice
from offline.making import ROOT, Web

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def web(tmp_path: Path) -> Web:
    return Web.create(tmp_path)


def test_everything_is_there_and_links_lead_to_it(web: Web) -> None:
    web.put("/", '<title>Start</title><a href="a">a</a><img src="/i.png"><link rel=stylesheet href=s.css>')
    web.page("/a", "/", "http://b.test/")
    web.put("/i.png", PNG, "image/png")
    web.put("/s.css", "p{background:url(i.png)}", "text/css")
    saved = web.save()
    assert web.site() == {f"{ROOT}/index.html", f"{ROOT}/a~.html", f"{ROOT}/i.png", f"{ROOT}/s.css"}
    assert 'href="a~.html"' in web.read(f"{ROOT}/index.html")
    assert 'href="index.html"' in web.read(f"{ROOT}/a~.html")
    assert 'href="http://b.test/"' in web.read(f"{ROOT}/a~.html")
    assert (saved.pages, saved.files, saved.title, saved.unresolved) == (2, 4, "Start", ())
    assert saved.live == {"page": 1}
    assert not web.check().unresolved
    assert [path.name for path in web.out.parent.iterdir()] == ["c", "out"] or not (
        web.out.parent / ".out.gossamer"
    ).exists()


def test_the_same_archive_and_choice_give_the_same_bytes(web: Web, tmp_path: Path) -> None:
    web.page("/", "/a", "/b?x=1", "/A")
    for path in ("/a", "/b?x=1", "/A"):
        web.page(path, "/")
    web.save()
    first = web.tree()
    web.out = tmp_path / "other"
    web.save()
    assert web.tree() == first


def test_what_pages_need_comes_from_any_host_and_scope_governs_pages(web: Web) -> None:
    web.put("/docs/", '<img src="http://cdn.test/x.png"><iframe src="/frame"></iframe><a href="/other">o</a>')
    web.put("http://cdn.test/x.png", PNG, "image/png")
    web.page("/frame")
    web.page("/other")
    web.save(Choice(under=("http://a.test/docs/",)))
    assert web.site() == {f"{ROOT}/docs/index.html", "cdn.test_80/x.png", f"{ROOT}/frame~.html"}
    assert "http://a.test/other" in web.read(f"{ROOT}/docs/index.html")


def test_what_style_sheets_need_is_found_in_any_depth(web: Web) -> None:
    web.put("/", "<link rel=stylesheet href=a.css>")
    web.put("/a.css", '@import "b.css";', "text/css")
    web.put("/b.css", "@font-face{src:url(f.woff2)}", "text/css")
    web.put("/f.woff2", b"wOF2", "font/woff2")
    web.put("/lone.png", PNG, "image/png")
    web.save(Choice(listed=("http://a.test/",)))
    assert web.site() == {f"{ROOT}/index.html", f"{ROOT}/a.css", f"{ROOT}/b.css", f"{ROOT}/f.woff2"}


# --- which version


BAD_DAYS: dict[str, Callable[[Web], None]] = {
    "status 503": lambda web: web.error("/a", 503),
    "status 403": lambda web: web.error("/a", 403),
    "truncated": lambda web: web.cut("/a", b"<title>half"),
    "empty": lambda web: web.put("/a", b""),
    "undecodable": lambda web: web.put("/a", b"no gzip", content_encoding="strange"),
    "connection refused": lambda web: web.fail("/a"),
    "redirects": lambda web: web.redirect("/a", "/nowhere"),
}


@pytest.mark.parametrize("day", BAD_DAYS)
def test_a_bad_day_does_not_replace_a_good_version(web: Web, day: str) -> None:
    web.page("/", "/a")
    web.page("/a", title="Good")
    web.save()
    before = web.read(f"{ROOT}/a~.html")
    BAD_DAYS[day](web)
    saved = web.save()
    assert web.read(f"{ROOT}/a~.html") == before
    assert day in saved.kept["http://a.test/a"]
    assert saved.written <= 2  # the map and what the copy says of itself
    assert "of an earlier day" in web.read("index.html")


def test_a_page_larger_than_the_crawl_takes_is_not_saved_by_half_and_the_reason_is_told(web: Web) -> None:
    web.too_large("/large", "<title>Large</title>half")
    web.page("/", "/large")
    saved = web.save()
    reason = "larger than max_size: only the first 24 bytes were fetched"
    assert saved.missing == {"http://a.test/large": reason}
    assert reason in web.read("index.html")
    assert 'href="http://a.test/large"' in web.read(f"{ROOT}/index.html")


def test_a_page_that_has_become_too_large_stays_as_it_was(web: Web) -> None:
    web.page("/", title="Small")
    web.too_large("/", "<title>Large</title>half")
    saved = web.save()
    assert "larger than max_size" in saved.kept["http://a.test/"]
    assert "<title>Small" in web.read(f"{ROOT}/index.html")


@pytest.mark.parametrize("status", [404, 410])
def test_what_is_gone_is_reported_and_not_saved(web: Web, status: int) -> None:
    web.page("/", "/a", "/b")
    web.page("/a")
    web.page("/b")
    web.save()
    web.error("/a", status)
    saved = web.save()
    assert saved.gone == ("http://a.test/a",)
    assert web.site() == {f"{ROOT}/index.html", f"{ROOT}/b~.html"}
    assert "http://a.test/a" in web.read(f"{ROOT}/index.html")
    assert saved.unresolved == ()


def test_a_page_that_is_merely_no_longer_linked_stays(web: Web) -> None:
    web.page("/", "/a")
    web.page("/a")
    web.page("/")
    web.save()
    assert f"{ROOT}/a~.html" in web.site()
    assert "no saved page links here" in web.read("index.html")


def test_a_newer_good_version_replaces_an_older_one(web: Web) -> None:
    web.page("/", title="One")
    web.save()
    web.page("/", title="Two")
    saved = web.save()
    assert saved.changed == ("http://a.test/",)
    assert "<title>Two" in web.read(f"{ROOT}/index.html")


# --- redirects


def test_a_link_to_what_redirects_leads_to_the_end(web: Web) -> None:
    web.page("/", "/old")
    web.redirect("/old", "/older")
    web.redirect("/older", "/new")
    web.page("/new")
    web.save()
    assert web.site() == {f"{ROOT}/index.html", f"{ROOT}/new~.html"}
    assert 'href="new~.html"' in web.read(f"{ROOT}/index.html")


def test_a_link_to_what_redirects_leads_to_the_part_that_the_redirects_name(web: Web) -> None:
    """Fetch, "HTTP-redirect fetch": the newest fragment counts; that of the link where there is none."""
    web.page("/", "/plain", "/plain#own", "/old", "/old#own", "/first")
    web.redirect("/plain", "/new")
    web.redirect("/old", "/new", location="/new#p%C3%A4rt é")
    web.redirect("/first", "/plain", location="/plain#early")
    web.page("/new", "/old")
    web.save()
    page = web.read(f"{ROOT}/index.html")
    assert [page.count(f'href="new~.html{end}"') for end in ("", "#own", "#early", "#p%C3%A4rt%20%C3%A9")] == [
        1,
        1,
        1,
        2,
    ]
    assert 'href="#p%C3%A4rt%20%C3%A9"' in web.read(f"{ROOT}/new~.html")


def test_a_redirect_loop_is_a_link_to_the_live_web(web: Web) -> None:
    web.page("/", "/x")
    web.redirect("/x", "/y")
    web.redirect("/y", "/x")
    saved = web.save()
    assert web.site() == {f"{ROOT}/index.html"}
    assert 'href="http://a.test/x"' in web.read(f"{ROOT}/index.html")
    assert "http://a.test/x" in saved.missing


# --- choosing


def choose(web: Web, **conditions: object) -> set[str]:
    web.save(Choice(**conditions))  # type: ignore[arg-type]  # a test knows which
    return {path.removeprefix(f"{ROOT}/") for path in web.site()}


def test_conditions_hold_together(web: Web) -> None:
    web.page("/", "/d/a.html")
    web.page("/d/a.html", "/d/b.html")
    web.page("/d/b.html")
    web.page("/e.html")
    assert choose(web, under=("http://a.test/d/",)) == {"d/a.html", "d/b.html"}
    assert choose(web, under=("http://a.test/d/",), exclude=("*b*",)) == {"d/a.html"}
    assert choose(web, include=("*.html",), exclude=("*/d/*",)) == {"e.html"}
    assert choose(web, depth=0) == {"index.html", "e.html"}
    assert choose(web, listed=("http://a.test/d/b.html#part", "http://a.test/e.html"), exclude=("*e.html",)) == {
        "d/b.html"
    }


@pytest.mark.parametrize(
    "choice",
    [
        Choice(listed=("http://a.test/nobody", "http://a.test/")),
        Choice(under=("http://z.test/",)),
        Choice(include=("no",)),
    ],
)
def test_what_is_not_there_can_not_be_chosen(web: Web, choice: Choice) -> None:
    web.page("/")
    with pytest.raises(UsageError):
        web.save(choice)
    assert not web.out.exists()


def test_nothing_to_save_is_a_problem(web: Web) -> None:
    web.error("/", 500)
    with pytest.raises(ProblemFound, match="nothing could be fetched"):
        web.save()
    assert not web.out.exists()


# --- what is to be fetched first


def wanted(web: Web, choice: Choice | None = None) -> set[str]:
    return {candidate.url for candidate in web.plan(choice).fetch}


def test_the_plan_names_what_waits_and_what_pages_need(web: Web) -> None:
    web.put("/", '<img src="http://cdn.test/x.png"><a href="/later">l</a><a href="http://other.test/">o</a>')
    web.put("/s.svg", '<svg xmlns="http://www.w3.org/2000/svg"><image href="in.png"/></svg>', "image/svg+xml")
    assert wanted(web) == {"http://cdn.test/x.png", "http://a.test/later", "http://a.test/in.png"}
    assert wanted(web, Choice(listed=("http://a.test/s.svg",))) == {"http://a.test/in.png"}
    plan = web.plan()
    assert (plan.pages, plan.files) == (1, 2)
    assert plan.expected > 0


def test_what_failed_or_is_refused_is_not_asked_for_again(web: Web) -> None:
    web.put("/", '<img src="/gone.png"><img src="/private.png"><img src="/robots.png">')
    web.error("/gone.png", 404)
    web.known("/robots.png")
    web.small.connection.execute("UPDATE url SET held = 3, reason = 'robots.txt: /' WHERE url LIKE '%robots.png'")
    web.small.connection.execute("UPDATE url SET held = 3, reason = 'excluded by x' WHERE url LIKE '%private.png'")
    assert wanted(web) == set()
    assert set(web.save().lacking) == {f"http://a.test/{name}.png" for name in ("gone", "private", "robots")}


def test_what_is_held_is_fetched_where_it_is_named(web: Web) -> None:
    web.page("/")
    web.known("/deep")
    web.small.connection.execute("UPDATE url SET held = 2, reason = 'deeper than 1' WHERE url LIKE '%deep'")
    assert wanted(web) == set()
    assert wanted(web, Choice(listed=("http://a.test/deep",))) == {"http://a.test/deep"}


# --- the folder


def test_only_what_changed_is_written(web: Web) -> None:
    web.page("/", "/a", "/b")
    web.page("/a")
    web.page("/b")
    web.save()
    inodes = {path: (web.out / path).stat().st_ino for path in web.site()}
    web.page("/a", title="Other")
    saved = web.save()
    same = {path for path, inode in inodes.items() if (web.out / path).stat().st_ino == inode}
    assert same == {f"{ROOT}/index.html", f"{ROOT}/b~.html"}
    assert (saved.changed, saved.new, saved.left_out) == (("http://a.test/a",), (), ())
    assert web.save().written == 0


def test_new_and_left_out_are_told(web: Web) -> None:
    web.page("/", "/a")
    web.page("/a")
    web.save(Choice(listed=("http://a.test/",)))
    assert web.save().new == ("http://a.test/a",)
    assert web.save(Choice(listed=("http://a.test/",))).left_out == ("http://a.test/a",)


def test_a_folder_with_something_else_is_refused(web: Web) -> None:
    web.page("/")
    web.out.mkdir()
    (web.out / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="something else"):
        web.save()
    assert (web.out / "mine.txt").read_text() == "mine"
    web.save(force=True)
    assert not (web.out / "mine.txt").exists()


def test_a_file_of_mine_in_an_earlier_copy_is_not_lost(web: Web) -> None:
    web.page("/")
    web.save()
    mine = web.out / ROOT / "notes.txt"
    mine.write_text("mine")
    with pytest.raises(UsageError, match=r"notes\.txt"):
        web.save()
    assert mine.read_text() == "mine"
    mine.rename(web.out / ".DS_Store")
    web.save()


def test_the_copy_of_another_collection_is_refused(web: Web, tmp_path: Path) -> None:
    web.page("/")
    web.save()
    (tmp_path / "second").mkdir()
    other = Web.create(tmp_path / "second")
    other.page("/")
    other.out = web.out
    with pytest.raises(UsageError, match="another collection"):
        other.save()


def test_an_empty_folder_will_do(web: Web) -> None:
    web.page("/")
    web.out.mkdir()
    web.save()
    assert web.site()


@pytest.mark.parametrize("where", [".", "..", "sub/.."])
def test_a_collection_is_never_replaced(web: Web, where: str) -> None:
    web.page("/")
    web.out = web.small.folder / where
    with pytest.raises(UsageError, match="collection"):
        web.save(force=True)


def test_links_into_and_out_of_the_folder_are_not_followed(web: Web, tmp_path: Path) -> None:
    web.page("/", "/d/a.html")
    web.page("/d/a.html")
    web.save()
    outside = tmp_path / "outside"
    (web.out / ROOT / "d").rename(outside)
    (web.out / ROOT / "d").symlink_to(outside)
    with pytest.raises(UsageError, match="no part of the copy"):
        web.save()
    inode = (outside / "a.html").stat().st_ino
    web.save(force=True)
    assert (outside / "a.html").exists()
    assert not (web.out / ROOT / "d").is_symlink()
    assert (web.out / ROOT / "d" / "a.html").stat().st_ino != inode
    elsewhere = tmp_path / "elsewhere"
    web.out.rename(elsewhere)
    web.out.symlink_to(elsewhere)
    with pytest.raises(UsageError, match="symbolic link"):
        web.save(force=True)


def test_two_saves_at_once_are_one_too_many(web: Web) -> None:
    web.page("/")
    working = web.out.parent / ".out.gossamer"
    working.mkdir()
    lock = FolderLock(working, "gossamer save", 0.0)
    with pytest.raises(CollectionLocked):
        web.save()
    lock.close()
    (working / "copy").mkdir()
    (working / "copy" / "half").write_text("of a copy")
    web.save()
    assert not working.exists()


# --- what goes wrong on the way


CALLS = ("open", "rename", "link", "mkdir", "unlink", "rmdir", "fsync")
"""What changes a disk, beside plain writes: these are the steps between which something may happen."""


class Steps:
    """Counts the steps, and does something instead of the N-th."""

    def __init__(self, number: int, happens: Callable[[], None]) -> None:
        self.number = number
        self.count = 0
        self._happens = happens

    def replacing(self, name: str) -> Callable[..., object]:
        real = getattr(os, name)

        def call(*arguments: object, **more: object) -> object:
            self.count += 1
            if self.count == self.number:
                self._happens()
            return real(*arguments, **more)

        return call


def no_room() -> None:
    raise OSError(28, "No space left on device", "x")


def prepared(web: Web, monkeypatch: pytest.MonkeyPatch, *, exchange: bool) -> dict[str, bytes]:
    """An archive that is newer than its copy; gives the copy."""
    web.page("/", "/a")
    web.page("/a")
    web.save()
    before = web.tree()
    web.page("/a", title="Other")
    web.order()
    if not exchange:
        monkeypatch.setattr(place, "_exchange", lambda *_: False)
    return before


@pytest.mark.parametrize("exchange", [True, False])
def test_whatever_step_fails_the_earlier_copy_is_whole(
    web: Web, monkeypatch: pytest.MonkeyPatch, exchange: bool
) -> None:
    """Each step fails once, as on a full disk; the process goes on, and cleans up as far as it can."""
    before = prepared(web, monkeypatch, exchange=exchange)
    for number in range(1, 500):
        steps = Steps(number, no_room)
        with monkeypatch.context() as patch:
            for name in CALLS:
                patch.setattr(os, name, steps.replacing(name))
            failed = False
            try:
                web.save()
            except CollectionError:
                failed = True
        if failed and web.tree() == before:
            continue
        if steps.count < number:
            break
        assert b"Other" in web.tree()[f"{ROOT}/a~.html"]  # it failed where that does no harm, or after all was done
        web.small.connection.execute("DELETE FROM page WHERE id = (SELECT max(id) FROM page)")
        web.save()
        assert web.tree() == before
        web.page("/a", title="Other")
    assert number > 10
    assert not web.check().unresolved


@pytest.mark.parametrize("exchange", [True, False])
def test_killed_at_any_step_the_earlier_copy_is_whole(
    web: Web, monkeypatch: pytest.MonkeyPatch, exchange: bool
) -> None:
    """The process is gone and cleans nothing up. What the next one finds is the old copy or the new one, whole."""
    before = prepared(web, monkeypatch, exchange=exchange)
    working = web.out.parent / ".out.gossamer"
    for number in range(1, 500):
        child = os.fork()
        if child == 0:
            save_and_die(web, number)
        _, status = os.waitpid(child, 0)
        if os.waitstatus_to_exitcode(status) == 0:
            break
        with place.workplace(web.out, 0.0):
            pass
        found = web.tree()
        assert found == before or b"Other" in found[f"{ROOT}/a~.html"], number
        assert not web.check().unresolved
        assert not working.exists()
        if found != before:
            web.small.connection.execute("DELETE FROM page WHERE id = (SELECT max(id) FROM page)")
            web.save()
            assert web.tree() == before
            web.page("/a", title="Other")
            web.order()
    assert number > 10
    assert b"Other" in web.tree()[f"{ROOT}/a~.html"]


def save_and_die(web: Web, number: int) -> None:
    steps = Steps(number, lambda: os._exit(9))
    for name in CALLS:
        setattr(os, name, steps.replacing(name))
    status = 8
    try:
        web.save()
        status = 0
    finally:
        os._exit(status)


def test_a_damaged_record_is_told_and_its_links_are_live(web: Web) -> None:
    web.page("/", "/a")
    web.page("/a")
    web.save()
    uri, offset = web.small.connection.execute(
        "SELECT uri, offset FROM page JOIN segment ON segment.id = page.segment JOIN url ON url.id = page.url"
        " WHERE url.url LIKE '%/a'"
    ).fetchall()[0]
    web.order()
    with (web.small.folder / str(uri)).open("r+b") as file:
        file.seek(int(str(offset)) + 40)
        file.write(b"\0\0\0\0")
    with pytest.raises(ArchiveError, match="the earlier copy has it"):
        web.save()
    saved = web.save(force=True)
    assert "damaged" in saved.missing["http://a.test/a"]
    assert web.site() == {f"{ROOT}/index.html"}
    assert "http://a.test/a" in web.read(f"{ROOT}/index.html")


# --- the map


def test_the_map_shows_the_whole_site(web: Web) -> None:
    web.put("/", "<title>A &lt;b> site</title><a href=/d/x>x</a>")
    web.page("/d/x", title="<script>alert(1)</script>")
    web.error("/lost", 500)
    web.known("/later")
    web.save()
    page = web.read("index.html")
    assert "A &lt;b&gt; site" in page
    assert f'href="{ROOT}/d/x~.html"' in page
    assert "<script>alert(1)" not in page
    assert "status 500" in page
    assert "http://a.test/later" in page
    assert not web.check().unresolved


def test_the_map_of_a_deep_site_is_made(web: Web) -> None:
    for depth in range(1, 120):
        web.page("/" + "d/" * depth)
    web.save()
    assert web.read("index.html").count("</details>") > 30


def test_many_that_are_not_saved_are_counted(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.offline.sitemap.MOST_UNSAVED", 3)
    web.page("/", *(f"/n{number}" for number in range(9)))
    web.save()
    assert "<td>6<td>not fetched" in web.read("index.html")


def test_the_copy_tells_of_itself(web: Web) -> None:
    web.page("/")
    web.save()
    said = json.loads(web.read("_gossamer/copy.json"))
    assert [each["url"] for each in said["files"]] == ["http://a.test/"]
    assert set(said["own"]) == web.tree().keys() - web.site()


def test_names_in_ascii(web: Web) -> None:
    web.page("/%C3%A9t%C3%A9")
    web.save(ascii_only=True)
    assert all(path.isascii() for path in web.site())


def test_the_map_counts_as_people_do(web: Web) -> None:
    web.page("/", "/p10.html", "/p9.html")
    web.page("/p10.html")
    web.page("/p9.html")
    web.save()
    page = web.read("index.html")
    assert page.index("p9.html") < page.index("p10.html")
    assert page.count("no saved page links here") == 0
