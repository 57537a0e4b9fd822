"""What others' tools say of the files: warcio and FastWARC verify them, pywb replays them."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fastwarc.warc import ArchiveIterator as FastIterator
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from gossamer.archive.segments import Segment

from .samples import ALL_KINDS, PAGE, ZIPPED, exchange, original_of, writer

# warcio check reads an attribute that PyPI's brotli does not have, on every `Content-Encoding: br`; without brotli it
# leaves such bodies alone, as it does those in zstd.
WARCIO = "import sys; sys.modules['brotli'] = None; from warcio.cli import main; sys.exit(main(['check', '-v', sys.argv[1]]))"

# In an environment of its own, because pywb wants another brotli than we do.
PYWB = """
import gevent.monkey; gevent.monkey.patch_all()
import json, sys
from pywb.manager.manager import main
main(["init", "archive"])
main(["add", "archive", sys.argv[1]])
from pywb.apps.frontendapp import FrontEndApp
from werkzeug.test import Client
client = Client(FrontEndApp())
answers = [(url, client.get("/archive/id_/" + url, headers={"Accept-Encoding": "gzip"})) for url in sys.argv[2:]]
print()
print(json.dumps([(url, answer.status, answer.data.hex()) for url, answer in answers]))
"""


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("collection")


@pytest.fixture(scope="module")
def segment(collection: Path) -> Segment:
    """Every kind of record there is."""
    archive = writer(collection)
    for sample in ALL_KINDS.values():
        archive.append(sample, content_type="text/html")
    for kind in ("plain", "chunked gzip", "http/2"):
        archive.append(
            exchange(
                url=f"http://example.org/copy-of-{kind.replace(' ', '-').replace('/', '')}",
                response_head=ALL_KINDS[kind].response_head,
                body=ALL_KINDS[kind].body,
                protocol=ALL_KINDS[kind].protocol,
            ),
            original=original_of(ALL_KINDS[kind]),
        )
    (row,) = archive.sync()
    archive.close()
    return row


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_warcio_checks_it(collection: Path, segment: Segment) -> None:
    done = run(sys.executable, "-c", WARCIO, collection / segment.uri)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("digest pass") == 1 + 2 * len(ALL_KINDS) + 3
    assert done.stdout.count("not checked (revisit)") == 3
    assert done.stderr == ""


def test_fastwarc_checks_it(collection: Path, segment: Segment, tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("fastwarc")
    done = run(program, "check", "-p", "-q", "-o", tmp_path / "verdicts", collection / segment.uri)
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = (tmp_path / "verdicts").read_text()
    assert verdicts.count(": OK") == 1 + 2 * (len(ALL_KINDS) + 3)
    assert verdicts.count("PAYLOAD_OK") == len(ALL_KINDS) - 3  # those on whose heads readers disagree have no digest


@given(
    lines=st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"\r\n")), max_size=8),
    end=st.sampled_from((b"\r\n", b"\n")),
    body=st.binary(max_size=200),
    encoding=st.sampled_from((b"", b"Transfer-Encoding: chunked\r\n", b"Content-Encoding: gzip\r\n")),
)
def test_no_answer_makes_a_record_that_fails(
    lines: list[bytes], end: bytes, body: bytes, encoding: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever a server sends as its head: warcio and FastWARC find the digests right, or there is none."""
    folder = tmp_path_factory.mktemp("collection")
    archive = writer(folder)
    text = b"HTTP/1.1 200 OK" + end + encoding + b"".join(line + end for line in lines if line.strip(b"\r\n")) + end
    archive.append(exchange(response_head=text, body=body))
    (row,) = archive.sync()
    archive.close()
    data = (folder / row.uri).read_bytes()
    for record in ArchiveIterator(io.BytesIO(data), check_digests=True):
        while record.raw_stream.read(16384):
            pass
        assert record.digest_checker.passed, record.digest_checker.problems
    for fast in FastIterator(io.BytesIO(data), parse_http=False):
        assert fast.verify_block_digest()
        if "WARC-Payload-Digest" in fast.headers:
            fast.parse_http()
            assert fast.verify_payload_digest()


def test_pywb_replays_it(collection: Path, segment: Segment, tmp_path: Path) -> None:
    python = os.environ.get("PYWB_PYTHON", sys.executable)
    if run(python, "-c", "import pywb").returncode:
        pytest.skip("pywb is not here: PYWB_PYTHON may name the python of an environment that has it")
    bodies = {
        "http://example.org/": PAGE,
        "https://example.org/h2": PAGE,
        "http://example.org/both": ZIPPED,
        "http://example.org/empty": b"",
        "http://example.org/copy-of-plain": PAGE,
        "http://example.org/copy-of-chunked-gzip": ZIPPED,
        "http://example.org/copy-of-http2": PAGE,
    }
    command = (python, "-c", PYWB, str(collection / segment.uri), *bodies)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    answers = {url: (status, bytes.fromhex(body)) for url, status, body in json.loads(done.stdout.splitlines()[-1])}
    assert answers == {url: ("200 OK", body) for url, body in bodies.items()}
