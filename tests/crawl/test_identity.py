"""Who we are to servers: each is told what is meant for it, and no secret goes anywhere else, in no form."""

import gzip
import hashlib
import logging
import ssl
import time
from base64 import b64encode
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from cli.programs import run
from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import Nothing, paths
from fakeweb import Asked, FakeWeb, Handler, Page, Site, recipes
from fakeweb.recipes import html, links, redirect
from fetch.authority import Authority
from fetch.proxies import HttpProxy, SocksProxy
from fetch.raw import refused_port
from gossamer.errors import UsageError

SECRET = "hunter2hunter2"


def told(web: FakeWeb, name: str, site: Site | None = None) -> dict[str, list[str]]:
    """What each path was told in a header, in order."""
    found: dict[str, list[str]] = {}
    for visit in web.log:
        if site is None or visit.port == web.port(site):
            found.setdefault(visit.path, []).append(dict(visit.headers).get(name, ""))
    return found


# --- nothing of it stays


def forms(secret: str) -> Iterator[bytes]:
    """What a secret may look like."""
    yield secret.encode()
    yield b64encode(f"me:{secret}".encode())
    yield hashlib.md5(f"me:realm:{secret}".encode()).hexdigest().encode()


def contents(folder: Path) -> Iterator[tuple[Path, bytes]]:
    """Every file, and what is packed in it."""
    for path in folder.rglob("*"):
        if path.is_file():
            yield path, path.read_bytes()
            if path.suffix == ".gz":
                yield path, gzip.decompress(path.read_bytes())


def assert_nowhere(secret: str, folder: Path, log: pytest.LogCaptureFixture) -> None:
    places = [path.name for path, content in contents(folder) for form in forms(secret) if form in content]
    assert places == []
    assert secret not in log.text


def refuse(challenge: str) -> Page:
    return Page(b"who are you?", 401, headers=(("WWW-Authenticate", challenge),))


def only_with(start: str, inside: Page, challenge: str = "Basic realm=x") -> Handler:
    """A page for who sends an Authorization that begins so."""
    return lambda asked: inside if asked.header("authorization").startswith(start) else refuse(challenge)


@pytest.mark.parametrize("scheme", ["basic", "digest", "bearer"])
def test_credentials_go_to_their_origin_and_stay_nowhere(
    serve: Serve, crawl: CrawlIt, caplog: pytest.LogCaptureFixture, scheme: str
) -> None:
    challenge = 'Digest realm="realm", nonce="abc", qop="auth"' if scheme == "digest" else "Basic realm=x"
    guarded = [only_with(scheme.title(), page, challenge) for page in (links("/a", "/out", "/shared"), html("a"))]
    other = Site({"/": html("elsewhere"), "/img": html("x")})
    elsewhere = serve(other)
    out = elsewhere.url("/")
    site = Site({"/": guarded[0], "/a": guarded[1], "/out": redirect(out), "/shared": redirect(elsewhere.url("/img"))})
    web = serve(site)
    secret = SECRET if scheme == "bearer" else f"me:{SECRET}"
    with caplog.at_level(logging.DEBUG, "gossamer"):
        crawled = crawl(
            web, credential=[f"{web.origin()} {scheme} {secret}"], scope="any", allow_private=True, log_level="debug"
        )
    assert {"/", "/a", elsewhere.url("/"), elsewhere.url("/img")} <= crawled.kept()
    assert {value for values in told(elsewhere, "authorization").values() for value in values} == {""}
    asked = told(web, "authorization")
    assert asked["/"][-1].startswith(scheme.title())
    if scheme == "digest":
        assert asked["/"][0] == "", "the challenge is answered, not guessed"
        assert paths(web.log).count("/a") == 1, "it is asked for once, not for each URL"
        assert crawled["/"].attempts == 2
    assert_nowhere(SECRET, crawled.folder, caplog)
    requests = b"".join(content for kind, _, content in crawled.records() if kind == "request")
    assert b"Authorization: [redacted]" in requests


def test_robots_behind_a_digest_are_no_permission(serve: Serve, crawl: CrawlIt) -> None:
    """401 would allow all (RFC 9309, section 2.3.1.3), also to who has not shown what it has."""
    challenge = 'Digest realm="realm", nonce="abc", qop="auth"'
    rules = recipes.robots("User-agent: *\nDisallow: /private")
    guarded = {"/robots.txt": only_with("Digest", rules, challenge)}
    web = serve(Site({**guarded, "/": links("/private"), "/private": html("no")}))
    crawled = crawl(web, credential=[f"{web.origin()} digest me:{SECRET}"])
    assert crawled["/private"].reason == "robots.txt: Disallow: /private"
    assert len(told(web, "authorization")["/robots.txt"]) == 2
    assert [url for kind, url, _ in crawled.records() if kind == "response"].count(web.url("/robots.txt")) == 2


