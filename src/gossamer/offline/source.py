"""Where a copy is made from: one collection as of one moment, and what its archive has of each URL."""

from pathlib import Path
from urllib.parse import quote_from_bytes

import apsw

from gossamer.archive.answers import read_answer
from gossamer.archive.database import select
from gossamer.archive.history import find
from gossamer.errors import ArchiveError
from gossamer.offline.versions import MAX_REDIRECTS, Version, Versions
from gossamer.parse import encoding
from gossamer.parse.body import decode
from gossamer.parse.links import unpack_of
from gossamer.parse.rewriting.linker import FRAGMENT_SAFE
from gossamer.records import Failure, Kind, Via

_NEEDED = (Via.REQUISITE, Via.FRAME, Via.IFRAME)


class Source:
    """Reads for the copy. Nothing here hangs on anything but the archive."""

    def __init__(self, connection: apsw.Connection, folder: Path, max_decoded: int) -> None:
        """``connection``: in a transaction. ``max_decoded``: bytes of one body without its codings, at the most."""
        self.connection = connection
        self.folder = folder
        self.versions = Versions(connection)
        self._max_decoded = max_decoded
        self._ends: dict[str, Version | None] = {}
        self._internal: dict[str, bool] = {}

    def end(self, url: str) -> Version | None:
        """What the archive has of what a link to ``url`` leads to, redirects followed."""
        if url not in self._ends:
            url_id = find(self.connection, url)
            self._ends[url] = None if url_id is None else self.versions.end(url_id)
        return self._ends[url]

    def landing(self, url_id: int) -> str:
        """The fragment that a URL's redirects lead to, with its mark; "" where they name none.

        Fetch, "HTTP-redirect fetch": where one names none, that of the one before stays.
        """
        fragment = ""
        for _ in range(MAX_REDIRECTS):
            target = self.versions.standing(url_id).leads_to
            if target is None:
                break
            named = self._location(url_id).partition("#")[2].strip()
            fragment, url_id = named or fragment, target
        return "#" + quote_from_bytes(fragment.encode("latin-1"), safe=FRAGMENT_SAFE) if fragment else ""

    def _location(self, url_id: int) -> str:
        """Where the newest answer to a URL leads, as it says, a character a byte."""
        ((page,),) = select(
            self.connection, "SELECT id FROM page WHERE url = ? ORDER BY attempt DESC LIMIT 1", (url_id,)
        )
        try:
            headers = read_answer(self.connection, self.folder, page).http_headers
        except ArchiveError:
            return ""
        return next((value for name, value in headers if name == "location"), "")

    def needed(self, version: Version) -> list[str]:
        """What a page or style sheet needs, by its links as the crawl found them: images, styles, fonts and scripts from
        any host, and the frames of its own site.
        """
        found: dict[str, None] = {}
        rows = select(self.connection, "SELECT blob FROM links WHERE page = ?", (version.page,))
        for link in unpack_of(bytes(rows[0][0]), _NEEDED) if rows else ():
            if not link.other and (link.via is Via.REQUISITE or self._is_internal(link.url)):
                found[link.url] = None
        return list(found)

    def _is_internal(self, url: str) -> bool:
        """Whether a frame shows a page of the same site: scope rules govern pages."""
        if url not in self._internal:
            url_id = find(self.connection, url)
            kinds = select(self.connection, "SELECT kind FROM url WHERE id = ?", (url_id,))
            self._internal[url] = kinds == [(Kind.INTERNAL,)]
        return self._internal[url]

    def read(self, version: Version) -> tuple[bytes, str]:
        """A body without its codings, and the charset that was declared with it; "" for none. Raises ArchiveError."""
        record = read_answer(self.connection, self.folder, version.page)
        headers = record.http_headers
        body = decode(headers, record.body, self._max_decoded, url=version.url)
        if isinstance(body, Failure):
            raise ArchiveError(str(body))
        declared = next((value for name, value in headers if name == "content-type"), "")
        return body, encoding.declared(declared)
