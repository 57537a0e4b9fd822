"""Where a copy is made from: one collection as of one moment, and what its archive has of each URL."""

from pathlib import Path

import apsw

from gossamer.archive.answers import read_answer
from gossamer.archive.database import select
from gossamer.archive.history import find
from gossamer.errors import ArchiveError
from gossamer.offline.versions import Version, Versions
from gossamer.parse import encoding
from gossamer.parse.body import decode
from gossamer.parse.links import unpack_of
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
