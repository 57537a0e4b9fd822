"""Traps of more shapes than `fakeweb.traps` has: what people have met, one function each."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from random import Random
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from fakeweb import recipes
from fakeweb.page import Asked, Page, Site
from fakeweb.traps import Trap, page, real_page

WORDS = [
    "apple",
    "river",
    "stone",
    "cloud",
    "forest",
    "amber",
    "violet",
    "copper",
    "silent",
    "harbor",
    "castle",
    "bridge",
]
GERMAN = ["januar", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober", "november"]
GERMAN.append("dezember")


def _path(asked: Asked) -> str:
    return urlsplit(asked.path).path


def _segments(asked: Asked) -> list[str]:
    """Of the path, without the first, which names the trap."""
    return [segment for segment in _path(asked).split("/")[2:] if segment]


def _query(asked: Asked) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(asked.path).query, keep_blank_values=True))


def _word(rng: Random) -> str:
    return "".join(rng.choices("abcdefghijklmnop", k=8))


def maze(asked: Asked) -> Page:
    """Words in the path that mean nothing, and the same text everywhere."""
    rng = Random(asked.path)
    text = "<p>You are in a maze of twisty little passages, all alike."
    return page("Maze", text, [f"/maze/{_word(rng)}" for _ in range(5)])


def echo(asked: Asked) -> Page:
    """Each page names itself, and what it links to."""
    rng = Random(asked.path)
    words, name = [_word(rng) for _ in range(5)], "".join(_segments(asked))
    return page(name, f"<p>You are at {name}. From here: {' '.join(words)}", [f"/echo/{word}" for word in words])


def letters(asked: Asked) -> Page:
    """A counter in letters: a, b, …, z, aa."""
    number, text = 1, ""
    for letter in _segments(asked)[0]:
        number += (ord(letter) - 96) * 26 ** (len(_segments(asked)[0]) - 1 - len(text))
        text += letter
    following = ""
    while number:
        number, rest = divmod(number - 1, 26)
        following = chr(97 + rest) + following
    return page(f"Section {text}", "<p>Continue reading", [f"/letters/{following}"])


def events(asked: Asked) -> Page:
    """A calendar with names of months and some text in each."""
    year, month = map(int, _segments(asked))
    first = date(year, month, 1)
    event = ["Yoga class", "Board meeting", "Farmers market", "Book club", "Open stage"][month % 5]
    around = [first - timedelta(1), first + timedelta(32)]
    text = f"<p>{first:%A}, {first:%B} 1st: {event}. No more events in {first:%B}."
    return page(f"Events in {first:%B %Y}", text, [f"/events/{day.year}/{day.month}" for day in around])


def termine(asked: Asked) -> Page:
    """A German calendar with the month's name in the path."""
    name, _, year = unquote(_segments(asked)[0]).partition("-")
    months = int(year) * 12 + GERMAN.index(name)
    around = [f"/termine/{quote(GERMAN[each % 12])}-{each // 12}" for each in (months - 1, months + 1)]
    return page(f"{name.title()} {year}", f"<p>Termine im {name.title()} {year}: keine.", around)


def yoyaku(asked: Asked) -> Page:
    """A Japanese calendar: no spaces between its words."""
    query = _query(asked)
    months = int(query["y"]) * 12 + int(query["m"]) - 1
    around = [f"/yoyaku?y={each // 12}&m={each % 12 + 1}" for each in (months - 1, months + 1, months + 12)]
    title = f"{months // 12}年{months % 12 + 1}月"
    days = "".join(f"<td>{day}日" for day in range(1, 29))
    return page(f"{title}のカレンダー", f"<p>{title}の予定はありません。<table><tr>{days}</table>", around)


def log(asked: Asked) -> Page:
    """Archives by date until the year 9999."""
    day = date(*map(int, _segments(asked)))
    around = [day + timedelta(step) for step in (-1, 1, 7, 31, 366)]
    links = [f"/log/{each:%Y/%m/%d}" for each in around if 1000 < each.year < 9999]
    return page(f"Archive of {day:%A, %d %B %Y}", f"<p>No posts on {day:%d %B %Y}", links)


def account(asked: Asked) -> Page:
    """Java's session ids in the path."""
    rng = Random(asked.path)
    links = [f"/account/{name};jsessionid={rng.getrandbits(128):032X}" for name in ("", "login", "help")]
    return page("Account", "<p>Please log in", links)


def cart(asked: Asked) -> Page:
    """PHP's session ids in the query."""
    rng = Random(asked.path)
    return page("Cart", "<p>Your cart is empty", [f"/cart/show.php?PHPSESSID={rng.getrandbits(128):032x}"] * 3)


def shop(asked: Asked) -> Page:
    """A list by colour, size, … in any combination and order of parameters."""
    chosen, links = _query(asked), []
    facets = {
        "color": "red green blue black",
        "size": "s m l xl",
        "sort": "price name new",
        "brand": "acme umbra",
        "page": "1 2 3",
    }
    for name, values in facets.items():
        links += [
            "/shop/list?" + urlencode({**chosen, name: value}) for value in values.split() if chosen.get(name) != value
        ]
    items = ["Red shirt with sleeves", "Green hat of felt", "Blue coat for rain", "Black boots", "White scarf of wool"]
    shown = Random(asked.path).sample(items, 3)
    return page("Our range", "".join(f"<p>{item}" for item in shown), links)


def choice(asked: Asked) -> Page:
    """The same in the path."""
    chosen = _segments(asked)
    more = ["red", "blue", "small", "large", "acme", "umbra", "by-price", "by-name", "in-stock", "on-sale"]
    links = ["/choice/" + "/".join([*chosen, each]) + "/" for each in more if each not in chosen]
    return page("Our range", "<p>Red shirt, green hat, blue coat", links)


