"""What a file says of its own encoding, made to say UTF-8."""

import re

from gossamer.parse import encoding
from gossamer.parse.rewriting.edits import Edit

UTF_8 = "utf-8"
META = '<meta charset="utf-8">'
PRESCANNED = 1024 - 64
"""Characters at the beginning of a file in which browsers look for a meta (HTML 13.2.3.2), with room for edits."""

_XML_DECLARED = re.compile(r"""\ufeff?<\?xml[^<>]{0,200}?\bencoding\s*=\s*["']([^"'<>]*)["']""")
_IN_CONTENT = re.compile(
    r"""charset[ \t\n\f\r]*=[ \t\n\f\r]*(?:"([^"]*)"|'([^']*)'|([^"';, \t\n\f\r][^; \t\n\f\r]*))""", re.IGNORECASE
)
_AT_CHARSET = re.compile(r'@charset "([^"\n]*)";')
_AT_CHARSET_BYTES = re.compile(rb'@charset "([^"\n]{0,40})";')
_BEGINNING = re.compile(r"\ufeff?(?:\s++|<!--(?:[^-]++|-(?!->))*+-->|<\?[^>]*+>)*+<!doctype[^>]*+>", re.IGNORECASE)
_BOM = b"\xef\xbb\xbf"


def name(label: str) -> str:
    """The standard's name of an encoding that came with a file, "" for none."""
    return encoding.known(label.strip()) if label else ""


def decode_css(body: bytes, charset: str) -> tuple[str, str]:
    """CSS Syntax 3, 3.2 "The input byte stream": mark, header, ``@charset``. Instead of what the page has: the bytes."""
    declared = _AT_CHARSET_BYTES.match(body)
    inside = encoding.known(declared[1].decode("latin-1")) if declared else ""
    if inside.startswith("utf-16"):
        inside = UTF_8
    return decode(body, charset or inside or likely(body))


def likely(body: bytes) -> str:
    """UTF-8 where the bytes are that, else nothing."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return ""
    return UTF_8


def decode(body: bytes, charset: str) -> tuple[str, str]:
    """As `encoding.decode`, but a mark of UTF-8 is kept."""
    text, found = encoding.decode(body, charset)
    return ("\ufeff" + text, found) if body.startswith(_BOM) else (text, found)


def decode_page(body: bytes, charset: str, *, is_xml: bool) -> tuple[str, str]:
    """A page or an SVG: by the header, or as the crawl reads it without one; XML is UTF-8 where nothing says otherwise."""
    hinted = charset or encoding.hinted(body, is_xml=is_xml)
    return decode(body, hinted or (likely(body) if is_xml else ""))


def css_edits(source: str) -> list[Edit]:
    """``@charset`` counts only as the very first bytes; without any, CSS that is no ASCII gets one."""
    declared = _AT_CHARSET.match(source)
    if declared:
        return [] if encoding.known(declared[1]) == UTF_8 else [(*declared.span(1), UTF_8)]
    return [] if source.isascii() or source.startswith("\ufeff") else [(0, 0, f'@charset "{UTF_8}";\n')]


def xml_edits(source: str) -> list[Edit]:
    """The declaration of a file in XML: without one it is UTF-8."""
    declared = _XML_DECLARED.match(source)
    return [] if declared is None or encoding.known(declared[1]) == UTF_8 else [(*declared.span(1), "UTF-8")]


def content_place(content: str) -> tuple[int, int] | None:
    """Where the label stands in the content of ``<meta http-equiv=content-type>``."""
    found = _IN_CONTENT.search(content)
    return found.span(found.lastindex or 0) if found else None


def beginning(source: str) -> int:
    """Where something may stand before everything else: after the document type, or else the page is shown otherwise."""
    found = _BEGINNING.match(source)
    return found.end() if found else int(source.startswith("\ufeff"))
