"""Ten real sites as ten hosts, in one crawl: what can be reached, what gossamer found, how fast, in how much memory.

    bench/hosts.py                              all ten
    bench/hosts.py --only apache2,handbook      some of them
    bench/hosts.py -o FOLDER -- --trap-budget 0     keep the collection; what stands after -- goes to gossamer crawl

The sites are Debian's documentation packages, served by nginx under names below .localhost. What can be reached is found
by walk.py, over the files; what was found is read from nginx's log. Titles are compared as well: a wrong encoding shows
there. nginx, dpkg-deb and lxml (the dependency group bench) are needed. Exit code 1 when anything differs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, fields
from pathlib import Path
from urllib.parse import urlsplit

import processes
from served import Tree, add_folders, entries, free_port, program, serving, unpack
from walk import Page, Reached, key, walk

PARKED = "on a duplicate page"
"""Why a crawl parks links: they stand on the fourth page of the same bytes, or a later one. See ``go_on``."""

OURS = {"/robots.txt", "/sitemap.xml"}  # asked for, whether a page leads there or not


@dataclass(frozen=True, slots=True)
class Site:
    """A package as a host."""

    package: str
    start: str  # a glob below the package's root
    charset: str = "off"  # see served.Tree


SITES = {
    "apache2": Site("apache2-doc", "usr/share/doc/apache2-doc/manual/index.html"),
    "cppreference": Site("cppreference-doc-en-html", "usr/share/cppreference/doc/html/en/index.html"),
    "gimp-ja": Site("gimp-help-ja", "usr/share/gimp/2.0/help/ja/index.html"),
    "handbook": Site("debian-handbook", "usr/share/doc/debian-handbook/html/*/index.html", "utf-8"),
    "linux": Site("linux-doc-6.1", "usr/share/doc/linux-doc-6.1/html/index.html"),
    "openjdk": Site("openjdk-17-doc", "usr/share/doc/openjdk-17-jre-headless/index.html"),
    "postgresql": Site("postgresql-doc-15", "usr/share/doc/postgresql-doc-15/html/index.html"),
    "python3": Site("python3.11-doc", "usr/share/doc/python3.11/html/index.html", "utf-8"),
    "rust": Site("rust-doc", "usr/share/doc/rust-doc/html/index.html"),
    "sqlite3": Site("sqlite3-doc", "usr/share/doc/sqlite3/index.html"),
}


@dataclass(frozen=True, slots=True)
class Served:
    """A site that is unpacked: where its files are, and where to begin."""

    name: str
    tree: Tree
    starts: tuple[str, ...]

    @property
    def host(self) -> str:
        return f"{self.name}.localhost"


@dataclass(slots=True)
class Crawl:
    """What a crawl did, by the server's log and the clock."""

    answers: dict[str, dict[str, int]] = field(default_factory=dict)  # host -> target -> status
    pages: dict[str, set[str]] = field(default_factory=dict)  # host -> targets answered with 200 and HTML
    released: dict[str, set[str]] = field(default_factory=dict)  # of these: host -> targets that had been parked
    requests: int = 0
    usage: processes.Usage = field(
        default_factory=lambda: processes.Usage(0.0, 0.0, 0, ())
    )  # until parked ones were released


@dataclass(frozen=True, slots=True)
class Difference:
    """Between the oracle and a crawl, for one host."""

    missed: tuple[str, ...]  # targets that only the oracle reaches
    extra: tuple[str, ...]
    other_status: tuple[str, ...]
    other_title: tuple[str, ...]
    parked: tuple[str, ...]  # pages that were found when released, and whose bytes no other URL had

    def __bool__(self) -> bool:
        return any(getattr(self, each.name) for each in fields(self))


def prepare(name: str, debs: Path, cache: Path) -> Served:
    site = SITES[name]
    root = unpack(site.package, debs, cache)
    starts = tuple(f"/{found.relative_to(root)}" for found in sorted(root.glob(site.start)))
    return Served(name, Tree(root, site.charset), starts)


def reach(site: Served) -> Reached:
    return walk(site.tree.root, site.starts, site.tree.charset)


def run(sites: list[Served], collection: Path, options: list[str]) -> Crawl:
    """One crawl of all sites, then what it parked."""
    crawl, port = Crawl(), free_port()
    seeds = [f"http://{site.host}:{port}{start}" for site in sites for start in site.starts]
    command = [
        program("gossamer"),
        "crawl",
        "-u",
        "0",
        "--delay",
        "0",
        "-o",
        str(collection.resolve()),
        *options,
        *seeds,
    ]
    with tempfile.TemporaryDirectory() as place:
        with serving({site.host: site.tree for site in sites}, Path(place), port):
            crawl.usage = processes.run(command, Path(place))
            until = time.time()
            print((Path(place) / processes.OUTPUT).read_text(encoding="utf-8"), end="")
            go_on(collection)
        read_log(Path(place), until, crawl)
    return crawl


def go_on(collection: Path) -> None:
    """Release what was parked for standing on duplicates only, until there is no more.

    Aliases of one page make each other known without end on some sites, so a crawl parks them: found = reachable must
    hold when they are let go.
    """
    release = [program("gossamer"), "release", str(collection), "--reason", PARKED, "--json"]
    while json.loads(subprocess.run(release, check=True, capture_output=True).stdout)["urls"]:
        subprocess.run([program("gossamer"), "crawl", str(collection)], check=True)


def read_log(folder: Path, until: float, crawl: Crawl) -> None:
    """``until``: when what had been parked was released."""
    for entry in entries(folder):
        crawl.requests += 1
        crawl.answers.setdefault(entry.host, {})[key(entry.target)] = entry.status
        if entry.is_page:
            crawl.pages.setdefault(entry.host, set()).add(key(entry.target))
            if entry.at > until:
                crawl.released.setdefault(entry.host, set()).add(key(entry.target))


