"""URLs: canonical forms, what people type, origins, domains, shards, fingerprints."""

import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer import url as urls
from gossamer.errors import UsageError
from gossamer.fetch.names import bare_name

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "conformance"


@pytest.mark.parametrize(
    ("text", "base", "expected"),
    [
        ("HTTP://EXAMPLE.org:80/a/../b?x=1#f", None, "http://example.org/b?x=1"),
        ("https://example.org", None, "https://example.org/"),
        ("https://example.org:443/", None, "https://example.org/"),
        ("http://example.org:8080", None, "http://example.org:8080/"),
        ("http://bücher.example/ü?ü", None, "http://xn--bcher-kva.example/%C3%BC?%C3%BC"),
        ("http://a/%7e%2f%41", None, "http://a/%7e%2f%41"),  # reserved characters and % are never decoded
        ("http://a/b?b=2&a=1", None, "http://a/b?b=2&a=1"),
        ("http://user:secret@a/b", None, "http://a/b"),
        ("http://user@a:81/b", None, "http://a:81/b"),
        ("http://[::1]:8080/x", None, "http://[::1]:8080/x"),
        ("http://0x7f.1/", None, "http://127.0.0.1/"),
        ("http://2130706433/", None, "http://127.0.0.1/"),
        ("../d?e#f", "http://a/b/c/x", "http://a/b/d?e"),
        ("///h/x", "http://a/b", "http://h/x"),
        ("\\\\h\\x", "https://a/b", "https://h/x"),
        ("http:/x", "http://a/b", "http://a/x"),
        ("http:x", "http://a/b/c", "http://a/b/x"),
        (" \n/x\t/y ", "http://a/", "http://a/x/y"),
        ("", "http://a/b?c", "http://a/b?c"),
        ("#f", "http://a/b?c", "http://a/b?c"),
        ("?q", "http://a/b?c", "http://a/b?q"),
    ],
)
def test_canonical(text: str, base: str | None, expected: str) -> None:
    assert urls.canonicalise(text, base) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "/x",
        "mailto:a@b.c",
        "javascript:alert(1)",
        "ftp://a/b",
        "file:///etc/passwd",
        "data:,x",
        "http://",
        "http://a b/",
        "http://a:99999/",
        "http://[::1",
        "http://host:80@evil.example/",  # refused, not guessed
        "http://host:80@evil.example:8080/",
        "http://a/" + "x" * urls.MAX_URL,
        "http://a\0b/",
    ],
)
def test_no_web_address(text: str) -> None:
    assert urls.canonicalise(text) is None


@given(st.text(max_size=200) | st.from_regex(r"https?://[^\n]{0,60}", fullmatch=True))
@example("http://a/\ud800")
@example("http://a/%")
def test_twice_changes_nothing(text: str) -> None:
    once = urls.canonicalise(text)
    if once is not None:
        assert urls.canonicalise(once) == once
        assert once.startswith(("http://", "https://"))
        assert "#" not in once
        assert "@" not in once.split("/")[2]
        assert once.isascii()
        assert once.isprintable()
        assert " " not in once
        assert urls.path_and_query(once).startswith("/")
        assert once == str(urls.origin(once)) + urls.path_and_query(once)


@given(st.text(max_size=60), st.text(max_size=60))
def test_joining_never_raises(href: str, page: str) -> None:
    urls.canonicalise(href, f"http://a.example/{page}")


DIRECTORIES = ("http://h/", "http://h//", "https://h:81/a/b/c.d/", "http://h/a//b/", "http://[::1]/x/")
PIECES = (*"ab./~-_%#?: @\n\\é'", "..", "../", "./", "//", "%2e", "%2E.", "%41", "http:", "x.html")


@given(st.sampled_from(DIRECTORIES), st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join))
@example("http://h/a/b/", "../../../c#x")
@example("http://h//", "../c")
@example("http://h/a/", "b/.%2e/c")
def test_plain_paths_are_joined_as_any_other(directory: str, href: str) -> None:
    joined = urls.join(directory, href)
    assert joined is None or href.startswith("#") or joined == urls.canonicalise(href, directory)


def test_most_links_are_plain_paths() -> None:
    assert urls.join("http://h/a/b/", "../c/d.html#e") == "http://h/a/c/d.html"
    assert urls.join("http://h/a/b/", "operator%3D(x).html") == "http://h/a/b/operator%3D(x).html"
    assert urls.join("file:///a/", "b.html") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DSENGG.COM/NCACT08", ("https://dsengg.com/NCACT08", True)),
        ("example.org", ("https://example.org/", True)),
        ("  example.org/a b  ", ("https://example.org/a%20b", True)),
        ("example.org:8080/x", ("https://example.org:8080/x", True)),
        ("localhost:8000", ("https://localhost:8000/", True)),
        ("127.0.0.1:8000/?u=http://x/", ("https://127.0.0.1:8000/?u=http://x/", True)),
        ("//example.org/x", ("https://example.org/x", True)),
        ("http://example.org", ("http://example.org/", False)),
        ("HTTPS://Example.org/#top", ("https://example.org/", False)),
        ("http:/example.org/", ("http://example.org/", False)),  # as browsers read it
    ],
)
def test_typed(text: str, expected: tuple[str, bool]) -> None:
    assert urls.typed(text) == expected


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "empty"),
        (" \t", "empty"),
        ("ftp://example.org/", "'ftp'"),
        ("mailto:a@b.c", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("file:///etc/passwd", "'file'"),
        ("http://", "not a web address"),
        ("https://exa mple.org/", "not a web address"),
        ("http://host:80@evil.example/", "not a web address"),
    ],
)
def test_typed_and_no_address(text: str, named: str) -> None:
    with pytest.raises(UsageError, match=named) as caught:
        urls.typed(text)
    assert caught.value.hint


