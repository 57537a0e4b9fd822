"""Sites saved for reading offline: by gossamer, by wget, by httrack; what of their references resolves, and what it took.

    bench/copies.py                          five sites of Debian's documentation, a table
    bench/copies.py --site gimp-ja --misses  one of them, and what the others resolve and gossamer does not
    bench/copies.py --keep FOLDER            the copies stay there, for a look

nginx serves them on loopback; dpkg-deb, wget and httrack are needed as well. References are counted by
`bench/references.py`, all tools alike: those of all pages and style sheets that a tool saved. Exit code 1 where another
tool resolves more, or is more than twice as fast as gossamer.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import references
import sites
from processes import Usage, run
from references import Counts, Folder
from report import table
from served import Tree, add_folders, free_port, program, serving, unpack

SITES = {name: (site.package, site.start) for name, site in sites.SITES.items() if name != "sqlite3"}
SITES["lilypond"] = ("lilypond-doc-html", "/usr/share/doc/lilypond/html/index.html")

OURS, WGET, HTTRACK, AGAIN = "gossamer", "wget", "httrack", "gossamer save DIR"
_SHOWN = 12
_LIMIT = 1800.0  # seconds for one tool and site


@dataclass(frozen=True, slots=True)
class Copy:
    """A site saved by one tool."""

    usage: Usage
    folder: Folder
    counts: Counts
    size: int  # bytes of its files
    places: Mapping[str, Path]  # of its pages, by the path of their URL


def commands(url: str, place: Path) -> dict[str, list[str]]:
    """What is run, in a folder of its own each."""
    quick = [
        "--disable-security-limits",
        "--max-rate=0",
        "-c8",
        "-%c0",
        "-#L10000000",
        "-s0",
        "-B",
        "-q",
        "-%v0",
        "-o0",
    ]
    collection, settings = str(place / "copy.collection"), ["-u", "0", "--delay", "0"]
    return {
        OURS: [program("gossamer"), "save", url, str(place / "copy"), *settings],
        AGAIN: [program("gossamer"), "save", collection, str(place / "again"), "--all", "--no-fetch"],
        WGET: ["wget", "-m", "-k", "-p", "-E", "-q", url],
        HTTRACK: ["httrack", url, "-O", str(place), *quick],
    }


def save(tool: str, url: str, place: Path) -> Copy | Usage:
    """Run a tool, and count."""
    place.mkdir(parents=True, exist_ok=True)
    usage = run(commands(url, place)[tool], place, interval=0.5, limit=_LIMIT)
    if tool == AGAIN:
        return usage
    host = urlsplit(url).netloc
    saved = {OURS: place / "copy" / host.replace(":", "_"), HTTRACK: place / host.replace(":", "_")}
    root = saved.get(tool, place / host).resolve()
    folder = Folder.open(root)
    size = sum(Path(path).stat().st_size for path in folder.files)
    places = _ours(place / "copy") if tool == OURS else _by_path(root, folder)
    return Copy(usage, folder, references.count(folder, host), size, places)


def _ours(copy: Path) -> dict[str, Path]:
    listed = json.loads((copy / "_gossamer" / "copy.json").read_text(encoding="utf-8"))["files"]
    return {unquote(urlsplit(each["url"]).path): (copy / each["path"]).resolve() for each in listed}


def _by_path(root: Path, folder: Folder) -> dict[str, Path]:
    return {"/" + path.relative_to(root).as_posix(): path for path in folder.pages}


def compare(name: str, root: Path, place: Path, tools: Iterable[str], *, misses: bool) -> dict[str, Copy | Usage]:
    """Save one site with all, in turn. Prints what the others resolve and gossamer does not."""
    port = free_port()
    url = f"http://127.0.0.1:{port}{SITES[name][1]}"
    copies: dict[str, Copy | Usage] = {}
    for tool in tools:
        with tempfile.TemporaryDirectory() as log, serving({"_": Tree(root)}, Path(log), port):
            copies[tool] = save(tool, url, place / (OURS if tool == AGAIN else tool))
    if misses:
        original = Folder.open(root / "usr")
        made = {tool: copy for tool, copy in copies.items() if isinstance(copy, Copy)}
        print(f"\n{name}", *look(original, root.resolve(), made), sep="\n")
    return copies


def look(original: Folder, root: Path, copies: Mapping[str, Copy]) -> list[str]:
    """Of the references of the pages as they came: what should resolve, and does not in gossamer's copy."""
    lost: dict[str, Counter[str]] = {"the target is on the server": Counter()}
    lost |= {f"{tool} resolves it": Counter() for tool in copies if tool != OURS}
    totals: Counter[str] = Counter()
    examples: dict[tuple[str, str], str] = {}
    for path, page in original.pages.items():
        target = "/" + path.relative_to(root).as_posix()
        found = {tool: _resolved(page, target, copy) for tool, copy in copies.items()}
        if not any(each is not None for each in found.values()):
            continue  # nobody saved it
        for number, (where, value) in enumerate(chain.from_iterable(page.references)):
            there = references.local(references.followed(value, path, page.base)) in original.files
            yes = {tool: each is not None and each[number] for tool, each in found.items()}
            totals.update(tool for tool in yes if yes[tool] and there)
            totals["there"] += there
            reasons = [f"{tool} resolves it" for tool in yes if yes[tool]]
            for reason in () if yes[OURS] else (*reasons, *["the target is on the server"] * there):
                lost[reason][where] += 1
                examples.setdefault((reason, where), f"{quote(target)} {value!r}")
    lines = [f"references whose target the server has: {totals.pop('there')}; resolved: {dict(totals)}"]
    for reason, kinds in lost.items():
        lines.append(f"gossamer's copy does not resolve, though {reason}: {kinds.total()}")
        lines += [f"  {number:6} {where:24} {examples[reason, where]}" for where, number in kinds.most_common(_SHOWN)]
    return lines


