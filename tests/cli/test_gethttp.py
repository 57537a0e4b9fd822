"""`gethttp` over real sockets: what it prints, and how it ends."""

import pytest

from cli.programs import run
from conftest import Serve
from fakeweb import Page, Site
from fakeweb.recipes import endless, garbage, html, redirect, slow, text

CRASHES = "<math><template><annotation-xml encoding=text/html><e></template><a><dd><a>"
"""Crashes the first HTML parser."""


def test_text_and_links(serve: Serve) -> None:
    page = html('<h1>Ünï &lt; \x1b[31m</h1>\n<p>two  <a href="/a?b=1&copy=2">\nlines</a><script>no()</script>')
    web = serve(Site({"/": page}))
    shown = run("gethttp", "-t", web.url("/"))
    assert (shown.code, shown.err) == (0, "")
    assert shown.out == "Ünï < [31m two lines\n"
    assert run("gethttp", "-a", web.url("/")).out == f"{web.url('/a?b=1&copy=2')}\n"


def test_the_encoding_of_the_page_in_and_utf8_out(serve: Serve) -> None:
    body = "<meta charset=shift_jis><p>蜘蛛の糸".encode("shift_jis")
    web = serve(Site({"/": Page(body=body, content_type="text/html")}))
    assert run("gethttp", "-t", web.url("/"), LC_ALL="C").out == "蜘蛛の糸\n"


def test_a_host_without_scheme(serve: Serve) -> None:
    web = serve(Site({"/": html("<p>plain")}))
    assert run("gethttp", "-t", web.url("/").removeprefix("http://"), GOSSAMER_CONNECT_TIMEOUT="0.3").out == "plain\n"


def test_not_html(serve: Serve) -> None:
    web = serve(Site({"/": text("plain")}))
    shown = run("gethttp", "-t", web.url("/"))
    assert (shown.code, shown.out, shown.err) == (1, "", "Error: document is not text/html\n")


def test_unreachable(serve: Serve) -> None:
    web = serve(Site({"/": html("x"), "/loop": redirect("/loop"), "/garbage": garbage()}))
    for path, message in (("/none", "404 Not Found"), ("/loop", "redirect loop"), ("/garbage", "not http")):
        shown = run("gethttp", "-a", web.url(path))
        assert (shown.code, shown.out) == (3, "")
        assert message in shown.err
        assert shown.err.count("\n") == 1
    shown = run("gethttp", "-t", "http://no-such-host.invalid/")
    assert (shown.code, shown.err.startswith("Error: http://no-such-host.invalid/ can't be fetched: dns: ")) == (
        3,
        True,
    )


def test_time_and_size_are_limited(serve: Serve) -> None:
    web = serve(Site({"/slow": slow("<p>x", 30), "/endless": endless()}))
    shown = run("gethttp", "-t", "--timeout", "0.3s", web.url("/slow"))
    assert (shown.code, "time-out" in shown.err) == (3, True)
    shown = run("gethttp", "-t", "--max-size", "1k", web.url("/endless"))
    assert shown.code == 0
    assert shown.out.startswith("and so on and so on")
    assert len(shown.out) < 1024
    assert shown.err == "Note: only the first 1024 bytes were read; --max-size allows more\n"


def test_a_page_that_crashes_the_parser_is_read_all_the_same(serve: Serve) -> None:
    web = serve(Site({"/": html(f"<p>before {CRASHES}")}))
    shown = run("gethttp", "-t", web.url("/"))
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith("before")


def test_who_asks_is_said_to_the_server(serve: Serve) -> None:
    web = serve(Site({"/": html("x")}))
    run("gethttp", "-t", web.url("/"), GOSSAMER_CONTACT="me@example.org")
    run("gethttp", "-t", web.url("/"), "--user-agent", "Mine/1")
    agents = [visit.user_agent for visit in web.log]
    assert "Gossamer/" in agents[0]
    assert "me@example.org" in agents[0]
    assert agents[1] == "Mine/1"


@pytest.mark.parametrize(
    "arguments", [("http://a/",), ("-t", "-a", "http://a/"), ("-t",), ("-t", ""), ("-t", "ftp://a/")]
)
def test_what_is_typed_wrong(arguments: tuple[str, ...]) -> None:
    shown = run("gethttp", *arguments)
    assert (shown.code, shown.out) == (2, "")
    assert shown.err.count("\n") == 1
    assert shown.err.startswith("Error: ")
