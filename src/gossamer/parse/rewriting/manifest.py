"""Web app manifests (W3C, "Web Application Manifest") and import maps (HTML 8.1.5.3): JSON that holds URLs."""

import json

from gossamer.parse.rewriting import jsontext
from gossamer.parse.rewriting.contract import Kind
from gossamer.parse.rewriting.edits import Edit
from gossamer.parse.rewriting.embed import Embedder
from gossamer.parse.rewriting.linker import Linker
from gossamer.parse.rewriting.modules import is_address, point_specifier
from gossamer.url import canonicalise

# The members whose values are URLs; those of images are needed to show it.
_MEMBERS = {
    ("start_url",): Kind.PAGE,
    ("scope",): Kind.OTHER,
    ("icons", "*", "src"): Kind.REQUISITE,
    ("screenshots", "*", "src"): Kind.REQUISITE,
    ("shortcuts", "*", "url"): Kind.PAGE,
    ("shortcuts", "*", "icons", "*", "src"): Kind.REQUISITE,
    ("share_target", "action"): Kind.OTHER,
    ("file_handlers", "*", "action"): Kind.OTHER,
    ("file_handlers", "*", "icons", "*", "src"): Kind.REQUISITE,
    ("protocol_handlers", "*", "url"): Kind.OTHER,
    ("note_taking", "new_note_url"): Kind.PAGE,
    ("related_applications", "*", "url"): Kind.OTHER,
    ("serviceworker", "src"): Kind.REQUISITE,
}


def edits(source: str, linker: Linker) -> list[Edit]:
    """What to change in a manifest."""
    found: list[Edit] = []
    for word in jsontext.words(source):
        kind = None if word.is_key else _MEMBERS.get(word.path)
        if kind is None or not word.value:
            continue
        pointed = linker.point(word.value, kind, query=kind is Kind.PAGE)
        if pointed is not None and pointed.value is not None:
            found.append((word.start, word.end, jsontext.write(pointed.value)))
    return found


def import_map_edits(source: str, linker: Linker, start: int, end: int) -> list[Edit]:
    """What to change in an import map: the addresses, and the keys that are URLs, so that both still meet."""
    found: list[Edit] = _modules_edits(source, linker, start, end)
    for word in jsontext.words(source, start, end):
        match word.path, word.is_key:
            case (("imports" | "scopes" | "integrity"), *_), True:
                value = _address(linker, word.value)
            case ("imports", _) | ("scopes", _, _), False:
                value = _address(linker, word.value)
            case ("integrity", key), False:  # of what the live web has, and not of what is in the copy
                value = "" if is_address(key) and _is_saved(linker, key) else None
            case _:
                value = None
        if value is not None:
            found.append((word.start, word.end, jsontext.write(value)))
    return found


def _modules_edits(source: str, linker: Linker, start: int, end: int) -> list[Edit]:
    """The modules that the document holds, added to its own import map: only one may be there (HTML 8.1.5.3)."""
    if not (isinstance(linker, Embedder) and linker.modules):
        return []
    added = json.dumps(linker.modules)[1:-1]
    keys = [word for word in jsontext.words(source, start, end) if word.is_key and not word.path]
    imports = next((word for word in keys if word.value == "imports"), None)
    place = source.find("{", start if imports is None else imports.end, end) + 1
    if not place or (not keys and not source[place:end].strip().startswith("}")):
        return []
    is_empty = source[place:end].lstrip().startswith("}")
    text = added if imports is not None else f'"imports":{{{added}}}'
    return [(place, place, text if is_empty else f"{text},")]


def _address(linker: Linker, value: str) -> str | None:
    """One that ends in a slash is the beginning of many."""
    folder = linker.folder(value) if value.endswith("/") and is_address(value) else None
    return folder if folder is not None else point_specifier(linker, value)


def _is_saved(linker: Linker, key: str) -> bool:
    url = canonicalise(key, linker.base)
    return url is not None and linker.lookup(url) is not None
