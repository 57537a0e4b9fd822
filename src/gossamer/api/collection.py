"""A collection as programs see it: crawl into it, read it, search it, ask it why."""

import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack, get_args

from gossamer import url as urls
from gossamer.agent import NAME
from gossamer.api.checks import check_counts, check_function, check_status, check_texts
from gossamer.api.crawling import Crawling, consume
from gossamer.api.inout import Form, Imported, export_archive, import_archives
from gossamer.api.options import Options
from gossamer.api.own import Extract, Judge, RequestHook, own_code, prepared
from gossamer.api.page import Page, page
from gossamer.api.shelf import Shelf
from gossamer.archive.catalogue import Entry, Filter, entries
from gossamer.archive.history import History, history, meant
from gossamer.archive.home import is_own
from gossamer.archive.pages import kept_pages, newest_page
from gossamer.archive.search import Hit, search
from gossamer.archive.status import Status, status
from gossamer.archive.verify import Problem, verify
from gossamer.clock import SystemClock
from gossamer.collection import is_collection, refuse_other_folder
from gossamer.crawl.hooks import Hooks
from gossamer.crawl.report import Report
from gossamer.errors import CollectionError, UsageError
from gossamer.importing import ImportOrder
from gossamer.lock import is_locked
from gossamer.records import State
from gossamer.session import Order
from gossamer.settings_files import Loaded, load, user_file, with_typed_credentials

log = logging.getLogger("gossamer")

_STATES = {state.name.lower(): state for state in State if state is not State.RUNNING}


def open_collection(folder: str | os.PathLike[str], *, create: bool = False) -> "Collection":
    """The collection in a folder; ``create``: where there is none, the first crawl makes it.

    Raises CollectionError when there is none and none is to be made, or when the folder holds something else.
    """
    path = Path(folder)
    if create:
        refuse_other_folder(path)
    elif not is_collection(path):
        what = "is no collection" if path.exists() else "does not exist"
        raise CollectionError(f"{path} {what}", hint="name the folder that a crawl made, or say create=True")
    return Collection(path)


