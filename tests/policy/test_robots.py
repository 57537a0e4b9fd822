"""robots.txt: Google's published cases, the same ground in cases of our own, cut and hostile files."""

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.robots import LIMIT, MAX_SITEMAPS, Meaning, cut, meaning, parse

CONFORMANCE = Path(__file__).resolve().parents[3] / "shared/data/conformance/robots-google.json"


def allowed(body: str | bytes, path: str, token: str = "FooBot") -> bool:
    return parse(body.encode() if isinstance(body, str) else body).group(token).match(path).allowed


def test_google_cases() -> None:
    if not CONFORMANCE.exists():
        pytest.skip("../shared is not here: Google's robots.txt cases can't be run")
    cases = json.loads(CONFORMANCE.read_text(encoding="utf-8"))
    wrong = [
        case
        for case in cases
        if allowed(case["robots"].encode("latin-1"), re.sub(r"^https?://[^/]*", "", case["url"]), case["ua"])
        is not case["allowed"]
    ]
    assert (len(cases), wrong) == (140, [])


@pytest.mark.parametrize(
    ("body", "path", "token", "expected"),
    [
        # lines
        ("user-agent: FooBot\ndisallow: /\n", "/x/y", "FooBot", False),
        ("user-agent: FooBot\ndisallow: /\n", "", "FooBot", False),
        ("foo: FooBot\nbar: /\n", "/x/y", "FooBot", True),
        ("user-agent FooBot\ndisallow /\n", "/x/y", "FooBot", False),
        ("user-agent: *\ndisallow this page or not /\n", "/x/y", "FooBot", True),
        ("USER-AGENT : FooBot\nDiSaLLoW\t:\t/a\n", "/a", "FooBot", False),
        ("useragent: *\ndissallow: /a\ndisalow: /b\n", "/b", "FooBot", False),
        ("user-agent: *\ndisallow: \nallow: \n", "/x", "FooBot", True),
        ("user-agent: *\ndisallow: relative\n", "/relative", "FooBot", True),
        ("user-agent: *\n# disallow: /\ndisallow: /quz#qux\n", "/quz", "FooBot", False),
        ("user-agent: *\n# disallow: /\ndisallow: /quz#qux\n", "/bar", "FooBot", True),
        # groups
        ("disallow: /\nuser-agent: FooBot\nallow: /x\n", "/y", "FooBot", True),
        ("user-agent: A\ndisallow: /x\nuser-agent: B\ndisallow: /y\nuser-agent: A\ndisallow: /z\n", "/z", "A", False),
        ("user-agent: A\ndisallow: /x\nuser-agent: B\ndisallow: /y\nuser-agent: A\ndisallow: /z\n", "/y", "A", True),
        ("user-agent: A\nuser-agent: B\ndisallow: /\n", "/", "A", False),
        ("user-agent: A\nunknown: x\n\nuser-agent: B\ndisallow: /\n", "/", "A", False),
        ("user-agent: A\nsitemap: http://x/\nuser-agent: B\ndisallow: /\n", "/", "A", False),
        ("user-agent: A\ncrawl-delay: 1\nuser-agent: B\ndisallow: /\n", "/", "A", False),
        ("user-agent: *\ndisallow: /\nuser-agent: FooBot\nallow: /\n", "/", "foobot", True),
        ("user-agent: *\ndisallow: /x\nuser-agent: FooBot\ndisallow: /y\n", "/x", "FooBot", True),
        ("user-agent: *\ndisallow: /x\nuser-agent: FooBot\ndisallow: /y\n", "/x", "Other", False),
        ("user-agent: FooBot/2.0 (all)\ndisallow: /\n", "/", "FooBot", False),
        ("user-agent: Foo Bar\ndisallow: /\n", "/", "Foo", False),
        ("user-agent: *\ndisallow: /\nuser-agent: Foo Bar\nallow: /\n", "/", "Foo Bar", False),
        ("user-agent: Foo\ndisallow: /\n", "/", "FooBot", True),
        ("user-agent: FooBot2\ndisallow: /\n", "/", "FooBot2", False),
        ("user-agent: Foo\ndisallow: /a\nuser-agent: Foo-Images\ndisallow: /b\n", "/a", "Foo-Images", True),
        ("user-agent: Foo\ndisallow: /a\nuser-agent: Foo-Images\ndisallow: /b\n", "/a", "Foo-News", False),
        ("user-agent: Foo\ndisallow: /a\nuser-agent: *\ndisallow: /b\n", "/b", "", False),
        # longest match
        ("user-agent: *\ndisallow: /x/page.html\nallow: /x/\n", "/x/page.html", "FooBot", False),
        ("user-agent: *\nallow: /x/page.html\ndisallow: /x/\n", "/x/page.html", "FooBot", True),
        ("user-agent: *\ndisallow: /x\nallow: /x\n", "/x", "FooBot", True),
        ("user-agent: *\nallow: /page\ndisallow: /*.html\n", "/page.html", "FooBot", False),
        ("user-agent: *\nallow: /x/page.\ndisallow: /*.html\n", "/x/page.html", "FooBot", True),
        ("user-agent: *\nallow: /$\ndisallow: /\n", "/", "FooBot", True),
        ("user-agent: *\nallow: /$\ndisallow: /\n", "/page.html", "FooBot", False),
        ("user-agent: *\ndisallow: /a\nallow: /ab\ndisallow: /abcd\n", "/abc", "FooBot", True),
        ("user-agent: *\ndisallow: /a\nallow: /ab\ndisallow: /abcd\n", "/abcde", "FooBot", False),
        ("user-agent: *\ndisallow: /a\nallow: /ab\ndisallow: /abcd\n", "/ac", "FooBot", False),
        # stars and dollars
        ("user-agent: *\ndisallow: /foo/*/qux\n", "/foo/bar/qux", "FooBot", False),
        ("user-agent: *\ndisallow: /foo/*/qux\n", "/foo/qux", "FooBot", True),
        ("user-agent: *\ndisallow: *.php\n", "/a.php5", "FooBot", False),
        ("user-agent: *\ndisallow: /*.php$\n", "/a.php5", "FooBot", True),
        ("user-agent: *\ndisallow: /*.php$\n", "/a.php.php", "FooBot", False),
        ("user-agent: *\ndisallow: /a*b$\n", "/ab", "FooBot", False),
        ("user-agent: *\ndisallow: /ab*b$\n", "/ab", "FooBot", True),
        ("user-agent: *\ndisallow: /a*$\n", "/abc", "FooBot", False),
        ("user-agent: *\ndisallow: /a$b\n", "/a$bc", "FooBot", False),
        ("user-agent: *\ndisallow: /a$b\n", "/a", "FooBot", True),
        ("user-agent: *\ndisallow: /**\n", "/", "FooBot", False),
        ("user-agent: *\ndisallow: *\n", "/", "FooBot", False),
        ("user-agent: *\ndisallow: $\n", "/", "FooBot", True),
        ("user-agent: *\ndisallow: /*?q=\n", "/find?q=1", "FooBot", False),
        ("user-agent: *\nallow: /d/index.html\ndisallow: /\n", "/d/", "FooBot", True),
        ("user-agent: *\nallow: /d/index.html\ndisallow: /\n", "/d/other", "FooBot", False),
        # percent-encoding
        ("user-agent: *\ndisallow: /ツ\n", "/%E3%83%84", "FooBot", False),
        ("user-agent: *\nallow: /%e3%83%84\ndisallow: /\n", "/%E3%83%84", "FooBot", True),
        ("user-agent: *\ndisallow: /%7Ejoe\n", "/~joe/", "FooBot", False),
        ("user-agent: *\ndisallow: /~joe\n", "/%7ejoe/", "FooBot", False),
        ("user-agent: *\ndisallow: /a%2fb\n", "/a%2Fb", "FooBot", False),
        ("user-agent: *\ndisallow: /a%2fb\n", "/a/b", "FooBot", True),
        ("user-agent: *\ndisallow: /a%2A$\n", "/a*", "FooBot", False),
        ("user-agent: *\ndisallow: /a b\n", "/a%20b", "FooBot", False),
        ("user-agent: *\nallow: /%62\ndisallow: /\n", "/b", "FooBot", False),
        ("user-agent: *\ndisallow: /%62%61%7A/x\nallow: /%62%61%7A\n", "/%62%61%7A/x", "FooBot", False),
        # always
        ("user-agent: *\ndisallow: /\n", "/robots.txt", "FooBot", True),
        ("user-agent: *\ndisallow: /\n", "/robots.txt?x", "FooBot", False),
        ("", "/", "FooBot", True),
    ],
)
def test_rules(body: str, path: str, token: str, expected: bool) -> None:
    assert allowed(body, path, token) is expected


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /private",
        b"User-agent: *\rDisallow: /private\r",
        b"User-agent: *\r\nDisallow: /private\r\n",
        b"User-agent: *\nDisal\0low: /pri\0vate\n",
        "User-agent: *\nDisallow: /private\n".encode("utf-16"),
        "User-agent: *\nDisallow: /private\n".encode("utf-16-be"),
        b"<html><body>\nUser-agent: *\n<p>\nDisallow: /private\n</html>",
        b"# caf\xe9\nUser-agent: *\nDisallow: /private\n",
    ],
)
def test_odd_bytes(body: bytes) -> None:
    assert not allowed(body, "/private")
    assert allowed(body, "/public")


