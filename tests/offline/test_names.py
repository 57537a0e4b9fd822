"""The names of files in the copy: different for different URLs on every file system, and never outside of it."""

import unicodedata
from collections.abc import Sequence
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.offline import names
from gossamer.offline.extensions import EXTENSIONS, KNOWN, extensions_of
from gossamer.offline.names import MAX_PATH, MAX_SEGMENT, OWN, Form, name_of, table_of
from gossamer.url import canonicalise

A = "https://a.test"
HTML = "text/html"


def name(path: str, content_type: str = HTML) -> str:
    return name_of(f"{A}{path}", content_type)


@pytest.mark.parametrize(
    ("path", "content_type", "expected"),
    [
        ("/", HTML, "a.test/index.html"),
        ("/index.html", HTML, "a.test/index~i.html"),
        ("/index", HTML, "a.test/index~.html"),
        ("/a", HTML, "a.test/a~.html"),
        ("/a.html", HTML, "a.test/a.html"),
        ("/a.htm", HTML, "a.test/a.htm"),
        ("/a/", HTML, "a.test/a/index.html"),
        ("/a/b.css", "text/css", "a.test/a/b.css"),
        ("/a.html/b.png", "image/png", "a.test/a.html~d/b.png"),
        ("/v3.11/b.png", "image/png", "a.test/v3.11/b.png"),
        ("/page.php", HTML, "a.test/page.php~.html"),
        ("/README.txt", "text/plain", "a.test/README~c3f.txt"),
        ("/Docs/x.JPG", "image/jpeg", "a.test/Docs~c1/x~c1c.jpg"),
        ("/archive.tar.gz", "application/gzip", "a.test/archive.tar.gz"),
        ("/setup.token", "application/x-strange", "a.test/setup.token~.bin"),
        ("/a%20b/%E5%A4%A7.html", HTML, "a.test/a b/大.html"),
        ("/data", "application/json", "a.test/data~.json"),
        ("/a.html", "text/plain", "a.test/a.html~.txt"),
        ("/font.woff2", "application/octet-stream", "a.test/font.woff2"),
        ("/evil.html", "application/octet-stream", "a.test/evil.html~.bin"),
    ],
)
def test_names_are_like_the_urls(path: str, content_type: str, expected: str) -> None:
    assert name(path, content_type) == expected


def test_hosts_schemes_and_ports_are_folders() -> None:
    urls = ["https://a.test/", "http://a.test/", "http://a.test:8080/", "https://a.test:8443/", "http://[::1]:1/"]
    assert [name_of(url, HTML).split("/")[0] for url in urls[:4]] == [
        "a.test",
        "a.test_80",
        "a.test_8080",
        "a.test_8443",
    ]
    assert len({name_of(url, HTML) for url in urls}) == len(urls)


SIMILAR = (
    *("/", "/?", "/index.html", "/index.html?", "/index", "/INDEX.html", "/Index", "/index.htm", "/index~i.html"),
    *("/index~.html", "/index~", "//", "/%20", "/%2F", "/a", "/A", "/a/", "/A/", "/a.html", "/a.HTML", "/A.html"),
    *("/a/b", "/a/B", "/a.html/b", "/a.html~d/b", "/a~", "/a~.html", "/a~~.html", "/x%2Fy", "/x%2fy", "/x/y", "/x_y"),
    *("/?a=1&b=2", "/?b=2&a=1", "/?A=1", "/a?b", "/a%3Fb", "/a.html?b", "/a%23b", "/a%25b", "/a%b", "/%61", "/a."),
    *("/a%20", "/a%2E%2E%2Fb", "/nul", "/NUL", "/nul.html", "/com1", "/con/x", "/_nul", "/aux.txt/x", "/a:b", "/a%3Ab"),
    *("/a|b", "/a%7Cb", '/a"b', "/a<b", "/a*b", "/a\\b", "/a%5Cb", "/...", "/.a", "/%C3%A9", "/%c3%a9", "/e%CC%81"),
    *("/%C3%89", "/stra%C3%9Fe", "/strasse", "/%E2%84%AA", "/k", "/K", "/%C4%B1", "/i", "/I", "/%FF", "/%EF%BF%BD"),
    *("/a.q-0123456789ab.html", "/a~c1.html", "/a~x0123456789ab.html", "/%E2%80%8B", "/a%E2%80%8B", "/a%00", "/a%0A"),
    *(f"/{'l' * 300}", f"/{'l' * 301}", f"/{'l' * 300}?q", f"/{'l' * 300}/a", f"/{'l' * 301}/a", f"/{'大' * 100}"),
    *("/" + "d/" * 900, "/" + "d/" * 901, "/" + "D/" * 900),
)


