"""Debian's documentation packages as sites: unpacked once, served by nginx on loopback, its log read back."""

import argparse
import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CONFIGURATION = """
daemon off; worker_processes 1; {user} pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    include /etc/nginx/mime.types; default_type application/octet-stream; sendfile on; keepalive_requests 100000;
    server_names_hash_bucket_size 128;
    log_format stamped escape=json
        '{{"at":$msec,"host":"$host","uri":"$request_uri","status":$status,"type":"$sent_http_content_type"}}';
    access_log {folder}/access.log stamped;
    client_body_temp_path {folder}/t; proxy_temp_path {folder}/t; fastcgi_temp_path {folder}/t;
    uwsgi_temp_path {folder}/t; scgi_temp_path {folder}/t;
    {servers}
}}
"""

SERVER = "server {{ listen {address}:{port}; server_name {name}; root {root}; charset {charset}; autoindex off; }}"


@dataclass(frozen=True, slots=True)
class Tree:
    """Files to serve."""

    root: Path
    charset: str = "off"  # what the header says of text; off: nothing, so that the pages speak for themselves


@dataclass(frozen=True, slots=True)
class Entry:
    """One answer, by the server's log."""

    at: float  # seconds since 1970
    host: str  # without port
    target: str  # path and query as they came
    status: int
    type: str  # Content-Type

    @property
    def is_page(self) -> bool:
        return self.status == 200 and self.type.startswith("text/html")


def unpack(package: str, debs: Path, cache: Path) -> Path:
    """The folder that holds the package's files."""
    root = cache / package
    if not root.exists():
        debs.mkdir(parents=True, exist_ok=True)
        pattern = f"{package}_*.deb"
        if not list(debs.glob(pattern)):
            subprocess.run(["apt-get", "download", package], cwd=debs, check=True)
        half = cache / f"{package}.half"
        shutil.rmtree(half, ignore_errors=True)
        subprocess.run(["dpkg-deb", "-x", str(max(debs.glob(pattern))), str(half)], check=True)
        half.rename(root)
    return root


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(trees: Mapping[str, Tree], folder: Path, port: int) -> Iterator[None]:
    """nginx over the tree of each host name; when it has ended, ``folder`` holds the whole access log."""
    user = f"user {getpass.getuser()};" if os.geteuid() == 0 else ""  # else its worker can't read a private cache
    servers = "\n    ".join(
        SERVER.format(address="127.0.0.1", port=port, name=name, root=tree.root, charset=tree.charset)
        for name, tree in trees.items()
    )
    text = CONFIGURATION.format(user=user, folder=folder, servers=servers)
    (folder / "nginx.conf").write_text(text, encoding="utf-8")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # or nginx would outlive us
    server = subprocess.Popen(["nginx", "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"])
    try:
        await_port(server, port)
        yield
    finally:
        server.send_signal(signal.SIGQUIT)
        server.wait()


def await_port(server: "subprocess.Popen[bytes]", port: int) -> None:
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if server.poll() is not None:
                break
            time.sleep(0.05)
    raise SystemExit("nginx does not start; its reason stands above")


def entries(folder: Path) -> Iterator[Entry]:
    """The access log of a server that has ended."""
    with (folder / "access.log").open(encoding="utf-8") as log:
        for line in log:
            each = json.loads(line)
            yield Entry(each["at"], each["host"], each["uri"], each["status"], each["type"])


def program(name: str) -> str:
    """Of this interpreter's environment where it is there, else the one on PATH."""
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else name


def add_folders(parser: argparse.ArgumentParser) -> None:
    """The options that say where sites are kept."""
    cache = Path.home() / ".cache" / "gossamer-sites"
    parser.add_argument("--cache", type=Path, default=cache, help="unpacked sites")
    parser.add_argument("--debs", type=Path, help="folder of .deb files; default: debs in the cache")
