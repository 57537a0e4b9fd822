"""The settings of a command that works on a collection."""

import os
from collections.abc import Mapping
from pathlib import Path

from gossamer.archive.home import is_own
from gossamer.cli.output import say
from gossamer.settings_files import Loaded, load, user_file


def settings_for(folder: Path | None, flags: Mapping[str, object]) -> Loaded:
    """The settings that hold for the collection in ``folder``; tells what is not taken from it, since it may be a
    stranger's. Raises SettingsError."""
    loaded = load(
        flags,
        collection=folder,
        environment=os.environ,
        user_file=user_file(os.environ),
        is_own=folder is None or is_own(folder),
    )
    if loaded.note:
        say(f"Note: {loaded.note}")
    return loaded
