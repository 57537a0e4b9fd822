"""A site of real pages surrounded by traps, each with links from many of the real pages."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from urllib.parse import parse_qs, urlsplit

from fakeweb import prose, recipes
from fakeweb.page import NOT_FOUND, Asked, Page, Site

NAV = "".join(f'<li><a href="/">{word}</a></li>' for word in ("Home", "About us", "Products", "Contact", "Imprint"))
"""What stands on every page, trap or not."""


def page(title: str, body: str, links: Iterable[str] = ()) -> Page:
    """A page as the generator of a whole site makes it: the same around every text."""
    below = "".join(f'<p><a href="{link}">more</a></p>' for link in links)
    return recipes.html(f"<ul>{NAV}</ul><h1>{title}</h1>{body}{below}<footer>Made with care</footer>", title=title)


@dataclass(frozen=True)
class Trap:
    """Pages without end. ``doors``: links into it that the real page with a number has."""

    answer: Callable[[Asked], Page]
    doors: Callable[[int], list[str]]


def calendar(asked: Asked) -> Page:
    """A month with its days; it leads to the months beside it, to its days, and to far years."""
    query = parse_qs(urlsplit(asked.path).query)
    year, month = int(query.get("year", ["2024"])[0]), int(query.get("month", ["1"])[0])
    first = date(1 + year % 9000, month, 1)
    days = "".join(f"<td>{number}</td>" for number in range(1, 29))
    links = [
        f"/calendar?year={other.year}&month={other.month}"
        for other in (first - timedelta(1), first + timedelta(32), first + timedelta(365), first + timedelta(3650))
        if other.year < 9000
    ]
    table = f"<table><tr><th>Mon</th><th>Tue</th></tr><tr>{days}</tr></table><p>No events in this month.</p>"
    return page(f"{first:%B %Y}", table, links)


def days(asked: Asked) -> Page:
    """A calendar in the path, where months lead to days and days to nothing but their month."""
    parts = [int(part) for part in urlsplit(asked.path).path.split("/") if part.isdigit()]
    year, month, *day = parts or [2024, 1]
    if day:
        return page(f"{day[0]}. {month}. {year}", "<p>Nothing happens on this day.", [f"/days/{year}/{month}/"])
    after = f"/days/{year + month // 12}/{month % 12 + 1}/"
    return page(f"{month}/{year}", "<p>Days", [after, *(f"/days/{year}/{month}/{number}/" for number in range(1, 29))])


def counter(asked: Asked) -> Page:
    """Each number leads to the next."""
    number = int(urlsplit(asked.path).path.rpartition("/")[2] or 0)
    return page(f"Item {number}", f"<p>This is item {number}", [f"/items/{number + 1}"])


def burst(asked: Asked) -> Page:
    """A thousand links at once, each page of which has a thousand more."""
    start = int(urlsplit(asked.path).path.rpartition("/")[2] or 0)
    return page("Archive", f"<p>Entry {start}", [f"/archive/{start * 1000 + number}" for number in range(1000)])


def deep(asked: Asked) -> Page:
    """Relative links into folders of two names, for ever."""
    return page("Folder", "<p>Choose one", ["left/", "right/"])


def session(asked: Asked) -> Page:
    """Each link of each page has a new session id."""
    rng = Random(asked.path)
    ids = [f"{rng.getrandbits(64):016x}" for _ in range(8)]
    path = urlsplit(asked.path).path
    return page("Basket", f"<p>Your session is {ids[0]}, the basket is empty", [f"{path}?sid={each}" for each in ids])


def growing(asked: Asked) -> Page:
    """A redirect to a longer URL, again and again."""
    return recipes.redirect(f"{asked.path}&again=1")


def hashes(asked: Asked) -> Page:
    """Ids in the path that are drawn anew for each page."""
    rng = Random(asked.path)
    links = [f"/token/{rng.getrandbits(128):032x}/view" for _ in range(5)]
    return page("Token", f"<p>Your token is {rng.getrandbits(64):016x}", links)


TRAPS: Mapping[str, Trap] = {
    "calendar": Trap(calendar, lambda n: [f"/calendar?year={1990 + n}&month={1 + n % 12}"]),
    "days": Trap(days, lambda n: [f"/days/{1990 + n}/{1 + n % 12}/"]),
    "items": Trap(counter, lambda n: [f"/items/{n * 1000}"]),
    "archive": Trap(burst, lambda n: [f"/archive/{n}"]),
    "deep": Trap(deep, lambda _: ["/deep/"]),
    "basket": Trap(session, lambda n: [f"/basket?sid={Random(n).getrandbits(64):016x}"]),
    "grow": Trap(growing, lambda n: [f"/grow?from={n}"]),
    "token": Trap(hashes, lambda n: [f"/token/{Random(n).getrandbits(128):032x}/view"]),
}
"""By the first segment of its paths."""


def real_page(number: int, links: list[str]) -> Page:
    """A short page of a shop: a number, and a few words that others have too."""
    rng = Random(number)
    return page(f"Product {number}", f"<p>{prose.sentence(rng, 'utf-8', 12)}, {number} €", links)


def _pages(answer: Callable[[Asked], Page]) -> Callable[[Asked], Page]:
    """All pages there are; what crawlers ask for beside them is not there."""
    return lambda asked: NOT_FOUND if asked.path in ("/robots.txt", "/sitemap.xml") else answer(asked)


def with_sessions(real: int = 300) -> Site:
    """A site that is reached with session ids only: every link of every answer has a new one."""

    def answer(asked: Asked) -> Page:
        rng = Random(asked.path)
        number = int(urlsplit(asked.path).path[1:] or 0)
        targets = [3 * number + 1, 3 * number + 2, 3 * number + 3, number // 3, 0, number + 1]
        links = [f"/{target}?PHPSESSID={rng.getrandbits(128):032x}" for target in targets if target < real]
        return real_page(number, links)

    return Site(fallback=_pages(answer))


def with_variants(real: int = 300) -> Site:
    """Every page can also be had sorted otherwise, for print, in three languages that are one, and with who linked to it."""

    def answer(asked: Asked) -> Page:
        path, _, query = asked.path.partition("?")
        number = int(path[5:-5] or 0)
        text = prose.sentence(Random(number), "utf-8", 40).split()
        if query == "sort=desc":
            text = text[::-1]
        nav = "" if query == "print=1" else NAV
        links = [f"/page{child}.html" for child in range(3 * number + 1, 3 * number + 4) if child < real]
        variants = ["?sort=desc", "?print=1", *(f"?lang={each}" for each in ("de", "en", "ja")), f"?from={number}"]
        body = "".join(f"<p>{word}" for word in [f"{prose.unique_word(number)}", *text])
        below = "".join(f'<p><a href="{link}">more</a>' for link in [*variants, *links])
        return recipes.html(f"<ul>{nav}</ul>{body}{below}", title=f"Page {number}")

    return Site(fallback=_pages(answer))


def endless_hosts(real: int, domain: str, hosts: list[str]) -> tuple[Site, ...]:
    """Real pages on the domain and on two named hosts, among hosts that lead to hosts that lead to hosts."""

    def main(asked: Asked) -> Page:
        number = int(asked.path.partition("?")[0][2:] or 0)
        links = [f"/p{child}" for child in range(3 * number + 1, 3 * number + 4) if child < real]
        port = asked.host.rpartition(":")[2]
        doors = [f"http://{Random(number).choice(hosts)}.{domain}:{port}/" for _ in range(1)]
        docs = [f"http://docs.{domain}:{port}/", f"http://blog.{domain}:{port}/"]
        return real_page(number, [*docs, *doors, *links])

    def made_up(asked: Asked) -> Page:
        rng = Random(asked.host + asked.path)
        port = asked.host.rpartition(":")[2]
        links = [f"http://{name}.{domain}:{port}/" for name in rng.sample(hosts, 5)]
        return page(
            f"Welcome to {asked.host.partition('.')[0]}", "<p>This domain may be for sale", [*links, "/more", "/a/"]
        )

    def docs(asked: Asked) -> Page:
        number = int(asked.path[2:] or 0)
        seed = number + (10_000 if asked.host.startswith("docs") else 20_000)
        return real_page(seed, [f"/p{child}" for child in range(2 * number + 1, 2 * number + 3) if child < 40])

    return (
        Site(fallback=_pages(main), name=domain),
        *(Site(fallback=_pages(docs), name=f"{name}.{domain}") for name in ("docs", "blog")),
        *(Site(fallback=_pages(made_up), name=f"{name}.{domain}") for name in hosts),
    )


def surrounded(real: int = 300, *names: str, below_each: int = 3) -> Site:
    """``real`` pages at /, /product/1.html, … among the traps that are named. ``below_each``: real pages that one leads to."""
    site = Site()
    traps = [TRAPS[name] for name in names]
    for number in range(real):
        children = range(below_each * number + 1, below_each * number + 1 + below_each)
        below = [f"/product/{child}.html" for child in children if child < real]
        doors = [door for trap in traps for door in trap.doors(number)]
        site.pages["/" if not number else f"/product/{number}.html"] = real_page(number, [*doors, *below])
    site.fallback = recipes.by_prefix(**{name: TRAPS[name].answer for name in names})
    return site
