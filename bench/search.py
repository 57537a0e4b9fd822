"""Search quality and speed on a test collection with judgements (CACM: docs.tar.gz, topics.txt, qrels.txt).

    python bench/search.py [FOLDER]

prints mean average precision over the topics (top 1000, as trec_eval's map) and the time of a query.
"""

import re
import statistics
import sys
import tarfile
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import apsw

from gossamer.archive import database, index
from gossamer.archive.search import ranked, search

DEPTH = 1000


def load(folder: Path, connection: apsw.Connection, *, titles: bool) -> dict[int, str]:
    """Index the documents; page id -> document name. The pages have no <title>: their first paragraph is one."""
    names = {}
    with tarfile.open(folder / "docs.tar.gz") as archive, connection:
        connection.execute("INSERT INTO segment (id, uri, opened) VALUES (1, 'warc/a', 0)")
        members = sorted((member for member in archive if member.isfile()), key=lambda member: member.name)
        for number, member in enumerate(members, 1):
            file = archive.extractfile(member)
            assert file is not None
            text = re.sub(r"<[^>]+>", "", file.read().decode("utf-8", "replace")).strip()
            title = " ".join(text.split("\n\n")[0].split()) if titles else ""
            names[number] = Path(member.name).stem
            add(connection, number, f"http://cacm.test/{member.name}", title, text)
        connection.execute("INSERT INTO counter VALUES ('pages', ?)", (len(names),))
    return names


def add(connection: apsw.Connection, number: int, url: str, title: str, text: str) -> None:
    """The rows that search needs of a page."""
    connection.execute(
        "INSERT INTO url (id, fingerprint, url, shard, state, kind, via, depth, found)"
        " VALUES (?1, ?1, ?2, 0, 2, 'internal', 'a', 0, 0)",
        (number, url),
    )
    connection.execute(
        "INSERT INTO page (id, url, attempt, fetched, status, content_type, title, size, wire_size, duration,"
        " is_kept, is_indexed, segment, offset, length) VALUES (?1, ?1, 1, 0, 200, 'text/html', ?2, 0, 0, 0, 1, 1, 1, 0, 0)",
        (number, title),
    )
    index.insert(connection, [index.Entry(number, title, url, text)])


def topics(folder: Path) -> dict[str, str]:
    """Topic number -> query."""
    found = re.findall(r"<DOCNO>\s*(\d+)\s*</DOCNO>(.*?)</DOC>", (folder / "topics.txt").read_text(), re.DOTALL)
    return {number: " ".join(text.split()) for number, text in found}


def judgements(folder: Path) -> dict[str, set[str]]:
    """Topic number -> the documents that answer it."""
    relevant = defaultdict(set)
    for line in (folder / "qrels.txt").read_text().splitlines():
        topic, _, name, grade = line.split()
        if int(grade) > 0:
            relevant[topic].add(name)
    return relevant


def average_precision(names: list[str], relevant: set[str]) -> float:
    """The mean of the precision at each relevant document."""
    hits, total = 0, 0.0
    for place, name in enumerate(names, 1):
        if name in relevant:
            hits += 1
            total += hits / place
    return total / len(relevant)


def measure(folder: Path, *, titles: bool) -> None:
    """One line: MAP and times."""
    with tempfile.TemporaryDirectory() as scratch:
        connection = database.create(Path(scratch) / "crawl.db", 0.0)
        names = load(folder, connection, titles=titles)
        relevant = judgements(folder)
        scores, times = [], []
        for number, query in topics(folder).items():
            if number in relevant:
                order = [names[page] for (page, _), _ in zip(ranked(connection, query), range(DEPTH), strict=False)]
                scores.append(average_precision(order, relevant[number]))
            start = time.perf_counter()
            search(connection, query, 10)
            times.append(time.perf_counter() - start)
        connection.close()
    print(
        f"{'with' if titles else 'without'} titles: {len(names)} documents, {len(scores)} topics, "
        f"MAP {statistics.mean(scores):.4f}; search with snippets: median {statistics.median(times) * 1e3:.1f} ms, "
        f"slowest {max(times) * 1e3:.1f} ms"
    )


def main() -> None:
    """Measure the collection in a folder."""
    beside = Path(__file__).resolve().parents[2] / "shared/data/cacm"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else beside
    if not (folder / "docs.tar.gz").exists():
        sys.exit(f"{folder} has no docs.tar.gz: name the folder of the collection")
    for titles in (False, True):
        measure(folder, titles=titles)


if __name__ == "__main__":
    main()
