"""What all tests share: how hypothesis runs, and a fake web that is torn down."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from hypothesis import settings

from fakeweb import FakeWeb, Names, Site
from fakeweb.names import Entry

# no deadline: the machine's load is not a fault of the code
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

# Who runs the tests in the background has Ctrl-C ignored, and what they start would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

Serve = Callable[..., FakeWeb]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """``serve(site, ...)`` starts a FakeWeb that lives as long as the test."""
    with ExitStack() as stack:

        def start(*sites: Site, **options: object) -> FakeWeb:
            return stack.enter_context(FakeWeb(*sites, **options))  # type: ignore[arg-type]  # on_visit, log_file

        yield start


@pytest.fixture
def names() -> Iterator[Callable[[dict[str, Entry | str]], Names]]:
    """``names(table)`` starts a DNS server that lives as long as the test."""
    with ExitStack() as stack:
        yield lambda table: stack.enter_context(Names(table))
