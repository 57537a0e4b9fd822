"""Addresses that no stranger's link may lead to, and headers that go to nobody else."""

from collections.abc import Callable

import pytest

from conftest import Serve
from crawl.conftest import CrawlIt
from crawl.crawling import Crawled, paths
from fakeweb import Answer, FakeWeb, Names, Site
from fakeweb.recipes import html, links, redirect, robots
from gossamer.policy import addresses
from gossamer.policy.addresses import classify

MakeNames = Callable[..., Names]


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    """127.0.0.1 passes for a public address: a site of the Internet, on loopback."""

    def kind(ip: str) -> str:
        return addresses.PUBLIC if ip == "127.0.0.1" else classify(ip)

    monkeypatch.setattr("gossamer.fetch.resolver.classify", kind)


def refused(crawled: Crawled, url: str) -> str:
    row = crawled[url]
    assert row.held
    assert "address refused" in row.reason
    return row.reason


@pytest.fixture
def inside(serve: Serve) -> tuple[FakeWeb, Site]:
    """A site on the private side: 127.0.0.2."""
    site = Site(fallback=lambda asked: html("secret"), address="127.0.0.2")
    return serve(site), site


def test_links_and_redirects_to_private_addresses(
    public: None, serve: Serve, names: MakeNames, crawl: CrawlIt, inside: tuple[FakeWeb, Site]
) -> None:
    secret, _ = inside
    port = secret.port()
    targets = [
        secret.url("/linked"),
        "http://10.0.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        f"http://[::ffff:127.0.0.2]:{port}/",
        f"http://2130706434:{port}/",  # 127.0.0.2 as one number; the canonical URL has it with dots
        f"http://0x7f000002:{port}/",
        f"http://0177.0.0.2:{port}/",
        f"http://inside.test:{port}/",
        "http://0.0.0.0/",
        "http://100.64.0.1/",
    ]
    hops = {f"/go{n}": redirect(target + "?redirected") for n, target in enumerate(targets)}
    site = Site({"/": links(*targets, *hops), **hops}, name="site.test")
    web = serve(site)
    servers = names({"site.test": "127.0.0.1", "inside.test": "127.0.0.2"})
    crawled = crawl(web, scope="any", dns=(servers.server,))
    assert secret.log == []
    outside = [row for row in crawled.rows.values() if not row.url.startswith(web.origin())]
    assert len(outside) == 2 * (len(targets) - 2), "three are spellings of one"
    for row in outside:
        refused(crawled, row.url)
    assert all(crawled[hop].is_done for hop in hops)


def test_a_seed_may_be_private_but_only_its_own_origin(
    serve: Serve, crawl: CrawlIt, inside: tuple[FakeWeb, Site]
) -> None:
    secret, _ = inside
    web = serve(Site({"/": links("/a", secret.url("/x")), "/a": html("a")}), other := Site({"/": html("other port")}))
    web.sites[0].pages["/"] = links("/a", secret.url("/x"), web.url("/", other))
    crawled = crawl(web, scope="any")
    assert crawled["/a"].is_done
    refused(crawled, secret.url("/x"))
    refused(crawled, web.url("/", other))
    crawled = crawl(web, scope="any", folder="allowed", allow_private=True)
    assert crawled[secret.url("/x")].is_done
    assert crawled[web.url("/", other)].is_done


def test_a_second_seed_is_exempt_as_well(serve: Serve, crawl: CrawlIt, inside: tuple[FakeWeb, Site]) -> None:
    secret, _ = inside
    web = serve(Site({"/": links(secret.url("/x"))}))
    crawled = crawl(web.url(), secret.url("/y"))
    assert crawled[secret.url("/x")].is_done


