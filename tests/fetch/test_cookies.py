"""Cookies: the rules of browsers, the public cases, floods, and what is bound to whom."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer import url as urls
from gossamer.fetch.cookies import MAX_COOKIES, MAX_HEADER, MAX_PER_DOMAIN, CookieJar
from gossamer.fetch.set_cookie import MAX_AGE, MAX_SIZE, Cookie, cookie_date

CASES = Path(__file__).resolve().parents[2] / "../shared/data/conformance/cookies.json"
NOW = 1_800_000_000.0
PAGE = "https://www.example.org/shop/list?x=1"


def jar_with(*headers: str, url: str = PAGE, now: float = NOW) -> CookieJar:
    jar = CookieJar()
    jar.take(url, tuple(("set-cookie", header) for header in headers), now)
    return jar


def sent(*headers: str, by: str = PAGE, to: str = PAGE, now: float = NOW) -> str:
    """What goes to one URL after another set some cookies."""
    return jar_with(*headers, url=by).header(to, now)


# --- the public cases

DIFFERENT = {
    "DISABLED_CHROMIUM0022": "a NUL ends the cookie there; RFC 6265bis, section 5.6, step 1, has it ignored, as we do",
    "DISABLED_CHROMIUM0023": "a CR ends the cookie there; the same",
    "DISABLED_PATH0029": "%6F and o are one in paths there; to RFC 6265bis, section 5.1.4, and to PATH0028 they are two",
}
"""Cases that we do not follow; the suite itself has switched them off."""


def cases() -> list[dict[str, Any]]:
    if not CASES.exists():
        return []
    found: list[dict[str, Any]] = json.loads(CASES.read_text(encoding="utf-8"))
    return found


def outcome(case: dict[str, Any]) -> str:
    base = urls.canonicalise(f"http://home.example.org:8888/cookie-parser?{case['test']}")
    to = urls.canonicalise(case.get("sent-to", f"/cookie-parser-result?{case['test']}"), base)
    assert base is not None
    assert to is not None
    received = (text.encode().decode("latin-1") for text in case["received"])
    return sent(*received, by=base, to=to, now=NOW).encode("latin-1").decode()


def test_the_public_cases() -> None:
    """222 of the http-state suite: libcurl's engine does as 206 say, http.cookiejar as 180."""
    if not cases():
        pytest.skip("../shared is not here: the cases of the http-state suite are in it")
    wanted = {
        case["test"]: "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in case["sent"]) for case in cases()
    }
    failed = {case["test"] for case in cases() if outcome(case) != wanted[case["test"]]}
    assert len(wanted) == 222
    assert failed == DIFFERENT.keys()


# --- name and value


@pytest.mark.parametrize(
    ("header", "cookie"),
    [
        ("a=b", "a=b"),
        ("  a  =  b  ; Path=/", "a=b"),
        ('a="b c"', 'a="b c"'),
        ("a=b=c", "a=b=c"),
        ("a=", "a="),
        ("a=b, c=d", "a=b, c=d"),
        ("a=\xe9\xff", "a=\xe9\xff"),
        ("a", ""),
        ("=b", ""),
        ("", ""),
        ("a=b\x00c", ""),
        ("a=b\x7f", ""),
        ("a\x0b=b", ""),
        ("a=b\tc", "a=b\tc"),
    ],
)
def test_names_and_values(header: str, cookie: str) -> None:
    assert sent(header) == cookie


def test_a_cookie_has_a_size() -> None:
    assert sent("a=" + "b" * (MAX_SIZE - 1))
    assert not sent("a=" + "b" * MAX_SIZE)
    assert sent("a=b; Path=/" + "x" * 2000) == "a=b", "an attribute that is too long is none"


def test_setting_again_changes_the_value_and_keeps_the_place() -> None:
    assert sent("a=1", "b=2", "a=3") == "a=3; b=2"


# --- whom it is for


