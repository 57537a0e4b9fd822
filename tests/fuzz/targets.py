"""What must be true of everything that reads strangers' bytes, whatever these are."""

import io
import struct
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache, reduce
from pathlib import Path

import apsw

from gossamer import url as urls
from gossamer.archive import foreign, query, reader
from gossamer.archive.database import create
from gossamer.archive.warc import GZIP_HEADER, split_block
from gossamer.errors import ArchiveError, SettingsError, UsageError
from gossamer.fetch import heads, set_cookie
from gossamer.fetch.cookie_file import read_cookies, write_cookies
from gossamer.fetch.credentials import Credentials
from gossamer.parse import css, dates, directives, encoding, linkheader, refresh, sitemap, sniff, xmltokens
from gossamer.parse.body import dechunk, decode, undo
from gossamer.parse.job import DEFAULT_LIMITS
from gossamer.parse.lexbor import read as read_by_lexbor
from gossamer.parse.links import pack, unpack
from gossamer.parse.resolve import Resolver, base_url
from gossamer.parse.srcset import candidates
from gossamer.policy import failures, robots
from gossamer.policy.patterns import Patterns
from gossamer.policy.robots import LIMIT
from gossamer.records import Exchange, Failure, Headers, RecordPlace, Via
from gossamer.settings import TABLE
from gossamer.settings_files import COLLECTION_FILE, DEFAULT, load
from gossamer.settings_secrets import Credential
from gossamer.settings_values import parse as parse_setting
from gossamer.settings_values import show, write

NOW = 1_800_000_000.0
PAGE = "https://www.example.org/a/b.html?c=d"

_SLOWEST = 2.0
"""Seconds that a few kilobytes may take: all readers are linear, and most take a thousandth of it."""


@contextmanager
def swift() -> Iterator[None]:
    """What takes much too long hangs on something longer."""
    began = time.process_time()
    yield
    took = time.process_time() - began
    assert took < _SLOWEST, f"it took {took:.1f} s"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


# --- URLs


def canonical_urls(data: bytes) -> None:
    """Canonicalising twice changes nothing, and what comes out can go over the wire and be taken apart."""
    text, _, base = _text(data).partition("\n")
    for url in (urls.canonicalise(text), urls.canonicalise(text, urls.canonicalise(base) or PAGE)):
        if url is None:
            continue
        _check_url(url)
        _check_url(urls.canonicalise("../x?y#z", url) or PAGE)


def _check_url(url: str) -> None:
    assert urls.canonicalise(url) == url
    assert url.startswith(("http://", "https://"))
    assert url.isascii(), url
    assert url.isprintable(), url
    assert "#" not in url
    assert "@" not in url.split("/")[2]
    origin = urls.origin(url)
    assert str(urls.origin(f"{origin}/")) == str(origin)
    assert url == f"{origin}{urls.path_and_query(url)}"
    assert 0 <= urls.shard(origin.hostname) < urls.SHARDS
    assert urls.registrable_domain(origin.hostname)
    place = heads.place(url)
    assert (place.scheme, place.port) == (origin.scheme, origin.port)
    assert heads.render_request(place, heads.request_headers("ours", ()), b"HTTP/1.1").count(b"\r\n\r\n") == 1


def typed_urls(data: bytes) -> None:
    """What a person types is an address or an error with words, which repeat no password."""
    try:
        url, _ = urls.typed(_text(data))
    except UsageError as error:
        assert str(error)
        return
    _check_url(url)


# --- robots.txt, sitemaps, pages


