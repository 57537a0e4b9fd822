"""One page fetched for a person: schemes, redirects, addresses and headers, decided without a network."""

import asyncio
from dataclasses import dataclass, field

import pytest

from gossamer.clock import ManualClock
from gossamer.errors import FetchError, ProblemFound, UsageError
from gossamer.fetch.identity import Identity
from gossamer.get import Getter, Page, read
from gossamer.parse import html
from gossamer.parse.job import ParseJob
from gossamer.policy.addresses import classify
from gossamer.records import Address, Exchange, Facts, Failure, FailureKind, Headers, Request
from gossamer.settings import Settings

HTML: Headers = (("content-type", "text/html"),)
REFUSED = Failure(FailureKind.CONNECT_REFUSED, "nobody there")


def answer(body: str = "", status: int = 200, headers: Headers = HTML, truncated: str = "") -> Exchange:
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    return Exchange("", b"", head, body.encode(), status, headers, "", "http/1.1", 0, 0, 0, truncated)


def redirect(to: str) -> Exchange:
    return answer(status=302, headers=(("location", to),))


@dataclass
class Net:
    """A web in a table; names not in ``hosts`` are public."""

    pages: dict[str, Exchange | Failure]
    hosts: dict[str, str] = field(default_factory=dict)
    asked: list[Request] = field(default_factory=list)

    async def resolve(self, hostname: str) -> tuple[Address, ...] | Failure:
        ip = self.hosts.get(hostname, "93.184.216.34")
        return (Address(ip, classify(ip)),) if ip else Failure(FailureKind.DNS_NO_NAME, "no such name")

    async def fetch(self, request: Request, on_sent: object = None) -> Exchange | Failure:
        self.asked.append(request)
        found = self.pages.get(request.url, REFUSED)
        if isinstance(found, Failure):
            return found
        return Exchange(request.url, *(getattr(found, name) for name in list(Exchange.__slots__)[1:]))

    async def parse(self, job: ParseJob) -> Facts:
        return html.read(job, bytes(32))

    def get(self, typed: str, settings: Settings | None = None) -> Page:
        return asyncio.run(self._get(typed, settings or Settings()))

    async def _get(self, typed: str, settings: Settings) -> Page:
        answer = await Getter(self, self, settings, ManualClock(), Identity(ManualClock())).fetch(typed)
        return await read(answer, self, ManualClock())

    @property
    def urls(self) -> list[str]:
        return [request.url for request in self.asked]


def test_text_in_one_line_with_single_spaces() -> None:
    page = "<title>T</title><style>p{}</style><h1>A &amp;\n\t B</h1><p>c\xa0 d<script>x()</script><p>e\u3000f"
    net = Net({"http://a/": answer(page, headers=(("content-type", "text/html; charset=utf-8"),))})
    assert net.get("http://a/").text == "A & B c d e f"


def test_links_that_lead_a_reader_on() -> None:
    page = """<base href="/b/"><a href="x#1">1</a><area href="//other.example/"><iframe src="i"></iframe><a href="x#2">2</a>
        <img src="p.png"><link rel="next" href="n"><link rel="stylesheet" href="s.css"><script src="s.js"></script>
        <a href="mailto:a@b">m</a><a href="javascript:x()">j</a><form action="f"></form><a name="no">no</a>"""
    net = Net({"http://a/": answer(page)})
    assert net.get("http://a/").links == ("http://a/b/x", "http://other.example/", "http://a/b/i")


def test_frames_lead_on() -> None:
    net = Net({"http://a/": answer('<frameset><frame src="one"><frame src="two"></frameset>')})
    assert net.get("http://a/").links == ("http://a/one", "http://a/two")


def test_without_scheme_https_is_tried_then_http() -> None:
    net = Net({"http://a.example/": answer("<p>x")})
    assert net.get("A.example").text == "x"
    assert net.urls == ["https://a.example/", "http://a.example/"]
    both = Net({"https://a.example/": answer("<p>s"), "http://a.example/": answer("<p>x")})
    assert both.get("a.example").text == "s"


def test_a_scheme_that_was_typed_is_meant() -> None:
    net = Net({"http://a.example/": answer("<p>x")})
    with pytest.raises(FetchError, match=r"https://a.example/ can't be fetched: connection refused"):
        net.get("https://a.example/")


def test_a_name_that_is_none_is_looked_up_once() -> None:
    net = Net({}, {"no.example": ""})
    with pytest.raises(FetchError, match=r"no.example can't be fetched: dns: no such name.*look at the spelling"):
        net.get("no.example")
    assert not net.asked