@pytest.mark.parametrize(
    ("domain", "host", "goes"),
    [
        ("", "www.example.org", True),
        ("", "sub.www.example.org", False),
        ("", "example.org", False),
        ("Domain=example.org", "example.org", True),
        ("Domain=.example.org", "other.example.org", True),
        ("DOMAIN=EXAMPLE.ORG", "other.example.org", True),
        ("Domain=example.org", "badexample.org", False),
        ("Domain=example.org", "example.org.evil.test", False),
        ("Domain=www.example.org", "sub.www.example.org", True),
        ("Domain=www.example.org", "example.org", False),
        ("Domain=evil.test", "evil.test", False),
        ("Domain=evil.test", "www.example.org", False),
        ("Domain=sub.www.example.org", "sub.www.example.org", False),
        ("Domain=org", "example.org", False),
        ("Domain=example.org.", "www.example.org", False),
        ("Domain=org.", "www.example.org", False),
        ("Domain=", "www.example.org", True),
    ],
)
def test_domains(domain: str, host: str, goes: bool) -> None:
    assert bool(sent(f"a=b; Path=/; {domain}", to=f"https://{host}/")) is goes


@pytest.mark.parametrize(
    ("host", "suffix"),
    [
        ("shop.co.uk", "co.uk"),
        ("me.github.io", "github.io"),  # a private one
        ("www.shop.co.uk", "CO.UK"),
        ("me.github.io.", "github.io."),
        ("me.github.io.", "github.io"),
        ("x.unheard-of", "unheard-of"),
        ("www.city.kawasaki.jp", "kawasaki.jp"),
    ],
)
def test_nobody_sets_cookies_for_all_who_share_a_suffix(host: str, suffix: str) -> None:
    assert not sent(f"a=b; Domain={suffix}", by=f"https://{host}/", to=f"https://{host}/")


@pytest.mark.parametrize("host", ["github.io", "localhost", "127.0.0.1", "[::1]"])
def test_a_suffix_or_an_address_has_cookies_of_its_own(host: str) -> None:
    jar = jar_with(f"a=b; Domain={host}", "c=d", url=f"http://{host}/")
    assert jar.header(f"http://{host}/", NOW) == "a=b; c=d"
    assert not jar.header("http://me.github.io/", NOW)


@pytest.mark.parametrize("domain", ["0.0.1", ".0.0.1", "1", "127.0.0.2"])
def test_addresses_have_no_parents(domain: str) -> None:
    assert not sent(f"a=b; Domain={domain}", by="http://127.0.0.1/", to="http://127.0.0.1/")


def test_ports_share_no_cookies_but_the_schemes_own_do() -> None:
    """A redirect to another port is one to another origin; http and https are mostly the same site."""
    assert sent("a=b", by="https://example.org:8443/", to="https://example.org:8443/x") == "a=b"
    assert sent("a=b", by="https://example.org:8443/", to="https://example.org/") == ""
    assert sent("a=b", by="https://example.org:8443/", to="http://example.org:81/") == ""
    assert sent("a=b; Domain=example.org", by="https://example.org:8443/", to="https://www.example.org/") == ""
    assert sent("a=b", by="http://example.org/", to="https://example.org/") == "a=b"
    assert sent("a=b", by="http://example.org/", to="http://example.org:443/") == ""
    jar = jar_with("a=1", url="http://example.org:81/")
    jar.take("http://example.org:82/", (("set-cookie", "a=2"),), NOW)
    assert [jar.header(f"http://example.org:{port}/", NOW) for port in (81, 82, 83)] == ["a=1", "a=2", ""]


def test_a_cookie_of_a_file_is_for_any_port_until_a_server_sets_it() -> None:
    """Files of cookies know no ports."""
    brought = Cookie("a", "1", "example.org", True, "/")
    jar = CookieJar([brought])
    assert [jar.header(f"http://example.org:{port}/", NOW) for port in (80, 81)] == ["a=1", "a=1"]
    jar.take("http://example.org:81/", (("set-cookie", "a=2; Path=/"),), NOW)
    assert [jar.header(f"http://example.org:{port}/", NOW) for port in (80, 81)] == ["", "a=2"]
    jar = CookieJar([brought])
    jar.take("http://example.org:81/", (("set-cookie", "a=; Path=/; Max-Age=0"),), NOW)
    assert len(jar) == 0


