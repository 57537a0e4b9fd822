"""`gossamer search`: the best pages for a few words."""

import sys
from pathlib import Path

import click

from gossamer.archive.catalogue import opened
from gossamer.archive.search import Hit, search
from gossamer.cli import output
from gossamer.cli.looking import folder_argument, json_option
from gossamer.cli.options import Command

FIELDS = ("url", "title", "snippet", "score", "marks", "fetched", "duplicates")


@click.command(
    name="search",
    cls=Command,
    # -word means "without word": no option here may be short, and what is no option is a word
    context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]},
    examples=[
        ("example.org robots exclusion", "pages with any of the words, those with both first"),
        ("example.org '\"robots exclusion\" -google'", "the phrase, without a word"),
        ("example.org vector site:example.org/docs", "only in a part of the site"),
        ("example.org title:index url:manual", "words that must stand in the title, in the URL"),
        ("--json --limit 100 example.org robots", "for other programs, an object a line"),
    ],
)
@folder_argument
@click.argument("words", nargs=-1, required=True, metavar="WORDS...")
@click.option("--limit", type=click.IntRange(1, 10_000), default=10, metavar="N", help="at most N results  [10]")
@click.option("--offset", type=click.IntRange(0), default=0, metavar="N", help="leave out the first N")
@json_option("an object a result")
def find(folder: Path, words: tuple[str, ...], limit: int, offset: int, as_json: bool) -> None:
    """Search the pages of the crawl in DIR.

    WORDS rank pages that have any of them; with up to three, those that have all come first. "A phrase" in quotes must
    stand so, -word must not, title:word and url:word must stand there, site:host keeps to a host or a part of it.
    """
    query = " ".join(words)
    with opened(folder) as connection:
        hits = search(connection, query, limit, offset)
        if as_json:
            output.write_rows("jsonl", FIELDS, ({name: getattr(hit, name) for name in FIELDS} for hit in hits))
            return
        for number, hit in enumerate(hits, offset + 1):
            _show(number, hit)
    if not hits:
        output.say(f"nothing was found for {query}")


def _show(number: int, hit: Hit) -> None:
    output.write_line(f"{number}. {hit.title or hit.url}")
    output.write_line(f"   {hit.url}")
    if hit.snippet:
        sys.stdout.write(f"   {_marked(hit)}\n")
    if hit.duplicates:
        output.write_line(f"   ({hit.duplicates} more with the same text)")


def _marked(hit: Hit) -> str:
    """The snippet, on a terminal with the words of the query in bold."""
    if not sys.stdout.isatty():
        return output.plain(hit.snippet)
    pieces, place = [], 0
    for start, end in hit.marks:
        pieces += [output.plain(hit.snippet[place:start]), click.style(output.plain(hit.snippet[start:end]), bold=True)]
        place = end
    return "".join([*pieces, output.plain(hit.snippet[place:])])
