"""Twenty seeds of the three hundred that were run by hand, among them every one that ever failed."""

from pathlib import Path

import pytest

from chaos.draw import draw
from chaos.judge import judge, requests
from chaos.ride import needs_strace, ride

FOUND = {
    10: "a parser worker that was killed while it started ended the crawl",
    36: "two fetches at once on a host: a request that a kept connection swallowed was sent again beside another's",
    312: "after a restart two requests came at once, though the Crawl-delay of robots.txt was known before",
}
"""Seeds that failed because the crawler did wrong, and what it was."""

OTHERS = (2, 5, 7, 8, 12, 14, 15, 19, 24, 26, 27, 29, 37, 42, 45, 61, 197)
"""A kill, a broken disk, a signal, … each, on sites with names and without, with traps, faults and limits."""


@pytest.mark.parametrize("seed", [*OTHERS, *FOUND])
def test_promises_hold(tmp_path: Path, seed: int) -> None:
    plan = draw(seed)
    if needs_strace(plan):
        pytest.skip("strace is not here: no system call can fail")
    result = ride(plan, tmp_path)
    found = judge(result)
    assert not found, "\n".join([*found, str(plan), *requests(result.visits)])
