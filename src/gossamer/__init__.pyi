from gossamer.api.collection import Collection as Collection
from gossamer.api.collection import open_collection as open
from gossamer.api.crawling import Crawling as Crawling
from gossamer.api.inout import Imported as Imported
from gossamer.api.page import Page as Page
from gossamer.api.page import Response as Response
from gossamer.archive.catalogue import Entry as Entry
from gossamer.archive.history import History as History
from gossamer.archive.search import Hit as Hit
from gossamer.archive.status import Status as Status
from gossamer.crawl.hooks import Skip as Skip
from gossamer.crawl.report import Ending as Ending
from gossamer.crawl.report import Progress as Progress
from gossamer.crawl.report import Report as Report
from gossamer.errors import ArchiveError as ArchiveError
from gossamer.errors import CollectionError as CollectionError
from gossamer.errors import CollectionLocked as CollectionLocked
from gossamer.errors import FetchError as FetchError
from gossamer.errors import GossamerError as GossamerError
from gossamer.errors import Interrupted as Interrupted
from gossamer.errors import SettingsError as SettingsError
from gossamer.errors import UsageError as UsageError
from gossamer.parse.own import ParsedPage as ParsedPage
from gossamer.records import Candidate as Candidate
from gossamer.records import Link as Link

__all__ = [
    "ArchiveError",
    "Candidate",
    "Collection",
    "CollectionError",
    "CollectionLocked",
    "Crawling",
    "Ending",
    "Entry",
    "FetchError",
    "GossamerError",
    "History",
    "Hit",
    "Imported",
    "Interrupted",
    "Link",
    "Page",
    "ParsedPage",
    "Progress",
    "Report",
    "Response",
    "SettingsError",
    "Skip",
    "Status",
    "UsageError",
    "__version__",
    "open",
]

__version__: str