def robots_files(data: bytes) -> None:
    """Nothing raises, the rules are the same after they were kept, and robots.txt itself may always be asked for."""
    path, _, body = data.partition(b"\n")
    url = urls.canonicalise(_text(path), PAGE) or PAGE
    target = urls.path_and_query(url)
    assert robots.cut(robots.cut(body)) == robots.cut(body)
    parsed = robots.parse(body)
    group = parsed.group("gossamer")
    match = group.match(target)
    assert match.rule.isprintable()
    assert match == robots.parse(robots.cut(body)).group("gossamer").match(target)
    assert group.match("/robots.txt").allowed
    assert group.crawl_delay is None or group.crawl_delay >= 0
    assert len(parsed.sitemaps) <= robots.MAX_SITEMAPS
    if path.endswith(b"$"):  # rarely, for it takes its time
        long = robots.parse(body[:1000] + b"\n" + b"Disallow: /x" * (LIMIT // 12 + 1))
        assert long.group("gossamer").match("/robots.txt").allowed


def sitemaps(data: bytes) -> None:
    """A list is read as far as it can be, or is none."""
    text, name = xmltokens.decode(data[1:], "" if data[:1] < b"m" else "windows-1251")
    assert name
    for announced in (True, False):
        listing = sitemap.read(text, DEFAULT_LIMITS, NOW, announced=announced)
        if listing is not None:
            different = {(entry.url, entry.bases) for entry in listing.entries}
            assert len(different) == len(listing.entries) <= DEFAULT_LIMITS.max_links
            for entry in listing.entries:
                Resolver(reduce(base_url, entry.bases, PAGE), None, "utf-8", b"k").resolve(entry.url)
            assert all(entry.lastmod is None or 0 <= entry.lastmod <= NOW + 86400 for entry in listing.entries)


def css_and_srcset(data: bytes) -> None:
    """References come out of a style sheet, a style attribute and a srcset, and are texts of the page."""
    text = _text(data)
    for url in candidates(text):
        assert url in text
        assert not set(url) & set(" \t\n\f\r")
    quoted = text.replace("&", "&amp;").replace('"', "&quot;")
    page = f'<style>{text}</style><p style="{quoted}"><img srcset="{quoted}"><a href="{quoted}">x</a>'
    source, name = css.decode(data, "")
    assert name
    assert all(css.references(source))
    markup = read_by_lexbor(page.encode(), "utf-8")
    for _, url, _, _ in markup.references:
        urls.canonicalise(url, PAGE)


def headers_that_speak_of_pages(data: bytes) -> None:
    """Content-Type, X-Robots-Tag, Link, Refresh, Retry-After, Set-Cookie, dates: read or passed over."""
    value = data.decode("latin-1")
    names = ("content-type", "x-robots-tag", "link", "retry-after", "set-cookie", "content-encoding")
    headers: Headers = tuple((name, value) for name in names)
    sniff.media_type(headers, data)
    encoding.declared(value)
    directives.directives([value], headers, NOW)
    canonical = linkheader.canonical(headers, PAGE)
    assert not canonical or urls.canonicalise(canonical) == canonical
    assert all(via in (Via.LINK, Via.REQUISITE) for via, *_ in linkheader.references(headers))
    failure = failures.of_status(503, headers, NOW)
    assert failure is not None
    assert failure.retry_after is None or failure.retry_after >= 0
    wait = refresh.refresh(value)
    assert wait is None or wait[0] >= 0
    moment = dates.moment(value)
    assert moment is None or isinstance(moment, float)
    cookie = set_cookie.parse(value, PAGE, NOW)
    if cookie is not None:
        assert set_cookie.is_within("www.example.org", cookie.domain)
        assert not set(cookie.name + cookie.value) & set("\r\n\0;")


def charsets(data: bytes) -> None:
    """Any bytes are text in any encoding, and a query in any of them makes a URL that can be sent."""
    label, _, body = data.partition(b"\n")
    text, name = encoding.decode(body, encoding.known(label.decode("latin-1")))
    assert encoding.known(name) or name
    text.encode("utf-8")
    url = urls.canonicalise(encoding.encode_query("?q=" + text, name), PAGE)
    assert url is None or heads.place(url).target.isascii()


# --- HTTP


def http_heads(data: bytes) -> None:
    """Of all header lines the last whole head is found; its headers are pairs of one line each."""
    lines = data.splitlines(keepends=True)
    found = heads.final_head(lines)
    if found is None:
        return
    assert found[-1] in (b"\r\n", b"\n")
    head = b"".join(found)
    for name, value in heads.parse_headers(head):
        assert name == name.lower()
        assert "\n" not in name + value
    record = reader.StoredRecord((("warc-type", "response"),), *split_block(head + b"body"))
    assert 0 <= record.status <= 999
    assert isinstance(record.http_headers, tuple)


def body_codings(data: bytes) -> None:
    """Undone within the limit, or a failure that says why; what could be decoded before that is kept."""
    limit = 1 << 20
    flags, body = data[:1] or b"\0", data[1:]
    names = ("gzip", "deflate", "br", "zstd", "chunked", "x-gzip, br", "gzip, gzip", "identity, deflate")
    coding = names[flags[0] % len(names)]
    headers: Headers = (("content-encoding", coding), ("transfer-encoding", "chunked" if flags[0] & 64 else ""))
    undone = undo(headers, body, limit)
    assert len(undone.data) <= limit + (1 << 20) or undone.data is body
    whole = decode(headers, body, limit)
    assert isinstance(whole, Failure) == (undone.failure is not None)
    partial = decode(headers, body, limit, partial=True)
    assert isinstance(whole, Failure) or partial == whole
    plain, _ = dechunk(body)
    assert len(plain) <= len(body)


# --- archives


@cache
def _place() -> Path:
    """A folder in memory, where there is one: the readers want files."""
    shared = Path("/dev/shm")
    place = Path(tempfile.mkdtemp(dir=shared if shared.is_dir() else None))
    (place / "warc").mkdir()
    return place


def _packed(data: bytes) -> bytes:
    """Bytes as they are, or packed as the archives want them: chance finds no checksum."""
    way, rest = data[:1], data[1:]
    if way == b"1":
        return b"".join(_member(part) for part in rest.split(b"\xff\xfe"))
    if way == b"2":  # with something broken behind it
        first, _, last = rest.partition(b"\xff\xfe")
        return _member(first) + last + _member(first)[:-1]
    return _member(rest.replace(b"\xff\xfe", b"\r\n\r\n")) if way == b"3" else rest


def _member(content: bytes) -> bytes:
    packer = zlib.compressobj(1, zlib.DEFLATED, -15)
    body = packer.compress(content) + packer.flush()
    return GZIP_HEADER + body + struct.pack("<II", zlib.crc32(content), len(content))


def own_archives(data: bytes) -> None:
    """A scan covers every byte once, in order; what it calls a sound record can be read at its place."""
    packed = _packed(data)
    uri = "warc/fuzz.warc.gz"
    path = _place() / uri
    path.write_bytes(packed)
    position = 0
    for record in reader.scan(path):
        assert (record.offset, record.length > 0) == (position, True)
        position += record.length
        if not record.problems:
            stored = reader.read_record(_place(), uri, RecordPlace(1, record.offset, record.length))
            assert (stored.type, stored.target_uri) == (record.type, record.target_uri)
            assert isinstance(stored.date, float)
            assert isinstance(stored.status, int)
    assert position == len(packed)


def foreign_archives(data: bytes) -> None:
    """Others' archives, compressed or not: records in order, blocks no longer than asked for, an end at last."""
    packed = _packed(data)
    before = (-1, -1)
    for item in foreign.read_archive(io.BytesIO(packed), 0, len(packed), max_block=4096):
        place = (item.place.offset, item.place.inside)
        assert before <= place <= (len(packed), 1 << 40)
        before = place
        if isinstance(item, foreign.ForeignRecord):
            assert len(item.block) <= min(item.size, 4096)
        else:
            assert item.message.isprintable()


def packed_links(data: bytes) -> None:
    """The links of a page, from a database that a stranger made: as they were packed, or damaged."""
    with suppress(ArchiveError):
        links = unpack(data)
        assert unpack(pack(links)) == links


# --- what people write


@cache
def _index() -> apsw.Connection:
    return create(_place() / "crawl.db", NOW)


def queries(data: bytes) -> None:
    """Nothing that is typed is an error, neither here nor to the index."""
    connection = _index()
    parsed = query.parse(connection, _text(data))
    if not parsed.is_empty:
        for expression in (parsed.matching_all(), parsed.matching_any()):
            list(connection.execute("SELECT rowid FROM page_index WHERE page_index MATCH ? LIMIT 1", (expression,)))


def settings(data: bytes) -> None:
    """A value is one that survives being written and read again, or an error of one line that shows no secret."""
    name, _, value = _text(data).partition("\n")
    setting = TABLE.get(name) or list(TABLE.values())[len(data) % len(TABLE)]
    raw: object = value
    if data[-1:] == b"]":
        raw = value.split(",")
    try:
        parsed = parse_setting(setting, raw, "a file")
    except SettingsError as error:
        assert str(error).isprintable()
        return
    assert parse_setting(setting, write(setting, parsed), "a file") == parsed
    assert show(setting, parsed).isprintable()


def patterns(data: bytes) -> None:
    """A pattern is compiled or refused with words; several at once say what each says alone."""
    *written, url = _text(data).split("\n")
    wanted = tuple(written[:4])
    with suppress(SettingsError):
        found = Patterns(wanted).first_match(url)
        alone = [pattern for pattern in wanted if Patterns((pattern,)).first_match(url)]
        assert found == next(iter(alone), None)


def files(data: bytes) -> None:
    """A collection's settings, which may be a stranger's, and a file of cookies: read, or an error with words."""
    folder = _place()
    (folder / COLLECTION_FILE).write_bytes(data)
    with suppress(SettingsError):
        loaded = load({}, collection=folder, environment={}, user_file=None)
        assert all(TABLE[name].travels for name, origin in loaded.origins.items() if origin != DEFAULT)
    path = folder / "cookies.txt"
    path.write_bytes(data)
    with suppress(UsageError):
        cookies = read_cookies(path, NOW)
        write_cookies(path, cookies)
        assert [cookie.key for cookie in read_cookies(path, NOW)] == [cookie.key for cookie in cookies]


def challenges(data: bytes) -> None:
    """What a server says that wants a digest: answered on one line, or not at all."""
    head = b"HTTP/1.1 401 No\r\nWWW-Authenticate: " + data.replace(b"\n", b" ") + b"\r\n\r\n"
    said = heads.parse_headers(head)
    answer = Exchange(PAGE, b"GET / HTTP/1.1\r\n\r\n", head, b"", 401, said, "192.0.2.1", "http/1.1", NOW, NOW, NOW)
    known = Credentials((Credential(urls.origin(PAGE), "digest", "user", "password"),))
    known.learn(answer, was_told=False)
    told = known.authorization(PAGE)
    assert "\r" not in told
    assert "\n" not in told
    assert "password" not in told or b"password" in data
    if told:
        heads.request_headers("ours", (("Authorization", told),))


TARGETS: Mapping[str, Callable[[bytes], None]] = {
    "urls": canonical_urls,
    "typed": typed_urls,
    "robots": robots_files,
    "sitemaps": sitemaps,
    "css": css_and_srcset,
    "headers": headers_that_speak_of_pages,
    "charsets": charsets,
    "heads": http_heads,
    "codings": body_codings,
    "warc": own_archives,
    "foreign": foreign_archives,
    "links": packed_links,
    "queries": queries,
    "settings": settings,
    "patterns": patterns,
    "files": files,
    "challenges": challenges,
}
"""By the names under which they are run."""


def check(name: str, data: bytes) -> None:
    """Feed one target; raises whatever is wrong."""
    with swift():
        TARGETS[name](data)
