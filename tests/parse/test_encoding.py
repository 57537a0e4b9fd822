"""Encodings: found as browsers find them, and used for queries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.encoding import declared, decode, encode_query, known, trimmed
from gossamer.parse.html import read
from gossamer.parse.job import Limits, ParseJob

from .shared import conformance


def charset_of(body: bytes, content_type: str = "text/html", *, fallback: bool = False) -> str:
    job = ParseJob("http://h/", (("content-type", content_type),), body)
    return read(job, b"", fallback=fallback).charset


def html5lib_cases() -> list[tuple[bytes, str]]:
    raw = conformance("encoding-1.dat") + b"\n" + conformance("encoding-2.dat")
    parts = [part.partition(b"\n#encoding\n") for part in raw.split(b"#data\n")[1:]]
    return [(data, known(name.strip().decode())) for data, _, name in parts]


def test_all_81_cases_of_html5lib() -> None:
    found = html5lib_cases()
    assert len(found) == 81
    assert [(data, name, charset_of(data)) for data, name in found if charset_of(data) != name] == []


def test_the_fallback_finds_the_same_but_for_a_meta_far_down() -> None:
    """Its text is decoded before it is parsed, so a meta beyond the first 1024 bytes comes too late."""
    wrong = [data for data, name in html5lib_cases() if charset_of(data, fallback=True) != name]
    assert len(wrong) == 7
    assert all(len(data.partition(b"<meta")[0]) > 1024 - len("<meta charset=iso-8859-2>") for data in wrong)


SAMPLES = [
    ("gbk", "gb18030", "中文网页的标题，以及更多的文字内容"),
    ("big5", "big5", "中文網頁的標題，以及更多的文字內容"),
    ("shift_jis", "cp932", "日本語のページの題名と本文の文章です"),
    ("euc-jp", "euc_jp", "日本語のページの題名と本文の文章です"),
    ("iso-2022-jp", "iso2022_jp", "日本語のページの題名と本文の文章です"),
    ("euc-kr", "cp949", "한국어 페이지의 제목과 본문의 글입니다"),
    ("windows-1250", "cp1250", "Zażółć gęślą jaźń, příliš žluťoučký kůň"),
    ("windows-1251", "cp1251", "Съешь же ещё этих мягких французских булок"),
    ("windows-1252", "cp1252", "Zwölf Boxkämpfer jagen Viktor quer über den Deich – „œuvre“"),
    ("windows-1253", "cp1253", "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία"),
    ("windows-1254", "cp1254", "Pijamalı hasta yağız şoföre çabucak güvendi"),
    ("windows-1255", "cp1255", "דג סקרן שט בים מאוכזב ולפתע מצא חברה"),
    ("windows-1256", "cp1256", "نص حكيم له سر قاطع وذو شأن عظيم"),
    ("windows-1257", "cp1257", "Įlinkdama fechtuotojo špaga sublykčiojusi"),
    ("windows-1258", "cp1258", "cà phê đá và cây bàng"),
    ("koi8-r", "koi8_r", "Съешь же ещё этих мягких французских булок"),
    ("koi8-u", "koi8_u", "Жебракують філософи при ґанку церкви"),
    ("utf-16le", "utf-16-le", "Ünïcödé 中文"),
    ("utf-16be", "utf-16-be", "Ünïcödé 中文"),
    ("utf-8", "utf-8", "Ünïcödé 中文 😀"),
]


@pytest.mark.parametrize(("charset", "codec", "text"), SAMPLES, ids=[sample[0] for sample in SAMPLES])
@pytest.mark.parametrize("fallback", [False, True])
def test_declared_encodings_are_read(charset: str, codec: str, text: str, *, fallback: bool) -> None:
    body = f"<title>{text}</title><p>{text}".encode(codec)
    facts = read(
        ParseJob("http://h/", (("content-type", f'text/html; charset="{charset}"'),), body), b"", fallback=fallback
    )
    assert (facts.charset, facts.title, facts.text) == (charset, text, text)
    plain = read(ParseJob("http://h/", (("content-type", f"text/plain;charset={charset}"),), text.encode(codec)), b"")
    assert (plain.charset, plain.text) == (charset, text)


@pytest.mark.parametrize(("charset", "codec", "text"), [sample for sample in SAMPLES if "16" not in sample[0]])
def test_a_meta_declares_too(charset: str, codec: str, text: str) -> None:
    body = f"<meta charset={charset}><title>{text}</title>".encode(codec)
    assert read(ParseJob("http://h/", (("content-type", "text/html"),), body), b"").title == text


@pytest.mark.parametrize(("charset", "codec", "text"), SAMPLES, ids=[sample[0] for sample in SAMPLES])
@pytest.mark.parametrize("kind", ["text/html", "application/xhtml+xml"])
@pytest.mark.parametrize("fallback", [False, True])
def test_an_xml_declaration_declares_too(kind: str, charset: str, codec: str, text: str, *, fallback: bool) -> None:
    """HTML, "get an XML encoding"; without a mark, UTF-16 is known by "<?"."""
    body = f'<?xml version="1.0" encoding="{charset}"?><html><head><title>{text}</title></head></html>'.encode(codec)
    found = read(ParseJob("http://h/", (("content-type", kind),), body), b"", fallback=fallback)
    assert (found.title, found.charset) == (text, charset)


@pytest.mark.parametrize(
    ("start", "kind", "charset"),
    [
        ('<?xml encoding="koi8-r"?><meta charset=gbk>', "text/html", "gbk"),
        ('<?xml encoding="koi8-r"?><meta charset=gbk>', "application/xhtml+xml", "koi8-r"),
        ('<?xml encoding="koi8-r"?>', "text/html; charset=big5", "big5"),
        ('\ufeff<?xml encoding="koi8-r"?>', "text/html", "utf-8"),
        ('<?xml encoding="utf-16"?>', "text/html", "utf-8"),
        ('<?xml encoding="nonsense"?>', "text/html", "windows-1252"),
    ],
)
def test_what_an_xml_declaration_does_not_outrank(start: str, kind: str, charset: str) -> None:
    assert charset_of(f"{start}<title>x</title>".encode(), kind) == charset


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("start", ["<!doctype html>", "<html>", "\r\n <title>"])
def test_utf_16_without_a_mark(start: str, codec: str) -> None:
    """Browsers would show NULs; nothing else begins like this."""
    body = f"{start}<title>Zwölf</title>".replace("<title><title>", "<title>").encode(codec)
    found = read(ParseJob("http://h/", (("content-type", "text/html"),), body), b"")
    assert (found.title, found.charset) == ("Zwölf", codec.replace("16-", "16"))
    assert charset_of(b"<\0html><title>x</title>") == "windows-1252"


def test_a_meta_in_plain_text_declares_nothing() -> None:
    text = "<meta charset=shift_jis> wird für Japanisch gebraucht"
    found = read(ParseJob("http://h/", (("content-type", "text/plain"),), text.encode()), b"")
    assert (found.text, found.charset) == (text, "utf-8")


def test_long_plain_text_is_not_cut_within_a_character() -> None:
    limits = Limits(max_text=1000)
    found = read(ParseJob("http://h/", (("content-type", "text/plain"),), b"x" + "ü".encode() * 3000), b"", limits)
    assert (found.charset, found.text) == ("utf-8", "x" + "ü" * 999)
    found = read(ParseJob("http://h/", (("content-type", "text/plain"),), "caf\xe9".encode("latin-1")), b"", limits)
    assert found.text == "caf\xe9"


@pytest.mark.parametrize("charset", ["gbk", "big5", "shift_jis", "euc-jp", "euc-kr", "windows-1251", "koi8-r", "utf-8"])
def test_undeclared_encodings_are_found_by_their_content(charset: str) -> None:
    _, codec, text = next(sample for sample in SAMPLES if sample[0] == charset)
    assert (
        read(ParseJob("http://h/", (("content-type", "text/html"),), f"<p>{text * 5}".encode(codec)), b"").text
        == text * 5
    )


def test_order_is_mark_then_header_then_meta() -> None:
    meta = "<meta charset=windows-1251>"
    assert charset_of(b"\xef\xbb\xbf" + meta.encode(), "text/html; charset=koi8-r") == "utf-8"
    assert charset_of(b"\xff\xfe" + meta.encode("utf-16-le"), "text/html; charset=koi8-r") == "utf-16le"
    assert charset_of(meta.encode(), "text/html; charset=koi8-r") == "koi8-r"
    assert charset_of(meta.encode(), "text/html; charset=nonsense") == "windows-1251"
    assert charset_of(meta.encode()) == "windows-1251"


@pytest.mark.parametrize("fallback", [False, True])
@pytest.mark.parametrize("label", ["nonsense", "utf-7", "rot13", "idna", "unicode_escape", "x" * 10_000, "a\0b", "ß"])
def test_labels_nobody_knows_are_passed_over(label: str, *, fallback: bool) -> None:
    body = f"<meta charset='{label}'><p>süß".encode()
    assert charset_of(body, f"text/html; charset={label}", fallback=fallback) == "utf-8"
    assert known(label) == ""


@pytest.mark.parametrize(
    ("content_type", "name"),
    [
        ("text/html", ""),
        ("text/html; charset=latin1", "windows-1252"),
        ("text/html;CHARSET='GB2312'", "gbk"),
        ('text/html; x=y; charset = "utf8" ', "utf-8"),
        ("text/html; charset=", ""),
        ("text/html; charset=iso-2022-kr", "replacement"),
    ],
)
def test_charsets_of_content_types(content_type: str, name: str) -> None:
    assert declared(content_type) == name


@given(st.binary(max_size=200), st.sampled_from(["", "utf-8", "gbk", "utf-16le", "iso-2022-jp", "replacement"]))
def test_any_bytes_are_decoded_without_surrogates(body: bytes, charset: str) -> None:
    text, name = decode(body, charset)
    text.encode()
    assert known(name) == name


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_cut_character_is_trimmed_and_nothing_else(text: str) -> None:
    whole = text.encode()
    assert trimmed(whole) == whole
    for cut in range(len(whole)):
        assert trimmed(whole[:cut]) == whole[:cut].decode("utf-8", "ignore").encode()


@pytest.mark.parametrize(
    ("charset", "href", "expected"),
    [
        ("utf-8", "p?q=ä", "p?q=ä"),
        ("utf-16le", "p?q=ä", "p?q=ä"),
        ("windows-1252", "ä?q=ä#ä", "ä?q=%E4#ä"),
        ("windows-1252", "p?q=中&r=ä", "p?q=%26%2320013%3B&r=%E4"),
        ("windows-1252", "p#f?q=ä", "p#f?q=ä"),
        ("shift_jis", "?q=表", "?q=%95\\"),
        ("gbk", "?q=中文%20", "?q=%D6%D0%CE%C4%20"),
        ("big5", "?q=中", "?q=%A4%A4"),
        ("iso-2022-jp", "?q=あ", "?q=%1B$B$%22%1B(B"),
        ("koi8-r", "?q=я", "?q=%D1"),
        ("euc-kr", "?q=가", "?q=%B0%A1"),
    ],
)
def test_queries_are_encoded_as_the_page_is(charset: str, href: str, expected: str) -> None:
    assert encode_query(href, charset) == expected
