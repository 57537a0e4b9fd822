"""The sites of a plan, with their faults: each path is ill by itself, so many times, whoever asks."""

import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from email.utils import formatdate
from types import TracebackType
from typing import Self

from chaos.draw import Fault, HostPlan, Plan, site_of
from fakeweb import SERVFAIL, Answer, Asked, Ending, FakeWeb, GeneratedSite, Names, Page, recipes
from fakeweb.names import Entry
from fakeweb.page import FOREVER, Handler

_HALF = b"<title>half</title>" + b"<p>not all of it" * 50


def _busy_until(_: Asked) -> Page:
    return recipes.busy(503, formatdate(time.time() + 1.5, usegmt=True))


ILL: Mapping[str, Page | Handler] = {
    "reset": Page(raw=b"", ending=Ending.RESET),
    "closed": Page(raw=b""),
    "reset midway": recipes.reset_midway(_HALF),
    "truncated": recipes.truncated(_HALF),
    "cut chunks": recipes.truncated_chunks(_HALF),
    "cut gzip": recipes.truncated_coding(_HALF),
    "500": recipes.status(500),
    "503": recipes.status(503),
    "408": recipes.status(408),
    "silent": Page(delay=FOREVER),
    "busy": recipes.busy(503, "1"),
    "busy until": _busy_until,
    "429": recipes.busy(429, "1"),
    "garbage": recipes.garbage(),
    "huge head": recipes.huge_headers(),
    "no gzip": Page(b"plain text " * 9, headers=(("Content-Encoding", "gzip"),)),
    "404": recipes.status(404),
}
"""Answers that are not what was asked for; beside them ``slow``, whose answer is right but late."""

_TRAPS: Mapping[str, tuple[str, Handler]] = {
    "calendar": ("/calendar?month=0", recipes.calendar),
    "counter": ("/counter/0", recipes.counter),
    "deepening": ("/deep/", recipes.deepening),
}
_HOME, _DEAD = "127.0.0.1", "127.0.0.77"
_ANSWERS: Mapping[str, Entry] = {
    "plain": Answer((_HOME,)),
    "alias": Answer((_HOME,), cname="elsewhere.test"),
    "slow": Answer((_HOME,), delay=0.3),
    "tcp": Answer((_HOME,), only_tcp=True),
    "many": Answer((_HOME, *(f"127.0.1.{number}" for number in range(1, 41)))),
    "dead first": Answer((_DEAD, _HOME)),
    "ill first": lambda count: SERVFAIL if count == 0 else Answer((_HOME,)),
}


def trap_of(host: HostPlan) -> str:
    """What the paths of all that is endless on a host begin with; "" where nothing is."""
    first = _TRAPS[host.trap][0] if host.trap else ""
    return first.rstrip("0").removesuffix("month=")


class World:
    """Everything around the crawler, served while the context lasts."""

    def __init__(self, plan: Plan) -> None:
        self._well: list[dict[str, Page | Handler]] = []
        self.sites: list[GeneratedSite] = []
        for number, host in enumerate(plan.hosts):
            site = site_of(host)
            _equip(site, host)
            self._well.append(dict(site.pages))
            for fault in plan.faults:
                if fault.host == number:
                    site.pages[fault.path] = _ill(fault, site.pages.get(fault.path, recipes.status(404)))
            self.sites.append(site)
        self.web = FakeWeb(*self.sites)
        self.names = Names({host.name: _ANSWERS[host.answer] for host in plan.hosts}) if plan.has_names else None
        self._down: set[int] = set()
        self.falls: list[tuple[GeneratedSite, float]] = []  # which site went down, and when

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(self.web)
            stack.enter_context(self.names or nullcontext())
            self._stack = stack.pop_all()
        for site, well in zip(self.sites, self._well, strict=True):
            if "/sitemap.xml" in site.pages:
                well["/sitemap.xml"] = site.pages["/sitemap.xml"] = recipes.sitemap(
                    self.web.url(path, site) for path in sorted(site.reachable)
                )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def down(self, host: int) -> None:
        """The host stops listening, and those that share its port with it."""
        self._down.add(host)
        together = [site for site in self.sites if self.web.port(site) == self.web.port(self.sites[host])]
        self.web.down(self.sites[host])
        self.falls += [(site, time.time()) for site in together]

    def up(self, host: int) -> None:
        """It listens again."""
        if host in self._down:
            self._down.discard(host)
            self.web.up(self.sites[host])

    def heal(self) -> None:
        """From now on nothing is ill and nothing is down."""
        for number, well in enumerate(self._well):
            self.sites[number].pages = well
            self.up(number)


def _equip(site: GeneratedSite, host: HostPlan) -> None:
    if host.has_sitemap:
        site.pages["/sitemap.xml"] = recipes.sitemap([])  # what stands in it needs the port
    if host.trap:
        first, handler = _TRAPS[host.trap]
        site.fallback = _within(trap_of(host), handler)
        site.pages["/"] = _with_link(site.pages["/"], first)


def _within(prefix: str, handler: Handler) -> Handler:
    return lambda asked: handler(asked) if asked.path.startswith(prefix) else recipes.status(404)


def _with_link(page: Page | Handler, target: str) -> Handler:
    def handler(asked: Asked) -> Page:
        first = page if isinstance(page, Page) else page(asked)
        return replace(first, body=first.body + f'<p><a href="{target}">more</a>'.encode())

    return handler


def _ill(fault: Fault, well: Page | Handler) -> Handler:
    return recipes.times(fault.times, _late(well) if fault.kind == "slow" else ILL[fault.kind], well)


def _late(page: Page | Handler) -> Callable[[Asked], Page]:
    return lambda asked: replace(page if isinstance(page, Page) else page(asked), delay=0.4)
