"""`gossamer save`: pages of a collection, or of a site, as a copy that opens anywhere with no server."""

import asyncio
import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from gossamer import url as urls
from gossamer.cli import output
from gossamer.cli.check import as_object, line
from gossamer.cli.crawl import lines_of
from gossamer.cli.crawling import fetch
from gossamer.cli.loading import settings_for
from gossamer.cli.options import SettingsCommand
from gossamer.cli.output import say, size_text
from gossamer.cli.progress import LINE_EVERY, display
from gossamer.collection import is_collection
from gossamer.crawl.report import Ending, Report
from gossamer.errors import CollectionLocked, Interrupted, ProblemFound, UsageError
from gossamer.offline.choice import Choice
from gossamer.offline.forms import ENDINGS, Form
from gossamer.offline.plan import Plan
from gossamer.offline.save import INDEX, Saved
from gossamer.saving import SaveOrder, make_copy, plan_copy, refuse_early, target
from gossamer.session import Order
from gossamer.settings_files import with_typed_credentials

FIELDS = (
    *("folder", "collection", "title", "pages", "files", "bytes", "written", "new", "changed", "gone", "left_out"),
    *("kept", "missing", "lacking", "notes", "live", "resolved", "unresolved", "dead"),
)
SETTINGS = (
    *("max_urls", "max_time", "scope", "delay", "limit_rate", "max_size", "user_agent", "contact", "header", "cookies"),
    *("credential", "proxy", "ignore_robots", "allow_private"),
)
"""Those that a person may want for one save; the others come from the environment and files, as always."""

_OPEN = {
    Form.FOLDER: "Open: {1}",
    Form.ZIP: "Unpack {0}, and open index.html",
    Form.SINGLE: "Open: {0}",
    Form.WACZ: "Open {0} in https://replayweb.page/",
}
_ROUNDS = 8  # of fetching what pages need, and what that needs
_SHOWN = 10  # URLs of each kind


@click.command(
    cls=SettingsCommand,
    settings=SETTINGS,
    examples=[
        ("example.org copy --all", "everything that was crawled, as a folder with an index.html to begin at"),
        ("example.org copy --under https://example.org/docs/", "a part of the site; what its pages need comes along"),
        ("example.org copy --from list.txt", "the pages that stand in a file, one URL a line"),
        ("example.org copy.zip --all --format zip", "the same as one file, to be sent and unpacked"),
        ("example.org copy.wacz --all --format wacz", "as a web archive, which replayweb.page opens"),
        ("https://example.org/", "crawl the site and save it, in one step, as a folder named after its title"),
    ],
)
@click.argument("what", metavar="DIR|URL")
@click.argument("out", required=False, type=click.Path(path_type=Path), metavar="[OUT]")
@click.option("--all", "everything", is_flag=True, help="every page and file that was found")
@click.option("--under", multiple=True, metavar="URL", help="only what begins so; can be given several times")
@click.option("--include", multiple=True, metavar="PATTERN", help="only what matches one of these")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="nothing that matches one of these")
@click.option("--depth", type=click.IntRange(0), metavar="N", help="only what is so many links from a seed at the most")
@click.option("--from", "listed", metavar="FILE", help="only the URLs in this file, one a line; - is standard input")
@click.option(
    "--format",
    "form",
    type=click.Choice([str(form) for form in Form]),
    help="what is made: a folder, that as a zip file, one page as one file, or a web archive"
    "  [what OUT ends in: .zip, .html, .wacz; else folder]",
)
@click.option("--no-fetch", is_flag=True, help="fetch nothing: save what is here")
@click.option("--force", is_flag=True, help="replace OUT whatever it holds")
@click.option("--ascii", "ascii_only", is_flag=True, help="file names in ASCII only")
@click.option("--json", "as_json", is_flag=True, help="the result as one JSON object")
def save(
    what: str,
    out: Path | None,
    everything: bool,
    listed: str | None,
    form: str | None,
    no_fetch: bool,
    force: bool,
    ascii_only: bool,
    as_json: bool,
    flags: Mapping[str, object],
    **conditions: Any,
) -> None:
    """Save pages of the collection DIR, or of the site at URL, in the folder or file OUT for reading offline.

    All links between saved pages lead to each other, those to others to the live web. Chosen pages that were not fetched
    yet, and what pages need, are fetched first. OUT takes its place when it is complete; over an earlier copy only what
    changed is written. Without OUT, or for a file where that is a folder, the name is the site's title.
    """
    choice = _choice(listed, **conditions)
    kind = Form(form) if form is not None else _form_of(out)
    folder, flags = Path(what), dict(flags)
    if not folder.is_dir():
        if kind is Form.SINGLE and choice == Choice():
            choice = Choice(listed=(urls.typed(what)[0],), depth=0)
        folder = _crawled(what, out, kind, choice, flags, force=force)
    elif not everything and choice == Choice():
        raise UsageError(
            "nothing is chosen", hint="give --all, or which pages with --under, --include, --depth or --from"
        )
    loaded = settings_for(folder, flags)
    order = Order(folder, (), replace(loaded, settings=replace(loaded.settings, max_urls=0)))
    saving = SaveOrder(folder, target(folder, out, kind, choice), choice, loaded.settings, ascii_only, force, kind)
    if not no_fetch:
        _fetch_first(saving, order)
        saving = replace(saving, out=target(folder, out, kind, choice))  # what is fetched now has a title
    saved = asyncio.run(make_copy(saving, Steps().observe))
    if as_json:
        output.write_json(_as_object(saving, saved))
    else:
        _show(saving, saved)
    if saved.unresolved:
        raise ProblemFound(
            f"{len(saved.unresolved)} references do not resolve",
            hint=f"see: gossamer check {shlex.quote(str(saving.out))}",
        )


