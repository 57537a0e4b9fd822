"""Sites whose pages differ in hardly more than numbers, all of them real: none is a trap."""

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from random import Random

from fakeweb import prose
from fakeweb.page import Page, Site
from fakeweb.recipes import html, links, redirect
from fakeweb.traps import page

Pages = dict[str, Page]


def _sentence(number: int, words: int) -> str:
    return prose.sentence(Random(number), "utf-8", words)


def _beside(number: int, count: int) -> list[int]:
    return [each for each in (number - 1, number + 1) if 0 <= each < count]


def star() -> Pages:
    """One page lists all, and each leads to the next."""
    targets = [f"/{number}" for number in range(1, 201)]
    pages = {"/": links(*targets)}
    for target, following in pairwise([*targets, "/1"]):
        pages[target] = links("/", following, text=f"Page {target[1:]}")
    return pages


def graph(count: int = 300, degree: int = 5) -> Pages:
    """Links to any others."""
    rng = Random(1)
    pages = {}
    for number in range(count):
        targets = [f"/page/{rng.randrange(1, count)}" for _ in range(degree)]
        pages[f"/page/{number}" if number else "/"] = links(*targets, text=f"Page {number}")
    return pages


def tree() -> Pages:
    """Three links down from each."""
    return {
        f"/n{number}" if number else "/": links(
            *(f"/n{child}" for child in range(3 * number + 1, 3 * number + 4) if child < 300), text=f"Node {number}"
        )
        for number in range(300)
    }


def chain() -> Pages:
    """One link from each."""
    return {
        f"/c/{number}" if number else "/": links(*([f"/c/{number + 1}"] if number < 119 else []), text=f"{number}")
        for number in range(120)
    }


def words() -> Pages:
    """No number in the URLs, but nothing in the text either."""
    names = ["/", *(f"/{prose.unique_word(number)}" for number in range(1, 200))]
    return {
        name: links(*names[3 * number + 1 : 3 * number + 4], text=f"Node {number}") for number, name in enumerate(names)
    }


def sections() -> Pages:
    """Ten lines of pages."""
    pages = {"/": links(*(f"/s{number}/" for number in range(10)))}
    for section in range(10):
        pages[f"/s{section}/"] = links(f"/s{section}/p1.html", text=f"Section {section}")
        for number in range(1, 21):
            onwards = [f"/s{section}/p{number + 1}.html"] if number < 20 else []
            pages[f"/s{section}/p{number}.html"] = links(*onwards, "/", text=f"page {number} of section {section}")
    return pages


def products() -> Pages:
    """Short pages made from a template, listed in categories, each with a link to the next; and a few that say more."""
    names = [f"/about/{prose.unique_word(number)}" for number in range(40)]
    pages = {"/": links(*(f"/category/{number}" for number in range(20)), *names)}
    pages |= {name: page("About", f"<p>{_sentence(number, 60)}") for number, name in enumerate(names)}
    for number in range(20):
        listed = [f"/product/{number * 10 + place}" for place in range(10)]
        pages[f"/category/{number}"] = page(f"Category {number}", "<p>Our products", listed)
    for number in range(200):
        text = f"<p>Product {number} costs {number % 7} euro. It weighs {number} g. Order it today."
        pages[f"/product/{number}"] = page(
            f"Product {number}", text, [f"/product/{each}" for each in _beside(number, 200)]
        )
    return pages


def forum() -> Pages:
    """Boards and topics in several pages, with posts of few words that come again and again."""
    rng = Random(3)
    posts = ["thanks", "me too", "+1", "I agree", "solved", "bump", *(_sentence(number, 6) for number in range(100))]
    pages = {"/": links(*(f"/viewforum.php?f={board}" for board in range(3)))}
    for part in range(18):
        board, place = divmod(part, 6)
        topics = range(part * 5, part * 5 + 5)
        following = [f"/viewforum.php?f={board}&start={place * 25 + 25}"] if place < 5 else []
        pages[f"/viewforum.php?f={board}" + (f"&start={place * 25}" if place else "")] = page(
            f"Forum {board}", "<p>Topics", [*(f"/viewtopic.php?t={topic}" for topic in topics), *following]
        )
        for topic in topics:
            addresses = [f"/viewtopic.php?t={topic}" + (f"&start={start}" if start else "") for start in (0, 10, 20)]
            for address in addresses[: rng.randrange(1, 4)]:
                body = "".join(f"<p>{rng.choice(posts)}" for _ in range(10))
                pages[address] = page(f"Topic {topic}", body, [*addresses, f"/viewforum.php?f={board}"])
    return {address: each for address, each in pages.items() if address in _reachable(pages)}


