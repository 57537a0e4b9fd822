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
_LOCKED = "encrypted: its text is not read"

logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it has a word for every fault of a file


@dataclass(frozen=True, slots=True)
class PdfText:
    """What could be read of a file; ``notes`` say what could not."""

    title: str = ""
    text: str = ""
    notes: tuple[str, ...] = ()


class _TimeIsUp(BaseException):
    """The file has used the processor time it is given. No Exception: the library catches those and goes on."""


class _Watch:
    """Ends the reading of a file when its time is up."""

    def __init__(self, seconds: float) -> None:
        self._until = time.process_time() + seconds

    def look(self, *_: object) -> None:
        """Raises _TimeIsUp."""
        if time.process_time() > self._until:
            raise _TimeIsUp


class _WatchedFile(io.BytesIO):
    """A file in memory that looks at the clock whenever something is read of it: a broken one is searched for long."""

    def __init__(self, body: bytes, watch: _Watch) -> None:
        super().__init__(body)
        self._watch = watch

    def read(self, size: int | None = -1) -> bytes:
        self._watch.look()
        return super().read(size)


def read(body: bytes, limits: Limits) -> PdfText:
    """Title and text, as far as they can be had. Nothing raises, whatever the file holds."""
    # lazy: 0.1 s and 7 MB beside 0.17 s and 29 MB for all else of a worker, and most crawls and every gethttp meet no PDF
    from pypdf import PdfReader, apply_configuration, errors

    watch = _Watch(limits.max_pdf_seconds)
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
            reader = PdfReader(_WatchedFile(body, watch))
            if reader.is_encrypted and not reader.decrypt(""):
                return PdfText(notes=(_LOCKED,))
            return _read(reader, limits, watch)
        except errors.DependencyError:  # AES, for which the library needs another one
            return PdfText(notes=(_LOCKED,))
        except _TimeIsUp:
            return PdfText(notes=("its text takes too long to read",))
        except Exception as error:  # noqa: BLE001  # a broken file can make the library raise anything
            return PdfText(notes=(_note("its text can't be read", error),))


def _read(reader: Any, limits: Limits, watch: _Watch) -> PdfText:
    title = ""
    with suppress(Exception):
        title = str(reader.metadata.title or "")[:_TITLE] if reader.metadata else ""
    texts: list[str] = []
    notes: list[str] = []
    try:
        for text in _pages(reader, limits.max_pdf_pages, watch, notes):
            texts.append(text)
            if sum(map(len, texts)) > limits.max_text:
                break
    except _TimeIsUp:
        notes.append(f"text of the first {len(texts)} pages: the rest takes too long")
    return PdfText(title, fold("\n".join(texts)), tuple(notes))


def _pages(reader: Any, limit: int, watch: _Watch, notes: list[str]) -> Iterator[str]:
    """The text of each page; one that is broken has none."""
    is_broken = False
    for number, page in enumerate(reader.pages):
        if number >= limit:
            notes.append(f"text of the first {limit} pages")
            return
        try:
            yield page.extract_text(visitor_operand_before=watch.look)
        except Exception as error:  # noqa: BLE001  # as above; the other pages may be whole
            if not is_broken:
                notes.append(_note(f"page {number + 1} can't be read", error))
            is_broken = True
            yield ""


def _note(text: str, error: Exception) -> str:
    return f"{text} ({type(error).__name__})"
