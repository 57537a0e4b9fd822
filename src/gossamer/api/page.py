"""A page of a collection, as programs see it: what is known of it at once, its contents when they are asked for."""

import json
from dataclasses import dataclass, field
from typing import Any

from gossamer.api.shelf import Shelf
from gossamer.archive.answers import read_answer
from gossamer.archive.pages import PageRow, extracted_of, links_of, text_of
from gossamer.errors import ArchiveError
from gossamer.parse.body import undo
from gossamer.parse.job import Derived, ParseJob
from gossamer.records import Facts, Headers, Link
from gossamer.settings import Settings


@dataclass(frozen=True, slots=True)
class Response:
    """The answer of a server as the archive has it."""

    status: int
    headers: Headers  # names lower-cased, in order, repeated ones kept
    head: bytes  # status line and headers as they came
    raw: bytes  # the body as it came: transfer and content codings still on
    body: bytes  # the body without its codings, as far as they can be undone
    record: Headers  # the fields of its WARC record, names lower-cased

    def header(self, name: str, default: str = "") -> str:
        """The first header called ``name``, in upper or lower case."""
        return next((value for key, value in self.headers if key == name.lower()), default)


@dataclass(frozen=True)
class Page:
    """One fetched version of one URL: a success whose body is content.

    It is light: text, links and everything else that is long are read from the collection when they are asked for, and
    not kept. They can be read as long as the collection is open.
    """

    url: str
    status: int
    content_type: str  # sniffed, without parameters
    charset: str  # by its WHATWG name, lower case; "" for what is no text
    language: str  # as the page says
    title: str
    description: str  # the first 200 characters of the text
    depth: int  # links from a seed
    fetched: float  # when; seconds since 1970
    size: int  # decoded bytes
    digest: str  # sha256 of the decoded body, hexadecimal
    canonical: str  # the URL that the page calls its own; "" where it names none
    duplicate_of: str | None  # the first URL that had the same bytes
    notes: tuple[str, ...]  # what a person should know: "empty without JavaScript", "no facts were extracted: …"
    truncated: str  # why the end of the body is missing; "" where it is not
    is_html: bool
    _row: PageRow = field(repr=False, compare=False)
    _shelf: Shelf = field(repr=False, compare=False)

    @property
    def text(self) -> str:
        """The readable text, white space folded within lines; of HTML, plain text, PDF and XML."""
        with self._shelf.reading() as connection:
            known = text_of(connection, self._row.id) if self._row.is_indexed else None
        return self._read(Derived.NOTHING).text if known is None else known

    @property
    def links(self) -> tuple[Link, ...]:
        """The links in document order, absolute, each URL once for each kind."""
        with self._shelf.reading() as connection:
            return links_of(connection, self._row.id)

    @property
    def extracted(self) -> Any:
        """What your own function found in the page, as it comes back from JSON; None for nothing."""
        with self._shelf.reading() as connection:
            kept = extracted_of(connection, self._row.id)
        try:
            return json.loads(kept) if kept else None
        except (ValueError, RecursionError) as error:
            raise ArchiveError(f"what was extracted from {self.url} is damaged ({error})") from error

    @property
    def response(self) -> Response:
        """The answer as it came. Raises ArchiveError when its record is damaged."""
        with self._shelf.reading() as connection:
            record = read_answer(connection, self._shelf.folder, self._row.id)
        body = undo(record.http_headers, record.body, Settings().max_decoded, url=self.url).data
        return Response(record.status, record.http_headers, record.head, record.body, body, record.fields)

    def source(self) -> str:
        """The markup as it came, decoded; "" for what is no HTML. Made by a parser worker."""
        return self._read(Derived.SOURCE).derived

    def cleaned(self) -> str:
        """The markup without scripts, styles, colours, fonts and comments; "" for what is no HTML.

        Made by a parser worker, which is started at the first call and stays until the collection is closed.
        """
        return self._read(Derived.CLEANED).derived

    def _read(self, derived: Derived) -> Facts:
        with self._shelf.reading() as connection:
            record = read_answer(connection, self._shelf.folder, self._row.id)
        job = ParseJob(self.url, record.http_headers, record.body, self.truncated, self.fetched, derive=derived)
        return self._shelf.read(job)


def page(row: PageRow, shelf: Shelf) -> Page:
    """The page of a row."""
    return Page(
        url=row.url,
        status=row.status,
        content_type=row.content_type,
        charset=row.charset,
        language=row.language,
        title=row.title,
        description=row.description,
        depth=row.depth,
        fetched=row.fetched,
        size=row.size,
        digest=row.digest,
        canonical=row.canonical,
        duplicate_of=row.duplicate_of,
        notes=row.notes,
        truncated=row.truncated,
        is_html=row.is_html,
        _row=row,
        _shelf=shelf,
    )