def test_redirects_are_followed_to_the_page() -> None:
    net = Net({"http://a/": redirect("/1"), "http://a/1": redirect("http://b/2"), "http://b/2": answer("<a href=x>")})
    page = net.get("http://a/")
    assert (page.url, page.links) == ("http://b/2", ("http://b/x",))


def test_a_loop_is_named() -> None:
    net = Net({"http://a/": redirect("/1"), "http://a/1": redirect("/2"), "http://a/2": redirect("/1")})
    with pytest.raises(FetchError, match="redirect loop: http://a/1 -> http://a/2 -> http://a/1"):
        net.get("http://a/")


def test_twenty_redirects_are_enough() -> None:
    pages: dict[str, Exchange | Failure] = {f"http://a/{n}": redirect(f"/{n + 1}") for n in range(20)}
    assert Net({**pages, "http://a/20": answer("<p>x")}).get("http://a/0").text == "x"
    net = Net({**pages, "http://a/20": redirect("/21"), "http://a/21": answer()})
    with pytest.raises(FetchError, match="too many redirects: more than 20, the last to http://a/21"):
        net.get("http://a/0")


@pytest.mark.parametrize("location", ["", "javascript:x()", "file:///etc/passwd", "http://u:1@evil:80@b/"])
def test_redirects_to_what_is_no_web_address(location: str) -> None:
    with pytest.raises(FetchError, match="redirect without location"):
        Net({"http://a/": redirect(location)}).get("http://a/")


@pytest.mark.parametrize("ip", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "0.0.0.0"])
def test_the_public_web_does_not_lead_into_private_networks(ip: str) -> None:
    net = Net({"http://a/": redirect("http://inside/"), "http://inside/": answer("<p>secret")}, {"inside": ip})
    with pytest.raises(FetchError, match=r"address refused: .*where it redirects to: http://inside/"):
        net.get("http://a/")
    assert net.urls == ["http://a/"]


def test_what_a_person_names_may_be_private() -> None:
    net = Net({"http://inside/": redirect("http://other/"), "http://other/": answer("<p>x")})
    net.hosts = {"inside": "10.0.0.1", "other": "10.0.0.2"}
    assert net.get("http://inside/").text == "x"
    net.hosts["other"] = "127.0.0.1"
    with pytest.raises(FetchError, match="address refused"):
        net.get("http://inside/")


def test_headers_go_to_the_origin_that_was_named_alone() -> None:
    net = Net({"http://a/": redirect("http://b/"), "http://b/": redirect("http://a/end"), "http://a/end": answer("x")})
    net.get("http://a/", Settings(header=("Authorization: secret",)))
    assert [dict(request.headers) for request in net.asked] == [
        {"Authorization": "secret"},
        {},
        {"Authorization": "secret"},
    ]


@pytest.mark.parametrize(("status", "words"), [(404, "404 Not Found"), (503, "503 Service Unavailable"), (600, "600")])
def test_a_status_that_is_no_success(status: int, words: str) -> None:
    with pytest.raises(FetchError, match=words):
        Net({"http://a/": answer("<p>sorry", status)}).get("http://a/")


@pytest.mark.parametrize("kind", ["text/plain", "application/pdf", "image/png", "application/json"])
def test_a_document_that_is_not_html(kind: str) -> None:
    with pytest.raises(ProblemFound) as caught:
        Net({"http://a/": answer("x", headers=(("content-type", kind),))}).get("http://a/")
    assert str(caught.value) == "document is not text/html"


@pytest.mark.parametrize(("cut", "message"), [("disconnect", "body truncated"), ("time", "time-out of the whole")])
def test_a_body_that_did_not_come_whole(cut: str, message: str) -> None:
    with pytest.raises(FetchError, match=message):
        Net({"http://a/": answer("<p>half", truncated=cut)}).get("http://a/")


def test_a_body_that_is_too_long_is_read_as_far_as_allowed() -> None:
    page = Net({"http://a/": answer("<p>beginning", truncated="length")}).get("http://a/")
    assert (page.text, page.is_cut) == ("beginning", True)


def test_a_body_that_cannot_be_decoded() -> None:
    net = Net({"http://a/": answer("this is not gzip" * 9, headers=(*HTML, ("content-encoding", "gzip")))})
    with pytest.raises(FetchError, match="body undecodable"):
        net.get("http://a/")


@pytest.mark.parametrize("typed", ["", "mailto:a@b", "ftp://a/", "http://"])
def test_what_is_no_web_address(typed: str) -> None:
    with pytest.raises(UsageError):
        Net({}).get(typed)