def blog() -> Pages:
    """Posts of one sentence under numbers in the query; lists of them under others."""
    pages = {}
    for number in range(20):
        following = [f"/?paged={number + 1}"] if number < 19 else []
        listed = [f"/?p={number * 5 + place}" for place in range(5)]
        pages[f"/?paged={number}" if number else "/"] = page("Blog", "<p>Posts", [*listed, *following])
    for number in range(100):
        around = [f"/?p={each}" for each in _beside(number, 100)]
        pages[f"/?p={number}"] = page(f"Post {number}", f"<p>{_sentence(number, 9)}", around)
    return pages


def archive() -> Pages:
    """A list in a hundred pages, each found on the one before, with two posts each."""
    pages = {}
    for number in range(100):
        posts = [f"/post/{number * 2}", f"/post/{number * 2 + 1}"]
        following = [f"/archive/page/{number + 1}"] if number < 99 else []
        pages[f"/archive/page/{number}" if number else "/"] = page("Archive", "<p>Posts", [*posts, *following])
        pages |= {post: page("Post", f"<p>{_sentence(int(post[6:]), 9)}") for post in posts}
    return pages


def wiki() -> Pages:
    """Articles with their histories and old versions."""
    names = [prose.unique_word(number) for number in range(40)]
    pages = {"/": page("Main", "<p>Main page", [f"/index.php?title={names[0]}"])}
    for number, name in enumerate(names):
        here, text = f"/index.php?title={name}", _sentence(number, 60)
        old = [f"{here}&oldid={number * 10 + version}" for version in range(3)]
        others = [f"/index.php?title={each}" for each in names[2 * number + 1 : 2 * number + 3]]
        pages[here] = page(name, f"<p>{text}", [*others, f"{here}&action=history"])
        pages[f"{here}&action=history"] = page(f"{name}: history", "<p>Revisions", [*old, here])
        for each in old:
            pages[each] = page(name, f"<p>{text} {_sentence(int(each.rpartition('=')[2]), 12)}", [here])
    return pages


def reference() -> Pages:
    """Pages about a hundred things that are hardly different, each with links to the one before and behind it."""
    pages = {"/": links(*(f"/api/Class{number}.html" for number in range(0, 200, 10)))}
    for number in range(200):
        body = f"<p>Constructor Class{number}(). Methods: get{number}, set{number}. From Object: equals, toString."
        around = [f"Class{each}.html" for each in _beside(number, 200)]
        pages[f"/api/Class{number}.html"] = page(f"Class{number}", body, around)
    return pages


def gallery() -> Pages:
    """Pictures without a word, each found on the one before."""
    return {
        f"/photo/{number}" if number else "/": html(
            f'<img src="/img/{number}.jpg">' + (f'<a href="/photo/{number + 1}">next</a>' if number < 119 else "")
        )
        for number in range(120)
    }


def stations() -> Pages:
    """Pages of a list, each of which is elsewhere now: under a longer URL; and a few that say more."""
    names = [f"/about/{prose.unique_word(number)}" for number in range(40)]
    pages = {"/": links(*(f"/station/{number}" for number in range(100)), *names)}
    pages |= {name: page("About", f"<p>{_sentence(number, 60)}") for number, name in enumerate(names)}
    for number in range(100):
        pages[f"/station/{number}"] = redirect(f"/station/{number}?lang=en")
        pages[f"/station/{number}?lang=en"] = page(f"Station {number}", f"<p>{number % 30} degrees")
    return pages


def _book(characters: str) -> Pages:
    """Chapters in a script without spaces between words, each found on the one before."""
    pages = {}
    for number in range(80):
        text = "".join(Random(number).choices(characters, k=100))
        around = [f"/book/{each}.html" if each else "/" for each in _beside(number, 80)]
        pages[f"/book/{number}.html" if number else "/"] = page(f"第{number}章", f"<p>{text}。", around)
    return pages


def chinese() -> Pages:
    return _book("这是一个关于网络爬虫的页面它介绍了数据采集的方法以及注意事项用户可以在这里找到需要的信息")


def japanese() -> Pages:
    return _book("これはウェブクローラーについてのページですデータの収集方法と注意事項を紹介します東京図書館言葉")


SPARSE: Mapping[str, Callable[[], Pages]] = {
    make.__name__: make
    for make in (
        star, graph, tree, chain, words, sections, products, forum, blog, archive, wiki, stations, reference, gallery, chinese, japanese,
    )
}  # fmt: skip


def sparse(name: str) -> tuple[Site, set[str]]:
    """A site, and the targets of all that can be reached on it."""
    pages = SPARSE[name]()
    return Site({**pages}), _reachable(pages)


def _reachable(pages: Pages) -> set[str]:
    found, waiting = {"/"}, ["/"]
    while waiting:
        here = waiting.pop()
        moved = [target for name, target in pages[here].headers if name == "Location"]
        for link in [*moved, *re.findall(r'href="([^"]*)"', pages[here].body.decode())]:
            target = link if link.startswith("/") else f"{here.rpartition('/')[0]}/{link}"
            if target in pages and target not in found:
                found.add(target)
                waiting.append(target)
    return found
