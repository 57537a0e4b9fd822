"""The many ways to write one link. Whatever the way, it means the same canonical URL."""

import html
from random import Random
from urllib.parse import unquote

ORIGIN = "@origin@"
"""Stands for scheme://host:port in generated markup until a request tells the host."""

HOST = "@host@"


def spell(rng: Random, base: str, target: str, charset: str) -> str:
    """``target`` (a path with query, percent-encoded) as written in a page whose base is the path ``base``."""
    forms = [
        target,
        ORIGIN + target,
        f"//{HOST}{target}",
        f"HTTP://{HOST}{target}",
        f"/elsewhere/..{target}",
        f"/.{target}",
        relative(base, target),
        relative(base, target),
        relative(base, target),
    ]
    written = rng.choice(forms)
    if "%" in written and rng.random() < 0.5:
        written = _unescaped(written, charset)
    return written + rng.choice(["", "", "", "#part", "#"])


def _unescaped(written: str, charset: str) -> str:
    """Letters instead of percent-escapes, in the path only: browsers send paths in UTF-8 whatever the page is in."""
    path, mark, query = written.partition("?")
    plain = unquote(path)
    try:
        plain.encode(charset)
    except UnicodeEncodeError:
        return written
    return plain + mark + query


def relative(base: str, target: str) -> str:
    """The shortest relative reference from the document ``base`` to ``target``."""
    here = base.partition("?")[0].split("/")[1:-1]
    path, mark, query = target.partition("?")
    there = path.split("/")[1:]
    common = 0
    while common < min(len(here), len(there) - 1) and here[common] == there[common]:
        common += 1
    steps = "../" * (len(here) - common) + "/".join(there[common:])
    return (steps or "./") + mark + query


def anchor(rng: Random, written: str, text: str) -> str:
    """``<a>`` in one of the ways people type it."""
    value = html.escape(written)
    forms = [
        f'<a href="{value}">{text}</a>',
        f"<a href='{value}'>{text}</a>",
        f'<A HREF="{value}">{text}</A>',
        f'<a class=x href="\n  {value} " title="a &gt; b">{text}</a>',
        f'<a target=_self href = "{value}"><b>{text}</b></a>',
    ]
    if not set(written) & set(" \"'=<>`&"):
        forms.append(f"<a href={written} >{text}</a>")
    return rng.choice(forms)
