"""`gossamer graph` as a person types it: a small site with everything that a link can be."""

import contextlib
import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import apsw
import pytest

from cli.programs import Ended, run
from fakeweb import FakeWeb, Handler, Page, Site
from fakeweb.recipes import html, redirect, redirect_loop, status
from gossamer.cli.graph import FIELDS, NODE_FIELDS
from gossamer.cli.main import cli
from gossamer.errors import CollectionError
from small import Small

ROOT = Path(__file__).resolve().parents[2]
EVIL = "</script><script>alert(1)</script>"

HOME = f"""
<a href=/a>a</a> <a href=/a>again</a> <a href="/">self</a> <a href=/gone>gone</a> <a href=/old>old</a> <a href=/round>round</a>
<a href=/bad>bad</a> <a rel=nofollow href=/shy>shy</a> <a href=/first>first</a> <a href="mailto:x@y">mail</a>
<img src=/i.png><map><area href=/area alt=x></map><iframe src=/frame></iframe><a href="http://far.invalid/">far</a>
<a href=/same1>1</a><a href=/same2>2</a><a href=/evil>{EVIL}</a>
"""
LISTING = "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{}</urlset>"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A crawled collection, and the origin of its site."""
    pages: dict[str, Page | Handler] = {
        "/": html(HOME, title="Home"),
        "/a": html("<a href=/b>b</a><a href=/>home</a>", title="A"),
        "/b": html("<meta http-equiv=refresh content='0;url=/c'>", title="B"),
        "/c": html("c", title="C"),
        "/old": redirect("/older"),
        "/older": redirect("/c"),
        "/bad": redirect("/gone"),
        "/gone": status(404),
        "/first": redirect("/far"),
        "/far": html("<a href=/farther>x</a>"),
        "/farther": html("x"),
        "/shy": html("shy"),
        "/area": html("an area"),
        "/frame": html("<a href=/b>b</a>", title="Frame"),
        "/i.png": Page(b"png", content_type="image/png"),
        "/same1": html("the same words in two places"),
        "/same2": html("the same words in two places"),
        "/evil": html("x", title=f"<![CDATA[ & ]]> {EVIL.replace('<', '&lt;')}\x01"),
        "/lost": html("lost", title="Lost"),
        **redirect_loop("/round", "/rounder"),
    }
    folder = tmp_path_factory.mktemp("graph") / "c"
    with FakeWeb(Site(pages)) as web:
        listed = "".join(f"<url><loc>{web.url(path)}</loc></url>" for path in ("/", "/a", "/lost"))
        pages["/sitemap.xml"] = Page(LISTING.format(listed).encode(), content_type="application/xml")
        done = run("gossamer", "crawl", "--delay", "0", "--requisites", "-o", str(folder), web.url("/"))
    assert done.code == 0, done.err
    return folder, web.url("/").rstrip("/")


def graph(folder: Path, *arguments: str) -> Ended:
    done = run("gossamer", "graph", str(folder), *arguments)
    assert done.code == 0, done.err
    return done


def as_json(folder: Path, *arguments: str) -> dict[str, Any]:
    found = json.loads(graph(folder, "--format", "json", *arguments).out)
    assert isinstance(found, dict)
    return found


def test_the_graph_as_json(site: tuple[Path, str]) -> None:
    folder, origin = site
    data = as_json(folder)
    assert tuple(data) == FIELDS
    nodes = {node["url"].removeprefix(origin): node for node in data["nodes"]}
    ids = {node["id"]: path for path, node in nodes.items()}
    edges = {(ids[edge["source"]], ids[edge["target"]], edge["kind"], edge["nofollow"]) for edge in data["edges"]}
    assert len(edges) == len(data["edges"])
    for edge in (
        ("/", "/a", "a", False),
        ("/", "/area", "area", False),
        ("/", "/frame", "iframe", False),
        ("/", "/i.png", "requisite", False),
        ("/", "/shy", "a", True),
        ("/", "mailto:x@y", "a", False),
        ("/", "http://far.invalid/", "a", False),
        ("/b", "/c", "refresh", False),
        ("/old", "/older", "redirect", False),
        ("/sitemap.xml", "/lost", "listed", False),
    ):
        assert edge in edges
    assert data["graph"]["title"] == "Home"
    assert (data["graph"]["nodes"], data["graph"]["edges"]) == (len(nodes), len(edges))
    assert {path: nodes[path]["depth"] for path in ("/", "/a", "/b", "/c", "/old", "/older", "/far", "/farther")} == {
        "/": 0, "/a": 1, "/b": 2, "/c": 1, "/old": 1, "/older": 1, "/far": 1, "/farther": 2,
    }  # fmt: skip
    assert nodes["/lost"]["depth"] is nodes["/i.png"]["pagerank"] is None
    assert [nodes[path]["in_degree"] for path in ("/b", "/c", "/", "/shy", "/i.png", "/lost")] == [2, 2, 1, 1, 0, 0]
    assert [nodes[path]["out_degree"] for path in ("/a", "/old", "/c")] == [2, 1, 0]
    assert sum(node["pagerank"] or 0 for node in nodes.values()) == pytest.approx(1)
    assert nodes["/c"]["pagerank"] > nodes["/a"]["pagerank"] > nodes["/shy"]["pagerank"] > 0
    assert [path for path, node in nodes.items() if node["is_seed"]] == ["/"]


def test_what_is_to_be_mended(site: tuple[Path, str]) -> None:
    folder, origin = site
    data = json.loads(json.dumps(as_json(folder)).replace(origin, ""))
    broken = {found["url"]: found for found in data["broken"]}
    assert {"/gone", "/bad", "/round", "/rounder"} <= broken.keys()
    assert not {"/old", "/c", "/", "http://far.invalid/"} & broken.keys()
    assert broken["/gone"]["status"] == 404
    assert broken["/gone"]["sources"] == [{"url": "/", "kind": "a"}, {"url": "/bad", "kind": "redirect"}]
    assert (broken["/bad"]["end"], broken["/round"]["end"]) == ("/gone", None)
    assert [(found["url"], found["title"], found["listed_by"]) for found in data["orphans"]] == [
        ("/lost", "Lost", ["/sitemap.xml"]),
    ]
    chains = {tuple(found["urls"]): found for found in data["redirects"]}
    assert chains.keys() == {
        ("/old", "/older", "/c"),
        ("/bad", "/gone"),
        ("/first", "/far"),
        ("/round", "/rounder", "/round"),
    }
    assert [found["is_loop"] for found in chains.values()].count(True) == 1
    assert chains["/bad", "/gone"]["is_broken"]
    assert (chains["/old", "/older", "/c"]["hops"], chains["/old", "/older", "/c"]["status"]) == (2, 200)
    assert [found["urls"] for found in data["duplicates"]] == [["/same1", "/same2"]]
    nodes = {node["url"]: node for node in data["nodes"]}
    assert (nodes["/same2"]["duplicate_of"], nodes["/same1"]["duplicate_of"]) == ("/same1", None)


def test_graphml_is_xml_and_has_the_same(site: tuple[Path, str]) -> None:
    folder, _ = site
    data, root = as_json(folder), ET.fromstring(graph(folder, "--format", "graphml").out)
    space = "{http://graphml.graphdrawing.org/xmlns}"
    nodes = root.findall(f"{space}graph/{space}node")
    assert [node.get("id") for node in nodes] == [f"n{node['id']}" for node in data["nodes"]]
    assert len(root.findall(f"{space}graph/{space}edge")) == len(data["edges"])
    titles = [each.text for each in root.iter(f"{space}data") if each.get("key") == "node_title"]
    assert any(EVIL in (title or "") for title in titles)
    keys = {key.get("id"): key.get("attr.type") for key in root.findall(f"{space}key")}
    assert (keys["node_pagerank"], keys["node_depth"], keys["node_is_broken"]) == ("double", "long", "boolean")
    assert {each.get("key") for each in root.iter(f"{space}data")} <= keys.keys()


def test_csv_has_a_table_for_each_thing(site: tuple[Path, str]) -> None:
    folder, origin = site
    data = as_json(folder)

    def table(name: str) -> list[dict[str, str]]:
        text = graph(folder, "--format", "csv", "--table", name).out.replace(origin, "")
        return list(csv.DictReader(io.StringIO(text)))

    assert graph(folder, "--format", "csv").out == graph(folder, "--format", "csv", "--table", "links").out
    assert {"source": "/", "target": "/frame", "kind": "iframe", "nofollow": "no"} in table("links")
    assert len(table("links")) == len(data["edges"])
    assert [row["url"] for row in table("nodes")] == [node["url"].replace(origin, "") for node in data["nodes"]]
    assert ("/", "a", "/gone", "404") in {(r["source"], r["kind"], r["url"], r["status"]) for r in table("broken")}
    assert [row["url"] for row in table("orphans")] == ["/lost"]
    assert ("/old", "/c", "2", "/older") in {(r["url"], r["end"], r["hops"], r["way"]) for r in table("redirects")}
    assert [(row["url"], row["duplicate_of"]) for row in table("duplicates")] == [("/same2", "/same1")]


def test_a_part_is_measured_as_in_the_whole(site: tuple[Path, str]) -> None:
    folder, origin = site
    whole = {node["url"]: node for node in as_json(folder)["nodes"]}
    part = as_json(folder, "*/a*", "*/b", "--kind", "internal")
    assert {node["url"] for node in part["nodes"]} == {f"{origin}/a", f"{origin}/b", f"{origin}/area"}
    assert all(node == whole[node["url"]] for node in part["nodes"])
    assert len(part["edges"]) == 1
    assert not part["broken"] and not part["redirects"]


def test_a_file_is_whole_or_not_there(site: tuple[Path, str], tmp_path: Path) -> None:
    folder, _ = site
    target = tmp_path / "out.json"
    assert graph(folder, "-o", str(target)).out == ""
    assert json.loads(target.read_text()) == as_json(folder)
    assert graph(folder, "-o", str(tmp_path / "out.bin")).out == ""
    assert (tmp_path / "out.bin").read_text().startswith("<!doctype html>")
    done = run("gossamer", "graph", str(folder), "-o", str(tmp_path / "no" / "out.json"))
    assert (done.code, "No such file" in done.err) == (4, True)
    assert run("gossamer", "graph", str(tmp_path / "nothing")).code == 4
    done = run("gossamer", "graph", str(folder), "--format", "json", "--table", "nodes")
    assert (done.code, "--table is for csv" in done.err) == (2, True)


def test_the_newest_version_counts(tmp_path: Path) -> None:
    small = Small.create(tmp_path / "site")
    small.page("http://a.test/", "Before", "first", "http://a.test/old", "http://a.test/kept")
    small.page("http://a.test/", "After", "second", "http://a.test/new", "http://a.test/kept")
    small.answer("http://a.test/", status=304)
    small.seal()
    data = as_json(small.folder)
    ids = {node["id"]: node["url"] for node in data["nodes"]}
    assert [(ids[edge["source"]], ids[edge["target"]]) for edge in data["edges"]] == [
        ("http://a.test/", "http://a.test/kept"),
        ("http://a.test/", "http://a.test/new"),
    ]
    assert (data["graph"]["title"], data["nodes"][0]["title"], data["nodes"][0]["status"]) == ("After", "After", 200)


def test_it_is_read_beside_one_who_writes(tmp_path: Path) -> None:
    small = Small.create(tmp_path / "site")
    small.page("http://a.test/", "Home", "first", "http://a.test/1")
    with small.connection:
        small.connection.execute("UPDATE url SET reason = 'not said yet'")
        assert [node["reason"] for node in as_json(small.folder)["nodes"]] == ["", ""]
    assert {node["reason"] for node in as_json(small.folder)["nodes"]} == {"not said yet"}
    small.seal()


@pytest.mark.parametrize("value", ["x'ff00'", "'zzz'", "9e999", "-1", "1 << 62"])
def test_a_stranger_can_put_any_value_into_any_column(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], value: str
) -> None:
    small = Small.create(tmp_path / "site")
    small.page("http://a.test/", "Home", "first", "http://a.test/1", "http://a.test/old")
    small.answer("http://a.test/old", status=301, redirect="http://a.test/1")
    small.page("http://a.test/1", "Home", "first")
    small.seal()
    path = small.folder / "crawl.db"
    whole = path.read_bytes()
    for table in ("url", "page", "links", "host"):
        connection = apsw.Connection(str(path))
        names = [str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")]
        connection.close()
        for name in names:
            connection = apsw.Connection(str(path))
            with contextlib.suppress(apsw.ConstraintError, apsw.MismatchError):
                connection.execute(f"UPDATE {table} SET {name} = {value}")
            connection.close()
            for form in ("json", "html"):
                with contextlib.suppress(CollectionError):
                    cli.main(["graph", str(small.folder), "--format", form, "-o", "/dev/null"], standalone_mode=False)
            path.write_bytes(whole)


def test_nothing_is_a_graph_too(tmp_path: Path) -> None:
    small = Small.create(tmp_path / "site")
    small.seal()
    data = as_json(small.folder)
    assert data["graph"] == {"title": "", "nodes": 0, "edges": 0, "fetched": None}
    assert not any(data[name] for name in FIELDS[3:])
    for form in ("graphml", "csv"):
        assert graph(small.folder, "--format", form).out


def test_the_fields_of_nodes_are_documented() -> None:
    text = (ROOT / "docs" / "graph.md").read_text(encoding="utf-8").partition("| field of a node |")[2]
    assert tuple(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == NODE_FIELDS
