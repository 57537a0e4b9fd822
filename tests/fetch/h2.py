"""A real server that speaks HTTP/2 over TLS: nginx, where it is installed."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from fetch.raw import RawServer, refused_port, reply, reply_and_hang

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin:/opt/homebrew/bin")
PAGE = b"<title>a page</title>" + b"x" * 40_000
OK = b"HTTP/1.1 200 OK\r\n"
CONFIGURATION = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 100; }}
http {{
  log_format heads '$server_protocol $request_uri $host "$http_user_agent" "$http_accept" $msec $request_time $connection';
  access_log {folder}/access.log heads;
  client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
  uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
  types {{ text/html html; }}
  server {{
    listen 127.0.0.1:{port} ssl http2; root {folder}/root;
    ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
    add_header X-Answer yes;
    location /silent {{ proxy_pass http://127.0.0.1:{silent}; }}
    location /begun {{ proxy_pass http://127.0.0.1:{begun}; proxy_buffering off; }}
    location /behind {{ proxy_pass http://127.0.0.1:{behind}; }}
    location /cut {{ proxy_pass http://127.0.0.1:{cut}; proxy_buffering off; }}
  }}
}}
"""


@dataclass(frozen=True)
class Nginx:
    folder: Path
    port: int

    @property
    def log(self) -> list[str]:
        return (self.folder / "access.log").read_text().splitlines()


@contextmanager
def serving(folder: Path, behind: int = 9) -> Iterator[Nginx]:
    """An nginx that serves ``folder``/root, and below /behind what the server on that port says; skips the test where there is none."""
    if NGINX is None:
        pytest.skip("nginx is not installed: HTTP/2 is tested against it")
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
    ]
    command += ["-subj", "/CN=h2.test", "-addext", "subjectAltName=DNS:h2.test"]
    command += ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "root").mkdir()
    (folder / "root" / "page.html").write_bytes(PAGE)
    port = refused_port()
    begun = OK + b"Content-Length: 5000\r\n\r\nabc"
    with (
        RawServer(reply_and_hang()) as silent,
        RawServer(reply_and_hang(begun)) as hung,
        RawServer(reply(begun)) as cut,
    ):
        ports = {"port": port, "silent": silent.port, "begun": hung.port, "cut": cut.port, "behind": behind}
        (folder / "conf").write_text(CONFIGURATION.format(folder=folder, **ports))
        with subprocess.Popen([NGINX, "-e", str(folder / "error.log"), "-c", str(folder / "conf")]) as process:
            _wait_for(port)
            yield Nginx(folder, port)
            process.terminate()


def _wait_for(port: int) -> None:
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
