"""What the header said of an encoding is true in the copy as well, where there is no header."""

import pytest

from .copies import META, SITE, html, other, rewritten

BOM = b"\xef\xbb\xbf"


def page(source: bytes, charset: str = "") -> bytes:
    return rewritten(source, charset=charset).body


@pytest.mark.parametrize(
    ("charset", "codec", "text"),
    [
        ("windows-1252", "cp1252", "Zürich €"),
        ("shift_jis", "cp932", "日本語ページ"),
        ("euc-jp", "euc_jp", "日本語ページ"),
        ("iso-2022-jp", "iso2022_jp", "日本語ページ"),
        ("gb18030", "gb18030", "中文网页"),
        ("big5", "cp950", "中文網頁"),
        ("koi8-r", "koi8_r", "страница"),
        ("utf-16le", "utf-16-le", "страница"),
        ("utf-8", "utf-8", "страница"),
    ],
)
def test_a_page_is_written_in_utf_8_and_says_so(charset: str, codec: str, text: str) -> None:
    assert page(f"<!doctype html><p>{text}".encode(codec), charset).decode() == f"<!doctype html>{META}<p>{text}"


def test_labels_are_known_by_any_of_their_names() -> None:
    assert page("<p>ü".encode("latin-1"), "Latin1").decode() == f"{META}<p>ü"
    assert page("<p>ü".encode(), "no-such-encoding").decode() == f"{META}<p>ü"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<meta charset=iso-8859-1>", '<meta charset="utf-8">'),
        ("<meta charset='iso-8859-1'>", "<meta charset='utf-8'>"),
        ("<meta charset=UTF8>", "<meta charset=UTF8>"),
        ("<META CHARSET='koi8-r'/>", "<META CHARSET='utf-8'/>"),
        (
            "<meta http-equiv='Content-Type' content='text/html; charset=iso-8859-1'>",
            "<meta http-equiv='Content-Type' content='text/html; charset=utf-8'>",
        ),
        (
            "<meta content=\"text/html;charset = 'koi8-r' ;x\" http-equiv=content-type>",
            "<meta content=\"text/html;charset = 'utf-8' ;x\" http-equiv=content-type>",
        ),
        ("<meta charset=koi8-r><meta charset=big5>", '<meta charset="utf-8"><meta charset="utf-8">'),
    ],
)
def test_what_it_says_of_itself_is_made_true(source: str, expected: str) -> None:
    assert (
        page(f"<!doctype html><head>{source}".encode(), "windows-1252").decode() == f"<!doctype html><head>{expected}"
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>x", f"{META}<p>x"),
        ("<!doctype html><p>x", f"<!doctype html>{META}<p>x"),
        ("<!-- x --><!DOCTYPE html>\n<p>x", f"<!-- x --><!DOCTYPE html>{META}\n<p>x"),
        ("<!doctype html><html lang=x><p>x", f"<!doctype html><html lang=x>{META}<p>x"),
        ("<html><head><title>x", f"<html><head>{META}<title>x"),
        ("<html><HEAD profile=x ><title>x", f"<html><HEAD profile=x >{META}<title>x"),
        ("<html><frameset><frame>", f"<html>{META}<frameset><frame>"),
        ("<!-- <meta charset=utf-8> --><p>x", f"{META}<!-- <meta charset=utf-8> --><p>x"),
        ("<meta name=charset content=utf-8>", f"{META}<meta name=charset content=utf-8>"),
        (
            "<?xml version='1.0' encoding='koi8-r'?><!doctype html><p>",
            f"<?xml version='1.0' encoding='UTF-8'?><!doctype html>{META}<p>",
        ),
    ],
)
def test_where_it_says_nothing_it_is_told_to(source: str, expected: str) -> None:
    assert page(source.encode(), "utf-8").decode() == expected


def test_a_meta_that_browsers_find_too_late_is_not_relied_on() -> None:
    late = b"<!doctype html><head><style>" + b" " * 2000 + b"</style><meta charset=koi8-r>"
    assert page(late, "koi8-r").startswith(b"<!doctype html><head>" + META.encode())
    assert page(late, "koi8-r").endswith(b'<meta charset="utf-8">')


def test_where_nothing_can_stand_early_a_mark_does() -> None:
    late = b"<!--" + b" " * 2000 + b"--><!doctype html><p>x"
    assert page(late, "koi8-r") == BOM + late


def test_a_mark_stays_and_is_enough() -> None:
    assert page(BOM + "<p>ü".encode(), "koi8-r") == BOM + "<p>ü".encode()
    assert page("\ufeff<p>ü".encode("utf-16-le")).decode() == f"{META}<p>ü"


