"""A fake web on real sockets: sites that behave, and sites that misbehave in every way the real web knows.

    with FakeWeb(Site({"/": html('<a href="/a">a</a>'), "/a": html("A")})) as web:
        ...  # crawl web.url("/")
        assert [visit.path for visit in web.log] == ["/robots.txt", "/", "/a"]

It runs in a thread of the test, so it outlives a crawler that is a process of its own and gets killed.
"""

from fakeweb.generate import GeneratedSite, generate
from fakeweb.log import Visit
from fakeweb.names import NXDOMAIN, SERVFAIL, Answer, Names
from fakeweb.page import Asked, Ending, Framing, Handler, Page, Site
from fakeweb.server import FakeWeb

__all__ = [
    "NXDOMAIN",
    "SERVFAIL",
    "Answer",
    "Asked",
    "Ending",
    "FakeWeb",
    "Framing",
    "GeneratedSite",
    "Handler",
    "Names",
    "Page",
    "Site",
    "Visit",
    "generate",
]