def test_latin_1_rules_mean_the_characters() -> None:
    group = parse(b"User-agent: *\nDisallow: /caf\xe9\n").group("FooBot")
    assert [group.match(path).allowed for path in ("/caf%C3%A9", "/caf%E9", "/cafe")] == [False, False, True]
    assert group.match("/caf%E9").rule == "Disallow: /café"


def test_html_is_no_rules() -> None:
    assert allowed(b"<!DOCTYPE html><title>404</title><p>Disallow nothing, allow all of it", "/")


def test_the_deciding_line_is_shown_and_harmless() -> None:
    group = parse(b"User-agent: *\nDisallow: /x*\nDisallow: /\x1b[31m" + b"y" * 500 + b"\nAllow: /x/z\n").group(
        "FooBot"
    )
    assert group.match("/xy").rule == "Disallow: /x*"
    assert group.match("/x/z").rule == "Allow: /x/z"
    assert group.match("/other").rule == ""
    shown = group.match("/%1B[31m" + "y" * 500).rule
    assert shown.isprintable()
    assert len(shown) < 250


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("Crawl-delay: 2.5", 2.5),
        ("crawl-delay: .5 # half", 0.5),
        ("crawldelay: 3", 3.0),
        ("Crawl-delay: 0", 0.0),
        ("Crawl-delay: 2\nDisallow: /x\nUser-agent: FooBot\nCrawl-delay: 7", 7.0),
        ("Crawl-delay: -1", None),
        ("Crawl-delay: inf", None),
        ("Crawl-delay: nan", None),
        ("Crawl-delay: 1e9", None),
        ("Crawl-delay: " + "9" * 5000, None),
        ("Crawl-delay: soon", None),
        ("Crawl-delay:", None),
        ("Disallow: /", None),
    ],
)
def test_crawl_delay(lines: str, expected: float | None) -> None:
    assert parse(f"User-agent: FooBot\n{lines}\n".encode()).group("FooBot").crawl_delay == expected