def _resolved(page: references.Page, target: str, copy: Copy) -> list[bool] | None:
    path = copy.places.get(target)
    saved = copy.folder.pages.get(path) if path is not None else None
    return None if path is None or saved is None else references.resolved(page, saved, path, copy.folder.files)


# --- the table

HEAD = (
    *("site", "by", "pages", "resolve", "dead", "live, own site", "live, others", "loaded live", "dead fragments"),
    *("MB", "seconds", "CPU s"),
)


def row(name: str, tool: str, copy: Copy | Usage) -> tuple[str, ...]:
    """A line of the table."""
    if isinstance(copy, Usage):
        return (name, tool, *[""] * 8, f"{copy.seconds:.1f}", f"{copy.cpu:.1f}")
    counts, usage = copy.counts, copy.usage
    numbers = (counts.pages, counts.resolve, counts.dead.total(), counts.own.total(), counts.elsewhere.total())
    loaded = (counts.loads.total(), counts.fragments.total())
    sizes = (f"{copy.size / 1e6:.1f}", f"{usage.seconds:.1f}", f"{usage.cpu:.1f}")
    return (name, tool, *(f"{number:,}" for number in (*numbers, *loaded)), *sizes)


def is_best(copies: Mapping[str, Copy | Usage]) -> bool:
    """Whether gossamer resolves most, and is at least half as fast as wget."""
    made = {tool: copy for tool, copy in copies.items() if isinstance(copy, Copy)}
    ours = made[OURS]
    others = [copy.counts.resolve for tool, copy in made.items() if tool != OURS]
    slow = WGET in made and ours.usage.seconds > 2 * made[WGET].usage.seconds
    return ours.usage.code == 0 and all(ours.counts.resolve > each for each in others) and not slow


def kinds(copies: Mapping[str, Copy | Usage]) -> list[str]:
    """What is dead or live, by kind."""
    lines = []
    for tool, copy in copies.items():
        if isinstance(copy, Copy):
            counts = copy.counts
            for what in ("dead", "own", "loads"):
                found: Counter[str] = getattr(counts, what)
                if found.total():
                    lines.append(f"  {tool} {what}: {dict(found.most_common(_SHOWN))}")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", choices=[*SITES, "all"], default="all")
    parser.add_argument("--tool", choices=[OURS, AGAIN, WGET, HTTRACK], action="append", help="only these")
    parser.add_argument("--misses", action="store_true", help="what others resolve and gossamer does not, by kind")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the copies there")
    add_folders(parser)
    options = parser.parse_args()
    chosen = list(SITES) if options.site == "all" else [options.site]
    cache = options.cache.absolute()
    cache.mkdir(parents=True, exist_ok=True)
    rows, good = [], True
    for name in chosen:
        root = unpack(SITES[name][0], options.debs or cache / "debs", cache)
        with nullcontext(options.keep) if options.keep else tempfile.TemporaryDirectory() as folder:
            place = Path(folder).absolute() / name
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            copies = compare(name, root, place, options.tool or (OURS, AGAIN, WGET, HTTRACK), misses=options.misses)
        rows += [row(name, tool, copy) for tool, copy in copies.items()]
        good = good and (OURS not in copies or is_best(copies))
        print(*kinds(copies), table(HEAD, rows[-len(copies) :]), sep="\n", flush=True)
    if len(chosen) > 1:
        print("", table(HEAD, rows), sep="\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
