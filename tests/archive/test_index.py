"""The index finds what the pages say, in every script, and nothing a person types is an error."""

import random
import time
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import settings as how
from hypothesis import strategies as st

from gossamer.archive import index
from gossamer.archive.query import Tokenizer, parse
from gossamer.archive.search import Hit, search
from gossamer.archive.snippet import Marker, snippet
from gossamer.records import Link, Via
from small import Small

ANY_TEXT = st.text(st.characters())
CJK_TEXT = st.text(st.sampled_from("爬虫数据データ데이터。、 a1é\u3099ﾃﾞ𠮷ー々"), max_size=40)


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small.create(tmp_path / "site")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Small:
    """For tests that only read."""
    small = Small.create(tmp_path_factory.mktemp("site"))
    small.page("http://a.test/", "Welcome home", "It's 50% off: the running vectors of a AND b are resized.")
    small.page("http://a.test/cpp/vector/push_back", "std::vector<T>::push_back", "Appends an element to the end.")
    small.page("http://b.a.test/docs/robots", "Robots", "Crawlers obey the robots exclusion protocol. foo:bar")
    small.page("http://b.a.test/naïve", "Ünïcode", "Le café naïve façade")
    return small


def found(small: Small, query: str, limit: int = 10) -> list[str]:
    return [hit.url for hit in search(small.connection, query, limit)]


def one(small: Small, query: str) -> Hit:
    (hit,) = search(small.connection, query, 10)
    return hit


# --- what a person types


@pytest.mark.parametrize(
    "query",
    [
        "it's", "a AND", "-", "--", '"', '""', "http://a/1", "50%", "foo:bar", "*", "a*", "\0", "a\0b", "\ud800", "(", ")",
        "NOT", "OR OR", "NEAR(a b)", "title:", "url:", "site:", "-site:", 'title:"', "-title:x", "^a", "{title}: a",
        "a" * 100_000, "爬" * 10_000, '"' * 1001, "-a -b", "site:[::", "site:http://[::1]:8/x", "\uefff", "'; DROP TABLE url",
        " ".join(f"word{n}" for n in range(10_000)), " ".join(["vectors"] * 10_000), "title:a " * 3000, "-x " * 9000,
        '"' + "a b " * 5000 + '"', "site:a.test " * 5000, "a-b" * 5000,
    ],
    ids=lambda query: ascii(query[:16]),
)  # fmt: skip
def test_nothing_typed_raises(shared: Small, query: str) -> None:
    search(shared.connection, query, 5)


@given(query=ANY_TEXT | st.lists(st.sampled_from(['"', "-", "site:", "url:", "a", "爬虫", "'", " "])).map("".join))
def test_no_text_raises(shared: Small, query: str) -> None:
    search(shared.connection, query, 5)


@pytest.mark.parametrize(
    "query", ["it's", "50%", "a AND", "foo:bar", "running", "vector", "naive", "CAFE", "-robots -"]
)
def test_what_looks_like_syntax_is_words(shared: Small, query: str) -> None:
    assert found(shared, query)


def test_common_words_of_a_long_query_are_left_out_and_rare_ones_count(small: Small) -> None:
    for number in range(40):
        small.page(f"http://a.test/{number}", "", f"the common words of every page, number {number}")
    small.page("http://a.test/rare", "", "one zeppelin")
    assert found(small, "the common words of every zeppelin", limit=1) == ["http://a.test/rare"]


# --- the query language


def test_any_word_finds_and_pages_with_all_come_first(small: Small) -> None:
    small.page("http://a.test/1", "", "apple apple apple apple")
    small.page("http://a.test/2", "", "some long text about many things, in which an apple lies next to a pear " * 5)
    small.page("http://a.test/3", "", "pear pear pear pear")
    hits = search(small.connection, "apple pear", 10)
    assert hits[0].url == "http://a.test/2"
    assert {hit.url for hit in hits} == {f"http://a.test/{n}" for n in (1, 2, 3)}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert search(small.connection, "apple pear", 1, 1) == hits[1:2]


def test_phrases_exclusions_and_fields(small: Small) -> None:
    small.page("http://a.test/one", "Red fox", "the quick brown fox")
    small.page("http://a.test/two", "Dog", "the brown quick fox")
    small.page("http://a.test/three/fox", "Cat", "nothing")
    assert found(small, '"quick brown"') == ["http://a.test/one"]
    assert set(found(small, "fox -quick")) == {"http://a.test/three/fox"}
    assert set(found(small, 'fox -"quick brown"')) == {"http://a.test/two", "http://a.test/three/fox"}
    assert found(small, "title:fox") == found(small, 'title:"red fox"') == ["http://a.test/one"]
    assert found(small, "url:three quick") == ["http://a.test/three/fox"]
    assert found(small, "TITLE:dog") == ["http://a.test/two"]
    assert found(small, "zebra") == []


