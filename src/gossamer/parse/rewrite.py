"""One file of the offline copy: its references made to point into the copy, or to the live web. A pure function."""

from gossamer.parse.rewriting.contract import Kind, Lookup, Reference, Rewritten

__all__ = ["Kind", "Lookup", "Reference", "Rewritten", "rewrite"]


def rewrite(body: bytes, *, content_type: str, charset: str, url: str, place: str, lookup: Lookup) -> Rewritten:
    """The file as it stands in the copy.

    ``body``: without its codings. ``content_type``: its media type, by header or sniffing. ``charset``: the WHATWG name
    of the encoding that came with it, "" to find out. ``url``: the final one, without fragment. ``place``: its path
    inside the copy. Never raises for what the body holds.
    """
    return Rewritten(body, ())


def rewrite_bare(body: bytes, *, content_type: str, charset: str, note: str) -> Rewritten:
    """A file that can't be rewritten, for the reason in ``note``: only its encoding is set right."""
    return Rewritten(body, (), note)