def tag(asked: Asked) -> Page:
    """Tags that can be joined to others."""
    tags = _segments(asked)[0].split("+")
    return page(
        f"Tags {', '.join(tags)}",
        "<p>No entries",
        [f"/tag/{'+'.join([*tags, word])}" for word in WORDS[:6] if word not in tags],
    )


def related(asked: Asked) -> Page:
    """A search that suggests other searches."""
    words = _query(asked).get("q", "")
    links = [f"/related/search?q={quote(words)}+{word}" for word in Random(asked.path).sample(WORDS, 4)]
    return page(f"Results for {words}", f"<p>No results for {words}. Related searches:", links)


def soft(asked: Asked) -> Page:
    """Not found, with status 200, which says what was not found, and has relative links."""
    text = f"<p>Sorry, we could not find {_path(asked)}. Try one of these pages"
    return page("Oops", text, ["about/", "products/list.html", "../x/", "contact/"])


def again(asked: Asked) -> Page:
    """/again/again/again."""
    return page("Next", "<p>More", ["again/", "again/again/"])


def onwards(asked: Asked) -> Page:
    """A redirect to itself, with itself as a parameter."""
    return recipes.redirect("/onwards?to=" + quote(asked.path, safe="/"))


def login(asked: Asked) -> Page:
    """The way back is a parameter, and so is the way back from there."""
    return page("Log in", "<p>User name, password", ["/login?next=" + quote(asked.path, safe="/")])


def constant(asked: Asked) -> Page:
    """A counter in the middle of the path, on pages that are the same to the letter."""
    return page("View", "<p>Constant text", [f"/constant/{int(_segments(asked)[0]) + 1}/view"])


def quotation(asked: Asked) -> Page:
    """A counter with one of twenty quotations."""
    number = int(_segments(asked)[0])
    text = " ".join(Random(1000 + Random(number).randrange(20)).choices(WORDS, k=9))
    return page(f"No. {number}", f"<p>Quote of the day: {text}", [f"/quotation/{number + step}" for step in (1, 2)])


def tiles(asked: Asked) -> Page:
    """A map that can be moved in all directions."""
    query = _query(asked)
    lat, lon = float(query["lat"]), float(query["lon"])
    return page(
        "Map", "<p>Map", [f"/tiles?lat={lat + x}&lon={lon + y}" for x, y in ((0, 0.5), (0.5, 0), (0, -0.5), (-0.5, 0))]
    )


def _id(number: int, bits: int = 128) -> str:
    return f"{Random(number).getrandbits(bits):032x}"


SHAPES: Mapping[str, Trap] = {
    "maze": Trap(maze, lambda _: ["/maze/"]),
    "echo": Trap(echo, lambda _: ["/echo/start"]),
    "letters": Trap(letters, lambda _: ["/letters/a"]),
    "events": Trap(events, lambda n: [f"/events/{2000 + n // 12}/{1 + n % 12}"]),
    "termine": Trap(termine, lambda n: [f"/termine/{quote(GERMAN[n % 12])}-{2000 + n // 12}"]),
    "yoyaku": Trap(yoyaku, lambda n: [f"/yoyaku?y={2000 + n // 12}&m={1 + n % 12}"]),
    "log": Trap(log, lambda _: ["/log/2024/01/01"]),
    "account": Trap(account, lambda n: [f"/account/;jsessionid={_id(n).upper()}"]),
    "cart": Trap(cart, lambda n: [f"/cart/show.php?PHPSESSID={_id(n)}"]),
    "shop": Trap(shop, lambda _: ["/shop/list"]),
    "choice": Trap(choice, lambda _: ["/choice/red/"]),
    "tag": Trap(tag, lambda n: [f"/tag/{WORDS[n % 4]}"]),
    "related": Trap(related, lambda _: ["/related/search?q=shoes"]),
    "soft": Trap(soft, lambda _: ["/soft/a/"]),
    "again": Trap(again, lambda _: ["/again/"]),
    "onwards": Trap(onwards, lambda n: [f"/onwards?to=/x{n}"]),
    "login": Trap(login, lambda n: [f"/login?next=/product/{n}.html"]),
    "constant": Trap(constant, lambda n: [f"/constant/{n * 100}/view"]),
    "quotation": Trap(quotation, lambda n: [f"/quotation/{n * 100}"]),
    "tiles": Trap(tiles, lambda n: [f"/tiles?lat={n}.5&lon=7.25"]),
}
"""By the first segment of their paths."""


def beset(real: int, name: str, make: Callable[[int, list[str]], Page] = real_page) -> Site:
    """``real`` pages at /, /product/1.html, … each with a door to one of the traps."""
    site, trap = Site(fallback=recipes.by_prefix(**{name: SHAPES[name].answer})), SHAPES[name]
    for number in range(real):
        below = [f"/product/{child}.html" for child in range(3 * number + 1, 3 * number + 4) if child < real]
        site.pages["/" if not number else f"/product/{number}.html"] = make(number, [*trap.doors(number), *below])
    return site


def tracked(real: int, *parameters: str) -> Site:
    """Pages of which each also links to itself with parameters that change nothing: who came from where, for print, …"""

    def door(number: int) -> Iterable[str]:
        return (f"/product/{number}.html?{parameter}{number}" for parameter in parameters)

    site = Site()
    for number in range(real):
        below = [f"/product/{child}.html" for child in range(3 * number + 1, 3 * number + 4) if child < real]
        answer = real_page(number, [*door(number), *below])
        site.pages["/" if not number else f"/product/{number}.html"] = answer
        site.pages.update(dict.fromkeys(door(number), answer))
    return site
