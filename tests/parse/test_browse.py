"""What a browser would load from a local file: read the same by both parsers."""

import json
from typing import Any

import pytest

from gossamer.parse.browse import browse
from gossamer.parse.job import Derived, ParseJob

HTML = "text/html"


def found(source: str, kind: str = HTML, *, fallback: bool = False) -> dict[str, Any]:
    job = ParseJob("file:///copy/page", (("content-type", kind),), source.encode(), derive=Derived.BROWSED)
    facts = browse(job, fallback=fallback)
    answer: dict[str, Any] = json.loads(facts.derived)
    answer["references"] = sorted(map(tuple, answer["references"]))
    answer["names"] = sorted(answer["names"])
    return answer


PAGES = {
    "links": '<a href="a.html" name="top" id="one">x</a><area href=b.html><form action=c><button formaction=d></form>',
    "media": '<img src=1.png srcset="2.png 2x, 3.png 3x"><video src=v poster=p><source src=s></video><input src=no.png>'
    "<input type=image src=yes.png><object data=o></object><embed src=e>",
    "frames": '<iframe src=f srcdoc="<img src=inner.png><a id=no>">y</iframe>',
    "styles": '<style>@import "a.css"; b{background:url(c.png)}</style><p style="background:url(d.png)">z'
    '<td background=e.png><table background = f.png><tr><td background="g.png">',
    "svg": '<svg><a xlink:href=a.svg /><use href="#b"/><image href=c.png /><rect fill="url(d.svg#e)"/>'
    "<feImage href=f.png /></svg>",
    "head": "<base href=deep/><link rel=stylesheet href=s.css><link rel=next href=n.html><link rel=dns-prefetch href=//no>"
    '<meta http-equiv=refresh content="3;url=later.html"><script src=s.js></script>'
    '<script type=module>import x from "./m.js"</script>',
    "nothing": "",
    "text": "no markup at all",
    "names": "<p id=a><p id=b><a name=c></a><p name=no><svg id=d></svg>",
}


@pytest.mark.parametrize("name", PAGES)
def test_both_parsers_find_the_same(name: str) -> None:
    assert found(PAGES[name]) == found(PAGES[name], fallback=True)


def test_what_is_loaded_and_what_is_visited() -> None:
    answer = found(PAGES["media"])
    assert {(what, value) for what, value, _ in answer["references"]} == {
        ("load", each) for each in ("1.png", "2.png", "3.png", "v", "p", "s", "yes.png", "o", "e")
    }
    assert found(PAGES["links"])["references"] == [
        ("visit", "a.html", "a href"),
        ("visit", "b.html", "area href"),
        ("visit", "c", "form action"),
        ("visit", "d", "button formaction"),
    ]


def test_names_are_those_that_a_fragment_can_mean() -> None:
    assert found(PAGES["names"])["names"] == ["a", "b", "c", "d"]
    assert found(PAGES["frames"])["names"] == []


def test_the_base_is_the_first_one_wherever_it_stands() -> None:
    assert found("<body><p><base target=x><base href=one/><base href=two/>")["base"] == "one/"
    assert found("<p>")["base"] is None


def test_nothing_in_a_template_is_loaded_but_a_shadow_root_is() -> None:
    answer = found(
        "<template><img src=no.png></template><div><template shadowrootmode=open><img src=yes.png></template>"
    )
    assert [value for _, value, _ in answer["references"]] == ["yes.png"]


def test_an_attribute_that_is_found_only_through_its_entities_counts() -> None:
    (reference,) = found('<p style="background:u&#114;l&#40;x.png)">')["references"]
    assert reference == ("load", "x.png", "p style")
