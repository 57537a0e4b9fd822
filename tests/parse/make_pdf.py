"""PDF files by hand: pages of text, whole or wrong."""

import zlib

CATALOGUE, PAGES, FONT = (
    b"<< /Type /Catalog /Pages 2 0 R >>",
    1,
    b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
)
PAGE = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> %s >> >>"


def line(text: str) -> bytes:
    """The operators that show a line."""
    return b"BT /F1 12 Tf 72 720 Td (" + text.encode("latin-1") + b") Tj ET"


def pdf(*pages: str | bytes, title: str = "", resources: bytes = b"") -> bytes:
    """A file with a page for each text, or for each stream of operators."""
    objects = [CATALOGUE, b"", FONT]
    kids = []
    for page in pages:
        stream = zlib.compress(line(page) if isinstance(page, str) else page)
        objects.append(b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream))
        objects.append(PAGE % (len(objects), resources))
        kids.append(b"%d 0 R" % len(objects))
    objects[PAGES] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(kids))
    objects.append(b"<< /Title (%s) >>" % title.encode("latin-1"))
    return _file(objects)


def _file(objects: list[bytes]) -> bytes:
    body = b"%PDF-1.4\n"
    table = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for number, each in enumerate(objects, 1):
        table += b"%010d 00000 n \n" % len(body)
        body += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    trailer = b"trailer << /Size %d /Root 1 0 R /Info %d 0 R >>\n" % (len(objects) + 1, len(objects))
    return body + table + trailer + b"startxref\n%d\n%%%%EOF" % len(body)
