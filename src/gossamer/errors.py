"""The one tree of exceptions that Gossamer raises.

    GossamerError            70  our fault
    ├── ProblemFound          1  the command did its job and found a problem (not HTML, verify)
    ├── UsageError            2  what was typed cannot be carried out
    │   └── SettingsError     2  a setting is unknown or has a wrong value
    ├── FetchError            3  what was asked for could not be fetched
    ├── CollectionError       4  the collection can't be opened or written
    │   ├── CollectionLocked  4  another process holds it
    │   └── ArchiveError      4  its files are damaged or can't be written
    │       ├── DiskFull      4  there is no room (in archive.disk)
    │       └── StaleLease    4  somebody else took over the shards
    └── Interrupted         130  stopped by a person, resumable

The numbers are exit codes. Exceptions of libraries are mapped to this tree at the seam where the library is called.
Failures of single URLs in a crawl are no exceptions: they are `records.Failure` values.
"""


class GossamerError(Exception):
    """An error with one line that says what happened, and a hint that says what to do.

    ``exit_code`` is what a command ends with when this reaches its top.
    """

    exit_code = 70

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class ProblemFound(GossamerError):
    """The command worked and what it looked for is not as it should be."""

    exit_code = 1


class UsageError(GossamerError):
    """What was asked for makes no sense as it was typed."""

    exit_code = 2


class SettingsError(UsageError):
    """A setting is unknown, or its value has the wrong type, unit or range."""


class FetchError(GossamerError):
    """What the person asked for could not be fetched."""

    exit_code = 3


class CollectionError(GossamerError):
    """The collection can't be opened, read or written."""

    exit_code = 4


class CollectionLocked(CollectionError):
    """Another process is working on the collection."""


class ArchiveError(CollectionError):
    """A file of the archive is damaged, or writing it failed."""


class StaleLease(ArchiveError):
    """The shards were leased to another owner meanwhile: nothing may be written any more."""


class Interrupted(GossamerError):
    """A person stopped the command; it can be resumed."""

    exit_code = 130
