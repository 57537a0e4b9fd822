"""Credentials: to whom they go, and digests as the RFC's own examples have them."""

import hashlib
import re
from urllib.request import parse_http_list, parse_keqv_list

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.clock import ManualClock
from gossamer.fetch.cookies import CookieJar
from gossamer.fetch.credentials import Credentials
from gossamer.fetch.heads import request_headers
from gossamer.fetch.identity import Identity, Presented
from gossamer.records import Exchange
from gossamer.settings_secrets import credential, proxy, typed_credential

PAGE = "https://example.org/dir/index.html?x=1"
CHALLENGE = (
    'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5,'
    ' nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"'
)


def known(*texts: str) -> Credentials:
    return Credentials(map(credential, texts))


def refusal(*challenges: str, url: str = PAGE, status: int = 401) -> Exchange:
    headers = tuple(("www-authenticate", challenge) for challenge in challenges)
    return Exchange(url, b"", b"", b"", status, headers, "", "http/1.1", 0.0, 0.0, 0.0)


# --- to whom

OTHERS = (
    "http://example.org/",
    "https://example.org:8443/",
    "https://www.example.org/",
    "https://example.org.evil.test/",
    "https://example.com/",
)


def test_basic_goes_to_its_origin_and_nowhere_else() -> None:
    told = known("https://example.org basic Aladdin:open sesame")
    assert told.authorization(PAGE) == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="  # RFC 7617, section 2
    assert [told.authorization(url) for url in OTHERS] == [""] * len(OTHERS)


def test_a_basic_password_is_utf_8_and_may_have_colons() -> None:
    assert known("https://example.org basic test:123£:").authorization(PAGE) == "Basic dGVzdDoxMjPCozo="


def test_bearer() -> None:
    told = known("https://example.org:443/ bearer mF_9.B5f-4.1JqM", "http://example.org bearer other")
    assert told.authorization(PAGE) == "Bearer mF_9.B5f-4.1JqM"
    assert told.authorization("http://example.org/") == "Bearer other"


def test_digest_waits_for_the_challenge_of_its_origin() -> None:
    told = known("https://example.org digest Mufasa:Circle of Life")
    assert told.authorization(PAGE) == ""
    for url in OTHERS:
        told.learn(refusal(CHALLENGE, url=url), was_told=False)
    assert told.authorization(PAGE) == ""
    told.learn(refusal(CHALLENGE), was_told=False)
    assert told.authorization(PAGE).startswith('Digest username="Mufasa", ')
    assert [told.authorization(url) for url in OTHERS] == [""] * len(OTHERS)


# --- digests

_PIECES = ('realm="r"', 'nonce="n"', ",", "=", '"', "\\", "qop=auth", 'qop="', "algorithm=MD5-sess", "stale", "Digest ")


def parts_of(header: str) -> dict[str, str]:
    return parse_keqv_list(parse_http_list(header.removeprefix("Digest ")))


def expected(parts: dict[str, str], user: str, password: str, method: str = "md5") -> str:
    """RFC 7616, section 3.4.1, in other words than the program's."""

    def hashed(*pieces: str) -> str:
        return hashlib.new(method, ":".join(pieces).encode()).hexdigest()

    key = hashed(user, parts["realm"], password)
    if parts["algorithm"].lower().endswith("-sess"):
        key = hashed(key, parts["nonce"], parts["cnonce"])
    request = hashed("GET", parts["uri"])
    if "qop" not in parts:
        return hashed(key, parts["nonce"], request)
    return hashed(key, parts["nonce"], parts["nc"], parts["cnonce"], parts["qop"], request)


