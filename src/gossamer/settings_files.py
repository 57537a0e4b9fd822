"""Where settings come from: flags, environment, the collection's file, the user's file, defaults; in this order.

A collection may come from a stranger. What could hurt the person who opens it is never read from its file.
"""

import contextlib
import difflib
import os
import stat
import tempfile
import tomllib
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import tomli_w

from gossamer.errors import CollectionError, SettingsError
from gossamer.settings import TABLE, Setting, Settings
from gossamer.settings_secrets import typed_credential
from gossamer.settings_values import Value, parse, show, write

COLLECTION_FILE = "gossamer.toml"
DEFAULT = "default"
"""The origin of what nobody said."""

NOT_SETTINGS = frozenset({"GOSSAMER_DEBUG"})
"""Variables that begin like settings and are none."""

_MOST = 1024 * 1024  # bytes of a settings file
_HEADER = "# The settings of this crawl that differ from the defaults; `gossamer config show DIR` tells all of them.\n"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings of one run, and where each value came from: a flag, a variable, a file, or ``DEFAULT``."""

    settings: Settings
    origins: Mapping[str, str]
    left_out: Mapping[str, str] = field(
        default_factory=dict
    )  # what a stranger's collection says and must not, as it is shown

    @property
    def note(self) -> str:
        """What a person should know of settings that are not taken; empty where all are."""
        if not self.left_out:
            return ""
        said = ", ".join(f"{name} = {text or repr(text)}" for name, text in self.left_out.items())
        options = " ".join(TABLE[name].flag for name in self.left_out)
        return (
            f"the collection comes from another machine; not taken from its {COLLECTION_FILE}: {said} (give {options})"
        )


@dataclass(frozen=True, slots=True)
class _Said:
    """A value as somebody wrote it down."""

    name: str
    raw: object
    origin: str


def load(
    flags: Mapping[str, object],
    *,
    collection: Path | None,
    environment: Mapping[str, str],
    user_file: Path | None,
    is_own: bool = True,
) -> Loaded:
    """The settings that hold for a run.

    ``flags`` are values by the setting's name, text or typed; None and an empty list mean not given. ``collection`` is
    a folder, ``user_file`` a file; either may be missing. ``is_own``: the collection is; what could hurt others or this
    machine is not taken from a stranger's, but as far as it is more careful than the defaults. Raises SettingsError for the first value that is wrong,
    also where another one overrides it: a file with a mistake in it is not half obeyed.
    """
    values: dict[str, Value] = {}
    origins = dict.fromkeys(TABLE, DEFAULT)
    left_out = {} if is_own or collection is None else _harmful(collection)
    for said in _everything_said(flags, collection, environment, user_file, left_out):
        values[said.name] = parse(TABLE[said.name], said.raw, said.origin)
        origins[said.name] = said.origin
    shown = {
        name: show(TABLE[name], value)
        for name, value in left_out.items()
        if not origins[name].startswith(("--", "GOSSAMER_"))
    }
    return Loaded(Settings(**values), origins, shown)  # type: ignore[arg-type]  # parse() gave each its row's type


def with_typed_credentials(settings: Settings, addresses: Iterable[str]) -> Settings:
    """The settings with the credentials that stand in ``http://user:password@host/`` as a person typed it.

    They are the setting's like any other: bound to that origin, shown nowhere, and stored with no collection.
    """
    typed = tuple(credential for address in addresses if (credential := typed_credential(address)))
    return replace(settings, credential=(*settings.credential, *typed)) if typed else settings


def user_file(environment: Mapping[str, str]) -> Path | None:
    """The user's own file; None where there is no home.

    XDG Base Directory Specification: a relative XDG_CONFIG_HOME is to be ignored.
    """
    base = environment.get("XDG_CONFIG_HOME", "")
    if base.startswith("/"):
        return Path(base, "gossamer", "config.toml")
    home = environment.get("HOME", "")
    return Path(home, ".config", "gossamer", "config.toml") if home else None


def write_collection_file(folder: Path, loaded: Loaded) -> None:
    """Keep with the collection what was said about it, so that it resumes with the settings it was started with.

    Written are the settings that somebody set and that travel: no secrets, nothing that belongs to one run. The file is
    replaced as a whole and synced; it stays as it is, comments included, where it already says the same.
    Raises CollectionError.
    """
    kept = {
        name: value
        for name, setting in TABLE.items()
        if setting.travels and loaded.origins[name] != DEFAULT and (value := getattr(loaded.settings, name)) is not None
    }
    path = folder / COLLECTION_FILE
    if not _says(path, kept):
        _write(path, {name: write(TABLE[name], value) for name, value in kept.items()})


def _write(path: Path, content: Mapping[str, object]) -> None:
    try:
        _replace(path, (_HEADER + tomli_w.dumps(content)).encode())
    except OSError as error:
        raise CollectionError(
            f"{path} can't be written ({error.strerror})", hint="the folder must be writable and the disk not full"
        ) from error


def _everything_said(
    flags: Mapping[str, object],
    collection: Path | None,
    environment: Mapping[str, str],
    user: Path | None,
    left_out: Container[str],
) -> Iterator[_Said]:
    """The weakest first: a later value overrides an earlier one."""
    if user is not None:
        for said in _said_by_file(user):
            _refuse_for_all_eyes(TABLE[said.name], user)
            yield said
    if collection is not None:
        for said in _said_by_file(collection / COLLECTION_FILE):
            _refuse_from_stranger(TABLE[said.name], said.origin)
            if said.name not in left_out:
                yield said
    for variable, text in environment.items():
        if variable.startswith("GOSSAMER_") and variable not in NOT_SETTINGS and text:
            yield _said(variable.removeprefix("GOSSAMER_").lower(), text, variable)
    for name, value in flags.items():
        if value is not None and value != ():
            yield _said(name, value, f"--{name.replace('_', '-')}")


def _said(name: str, raw: object, origin: str) -> _Said:
    if name not in TABLE:
        nearest = difflib.get_close_matches(name.replace("-", "_").lower(), TABLE, 1, cutoff=0.5)
        hint = f"did you mean {nearest[0]}?" if nearest else "list all settings with: gossamer config show"
        raise SettingsError(f"unknown setting {name[:80]!r} ({origin})", hint=hint)
    return _Said(name, raw, origin)


def _said_by_file(path: Path) -> Iterator[_Said]:
    for name, raw in _read(path).items():
        yield _said(name, raw, str(path))


def _refuse_for_all_eyes(setting: Setting, path: Path) -> None:
    if setting.form == "credential" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise SettingsError(
            f"{path} has a {setting.name}, and others may read it", hint=f"give it to yourself alone: chmod 600 {path}"
        )


def _refuse_from_stranger(setting: Setting, origin: str) -> None:
    if setting.trusted:
        raise SettingsError(
            f"{setting.name} is not read from {origin}: a collection may come from a stranger",
            hint=f"remove it there and give {setting.flag}, {setting.variable}, or set it in your own file",
        )
    if setting.local:
        raise SettingsError(
            f"{setting.name} is not read from {origin}: it belongs to one run", hint=f"give {setting.flag} instead"
        )


def _read(path: Path) -> dict[str, object]:
    """What a file says; nothing when it is not there. A stranger's file may be anything: a pipe, endless, nested."""
    try:
        if not path.exists():
            return {}
        if not path.is_file():
            raise SettingsError(f"{path} is no file", hint="settings are read from a text file in TOML")
        with path.open("rb") as file:
            content = file.read(_MOST + 1)
        if len(content) > _MOST:
            raise SettingsError(f"{path} is longer than 1 MB", hint="a settings file has one line a setting")
        return tomllib.loads(content.decode())
    except OSError as error:
        raise SettingsError(f"{path} can't be read ({error.strerror})", hint="look at its permissions") from error
    except (ValueError, RecursionError) as error:  # TOML errors, no UTF-8, numbers of 5000 digits, 1000 brackets
        raise SettingsError(f"{path} is not TOML ({error})", hint='it has lines such as: max_size = "64M"') from error


def _harmful(folder: Path) -> dict[str, Value]:
    """The settings in a collection's file that are taken from nobody but its owner."""
    said = ((said, TABLE[said.name]) for said in _said_by_file(folder / COLLECTION_FILE))
    values = ((row, parse(row, each.raw, each.origin)) for each, row in said if row.elsewhere)
    return {row.name: value for row, value in values if not row.is_harmless(value)}


def disarm(folder: Path) -> None:
    """Take what is not taken from a stranger out of the file of a collection that is one's own from now on.

    Raises SettingsError, CollectionError.
    """
    harmful = _harmful(folder)
    if harmful:
        kept = {name: raw for name, raw in _read(folder / COLLECTION_FILE).items() if name not in harmful}
        _write(folder / COLLECTION_FILE, kept)


def _says(path: Path, values: Mapping[str, object]) -> bool:
    try:
        said = {said.name: parse(TABLE[said.name], said.raw, said.origin) for said in _said_by_file(path)}
        return path.exists() and said == values
    except SettingsError:
        return False


def _replace(path: Path, content: bytes) -> None:
    """Either the old or the new content is there, whenever the machine dies."""
    descriptor, name = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(file.fileno(), 0o644)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
