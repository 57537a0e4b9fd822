"""Character encodings by WHATWG label (Encoding Standard). Names of Python codecs never come from the network."""

import codecs
import re
from functools import lru_cache
from urllib.parse import quote_from_bytes

import turbohtml
from turbohtml.detect import detect

_CHARSET = re.compile(r"""charset[ \t]*=[ \t]*(?:"([^"]*)"|'([^']*)'|([^;,\s"']+))""", re.IGNORECASE)
_XML = re.compile(rb"""<\?xml[^<>]{0,200}?encoding\s*=\s*["']?([A-Za-z0-9._:-]{1,40})""")
_META = re.compile(rb"<meta[\s/][^>]{0,1000}?charset", re.IGNORECASE)
_PRESCAN = 1024  # bytes in which browsers look for a meta before they read the page
_UTF_16 = (
    (re.compile(rb"(?:[\t\n\r ]\x00){0,64}<\x00[!?A-Za-z]\x00"), "utf-16le"),
    (re.compile(rb"(?:\x00[\t\n\r ]){0,64}\x00<\x00[!?A-Za-z]"), "utf-16be"),
)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_MAX_LABEL = 40
MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
"""Byte order marks."""

_BOMS = ("utf-8", "utf-16le", "utf-16be")

# The encoders that stand in for those of the standard. UTF-8 is not here: it, UTF-16 and "replacement" are sent
# as UTF-8 ("get an output encoding").
_ENCODERS = {
    "big5": "cp950",
    "euc-jp": "euc_jp",
    "euc-kr": "cp949",
    "gb18030": "gb18030",
    "gbk": "gbk",
    "ibm866": "cp866",
    "iso-2022-jp": "iso2022_jp",
    "iso-8859-8-i": "iso8859_8",
    "macintosh": "mac_roman",
    "shift_jis": "cp932",
    "windows-874": "cp874",
    "x-mac-cyrillic": "mac_cyrillic",
    **{name: name for name in ("koi8-r", "koi8-u")},
    **{f"windows-125{digit}": f"cp125{digit}" for digit in range(9)},
    **{f"iso-8859-{part}": f"iso8859_{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
}


@lru_cache(maxsize=1024)
def known(label: str) -> str:
    """The standard's name of an encoding, lower case, for one of its labels; "" for an unknown one."""
    if len(label) > _MAX_LABEL:
        return ""
    try:
        return (turbohtml.parse(b"", encoding=label).encoding or "").lower()
    except LookupError:
        return ""


def declared(content_type: str) -> str:
    """The name of the encoding a Content-Type declares; "" where it declares none that is known."""
    found = _CHARSET.search(content_type)
    return known(found[1] or found[2] or found[3] or "") if found else ""


def utf16(body: bytes) -> str:
    """UTF-16 without a byte order mark, by its first tag (XML 1.0, F.1; HTML, "prescan"); "" where it is none."""
    return next((name for pattern, name in _UTF_16 if pattern.match(body)), "")


def xml_declared(body: bytes) -> str:
    """The name of the encoding in an XML declaration; "" without one.

    What can be read byte by byte is not in UTF-16, whatever it says (HTML, "get an XML encoding").
    """
    found = _XML.match(body)
    name = known(found[1].decode("ascii")) if found else ""
    return "utf-8" if name.startswith("utf-16") else name


def hinted(body: bytes, *, is_xml: bool) -> str:
    """The name of the encoding that a page without a declared one has beyond doubt, or that its XML declaration names.

    "" where that is left to a byte order mark, a meta or the content. XML knows no meta; in HTML it comes first.
    """
    if body.startswith(MARKS):
        return ""
    return utf16(body) or ("" if not is_xml and _META.search(body, 0, _PRESCAN) else xml_declared(body))


def decode(body: bytes, charset: str) -> tuple[str, str]:
    """The text of ``body`` and the name of its encoding: byte order mark, then ``charset``, then meta or content."""
    name = charset
    if not charset or body.startswith(MARKS):  # else it need not be looked for, which takes long
        name = (detect(body).encoding or "windows-1252").lower().removesuffix("-sig")
    text = codecs.decode(body, f"whatwg-{name}")
    return text.removeprefix("\ufeff") if name in _BOMS else text, name


def plainly_utf8(body: bytes) -> str:
    """ "utf-8" for what is that and not ASCII alone, whatever is said of it; else ""."""
    if body.isascii():
        return ""
    try:
        body.decode()
    except UnicodeDecodeError:
        return ""
    return "utf-8"


def trimmed(body: bytes) -> bytes:
    """``body`` without a UTF-8 character that was cut off at its end: it would pass for another encoding."""
    for back in range(1, min(4, len(body) + 1)):
        byte = body[-back]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return body[:-back] if length > back else body
        if byte < 0x80:
            break
    return body


def encode_query(href: str, charset: str) -> str:
    """``href`` with what is not ASCII in its query percent-encoded in the page's encoding.

    URL Standard, "percent-encode after encoding": a character the encoding lacks becomes ``%26%23…%3B``.
    """
    encoder = _ENCODERS.get(charset)
    if encoder is None:
        return href
    before, hash_mark, fragment = href.partition("#")
    path, question_mark, query = before.partition("?")
    return path + question_mark + _NOT_ASCII.sub(lambda run: _percent(run[0], encoder), query) + hash_mark + fragment


def _percent(run: str, encoder: str) -> str:
    try:
        return quote_from_bytes(run.encode(encoder), safe=_QUERY_SAFE)
    except UnicodeEncodeError:
        if len(run) == 1:
            return f"%26%23{ord(run)}%3B"
        return "".join(_percent(character, encoder) for character in run)


# What the query percent-encode set leaves alone (URL Standard): of the bytes a legacy encoding puts after a lead
# byte, these stay as they are.
_QUERY_SAFE = "".join(map(chr, range(0x21, 0x7F))).translate(dict.fromkeys(map(ord, "\"#<>'%")))
