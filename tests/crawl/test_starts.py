"""How a crawl begins, and what a person gets who started one that can't."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from cli.programs import Ended
from cli.programs import run as run_program
from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import Nothing, look, paths, run
from fakeweb import NXDOMAIN, SERVFAIL, Names, Site, recipes, tls
from fakeweb.recipes import html, links, redirect, robots, status
from gossamer.crawl.report import Ending
from gossamer.errors import CollectionError, SettingsError

MakeNames = Callable[..., Names]
QUICKLY = ("--no-sitemaps", "--delay", "0", "--retry-pause", "0.02", "--min-free", "0")


def small() -> Site:
    return Site({"/": links("/a", "/b"), "/a": html("a"), "/b": html("b")})


@pytest.fixture
def closed_port() -> Iterator[int]:
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))  # but nobody listens
        yield taken.getsockname()[1]


# hopeless


def hopeless(crawl: CrawlIt, *urls: str, **settings: object) -> str:
    with pytest.raises(Nothing) as raised:
        crawl(*urls, retry_pause=30, **settings)
    return "; ".join(raised.value.reasons)


def test_no_such_host(names: MakeNames, crawl: CrawlIt, tmp_path: Path) -> None:
    servers = names({"no.test": NXDOMAIN, "ill.test": SERVFAIL})
    assert "dns: no such name" in hopeless(crawl, "http://no.test/", dns=(servers.server,))
    assert "dns: server failure" in hopeless(crawl, "http://ill.test/", dns=(servers.server,))
    assert list(tmp_path.iterdir()) == []


def test_refused(crawl: CrawlIt, closed_port: int) -> None:
    reason = hopeless(crawl, f"http://127.0.0.1:{closed_port}/")
    assert reason.startswith(f"http://127.0.0.1:{closed_port}: connection refused")


def test_not_http(serve: Serve, crawl: CrawlIt) -> None:
    assert "not http" in hopeless(crawl, serve(Site(greeting=recipes.ssh_banner())).url())


def test_a_bad_certificate(serve: Serve, crawl: CrawlIt, tmp_path: Path) -> None:
    web = serve(Site({"/": html("x")}, tls=tls.self_signed(tmp_path)))
    assert "tls: bad certificate" in hopeless(crawl, web.url(), folder="tls")
    assert not (tmp_path / "tls").exists()


def test_all_of_several(names: MakeNames, crawl: CrawlIt, closed_port: int) -> None:
    servers = names({})
    reasons = hopeless(crawl, "http://no.test/", f"http://127.0.0.1:{closed_port}/", dns=(servers.server,))
    assert "no.test" in reasons
    assert "connection refused" in reasons


@pytest.mark.parametrize(
    ("site", "reason"),
    [
        (Site({"/": status(404)}), "http client error: 404 Not Found"),
        (Site({"/": html("x"), "/robots.txt": robots("User-agent: *\nDisallow: /")}), "robots.txt: Disallow: /"),
        (Site({"/": redirect("/")}), "redirect loop: it redirects to itself"),
        (Site({"/": redirect("http://elsewhere.test/")}), "out of scope: another host"),
    ],
)
def test_a_seed_without_a_page(serve: Serve, crawl: CrawlIt, site: Site, reason: str) -> None:
    assert reason in hopeless(crawl, serve(site).url())


def test_a_seed_that_is_excluded(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(small())
    assert "excluded by *" in hopeless(crawl, web.url(), exclude=("*",))
    assert web.log == []


def test_an_empty_folder_is_left_empty(crawl: CrawlIt, closed_port: int, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(CollectionError):  # there is nothing to look into
        crawl(f"http://127.0.0.1:{closed_port}/", folder="mine")
    assert list((tmp_path / "mine").iterdir()) == []


def test_a_bad_pattern_leaves_nothing(crawl: CrawlIt, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="pattern"):
        crawl("http://127.0.0.1:1/", include=("re:(",))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_somebody_else_is_not_touched(crawl: CrawlIt, tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "thesis.txt").write_text("mine")
    with pytest.raises(CollectionError, match="is no collection"):
        crawl("http://127.0.0.1:1/")
    assert [path.name for path in (tmp_path / "c").iterdir()] == ["thesis.txt"]


def test_a_later_start_that_is_hopeless_keeps_what_there_is(serve: Serve, crawl: CrawlIt, closed_port: int) -> None:
    web = serve(small())
    crawl(web)
    crawled = crawl(f"http://127.0.0.1:{closed_port}/", max_tries=1)
    assert len(crawled.kept()) == 3
    assert crawled.report.ending is Ending.DONE


# schemes that nobody typed


def guessed(folder: Path, address: str) -> list[str]:
    """The URLs that were fetched."""
    report = run(folder, ((f"https://{address}/", True),), {"timeout": 5})
    crawled = look(report, folder, "")
    with closing(crawled.database):
        return [row.url for row in crawled.rows.values() if row.is_done]


def test_https_is_tried_first(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tls").mkdir()
    context = tls.self_signed(tmp_path / "tls")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "tls" / "cert.pem"))
    web = serve(Site({"/": html("x")}, tls=context))
    assert guessed(tmp_path / "c", f"127.0.0.1:{web.port()}") == [web.url()]
    assert web.origin().startswith("https")


def test_then_http(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.crawl.guess._PATIENCE", 0.2)
    web = serve(Site({"/": html("x")}))
    assert guessed(tmp_path / "c", f"127.0.0.1:{web.port()}") == [web.url()]


def test_capitals_and_spaces(serve: Serve, tmp_path: Path) -> None:
    """DSENGG.COM/NCACT08 is dsengg.com/NCACT08."""
    web = serve(Site({"/NCACT08": html("x")}, name="localhost"))
    ended = webcrawl(tmp_path, f" HTTP://LOCALHOST:{web.port()}/NCACT08 ")
    assert ended.code == 0
    assert paths(web.log) == ["/NCACT08"]


# the command


def webcrawl(folder: Path, *arguments: str, stdin: str = "") -> Ended:
    return run_program("webcrawl", *QUICKLY, *arguments, cwd=folder, stdin=stdin, HOME=str(folder))


def summary(ended: Ended) -> dict[str, object]:
    """The last line of --json."""
    value: dict[str, object] = json.loads(ended.out.splitlines()[-1])
    return value


def test_the_folder_is_named_after_the_host_and_resumes(serve: Serve, tmp_path: Path) -> None:
    """With the settings it was started with; flags given again override; addresses given with it are added."""
    web = serve(site := small())
    site.pages["/b"] = links("/b.pdf", "/deep")
    folder = f"127.0.0.1_{web.port()}"
    first = webcrawl(tmp_path, "-u", "1", "--exclude", "*.pdf", web.url())
    assert first.code == 0
    assert folder in first.err + first.out
    assert [path.name for path in tmp_path.iterdir() if path.name[0] != "."] == [folder]
    second = webcrawl(tmp_path, folder)
    assert (second.code, paths(web.log)) == (0, ["/"]), "the number of pages is in total"
    third = webcrawl(tmp_path, folder, "-u", "100", web.url("/c"), "--json")
    assert third.code == 0
    assert paths(web.log)[1:] == ["/a", "/b", "/c", "/deep"], "the pattern is still there"
    assert summary(third)["pages"] == 3
    assert webcrawl(tmp_path, folder, "--exclude", "*.zip").code == 0
    assert paths(web.log)[5:] == ["/b.pdf"]


def test_addresses_from_a_file_and_standard_input(serve: Serve, tmp_path: Path) -> None:
    web = serve(Site(fallback=lambda asked: html(asked.path)))
    (tmp_path / "seeds").write_text(f"# mine\n{web.url('/1')}\n\n{web.url('/2')}\n")
    ended = webcrawl(tmp_path, "-o", "out", web.url("/0"), "@seeds", "-", stdin=f"{web.url('/3')}\n")
    assert ended.code == 0
    assert paths(web.log) == ["/0", "/1", "/2", "/3"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["http://127.0.0.1:1/"], 3, "connection refused"),
        (["http://no-such-name.invalid/"], 3, "dns: no such name"),
        (["ftp://a.test/"], 2, "ftp"),
        ([""], 2, "empty address"),
        (["http://"], 2, "not a web address"),
        (["--delay", "fast", "http://127.0.0.1:1/"], 2, "delay can't be 'fast'"),
        (["-u", "-3", "http://127.0.0.1:1/"], 2, "max_urls"),
        (["--include", "re:[", "http://127.0.0.1:1/"], 2, "pattern"),
        (["--dns", "nowhere", "http://127.0.0.1:1/"], 2, "dns"),
    ],
)
def test_one_line_the_right_code_and_nothing_left(
    tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    ended = webcrawl(tmp_path, *arguments)
    assert ended.code == code
    assert message in ended.err
    assert ended.err.count("\n") == 1
    assert "Traceback" not in ended.err
    assert [path.name for path in tmp_path.iterdir() if path.name[0] != "."] == []