class Collection:
    """One folder with everything that was crawled into it. `open_collection` makes one; ``with`` closes it.

    It can be used from several threads, and read while a crawl, this program's or another's, works on it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._shelf = Shelf(folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"gossamer.open({str(self.folder)!r})"

    def close(self) -> None:
        """Let go of the files, and end the parser worker where one was started."""
        self._shelf.close()

    # --- crawling

    def crawling(
        self,
        *addresses: str,
        judge: Judge | None = None,
        request: RequestHook | None = None,
        extract: Extract | None = None,
        **options: Unpack[Options],
    ) -> Crawling:
        """A crawl to be looped over, page by page as they are committed; see `Crawling` for how it begins and ends.

        ``addresses``: where to start, as a person types them; none where a crawl is to go on. ``judge`` sees every new
        URL that the settings admit and can hold it with a reason. ``request`` sees every URL whose turn has come, and
        gives headers to send with it, or `Skip`. ``extract`` takes facts out of HTML pages, in the parser workers.
        ``options`` are settings, as in docs/settings.md. Raises UsageError, SettingsError.
        """
        check_texts("an address", *addresses)
        check_function("judge", judge)
        check_function("request", request)
        loaded = self._settings(options)
        loaded = replace(loaded, settings=with_typed_credentials(loaded.settings, addresses))
        typed = tuple(urls.typed(address) for address in addresses)
        if not typed and not is_collection(self.folder):
            raise UsageError(f"{self.folder} is no collection yet, and no address was given", hint="give one to crawl")
        hooks = Hooks(
            prepare=prepared(request) if request is not None else None,
            own_code=own_code(extract) if extract is not None else None,
        )
        return Crawling(Order(self.folder, typed, loaded), hooks, judge, self._shelf)

    def crawl(
        self,
        *addresses: str,
        on_page: Callable[[Page], object] | None = None,
        judge: Judge | None = None,
        request: RequestHook | None = None,
        extract: Extract | None = None,
        **options: Unpack[Options],
    ) -> Report:
        """Crawl to the end, and say how it ended. ``on_page`` is given each page, in the thread that called.

        Everything else as in `crawling`. Ctrl-C lets what is in flight finish, a second one drops it; then comes the
        KeyboardInterrupt. Raises FetchError when no address could be fetched, and whatever makes going on impossible.
        """
        check_function("on_page", on_page)
        crawling = self.crawling(*addresses, judge=judge, request=request, extract=extract, **options)
        return consume(crawling, on_page)

    def _settings(self, options: Options) -> Loaded:
        """Given ones first, then as for every command: environment, the collection's file, the user's file, defaults."""
        known = self.folder if is_collection(self.folder) else None
        loaded = load(
            {**options},
            collection=known,
            environment=os.environ,
            user_file=user_file(os.environ),
            is_own=is_own(self.folder),
        )
        if loaded.note:
            log.warning("%s", loaded.note)
        return loaded

    # --- reading

    def pages(
        self,
        *patterns: str,
        host: str | None = None,
        content_type: str | None = None,
        depth: int | None = None,
        versions: bool = False,
    ) -> Iterator[Page]:
        """The pages that were kept, in the order fetched, of each URL the newest; ``versions``: all of them.

        ``patterns``: any of these globs on the whole URL, or re: and a regular expression. ``content_type``: a glob.
        """
        check_texts("a pattern, host or type", *patterns, host, content_type)
        check_counts("depth", depth)
        wanted = Filter(patterns, content_type=content_type, host=host, depth=depth)
        rows = self._shelf.each(lambda connection: kept_pages(connection, wanted, newest=not versions))
        return (page(row, self._shelf) for row in rows)

    def page(self, address: str) -> Page | None:
        """The newest kept version of a URL; None where there is none."""
        check_texts("an address", address)
        with self._shelf.reading() as connection:
            url_id = meant(connection, address)
            row = None if url_id is None else newest_page(connection, url_id)
        return None if row is None else page(row, self._shelf)

    def search(self, query: str, limit: int = 10, offset: int = 0) -> list[Hit]:
        """The best pages for a query, best first; as `gossamer search` takes it."""
        check_texts("a query", query)
        check_counts("limit and offset", limit, offset)
        with self._shelf.reading() as connection:
            return search(connection, query, limit, offset)

    def urls(
        self,
        *patterns: str,
        state: str | None = None,
        reason: str | None = None,
        held: bool | None = None,
        status: int | tuple[int, int] | None = None,
        content_type: str | None = None,
        kind: str | None = None,
        depth: int | None = None,
        host: str | None = None,
    ) -> Iterator[Entry]:
        """Every URL that was found, fetched or not, in the order found, with what is known of it; all conditions hold.

        ``state``: waiting, finished or failed. ``reason``: part of it. ``status``: one, or the first and last of a range.
        """
        check_texts("a pattern or condition", *patterns, reason, content_type, kind, host)
        check_counts("depth", depth)
        check_status(status)
        if state is not None and state not in _STATES:
            raise UsageError(f"{state!r} is no state", hint=f"it is one of {', '.join(_STATES)}")
        wanted = Filter(
            patterns=patterns,
            state=None if state is None else _STATES[state],
            reason=reason,
            held=held,
            statuses=(status, status) if isinstance(status, int) else status,
            content_type=content_type,
            kind=kind,
            depth=depth,
            host=host,
        )
        return self._shelf.each(lambda connection: entries(connection, wanted))

    def why(self, address: str) -> History | None:
        """Everything known about one URL: where it was found, each try, what its host says; None where it is not known."""
        check_texts("an address", address)
        with self._shelf.reading() as connection:
            url_id = meant(connection, address)
            return None if url_id is None else history(connection, url_id, NAME)

    def status(self) -> Status:
        """How the collection stands: its totals, and what a crawl, if one runs, says of itself."""
        with self._shelf.reading() as connection:
            return status(connection, SystemClock().now())

    def verify(self) -> list[Problem]:
        """What is wrong with the collection; nothing when all is well. Reads the whole archive."""
        with self._shelf.reading() as connection:
            at_rest = status(connection, SystemClock().now()).state == "stopped" and not is_locked(self.folder)
            return list(verify(connection, self.folder, at_rest=at_rest))

    # --- in and out

    def import_archives(self, *files: str | os.PathLike[str], **options: Unpack[Options]) -> Imported:
        """Take WARC and WACZ files in, also those of other programs; doing it again adds nothing."""
        self._shelf.let_go()  # the folder may not be there yet
        return import_archives(ImportOrder(self.folder, [Path(file) for file in files], self._settings(options)))

    def export(
        self, target: str | os.PathLike[str], form: Form, *patterns: str, host: str | None = None
    ) -> tuple[str, ...]:
        """Write every answer of the collection, or of the URLs that are chosen, as a standard archive.

        Gives what could not be written as it should: nothing when all went well.
        """
        check_texts("a pattern or host", *patterns, host)
        if form not in get_args(Form):
            forms = " or ".join(map(repr, get_args(Form)))
            raise UsageError(f"{form!r} is no form of an archive", hint=f"it is {forms}; gossamer export has others")
        return export_archive(self.folder, Path(target), form, Filter(patterns, host=host))