@pytest.mark.parametrize(
    ("path", "asked", "goes"),
    [
        ("", "/shop/other", True),
        ("", "/shop", True),  # the default path is /shop
        ("", "/", False),
        ("/shop", "/shop/", True),
        ("/shop", "/shopping", False),
        ("/shop/", "/shop", False),
        ("/", "/anything", True),
        ("no-slash", "/shop/x", True),
        ("/SHOP", "/shop/x", False),
    ],
)
def test_paths(path: str, asked: str, goes: bool) -> None:
    assert bool(sent(f"a=b; Path={path}", to=f"https://www.example.org{asked}")) is goes


def test_the_longest_path_comes_first() -> None:
    assert sent("a=1; Path=/", "b=2; Path=/shop", "c=3; Path=/") == "b=2; a=1; c=3"


# --- secure


def test_secure_cookies_stay_on_secure_roads() -> None:
    assert sent("a=b; Secure; Path=/", to="https://www.example.org/") == "a=b"
    assert not sent("a=b; Secure; Path=/", to="http://www.example.org/")
    assert not sent("a=b; Secure", by="http://www.example.org/", to="https://www.example.org/")


def test_an_open_road_hides_no_secure_cookie() -> None:
    jar = jar_with("a=good; Secure; Path=/login; Domain=example.org", "z=1; Path=/")
    plain = "http://www.example.org/login/x"
    for header in ("a=evil", "a=evil; Path=/login; Domain=example.org", "a=evil; Path=/login/x"):
        jar.take(plain, (("set-cookie", header),), NOW)
    assert jar.header("https://www.example.org/login/x", NOW) == "a=good; z=1"
    jar.take(plain, (("set-cookie", "a=other; Path=/"),), NOW)
    assert jar.header("https://www.example.org/", NOW) == "z=1; a=other", "a path above it hides nothing"


@pytest.mark.parametrize(
    ("header", "is_taken"),
    [
        ("__Secure-a=b; Secure", True),
        ("__Secure-a=b", False),
        ("__SECURE-a=b", False),
        ("__Host-a=b; Secure; Path=/", True),
        ("__Host-a=b; Secure", False),
        ("__Host-a=b; Path=/", False),
        ("__hOsT-a=b; Secure; Path=/; Domain=www.example.org", False),
    ],
)
def test_prefixes_promise(header: str, is_taken: bool) -> None:
    assert bool(sent(header)) is is_taken


# --- time


@pytest.mark.parametrize(
    ("attribute", "life"),
    [
        ("Max-Age=60", 60),
        ("Max-Age=0", 0),
        ("Max-Age=-5", 0),
        ("Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", 60),
        ("Expires=Fri, 15 Jan 2027 08:01:00 GMT", 60),
        ("Expires=Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("Max-Age=99999999999999999999", MAX_AGE),
        ("Expires=Fri, 31 Dec 9999 23:59:59 GMT", MAX_AGE),
    ],
)
def test_how_long_it_lives(attribute: str, life: float) -> None:
    jar = jar_with(f"a=b; {attribute}")
    assert bool(jar.header(PAGE, NOW)) is (life > 0)
    if life:
        assert jar.header(PAGE, NOW + life - 1)
    assert not jar.header(PAGE, NOW + life)


@pytest.mark.parametrize("attribute", ["", "Max-Age=soon", "Max-Age=50,399", "Expires=tomorrow", "Max-Age="])
def test_without_a_time_it_lives_as_long_as_the_session(attribute: str) -> None:
    assert jar_with(f"a=b; {attribute}").header(PAGE, NOW + 10 * MAX_AGE)


def test_one_that_is_over_takes_the_old_one_away() -> None:
    assert sent("a=b", "c=d", "a=; Max-Age=0") == "c=d"


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("Wed, 09 Jun 2021 10:18:14 GMT", (2021, 6, 9, 10, 18, 14)),
        ("Wednesday, 09-Jun-21 10:18:14 GMT", (2021, 6, 9, 10, 18, 14)),
        ("Wed Jun  9 10:18:14 2021", (2021, 6, 9, 10, 18, 14)),
        ("2021 june 9 10:18:14", (2021, 6, 9, 10, 18, 14)),
        ("09 Jun 70 1:2:3", (1970, 6, 9, 1, 2, 3)),
        ("09 Jun 69 1:2:3", (2069, 6, 9, 1, 2, 3)),
        ("31 Feb 2021 10:18:14", None),
        ("09 Jun 2021 24:00:00", None),
        ("09 Jun 2021", None),
        ("09 Jun 1600 10:18:14", None),
        ("10:18:14", None),
        ("", None),
    ],
)
def test_dates(text: str, date: tuple[int, int, int, int, int, int] | None) -> None:
    assert cookie_date(text) == (None if date is None else datetime(*date, tzinfo=UTC).timestamp())


