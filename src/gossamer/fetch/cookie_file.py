"""Cookies in the text format of Netscape, which browsers' add-ons, curl and wget read and write (``cookies.txt``).

One cookie a line, seven fields with tabs between them: domain, whether hosts below it get it, path, whether only over
TLS, when it ends (0: with the session), name, value. A line that begins with ``#HttpOnly_`` is a cookie too.
"""

import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from gossamer import url as urls
from gossamer.errors import UsageError
from gossamer.fetch.set_cookie import MAX_SIZE, Cookie

_MOST = 16 * 1024 * 1024  # bytes of a file
_HTTP_ONLY = "#HttpOnly_"
_HEAD = "# Netscape HTTP Cookie File\n# Written by Gossamer. Who has this file is who these cookies say: keep it to yourself.\n"
_MARK = b"\xef\xbb\xbf"  # of UTF-8; editors put it there
_WITH_THE_SESSION = ("", "-1")  # as Python's http.cookiejar writes it, and what browsers are driven with
_IMPOSSIBLE = re.compile(r"[;\x00-\x08\x0a-\x1f\x7f]")


def read_cookies(path: Path, now: float) -> list[Cookie]:
    """The cookies of a file that are not over. UsageError for what is no such file; it repeats no value."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST + 1)
    except OSError as error:
        raise UsageError(f"the cookies in {str(path)!r} can't be read ({error.strerror})") from error
    if len(content) > _MOST:
        raise UsageError(f"{str(path)!r} is too long for a file of cookies", hint="at most 16 MB are read")
    return [cookie for cookie in _cookies(content, path) if not cookie.is_expired(now)]


def is_open_to_others(path: Path) -> bool:
    """Whether other users of this machine may read a file."""
    return bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def write_cookies(path: Path, cookies: Iterable[Cookie]) -> None:
    """Replace a file, as a whole and for its owner's eyes only. UsageError where that can't be done."""
    content = _HEAD + "".join(_line(cookie) for cookie in cookies)
    try:
        descriptor, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)  # mode 0600
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode("latin-1"))
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException as error:
        with suppress(OSError):
            Path(name).unlink()
        if isinstance(error, OSError):
            raise _unwritable(path, error) from error
        raise


def _unwritable(path: Path, error: OSError) -> UsageError:
    return UsageError(f"the cookies can't be written to {str(path)!r} ({error.strerror})")


def _cookies(content: bytes, path: Path) -> Iterator[Cookie]:
    for number, line in enumerate(content.removeprefix(_MARK).decode("latin-1").split("\n"), 1):
        text = line.rstrip("\r")
        is_cookie = text.startswith(_HTTP_ONLY) or not text.startswith("#")
        if not is_cookie or not text.strip():
            continue
        try:
            cookie = _cookie(text.removeprefix(_HTTP_ONLY), http_only=text.startswith(_HTTP_ONLY))
        except ValueError:
            raise UsageError(
                f"line {number} of {str(path)!r} is no cookie",
                hint="the format is that of cookies.txt: seven fields with tabs between them",
            ) from None
        if cookie is not None:
            yield cookie


def _cookie(line: str, *, http_only: bool) -> Cookie | None:
    """The cookie of a line; None for one that no server could have set. ValueError for what is no such line."""
    domain, below, path, secure, expires, name, *value = line.split("\t", 6)
    host, text = domain.removeprefix(".").lower(), "".join(value)
    seconds = 0.0 if expires.strip() in _WITH_THE_SESSION else float(expires)
    if not host or not path.startswith("/") or not seconds >= 0:
        raise ValueError(domain)
    host_only = not _is_true(below) or urls.is_public_suffix(host)
    cookie = Cookie(name, text, host, host_only, path, _is_true(secure), http_only, seconds or None)
    is_possible = name and len(name) + len(text) <= MAX_SIZE and not _IMPOSSIBLE.search(name + text)
    return cookie if is_possible and not host.startswith("#") else None  # "." before it: written, it would be a comment


def _is_true(word: str) -> bool:
    if word.upper() not in ("TRUE", "FALSE"):
        raise ValueError(word)
    return word.upper() == "TRUE"


def _line(cookie: Cookie) -> str:
    fields = (
        f"{_HTTP_ONLY if cookie.http_only else ''}{'' if cookie.host_only else '.'}{cookie.domain}",
        "FALSE" if cookie.host_only else "TRUE",
        cookie.path,
        "TRUE" if cookie.secure else "FALSE",
        f"{cookie.expires or 0:.0f}",
        cookie.name,
        cookie.value,
    )
    return "\t".join(fields) + "\n"
