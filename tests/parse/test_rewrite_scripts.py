"""Imports of modules, import maps and manifests: where they are literal they point into the copy."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from .copies import NOTHING, SITE, html, mirrored, other, rewritten


def script(source: str) -> str:
    return other(source, "text/javascript")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import '/a.js'", "import '../a.js'"),
        ('import"/a.js"', 'import"../a.js"'),
        ("import x from '/a.js';", "import x from '../a.js';"),
        ("import {a, b as c} from '/a.js'", "import {a, b as c} from '../a.js'"),
        ("import{a}from'/a.js'", "import{a}from'../a.js'"),
        ("import * as x from '/a.js'", "import * as x from '../a.js'"),
        ("import x, {y} from '/a.js'", "import x, {y} from '../a.js'"),
        ("import x,*as y from'/a.js'", "import x,*as y from'../a.js'"),
        ("import {'a b' as c} from '/a.js'", "import {'a b' as c} from '../a.js'"),
        ("import {from} from '/a.js'", "import {from} from '../a.js'"),
        ("import from from '/a.js'", "import from from '../a.js'"),
        ("import /* 'x' */ x // 'y'\n from /**/ '/a.js'", "import /* 'x' */ x // 'y'\n from /**/ '../a.js'"),
        ("import x from '/a.js' with {type: 'json'}", "import x from '../a.js' with {type: 'json'}"),
        ("import defer * as x from '/a.js'", "import defer * as x from '../a.js'"),
        ("import source x from '/a.js'", "import source x from '../a.js'"),
        ("import {a}\nfrom '/a.js'\nimport '/a.js'", "import {a}\nfrom '../a.js'\nimport '../a.js'"),
        ("export * from '/a.js'", "export * from '../a.js'"),
        ("export * as x from '/a.js'", "export * as x from '../a.js'"),
        ("export {a, b as default} from '/a.js'", "export {a, b as default} from '../a.js'"),
        ("export{a}from'/a.js';export{b}", "export{a}from'../a.js';export{b}"),
        ("export {a}\nimport '/a.js'", "export {a}\nimport '../a.js'"),
        ("import('/a.js')", "import('../a.js')"),
        ("import ( '/a.js' ).then(x)", "import ( '../a.js' ).then(x)"),
        ("import(/* webpackChunkName: 'x' */ '/a.js')", "import(/* webpackChunkName: 'x' */ '../a.js')"),
        ("import('/a.js', {with: {type: 'json'}})", "import('../a.js', {with: {type: 'json'}})"),
        ("import(`/a.js`)", "import(`../a.js`)"),
        ("import.defer('/a.js')", "import.defer('../a.js')"),
        ("const x = await import('/a.js')", "const x = await import('../a.js')"),
        ("if (x) import('/a.js')", "if (x) import('../a.js')"),
        ("()=>import('/a.js')", "()=>import('../a.js')"),
        ("`${import('/a.js')}`", "`${import('../a.js')}`"),
        ("`a${`b${c}`}` + import('/a.js')", "`a${`b${c}`}` + import('../a.js')"),
        ("import '/dir/b.js'", "import './b.js'"),
        ("import 'b.js'", "import 'b.js'"),
        ("import './b.js'", "import './b.js'"),
        ("import '../a.js?v=1'", "import '../a.q-11111111.js?v=1'"),
        ("import './no.js'", f"import '{NOTHING}/dir/no.js'"),
        ("import './no.js?a=`$'", f"import '{NOTHING}/dir/no.js?a=%60%24'"),
        ("import 'http://cdn.example:8080/x.js'", "import '../../cdn.example_8080/x.js'"),
        ("import '//cdn.example/y.js'", "import 'about:invalid#http://cdn.example/y.js'"),
    ],
)
def test_literal_imports(source: str, expected: str) -> None:
    assert script(source) == expected


@pytest.mark.parametrize(
    "before",
    [
        "x = /'/;",
        "x = /[/']/;",
        "x = /\\/'/g;",
        "x = a / b / c;",
        "x = (a) / b; y = 'c' / d;",
        "x = a[0] / b; '/'",
        "if (a) /'/.test(b);",
        "while (a(b)) /'/.test(b);",
        "return /'/.test(b);",
        "x.return / 2; y = '/';",
        "{} /'/.test(a);",
        "x = {} / 2; y = '/';",
        "x++ / 2; y = '/';",
        "x = 'a\\'b';",
        'x = "a\\\nb";',
        "x = `'${'`'}'`;",
        "x = `\\`'`;",
        "x = `${{a: '}'}}`;",
        "// '\n",
        "/* ' */",
        "x = 1 // '\n",
        "x = a / /* ' */ b;",
        "<!-- '\n",
        "a => {} \n /'/.test(b);",
        "x = y ? /'/ : /`/;",
        "export default class {}\n",
        "export const a = 1, b = '/a.js';",
        "import.meta.url; x = '/a.js';",
    ],
)
def test_what_stands_before_an_import_is_passed_over(before: str) -> None:
    assert (
        script(before + "import '/a.js'; y = 'import \"/a.js\"'") == before + "import '../a.js'; y = 'import \"/a.js\"'"
    )


@pytest.mark.parametrize(
    "source",
    [
        "import 'react'",
        "import x from 'react/jsx-runtime'",
        "import('react')",
        "import(x)",
        "import('/a' + x)",
        "import(`/a${x}.js`)",
        "import('/\\x61.js')",
        "// import '/a.js'",
        "/* import '/a.js' */",
        "x = \"import '/a.js'\"",
        "x = `import '/a.js'`",
        "x = /import '\\/a.js'/",
        "x.import('/a.js')",
        "x?.import('/a.js')",
        "x = {import: '/a.js'}",
        "importx('/a.js')",
        "ximport('/a.js')",
        "import.meta.resolve('/a.js')",
        "export const x = '/a.js'",
        "export default '/a.js'",
        "export {x}; '/a.js'",
        "export {x}\n'/a.js'",
        "from '/a.js'",
        "fetch('/a.js')",
        "import 'data:text/javascript,1'",
        "import 'node:fs'",
        "importScripts('/a.js')",
    ],
)
def test_what_is_no_literal_import_stays(source: str) -> None:
    assert script(source) == source


def test_a_script_without_imports_stays_byte_for_byte() -> None:
    body = b"x = '\xff\xfe'"
    assert rewritten(body, "text/javascript", charset="utf-8").body == body
    body = b"// \xe9\n" + b"x" * 100
    assert rewritten(body, "application/javascript", charset="windows-1252").body == body.replace(b"\xe9", b"\xc3\xa9")


def test_scripts_in_pages() -> None:
    assert html("<script type=module>import '/a.js'</script>") == "<script type=module>import '../a.js'</script>"
    assert html("<script type=' MODULE '>import '/a.js'</script>").endswith("import '../a.js'</script>")
    assert html("<script>import('/a.js')</script>") == "<script>import('/a.js')</script>"
    assert html("<script type=module src=/a.js>import '/a.js'</script>").endswith("import '/a.js'</script>")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"imports": {"x": "/a.js"}}, {"imports": {"x": "../a.js"}}),
        ({"imports": {"x": "./b.js", "y": "./no.js"}}, {"imports": {"x": "./b.js", "y": f"{NOTHING}/dir/no.js"}}),
        ({"imports": {"/a.js": "/dir/b.js"}}, {"imports": {"../a.js": "./b.js"}}),
        ({"imports": {"/no.js": "/a.js"}}, {"imports": {f"{NOTHING}/no.js": "../a.js"}}),
        ({"imports": {"x/": "/lib/", "y": None, "z/": "./"}}, {"imports": {"x/": "../lib/", "y": None, "z/": "./"}}),
        ({"imports": {"x/": "http://cdn.example/lib/"}}, {"imports": {"x/": "about:invalid#http://cdn.example/lib/"}}),
        ({"scopes": {"/dir/": {"x": "/a.js"}}}, {"scopes": {"./": {"x": "../a.js"}}}),
        ({"scopes": {"/lib/": {"/a.js": "/a.js"}}}, {"scopes": {"../lib/": {"../a.js": "../a.js"}}}),
        (
            {"integrity": {"/a.js": "sha384-x", "/no.js": "sha384-y"}},
            {"integrity": {"../a.js": "", f"{NOTHING}/no.js": "sha384-y"}},
        ),
        ({"other": {"x": "/a.js"}}, {"other": {"x": "/a.js"}}),
    ],
)
def test_import_maps(source: object, expected: object) -> None:
    page = html(f"<script type=importmap>{json.dumps(source)}</script>")
    assert json.loads(page.removeprefix("<script type=importmap>").removesuffix("</script>")) == expected


def test_what_is_no_json_stays() -> None:
    for source in ('{"imports": {"x": "/a.js"}', "", "[" * 2000 + "]" * 2000, '{"imports": {"x": "/a.js",}}'):
        assert html(f"<script type=importmap>{source}</script>") == f"<script type=importmap>{source}</script>"
        assert other(source, "application/manifest+json") == source


def test_manifests_keep_everything_but_their_urls() -> None:
    source = """{
  "name": "/a.html", "start_url" : "\\/a.html?x",
  "id": "/a.html", "scope": "/dir/",
  "icons": [ {"src": "/a.png", "sizes": "1x1"}, {"src": "no.png"} ],
  "shortcuts": [{"url": "/a.html#x", "icons": [{"src": "c.png"}]}],
  "screenshots": [{"src": "\\u002fa.png", "label": "\\u00e9"}],
  "start_urls": "/a.html", "x": {"icons": [{"src": "/a.png"}]}
}"""
    found = rewritten(source, "application/manifest+json")
    assert found.body.decode() == (
        source.replace('"\\\\/a.html?x"', f'"{SITE}/a.html?x"')
        .replace('"scope": "/dir/"', '"scope": "index.html"')
        .replace('[ {"src": "/a.png"', '[ {"src": "../a.png"')
        .replace('"no.png"', f'"{NOTHING}/dir/no.png"')
        .replace('"/a.html#x"', '"../a.html#x"')
        .replace('"\\\\u002fa.png"', '"../a.png"')
    ).replace('"\\/a.html?x"', f'"{SITE}/a.html?x"').replace('"\\u002fa.png"', '"../a.png"')
    assert [each.kind for each in found.references] == [
        *("page", "other", "requisite", "requisite", "page", "requisite", "requisite")
    ]


def test_json_is_a_manifest_by_its_name() -> None:
    assert (
        other('{"start_url": "/a.html"}', "application/json", url=f"{SITE}/dir/manifest.json").count("../a.html") == 1
    )
    assert other('{"start_url": "/a.html"}', "application/json", url=f"{SITE}/dir/app.webmanifest?x").count("../") == 1
    assert (
        other('{"start_url": "/a.html"}', "application/json", url=f"{SITE}/dir/data.json") == '{"start_url": "/a.html"}'
    )


_SCRIPT = st.lists(
    st.sampled_from(
        (
            *(
                "import ",
                "export ",
                "from ",
                "import(",
                "'/a.js'",
                '"./b.js"',
                "`",
                "${",
                "}",
                "{",
                "(",
                ")",
                "/",
                "//",
            ),
            *("/*", "*/", "\\", "'", '"', "\n", ";", "x", ".", "*", " as ", "return ", "if", "=>", "++", "[", "]", "é"),
        )
    ),
    max_size=30,
).map("".join)


@given(_SCRIPT)
def test_no_script_raises_or_is_changed_twice(source: str) -> None:
    once = mirrored(source.encode(), "text/javascript")
    assert mirrored(once, "text/javascript") == once
