"""The example site that is shipped: every page can be reached, and the server ends with what it was started for."""

import socket
import subprocess
import sys
from http.client import HTTPResponse
from importlib.resources import files
from urllib.parse import urljoin
from urllib.request import urlopen

import pytest
from turbohtml import parse

from gossamer.example import server


def linked(address: str) -> set[str]:
    """What lies below ``address`` and is linked from there, walked to the end."""
    found: set[str] = set()
    todo = [address]
    while todo:
        url = todo.pop().partition("#")[0]
        if url in found or not url.startswith(address) or url.endswith("lost.html"):
            continue
        found.add(url)
        answer: HTTPResponse
        with urlopen(url) as answer:
            if answer.headers.get_content_type() == "text/html":
                todo += [urljoin(url, link.url) for link in parse(answer.read()).links()]
    return found


def test_every_file_can_be_reached_from_the_first_page() -> None:
    site = files("gossamer.example") / "site"
    with server.serve() as address:
        reached = {url.removeprefix(address) for url in linked(address)}
    shipped: set[str] = set()
    folders = [("", site)]
    while folders:
        path, folder = folders.pop()
        for entry in folder.iterdir():
            name = f"{path}{entry.name}"
            if entry.is_dir():
                folders.append((name + "/", entry))
            else:
                shipped.add(name)
    named = {name for name in reached if name and not name.endswith("/")}
    assert shipped - named - {"robots.txt"} <= {"spiders/index.html"}
    assert named <= shipped


def test_a_command_runs_while_it_is_served_and_decides_how_it_ends() -> None:
    program = "import sys, urllib.request as u; print(b'Weaver' in u.urlopen(sys.argv[1]).read()); sys.exit(7)"
    done = subprocess.run(
        [sys.executable, "-m", "gossamer.example", sys.executable, "-c", program, "{}"],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, "True\n", "")


def test_another_port_when_the_usual_one_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(server, "PORT", port)
        with server.serve() as address, urlopen(address) as answer:
            assert address != f"http://127.0.0.1:{port}/"
            assert answer.status == 200
