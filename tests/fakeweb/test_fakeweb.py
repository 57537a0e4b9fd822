"""The fake web must do what it promises, or tests that use it prove nothing."""

import gzip
import http.client
import json
import socket
import ssl
import time
import zlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import brotli
import pytest
import zstandard

from fakeweb import Asked, FakeWeb, Framing, Page, Site, Visit, recipes, tls
from fakeweb.page import FOREVER


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes


def ask(web: FakeWeb, path: str = "/", *, site: Site | None = None, **headers: str) -> Reply:
    site = site or web.sites[0]
    with closing(http.client.HTTPConnection(site.address, web.port(site), timeout=5)) as connection:
        connection.request("GET", path, headers=headers)
        with connection.getresponse() as response:
            return Reply(response.status, dict(response.headers), response.read())


def ended(web: FakeWeb, count: int = 1) -> list[Visit]:
    """The log once ``count`` requests are over and judged."""
    return web.wait(lambda visits: len(visits) >= count and all(visit.outcome for visit in visits), 5)


def test_a_page_arrives_whole() -> None:
    with FakeWeb(Site({"/": recipes.html("<p>ö", title="T", charset="windows-1252")})) as web:
        response = ask(web)
        assert (response.status, response.headers["Content-Type"]) == (200, "text/html; charset=windows-1252")
        assert response.body == "<!DOCTYPE html><html><head><title>T</title></head><body><p>ö</body></html>".encode(
            "cp1252"
        )
        assert ask(web, "/none").status == 404


def test_one_connection_serves_many_requests() -> None:
    with FakeWeb(Site(fallback=recipes.echo)) as web:
        connection = http.client.HTTPConnection("127.0.0.1", web.port(), timeout=5)
        for path in ("/a", "/b?c=d"):
            connection.request("GET", path, headers={"User-Agent": "tester", "X-Y": "z"})
            seen = json.loads(connection.getresponse().read())
            assert seen["path"] == path
            assert ["x-y", "z"] in seen["headers"]
        connection.close()
        first, second = ended(web, 2)
        assert first.connection == second.connection
        assert second.user_agent == "tester"
        assert second.url == f"http://127.0.0.1:{web.port()}/b?c=d"


@pytest.mark.parametrize("framing", list(Framing))
@pytest.mark.parametrize(
    ("coding", "undo"),
    [
        ("", bytes),
        ("gzip", gzip.decompress),
        ("deflate", zlib.decompress),
        ("raw-deflate", lambda body: zlib.decompress(body, -15)),
        ("br", brotli.decompress),
        ("zstd", lambda body: zstandard.ZstdDecompressor().decompressobj().decompress(body)),
        ("gzip, gzip", lambda body: gzip.decompress(gzip.decompress(body))),
    ],
)
def test_codings_and_framings(framing: Framing, coding: str, undo: object) -> None:
    body = b"<p>some text " * 2000
    page = Page(body, coding=coding, framing=framing, piece=100)
    with FakeWeb(Site({"/": page})) as web:
        response = ask(web)
        assert undo(response.body) == body  # type: ignore[operator]  # a callable of five kinds
        assert response.headers.get("Content-Encoding", "") == coding.replace("raw-", "")
        assert [visit.outcome for visit in ended(web)] == ["whole"]


def test_times_are_taken_before_the_answer() -> None:
    with FakeWeb(Site({"/": Page(b"x" * 30, delay=0.05, piece=10, drip=0.02)})) as web:
        before = time.time()
        ask(web)
        after = time.time()
        (visit,) = ended(web)
        assert visit.ended is not None
        assert before <= visit.at <= visit.ended - 0.05 <= after - 0.05
        assert visit.status == 200


def test_answers_that_change() -> None:
    pages = {
        "/robots.txt": recipes.sequence(recipes.status(500), recipes.busy(429, "7"), recipes.robots("User-agent: *"))
    }
    with FakeWeb(Site({**pages, "/t": recipes.times(2, recipes.status(503), recipes.html("ok"))})) as web:
        assert [ask(web, "/robots.txt").status for _ in range(4)] == [500, 429, 200, 200]
        assert [ask(web, "/t").status for _ in range(4)] == [503, 503, 200, 200]
        assert [visit.retry_after for visit in ended(web, 8)][:3] == ["", "7", ""]


def test_redirects_that_do_not_end() -> None:
    site = Site(
        {**recipes.redirect_loop("/a", "/b"), "/c": recipes.cookie_wall(recipes.html("in"))}, recipes.growing_redirect
    )
    with FakeWeb(site) as web:
        assert [ask(web, path).headers["Location"] for path in ("/a", "/b", "/c", "/g?x")] == [
            "/b",
            "/a",
            "/c",
            "/g?x&x=1",
        ]
        assert ask(web, "/c", Cookie="seen=1").status == 200


@pytest.mark.parametrize(
    "page",
    [recipes.truncated(b"half"), recipes.truncated_chunks(b"<p>text" * 10), recipes.reset_midway(), recipes.garbage()],
)
def test_broken_answers_fail_in_the_client(page: Page) -> None:
    with FakeWeb(Site({"/": page})) as web:
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            ask(web)
        assert [visit.outcome for visit in ended(web)] == ["broken"]


def test_a_truncated_coding_is_only_seen_by_who_decodes() -> None:
    with FakeWeb(Site({"/": recipes.truncated_coding(b"<p>text" * 100)})) as web, pytest.raises(EOFError):
        gzip.decompress(ask(web).body)


