"""The check of a copy: every kind of reference is seen, resolved as a browser on file:// does, and told when it is dead."""

import json
from pathlib import Path

import pytest

from gossamer.errors import UsageError
from offline.making import Web, check, reasons

HEAD = '<!doctype html><meta charset="utf-8">'


def folder(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        path = tmp_path / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


SEEN = [
    '<a href="{}">x</a>',
    '<map><area href="{}"></map>',
    '<img src="{}">',
    '<img srcset="{} 2x">',
    '<img srcset="http://a.test/x 1x,{} 2x">',
    '<picture><source srcset="{}"></picture>',
    '<link rel="stylesheet" href="{}">',
    '<link rel="preload" as="image" imagesrcset="{} 100w">',
    '<link rel="next" href="{}">',
    '<script src="{}"></script>',
    '<script type="module">import x from "./{}"</script>',
    '<script type=module>\nexport * from "./{}";</script>',
    '<video src="{}"></video>',
    '<video poster="{}"></video>',
    '<audio><source src="{}"></audio>',
    '<video><track src="{}"></video>',
    '<embed src="{}">',
    '<object data="{}"></object>',
    '<iframe src="{}"></iframe>',
    "<iframe srcdoc=\"<img src='{}'>\"></iframe>",
    "<iframe srcdoc=\"<iframe srcdoc='&lt;img src={}&gt;'></iframe>\"></iframe>",
    '<input type="image" src="{}">',
    '<form action="{}"></form>',
    '<form><button formaction="{}"></button></form>',
    '<table background="{}"></table>',
    '<table><tr><td background="{}"></table>',
    '<p style="background:url({})">',
    "<p style='background:url(&quot;{}&quot;)'>",
    "<style>@import '{}';</style>",
    "<style>p{{background:image-set('{}' 1x)}}</style>",
    '<svg><image href="{}"></image></svg>',
    '<svg><image xlink:href="{}"></image></svg>',
    '<svg><use href="{}#a"></use></svg>',
    '<svg><a xlink:href="{}"></a></svg>',
    '<svg><rect fill="url({}#a)"></rect></svg>',
    "<svg><style>rect{{mask:url({}#m)}}</style></svg>",
    '<meta http-equiv="refresh" content="5; url={}">',
    '<noscript><img src="{}"></noscript>',
    '<base href="sub/"><a href="../{}">x</a>',
    '<a href=" \n{}\n ">x</a>',
    '<a href="{}?query">x</a>',
    '<img src="x/../{}">',
]


@pytest.mark.parametrize("markup", SEEN)
def test_every_reference_is_seen(markup: str, tmp_path: Path) -> None:
    out = folder(tmp_path, a_html=HEAD + markup.format("lost.file"))
    (found,) = check(out).unresolved
    assert found.file == "a.html"
    assert "lost.file" in found.reference
    (out / "lost.file").write_text("")
    assert not check(out).unresolved


@pytest.mark.parametrize(
    "markup",
    [
        '<a data-href="lost">x</a>',
        '<div xmlns="lost" src="lost" href="lost">',
        '<a href="mailto:a@b.test">x</a><a href="javascript:go()">x</a><img src="data:image/gif;base64,R0lGOD">',
        '<a href="http://a.test/">x</a><img src="https://a.test/x">',
        '<img src=""><script src=""></script>',
        "<script>import('./lost')</script><script>x = './lost'</script>",
        '<link rel="canonical" href="lost"><link rel="preconnect" href="lost">',
        '<input type="text" src="lost">',
        "<style>@namespace svg url(lost);</style>",
        "<!-- <img src=lost> --><textarea><img src=lost></textarea>",
        '<a href="file:///etc/hostname">x</a>',
    ],
)
def test_what_is_no_local_reference_is_left_alone(markup: str, tmp_path: Path) -> None:
    assert not check(folder(tmp_path, a_html=HEAD + markup)).unresolved


def test_files_of_other_kinds_are_read_too(tmp_path: Path) -> None:
    out = folder(
        tmp_path,
        s_css="@import 'lost1.css'; p{background:url(lost2.png)}",
        m_js='import {a} from "./lost3.js";\nimport "bare";\nconst text = "import x from \'./no.js\'";',
        v_svg='<?xml version="1.0"?><?xml-stylesheet href="lost4.css"?><svg xmlns="http://www.w3.org/2000/svg"'
        ' xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="lost5.png"/></svg>',
        w_webmanifest=json.dumps(
            {"icons": [{"src": "lost6.png"}], "start_url": "lost7.html", "shortcuts": [{"url": "lost8", "icons": 7}]}
        ),
        x_xhtml='<html xmlns="http://www.w3.org/1999/xhtml"><body><img src="lost9.png"/></body></html>',
        t_txt="<img src=lost>",
    )
    assert {each.reference for each in check(out).unresolved} == {
        *("lost1.css", "lost2.png", "./lost3.js", "lost4.css", "lost5.png", "lost6.png", "lost7.html", "lost8"),
        "lost9.png",
    }


def test_why_a_reference_does_not_resolve(tmp_path: Path) -> None:
    out = folder(
        tmp_path / "copy",
        a_html=HEAD
        + "<a href=d/>1</a><a href=../x>2</a><a href=none>3</a><a href=A.HTML>4</a><a href=d>5</a><a href=/b>6</a>",
        d__b_html=HEAD,
    )
    assert reasons(check(out).unresolved) == {
        "d/": "it is a folder",
        "../x": "it leads out of the copy",
        "none": "there is no such file",
        "A.HTML": "there is no such file",
        "d": "it is a folder",
        "/b": "it leads out of the copy",
    }


def test_names_with_all_kinds_of_characters_are_found(tmp_path: Path) -> None:
    (tmp_path / "a b#c.html").write_text(HEAD)
    (tmp_path / "大.html").write_text(HEAD)
    out = folder(
        tmp_path, a_html=HEAD + '<a href="a%20b%23c.html">1</a><a href="大.html">2</a><a href="%E5%A4%A7.html">3</a>'
    )
    found = check(out)
    assert not found.unresolved
    assert found.local == 3


@pytest.mark.parametrize(
    ("fragment", "is_there"),
    [
        *(("here", True), ("name", True), ("%C3%A9", True), ("é", True), ("a%20b", True), ("", True), ("top", True)),
        *(
            ("TOP", True),
            (":~:text=x", True),
            ("here:~:text=x", True),
            ("nowhere", False),
            ("Here", False),
            ("inner", False),
        ),
    ],
)
def test_fragments(fragment: str, is_there: bool, tmp_path: Path) -> None:
    out = folder(
        tmp_path,
        a_html=HEAD + f'<a href="b.html#{fragment}">x</a>',
        b_html=HEAD + "<p id=here><a name=name></a><p id=é><p id='a b'><iframe srcdoc='<p id=inner>'></iframe>",
    )
    assert bool(check(out).unresolved) != is_there


def test_fragments_of_the_same_page_and_of_drawings(tmp_path: Path) -> None:
    out = folder(
        tmp_path,
        a_html=HEAD + "<a href=#b>x</a><a href=#c>y</a><p id=b><svg><use href='v.svg#s'/><use href='v.svg#t'/></svg>",
        v_svg="<svg xmlns='http://www.w3.org/2000/svg'><g id='s'/></svg>",
    )
    assert set(reasons(check(out).unresolved)) == {"#c", "v.svg#t"}


def test_what_is_behind_a_link_is_no_part_of_the_copy(tmp_path: Path) -> None:
    (tmp_path / "outside.png").write_text("")
    out = folder(tmp_path / "copy", a_html=HEAD + "<img src=i.png>")
    (out / "i.png").symlink_to(tmp_path / "outside.png")
    assert len(check(out).unresolved) == 1


def test_no_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        check(tmp_path / "none")


def test_an_empty_folder_is_no_copy_without_faults(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        check(tmp_path)


def test_a_file_that_is_gone_is_told_also_where_nothing_refers_to_it(tmp_path: Path) -> None:
    web = Web.create(tmp_path)
    web.page("a")
    web.save()
    (web.out / "index.html").unlink()
    assert ("index.html", "the file is not there any more") in {
        (each.file, each.reason) for each in web.check().unresolved
    }


def test_deep_and_broken_markup_is_read(tmp_path: Path) -> None:
    nested = "<div>" * 20_000
    out = folder(
        tmp_path, a_html=f"{HEAD}{nested}<img src=i.png><a href='", b_html="\0<", c_html="", d_css="url(", e_svg="<"
    )
    assert {each.reference for each in check(out).unresolved} <= {"i.png", "b"}
