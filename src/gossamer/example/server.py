"""Serves the example site on loopback."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import as_file, files
from threading import Thread
from typing import Any

PORT = 8418
"""Taken when it is free, so that a crawl of yesterday goes on today; otherwise any other is."""


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the crawl tells what it does."""


@contextmanager
def serve() -> Iterator[str]:
    """Serve the site while the block runs; gives the address of its first page."""
    with as_file(files(__package__) / "site") as folder, _listen(partial(_Handler, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever, name="example site", daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


def _listen(handler: partial[_Handler]) -> ThreadingHTTPServer:
    try:
        return ThreadingHTTPServer(("127.0.0.1", PORT), handler)
    except OSError:  # somebody else has it
        return ThreadingHTTPServer(("127.0.0.1", 0), handler)
