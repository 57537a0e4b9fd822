"""The text of PDF files: whole ones, encrypted ones, broken ones, and those that are made to do harm."""

import asyncio
import io
import random
import time
from dataclasses import replace

import pypdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.parse.html import read as read_body
from gossamer.parse.job import DEFAULT_LIMITS, ParseJob
from gossamer.parse.pdf import PdfText, read
from gossamer.parse.pool import ParserPool
from gossamer.records import Facts
from parse.make_pdf import line, pdf
from parse.pages import SECRET

TYPE = (("content-type", "application/pdf"),)
LOCKED = "encrypted: its text is not read"


def facts(body: bytes, *, fallback: bool = False, headers: tuple[tuple[str, str], ...] = TYPE) -> Facts:
    return read_body(ParseJob("http://h.example/a.pdf", headers, body), SECRET, fallback=fallback)


def locked(body: bytes, password: str, algorithm: str) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(body))
    writer.encrypt(password, "owner", algorithm=algorithm)
    written = io.BytesIO()
    writer.write(written)
    return written.getvalue()


def test_title_and_text() -> None:
    found = facts(pdf("Zeppelin  flies", "second", title="All about\nairships"))
    assert (found.title, found.text) == ("All about airships", "Zeppelin flies\nsecond")
    assert (found.is_page, found.links, found.failure, found.notes) == (False, b"", None, ())
    assert found.text_digest


def test_it_is_known_by_its_first_bytes_too() -> None:
    assert facts(pdf("Zeppelin"), headers=(("content-type", "application/octet-stream"),)).text == "Zeppelin"


def test_headers_speak_for_it() -> None:
    said = facts(pdf("x"), headers=(*TYPE, ("x-robots-tag", "noindex"), ("content-language", "fr")))
    assert (said.noindex, said.language) == (True, "fr")


def test_a_file_that_killed_two_workers_is_not_read_again() -> None:
    found = facts(pdf("Zeppelin"), fallback=True)
    assert (found.text, found.content_type, found.failure) == ("", "application/pdf", None)


@pytest.mark.parametrize("algorithm", ["RC4-40", "RC4-128", "AES-128", "AES-256"])
def test_encrypted(algorithm: str) -> None:
    """Most locked files only forbid to print: they open without a password."""
    assert read(locked(pdf("secret"), "word", algorithm), DEFAULT_LIMITS) == PdfText(notes=(LOCKED,))
    assert read(locked(pdf("for all to read"), "", algorithm), DEFAULT_LIMITS).text == "for all to read"


def test_encrypted_by_what_the_library_can_not_undo() -> None:
    crypt = b"/CF << /StdCF << /CFM /AESV3 /AuthEvent /DocOpen /Length 32 >> >> /StmF /StdCF /StrF /StdCF"
    keys = b" ".join(
        b"/%s (%s)" % (name, b"x" * size) for name, size in ((b"O", 48), (b"U", 48), (b"OE", 32), (b"UE", 32))
    )
    encrypt = b"<< /Filter /Standard /V 5 /R 6 /Length 256 /P -4 /Perms (%s) %s %s >>" % (b"x" * 16, keys, crypt)
    body = pdf("secret").replace(b"trailer <<", b"trailer << /ID [(a) (b)] /Encrypt " + encrypt)
    assert read(body, DEFAULT_LIMITS) == PdfText(notes=(LOCKED,))


def test_a_broken_page_costs_only_itself() -> None:
    found = read(pdf("before", b"[" * 100_000, "after"), DEFAULT_LIMITS)
    assert found.text == "before\nafter"
    assert found.notes == ("page 2 can't be read (RecursionError)",)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"%PDF-1.4",
        b"%PDF-1.4\n" + random.Random(1).randbytes(1_000_000),
        b"%PDF-1.4\n1 0 obj\n" + b"<</A " * 50_000 + b">>" * 50_000 + b"\nendobj\ntrailer <</Root 1 0 R>>",
        pdf("x").replace(b"/Kids [5 0 R]", b"/Kids [2 0 R]"),
        pdf("x").replace(b"/Kids [5 0 R]", b"/Kids [5 0 R 5 0 R 6 0 R 99 0 R]"),
        pdf(b"/X Do " * 1000, resources=b"/XObject << /X 4 0 R >>").replace(b"<< /Length", b"<< /Type /XObject /Subtype /Form /Length"),
        pdf("x").replace(b"/Filter /FlateDecode", b"/Filter /JBIG2Decode"),
        pdf("x").replace(b"/Title (", b"/Title ["),
    ],
    ids=["empty", "header", "noise", "nested", "circle", "wrong kids", "draws itself", "filter", "title"],
)  # fmt: skip
def test_hostile_files_end_with_a_note(body: bytes) -> None:
    started = time.process_time()
    found = read(body, DEFAULT_LIMITS)
    assert isinstance(found, PdfText)
    assert time.process_time() - started < 4


@given(st.integers(0, 900), st.binary(max_size=30))
@settings(max_examples=60)
def test_nothing_raises(place: int, noise: bytes) -> None:
    body = pdf("Zeppelin", "second", title="t")
    assert isinstance(read(body[:place] + noise + body[place + len(noise) :], DEFAULT_LIMITS), PdfText)
    assert isinstance(read(body[:place], DEFAULT_LIMITS), PdfText)


def test_bombs() -> None:
    found = read(pdf(b" " * 20 * 1024 * 1024 + line("x"), "after"), DEFAULT_LIMITS)
    assert found.text == "after"
    assert found.notes == ("page 1 can't be read (LimitReachedError)",)
    found = read(pdf(b"BT /F1 12 Tf " + b"(word) Tj 0 -14 Td " * 100_000 + b" ET", "after"), DEFAULT_LIMITS)
    assert found.text == "after"


def test_so_many_pages_and_no_more() -> None:
    found = read(pdf(*map(str, range(20))), replace(DEFAULT_LIMITS, max_pdf_pages=5))
    assert found.text.split() == ["0", "1", "2", "3", "4"]
    assert found.notes == ("text of the first 5 pages",)


def test_so_much_text_and_no_more() -> None:
    found = read(pdf(*["word " * 100] * 20), replace(DEFAULT_LIMITS, max_text=1000))
    assert 1000 < len(found.text) < 2000


def test_so_much_time_and_no_more() -> None:
    many = pdf(*[b"BT /F1 12 Tf " + b"(word) Tj 0 -14 Td " * 500 + b" ET"] * 100)
    started = time.process_time()
    found = read(many, replace(DEFAULT_LIMITS, max_pdf_seconds=0.3))
    assert time.process_time() - started < 1.5
    assert found.text.startswith("word")
    assert found.notes[0].endswith("the rest takes too long")
    noise = b"%PDF-1.4\n" + b"1 0 obj\n<< /A 1 >>\nendobj\n" * 200_000
    assert read(noise, replace(DEFAULT_LIMITS, max_pdf_seconds=0.3)).notes == ("its text takes too long to read",)


async def _in_a_worker(body: bytes) -> Facts:
    async with ParserPool(1, SECRET, parse_timeout=4, memory=1536 * 1024 * 1024, max_decoded=128 * 1024 * 1024) as pool:
        found = await pool.parse(ParseJob("http://h.example/a.pdf", TYPE, body))
        assert pool.statistics().restarts == 0
        return found


def test_in_a_worker_within_its_memory_and_time() -> None:
    body = b"%PDF-1.4\n" + b"1 0 obj\n<< /A 1 >>\nendobj\n" * 400_000
    assert asyncio.run(_in_a_worker(body)).notes == ("its text takes too long to read",)