def test_the_example_of_the_rfc(monkeypatch: pytest.MonkeyPatch) -> None:
    """RFC 7616, section 3.9.1, with its own cnonce."""
    monkeypatch.setattr("secrets.token_hex", lambda _: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
    url = "https://example.org/dir/index.html"
    for algorithm, response in (
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ):
        told = known("https://example.org digest Mufasa:Circle of Life")
        told.learn(refusal(CHALLENGE.replace("MD5", algorithm)), was_told=False)
        assert parts_of(told.authorization(url))["response"] == response


@pytest.mark.parametrize(
    ("challenge", "method"),
    [
        ('Digest realm="r", nonce="n"', "md5"),
        ('Digest realm="r", nonce="n", qop=auth', "md5"),
        ('digest  realm="a, b=c", nonce="n", qop="auth-int,auth", algorithm=SHA-256', "sha256"),
        ('Digest realm="r", nonce="n", qop="auth", algorithm=MD5-sess', "md5"),
        ('Digest realm="r", nonce="n", qop="auth", algorithm=sha-256-SESS, domain="/a /b"', "sha256"),
        ('Basic realm="x", Digest realm="r", nonce="n", qop="auth"', "md5"),
    ],
)
def test_kinds_of_digest(challenge: str, method: str) -> None:
    told = known("https://example.org digest me:pass:word")
    told.learn(refusal(challenge), was_told=False)
    first, second = (parts_of(told.authorization(PAGE)) for _ in range(2))
    assert first["uri"] == "/dir/index.html?x=1"
    assert first["response"] == expected(first, "me", "pass:word", method)
    assert second["response"] == expected(second, "me", "pass:word", method)
    if "qop" in first:
        assert (first["nc"], second["nc"]) == ("00000001", "00000002")
        assert first["cnonce"] != second["cnonce"]


def test_a_hidden_user() -> None:
    told = known("https://example.org digest me:x")
    told.learn(refusal('Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256, userhash=true'), was_told=False)
    parts = parts_of(told.authorization(PAGE))
    assert parts["username"] == hashlib.sha256(b"me:r").hexdigest()
    assert parts["userhash"] == "true"


def test_a_realm_is_hashed_as_the_bytes_that_came() -> None:
    told = known("https://example.org digest me:x")
    told.learn(refusal('Digest realm="\xc3\xbc", nonce="n"'), was_told=False)
    parts = parts_of(told.authorization(PAGE))
    assert parts["realm"] == "\xc3\xbc"
    assert parts["response"] == expected({**parts, "realm": "ü"}, "me", "x")


@given(
    st.lists(st.text(st.characters(max_codepoint=255), max_size=60) | st.sampled_from(_PIECES), max_size=12).map(
        "".join
    )
)
def test_no_challenge_breaks_anything(challenge: str) -> None:
    told = known("https://example.org digest me:x")
    told.learn(refusal(f"Digest {challenge}"), was_told=False)
    header = told.authorization(PAGE)
    assert not any(character in header for character in "\r\n\x00")
    if header:
        request_headers("test", (("Authorization", header),))


def test_the_first_that_we_can_is_taken() -> None:
    told = known("https://example.org digest me:x")
    told.learn(
        refusal('Digest realm="r", nonce="1", algorithm=SHA-999', 'Digest realm="r", nonce="2", algorithm=SHA-256'),
        was_told=False,
    )
    assert parts_of(told.authorization(PAGE))["nonce"] == "2"


@pytest.mark.parametrize(
    "challenge",
    [
        "",
        "Digest",
        "Digest ,,,=,",
        'Digest realm="r"',
        'Digest realm="r", nonce=""',
        'Digest realm="r", nonce="n", qop="auth-int"',
        'Digest realm="a\\"b", nonce="n"',
        'Digest realm="r", nonce="' + "n" * 5000 + '"',
        'Basic realm="r"',
        "Negotiate",
    ],
)
def test_challenges_that_are_not_answered(challenge: str) -> None:
    told = known("https://example.org digest me:x")
    told.learn(refusal(challenge), was_told=False)
    assert told.authorization(PAGE) == ""


def test_a_new_nonce_is_taken_only_where_the_old_one_was_stale() -> None:
    told = known("https://example.org digest me:x")
    told.learn(refusal('Digest realm="r", nonce="1", qop="auth"'), was_told=False)
    told.learn(refusal('Digest realm="r", nonce="2", qop="auth"'), was_told=True)
    assert told.challenge(PAGE) == "1", "it says that we are wrong: asking again would go on for ever"
    told.learn(refusal('Digest realm="r", nonce="3", qop="auth", stale=TRUE'), was_told=True)
    assert parts_of(told.authorization(PAGE))["nonce"] == "3"
    assert parts_of(told.authorization(PAGE))["nc"] == "00000002"


# --- who we are


def test_what_was_asked_with_something_else_is_asked_again_once() -> None:
    identity = Identity(ManualClock(), CookieJar(), known("https://example.org digest me:x"))
    for nonce in ("1", "2"):
        presented = identity.present(PAGE)
        identity.learn(refusal(f'Digest realm="r", nonce="{nonce}", stale=true'), presented)
        assert identity.would_change(PAGE) is (nonce == "1")


def test_a_wrong_password_is_told_once() -> None:
    identity = Identity(ManualClock(), None, known("https://example.org digest me:wrong"))
    identity.learn(refusal('Digest realm="r", nonce="1"'), identity.present(PAGE))
    assert identity.would_change(PAGE)
    identity.learn(refusal('Digest realm="r", nonce="2"'), identity.present(PAGE))
    assert not identity.would_change(PAGE)
    other = "https://example.org/other"
    identity.learn(refusal('Digest realm="r", nonce="3"', url=other), identity.present(other))
    assert not identity.would_change(other)


def test_headers_that_a_person_wrote_count_and_cookies_are_joined() -> None:
    presented = Presented("b=2", "Basic x")
    assert presented.beside((("authorization", "mine"), ("cookie", "a=1"))) == (
        ("authorization", "mine"),
        ("Cookie", "a=1; b=2"),
    )
    assert presented.beside(()) == (("Authorization", "Basic x"), ("Cookie", "b=2"))
    assert Presented().beside((("A", "b"),)) == (("A", "b"),)


def test_secrets_show_in_no_repr() -> None:
    shown = repr(
        (
            credential("https://example.org basic me:hunter2"),
            credential("https://example.org bearer hunter2"),
            proxy("http://me:hunter2@proxy.test"),
            str(proxy("http://me:hunter2@proxy.test")),
            Presented("a=hunter2", "Basic hunter2"),
        )
    )
    assert not re.search("hunter2", shown)


@pytest.mark.parametrize(
    ("address", "meant"),
    [
        ("https://me:secret@example.org/x?y", "https://example.org basic me:secret"),
        (" HTTP://m%40e:a%3Ab%2F@EXAMPLE.org:81", "http://example.org:81 basic m@e:a:b/"),
        ("http://me@example.org/", "http://example.org basic me:"),
        ("https://example.org/@x:y@z", ""),
        ("https://example.org/", ""),
        ("example.org", ""),
        ("https://me:secret@/", ""),
    ],
)
def test_credentials_in_a_typed_address(address: str, meant: str) -> None:
    assert typed_credential(address) == meant
    if meant:
        assert credential(meant).user
