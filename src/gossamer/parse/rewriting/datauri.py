"""Files as URLs (RFC 2397)."""

from base64 import b64decode, b64encode
from urllib.parse import quote_from_bytes, unquote_to_bytes

from gossamer.parse.rewriting.charset import UTF_8, likely

_TEXTUAL = ("text/", "application/javascript", "application/x-javascript", "application/json", "image/svg+xml")
# What may stand in a data: URL, and in HTML, CSS, JavaScript and a srcset as well, as it is.
_SAFE = "/?:@!*+;=~-._"


def data_url(content_type: str, body: bytes) -> str:
    """A file as a URL (RFC 2397). Text is in UTF-8 and may be read in it, where that is no longer."""
    encoded = b64encode(body).decode()
    if not content_type.startswith(_TEXTUAL) or not likely(body):
        return f"data:{content_type};base64,{encoded}"
    text = quote_from_bytes(body, safe=_SAFE)
    if len(text) <= len(encoded) + len(";base64"):
        return f"data:{content_type};charset={UTF_8},{text}"
    return f"data:{content_type};charset={UTF_8};base64,{encoded}"


def content_of(url: str) -> bytes:
    """The file that a URL of `data_url` holds."""
    head, _, content = url.partition(",")
    return b64decode(content) if head.endswith(";base64") else unquote_to_bytes(content)