def test_an_endless_body_ends_when_the_client_leaves() -> None:
    with FakeWeb(Site({"/": recipes.endless()})) as web:
        with socket.create_connection(("127.0.0.1", web.port()), timeout=5) as client:
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert len(client.makefile("rb").read(1_000_000)) == 1_000_000
        (visit,) = ended(web)
        assert (visit.outcome, visit.status) == ("broken", 200)


def test_a_client_that_leaves_while_it_waits_is_seen_at_once() -> None:
    with FakeWeb(Site({"/": Page(delay=100.0), "/never": Page(delay=FOREVER)})) as web:
        for path in ("/", "/never"):
            client = socket.create_connection(("127.0.0.1", web.port()))
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            web.wait(lambda visits, path=path: visits[-1:] != [] and visits[-1].path == path, 5)  # type: ignore[misc]
            client.close()
        first, second = ended(web, 2)
        assert (first.outcome, second.outcome) == ("gone", "broken")
        assert first.ended is not None
        assert first.ended - first.at < 5


def test_a_bomb_is_small_on_the_wire() -> None:
    with FakeWeb(Site({"/": recipes.bomb(10_000_000, "gzip, gzip")})) as web:
        body = ask(web).body
        assert len(body) < 1000
        assert len(gzip.decompress(gzip.decompress(body))) == 10_000_000


def test_something_that_is_not_http() -> None:
    with FakeWeb(Site(greeting=recipes.ssh_banner())) as web:
        with socket.create_connection(("127.0.0.1", web.port()), timeout=5) as client:
            assert client.recv(100).startswith(b"SSH-2.0")
        assert [visit.outcome for visit in ended(web)] == ["broken"]


def test_huge_headers_and_early_hints() -> None:
    early = Page(b"ok", before=b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
    with FakeWeb(Site({"/": recipes.huge_headers(1_000_000), "/early": early})) as web:
        with pytest.raises(http.client.HTTPException, match="more than 100 headers"):
            ask(web)
        with socket.create_connection(("127.0.0.1", web.port()), timeout=5) as client:
            client.sendall(b"GET /early HTTP/1.1\r\nConnection: close\r\n\r\n")
            assert client.makefile("rb").read().count(b"HTTP/1.1 ") == 2


def test_sites_without_end() -> None:
    site = Site(
        fallback=recipes.by_prefix(
            cal=recipes.calendar, n=recipes.counter, a=recipes.deepening, s=recipes.session_ids("x")
        )
    )
    with FakeWeb(site) as web:
        assert b"/cal?month=4" in ask(web, "/cal?month=3").body
        assert b"/n/8" in ask(web, "/n/7").body
        assert b'"a/"' in ask(web, "/a/").body
        assert ask(web, "/s").body != ask(web, "/s").body


def test_sites_have_addresses_ports_and_names_of_their_own() -> None:
    one, two = Site({"/": recipes.html("1")}), Site({"/": recipes.html("2")}, address="127.0.0.9")
    three, four = (Site({"/": recipes.html(n)}, name=f"{n}.example", address="127.0.0.10") for n in ("3", "4"))
    with FakeWeb(one, two, three, four) as web:
        assert len({web.origin(site) for site in web.sites}) == 4
        assert b"2" in ask(web, site=two).body
        assert web.port(three) == web.port(four)
        assert b"4" in ask(web, site=three, Host=f"4.example:{web.port()}").body
        assert web.url("/x", four) == f"http://4.example:{web.port(four)}/x"


def test_a_site_can_die_and_come_back() -> None:
    with FakeWeb(Site({"/": recipes.html("here")})) as web:
        port = web.port()
        web.down()
        with pytest.raises(ConnectionError):
            ask(web)
        web.up()
        assert web.port() == port
        assert ask(web).status == 200


def test_a_hook_sees_each_request_before_its_answer(tmp_path: Path) -> None:
    seen: list[Visit] = []
    with FakeWeb(Site({"/": recipes.html("x")}), on_visit=seen.append, log_file=tmp_path / "log") as web:
        ask(web)
        assert [(visit.path, visit.ended) for visit in seen] == [("/", None)]
        ended(web)
    (line,) = (tmp_path / "log").read_text().splitlines()
    assert json.loads(line)["outcome"] == "whole"


def test_a_bad_certificate(tmp_path: Path) -> None:
    with FakeWeb(Site({"/": recipes.html("secret")}, tls=tls.self_signed(tmp_path))) as web:
        assert web.origin().startswith("https://127.0.0.1:")
        trusting = ssl.create_default_context(cafile=tmp_path / "cert.pem")
        connection = http.client.HTTPSConnection("127.0.0.1", web.port(), context=trusting, timeout=5)
        connection.request("GET", "/")
        assert connection.getresponse().status == 200
        connection.close()
        with pytest.raises(ssl.SSLCertVerificationError):
            http.client.HTTPSConnection("127.0.0.1", web.port(), timeout=5).request("GET", "/")


def test_requests_are_counted_by_path() -> None:
    counts: list[int] = []

    def count(asked: Asked) -> Page:
        counts.append(asked.nth)
        return recipes.html("")

    with FakeWeb(Site(fallback=count)) as web:
        for path in ("/a", "/b", "/a"):
            ask(web, path)
    assert counts == [0, 0, 1]