class Steps:
    """Tells every few seconds how far a save is."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def observe(self, what: str, done: int, total: int) -> None:
        if time.monotonic() - self._last >= LINE_EVERY:
            self._last = time.monotonic()
            say(f"{what} {done} of {total} files")


def _choice(listed: str | None, under: Sequence[str], depth: int | None, **patterns: Sequence[str]) -> Choice:
    return Choice(
        listed=None if listed is None else tuple(lines_of(listed)),
        under=tuple(urls.typed(start)[0] for start in under),
        depth=depth,
        include=tuple(patterns["include"]),
        exclude=tuple(patterns["exclude"]),
    )


def _form_of(out: Path | None) -> Form:
    """What a copy is that nobody said: by its name."""
    ending = "" if out is None or out.is_dir() else out.suffix.lower()
    return next((form for form, known in ENDINGS.items() if known == ending), Form.FOLDER)


def _crawled(
    typed: str, out: Path | None, form: Form, choice: Choice, flags: dict[str, object], *, force: bool
) -> Path:
    """The collection of a site that is crawled first, beside the copy."""
    address = urls.typed(typed)
    name = urls.origin(address[0]).host.strip("[]").replace(":", "_")
    if out is not None:
        in_it = form is not Form.FOLDER and out.is_dir()
        name = str(out / name) if in_it else str(out).rstrip("/").removesuffix(ENDINGS[form])
    folder = Path(f"{name}.collection")
    if out is not None and not in_it:
        refuse_early(out, folder, form, force=force)
    known = folder if is_collection(folder) else None
    wanted = flags if choice.depth is None else flags | {"max_depth": choice.depth}
    loaded = settings_for(known, wanted)
    loaded = replace(loaded, settings=with_typed_credentials(loaded.settings, [typed]))
    say(f"The crawl is kept in {folder}; from it the copy can be made anew.")
    with display() as shown:
        report = fetch(Order(folder, (address,), loaded), shown)
    if report.ending is Ending.STOPPED:
        raise Interrupted("stopped before the copy was made", hint="the same command goes on")
    return folder


def _fetch_first(saving: SaveOrder, order: Order) -> None:
    """Fetch what the copy needs and is not here; each answer may need more."""
    asked: set[str] = set()
    for number in range(_ROUNDS):
        plan = asyncio.run(plan_copy(saving))
        wanted = tuple(candidate for candidate in plan.fetch if candidate.url not in asked)
        if not number:
            _tell(plan)
        if not wanted:
            return
        asked.update(candidate.url for candidate in wanted)
        report = _fetched(replace(order, only=wanted))
        if report.ending is Ending.STOPPED:
            raise Interrupted(
                "stopped before the copy was made", hint="the same command goes on; --no-fetch saves what is here"
            )


def _fetched(order: Order) -> Report:
    try:
        with display() as shown:
            return fetch(order, shown)
    except CollectionLocked as error:
        raise CollectionLocked(
            error.message, hint="wait until it has ended, or save what is here: --no-fetch"
        ) from error


def _tell(plan: Plan) -> None:
    say(f"Chosen and needed: {plan.pages} pages and {plan.files - plan.pages} files are here, {size_text(plan.bytes)}.")
    if plan.fetch:
        say(f"To be fetched first: {len(plan.fetch)} more, about {size_text(plan.expected)}, and what these need.")


def _as_object(saving: SaveOrder, saved: Saved) -> dict[str, object]:
    values: dict[str, object] = {name: getattr(saved, name, None) for name in FIELDS}
    findings = {name: [as_object(each) for each in getattr(saved, name)] for name in ("unresolved", "dead")}
    return values | findings | {"folder": str(saving.out), "collection": str(saving.folder)}


def _show(saving: SaveOrder, saved: Saved) -> None:
    output.write_line(
        f"{saved.title}: {saved.pages} pages and {saved.files - saved.pages} files, {size_text(saved.bytes)},"
        f" in {saving.out}; {saved.written} files written"
    )
    lists: tuple[tuple[str, Iterable[str]], ...] = (
        ("new", saved.new),
        ("changed", saved.changed),
        ("gone", saved.gone),
        ("no longer chosen", saved.left_out),
        ("failed today, kept from an earlier day", _reasons(saved.kept)),
        ("not saved", _reasons(saved.missing)),
        ("needed and not there", (f"{url} (by {page})" for url, page in saved.lacking.items())),
        ("links left as they were", _reasons(saved.notes)),
        ("fragments that name nothing, online either", map(line, saved.dead)),
        ("does not resolve", map(line, saved.unresolved)),
    )
    for label, entries in lists:
        _show_list(label, list(entries))
    output.write_line(_OPEN[saving.form].format(shlex.quote(str(saving.out)), shlex.quote(str(saving.out / INDEX))))


def _reasons(found: Mapping[str, str]) -> list[str]:
    return [f"{url} ({why})" for url, why in found.items()]


def _show_list(label: str, entries: list[str]) -> None:
    if entries:
        output.write_line(f"{label}: {len(entries)}")
        for entry in entries[:_SHOWN]:
            output.write_line(f"  {entry}")
        if len(entries) > _SHOWN:
            output.write_line(f"  and {len(entries) - _SHOWN} more: --json has all")
