"""How the pages look that we make ourselves: colours by day and by night, letters."""

from functools import cache
from importlib.resources import files


@cache
def look() -> str:
    """A style sheet for other style sheets to build on."""
    return (files("gossamer.archive") / "look.css").read_text(encoding="utf-8")
