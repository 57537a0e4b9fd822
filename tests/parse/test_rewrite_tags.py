"""The tags that the rewriting finds are those that a browser's tree has, at the places where they stand."""

import time

import pytest
import turbohtml
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.parse.rewriting.entities import attribute
from gossamer.parse.rewriting.tokens import tags, value_span

from .copies import mirrored, rewritten

_LINKS = ("href", "src", "background", "xlink:href", "poster", "style", "srcset")
_PIECES = (
    *('<a href="u">', "<a href=u>", "</a>", "<img src=u>", "<image src=u>", "<link href=u rel=x>", "<base href=u>"),
    *("<svg>", "</svg>", "<svg/>", "<math>", "</math>", "<g>", "</g>", "<mi>", "</mi>", "<desc>", "</desc>"),
    *("<foreignObject>", "</foreignObject>", '<annotation-xml encoding="text/html">', "</annotation-xml>"),
    *('<image xlink:href="u"/>', "<![CDATA[", "]]>", "<!--", "-->", "--!>", "<!-", "<?x>", "</ a>", "<!doctype html>"),
    *("<title>", "</title>", "<style>", "</style>", "<textarea>", "</textarea>", "<xmp>", "</xmp>", "<plaintext>"),
    *("<script>", "</script>", "</script x>", "<!--<script>", "<script>//<!--", "<noembed>", "</noembed>"),
    *("<noframes>", "</noframes>", "<iframe src=u>", "</iframe>", "<template>", "</template>", "<select>", "</select>"),
    *(
        "<p>",
        "</p>",
        "<div>",
        "</div>",
        "<b>",
        "</b>",
        "<font color=red>",
        "<font>",
        "</font>",
        "<br>",
        "</br>",
        "<ul><li>",
    ),
    *(
        "<table>",
        "<tr>",
        "<td background=u>",
        "</td>",
        "</table>",
        "<body background=u>",
        "</body>",
        "<html>",
        "<head>",
    ),
    *("</head>", "<frameset>", "<frame src=u>", "</frameset>", "<embed src=u>", "<video src=u poster=v>", "</video>"),
    *(
        '<a href="&copy=1&amp;&lt&#x41;&notit;&#128;">',
        "<a href='a\0b' href=2 HREF=3>",
        '<a\nhref\n=\n"x"\n>',
        "<a href=>",
    ),
    *(
        "<a =href=u href=v>",
        "<a/href=u/x=y/>",
        '<a href="u',
        '<span title="<a href=u>">',
        '<i style="x:url(u)">',
        "<p/>",
    ),
    *("x", "<", " ", ">", '"', "'", "=", "/"),
)


def _found(source: str) -> dict[int, tuple[str, str]]:
    """Each attribute by the place of its name."""
    return {
        match.start(1): (name, attribute(source, *value_span(match)).text)
        for tag in tags(source, 0, len(source), scripting=False)
        if not tag.closing
        for name, match in tag.attributes.items()
    }


def _in_tree(source: str) -> dict[int, tuple[str, str]]:
    """The same, as turbohtml's tree has it."""
    found = {}
    for element in turbohtml.parse(source, source_locations=True, allow_declarative_shadow_roots=False).iter_elements():
        place = element.source_location
        for name, value in element.attrs.items() if place else ():
            if place and name in place.attrs and name in _LINKS:
                found[place.attrs[name].start_offset] = (name, str(value or ""))
    return found


@given(st.lists(st.sampled_from(_PIECES), max_size=16).map("".join))
@settings(max_examples=300)
def test_every_attribute_in_the_tree_of_a_browser_is_found(source: str) -> None:
    found = _found(source)
    assert {place: found.get(place) for place in _in_tree(source)} == _in_tree(source)


@given(st.one_of(st.binary(max_size=200), st.lists(st.sampled_from(_PIECES), max_size=16).map("".join).map(str.encode)))
@settings(max_examples=200)
def test_nothing_raises_or_is_changed_twice(body: bytes) -> None:
    for content_type in ("text/html", "application/xhtml+xml", "text/css", "text/javascript", "image/svg+xml"):
        for charset in ("", "utf-8", "shift_jis", "utf-16le", "x-user-defined"):
            rewritten(body, content_type, charset=charset)
        once = mirrored(body, content_type)
        assert mirrored(once, content_type) == once


@given(
    st.text(st.characters(exclude_characters="<&\r\0", codec="utf-8"), max_size=50),
    st.sampled_from(("p", "i class=x", "/b")),
)
def test_what_nobody_touches_stays_byte_for_byte(text: str, tag: str) -> None:
    body = (
        f'<!doctype html><meta charset="utf-8"><{tag}>{text}<a\n\thref =  b.html  >{text}</a><img src="c.png"'.encode()
    )
    assert rewritten(body).body == body


@pytest.mark.parametrize(
    ("content_type", "piece"),
    [
        *(
            ("text/html", piece)
            for piece in ("<", "<a ", '<a x="', "<!--", "<svg><g>", "<svg></div>", "<script><!--<script>")
        ),
        *(
            ("text/html", piece)
            for piece in ("<style>", "<a href=x>", "<noscript><noscript>", "&#", '<iframe srcdoc="&amp;')
        ),
        *(
            ("text/html", piece)
            for piece in ("<style>url(", '<style>"', "<base>", "<form action=x>", '<p style="url(">')
        ),
        *(("text/css", piece) for piece in ("url(", 'url("', "/*", "@import ", "image-set(", "\\", "@namespace ", "(")),
        *(
            ("text/javascript", piece)
            for piece in ("import ", "import(", "import{", "`${", "/", "(", "}", "import `a${")
        ),
        *(
            ("image/svg+xml", piece)
            for piece in ("<!DOCTYPE [", "<?", "<style>&amp;", "<?xml-stylesheet ", "<![CDATA[")
        ),
        *(("application/manifest+json", piece) for piece in ("[", '{"a":')),
    ],
)
def test_the_time_is_linear(content_type: str, piece: str) -> None:
    body = (piece * (300_000 // len(piece))).encode()
    start = time.process_time()
    rewritten(body, content_type)
    assert time.process_time() - start < 10