def test_wrong_credentials_end(serve: Serve, crawl: CrawlIt) -> None:
    wall = refuse('Digest realm="realm", nonce="abc", qop="auth"')
    web = serve(Site({"/": links("/a", "/b"), "/a": wall, "/b": wall}))
    crawled = crawl(web, credential=[f"{web.origin()} digest me:{SECRET}"])
    assert [crawled[path].reason for path in ("/a", "/b")] == ["http client error: 401 Unauthorized"] * 2
    assert sorted(paths(web.log)) == ["/", "/a", "/a", "/b"]


def test_a_password_stays_with_its_scheme_and_port(serve: Serve, crawl: CrawlIt) -> None:
    twin = Site({"/": html("same host, another port")})
    neighbour = serve(twin)
    web = serve(Site({"/": links(neighbour.url("/"))}))
    crawl(web, credential=[f"{web.origin()} basic me:{SECRET}"], scope="any", allow_private=True)
    assert told(web, "authorization")["/"] != [""]
    assert told(neighbour, "authorization")["/"] == [""]


# --- cookies


def set_cookie(cookie: str, page: Page) -> Page:
    return Page(page.body, page.status, content_type=page.content_type, headers=(*page.headers, ("Set-Cookie", cookie)))


def test_cookies_come_back(serve: Serve, crawl: CrawlIt) -> None:
    pages = {"/": set_cookie("a=1; Path=/", links("/x", "/x/y")), "/x": set_cookie("b=2; Path=/x", html("x"))}
    web = serve(Site({**pages, "/x/y": html("y"), "/robots.txt": set_cookie("r=0", recipes.robots(""))}))
    crawl(web)
    assert told(web, "cookie") == {"/robots.txt": [""], "/": ["r=0"], "/x": ["r=0; a=1"], "/x/y": ["b=2; r=0; a=1"]}


def test_a_loop_through_another_page_that_sets_the_cookie(serve: Serve, crawl: CrawlIt) -> None:
    def door(asked: Asked) -> Page:
        return links("/rest") if "ok=1" in asked.header("cookie") else redirect("/gate")

    gate = set_cookie("ok=1; Path=/", redirect("/in"))
    web = serve(Site({"/": links("/in"), "/in": door, "/gate": gate, "/rest": html("r")}))
    crawled = crawl(web)
    assert crawled.kept() == {"/", "/in", "/rest"}
    assert paths(web.log) == ["/", "/in", "/gate", "/in", "/rest"]
    assert crawled["/gate"].reason == f"redirects to {web.url('/in')}"
    assert crawled["/in"].attempts == 2
    answers = [url.removeprefix(web.origin()) for kind, url, _ in crawled.records() if kind == "response"]
    assert answers.count("/in") == 2, "each answer has its record"


@pytest.mark.parametrize("wall", ["one", "two"])
def test_a_cookie_that_is_another_each_time_leads_nowhere(serve: Serve, crawl: CrawlIt, wall: str) -> None:
    def again(asked: Asked) -> Page:
        return set_cookie(
            f"sid={asked.nth}; Path=/", redirect("/in" if wall == "one" or asked.path == "/gate" else "/gate")
        )

    web = serve(Site({"/": links("/in"), "/in": again, "/gate": again}))
    crawled = crawl(web)
    assert paths(web.log).count("/in") <= 3
    reasons = [row.reason for path, row in crawled.rows.items() if path in ("/in", "/gate") and row.state == "failed"]
    assert reasons
    assert reasons[0].startswith("redirect loop: ")
    assert crawled.report.progress.statistics.waiting == 0