def test_what_a_seed_was_allowed_holds_at_the_next_start(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": links("/a", "/b")}, lambda asked: html(asked.path)))
    crawl(web, max_urls=1)
    assert crawl(base=web.origin(), max_urls=0)["/b"].is_done


def test_a_name_that_changes_to_another_class(
    public: None, serve: Serve, names: MakeNames, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: what was public is private at the second look."""
    monkeypatch.setattr("gossamer.fetch.resolver.MIN_TTL", 0.0)
    web = serve(site := Site({"/": links("/a", "/b")}, lambda asked: html(asked.path), name="site.test"))
    secret = serve(Site(fallback=lambda asked: html("secret"), address="127.0.0.2", port=web.port(site)))
    table = {"site.test": lambda count: Answer(("127.0.0.1" if count < 2 else "127.0.0.2",), ttl=0)}
    crawled = crawl(web, dns=(names(table).server,), max_tries=2)
    assert paths(web.log, robots=True) == ["/robots.txt", "/"]
    assert secret.log == []
    assert crawled["/a"].state == "failed"
    assert crawled["/a"].reason == "address refused: 127.0.0.2 is loopback"


def test_a_private_seed_that_changes_within_its_class(
    serve: Serve, names: MakeNames, crawl: CrawlIt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gossamer.fetch.resolver.MIN_TTL", 0.0)
    web = serve(site := Site({"/": links("/a")}, name="site.test"))
    moved = serve(Site(fallback=lambda asked: html("moved"), address="127.0.0.3", port=web.port(site)))
    table = {"site.test": lambda count: Answer(("127.0.0.1" if count < 2 else "127.0.0.3",), ttl=0)}
    crawled = crawl(web, dns=(names(table).server,))
    assert crawled["/a"].is_done
    assert paths(moved.log) == ["/a"]


def test_one_good_address_is_enough(public: None, serve: Serve, names: MakeNames, crawl: CrawlIt) -> None:
    """Of several addresses those that are refused are left out."""
    web = serve(Site({"/": html("fine")}, name="site.test"))
    crawled = crawl(web, dns=(names({"site.test": Answer(("10.0.0.1", "127.0.0.1"))}).server,))
    assert crawled["/"].page["address"] == "127.0.0.1"


# headers

SECRET = "Bearer open-sesame"
HEADERS = {"header": (f"Authorization: {SECRET}", "X-Key: k-1234", "Accept-Language: de")}


def sent(web: FakeWeb, name: str) -> list[str]:
    return [dict(visit.headers).get(name, "") for visit in web.log]


def test_headers_go_to_the_seeds_origins_only(serve: Serve, crawl: CrawlIt) -> None:
    other = Site(fallback=lambda asked: html(asked.path))
    web = serve(here := Site({"/a": html("a")}), other)
    here.pages |= {"/": links("/a", "/go", web.url("/x", other)), "/go": redirect(web.url("/y", other))}
    crawl(web, scope="any", allow_private=True, **HEADERS)
    for visit in web.log:
        headers = dict(visit.headers)
        expected = (SECRET, "k-1234", "de") if visit.port == web.port(here) else (None, None, None)
        assert tuple(map(headers.get, ("authorization", "x-key", "accept-language"))) == expected, visit.path
    assert len({visit.port for visit in web.log}) == 2


def test_headers_do_not_follow_a_redirect_of_robots(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(here := Site({"/": html("x")}), other := Site({"/rules": robots("")}))
    here.pages["/robots.txt"] = redirect(web.url("/rules", other))
    crawl(web, allow_private=True, **HEADERS)
    there = [visit for visit in web.log if visit.port == web.port(other)]
    assert [visit.path for visit in there] == ["/rules"]
    assert "authorization" not in dict(there[0].headers)


def test_secrets_are_in_no_file(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(Site({"/": links("/a"), "/a": html("a")}))
    crawled = crawl(web, **HEADERS)
    requests = [content for kind, _, content in crawled.records() if kind == "request"]
    assert len(requests) == 3
    assert all(b"Authorization: [redacted]" in content and b"X-Key: [redacted]" in content for content in requests)
    crawled.database.close()
    for path in crawled.folder.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        assert b"open-sesame" not in data, path
        assert b"k-1234" not in data, path
    assert all(b"open-sesame" not in content for _, _, content in crawled.records())


def test_headers_at_the_next_start(serve: Serve, crawl: CrawlIt) -> None:
    """They are no part of the collection: they are given again, and go to the same origins."""
    web = serve(Site({"/": links("/a", "/b")}, lambda asked: html(asked.path)))
    crawl(web, max_urls=1, **HEADERS)
    crawl(base=web.origin(), max_urls=2)
    crawl(base=web.origin(), max_urls=3, **HEADERS)
    assert sent(web, "authorization") == [SECRET, SECRET, "", SECRET]


def test_user_info_is_nowhere(serve: Serve, crawl: CrawlIt) -> None:
    web = serve(site := Site({}, lambda asked: html(asked.path)))
    site.pages["/"] = links(f"http://user:hunter2@{web.origin().removeprefix('http://')}/x")
    crawled = crawl(web)
    assert crawled["/x"].is_done
    assert all("hunter2" not in str(visit.headers) for visit in web.log)
    assert crawled.select("SELECT count(*) FROM url WHERE url LIKE '%hunter2%'") == [(0,)]
