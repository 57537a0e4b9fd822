"""Microseconds of CPU a keep-alive fetch costs: the transport, pycurl's AsyncCurlMulti, bare CurlMulti.

    python bench/fetch.py [FETCHES]

A 37 KB page from nginx on loopback. All three in turns in one run: on a busy machine only the ratios mean much, and the
best of several rounds is nearest to the truth.
"""

import asyncio
import itertools
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

import pycurl

from gossamer.clock import SystemClock
from gossamer.fetch.transport import BUFFER, Transport
from gossamer.records import Address, Exchange, Request

SIZE = 37_000
ROUNDS = 7
CONFIGURATION = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 1000; }}
http {{
  access_log off; keepalive_requests 100000000; types {{ text/html html; }}
  client_body_temp_path {folder}/1; proxy_temp_path {folder}/2; fastcgi_temp_path {folder}/3;
  uwsgi_temp_path {folder}/4; scgi_temp_path {folder}/5;
  server {{ listen 127.0.0.1:{port}; root {folder}; }}
}}
"""


@contextmanager
def nginx() -> Iterator[int]:
    """The port of a server that has /page.html."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/bin:/opt/homebrew/bin")
    if program is None:
        sys.exit("nginx is needed for this benchmark")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "page.html").write_bytes(b"x" * SIZE)
        (folder / "conf").write_text(CONFIGURATION.format(folder=folder, port=port))
        with subprocess.Popen([program, "-e", str(folder / "error.log"), "-c", str(folder / "conf")]) as process:
            _wait_for(port)
            yield port
            process.terminate()


def _wait_for(port: int) -> None:
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)


def _curl(port: int) -> pycurl.Curl:
    curl = pycurl.Curl()
    curl.setopt(pycurl.URL, f"http://host.test:{port}/page.html")
    curl.setopt(pycurl.CONNECT_TO, [f"::127.0.0.1:{port}"])
    curl.setopt(pycurl.PROXY, "")
    curl.setopt(pycurl.HTTP_TRANSFER_DECODING, 0)
    curl.setopt(pycurl.BUFFERSIZE, BUFFER)
    return curl


def bare(port: int, fetches: int, at_once: int) -> None:
    multi = pycurl.CurlMulti()
    bodies: dict[pycurl.Curl, list[bytes]] = {_curl(port): [] for _ in range(at_once)}
    for curl, body in bodies.items():
        curl.setopt(pycurl.WRITEFUNCTION, body.append)
        multi.add_handle(curl)
    to_start, to_end = fetches - at_once, fetches
    while to_end:
        multi.perform()
        for curl in multi.info_read()[1]:
            multi.remove_handle(curl)
            assert sum(map(len, bodies[curl])) == SIZE
            bodies[curl].clear()
            to_end -= 1
            if to_start:
                to_start -= 1
                multi.add_handle(curl)
        if to_end:
            multi.select(1.0)


def of_pycurl(port: int, fetches: int, at_once: int) -> None:
    async def worker(multi: pycurl.AsyncCurlMulti, count: int) -> None:
        curl = _curl(port)
        body: list[bytes] = []
        curl.setopt(pycurl.WRITEFUNCTION, body.append)
        for _ in range(count):
            body.clear()
            await multi.perform(curl)
            assert sum(map(len, body)) == SIZE

    async def main() -> None:
        async with pycurl.AsyncCurlMulti() as multi:
            await asyncio.gather(*(worker(multi, fetches // at_once) for _ in range(at_once)))

    asyncio.run(main())


def ours(port: int, fetches: int, at_once: int) -> None:
    request = Request(f"http://host.test:{port}/page.html", Address("127.0.0.1", "loopback"))

    async def worker(transport: Transport, count: int) -> None:
        for _ in range(count):
            result = await transport.fetch(request)
            assert isinstance(result, Exchange)
            assert len(result.body) == SIZE

    async def main() -> None:
        async with aclosing(Transport("Gossamer/bench", SystemClock())) as transport:
            await asyncio.gather(*(worker(transport, fetches // at_once) for _ in range(at_once)))

    asyncio.run(main())


def _measure(run: Callable[[int, int, int], None], port: int, fetches: int, at_once: int) -> float:
    start = time.process_time()
    run(port, fetches, at_once)
    return (time.process_time() - start) / fetches * 1e6


def main() -> None:
    fetches = int(sys.argv[1]) if len(sys.argv) > 1 else 1600
    contenders = {"bare CurlMulti": bare, "AsyncCurlMulti": of_pycurl, "transport": ours}
    print(f"{'µs of CPU a fetch':20}" + "".join(f"{f'{n} at once':>22}" for n in (1, 8, 64)))
    print(f"{'':20}" + f"{'best   median':>22}" * 3)
    with nginx() as port:
        times: dict[tuple[str, int], list[float]] = {(name, n): [] for name in contenders for n in (1, 8, 64)}
        for _, (name, n) in itertools.product(range(ROUNDS), times):
            times[name, n].append(_measure(contenders[name], port, fetches, n))
    for name in contenders:
        cells = ((min(times[name, n]), statistics.median(times[name, n])) for n in (1, 8, 64))
        print(f"{name:20}" + "".join(f"{f'{best:.0f} {median:8.0f}':>22}" for best, median in cells))


if __name__ == "__main__":
    main()
