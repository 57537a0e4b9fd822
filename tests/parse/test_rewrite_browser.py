"""A browser shows the same from a copy on disk as from the site: each element means the same file in both."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import quote, unquote

import pytest

from gossamer.parse.encoding import declared
from gossamer.parse.rewrite import rewrite
from gossamer.parse.rewriting.linker import NOTHING

from .constructs import PAGES, Site, site

_BROWSER = shutil.which("chromium")
_LOADED_EARLY = ("currentSrc", "backgroundImage", "listStyleImage", "cursor", "fill", "::beforecontent")
"""What a browser fetches before it has seen a base that comes later than its element."""

Seen = dict[tuple[str, str], list[str]]
"""What a browser makes of each property of each element."""

pytestmark = pytest.mark.skipif(_BROWSER is None, reason="chromium is not installed")


class Copy:
    """The site as it is served, and its copy in a folder."""

    def __init__(self, host: str, files: Site, folder: Path) -> None:
        self.origin = f"http://{host}"
        self.folder = folder
        self.places = {self.origin + path: f"site/{_name(path, number)}" for number, path in enumerate(files)}
        for path, (content_type, body) in files.items():
            url = self.origin + path
            place = self.places[url]
            made = rewrite(
                body,
                content_type=content_type.partition(";")[0],
                charset=declared(content_type),
                url=url,
                place=place,
                lookup=self.places.get,
            )
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_bytes(made.body)

    def file(self, url: str) -> str:
        """The URL of the file in the copy that a URL is to mean, in a form that can be compared."""
        url = url.removeprefix(f"{NOTHING}#")
        page, mark, fragment = url.partition("#")
        if page in self.places:
            return f"{self.folder}/{self.places[page]}{mark}{fragment}"
        if page.startswith("file://"):
            return unquote(page.removeprefix("file://").partition("?")[0]) + mark + fragment
        return url


def _name(path: str, number: int) -> str:
    """A name that shows that it is no part of the URL's path that makes the copy work."""
    *folders, last = path.partition("?")[0].split("/")[1:]
    ending = re.search(r"\.(?:png|css|js|svg|xhtml|webmanifest)\Z", last)
    return "/".join((*folders, f"{number} #é?{ending[0] if ending else '.html'}"))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    files: Site = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content_type, body = files.get(self.path, ("text/plain", b""))
            self.send_response(200 if self.path in files else 404)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    host = f"127.0.0.1:{server.server_port}"
    files |= site(host)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield Copy(host, files, tmp_path_factory.mktemp("copy"))
    server.shutdown()
    thread.join()
    server.server_close()


def seen(url: str) -> Seen:
    """What the browser makes of a page."""
    assert _BROWSER is not None
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=8000", "--dump-dom")
    page = subprocess.run([_BROWSER, *options, url], capture_output=True, text=True, timeout=100, check=True).stdout
    report = re.search(r"@@@(%.*?)@@@", page)
    assert report is not None, page[-500:]
    found: Seen = {}
    for element, name, value in json.loads(unquote(report[1])):
        found.setdefault((element, name), []).append(value)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_each_element_means_the_same_file(copy: Copy, page: str) -> None:
    online = seen(copy.origin + page)
    offline = seen("file://" + quote(f"{copy.folder}/{copy.places[copy.origin + page]}"))
    wrong = [
        (key, online.get(key), offline.get(key))
        for key in online.keys() | offline.keys()
        if means(copy, online.get(key, [])) != means(copy, offline.get(key, []))
        and not (page == "/dir/base.html" and key[1] in _LOADED_EARLY)
        and not asks_nothing(copy, online.get(key, []), offline.get(key, []))
    ]
    assert wrong == []
    assert len(online) > 8


def asks_nothing(copy: Copy, online: list[str], offline: list[str]) -> bool:
    """Whether a browser loads nothing for what is not saved. It may then show something else."""
    nothing = ("about:invalid#", "data:text/html")
    is_saved = any(value.partition("#")[0] in copy.places for value in online)
    return not is_saved and all(not value or value.startswith(nothing) for value in offline)


def means(copy: Copy, values: list[str]) -> list[str]:
    """The files that are meant by a value, which may be one of CSS."""
    return [
        re.sub(r'url\("([^"]*)"\)', lambda url: copy.file(url[1]), value) if "url(" in value else copy.file(value)
        for value in values
    ]
