"""What is left of a URL without its numbers and ids."""

import ada_url
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.templates import echoed, family, template, without_query, without_session


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/", None),
        ("/docs/cpp/vector.html", None),
        ("/%E3%82%AC%E3%83%BC/title", None),
        ("/n/17", "/n/#"),
        ("/2026/05/17/", "/#/#/#/"),
        ("/chapter12.html", "/chapter#.html"),
        ("/day-2026-05-17", "/day-#-#-#"),
        ("/s/a8f3c2/x", "/s/#/x"),
        ("/u/550e8400-e29b-41d4-a716-446655440000", "/u/#"),
        ("/wiki/%E3%82%AC12", "/wiki/%E3%82%AC#"),
        ("/cal?month=5&year=2026", "/cal?month&year"),
        ("/cal?year=1&month=12&year=2", "/cal?month&year"),
        ("/list?filter[3]=x", "/list?filter[#]"),
        ("/list?print", "/list?print"),
        ("/list?", "/list?"),
        ("/a/b/a/", "/a/b//…"),
        ("/a/b/b/a", "/a/b/…"),
        ("/11/11/x", "/#/#/x"),
        ("/events/2024/May/", "/events/#/#/"),
        ("/termine/m%C3%A4rz-2024", "/termine/#-#"),
        ("/maybe-12/mayor", "/maybe-#/mayor"),
        ("/may/day", None),
    ],
)
def test_templates(url: str, expected: str | None) -> None:
    assert template(f"http://a.test:8080{url}") == (expected and f"a.test:8080{expected}")


def test_a_query_that_grows_is_one_template_in_the_end() -> None:
    names = [f"p{chr(97 + n)}" for n in range(26)]
    made = {template("http://a.test/x?" + "&".join(names[:n])) for n in range(14, 26)}
    assert len(made) == 1
    assert len({template("http://a.test/x?" + "&".join(["a=1"] * n)) for n in range(1, 9)}) == 1


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/a", None),
        ("/a?id=17", None),
        ("/a?title=World_War_2_and_other_things", None),
        ("/a?sid=x", ("/a", "sid")),
        ("/a?id=5&PHPSESSID=8af3&x=1", ("/a?id=5&x=1", "PHPSESSID")),
        ("/a?session_id=1&sid=2", ("/a", "session_id&sid")),
        ("/a?key=8af39bc01d5e77aa", ("/a", "key")),
        ("/a?u=550e8400-e29b-41d4-a716-446655440000", ("/a", "u")),
        ("/a;jsessionid=AB12?x=1", ("/a?x=1", "(path)")),
        ("/(S(lit3py55t21z5v55vlm25s55))/a.aspx", ("/a.aspx", "(path)")),
    ],
)
def test_session_ids(url: str, expected: tuple[str, str] | None) -> None:
    found = without_session(f"http://a.test{url}")
    assert found == (expected and (f"http://a.test{expected[0]}", expected[1]))


def test_queries_and_echoes() -> None:
    assert without_query("http://a.test/x?b=1&a=2") == ("http://a.test/x", "a&b")
    assert without_query("http://a.test/x") is None
    assert echoed("http://shop.a.test/x?q=red+ch%C3%A4ir") == "shop.a.test/x?q=red chäir"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("/", "/*"),
        ("/word", "/*"),
        ("/docs/", "/docs/*"),
        ("/docs/a/b?c=1", "/docs/*"),
        ("/list.php?a=1", "/list.php?*"),
        ("/?p=1", "/?*"),
        ("/2024/x", "/#/*"),
    ],
)
def test_families(url: str, expected: str) -> None:
    assert family(f"http://a.test:8080{url}") == f"a.test:8080{expected}"


@given(st.text(min_size=1, max_size=200))
def test_any_url(text: str) -> None:
    """Whatever canonical URLs hold: a template of a URL with other numbers is the same, and nothing fails."""
    try:
        url = ada_url.URL(text.replace("#", ""), base="http://a.test/").href
    except ValueError:
        return
    if not url.startswith("http"):
        return
    found = template(url)
    assert found is None or found.startswith(url.split("/", 3)[2] + "/")
    for other in (without_session(url), without_query(url)):
        assert other is None or other[0].startswith("http")
