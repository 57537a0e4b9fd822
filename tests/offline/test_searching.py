"""What is saved can be searched with no server: the index holds what the collection's own index holds, and a browser
finds in it what `gossamer search` finds.
"""

import base64
import json
import re
import shutil
import subprocess
import unicodedata
import zlib
from collections import defaultdict
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw
import pytest

from gossamer.archive import index
from gossamer.archive.search import search
from gossamer.offline.choice import Choice

from .making import ROOT, A, Web

_PART = re.compile(rb'gossamerPart\("([\w-]+)","([A-Za-z0-9+/=]*)"\)\n')
HOSTILE = "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">\u2028]]>"

Places = dict[tuple[str, int], list[int]]
"""Positions by word and URL id."""


def put(web: Web, path: str, title: str, text: str, language: str = "en") -> None:
    shown = "".join(f"&#{ord(each)};" if each in "<>&\"'" else each for each in text)
    web.put(path, f'<!doctype html><html lang="{language}"><title>{title}</title><body><p>{shown}</p>')


def parts(web: Web) -> dict[str, bytes]:
    """The contents of the index's scripts; each is a single call with a string in base64 and nothing else."""
    found = {}
    for path, body in web.tree().items():
        if path.startswith("_gossamer/search/") and not path.endswith("/search.js"):
            match = _PART.fullmatch(body)
            assert match, path
            assert path == f"_gossamer/search/{match[1].decode()}.js"
            found[match[1].decode()] = zlib.decompress(base64.b64decode(match[2], validate=True))
    return found


def core(web: Web) -> Any:
    return json.loads(parts(web)["index"])


def numbers(data: bytes) -> Iterator[int]:
    value = shift = 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0


def places(web: Web) -> Places:
    """Everything that stands in the index, read as its documentation says."""
    found: Places = {}
    for name, content in parts(web).items():
        while name.startswith("words-") and content:
            size = content[0]
            word, count, length = content[1 : size + 1].decode(), *islice_numbers(content[size + 1 :], 2)
            data = content[size + 1 + width(count) + width(length) :]
            content = data[length:]
            all_numbers = list(numbers(data[:length]))
            ids, counts, gaps = all_numbers[:count], all_numbers[count : 2 * count], iter(all_numbers[2 * count :])
            page = 0
            for more, times in zip(ids, counts, strict=True):
                page += more
                at = -1
                found[word, page] = [at := at + next(gaps) + 1 for _ in range(times)]
            assert next(gaps, None) is None
    return found


def islice_numbers(data: bytes, count: int) -> list[int]:
    found = numbers(data)
    return [next(found) for _ in range(count)]


