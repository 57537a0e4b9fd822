"""Pages that crash or hang a parser, in the middle of a site: every other page survives, the guilty one is marked."""

import asyncio
import os
import signal
from collections.abc import Callable
from hashlib import sha256

from conftest import Serve
from crawl.conftest import CrawlIt
from fakeweb import Page, Site
from fakeweb.recipes import html, links, status
from gossamer.crawl.manager import Crawl
from gossamer.crawl.report import Ending
from oracle import check_archive
from processes import children

CRASHES_TURBOHTML = b"<math><template><annotation-xml encoding=text/html><e></template><a><dd><a>"
HANGS_LEXBOR = b"<div>" * 400_000


def site() -> Site:
    pages = {f"/{n}": html(f'<a href="/{n}/below">below {n}</a>', title=f"page {n}") for n in range(40)}
    pages |= {"/crash": Page(b"<title>guilty</title>" + CRASHES_TURBOHTML + b'<a href="/behind">behind</a>')}
    pages |= {"/deep": Page(b"<div>" * 300_000 + b'<a href="/deepest">deepest</a>')}
    names = list(pages)
    return Site({"/": links(*names[:20], "/crash", "/deep", *names[20:40]), **pages}, lambda asked: html(asked.path))


def test_a_crash_and_a_monster_within_a_site(serve: Serve, crawl: CrawlIt) -> None:
    """With real workers, several at once, so that batches have innocent pages in them."""
    web = serve(site())
    crawled = crawl(web, real_parsers=True, per_host=16, parse_timeout=1.0)
    for n in range(40):
        assert crawled[f"/{n}"].page["title"] == f"page {n}"
        assert crawled[f"/{n}/below"].is_done
        assert crawled[f"/{n}"].page["notes"] == ""
    guilty = crawled["/crash"]
    assert (guilty.state, guilty.page["is_kept"]) == ("finished", 1)
    assert guilty.page["notes"] == "read by the fallback parser"
    assert guilty.page["title"] == "guilty"
    assert crawled["/deep"].is_done
    crawled.database.close()
    assert check_archive(crawled.folder) == []


def test_what_no_parser_can_read_is_kept_and_marked(serve: Serve, crawl: CrawlIt) -> None:
    """The first parser crashes, the second needs longer than it may: a limit of processor time ends it."""
    hostile = Page(b"<title>t</title>" + CRASHES_TURBOHTML + HANGS_LEXBOR)
    web = serve(Site({"/": links("/hostile", "/fine"), "/fine": html("fine"), "/hostile": hostile}))
    crawled = crawl(web, real_parsers=True, parse_timeout=0.5)
    assert crawled["/fine"].is_done
    row = crawled["/hostile"]
    assert (row.state, row.page["is_kept"], row.page["is_page"]) == ("finished", 1, 1)
    assert row.reason == "parser hung: too much processor time"
    assert row.page["digest"] == sha256(hostile.body).digest()
    assert row.links == ()


def test_a_crawl_that_is_to_stop_does_not_wait_for_a_parser_that_hangs(serve: Serve, crawl: CrawlIt) -> None:
    stops: list[Callable[[], object]] = []

    def started(manager: Crawl) -> None:
        loop = asyncio.get_running_loop()
        stops.append(lambda: loop.call_soon_threadsafe(manager.stop))

    def answer(path: str) -> Page:
        if path == "/below" and stops:
            for child in children():
                os.kill(child, signal.SIGSTOP)
            stops.pop()()
        return html(path, title=path)

    web = serve(Site({"/": links("/below"), "/robots.txt": status(404)}, lambda asked: answer(asked.path)))
    crawled = crawl(web, real_parsers=True, parsers=1, parse_timeout=0.2, started=started)
    assert crawled.report.ending is Ending.STOPPED
    assert (crawled.report.statistics.waiting, crawled.report.statistics.running) == (1, 0)
    assert crawled.states() == {"/": "finished", "/below": "waiting"}
    assert children() == []
    assert crawl(web, real_parsers=True)["/below"].page["title"] == "/below"
