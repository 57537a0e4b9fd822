"""The text of PDF files, by pypdf: page after page, within bounds of pages, time and memory. Runs in parser workers."""

import io
import logging
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from gossamer.parse.job import Limits
from gossamer.parse.text import fold

_MOST = 16 * 1024 * 1024
"""Bytes that one compressed stream of a PDF may become: a page's text is a thousandth of it."""

_MOST_WORK = 400_000
"""Operands and operators of one page."""

_TITLE = 2000  # characters

logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it has a word for every fault of a file


@dataclass(frozen=True, slots=True)
class PdfText:
    """What could be read of a file; ``notes`` say what could not."""

    title: str = ""
    text: str = ""
    notes: tuple[str, ...] = ()


class _TimeIsUp(Exception):
    """The file has used the processor time it is given."""


def read(body: bytes, limits: Limits) -> PdfText:
    """Title and text, as far as they can be had. Nothing raises, whatever the file holds."""
    # lazy: it takes longer to import than all the rest of a worker, and most crawls and every gethttp meet no PDF
    from pypdf import PdfReader, apply_configuration

    with apply_configuration(
        zlib_maximum_output_length=_MOST,
        lzw_maximum_output_length=_MOST,
        run_length_maximum_output_length=_MOST,
        brotli_maximum_output_length=_MOST,
        array_based_stream_maximum_output_length=_MOST,
        stream_decoding_work_maximum_length=4 * _MOST,
        stream_parsing_work_maximum_count=_MOST_WORK,
        jbig2dec_binary=None,  # no other program is ever started on a stranger's file
    ):
        try:
            reader = PdfReader(io.BytesIO(body))
            if reader.is_encrypted and not reader.decrypt(""):
                return PdfText(notes=("encrypted: its text is not read",))
            return _read(reader, limits)
        except Exception as error:  # noqa: BLE001  # a broken file can make the library raise anything
            return PdfText(notes=(_note("its text can't be read", error),))


def _read(reader: Any, limits: Limits) -> PdfText:
    title = ""
    with suppress(Exception):
        title = str(reader.metadata.title or "")[:_TITLE] if reader.metadata else ""
    pages: list[str] = []
    notes: list[str] = []
    try:
        for text in _pages(reader, limits, notes):
            pages.append(text)
            if sum(map(len, pages)) > limits.max_text:
                break
    except _TimeIsUp:
        notes.append(f"text of the first {len(pages)} pages: the rest took too long")
    return PdfText(title, fold("\n".join(pages)), tuple(notes))


def _pages(reader: Any, limits: Limits, notes: list[str]) -> Iterator[str]:
    """The text of each page; one that is broken is passed over."""
    until = time.process_time() + limits.max_pdf_seconds

    def look_at_the_clock(*_: object) -> None:
        if time.process_time() > until:
            raise _TimeIsUp

    broken = 0
    for number, page in enumerate(reader.pages):
        look_at_the_clock()
        if number >= limits.max_pdf_pages:
            notes.append(f"text of the first {number} pages")
            break
        try:
            yield page.extract_text(visitor_operand_before=look_at_the_clock)
        except _TimeIsUp:
            raise
        except Exception as error:  # noqa: BLE001  # as above; the other pages may be whole
            broken += 1
            if broken == 1:
                notes.append(_note(f"page {number + 1} can't be read", error))


def _note(text: str, error: Exception) -> str:
    return f"{text} ({type(error).__name__})"