# --- floods


def test_a_flood_drowns_its_own_domain_only() -> None:
    jar = jar_with("mine=1; Path=/", url="https://example.net/")
    for number in range(3 * MAX_PER_DOMAIN):
        jar.take(f"https://h{number % 7}.example.org/", (("set-cookie", f"c{number}=x; Domain=example.org"),), NOW)
    assert len(jar) == MAX_PER_DOMAIN + 1
    assert jar.header("https://example.net/", NOW) == "mine=1"
    assert jar.header("https://example.org/", NOW).startswith(f"c{2 * MAX_PER_DOMAIN}=x; ")


def test_many_domains_are_bounded_and_those_in_use_stay() -> None:
    jar = jar_with("mine=1", url="https://example.net/")
    for number in range(MAX_COOKIES // MAX_PER_DOMAIN + 50):
        headers = tuple(("set-cookie", f"c{each}=x") for each in range(MAX_PER_DOMAIN))
        jar.take(f"https://site{number}.test/", headers, NOW)
        assert jar.header("https://example.net/", NOW) == "mine=1"
    assert len(jar) <= MAX_COOKIES
    assert not jar.header("https://site0.test/", NOW)


def test_the_header_has_a_size() -> None:
    jar = jar_with(*(f"c{number}={'x' * 1000}; Path=/" for number in range(20)), "first=1; Path=/shop")
    header = jar.header(PAGE, NOW)
    assert MAX_HEADER - 1100 < len(header) <= MAX_HEADER
    assert header.startswith("first=1; c0=")


def test_a_jar_that_takes_nothing_sends_what_it_was_given() -> None:
    jar = CookieJar(jar_with("a=b"), takes=False)
    jar.take(PAGE, (("set-cookie", "c=d"),), NOW)
    assert jar.header(PAGE, NOW) == "a=b"


def test_a_value_shows_nowhere() -> None:
    assert "hunter2" not in repr(list(jar_with("a=hunter2")))


_PIECES = st.sampled_from(
    ("a", "b", "=", ";", " ", "\t", "\x00", '"', ",", ".", "/", "9", "-", "\xff", "org", "[::1]", "example.org")
) | st.sampled_from(("Domain=", "Path=", "Max-Age=", "Expires=", "Jun", "10:18:14", "2021", "Secure", "__Host-"))


@given(st.lists(st.lists(_PIECES, max_size=12).map("".join), max_size=8))
def test_whatever_comes_goes_to_its_own_site_as_one_clean_line(headers: list[str]) -> None:
    jar = jar_with(*headers)
    for to in (
        "https://evil.test/",
        "https://org/",
        "https://notexample.org/shop/list",
        "https://example.org.evil.test/",
    ):
        assert not jar.header(to, NOW)
    line = jar.header(PAGE, NOW)
    assert not any(character in line for character in "\r\n\x00")
    assert len(line) <= MAX_HEADER
    assert jar.header(PAGE, NOW) == line
