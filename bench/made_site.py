"""A site made up: pages of some 37 KB with 89 links, mostly markup, as those of a real documentation site are."""

import random
from pathlib import Path

LINKS = 89
START = "/0/0.html"

_WORDS_A_LINK = 11
_MARKUP = '<span class="kw4"><span class="br0" style="display: inline">%s</span></span>'


def make(folder: Path, pages: int) -> None:
    """Write ``pages`` pages that can all be reached from `START`."""
    dice = random.Random(1)
    words = ["".join(dice.choices("etaoinshrdlucmfw", k=dice.randint(2, 9))) for _ in range(4000)]
    for number in range(pages):
        place = folder / address(number).lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(page(number, pages, words, dice), encoding="ascii")


def address(number: int) -> str:
    """The path of a page."""
    return f"/{number // 200}/{number}.html"


def page(number: int, pages: int, words: list[str], dice: random.Random) -> str:
    """One page: it leads to the next ones, and anywhere else."""
    targets = [(2 * number + each) % pages for each in (1, 2)] + dice.choices(range(pages), k=LINKS - 2)
    paragraphs = (
        f'<p class="t-li1">{" ".join(dice.choices(words, k=_WORDS_A_LINK))}'
        f"{''.join(_MARKUP % word for word in dice.choices(words, k=3))}"
        f' <a href="..{address(target)}" title="page {target}">{dice.choice(words)}</a></p>'
        for target in targets
    )
    head = f"<!doctype html><html lang=en><head><title>Page {number} {dice.choice(words)}</title></head>"
    return "\n".join([head, "<body>", *paragraphs, "</body></html>"])