@given(st.text(max_size=80))
def test_what_is_typed_is_an_address_or_an_error(text: str) -> None:
    try:
        url, _ = urls.typed(text)
    except UsageError as error:
        assert "\n" not in repr(error.message)
    else:
        assert urls.canonicalise(url) == url


def test_origin() -> None:
    assert str(urls.origin("http://a.example/b")) == "http://a.example"
    assert str(urls.origin("https://a.example:444/b")) == "https://a.example:444"
    assert urls.origin("https://a.example/").port == 443
    assert urls.origin("http://[::1]:81/").hostname == "[::1]"
    assert urls.origin("http://a.example:81/").host == "a.example:81"
    assert urls.origin("https://a.example/").host == "a.example"
    assert urls.origin("http://a.example/x?y=http://b/z") == urls.Origin("http", "a.example", 80)


@pytest.mark.parametrize(
    ("hostname", "domain"),
    [
        ("www.example.org", "example.org"),
        ("example.org", "example.org"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("someone.github.io", "someone.github.io"),
        ("www.someone.github.io", "someone.github.io"),
        ("www.example.org.", "example.org"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("localhost", "localhost"),
        ("co.uk", "co.uk"),
    ],
)
def test_registrable_domain(hostname: str, domain: str) -> None:
    assert urls.registrable_domain(hostname) == domain


def test_hosts_of_a_domain_share_a_shard() -> None:
    assert urls.shard("a.example.org") == urls.shard("b.example.org")
    assert 0 <= urls.shard("example.org") < urls.SHARDS
    assert len({urls.shard(f"example{n}.org") for n in range(1000)}) > 800  # spread


def test_fingerprints_are_keyed() -> None:
    one, other = urls.fingerprint("http://a/", b"x"), urls.fingerprint("http://a/", b"y")
    assert len(one) == 8
    assert one != other
    assert one == urls.fingerprint("http://a/", b"x")
    assert urls.weaken(one) != one
    assert urls.weaken(urls.weaken(one)) == one


def test_public_suffix_cases() -> None:
    """All 78 of publicsuffix.org. None: a suffix itself, or what is no name in DNS (".example") and never asked for."""
    path = SHARED / "public-suffix.txt"
    if not path.exists():
        pytest.skip("../shared is not here: the cases of publicsuffix.org can't be read")
    text = path.read_text(encoding="utf-8")
    cases = re.findall(r"^checkPublicSuffix\((?:null|'([^']*)'), (?:null|'([^']*)')\);", text, re.MULTILINE)
    assert len(cases) == 78
    assert [case for case in cases if _registrable(case[0]) != (_hostname(case[1]) if case[1] else None)] == []


def _hostname(name: str) -> str | None:
    url = urls.canonicalise(f"http://{name}/")
    return None if url is None else urls.origin(url).hostname


def _registrable(name: str) -> str | None:
    host = _hostname(name)
    if host is None or urls.is_public_suffix(host) or bare_name(host) is None:
        return None
    return urls.registrable_domain(host)


@pytest.mark.parametrize(
    ("name", "domain"),
    [
        ("example.COM", "example.com"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("co.uk", None),
        ("a.b.unlisted", "b.unlisted"),
        ("unlisted", None),
        ("www.ck", "www.ck"),
        ("b.test.ck", "b.test.ck"),
        ("test.ck", None),
        ("x.github.io", "x.github.io"),
        ("www.食狮.公司.cn", "xn--85x722f.xn--55qx5d.cn"),
        (".example.com", None),
    ],
)
def test_public_suffixes(name: str, domain: str | None) -> None:
    assert _registrable(name) == domain


def _whatwg() -> list[dict[str, object]]:
    path = SHARED / "url-whatwg.json"
    if not path.exists():
        pytest.skip("../shared is not here: the WHATWG cases can't be read")
    return [case for case in json.loads(path.read_text(encoding="utf-8")) if isinstance(case, dict)]


def test_whatwg_cases() -> None:
    """All 891 of web-platform-tests: an http(s) URL is what browsers make of it, less fragment and user info."""
    cases = _whatwg()
    wrong = [case for case in cases if not _agrees(case)]
    assert len(cases) == 891
    assert wrong == []


def _agrees(case: dict[str, object]) -> bool:
    base = case.get("base")
    found = urls.canonicalise(str(case["input"]), str(base) if base is not None else None)
    if case.get("failure") or not str(case["href"]).startswith(("http:", "https:")):
        return found is None
    href = str(case["href"]).partition("#")[0]
    if "@" in urlsplit(href).netloc:
        refused = found is None
        return refused or found == href.replace(urlsplit(href).netloc.rpartition("@")[0] + "@", "", 1)
    return found == href
