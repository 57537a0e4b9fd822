"""The blob of a page's links: what goes in comes out, and nothing damaged passes."""

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import ArchiveError
from gossamer.parse.links import MAX_TEXT, pack, unpack
from gossamer.records import Link, Via

KINDS = [
    Via(kind)
    for kind in [
        "seed",
        "redirect",
        "a",
        "area",
        "frame",
        "iframe",
        "link",
        "refresh",
        "requisite",
        "sitemap",
        "listed",
    ]
]
"""Those that links may have, in the order of their numbers."""

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=MAX_TEXT)
LINKS = st.lists(
    st.builds(
        Link,
        url=TEXT,
        via=st.sampled_from(KINDS),
        text=TEXT,
        nofollow=st.booleans(),
        other=st.booleans(),
        lastmod=st.none() | st.integers(0, 1 << 40),
    )
)


@given(LINKS)
def test_what_is_packed_comes_out_again(links: list[Link]) -> None:
    assert unpack(pack(links)) == tuple(links)
    assert pack(links) == pack(list(links))


def test_the_numbers_of_the_kinds_never_change() -> None:
    """They stand in databases."""
    assert [row[0] for row in msgpack.unpackb(pack([Link("u", kind) for kind in KINDS]))] == list(range(11))
    both = pack([Link("u", Via.ANCHOR, "t", nofollow=True, other=True)])
    assert msgpack.unpackb(both) == [[0x32, "u", "t"]]
    assert msgpack.unpackb(pack([Link("u", Via.LISTED, lastmod=7.9)])) == [[10, "u", "", 7]]


def test_an_empty_blob_holds_no_links() -> None:
    assert unpack(b"") == ()


@pytest.mark.parametrize(
    "damaged",
    [
        b"\x91",
        b"\xc1",
        pack([Link("u", Via.ANCHOR)]) + b"\x00",
        pack([Link("u", Via.ANCHOR)])[:-1],
        msgpack.packb(7),
        msgpack.packb([[2, "u"]]),
        msgpack.packb([[2, "u", "", "7"]]),
        msgpack.packb([[2, "u", "", 7, 7]]),
        msgpack.packb([["2", "u", ""]]),
        msgpack.packb([[2, b"u", ""]]),
        msgpack.packb([[2, "u", 5]]),
        msgpack.packb([[15, "u", ""]]),
        msgpack.packb([[-1, "u", ""]]),
        msgpack.packb([[0x42, "u", ""]]),
        msgpack.packb([[2, "u" * 10_000, ""]]),
        msgpack.packb([[2, "u", "t" * 201]]),
        b"\xdd\xff\xff\xff\xff",  # an array of four thousand million
        b"\x91" * 5000,
    ],
)
def test_a_damaged_blob_is_an_error_of_the_archive(damaged: bytes) -> None:
    with pytest.raises(ArchiveError, match="links"):
        unpack(damaged)


@given(st.binary(max_size=200))
def test_any_bytes_give_links_or_an_archive_error(blob: bytes) -> None:
    try:
        links = unpack(blob)
    except ArchiveError:
        return
    assert unpack(pack(links)) == links