def read_titles(collection: Path) -> dict[str, dict[str, str]]:
    """host -> target -> title, of the pages in the collection."""
    command = [program("gossamer"), "urls", str(collection), "--status", "200", "--content-type", "text/html", "--json"]
    titles: dict[str, dict[str, str]] = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE) as urls:
        assert urls.stdout is not None
        for line in urls.stdout:
            page = json.loads(line)
            parts = urlsplit(page["url"])
            target = key(parts.path + (f"?{parts.query}" if parts.query else ""))
            titles.setdefault(parts.hostname or "", {})[target] = " ".join(page["title"].split())
    return titles


def compare(reached: Reached, crawl: Crawl, host: str, titles: Mapping[str, str]) -> Difference:
    answers, released = crawl.answers.get(host, {}), crawl.released.get(host, set())
    statuses = dict.fromkeys([*reached.pages, *reached.files], 200) | reached.others
    return Difference(
        missed=tuple(sorted(statuses.keys() - answers.keys())),
        extra=tuple(sorted(answers.keys() - statuses.keys() - OURS)),
        other_status=tuple(sorted(each for each in statuses if answers.get(each, statuses[each]) != statuses[each])),
        other_title=tuple(differing_titles(reached.pages, titles)),
        parked=tuple(sorted(of_their_own(reached.pages, released))),
    )


def of_their_own(pages: Mapping[str, Page], released: set[str]) -> Iterator[str]:
    found = {page.digest for target, page in pages.items() if target not in released}
    return (target for target in released if target in pages and pages[target].digest not in found)


def differing_titles(pages: Mapping[str, Page], titles: Mapping[str, str]) -> Iterator[str]:
    for target, page in pages.items():
        if titles.get(target) != page.title:
            yield f"{target}: {page.title!r}, not {titles.get(target)!r}"


def report(sites: list[Served], reached: dict[str, Reached], crawl: Crawl, differences: dict[str, Difference]) -> None:
    columns = ("reachable", "found", "parked", "of own", "missed", "extra", "status", "titles", "files", "others")
    print(f"\n{'':14}" + "".join(f"{column:>10}" for column in columns))
    for site in sites:
        mine, difference, released = reached[site.name], differences[site.name], crawl.released.get(site.host, ())
        row = (
            *(len(mine.pages), len(crawl.pages.get(site.host, ())) - len(released), len(released)),
            *(len(difference.parked), len(difference.missed), len(difference.extra)),
            *(len(difference.other_status), len(difference.other_title), len(mine.files), len(mine.others)),
        )
        print(f"{site.name:14}" + "".join(f"{number:10}" for number in row))
    print(
        "reachable: HTML pages; found, parked: by the crawl, and when released; of own: parked, and no alias of a found"
    )
    print(
        "page; missed, extra: targets of any kind; status, titles: that differ; files, others: reachable, not HTML, not 200"
    )
    for name, difference in differences.items():
        for each in fields(difference):
            show(f"{name}, {each.name.replace('_', ' ')}", getattr(difference, each.name))


def show(heading: str, found: tuple[str, ...], at_most: int = 20) -> None:
    if found:
        print(f"{heading}: {len(found)}", *found[:at_most], sep="\n  ")


def summarize(crawl: Crawl, verified: int) -> None:
    pages = sum(map(len, crawl.pages.values())) - sum(map(len, crawl.released.values()))
    usage = crawl.usage
    print(
        f"{crawl.requests} requests, {pages} pages in {usage.seconds:.0f} s: {pages / usage.seconds:.0f} pages/s;"
        f" CPU {usage.cpu:.0f} s, {1000 * usage.cpu / pages:.1f} ms a page;"
        f" peak memory {usage.memory >> 20} MB, largest process {usage.largest >> 20} MB; exit code {usage.code};"
        f" verify: {'clean' if verified == 0 else f'exit code {verified}'}"
    )


def examine(sites: list[Served], collection: Path, options: list[str]) -> bool:
    """Walk, crawl, verify, compare, print. True when all is as it should be."""
    begun = time.monotonic()
    with ProcessPoolExecutor() as pool:
        reached = dict(zip((site.name for site in sites), pool.map(reach, sites), strict=True))
    print(f"the oracle needed {time.monotonic() - begun:.0f} s", flush=True)
    crawl = run(sites, collection, options)
    verify = [program("gossamer"), "verify", str(collection)]
    verified = subprocess.run(verify, check=False).returncode
    titles = read_titles(collection)
    differences = {
        site.name: compare(reached[site.name], crawl, site.host, titles.get(site.host, {})) for site in sites
    }
    report(sites, reached, crawl, differences)
    summarize(crawl, verified)
    return crawl.usage.code == verified == 0 and not any(differences.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(SITES), help="names, separated by commas")
    parser.add_argument("-o", "--output", type=Path, help="where the collection is to be; default: it is not kept")
    parser.add_argument("options", nargs="*", help="of gossamer crawl")
    add_folders(parser)
    options = parser.parse_args()
    if unknown := set(options.only.split(",")) - SITES.keys():
        parser.error(f"no such site: {', '.join(sorted(unknown))}")
    cache = options.cache.absolute()
    cache.mkdir(parents=True, exist_ok=True)
    sites = [prepare(name, options.debs or cache / "debs", cache) for name in options.only.split(",")]
    with tempfile.TemporaryDirectory() as place:
        collection = (options.output or Path(place) / "collection").absolute()
        return 0 if examine(sites, collection, options.options) else 1


if __name__ == "__main__":
    sys.exit(main())
