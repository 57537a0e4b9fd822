"""Cookies in files: what curl, wget and browsers' add-ons write is read, and what we write they read."""

import http.cookiejar
import stat
from pathlib import Path

import pytest

from gossamer.errors import UsageError
from gossamer.fetch.cookie_file import is_open_to_others, read_cookies, write_cookies
from gossamer.fetch.cookies import CookieJar

NOW = 1_800_000_000.0
FILE = """\
# Netscape HTTP Cookie File
# https://curl.se/docs/http-cookies.html

.example.org\tTRUE\t/\tTRUE\t1900000000\tsession\tabc
www.example.org\tFALSE\t/shop\tFALSE\t0\tcart\t
#HttpOnly_example.org\tFALSE\t/\tFALSE\t1900000000.5\thidden\tx=y; not
#HttpOnly_.example.org\tTRUE\t/\tfalse\t1900000000\thttp\t\xe9
.example.org\tTRUE\t/\tTRUE\t1700000000\told\tgone
.co.uk\tTRUE\t/\tFALSE\t0\tall\tbritons
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "cookies.txt"
    path.write_bytes(FILE.encode("latin-1"))
    return path


def test_what_curl_writes(path: Path) -> None:
    jar = CookieJar(read_cookies(path, NOW))
    assert jar.header("https://www.example.org/shop", NOW) == "cart=; session=abc; http=\xe9"
    assert jar.header("http://example.org/", NOW) == "http=\xe9"
    assert jar.header("http://other.co.uk/", NOW) == "", "not even a file sets a cookie for all who share a suffix"


def test_what_others_write(tmp_path: Path) -> None:
    """A byte order mark, Windows' line ends, and cookies of a session whose end is empty or -1."""
    path = tmp_path / "cookies.txt"
    jar = http.cookiejar.MozillaCookieJar(path)
    rest: dict[str, str] = {}
    jar.set_cookie(
        http.cookiejar.Cookie(
            0, "a", "1", None, False, "example.org", False, False, "/", True, False, None, True, None, None, rest
        )
    )
    jar.save(ignore_discard=True)
    path.write_bytes(
        b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n") + b"example.org\tFALSE\t/\tFALSE\t-1\tb\t2\r\n"
    )
    assert {(cookie.name, cookie.value, cookie.expires) for cookie in read_cookies(path, NOW)} == {
        ("a", "1", None),
        ("b", "2", None),
    }


def test_there_and_back(path: Path, tmp_path: Path) -> None:
    cookies = read_cookies(path, NOW)
    write_cookies(tmp_path / "out.txt", cookies)
    assert read_cookies(tmp_path / "out.txt", NOW) == cookies


def test_what_we_write_others_read(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    write_cookies(out, [cookie for cookie in read_cookies(path, NOW) if cookie.value.isascii()])
    jar = http.cookiejar.MozillaCookieJar(out)
    jar.load(ignore_discard=True, ignore_expires=True)
    assert {cookie.name for cookie in jar} == {"session", "cart", "all"}


def test_the_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    out.write_text("old")
    out.chmod(0o644)
    assert is_open_to_others(out)
    write_cookies(out, [])
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert not is_open_to_others(out)
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


@pytest.mark.parametrize(
    "line",
    [
        "example.org",
        "example.org TRUE / TRUE 0 name hunter2",
        "example.org\tTRUE\t/\tTRUE\tlater\tname\thunter2",
        "example.org\tTRUE\t/\tTRUE\tnan\tname\thunter2",
        "example.org\tTRUE\t/\tTRUE\t-2\tname\thunter2",
        "example.org\tmaybe\t/\tTRUE\t0\tname\thunter2",
        "\tTRUE\t/\tTRUE\t0\tname\thunter2",
        "example.org\tTRUE\tshop\tTRUE\t0\tname\thunter2",
        '{"cookies": ["hunter2"]}',
    ],
)
def test_what_is_no_cookie_is_named_by_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "cookies.txt"
    path.write_text(f"# Netscape\n\n{line}\n")
    with pytest.raises(UsageError, match=r"line 3 of .*cookies.txt' is no cookie") as caught:
        read_cookies(path, NOW)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "a;b", "a\x01"])
def test_what_no_server_could_set_is_left_out(tmp_path: Path, name: str) -> None:
    path = tmp_path / "cookies.txt"
    path.write_text(f"example.org\tTRUE\t/\tTRUE\t0\t{name}\tx\n")
    assert read_cookies(path, NOW) == []


def test_a_file_that_is_not_there_or_too_long(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read"):
        read_cookies(tmp_path / "missing.txt", NOW)
    with pytest.raises(UsageError, match="can't be written"):
        write_cookies(tmp_path / "missing" / "out.txt", [])
    long = tmp_path / "long.txt"
    with long.open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    with pytest.raises(UsageError, match="too long"):
        read_cookies(long, NOW)
