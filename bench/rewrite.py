"""What rewriting a file of the offline copy costs: ``python bench/rewrite.py FOLDER`` of files as a site has them.

Megabytes a second of processor time, the best of some rounds, by type; every second URL of the folder is saved, so that
half of the links are pointed into the copy and half to the live web.
"""

import random
import sys
import time
from mimetypes import guess_type
from pathlib import Path
from urllib.parse import quote

from gossamer.parse.rewrite import Lookup, rewrite

MOST = 600  # files of a type
ROUNDS = 3
HOST = "docs.example"


def main() -> None:
    folder = Path(sys.argv[1])
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    names = [path.relative_to(folder).as_posix() for path in files]
    places = {f"http://{HOST}/{quote(name)}": f"{HOST}/{name}" for name in names[::2]}
    for kind in ("text/html", "text/css", "text/javascript", "image/svg+xml"):
        chosen = [name for name in names if guess_type(name)[0] == kind]
        if chosen:
            show(kind, folder, random.Random(1).sample(chosen, min(MOST, len(chosen))), places.get)


def show(kind: str, folder: Path, names: list[str], lookup: Lookup) -> None:
    bodies = {name: (folder / name).read_bytes() for name in names}
    best, references = float("inf"), 0
    for _ in range(ROUNDS):
        start, references = time.process_time(), 0
        for name, body in bodies.items():
            url, place = f"http://{HOST}/{quote(name)}", f"{HOST}/{name}"
            references += len(
                rewrite(body, content_type=kind, charset="", url=url, place=place, lookup=lookup).references
            )
        best = min(best, time.process_time() - start)
    size = sum(map(len, bodies.values()))
    print(
        f"{kind:18}{len(names):5} files {size / 1e6:7.1f} MB {references:7} references"
        f" {best / len(names) * 1e6:7.0f} µs a file {size / 1e6 / best:6.1f} MB/s"
    )


if __name__ == "__main__":
    main()
