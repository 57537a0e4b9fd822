"""HTTP/2 over TLS, against nginx, where it is installed."""

import asyncio
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import pytest

from fetch.raw import RawServer, refused_port, reply, reply_and_hang
from gossamer.clock import ManualClock
from gossamer.fetch.transport import Transport
from gossamer.records import Address, Exchange, Failure, FailureKind, Request

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin:/opt/homebrew/bin")
PAGE = b"<title>a page</title>" + b"x" * 40_000
OK = b"HTTP/1.1 200 OK\r\n"
CONFIGURATION = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 100; }}
http {{
  log_format heads '$server_protocol $request_uri $host "$http_user_agent" "$http_accept" $connection';
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


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    if NGINX is None:
        pytest.skip("nginx is not installed: HTTP/2 is tested against it")
    folder = tmp_path_factory.mktemp("nginx")
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
        ports = {"port": port, "silent": silent.port, "begun": hung.port, "cut": cut.port}
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


def fetch(nginx: Nginx, *paths: str, http2: bool = True, **fields: object) -> list[Exchange | Failure]:
    async def main() -> list[Exchange | Failure]:
        ca_file = str(nginx.folder / "cert.pem")
        address = Address("127.0.0.1", "loopback")
        async with aclosing(Transport("Gossamer/test", ManualClock(), http2=http2, ca_file=ca_file)) as transport:
            urls = [f"https://h2.test:{nginx.port}{path}" for path in paths]
            requests = [Request(url, address, **fields) for url in urls]  # type: ignore[arg-type]
            return list(await asyncio.gather(*map(transport.fetch, requests)))

    return asyncio.run(main())


def exchanges(nginx: Nginx, *paths: str, http2: bool = True, **fields: object) -> list[Exchange]:
    results = fetch(nginx, *paths, http2=http2, **fields)
    assert all(isinstance(result, Exchange) for result in results), results
    return [result for result in results if isinstance(result, Exchange)]


def test_an_exchange_over_http_2(nginx: Nginx) -> None:
    (result,) = exchanges(nginx, "/page.html?a%2eb|c", headers=(("X-Extra", "1"),))
    assert (result.protocol, result.status, result.body, result.truncated) == ("h2", 200, PAGE, "")
    assert result.address == "127.0.0.1"
    assert result.header("x-answer") == "yes"
    assert result.header("content-length") == str(len(PAGE))
    assert result.request_head.startswith(
        f"GET /page.html?a%2eb|c HTTP/1.1\r\nHost: h2.test:{nginx.port}\r\nUser-Agent: Gossamer/test\r\n".encode()
    )
    assert result.response_head.startswith(b"HTTP/1.1 200 \r\nserver: nginx")
    assert result.response_head.endswith(b"\r\n\r\n")
    assert '/page.html?a%2eb|c h2.test "Gossamer/test" "text/html,application/xhtml+xml,*/*;q=0.8"' in nginx.log[-1]
    assert nginx.log[-1].startswith("HTTP/2.0 ")


def test_streams_share_a_connection(nginx: Nginx) -> None:
    before = len(nginx.log)
    results = exchanges(nginx, *(f"/page.html?{n}" for n in range(20)))
    assert all(result.body == PAGE for result in results)
    assert len({line.split()[-1] for line in nginx.log[before:]}) == 1


def test_a_body_over_the_limit_is_cut_and_the_others_are_whole(nginx: Nginx) -> None:
    (result,) = exchanges(nginx, "/page.html", max_body=1000)
    assert (result.truncated, result.body) == ("length", PAGE[:1000])
    assert [result.status for result in exchanges(nginx, "/none", "/page.html")] == [404, 200]


def test_http_2_can_be_left_out(nginx: Nginx) -> None:
    (result,) = exchanges(nginx, "/page.html", http2=False)
    assert (result.protocol, result.body) == ("http/1.1", PAGE)
    assert result.response_head.startswith(b"HTTP/1.1 200 OK\r\n")


def test_no_first_byte_on_one_stream_of_several(nginx: Nginx) -> None:
    silent, page = fetch(nginx, "/silent", "/page.html", first_byte_timeout=0.3)
    assert isinstance(silent, Failure)
    assert silent.kind == FailureKind.FIRST_BYTE_TIMEOUT
    assert isinstance(page, Exchange)
    assert page.body == PAGE


def test_the_whole_time_is_over(nginx: Nginx) -> None:
    silent, begun = fetch(nginx, "/silent", "/begun", timeout=0.4)
    assert isinstance(silent, Failure)
    assert silent.kind == FailureKind.TIMEOUT
    assert isinstance(begun, Exchange)
    assert (begun.truncated, begun.body) == ("time", b"abc")


def test_a_stream_that_breaks_off(nginx: Nginx) -> None:
    (result,) = exchanges(nginx, "/cut")
    assert (result.truncated, result.body) == ("disconnect", b"abc")