def width(number: int) -> int:
    return max(1, -(-number.bit_length() // 7))


def places_in_collection(connection: apsw.Connection) -> Places:
    """The same of the collection's own index: its columns are one behind the other, a place left free between them."""
    connection.execute("CREATE VIRTUAL TABLE temp.instances USING fts5vocab('main', 'page_index', 'instance')")
    rows = connection.execute("SELECT term, doc, col, offset FROM temp.instances").fetchall()
    lengths: dict[tuple[object, object], int] = defaultdict(int)
    for _, page, column, offset in rows:
        lengths[page, column] = max(lengths[page, column], int(str(offset)) + 1)
    urls = {int(str(page)): int(str(url)) for page, url in connection.execute("SELECT id, url FROM page")}
    found: Places = defaultdict(list)
    for word, page, column, offset in rows:
        before = {"title": (), "url": ("title",), "text": ("title", "url")}[str(column)]
        start = sum(lengths[page, other] + 1 for other in before)
        if word != index.GAP:
            found[str(word), urls[int(str(page))]].append(start + int(str(offset)))
    return {key: sorted(positions) for key, positions in found.items()}


PAGES = {
    "/": ("Start", "The <b> of a crawler's life: don't panic. It's std::vector<int> &c. foo_bar 3.14", "en"),
    "/cafe": (
        "Café & Crème",
        "Un café crème à l'œuvre. Ñandú, Ångström, İstanbul, straße, ΟΔΟΣ, ёлка, naïve e\u0301tude",
        "fr",
    ),
    "/ja": ("レイヤーマスクの追加", "レイヤーマスクを追加します。データを保存。ﾃﾞｰﾀ　ＧＩＭＰ２の使い方", "ja"),
    "/ja2": ("デートのメータ", "デー、ータ。デートの予定とメータ", "ja"),
    "/zh": ("网络爬虫", "爬虫抓取数据。数据库很大，爬到虫子", "zh"),
    "/zh2": ("数学", "数 据 分开写；虫爬", "zh"),
    "/ko": ("웹 크롤러", "데이터를 저장합니다. 한국어 검색", "ko"),
    "/emoji": ("𠮷野家 😀", "𠮷 is beyond the BMP \uefff 😀 done", "en"),
    "/ing": ("Running relational hopping", "the runner runs, relations, hoped and hopping, agreed, flying skies", "en"),
    "/hostile": (HOSTILE.replace("<", "&lt;"), f"before {HOSTILE} after hostility", "en"),
}


@pytest.fixture
def web(tmp_path: Path) -> Web:
    return Web.create(tmp_path)


def filled(web: Web) -> Web:
    for path, page in PAGES.items():
        put(web, path, *page)
    for number in range(30):
        put(web, f"/n/{number}", f"Number {number}", f"a page about crawlers and vectors, number {number} of many")
    return web


@pytest.fixture
def site(web: Web) -> Web:
    return filled(web)


# --- the index


def test_it_holds_what_the_collections_own_index_holds(site: Web) -> None:
    site.save()
    assert places(site) == places_in_collection(site.small.connection)


def test_words_stand_in_the_order_in_which_browsers_compare_them(site: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.offline.searching._WORDS", 100)
    site.save()
    firsts = [first for first, _ in core(site)["scripts"]]
    assert len(firsts) > 5
    assert firsts == sorted(firsts, key=lambda word: word.encode("utf-16-be"))
    assert places(site) == places_in_collection(site.small.connection)


def test_a_large_site_is_packed_piece_by_piece(site: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.offline.postings._CHUNK", 20)
    monkeypatch.setattr("gossamer.offline.vocabulary._KEPT", 3)
    site.save()
    assert places(site) == places_in_collection(site.small.connection)


def test_it_holds_only_what_was_chosen(site: Web) -> None:
    site.save(Choice(under=(f"{A}zh",)))
    assert {word for word, _ in places(site)} >= {"爬", "虫"}
    content = b"".join(parts(site).values()).decode("utf-8", "replace")
    assert "crawler" not in content
    assert "レイヤー" not in content


def test_an_older_text_a_missing_one_and_one_that_asks_not_to_be_found(web: Web) -> None:
    put(web, "/", "Start", "first words")
    put(web, "/", "Start", "second thoughts")
    web.error("/", 500)
    web.put("/no", '<title>No</title><meta name="robots" content="noindex"><p>secretive')
    web.put("/i.png", b"\x89PNG\r\n\x1a\n", "image/png")
    web.put("/t.txt", "plain letters", "text/plain")
    web.save()
    words = {word for word, _ in places(web)}
    assert {"second", "plain"} <= words
    assert not {"first", "secret", "png"} & words


def test_pages_that_are_the_same_are_one(web: Web) -> None:
    for path in ("/a", "/b", "/c"):
        put(web, path, "Twice", "the same text")
    put(web, "/d", "Another title", "the same text")
    web.save()
    shown = [entry for name, body in parts(web).items() if name.startswith("text-") for entry in json.loads(body)]
    assert [(entry[1], entry[3], entry[5]) for entry in shown] == [
        ("Twice", f"{A}a", 2),
        ("Another title", f"{A}d", 0),
    ]


def test_a_copy_without_any_text_can_be_made(web: Web) -> None:
    web.put("/i.png", b"\x89PNG\r\n\x1a\n", "image/png")
    web.save()
    assert core(web)["ids"] == []


def test_its_files_are_the_copys_own_and_all_resolve(site: Web) -> None:
    saved = site.save()
    assert saved.unresolved == ()
    own = set(json.loads(site.read("_gossamer/copy.json"))["own"])
    assert own == site.tree().keys() - site.site()
    assert {"search.html", "_gossamer/search/search.js", "_gossamer/search/index.js"} < own
    assert 'action="search.html"' in site.read("index.html")


def test_the_same_archive_gives_the_same_bytes(site: Web) -> None:
    site.save()
    before = site.tree()
    assert site.save().written == 0
    shutil.rmtree(site.out)
    site.save()
    assert site.tree() == before


def test_only_scripts_with_something_new_are_written(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.offline.searching._WORDS", 800)
    monkeypatch.setattr("gossamer.offline.searching._TEXT", 1000)
    for number in range(160):
        put(web, f"/{number}", f"Title {number}", " ".join(f"w{(number * 37 + step) % 997}" for step in range(40)))
    web.save()
    before = web.tree()
    put(web, "/new", "New", "w1 only")
    web.error("/80", 404)
    web.save()
    after = web.tree()
    same = {path for path, body in after.items() if before.get(path) == body}
    for kind, most in (("words-", 0.25), ("text-", 0.05)):
        now = {path for path in after if f"/{kind}" in path}
        assert len(now) > 20
        assert len(now - same) <= most * len(now) + 2, kind


def test_nothing_in_a_page_ends_a_script(site: Web) -> None:
    """What the scripts of the index consist of is held by `parts`."""
    put(site, "/", HOSTILE.replace("<", "&lt;"), "x")
    site.save()
    assert parts(site)
    page = site.read("search.html")
    assert page.count("<script") == 1
    assert "&lt;/script&gt;&lt;script&gt;" in page
    assert "<img" not in page


# --- in a browser

_BROWSER = shutil.which("chromium")
browser = pytest.mark.skipif(_BROWSER is None, reason="chromium is not installed")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Web:
    """A copy for all who only look at it."""
    web = filled(Web.create(tmp_path_factory.mktemp("saved")))
    web.save()
    return web


def shown(web: Web, address: str, script: str = "") -> str:
    """What a browser makes of the search page; with ``script`` of one that runs this too."""
    page = web.out / "search.html"
    if script:
        page = web.out / "tried.html"
        page.write_text(f"{web.read('search.html')}<pre id=told></pre><script>{script}</script>", encoding="utf-8")
    command = [
        *(str(_BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"),
        f"--user-data-dir={web.out.parent / 'profile'}",
        f"{page.as_uri()}{address}",
    ]
    done = subprocess.run(command, capture_output=True, check=False, timeout=100)
    return done.stdout.decode("utf-8", "replace")


def told(web: Web, script: str) -> Any:
    """The value of an expression in the search page."""
    show = "(value) => { document.querySelector('#told').textContent = JSON.stringify(value); }"
    page = shown(web, "", f"(async () => {script})().then({show}, (error) => ({show})(String(error)))")
    match = re.search(r'<pre id="told">(.*?)</pre>', page, re.DOTALL)
    assert match, page[-2000:]
    return json.loads(unescape(match[1]))


def results(page: str) -> list[tuple[str, str, str]]:
    """Place, title and snippet of each result; what is marked in brackets."""
    page = page.replace("<mark>", "[").replace("</mark>", "]")
    found = re.findall(r'<li[^>]*><h2><a href="(.*?)">(.*?)</a></h2><p class="address">.*?</p><p>(.*?)</p></li>', page)
    return [(place, unescape(title), unescape(snippet)) for place, title, snippet in found]


def said(page: str) -> str:
    match = re.search(r'<p id="said"[^>]*>(.*?)</p>', page)
    assert match, page[-2000:]
    return match[1]


ENDINGS = (
    *("ational", "tional", "enci", "anci", "izer", "logi", "bli", "alli", "entli", "eli", "ousli", "ization"),
    *("ation", "ator", "alism", "iveness", "fulness", "ousness", "aliti", "iviti", "biliti", "icate", "ative"),
    *("alize", "iciti", "ical", "ful", "ness", "al", "ance", "ence", "er", "ic", "able", "ible", "ant"),
    *("ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize", "ed", "ing", "eed"),
    *("sses", "ies", "s", "ss", "y", "e", "ll", "tted", "ying", "ated", "bled", "ized", "sion", "tion"),
)


@browser
def test_words_are_cut_as_for_the_collections_own_index(saved: Web) -> None:
    """Every letter, mark and number of the scripts that there are, and every ending that Porter's algorithm knows."""
    letters = [
        chr(code)
        for code in (*range(0x80, 0x3400), *range(0xA000, 0xAC80), *range(0xF900, 0x10000), *range(0x10000, 0x12000))
        if unicodedata.category(chr(code)) not in ("Cs", "Cn")
    ]
    stems = ("", "a", "b", "y", "hop", "trav", "relat", "syllab", "fly", "éco", "crée", "ñoñ", "x" * 62, "oyy", "ctlyy")
    texts = [f"0{letter}0 {letter}" for letter in letters] + [stem + ending for stem in stems for ending in ENDINGS]
    texts += [
        "e\u0301tude",
        "0\u03040 \u0301",
        "ｶﾞﾃﾞ ＡＢＣ１２",
        "か\u3099",
        "GIMP２の使い方。次",
        "don't foo_bar C++ 3.14",
        "aကing",
    ]
    found = told(
        saved,
        "{ const index = await Index.open(); return "
        + json.dumps(texts)
        + ".map((text) => index.analyser.parts(Analyser.narrowed(text)).flatMap((part) => part.stems)); }",
    )
    tokenize = saved.small.connection.fts5_tokenizer(*index.TOKENIZER)
    wanted = [
        [
            word
            for word in tokenize(
                index.analyse(text).encode(),
                apsw.FTS5_TOKENIZE_DOCUMENT,
                None,
                include_offsets=False,
                include_colocated=False,
            )
            if word != index.GAP
        ]
        for text in texts
    ]
    assert dict(zip(texts, found, strict=True)) == dict(zip(texts, wanted, strict=True))


QUERIES = (
    *(
        "crawler",
        "crawlers vectors",
        "vector number 7",
        "relation",
        "hoping",
        "std::vector<int>",
        "foo_bar",
        "panic don't",
    ),
    *("cafe", "CAFÉ crème", "angstrom", "istanbul", "strasse", "οδοσ", "ёлка", "étude", "œuvre naive"),
    *("レイヤー", "レイヤーマスクの追加", "データ", "ﾃﾞｰﾀ", "GIMP2", "ＧＩＭＰ２の使い方", "デート", "メータ"),
    *("爬虫", "数据", "数据库", "爬", "虫子 数据", "网络爬虫", "데이터", "한국어", "검색", "𠮷野家"),
    *(
        '"crawlers and vectors"',
        '"vectors and crawlers"',
        "title:number 3",
        "url:ja",
        "-crawlers number",
        "number site:a.test -site:a.test/n/7",
    ),
    *("a AND", "-", "-r", '"', "50%", "foo:bar", "*", "", "  ", "\\", "zzzz", "number number 4", "it's", "x" * 600),
    "many words that stand in a page about crawlers and number of vectors and nothing more than this here",
)


@browser
def test_it_finds_what_the_collection_finds(saved: Web) -> None:
    found = told(
        saved,
        """{
            const index = await Index.open();
            const finder = new Finder(index);
            const answers = [];
            for (const query of """
        + json.dumps(QUERIES)
        + """) {
                const { rows } = await finder.find(query);
                answers.push(await Promise.all(rows.map(async (row) => (await index.page(row)).url)));
            }
            return answers;
        }""",
    )
    for query, urls in zip(QUERIES, found, strict=True):
        hits = search(saved.small.connection, query, 100)
        wanted = [hit.url for hit in hits]
        assert set(urls) == set(wanted), query
        distinct = {hit.url: round(hit.score, 2) for hit in hits}
        if wanted and list(distinct.values()).count(hits[0].score) == 1:
            assert urls[0] == wanted[0], query


@browser
def test_a_person_sees_count_titles_and_marked_snippets(saved: Web) -> None:
    page = shown(saved, f"#q={quote('爬虫')}")
    assert said(page) == "1 page"
    assert results(page) == [(f"{ROOT}/zh~.html", "网络[爬虫]", "[爬虫]抓取数据。数据库很大，爬到虫子")]
    assert 'lang="zh"' in page
    page = shown(saved, "?q=caf%C3%A9+creme")  # as a form sends it
    assert [title for _, title, _ in results(page)] == ["[Café] & [Crème]"]
    page = shown(saved, f"#q={quote('vectors number')}")
    assert said(page) == "30 pages with all of it, 1 more with some"
    assert len(results(page)) == 10
    assert '<button id="more" type="button">' in page


@browser
def test_what_is_said_when_little_is_found(saved: Web) -> None:
    answers = told(
        saved,
        """{
            const answers = [];
            for (const query of ["zzzz", "zzzz crawlers panic", "   ", "%E0%A4%A", "-"]) {
                location.hash = `q=${query}`;
                await new Promise((resolve) => setTimeout(resolve, 300));
                answers.push(document.querySelector("#said").textContent);
            }
            return answers;
        }""",
    )
    assert answers == [
        *("Nothing in this copy has that.", "31 pages with some of it, none with all", ""),
        *("40 pages with some of it, none with all", ""),  # the letter A
    ]


@browser
def test_hostile_texts_stay_texts(saved: Web) -> None:
    page = shown(saved, f"#q={quote('hostility <img src=x>')}")
    ((_, title, snippet),) = [entry for entry in results(page) if "hostility" in entry[2]]
    assert title.startswith("</script><script>document.title=")
    assert "[hostility]" in snippet
    assert "<title>broken" not in page
    assert page.count("<script") == 1
    assert "<img" not in page


@browser
def test_it_searches_while_one_types_and_keys_lead_through(saved: Web) -> None:
    page = shown(
        saved,
        "",
        """
        const box = document.querySelector("#q");
        const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        const told = [document.activeElement === box];
        box.value = "vect";
        box.dispatchEvent(new Event("input"));
        setTimeout(() => {
          told.push(location.hash, document.querySelector("#said").textContent);
          press("ArrowDown"); press("ArrowDown"); press("ArrowUp");
          told.push([...document.querySelectorAll("#results a")].indexOf(document.activeElement));
          document.querySelector("#more").click();
          press("/");
          told.push(document.activeElement === box);
          setTimeout(() => {
            told.push(document.querySelectorAll("#results li").length);
            document.querySelector("#told").textContent = JSON.stringify(told);
          }, 1000);
        }, 1500);
        """,
    )
    match = re.search(r'<pre id="told">(.*?)</pre>', page)
    assert match, page[-2000:]
    assert json.loads(unescape(match[1])) == [True, "#q=vect", "31 pages", 0, True, 20]


@browser
def test_a_missing_file_of_the_index_is_told(site: Web) -> None:
    site.save()
    (site.out / "_gossamer/search/index.js").unlink()
    assert "a file of this copy is missing: _gossamer/search/index.js" in said(shown(site, "#q=vector"))