def test_a_wall_is_asked_again_only_for_a_cookie_that_goes_there(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": links("/in"), "/in": set_cookie("a=1; Path=/elsewhere", redirect("/in"))}))
    assert crawl(web)["/in"].reason == "redirect loop: it redirects to itself"
    assert paths(web.log) == ["/", "/in"]


def cookie_file(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("# Netscape HTTP Cookie File\n" + "".join(line + "\n" for line in lines))
    path.chmod(0o600)
    return path


def test_cookies_of_a_file_go_where_they_belong_and_stay_nowhere(
    serve: Serve, crawl: CrawlIt, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    elsewhere = serve(Site({"/": html("x")}, address="127.0.0.2"))
    web = serve(Site({"/": links("/a", "/out"), "/a": html("a"), "/out": redirect(elsewhere.url("/"))}))
    file = cookie_file(tmp_path / "cookies.txt", [f"127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\t{SECRET}"])
    with caplog.at_level(logging.DEBUG, "gossamer"):
        crawled = crawl(web, cookies=str(file), scope="any", allow_private=True, log_level="debug")
    assert told(web, "cookie")["/a"] == [f"sid={SECRET}"]
    assert told(elsewhere, "cookie")["/"] == [""]
    assert_nowhere(SECRET, crawled.folder, caplog)
    assert file.read_text().count("\n") == 2, "a file that is read is not written"


def test_a_jar_keeps_them_over_runs(serve: Serve, crawl: CrawlIt, tmp_path: Path) -> None:
    jar = tmp_path / "jar.txt"
    web = serve(Site({"/": set_cookie(f"sid={SECRET}; Path=/", links("/a")), "/a": html("a"), "/b": html("b")}))
    crawl(web, cookie_jar=str(jar))
    assert SECRET in jar.read_text()
    assert jar.stat().st_mode & 0o777 == 0o600
    crawl(web.url("/b"), folder="d", cookie_jar=str(jar))
    assert told(web, "cookie")["/b"] == [f"sid={SECRET}"]


def test_without_a_jar_the_next_run_knows_nothing(
    serve: Serve, crawl: CrawlIt, caplog: pytest.LogCaptureFixture
) -> None:
    web = serve(Site({"/": set_cookie(f"sid={SECRET}; Path=/", links("/a")), "/a": html("a"), "/b": html("b")}))
    crawled = crawl(web)
    crawl(web, web.url("/b"))
    assert told(web, "cookie")["/a"] == [f"sid={SECRET}"]
    assert told(web, "cookie")["/b"] == [""]
    kinds = {kind for kind, _, content in crawled.records() if SECRET.encode() in content}
    assert kinds == {"response"}, "what a server answers is kept as it came, what we sent is not"
    loose = [path.name for path, content in contents(crawled.folder) if SECRET.encode() in content]
    assert all(name.endswith(".warc.gz") for name in loose)


def test_a_file_that_is_none_stops_before_anything_is_asked(serve: Serve, crawl: CrawlIt, tmp_path: Path) -> None:
    web = serve(Site({"/": html("x")}))
    with pytest.raises(UsageError, match="is no cookie"):
        crawl(web, cookies=str(cookie_file(tmp_path / "bad.txt", ["not a cookie"])))
    with pytest.raises(UsageError, match="can't be written"):
        crawl(web, cookie_jar=str(tmp_path / "missing" / "jar.txt"))
    assert web.log == []
    assert not (tmp_path / "c").exists()


# --- certificates


def test_our_certificate_is_shown_to_its_origin(serve: Serve, crawl: CrawlIt, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    authority.make("server", "subjectAltName=IP:127.0.0.1", by="root")
    authority.make("ours", "extendedKeyUsage=clientAuth", by="root")

    def context() -> ssl.SSLContext:
        made = authority.serve("server")
        made.verify_mode = ssl.CERT_REQUIRED
        made.load_verify_locations(authority.file("root"))
        return made

    stranger = serve(Site({"/": html("x")}, tls=context()))
    web = serve(Site({"/": links("/a", stranger.url("/")), "/a": html("a")}, tls=context()))
    shown = f"{web.origin()} {authority.file('ours')} {authority.file('ours', 'key')}"
    crawled = crawl(web, client_cert=[shown], ca_file=str(authority.file("root")), scope="any", max_tries=1)
    assert crawled.kept() == {"/", "/a"}
    assert stranger.log == [], "the other origin asked for it in vain"


# --- proxies


@pytest.mark.parametrize("kind", [HttpProxy, SocksProxy])
def test_a_crawl_through_a_proxy(
    serve: Serve, crawl: CrawlIt, kind: "type[HttpProxy | SocksProxy]", caplog: pytest.LogCaptureFixture
) -> None:
    """No name is looked up by us: this one does not exist."""
    private = "http://10.1.2.3/"
    web = serve(Site({"/": links("/a", private, "http://localhost/x"), "/a": html("a")}, name="site.invalid"))
    login = b64encode(f"me:{SECRET}".encode()) if kind is HttpProxy else (b"me", SECRET.encode())
    scheme = "http" if kind is HttpProxy else "socks5h"
    with kind(web.port(), login=login) as through, caplog.at_level(logging.DEBUG, "gossamer"):  # type: ignore[arg-type]
        address = f"{scheme}://me:{SECRET}@127.0.0.1:{through.port}"
        crawled = crawl("http://site.invalid/", proxy=address, scope="any", log_level="debug", delay=0.0)
    assert {"/", "/a"} <= crawled.kept()
    assert crawled[private].reason.endswith("address refused: 10.1.2.3 is private")
    assert crawled["http://localhost/x"].reason.endswith("address refused: localhost is loopback")
    assert [row[0] for row in crawled.select("SELECT DISTINCT address FROM page")] == [""]
    assert_nowhere(SECRET, crawled.folder, caplog)


def test_a_proxy_that_is_not_there_is_said(crawl: CrawlIt) -> None:
    with pytest.raises(Nothing) as caught:
        crawl("http://site.invalid/", proxy=f"http://me:{SECRET}@127.0.0.1:{refused_port()}", retry_pause=0.0)
    (reason,) = caught.value.reasons
    assert "proxy" in reason
    assert SECRET not in reason


# --- what a person types


def test_credentials_in_a_typed_address_are_for_its_origin(serve: Serve, tmp_path: Path) -> None:
    web = serve(Site({"/": only_with("Basic", links("/a")), "/a": only_with("Basic", html("inside"))}))
    address = web.url("/").replace("://", f"://me:{SECRET}@")
    done = run("gossamer", "crawl", "-o", str(tmp_path / "c"), "--delay", "0", "--json", address)
    assert done.code == 0, done.err
    assert set(told(web, "authorization")["/a"]) == {"Basic " + b64encode(f"me:{SECRET}".encode()).decode()}
    assert SECRET not in done.out + done.err
    assert [path for path, content in contents(tmp_path / "c") for form in forms(SECRET) if form in content] == []


@pytest.mark.parametrize("challenge", ["Basic realm=x", 'Digest realm="realm", nonce="abc"'])
def test_one_page_behind_a_door(serve: Serve, tmp_path: Path, challenge: str) -> None:
    scheme = challenge.split()[0]
    web = serve(
        Site({"/": only_with(scheme, recipes.html("inside"), challenge), "/wall": recipes.cookie_wall(html("in"))})
    )
    credential = f"{web.origin()} {scheme} me:{SECRET}"
    assert run("gethttp", "-t", web.url("/"), GOSSAMER_CREDENTIAL=credential).out == "inside\n"
    assert run("gethttp", "-t", web.url("/wall")).out == "in\n"
    refused = run("gethttp", "-t", web.url("/").replace("://", f"://x:{SECRET}@"))
    assert (refused.code, refused.out) == ((0, "inside\n") if scheme == "Basic" else (3, ""))
    assert SECRET not in refused.err


@pytest.mark.parametrize(
    "address", [f"me:{SECRET}@example.org", f"ftp://me:{SECRET}@example.org/", f"https://{SECRET}:123@example.org/"]
)
def test_what_can_not_be_meant_is_not_repeated(address: str) -> None:
    done = run("gossamer", "crawl", "--dry-run", address)
    assert done.code == 2
    assert SECRET not in done.out + done.err


def test_secrets_are_shown_by_no_command(tmp_path: Path) -> None:
    secrets = {
        "GOSSAMER_CREDENTIAL": f"https://example.org basic me:{SECRET}",
        "GOSSAMER_PROXY": f"socks5://me:{SECRET}@127.0.0.1",
        "GOSSAMER_HEADER": f"X-Key: {SECRET}",
    }
    for command in (["config", "show"], ["config", "show", "--json"], ["crawl", "--dry-run", "https://example.org/"]):
        done = run("gossamer", *command, cwd=tmp_path, **secrets)
        assert done.code == 0, done.err
        assert SECRET not in done.out + done.err


def test_a_proxy_is_said_once(serve: Serve, tmp_path: Path) -> None:
    web = serve(Site({"/": links("/a"), "/a": html("a")}, name="site.invalid"))
    with HttpProxy(web.port()) as through:
        proxy = f"http://127.0.0.1:{through.port}"
        done = run(
            "gossamer", "crawl", "--proxy", proxy, "--delay", "0", "-o", str(tmp_path / "c"), "http://site.invalid/"
        )
        one = run("gethttp", "-t", "http://site.invalid/", GOSSAMER_PROXY=proxy)
    for said in (done, one):
        assert said.code == 0, said.err
        assert said.err.count("a proxy is used") == 1
    assert one.err.startswith("Note: a proxy is used")


# --- bytes a second


def test_all_hosts_together_keep_to_the_limit(serve: Serve, crawl: CrawlIt) -> None:
    size = 50_000
    big = html("x" * size)
    webs = [serve(Site({"/": links("/a"), "/a": big})) for _ in range(3)]
    started = time.monotonic()
    crawled = crawl(*webs, limit_rate=6 * size)
    assert time.monotonic() - started > 0.3, "150,000 bytes at 300,000 a second"
    assert len(crawled.kept()) == 6