def test_site_is_a_host_those_below_it_and_a_path(shared: Small) -> None:
    every = "the OR robots OR end OR café"
    assert len(found(shared, every)) == 4
    assert len(found(shared, f"{every} site:a.test")) == 4
    assert set(found(shared, f"{every} site:b.a.test")) == {"http://b.a.test/docs/robots", "http://b.a.test/naïve"}
    assert found(shared, f"{every} site:b.a.test/docs") == ["http://b.a.test/docs/robots"]
    assert found(shared, f"{every} site:http://b.a.test/docs") == ["http://b.a.test/docs/robots"]
    assert len(found(shared, f"{every} -site:b.a.test")) == 2
    assert found(shared, f"{every} site:test.a") == found(shared, f"{every} site:xa.test") == []
    assert len(found(shared, f"{every} site:b.a.test site:a.test/cpp")) == 3


def test_an_identifier_is_found_by_its_parts_and_best_as_written(small: Small) -> None:
    small.page("http://a.test/1", "", "push the door, then go back to the vector of std")
    small.page("http://a.test/2", "", "std::vector<T>::push_back appends")
    small.page("http://a.test/3", "", "how std::vector::push_back appends, and more words than the others have")
    assert found(small, "std::vector::push_back")[0] == "http://a.test/3"
    assert set(found(small, "std::vector::push_back")) == {f"http://a.test/{n}" for n in (1, 2, 3)}
    assert found(small, "push_back")[-1] == "http://a.test/1"


def test_words_of_the_title_and_of_the_url_count(small: Small) -> None:
    small.page("http://a.test/x", "", "kangaroo in the text and some more words around it")
    small.page("http://a.test/y", "Kangaroo", "nothing of the kind but some words around it, too")
    small.page("http://a.test/k%C3%A4nguru/z", "", "nothing at all")
    assert found(small, "kangaroo") == ["http://a.test/y", "http://a.test/x"]
    assert found(small, "känguru") == ["http://a.test/k%C3%A4nguru/z"]


# --- scripts


def test_cjk_is_found_where_the_text_has_it_and_only_there(small: Small) -> None:
    small.page("http://a.test/1", "", "网络爬虫是一种程序")
    small.page("http://a.test/2", "", "爬行的昆虫。爬,虫 虫爬")
    small.page("http://a.test/3", "数据", "大数。据说 Python数据库")
    small.page("http://a.test/4", "", "ビッグデータの時代")
    small.page("http://a.test/5", "", "半角のﾃﾞｰﾀ、デーとタ")
    small.page("http://a.test/6", "", "데이터베이스")
    assert found(small, "爬虫") == found(small, '"爬虫"') == ["http://a.test/1"]
    assert found(small, "数据") == ["http://a.test/3"]
    assert set(found(small, "データ")) == {"http://a.test/4", "http://a.test/5"}
    assert found(small, "데이터") == ["http://a.test/6"]
    assert found(small, "Python") == found(small, "python数据") == ["http://a.test/3"]
    assert found(small, "虫") == ["http://a.test/2", "http://a.test/1"]
    assert found(small, "数据库 -title:数据") == []


@given(CJK_TEXT, CJK_TEXT.filter(lambda text: index._RUN.fullmatch(index.fold_width(text)) is not None))
@how(max_examples=60)
def test_a_run_of_characters_is_found_exactly_where_it_is_a_substring(text: str, run: str) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter unicode61 remove_diacritics 2')")
    connection.execute("INSERT INTO t VALUES (?)", (index.analyse(text),))
    rows = connection.execute("SELECT 1 FROM t WHERE t MATCH ?", (f'"{index.analyse(run)}"',)).fetchall()
    assert bool(rows) == (index.fold_width(run) in index.fold_width(text))


def test_analysis_leaves_alone_what_fts5_does_well_and_takes_no_time_for_it() -> None:
    english = "Crawling is what a crawler does to a web of pages. " * 80
    assert index.analyse(english) is english
    assert index.analyse("naïve façade ΑΒΓ Привет") == "naïve façade ΑΒΓ Привет"
    start = time.process_time()
    for _ in range(100):
        index.analyse(english)
    assert (time.process_time() - start) / 100 < 100e-6


# --- versions, duplicates, canonical pages


def test_the_newest_version_is_found_and_the_older_is_not(small: Small) -> None:
    small.page("http://a.test/", "", "old words")
    small.page("http://a.test/", "", "new words")
    assert found(small, "old") == []
    assert one(small, "words").snippet == "new words"


