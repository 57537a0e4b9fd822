"""Pages made up: some 37 KB with 89 links, mostly markup, as those of a real documentation site are."""

import random
from collections.abc import Iterable
from pathlib import Path

START = "/0/0.html"

_LINKS = 89
_WORDS_A_LINK = 11
_MARKUP = '<span class="kw4"><span class="br0" style="display: inline">%s</span></span>'


def make(folder: Path, pages: int) -> None:
    """Write a site of ``pages`` pages that can all be reached from `START`."""
    dice = random.Random(1)
    words = vocabulary(dice)
    for number in range(pages):
        following = [(2 * number + each) % pages for each in (1, 2)]
        targets = following + dice.choices(range(pages), k=_LINKS - len(following))
        place = folder / _path(number)
        place.parent.mkdir(parents=True, exist_ok=True)
        body = paragraphs((f"../{_path(target)}" for target in targets), words, dice)
        place.write_text(document(f"Page {number}", body), encoding="ascii")


def _path(number: int) -> str:
    return f"{number // 200}/{number}.html"


def vocabulary(dice: random.Random) -> list[str]:
    """Words that are not too different from a language's."""
    return ["".join(dice.choices("etaoinshrdlucmfw", k=dice.randint(2, 9))) for _ in range(4000)]


def document(title: str, body: str) -> str:
    """HTML around a body."""
    return f"<!doctype html><html lang=en><head><title>{title}</title></head>\n<body>\n{body}\n</body></html>\n"


def paragraphs(targets: Iterable[str], words: list[str], dice: random.Random) -> str:
    """One for each link, with markup and text between them."""
    return "\n".join(
        f'<p class="t-li1">{" ".join(dice.choices(words, k=_WORDS_A_LINK))}'
        f"{''.join(_MARKUP % word for word in dice.choices(words, k=3))}"
        f' <a href="{target}" title="another page">{dice.choice(words)}</a></p>'
        for target in targets
    )
