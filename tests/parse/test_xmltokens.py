"""XML in pieces: what is tolerated, what is never expanded, and that the time is linear."""

import time
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.xmltokens import Piece, attributes, decode, tokens, unescape

BIG = 1_000_000


def pieces(source: str) -> list[str]:
    """Tokens in short: <name, name>, text."""
    marks = {Piece.START: "<{}", Piece.END: "{}>", Piece.TEXT: "{}"}
    return [marks[piece].format(name or value) for piece, name, value in tokens(source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<a>b</a>", ["<a", "b", "a>"]),
        ("<x:A xmlns:x='y'>b</x:A >", ["<a", "b", "a>"]),
        ("<a/><b />", ["<a", "a>", "<b", "b>"]),
        ("<?xml version='1.0'?><!-- <b> -- c --><a>\n</a>", ["<a", "a>"]),
        ("<?xml version='1.0'><a/>", ["<a", "a>"]),
        ("<a><![CDATA[<b>&amp;]]></a>", ["<a", "<b>&amp;", "a>"]),
        ("<a>&amp;lt;&#65;&#x42;&apos;</a>", ["<a", "&lt;AB'", "a>"]),
        ("<a>?x=1&y=2&copy=3&nbsp;&lt</a>", ["<a", "?x=1&y=2&copy=3&nbsp;&lt", "a>"]),
        ("<a b='<'>d</a>", ["<a b='<'>d", "a>"]),
        ("<a b='>'>d</a>", ["<a", "d", "a>"]),
        ('<a b="c>d</a>', ["<a", "d", "a>"]),
        ("<a>1 < 2 <3></a>", ["<a", "1 < 2 ", "<3", "a>"]),
        ("<!DOCTYPE a [<!ENTITY b 'c'><!ELEMENT a ANY>]><a>&b;</a>", ["<a", "&b;", "a>"]),
        ("<!DOCTYPE a SYSTEM 'x'><a/>", ["<a", "a>"]),
        ("<a>b<!-- c", ["<a", "b"]),
        ("<a>b<![CDATA[c", ["<a", "b", "c"]),
        ("a", ["a"]),
        ("", []),
    ],
)
def test_pieces(source: str, expected: list[str]) -> None:
    assert pieces(source) == expected


@pytest.mark.parametrize("reference", ["&#0;", "&#xD800;", "&#x110000;", "&#9999999;"])
def test_references_to_no_character(reference: str) -> None:
    assert unescape(reference) == "\ufffd"


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        (" a='1' x:B=\"2\" c=3 a='4'", {"a": "1", "b": "2", "c": "3"}),
        (" a = '&amp;&y' checked b='", {"a": "&&y", "checked": "", "b": ""}),
        (" href='/x'/", {"href": "/x"}),
    ],
)
def test_attributes(rest: str, expected: dict[str, str]) -> None:
    assert attributes(rest) == expected


def test_bombs_stay_small() -> None:
    laughs = "<!DOCTYPE l [<!ENTITY l0 'lol'>" + "".join(f"<!ENTITY l{n} '{f'&l{n - 1};' * 10}'>" for n in range(1, 10))
    assert pieces(f"{laughs}]><l>&l9;</l>") == ["<l", "&l9;", "l>"]
    blowup = f"<!DOCTYPE l [<!ENTITY a '{'a' * 50_000}'>]><l>{'&a;' * 50_000}</l>"
    assert len(pieces(blowup)[1]) == 150_000


def test_external_entities_are_names() -> None:
    assert pieces('<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/hostname">]><a>&e;%e;</a>') == ["<a", "&e;%e;", "a>"]


@pytest.mark.parametrize(
    "unit",
    ["<", "<a", "<a ", '<a "', "<a '\"", "<!--", "<![CDATA[", "<!D [", "] ", "<!D", "<?", "&#1", "<a a=", "<a>", "</a>", "<a b='<", "]]>", "--"],
)  # fmt: skip
def test_the_time_is_linear(unit: str) -> None:
    started = time.process_time()
    for _ in tokens("<!D [" * (unit == "] ") + unit * (BIG // len(unit))):
        pass
    attributes(unit * (BIG // len(unit)))
    assert time.process_time() - started < 5


def test_so_many_tags_and_no_more() -> None:
    assert len(list(tokens("<a>" * 100, 10))) == 10


BODY = "<?xml version='1.0'{}?><a>é</a>"


@pytest.mark.parametrize(
    ("body", "header", "name"),
    [
        (BODY.format("").encode(), "", "utf-8"),
        (BODY.format("").encode("utf-8-sig"), "iso-8859-1", "utf-8"),
        (BODY.format(" encoding='iso-8859-1'").encode("latin-1"), "", "windows-1252"),
        (BODY.format(" encoding='iso-8859-1'").encode(), "", "utf-8"),
        (BODY.format(" encoding='utf-8'").encode("latin-1"), "windows-1252", "windows-1252"),
        (BODY.format(" encoding='utf-16'").encode(), "", "utf-8"),
        (BODY.format(" encoding='UTF-16'").encode("utf-16"), "", "utf-16le"),
        (BODY.format("").encode("utf-16-be"), "", "utf-16be"),
        (BODY.format("").encode("utf-16-le"), "utf-8", "utf-16le"),
        (BODY.format(" encoding='gb18030'").encode("gb18030"), "", "gb18030"),
        (BODY.format(" encoding=cp1252").encode("latin-1"), "", "windows-1252"),
        (BODY.format(" encoding='rot13'").encode("latin-1"), "", "windows-1252"),
    ],
)
def test_encodings(body: bytes, header: str, name: str) -> None:
    assert decode(body, header) == (body_text(body, name), name)


def body_text(body: bytes, name: str) -> str:
    return body.decode(name).removeprefix("\ufeff")


def test_a_wrong_declaration_costs_one_character_not_the_file() -> None:
    text, _ = decode(BODY.format(" encoding='utf-8'").encode("latin-1"), "")
    assert text.endswith("<a>\ufffd</a>")


def read_by_expat(source: str) -> list[str]:
    """The same tokens, without white space, by a real parser."""
    found: list[str] = []
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, _: found.append(f"<{name}")
    parser.EndElementHandler = lambda name: found.append(f"{name}>")
    parser.CharacterDataHandler = found.append
    parser.Parse(source, True)
    return ["".join(each.split()) for each in found]


NAMES = st.sampled_from(["a", "b", "loc"])
TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=0xD7FF), max_size=8)
LEAVES = TEXTS.map(escape) | TEXTS.filter(lambda text: "]]>" not in text).map("<![CDATA[{}]]>".format)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda name, value, children: f"<{name} x={quoteattr(value)}>{''.join(children)}</{name}>",
        NAMES,
        TEXTS,
        st.lists(inner, max_size=4),
    ),
    max_leaves=12,
)


@given(TREES)
def test_right_xml_is_read_as_a_parser_reads_it(tree: str) -> None:
    source = f"<root>{tree}</root>"
    merged: list[str] = []
    was_text = False
    for piece, name, value in tokens(source):
        text = value if piece is Piece.TEXT else f"<{name}" if piece is Piece.START else f"{name}>"
        if piece is Piece.TEXT and was_text:
            text = merged.pop() + text
        merged.append(text)
        was_text = piece is Piece.TEXT
    assert list(filter(None, ("".join(each.split()) for each in merged))) == list(filter(None, read_by_expat(source)))


@given(st.text(alphabet="<>/!?[]-&;#x=\"' abCDATA\n", max_size=200))
def test_nothing_raises(source: str) -> None:
    for _, name, value in tokens(source):
        attributes(value)
        assert "<" not in name