def test_pages_with_the_same_text_are_one_result(small: Small) -> None:
    for number in range(5):
        small.page(f"http://a.test/{number}", f"Title {number}", "the very same text")
    small.page("http://a.test/other", "", "another text, not the same")
    hits = search(small.connection, "very same", 10)
    assert [hit.duplicates for hit in hits] == [4, 0]
    assert [hit.duplicates for hit in search(small.connection, "very same", 10, 1)] == [0]


def test_of_duplicates_the_canonical_one_is_shown_when_it_was_fetched_and_agrees(small: Small) -> None:
    small.page("http://a.test/?id=1", "Same same", "same text", canonical="http://a.test/page")
    small.page("http://a.test/?id=2", "Alone alone", "alone", canonical="http://a.test/lost")
    small.page("http://a.test/?id=3", "Liar liar", "liar", canonical="http://a.test/page")
    small.page("http://a.test/page", "", "same text")
    assert (one(small, "same").url, one(small, "same").duplicates) == ("http://a.test/page", 1)
    assert one(small, "alone").url == "http://a.test/?id=2"
    assert one(small, "liar").url == "http://a.test/?id=3"
    small.page("http://a.test/page", "", "another text now")
    assert (one(small, "same").url, one(small, "same").duplicates) == ("http://a.test/?id=1", 0)


def test_a_page_can_be_taken_out_again(small: Small) -> None:
    small.page("http://a.test/", "Title", "words")
    with small.connection:
        index.delete(small.connection, 1)
        index.delete(small.connection, 99)
    assert found(small, "words title") == []
    assert small.connection.pragma("integrity_check") == "ok"


@given(title=ANY_TEXT, url=ANY_TEXT, text=ANY_TEXT)
def test_any_page_can_be_indexed(title: str, url: str, text: str) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(
        "CREATE VIRTUAL TABLE page_index USING fts5(title, url, text, content='', contentless_delete=1,"
        " tokenize='porter unicode61 remove_diacritics 2'); CREATE TABLE text (page INTEGER PRIMARY KEY, blob BLOB)"
    )
    index.insert(connection, [index.Entry(1, title, url, text)])
    assert index.inflate(connection.execute("SELECT blob FROM text").get) == index.clean(text)
    assert connection.pragma("integrity_check") == "ok"


# --- snippets


def test_a_snippet_shows_the_words_where_they_stand_closest(small: Small) -> None:
    filler = "Some words that say nothing of it. " * 30
    text = f"{filler} a crawler. {filler} Here politely running crawlers visit pages. {filler} polite {filler}"
    small.page("http://a.test/", "", text)
    hit = one(small, "polite crawler run")
    assert {hit.snippet[start:end] for start, end in hit.marks} == {"politely", "running", "crawlers"}
    assert len(hit.snippet) <= 210
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("…")
    assert hit.snippet.strip("…") in " ".join(text.split("\n"))


def test_a_snippet_of_cjk_is_cut_at_characters_and_marked(small: Small) -> None:
    small.page("http://a.test/", "", "这是一段没有空格的文字。" * 50 + "爬虫" + "这是一段没有空格的文字。" * 50)
    hit = one(small, "爬虫")
    assert [hit.snippet[start:end] for start, end in hit.marks] == ["爬虫"]
    assert 150 <= len(hit.snippet) <= 210


def test_a_snippet_without_a_match_is_the_beginning(small: Small) -> None:
    small.page("http://a.test/zebra", "", "First words\nof the\x1b[31m page.")
    hit = one(small, "zebra")
    assert hit.snippet == "First words of the [31m page."
    assert hit.marks == ()


def test_a_snippet_of_a_huge_text_takes_no_long_time(small: Small) -> None:
    generator = random.Random(1)
    small.page("http://a.test/", "", " ".join(f"word{generator.randrange(999)}" for _ in range(300_000)))
    start = time.process_time()
    assert one(small, "word5 word7 word11").marks
    assert time.process_time() - start < 2


@given(
    st.lists(st.sampled_from(["polite", "crawler", "x" * 90, "爬虫", "é", "\n", "  ", "İ", "ß", "𠮷"]), max_size=120)
)
@how(max_examples=60)
def test_marks_lie_inside_the_snippet_and_do_not_overlap(words: list[str]) -> None:
    connection = apsw.Connection(":memory:")
    piece, marks = snippet(" ".join(words), Marker(Tokenizer(connection), parse(connection, "polite 爬虫 crawlers é")))
    places = [place for mark in marks for place in mark]
    assert places == sorted(places)
    assert all(0 <= place <= len(piece) for place in places)
    assert {piece[start:end] for start, end in marks} <= {"polite", "crawler", "爬虫", "é"}


def test_links_and_other_kinds_do_not_disturb(small: Small) -> None:
    small.page("http://a.test/", "", "words", Link("mailto:a@b", Via.ANCHOR, other=True), "http://a.test/next")
    assert found(small, "words") == ["http://a.test/"]