def test_crawl_delay_of_others_is_not_ours() -> None:
    robots = parse(b"User-agent: *\nCrawl-delay: 9\nDisallow: /a\nUser-agent: FooBot\nDisallow: /b\n")
    assert (robots.group("FooBot").crawl_delay, robots.group("Other").crawl_delay) == (None, 9.0)


def test_sitemaps() -> None:
    body = (
        b"Sitemap: https://a.example/s.xml\nUser-agent: x\nSITE-MAP:/s2.xml\nDisallow: /\nSitemap: /s2.xml\nsitemap:\n"
    )
    assert parse(body).sitemaps == ("https://a.example/s.xml", "/s2.xml")
    assert len(parse(b"".join(b"Sitemap: /%d\n" % number for number in range(5000))).sitemaps) == MAX_SITEMAPS
    assert parse(b"Sitemap: /" + b"a" * 10_000).sitemaps == ()


class TestCut:
    """A file beyond the limit: nothing that a line split there forbids is opened."""

    @staticmethod
    def split(first_rule: bytes, last_line: bytes, read: int) -> bytes:
        """A file whose last line is cut by the limit after ``read`` bytes."""
        head = b"User-agent: *\n" + first_rule + b"\n"
        return head + b"#" * (LIMIT - len(head) - read - 1) + b"\n" + last_line

    @pytest.mark.parametrize("read", range(len("Disallow: /"), len("Disallow: /private/a%7Eb$c") + 1))
    def test_a_split_disallow_still_forbids(self, read: int) -> None:
        body = self.split(b"Allow: *", b"Disallow: /private/a%7Eb$c\nAllow: /private\n", read + 1)
        assert len(cut(body)) <= LIMIT
        assert not allowed(body, "/private/a~b$c")
        assert cut(cut(body)) == cut(body)

    @pytest.mark.parametrize("read", range(len("Allow: /private") + 1))
    def test_a_split_allow_opens_nothing(self, read: int) -> None:
        assert not allowed(self.split(b"Disallow: /", b"Allow: /private/one/page\n", read), "/private")

    @pytest.mark.parametrize("read", range(len("User-agent: Foo") + 1))
    def test_a_split_name_starts_no_group(self, read: int) -> None:
        assert not allowed(self.split(b"Disallow: /", b"User-agent: FooBot\nAllow: /\n", read), "/", "Foo")

    def test_a_split_empty_disallow_is_nothing(self) -> None:
        assert allowed(self.split(b"Allow: /x", b"Disallow: /", len(b"Disallow: ")), "/")

    def test_what_comes_later_is_ignored(self) -> None:
        assert allowed(self.split(b"", b"", 0) + b"\nDisallow: /", "/")

    def test_an_overlong_line_is_read_whole(self) -> None:
        path = "/" + "a" * 100_000
        assert not allowed(f"User-agent: *\nAllow: /\nDisallow: {path}\n", path + "b")
        assert allowed(f"User-agent: *\nDisallow: {path}\n", path[:-1])

    def test_a_short_file_stays(self) -> None:
        assert cut(b"Disallow: /x$") == b"Disallow: /x$"


