"""Pages with so many new links, as sitemaps have, that one transaction would hold up everything else."""

import asyncio
from dataclasses import replace

from frontier.conftest import OpenDesk
from frontier.desk import SETTINGS, Desk
from gossamer.frontier.portions import MOST
from gossamer.records import Claim, Link, Outcome, State, Via

A = "http://a.test"
MANY = 4 * MOST + 7


def listed(count: int = MANY, *, lastmod: float | None = None) -> list[Link]:
    return [Link(f"{A}/{number}", Via.LISTED, lastmod=lastmod) for number in range(count)]


def follow(desk: Desk, outcome: Outcome) -> None:
    desk.run(desk.frontier.follow(outcome, desk.held_lease))


def sitemap(desk: Desk) -> Claim:
    desk.add(f"{A}/sitemap.xml", via=Via.SITEMAP, depth=1)
    return desk.claim()


def test_others_are_served_in_between(desk: Desk) -> None:
    claim = sitemap(desk)
    outcome = desk.page(claim, *listed(), listing="sitemap")
    beats = 0

    async def look_in() -> None:
        nonlocal beats
        following = asyncio.create_task(desk.frontier.follow(outcome, desk.held_lease))
        while not following.done():
            await desk.frontier.beat("running", {})
            beats += not following.done()
        await following

    desk.run(look_in())
    assert beats >= MANY // MOST - 1
    assert desk.counts == (MANY, 1, 0, 0, 0)
    desk.answered(claim)
    desk.commit(outcome)
    assert desk.counts == (MANY, 0, 1, 0, 0)


def test_killed_before_the_page_is_committed(desk: Desk) -> None:
    """It is fetched again, and nothing of it is twice or missing."""
    claim = sitemap(desk)
    outcome = desk.page(claim, *listed(MOST + 1), listing="sitemap")
    follow(desk, outcome)
    desk.crash()
    desk.open()
    assert desk.state_of(claim.url) == (State.WAITING, False, "")
    assert desk.counts == (MOST + 2, 0, 0, 0, 0)
    desk.clock.advance(10.0)
    again = desk.claim()
    assert again.url == claim.url
    outcome = desk.page(again, *listed(), listing="sitemap")
    follow(desk, outcome)
    desk.commit(replace(outcome, host=desk.answered(again)))
    assert desk.counts == (MANY, 0, 1, 0, 0)
    assert desk.visit_all(5) == [f"{A}/{number}" for number in range(5)]


def test_a_commit_alone_does_the_same(desk: Desk) -> None:
    claim = sitemap(desk)
    desk.finish_page(claim, *listed(MOST + 1), listing="sitemap")
    assert desk.counts == (MOST + 1, 0, 1, 0, 0)


def test_links_that_are_held_are_held(open_desk: OpenDesk) -> None:
    desk = open_desk(replace(SETTINGS, max_depth=0, scope="host"), f"{A}/")
    desk.add(f"{A}/")
    claim = desk.claim()
    links = [Link(f"{A}/{number}", Via.ANCHOR) for number in range(MOST + 1)]
    outcome = desk.page(claim, *links, Link("http://b.test/", Via.ANCHOR))
    follow(desk, outcome)
    assert desk.counts == (0, 1, 0, 0, MOST + 2)
    desk.commit(outcome)
    assert desk.counts == (0, 0, 1, 0, MOST + 2)
    assert desk.state_of(f"{A}/{MOST}") == (State.WAITING, True, "deeper than 0")


def test_the_links_of_one_duplicate_more_are_parked(desk: Desk) -> None:
    urls = [f"{A}/{name}" for name in "abcde"]
    desk.add(*urls)
    for url in urls:
        claim = desk.claim()
        assert claim.url == url
        links = [Link(f"{url}/{number}", Via.ANCHOR) for number in range(MOST + 1)]
        outcome = desk.page(claim, *links, body=b"the same")
        follow(desk, outcome)
        desk.commit(replace(outcome, host=desk.answered(claim)))
        desk.clock.advance(10.0)
    assert desk.state_of(f"{A}/d/0") == (State.WAITING, False, "")
    assert desk.state_of(f"{A}/e/0") == (State.WAITING, True, f"found only on a duplicate page: {A}/e")
    assert desk.state_of(f"{A}/e/{MOST}")[1]