def key(path: str) -> str:
    """What a file system sees that is blind to case, to ways of writing accents, and to dots at the end."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).upper().casefold())
    return "/".join(segment.rstrip(". ") for segment in folded.split("/"))


def assert_different_and_safe(paths: Sequence[str]) -> None:
    keys = [key(path) for path in paths]
    assert len(set(keys)) == len(keys)
    files = set(keys)
    for path in keys:
        parts = path.split("/")
        for depth in range(1, len(parts)):
            assert "/".join(parts[:depth]) not in files, "a file stands where a folder has to"
    for path in paths:
        assert len(path.encode()) <= MAX_PATH
        for segment in path.split("/"):
            assert segment not in ("", ".", "..")
            assert len(segment.encode()) <= MAX_SEGMENT
            assert segment[-1] not in ". "
            assert not set(segment) & set('?%#:*"<>|\\\0')
            assert segment == unicodedata.normalize("NFC", segment)
            assert segment.split(".")[0].strip().lower() not in ("con", "nul", "aux", "prn", "com1", "lpt1")
            assert not any(unicodedata.category(each)[0] == "C" for each in segment)
        assert path.split("/")[0] not in OWN
        assert path.rpartition(".")[2] in KNOWN


@pytest.mark.parametrize("ascii_only", [False, True])
def test_what_is_similar_stays_apart(ascii_only: bool) -> None:
    urls = [canonicalise(f"http://a.test{path}") for path in SIMILAR]
    hosts = [
        f"http://{host}/"
        for host in ("index.html", "search.html", "_gossamer", "nul", "a_80", "a", "a_80:81", "a.", "a..b")
    ]
    wanted = [url for url in dict.fromkeys((*urls, *map(canonicalise, hosts))) if url]
    found = table_of([(url, HTML) for url in wanted], ascii_only=ascii_only)
    assert_different_and_safe(list(found.values()))
    assert found == {url: name_of(url, HTML, Form(ascii_only)) for url in wanted}
    if ascii_only:
        assert all(path.isascii() for path in found.values())


_letters = st.text(
    st.sampled_from("aAbBiIıİſsSßẞéÉe\u0301ñ大~.-_ %?#:*|<>\\\"'&;=+/0123cdpqx\u200d\0\n\u00a0"), max_size=12
)
_segments = st.one_of(
    _letters,
    st.sampled_from(
        ["index", "index.html", "a", "A", "con", "..", ".", "~d", "~i", "~c1", "a.html", "a.PNG", "%2e", "%2F"]
    ),
)
_paths = st.builds(
    lambda segments, query: "/" + "/".join(segments) + ("" if query is None else f"?{query}"),
    st.lists(_segments, max_size=4),
    st.none() | _letters,
)
_origins = st.sampled_from(["http://a.test", "https://a.test", "http://A.test:8000", "http://b_80", "http://[::1]"])
_types = st.sampled_from([*EXTENSIONS, "", "x/y"])


@given(st.lists(st.tuples(_origins, _paths, _types), max_size=40))
@example([("http://a.test", "/x.js", "text/plain"), ("http://a.test", "/x.js/", "text/javascript")])
def test_different_urls_have_different_names(drawn: list[tuple[str, str, str]]) -> None:
    given = {url: kind for start, path, kind in drawn if (url := canonicalise(start + path))}
    found = table_of(given.items())
    assert_different_and_safe(list(found.values()))


@given(st.lists(st.tuples(_paths, _types), max_size=20), st.randoms())
def test_a_name_hangs_on_nothing_else(drawn: list[tuple[str, str]], random: Random) -> None:
    given = {url: kind for path, kind in drawn if (url := canonicalise(f"http://a.test{path}"))}
    shuffled = list(given.items())
    random.shuffle(shuffled)
    assert table_of(shuffled) == table_of(given.items())
    assert table_of(given.items()) == {url: name_of(url, kind) for url, kind in given.items()}


@given(st.text(max_size=300))
def test_whatever_a_strangers_collection_calls_a_url_stays_inside(text: str) -> None:
    path = name_of(f"http://a.test/{text}", HTML)
    assert_different_and_safe([path])


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/..%2f..%2fetc", "/%2e%2e/x", "//..//x", "/a/../../b", "/\\..\\b"]
)
def test_nothing_leads_out(path: str) -> None:
    assert_different_and_safe([name_of(f"http://a.test{path}", HTML)])


def test_where_digests_are_equal_names_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "DIGITS", 1)
    monkeypatch.setattr(names.Form.__init__, "__defaults__", (False, 1))
    urls = [f"{A}/?{number}" for number in range(40)]
    found = table_of([(url, HTML) for url in urls])
    assert_different_and_safe(list(found.values()))
    assert found == table_of([(url, HTML) for url in reversed(urls)])
    both = table_of([("http://a.test:1/", HTML), ("https://a.test:1/", HTML)])
    assert_different_and_safe(list(both.values()))


def test_every_type_has_an_extension() -> None:
    assert all(extensions_of(kind)[0] in KNOWN for kind in (*EXTENSIONS, "", "nobody/knows"))
    assert all(each == each.lower() for each in KNOWN)
