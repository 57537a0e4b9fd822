"""WARC files as others write them, made by warcio, and ways to break them."""

import gzip
import io
from collections.abc import Iterable, Mapping
from typing import Any

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

DATE = "2026-01-31T12:00:00Z"


class Archive:
    """A WARC file that is being written; ``offsets`` are where its records begin."""

    def __init__(self, *, is_gzip: bool = True, version: str = "1.0") -> None:
        self._out = io.BytesIO()
        self._writer = WARCWriter(self._out, gzip=is_gzip, warc_version=f"WARC/{version}")
        self.offsets: list[int] = []

    def add(
        self,
        url: str,
        body: bytes = b"",
        *,
        type: str = "response",
        status: str = "200 OK",
        headers: Iterable[tuple[str, str]] = (("Content-Type", "text/html"),),
        date: str = DATE,
        content_type: str = "",
        fields: Mapping[str, str] | None = None,
    ) -> str:
        """Write a record; gives its id."""
        is_http = type in ("response", "revisit", "request")
        head = StatusAndHeaders(status, list(headers), protocol="HTTP/1.1") if is_http and status else None
        if type == "request":
            head = StatusAndHeaders(status, list(headers), is_http_request=True)
        record = self._writer.create_warc_record(
            url,
            type,
            payload=io.BytesIO(body),
            length=len(body),
            warc_content_type=content_type,
            http_headers=head,
            warc_headers_dict={"WARC-Date": date, **(fields or {})},
        )
        self.offsets.append(self._out.tell())
        self._writer.write_record(record)
        return str(record.rec_headers["WARC-Record-ID"])

    def revisit(self, url: str, *, refers_to: Mapping[str, str], digest: str, **more: Any) -> str:
        """A revisit record of an identical payload, with the HTTP head that came."""
        profile = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
        fields = {"WARC-Profile": profile, "WARC-Payload-Digest": digest, **refers_to}
        return self.add(url, type="revisit", fields=fields, **more)

    @property
    def data(self) -> bytes:
        """The file so far."""
        return self._out.getvalue()


def pages(count: int, *, is_gzip: bool = True, size: int = 2000) -> Archive:
    """An archive of some pages, /0, /1 and so on."""
    archive = Archive(is_gzip=is_gzip)
    for number in range(count):
        archive.add(f"http://a.test/{number}", b"<p>page %d " % number * (size // 10))
    return archive


def in_one_stream(data: bytes) -> bytes:
    """A plain WARC file compressed as one file."""
    return gzip.compress(data, mtime=0)


def in_blocks(data: bytes, size: int) -> bytes:
    """A plain WARC file compressed in members that end anywhere."""
    return b"".join(gzip.compress(data[at : at + size], mtime=0) for at in range(0, len(data), size))


def raw_record(fields: Mapping[str, str], block: bytes) -> bytes:
    """A record by hand, as warcio would not write it."""
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"WARC/1.1\r\n{head}Content-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"
