"""Scope: which URLs belong to the crawl, and the words that say why not."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import SettingsError
from gossamer.policy.scope import EXTENTS, REASONS, Scope
from gossamer.records import Candidate, Decision, Kind, Verdict, Via
from gossamer.settings import Settings
from gossamer.url import canonicalise

SEED = "https://docs.example.org/guide/start.html"


def judge(
    url: str, *, via: Via = Via.ANCHOR, depth: int = 1, nofollow: bool = False, scope: Scope | None = None
) -> Verdict:
    return (scope or Scope((SEED,))).judge(Candidate(url, via, depth, nofollow=nofollow))


def reason(url: str, scope: Scope, **about: int) -> str:
    return scope.judge(Candidate(url, Via.ANCHOR, about.get("depth", 1))).reason


@pytest.mark.parametrize(
    ("extent", "url", "expected"),
    [
        ("page", SEED, ""),
        ("page", "https://docs.example.org/guide/", "out of scope: not one of the given pages"),
        ("page", "https://example.org/", "out of scope: another host"),
        ("prefix", "https://docs.example.org/guide/", ""),
        ("prefix", "http://docs.example.org/guide/a/b?x=/", ""),
        ("prefix", "https://docs.example.org/guide", "out of scope: not under docs.example.org/guide/"),
        ("prefix", "https://docs.example.org/other?/guide/", "out of scope: not under docs.example.org/guide/"),
        ("prefix", "https://docs.example.org:8443/guide/", "out of scope: another host"),
        ("host", "http://docs.example.org/", ""),
        ("host", "https://docs.example.org/other", ""),
        ("host", "https://docs.example.org:8443/", "out of scope: another host"),
        ("host", "https://www.example.org/", "out of scope: another host"),
        ("host", "https://docs.example.org.evil.net/", "out of scope: another host"),
        ("domain", "https://www.example.org:8443/", ""),
        ("domain", "https://example.org/", ""),
        ("domain", "https://notexample.org/", "out of scope: another domain"),
        ("domain", "https://example.com/", "out of scope: another domain"),
        ("any", "https://example.com/", ""),
    ],
)
def test_extent(extent: str, url: str, expected: str) -> None:
    verdict = judge(url, scope=Scope((SEED,), extent))
    assert verdict.reason == expected
    assert verdict.decision is (Decision.REFUSE if expected else Decision.ADMIT)


def test_public_suffixes_are_no_domain() -> None:
    scope = Scope(("https://a.github.io/",), "domain")
    assert judge("https://b.github.io/", scope=scope).decision is Decision.REFUSE


def test_addresses_and_ports_are_hosts() -> None:
    scope = Scope(("http://127.0.0.1:8001/", "http://[::1]:8002/"))
    assert judge("http://127.0.0.1:8001/x", scope=scope).decision is Decision.ADMIT
    assert judge("http://[::1]:8002/x", scope=scope).decision is Decision.ADMIT
    assert judge("http://127.0.0.1:8002/x", scope=scope).decision is Decision.REFUSE
    assert judge("http://127.0.0.2:8001/x", scope=Scope(scope.seeds, "domain")).decision is Decision.REFUSE


@pytest.mark.parametrize(
    ("extent", "url", "kind"),
    [
        ("host", "https://docs.example.org/", Kind.INTERNAL),
        ("host", "https://www.example.org/", Kind.EXTERNAL),
        ("domain", "https://www.example.org/", Kind.INTERNAL),
        ("prefix", "https://docs.example.org/elsewhere", Kind.INTERNAL),
        ("page", "https://docs.example.org/elsewhere", Kind.INTERNAL),
        ("any", "https://docs.example.org/", Kind.INTERNAL),
        ("any", "https://www.example.org/", Kind.EXTERNAL),
    ],
)
def test_kind(extent: str, url: str, kind: Kind) -> None:
    assert judge(url, scope=Scope((SEED,), extent)).kind is kind


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("mailto:a@example.org", "mailto"),
        (" JavaScript:void(0)", "javascript"),
        ("tel:+1", "tel"),
        ("ftp://example.org/", "ftp"),
        ("http://[bad", "not a web address"),
        ("\x1b[31m:x", "not a web address"),
        ("a" * 200, "not a web address"),
        ("", "not a web address"),
    ],
)
def test_other_things_than_pages(text: str, word: str) -> None:
    verdict = Scope((SEED,)).judge(Candidate(text, Via.ANCHOR, 1, other=True))
    assert verdict == Verdict(Decision.REFUSE, f"not fetched: {word}", Kind.OTHER)


@pytest.mark.parametrize(
    ("pattern", "url", "expected"),
    [
        ("*/forum/*", "https://docs.example.org/forum/1", True),
        ("*/forum/*", "https://docs.example.org/forum", False),
        ("*.pdf", "https://docs.example.org/a/b.pdf", True),
        ("*.pdf", "https://docs.example.org/a.pdf?x", False),
        ("https://docs.example.org/v?/*", "https://docs.example.org/v1/a", True),
        ("https://docs.example.org/v?/*", "https://docs.example.org/v12/a", False),
        ("*/v[0-9]/*", "https://docs.example.org/v7/", True),
        ("*/v[!0-9]/*", "https://docs.example.org/v7/", False),
        ("*/v[!0-9]/*", "https://docs.example.org/vx/", True),
        ("*/a[", "https://docs.example.org/a[", True),
        ("*/a[]]", "https://docs.example.org/a]", True),
        ("*/a[.x]", "https://docs.example.org/ab", False),
        ("*/a.b", "https://docs.example.org/aXb", False),
        ("*/A", "https://docs.example.org/a", False),
        ("re:/A$", "https://docs.example.org/a", False),
        ("re:(?i)/A$", "https://docs.example.org/a", True),
        ("re:[?&]sort=", "https://docs.example.org/?a=1&sort=up", True),
        ("re:\\Qa", "https://docs.example.org/a", True),
    ],
)
def test_patterns(pattern: str, url: str, expected: bool) -> None:
    excluding = judge(url, scope=Scope((SEED,), exclude=("*/nothing", pattern, "re:nothing")))
    assert excluding.reason == (f"excluded by {pattern}" if expected else "")
    including = judge(url, scope=Scope((SEED,), include=("*/nothing", pattern)))
    assert including.reason == ("" if expected else "not included by any pattern")


def test_a_glob_may_hold_an_ipv6_address() -> None:
    scope = Scope(("http://[::1]:80/",), "any", exclude=("http://[::1]/x*",))
    assert judge("http://[::1]/xy", scope=scope).decision is Decision.REFUSE


@pytest.mark.parametrize("pattern", ["re:(", "re:(?=x)", "re:x{2000}", "re:", "", "*[z-a]", "re:\\"])
def test_bad_patterns_are_named(pattern: str) -> None:
    for scope in ({"include": (pattern,)}, {"exclude": ("*", pattern)}):
        with pytest.raises(SettingsError) as raised:
            Scope((SEED,), **scope)
        assert repr(pattern) in str(raised.value) or "empty pattern" in str(raised.value)


def test_an_unknown_extent() -> None:
    with pytest.raises(SettingsError, match=r"'site'.*page, prefix, host, domain, any"):
        Scope((SEED,), "site")


def test_hostile_patterns_take_linear_time() -> None:
    scope = Scope((SEED,), exclude=("*a" * 50 + "b", "re:(a*)*b$"))
    started = time.process_time()
    assert judge("https://docs.example.org/" + "a" * 8000, scope=scope).decision is Decision.ADMIT
    assert time.process_time() - started < 2


def test_seeds_need_no_inclusion_but_heed_exclusion() -> None:
    scope = Scope((SEED,), "page", include=("*/api/*",), max_depth=0)
    assert judge(SEED, via=Via.SEED, depth=0, scope=scope) == Verdict(Decision.ADMIT, "", Kind.INTERNAL)
    assert judge(SEED, depth=9, nofollow=True, scope=scope).decision is Decision.ADMIT
    assert judge("https://typed.example/", via=Via.SEED, depth=0, scope=scope).kind is Kind.INTERNAL
    excluding = Scope((SEED,), exclude=("*start*",))
    assert judge(SEED, via=Via.SEED, depth=0, scope=excluding).reason == "excluded by *start*"


def test_redirects_of_seeds() -> None:
    target = "https://www.example.org/new"
    assert judge(target, via=Via.REDIRECT, depth=0) == Verdict(Decision.ADMIT, "", Kind.INTERNAL)
    assert judge(target, via=Via.REDIRECT, depth=0, scope=Scope((SEED,), "page")).decision is Decision.ADMIT
    assert judge(target, via=Via.REDIRECT, depth=1).reason == "out of scope: another host"
    assert judge("https://other.net/", via=Via.REDIRECT, depth=0).reason == "out of scope: another host"
    excluding = Scope((SEED,), exclude=("*/new",))
    assert judge(target, via=Via.REDIRECT, depth=0, scope=excluding).decision is Decision.REFUSE


def test_requisites() -> None:
    image = "https://cdn.example.net/a.png"
    assert judge(image, via=Via.REQUISITE) == Verdict(Decision.HOLD, "requisite", Kind.EXTERNAL)
    scope = Scope((SEED,), "page", requisites=True, include=("*/guide/*",), max_depth=0, exclude=("*.gif",))
    assert judge(image, via=Via.REQUISITE, depth=5, scope=scope) == Verdict(Decision.ADMIT, "", Kind.EXTERNAL)
    assert judge("https://cdn.example.net/a.gif", via=Via.REQUISITE, scope=scope).reason == "excluded by *.gif"


def test_depth_and_nofollow_are_held() -> None:
    url = "https://docs.example.org/deep"
    scope = Scope((SEED,), max_depth=3)
    assert reason(url, scope, depth=3) == ""
    assert judge(url, depth=4, scope=scope) == Verdict(Decision.HOLD, "deeper than 3", Kind.INTERNAL)
    assert judge(url, nofollow=True) == Verdict(Decision.HOLD, "nofollow", Kind.INTERNAL)


def test_more_seeds() -> None:
    scope = Scope((SEED,))
    wider = scope.with_seeds(["https://www.example.org/", "https://www.example.org/", SEED])
    assert wider.seeds == (SEED, "https://www.example.org/")
    assert reason("https://www.example.org/x", wider) == ""
    assert reason("https://www.example.org/x", scope) == "out of scope: another host"
    assert wider.with_seeds(wider.seeds) is wider


def test_from_settings() -> None:
    settings = Settings(scope="prefix", include=("*i*",), exclude=("*e*",), max_depth=2, requisites=True)
    assert Scope.of(settings, [SEED, SEED]) == Scope((SEED,), "prefix", ("*i*",), ("*e*",), 2, True)


def test_many_seeds_on_one_host() -> None:
    scope = Scope(tuple(f"https://docs.example.org/{number}/a" for number in range(5000)), "prefix")
    assert reason("https://docs.example.org/4999/b/c/d", scope) == ""
    assert reason("https://docs.example.org/5000/b", scope) == "out of scope: not under the folder of any seed"
    assert judge("https://docs.example.org" + "/" * 8000, scope=scope).decision is Decision.REFUSE


URLS = st.builds(
    "{}://{}{}/{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["docs.example.org", "example.org", "127.0.0.1", "[::1]", "localhost", "com", "例え.jp"]),
    st.sampled_from(["", ":80", ":8443"]),
    st.text(max_size=20),
)


@given(
    URLS,
    st.sampled_from(Via),
    st.integers(0, 5),
    st.booleans(),
    st.sampled_from(EXTENTS),
    st.sampled_from([(), ("*a*",), ("re:b",)]),
    st.sampled_from([(), ("*a*",), ("re:b",)]),
)
def test_every_candidate_gets_one_verdict(
    text: str, via: Via, depth: int, nofollow: bool, extent: str, include: tuple[str, ...], exclude: tuple[str, ...]
) -> None:
    url = canonicalise(text)
    scope = Scope((SEED,), extent, include, exclude, max_depth=3)
    candidate = Candidate(url or text, via, depth, nofollow=nofollow, other=url is None)
    verdict = scope.judge(candidate)
    assert verdict == scope.judge(candidate)
    assert (verdict.decision is Decision.ADMIT) is (verdict.reason == "")
    known = (*REASONS, "nofollow", "not fetched: ", "imported", "in sitemap indexes")
    assert not verdict.reason or verdict.reason.startswith(known)
    assert (verdict.kind is Kind.OTHER) is candidate.other
