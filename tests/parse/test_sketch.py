"""What is new text and what is not."""

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.sketch import SAMPLE, Sketch, is_another_text

NAVIGATION = " ".join(f"section{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(150))


def is_new(text: str, *before: str, echo: str = "") -> bool:
    known = np.concatenate([np.zeros(0, np.uint32), *(Sketch([each]).hashes for each in before)])
    sketch = Sketch([text], echo)
    return sketch.is_news(len(sketch.unknown(known)))


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("Product 18: blue table, 15 €", "Product 17: red chair, 12 €"),
        (f"{NAVIGATION} Product 18: blue table", f"{NAVIGATION} Product 17: red chair"),
        ("zqbabex", "zqbebax"),
        ("二十四章 春の海", "二十三章 夏の山"),
        ("这是一个关于网络爬虫的页面", "这是一个关于数据采集的页面"),
        (
            f"{NAVIGATION} the word of this page is qwertz and no other",
            f"{NAVIGATION} the word of this page is asdfgh and no other",
        ),
        ("Ein anderer Text", "Ein Text"),
    ],
)
def test_news(text: str, before: str) -> None:
    assert is_new(text, before)


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("Item 18", "Item 17"),
        ("May 2024 Mon Tue 1 2 3 no events", "June 2031 Sun Mon 1 2 no events"),
        (f"{NAVIGATION} session a8f3c2d1 at 12:44:01", f"{NAVIGATION} session 77f0aa12 at 12:44:07"),
        ("2024年1月の予定はありません (月)", "2031年12月の予定はありません (火)"),
        ("第17章", "第4章"),
        ("Termine im März 2024: keine", "Termine im Dezember 2025: keine"),
        ("МАЙ 2024", "июнь 2025"),
        ("", ""),
        ("17 18 19", "1 2"),
        ("MORE Text. here!", "more text here"),
    ],
)
def test_no_news(text: str, before: str) -> None:
    assert not is_new(text, before)


def test_what_a_page_repeats_of_its_url_is_no_news() -> None:
    assert is_new("Results for lions tigers bears", "Results for cats dogs mice")
    assert not is_new("Results for lions", "Results for 1", echo="q=lions")


def test_words_of_scripts_with_and_without_spaces() -> None:
    """A character of Chinese is a word; a word of French or Greek, with an apostrophe or not, is one too."""
    assert Sketch(["网络爬虫"]).total == Sketch(["a b c d"]).total
    assert Sketch(["第17章test été"]).total == Sketch(["a 17 b test été"]).total
    assert Sketch(["ελληνικά кириллица"]).total == Sketch(["a b"]).total


def test_a_long_text_is_sampled() -> None:
    rng = Random(1)
    words = ["".join(rng.choices("abcdefgh", k=7)) for _ in range(3000)]
    sketch = Sketch([" ".join(words)])
    assert (len(sketch.hashes), sketch.total) == (SAMPLE, 3002)
    assert not is_new(" ".join(words), " ".join(words))
    assert is_new(" ".join([*words, *words[:50:-1]]), " ".join(words))


def test_variants_of_a_page() -> None:
    words = [f"word{chr(97 + n)}" for n in range(20)]
    text = " ".join([NAVIGATION, *words])
    assert not is_another_text(" ".join([NAVIGATION, *words[::-1]]), text), "sorted otherwise"
    assert not is_another_text(" ".join(["Print", *words]), text)
    assert is_another_text(" ".join([NAVIGATION, *(f"other{chr(97 + n)}" for n in range(9))]), text)
    assert is_another_text("a quite different page", text)
    assert not is_another_text("", text)


@given(st.text(max_size=300), st.text(max_size=50))
def test_any_text(text: str, echo: str) -> None:
    sketch = Sketch([text], echo)
    assert sketch.total >= 1
    assert not len(sketch.unknown(sketch.hashes[::-1]))
    assert not is_another_text(text, text, echo)