def test_without_a_header_the_page_is_asked() -> None:
    assert page("<meta charset=koi8-r><p>я".encode("koi8_r")).decode() == f"{META}<p>я"


def test_without_a_header_it_is_read_as_the_crawl_reads_it() -> None:
    assert page("<?xml version='1.0' encoding='koi8-r'?><p>я".encode("koi8_r")).decode().endswith("<p>я")
    assert page("<!doctype html><p>я".encode("utf-16-le")).decode() == f"<!doctype html>{META}<p>я"
    assert other("<svg><title>ü</title></svg>", "image/svg+xml", charset="") == "<svg><title>ü</title></svg>"


def test_queries_keep_the_encoding_of_the_page() -> None:
    found = rewritten("<a href='/q?n=é'><a href='http://other.example/?é'>".encode("latin-1"), charset="windows-1252")
    assert found.body.decode().endswith(
        "<a href='../q.q-55555555.html?n=%E9'><a data-gossamer=\"live\" href='http://other.example/?%E9'>"
    )
    assert html("<a href='/q?n=é'>") == "<a href='../q.q-66666666.html?n=%C3%A9'>"


def test_forms_are_sent_in_the_encoding_of_the_page() -> None:
    form = rewritten(b"<form action=s>", charset="euc-jp").body.decode()
    assert form.endswith(f'<form accept-charset="euc-jp" data-gossamer="live" action="{SITE}/dir/s">')
    assert "accept-charset" not in html("<form action=s>")


@pytest.mark.parametrize(
    ("source", "charset", "expected"),
    [
        ("p{}", "", "p{}"),
        ("p{content:'ü'}", "windows-1252", "@charset \"utf-8\";\np{content:'ü'}"),
        ("p{content:'ü'}", "", "@charset \"utf-8\";\np{content:'ü'}"),
        ("@charset \"iso-8859-1\";p{content:'ü'}", "", "@charset \"utf-8\";p{content:'ü'}"),
        ("@charset \"koi8-r\";p{content:'ü'}", "windows-1252", "@charset \"utf-8\";p{content:'ü'}"),
        ('@charset "koi8-r";p{}', "", '@charset "utf-8";p{}'),
        ('@charset "UTF-8";p{}', "", '@charset "UTF-8";p{}'),
        ("@charset 'koi8-r';p{}", "", "@charset 'koi8-r';p{}"),
    ],
)
def test_style_sheets(source: str, charset: str, expected: str) -> None:
    assert rewritten(source.encode("latin-1"), "text/css", charset=charset).body.decode() == expected


def test_style_sheets_in_utf_8() -> None:
    assert rewritten("p{content:'ü'}", "text/css", charset="").body.decode() == "@charset \"utf-8\";\np{content:'ü'}"
    assert rewritten(BOM + "p{content:'ü'}".encode(), "text/css", charset="").body == BOM + "p{content:'ü'}".encode()
    assert (
        rewritten("p{content:'ü'}".encode("utf-16"), "text/css", charset="").body.decode()
        == "@charset \"utf-8\";\np{content:'ü'}"
    )
    assert rewritten('@charset "utf-16";p{}', "text/css", charset="").body == b'@charset "utf-8";p{}'


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/pdf", "image/png", "application/json", "text/x-unknown", "", "application/xml"],
)
def test_other_files_stay_byte_for_byte(content_type: str) -> None:
    body = bytes(range(256)) + b"<a href='/a.html'>"
    assert rewritten(body, content_type, charset="koi8-r").body == body


def test_plain_text_says_its_encoding_where_a_header_did() -> None:
    assert rewritten("表ソ".encode("cp932"), "text/plain", charset="shift_jis").body == BOM + "表ソ".encode()
    assert rewritten("текст".encode("koi8-r"), "text/plain", charset="koi8-r").body == BOM + "текст".encode()


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        ("表ソ".encode("cp932"), ""),
        ("表ソ".encode(), "utf-8"),
        ("表ソ".encode(), "shift_jis"),  # it is not what its server says of all texts
        ("Größe".encode("latin-1"), "windows-1252"),
        (b"ascii", "koi8-r"),
    ],
)
def test_plain_text_that_browsers_read_anyway_stays_byte_for_byte(body: bytes, charset: str) -> None:
    assert rewritten(body, "text/plain", charset=charset).body == body


def test_a_content_type_may_have_parameters() -> None:
    assert "../a.png" in other("<img src=/a.png>", "Text/HTML; charset=utf-8")
