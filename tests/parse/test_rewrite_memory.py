"""What is known of elements from other documents changes nothing in what becomes of them, in whatever order they come."""

from itertools import permutations

import pytest

from gossamer.parse.rewrite import Memory, Rewritten, rewrite

SITE = "http://h.example"
PLACES = {
    f"{SITE}/dir/{name}": f"h.example/dir/{place}"
    for name, place in (
        ("a", "a~.html"),
        ("b", "b~.html"),
        ("b?q", "b~.q-1.html"),
        ("a?q", "a~.q-1.html"),
        ("i.png",) * 2,
    )
}
PLACES |= {f"{SITE}/dir/alias": "h.example/dir/b~.html", f"{SITE}/other/a": "h.example/other/a~.html"}
ELEMENTS = (
    *('<a href="a">', '<a href="b#x">', '<a href="alias#x">', '<a href="?q">', '<a href=" ?q">', '<a href="&#63;q">'),
    *('<a href="&quest;q">', '<a href="http:?q">', '<a href="ht&Tab;tp:?q">', '<a href="">', '<a href="#x">'),
    *(
        '<a href="no">',
        '<a href="http://other.example/">',
        "<a href=b>",
        '<a href="a&amp;b" title="?">',
        "<a HREF=\\\\b>",
    ),
    *(
        '<img src="i.png" srcset="i.png 1x, ?q 2x">',
        '<img srcset="?q">',
        '<p style="a:url(i.png)">',
        "<td background=?q>",
    ),
    *(
        '<link rel=stylesheet href="i.png">',
        '<link rel=preconnect href="no">',
        '<picture><source srcset="i.png"><img src="no">',
    ),
    *('<area href="../other/a">', '<svg><a href="b"></a></svg>', '<a href="b" ping="no">'),
)


def made(url: str, memory: Memory | None, elements: str = "".join(ELEMENTS), charset: str = "utf-8") -> Rewritten:
    body = f"<!doctype html><meta charset={charset}><title>t</title>{elements}".encode()
    place = PLACES[url]
    return rewrite(
        body, content_type="text/html", charset=charset, url=url, place=place, lookup=PLACES.get, memory=memory
    )


@pytest.mark.parametrize("order", list(permutations(("/dir/a", "/dir/b", "/dir/b?q", "/other/a"))))
def test_the_order_of_documents_does_not_matter(order: tuple[str, ...]) -> None:
    memory = Memory()
    for path in (*order, *order):
        assert made(SITE + path, memory) == made(SITE + path, None)


@pytest.mark.parametrize("element", ELEMENTS)
def test_each_element_alone(element: str) -> None:
    memory = Memory()
    for path in ("/dir/a", "/dir/b", "/dir/a?q", "/other/a", "/dir/b?q"):
        assert made(SITE + path, memory, element) == made(SITE + path, None, element)


@pytest.mark.parametrize("base", ["<base href=/other/>", "<base href=a>", "<base href=''>"])
def test_a_document_with_a_base_has_nothing_in_common_with_others(base: str) -> None:
    memory = Memory()
    for head in ("", base, ""):
        elements = head + "".join(ELEMENTS)
        assert made(f"{SITE}/dir/a", memory, elements) == made(f"{SITE}/dir/a", None, elements)


def test_encodings_are_told_apart() -> None:
    memory, link = Memory(), '<a href="no?é">'
    for charset in ("utf-8", "windows-1252", "utf-8"):
        assert made(f"{SITE}/dir/a", memory, link, charset) == made(f"{SITE}/dir/a", None, link, charset)
