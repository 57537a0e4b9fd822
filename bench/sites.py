"""Real sites on loopback: what wget finds there, what gossamer finds, how fast, and whether a search hits.

    bench/sites.py --site sqlite3            compare on one site; --site all for every one
    bench/sites.py serve --site sqlite3      only serve it, and print the address to crawl

The sites are Debian's documentation packages, unpacked and served by nginx; wget and dpkg-deb are needed as well.
Packages are taken from the folder --debs, or fetched with apt-get download. Exit code 1 when anything differs.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from processes import cpu_of_children
from served import Tree, add_folders, entries, free_port, program, serving, unpack


@dataclass(frozen=True, slots=True)
class Site:
    """A package, where its pages begin, and what a reader of it would look for."""

    package: str
    start: str
    pages: int  # that wget 1.21 finds in the version named in the design
    searches: dict[str, str]  # query -> end of the URL that must be among the first results


SITES = {
    "cppreference": Site(
        "cppreference-doc-en-html",
        "/usr/share/cppreference/doc/html/en/index.html",
        4389,
        {
            "vector push_back": "/cpp/container/vector/push_back.html",
            "lambda expressions": "/cpp/language/lambda.html",
            "shared_ptr use_count": "/cpp/memory/shared_ptr/use_count.html",
            "std::sort": "/cpp/algorithm/sort.html",
            "printf format specifiers": "/c/io/fprintf.html",
        },
    ),
    "postgresql": Site(
        "postgresql-doc-15",
        "/usr/share/doc/postgresql-doc-15/html/index.html",
        1169,
        {
            "create index concurrently": "/sql-createindex.html",
            "pg_dump": "/app-pgdump.html",
            "window functions tutorial": "/tutorial-window.html",
            "routine vacuuming": "/routine-vacuuming.html",
            "logical replication restrictions": "/logical-replication-restrictions.html",
        },
    ),
    "python3": Site(
        "python3.11-doc",
        "/usr/share/doc/python3.11/html/index.html",
        526,
        {
            "list comprehensions": "/tutorial/datastructures.html",
            "argparse tutorial": "/howto/argparse.html",
            "dataclasses": "/library/dataclasses.html",
            "regular expression howto": "/howto/regex.html",
            "asyncio gather": "/library/asyncio-task.html",
        },
    ),
    "sqlite3": Site(
        "sqlite3-doc",
        "/usr/share/doc/sqlite3/index.html",
        757,
        {
            "write-ahead logging": "/wal.html",
            "full-text search fts5": "/fts5.html",
            "autoincrement": "/autoinc.html",
            "foreign key constraints": "/foreignkeys.html",
            "json functions": "/json1.html",
        },
    ),
    "gimp-ja": Site(
        "gimp-help-ja",
        "/usr/share/gimp/2.0/help/ja/index.html",
        685,
        {
            "ガウスぼかし": "/gimp-filter-gaussian-blur.html",
            "切り抜き": "/gimp-tool-crop.html",
            "スタンプで描画": "/gimp-tool-clone.html",
            "レイヤーマスクの追加": "/gimp-layer-mask-add.html",
            "unsharp mask": "/gimp-filter-unsharp-mask.html",
        },
    ),
}


@dataclass(slots=True)
class Run:
    """One program over one site."""

    pages: set[str] = field(default_factory=set)  # request targets answered with 200 and HTML
    answers: dict[str, int] = field(default_factory=dict)  # request target -> status, of all
    seconds: float = 0.0
    cpu: float = 0.0  # seconds, of all its processes
    server_cpu: float = 0.0
    code: int = 0

    @property
    def rate(self) -> float:
        return len(self.pages) / self.seconds if self.seconds else 0.0


def measure(root: Path, port: int, command: list[str], folder: Path) -> Run:
    """Run ``command`` in ``folder`` against a fresh server."""
    run = Run()
    with tempfile.TemporaryDirectory() as place:
        with serving({"_": Tree(root)}, Path(place), port):
            before, begun = cpu_of_children(), time.monotonic()
            run.code = subprocess.run(command, cwd=folder, check=False).returncode
            run.seconds = time.monotonic() - begun
            run.cpu = cpu_of_children() - before
        run.server_cpu = cpu_of_children() - before - run.cpu
        for entry in entries(Path(place)):
            run.answers[entry.target] = entry.status
            if entry.is_page:
                run.pages.add(unquote(entry.target))
    return run


def search(collection: Path, query: str) -> list[str]:
    """The URLs of the first five results."""
    command = [program("gossamer"), "search", str(collection), query, "--limit", "5", "--json"]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return [json.loads(line)["url"] for line in output.splitlines()]


def compare(name: str, root: Path) -> bool:
    """Both programs over one site; prints what they found. True when all is as it should be."""
    site, port = SITES[name], free_port()
    url = f"http://127.0.0.1:{port}{site.start}"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "wget").mkdir()
        mirror = measure(root, port, ["wget", "-q", "-r", "-l", "inf", url], folder / "wget")
        crawl = [program("gossamer"), "crawl", "-u", "0", "--delay", "0", "-o", str(folder / "collection"), url]
        ours = measure(root, port, crawl, folder)
        verify = [program("gossamer"), "verify", str(folder / "collection")]
        verified = subprocess.run(verify, check=False, stdout=subprocess.DEVNULL).returncode
        results = {query: search(folder / "collection", query) for query in site.searches}
    missed = {
        query: found for query, found in results.items() if not any(one.endswith(site.searches[query]) for one in found)
    }
    report(name, mirror, ours, verified, missed)
    return mirror.pages == ours.pages and verified == 0 and ours.code == 0 and not missed


def report(name: str, mirror: Run, ours: Run, verified: int, missed: dict[str, list[str]]) -> None:
    site = SITES[name]
    print(f"\n{name}: {site.pages} pages by the design")
    print(f"{'':10}{'pages':>8}{'asked':>8}{'seconds':>9}{'pages/s':>9}{'CPU s':>8}{'nginx':>8}{'exit':>6}")
    for who, run in (("wget", mirror), ("gossamer", ours)):
        print(
            f"{who:10}{len(run.pages):8}{len(run.answers):8}{run.seconds:9.2f}{run.rate:9.1f}"
            f"{run.cpu:8.2f}{run.server_cpu:8.2f}{run.code:6}"
        )
    for who, only in (("wget", mirror.pages - ours.pages), ("gossamer", ours.pages - mirror.pages)):
        print(f"only {who}: {len(only)}", *sorted(only)[:20], sep="\n  " if only else "")
    print(f"verify: {'clean' if verified == 0 else f'exit code {verified}'}")
    print(f"searches: {len(site.searches) - len(missed)} of {len(site.searches)}")
    for query, found in missed.items():
        print(f"  {query!r} wants {site.searches[query]}, got", *found or ["nothing"], sep="\n    ")


def serve(name: str, root: Path) -> None:
    """Serve until interrupted."""
    port = free_port()
    with tempfile.TemporaryDirectory() as place, serving({"_": Tree(root)}, Path(place), port):
        print(f"http://127.0.0.1:{port}{SITES[name].start}", flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", nargs="?", choices=["compare", "serve"], default="compare")
    parser.add_argument("--site", choices=[*SITES, "all"], default="all")
    add_folders(parser)
    options = parser.parse_args()
    chosen = list(SITES) if options.site == "all" else [options.site]
    if options.action == "serve" and len(chosen) > 1:
        parser.error("serve needs one --site")
    cache = options.cache.absolute()
    cache.mkdir(parents=True, exist_ok=True)
    roots = {name: unpack(SITES[name].package, options.debs or cache / "debs", cache) for name in chosen}
    if options.action == "serve":
        serve(chosen[0], roots[chosen[0]])
        return 0
    agreements = {name: compare(name, roots[name]) for name in chosen}
    return 0 if all(agreements.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
