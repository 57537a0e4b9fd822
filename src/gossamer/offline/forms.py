"""The forms that a copy can have, and what may lie in the place where it goes."""

import zipfile
from enum import StrEnum
from pathlib import Path

from gossamer.errors import UsageError
from gossamer.offline import manifest as manifests
from gossamer.offline.manifest import MANIFEST, MOST, Manifest
from gossamer.offline.single import noted
from gossamer.offline.tree import Zip, opened_zip


class Form(StrEnum):
    """What a copy is."""

    FOLDER = "folder"
    ZIP = "zip"  # the same, as one file
    SINGLE = "single"  # one page as one file
    WACZ = "wacz"  # a web archive for replayweb.page


ENDINGS = {Form.FOLDER: "", Form.ZIP: ".zip", Form.SINGLE: ".html", Form.WACZ: ".wacz"}
"""Of the names of copies."""


def earlier_copy(out: Path, form: Form, collection: str, *, force: bool) -> Manifest | None:
    """The earlier copy in ``out``; None where there is nothing, or something that ``force`` lets us replace.

    Raises UsageError where what is there must not be replaced: it is of another kind, or no copy of this collection.
    """
    if form is Form.FOLDER:
        return manifests.refuse_something_else(out, collection, force=force)
    if out.is_symlink():
        raise UsageError(f"{out} is a symbolic link", hint="name the file that it leads to")
    if not out.parent.is_dir():
        raise UsageError(f"there is no folder {out.parent}", hint="make it first, or name another place")
    if not out.exists():
        return None
    if not out.is_file():
        raise UsageError(f"{out} is no file", hint="name another one")
    manifest = _READ[form](out)
    return manifest if force else manifests.the_same(out, manifest, collection)


def _zipped(out: Path) -> Manifest | None:
    """The manifest in a zip file that holds a copy and nothing else."""
    try:
        with opened_zip(out) as archive:
            if archive.getinfo(MANIFEST).file_size > MOST:
                return None
            manifest = manifests.loads(Zip(out, archive).read(MANIFEST, MOST))
            known = {file.path for file in manifest.files} | set(manifest.own) if manifest is not None else set()
            return manifest if known.issuperset(archive.namelist()) else None
    except (UsageError, KeyError, zipfile.BadZipFile):
        return None


_READ = {Form.ZIP: _zipped, Form.WACZ: _zipped, Form.SINGLE: noted}