HOSTILE = {
    "stars": (b"Disallow: /" + b"*a" * 30_000 + b"*b$", "/" + "a" * 8000),
    "half needles": (
        b"\n".join(b"Disallow: /*" + b"a" * 49 + b"b" + b"a" * (45 + n % 5) + b"%d" % n for n in range(600)),
        "/" + ("a" * 99 + "c") * 80,
    ),
    "prefixes": (b"\n".join(b"Disallow: /%x" % n for n in range(50_000)), "/g"),
    "nested prefixes": (b"\n".join(b"Disallow: /b" + b"a" * n for n in range(1000)), "/c" + "a" * 8000),
    "wildcards": (b"\n".join(b"Disallow: /x*%x" % n for n in range(50_000)), "/y" * 1000),
    "escapes": (b"\n".join(b"Disallow: /%%7e%x" % n for n in range(30_000)), "/%7e" + "%41" * 2000),
    "groups": (b"User-agent: *\nDisallow: /\n" * 20_000, "/"),
    "spaces": (b"Disallow" + b" " * 400_000, "/"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_cost_little(name: str) -> None:
    lines, path = HOSTILE[name]
    started = time.process_time()
    group = parse(b"User-agent: *\n" + lines).group("FooBot")
    assert group.match(path).allowed is (name != "groups")
    assert time.process_time() - started < 5  # a backtracking matcher would not end at all


def test_wildcards_beyond_the_budget_forbid_more_never_less() -> None:
    lines = [f"{verb}: /{number}/*x" for number in range(20_000) for verb in ("Disallow", "Allow")]
    group = parse("\n".join(["User-agent: *", *lines]).encode()).group("FooBot")
    assert group.match("/0/y").allowed
    assert group.match("/0/x").allowed
    assert group.match("/9999/y") == group.match("/9999/x")
    assert group.match("/9999/y").rule == "Disallow: /9999/*x (one of too many, read up to its first *)"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, Meaning.RULES),
        (204, Meaning.RULES),
        (301, Meaning.ASK_AGAIN),
        (401, Meaning.ALLOW_ALL),
        (403, Meaning.ALLOW_ALL),
        (404, Meaning.ALLOW_ALL),
        (410, Meaning.ALLOW_ALL),
        (429, Meaning.ASK_AGAIN),
        (500, Meaning.ASK_AGAIN),
        (503, Meaning.ASK_AGAIN),
        (999, Meaning.ASK_AGAIN),
        (0, Meaning.ASK_AGAIN),
        (None, Meaning.ASK_AGAIN),
    ],
)
def test_meaning_of_an_answer(status: int | None, expected: Meaning) -> None:
    assert meaning(status) is expected


PATTERNS = st.text("ab*$/", max_size=6).map("/".__add__)
RULES = st.lists(st.tuples(st.booleans(), PATTERNS), max_size=8)


def oracle(rules: list[tuple[bool, str]], path: str) -> bool:
    """RFC 9309, 2.2.2 and 2.2.3, word by word."""
    verdict = (0, True)
    for allow, pattern in rules:
        expression = ".*".join(map(re.escape, pattern.removesuffix("$").split("*")))
        if re.match(expression + (r"\Z" if pattern.endswith("$") else ""), path):
            verdict = max(verdict, (len(pattern), allow))
    return verdict[1]


@given(RULES, st.text("ab/", max_size=8).map("/".__add__))
def test_same_as_the_rfc_read_word_by_word(rules: list[tuple[bool, str]], path: str) -> None:
    body = "User-agent: *\n" + "".join(f"{'Allow' if allow else 'Disallow'}: {pattern}\n" for allow, pattern in rules)
    assert allowed(body, path) is oracle(rules, path)


@given(st.binary(max_size=300), st.text(max_size=60), st.text(max_size=12))
def test_nothing_raises(junk: bytes, path: str, token: str) -> None:
    for body in (junk, b"User-agent: *\nDisallow: " + junk, b"User-agent: " + junk):
        robots = parse(body)
        group = robots.group(token)
        assert group.match(path).rule.isprintable()
        assert group.crawl_delay is None or 0 <= group.crawl_delay < 1e9
