"""Records that lie in the archive, written anew because what they refer to goes another way than they do."""

from collections.abc import Iterable
from hashlib import sha256

from gossamer.archive.reader import StoredRecord
from gossamer.archive.warc import REFERRED_DIGEST, Original, Record, digest_label, reference
from gossamer.records import Headers

_SPELLED = {"warc": "WARC", "id": "ID", "uri": "URI", "ip": "IP"}
_OF_REVISITS = ("warc-profile", "warc-refers-to", "warc-refers-to-target-uri", "warc-refers-to-date")


def as_response(revisit: StoredRecord) -> Record:
    """A revisit whose body is that of its original as the response that came: a record of its own."""
    digest = digest_label(sha256(revisit.body).digest())
    fields = [("warc-type", "response"), *_without(revisit.fields, "warc-type", *_OF_REVISITS, REFERRED_DIGEST.lower())]
    fields.append(("warc-payload-digest", digest))
    return _record(fields, (revisit.head, revisit.body))


def with_reference(revisit: StoredRecord, original: Original) -> Record:
    """A revisit that stands for another original of the same payload."""
    fields = _without(revisit.fields, *_OF_REVISITS, REFERRED_DIGEST.lower())
    return _record([*fields, *reference(original)], (revisit.head,))


def renamed(information: StoredRecord, filename: str) -> Record:
    """A warcinfo record for a file of another name."""
    fields = [(name, filename if name == "warc-filename" else value) for name, value in information.fields]
    return _record(fields, (information.head, information.body))


def _without(fields: Headers, *names: str) -> list[tuple[str, str]]:
    return [(name, value) for name, value in fields if name not in names]


def _record(fields: Iterable[tuple[str, str]], block: tuple[bytes, ...]) -> Record:
    digest = digest_label(sha256(b"".join(block)).digest())
    named = [(_spell(name), value) for name, value in fields if name not in ("content-length", "warc-block-digest")]
    return Record((*named, ("WARC-Block-Digest", digest)), block)


def _spell(name: str) -> str:
    """Names of fields as ISO 28500 writes them; a reader has them in lower case."""
    return "-".join(_SPELLED.get(part, part.capitalize()) for part in name.lower().split("-"))
