"""What `frontier.contract` promises, for every backend."""

from dataclasses import replace

import pytest

from frontier.conftest import OpenDesk
from frontier.desk import DELAY, SETTINGS, Desk, named
from gossamer import url as urls
from gossamer.collection import MAX_CRASHES
from gossamer.errors import StaleLease
from gossamer.frontier.contract import Wait
from gossamer.records import (
    Candidate,
    Claim,
    Hold,
    Host,
    HostUpdate,
    Link,
    Outcome,
    RobotsAnswer,
    Selection,
    Settlement,
    State,
    Via,
)
from gossamer.settings import Settings

A, B, C = "http://a.test", "http://b.test", "http://c.test"
LAG = 0.02  # what may be added to a delay for logs that are late
ROBOTS = replace(SETTINGS, ignore_robots=False)


def pages(origin: str, count: int) -> list[str]:
    return [f"{origin}/{number}" for number in range(count)]


# --- add


def test_what_is_added_waits(desk: Desk) -> None:
    assert desk.add(f"{A}/1", f"{A}/2") == 2
    assert desk.counts == (2, 0, 0, 0, 0)
    assert desk.claim().url == f"{A}/1"


def test_add_is_idempotent(desk: Desk) -> None:
    assert desk.add(f"{A}/1", f"{A}/1", f"{A}/2") == 2
    assert desk.add(f"{A}/2", f"{A}/1") == 0
    assert desk.visit_all() == [f"{A}/1", f"{A}/2"]
    assert desk.add(f"{A}/2", f"{A}/1") == 0  # also after the visit
    assert desk.wait() is None


def test_what_the_scope_refuses_is_known_and_held(open_desk: OpenDesk) -> None:
    desk = open_desk(replace(SETTINGS, scope="host"), f"{A}/")
    desk.add(f"{A}/")
    assert desk.add(f"{B}/", via=Via.ANCHOR, depth=1) == 1
    assert desk.add(f"{B}/", via=Via.ANCHOR, depth=1) == 0
    assert desk.counts == (1, 0, 0, 0, 1)
    assert desk.visit_all() == [f"{A}/"]
    assert desk.state_of(f"{B}/") == (State.WAITING, True, "out of scope: another host")


# --- lease


def test_the_order_is_the_order_found_across_hosts(desk: Desk) -> None:
    order = [f"{B}/1", f"{A}/1", f"{C}/1"]
    desk.add(*order)
    assert [desk.claim().url for _ in order] == order


def test_breadth_first_among_hosts_that_may_be_asked(desk: Desk) -> None:
    """A host with many URLs does not starve one whose URLs were found later, nor the other way round."""
    desk.add(*pages(A, 3), *pages(B, 3))
    assert desk.visit_all() == [f"{A}/0", f"{B}/0", f"{A}/1", f"{B}/1", f"{A}/2", f"{B}/2"]


def test_one_lease_a_host_at_a_time(desk: Desk) -> None:
    desk.add(*pages(A, 3))
    claim = desk.claim()
    assert desk.wait() is None  # only news can change that
    desk.answered(claim)
    assert desk.wait() == desk.clock.now() + DELAY


def test_never_before_the_hosts_next_time(desk: Desk) -> None:
    desk.add(*pages(A, 3))
    desk.answered(desk.claim(), delay=7.5)
    until = desk.wait()
    assert until == desk.clock.now() + 7.5
    desk.clock.advance(7.4)
    assert desk.wait() == until
    desk.clock.advance(0.1)
    assert desk.claim().url == f"{A}/1"


def test_a_host_is_free_before_its_page_is_committed(desk: Desk) -> None:
    desk.add(*pages(A, 2))
    first = desk.claim()
    desk.answered(first, delay=0.0)
    second = desk.claim()
    desk.commit(desk.page(second), desk.page(first))
    assert desk.counts == (0, 0, 2, 0, 0)


def test_a_claim_that_needed_no_request_leaves_its_host_free(desk: Desk) -> None:
    desk.add(*pages(A, 2))
    claim = desk.claim()
    desk.frontier.skip(claim)
    assert desk.claim().url == f"{A}/1"
    desk.commit(Outcome(claim, Settlement(State.WAITING, "robots.txt: /", held=Hold.REFUSED, counts_as_try=False)))
    assert desk.state_of(f"{A}/0") == (State.WAITING, True, "robots.txt: /")


def test_more_at_once_where_the_settings_say_so(open_desk: OpenDesk) -> None:
    desk = open_desk(replace(SETTINGS, per_host=2))
    desk.add(*pages(A, 5))
    first = desk.claim()
    desk.clock.advance(10 * DELAY)
    assert desk.wait() is None  # nothing before the request is really sent: connecting may take any time
    desk.frontier.sent(first, desk.clock.now())
    assert desk.wait() == pytest.approx(desk.clock.now() + DELAY, abs=LAG)
    desk.clock.advance(DELAY + LAG)
    second = desk.claim()
    desk.frontier.sent(second, desk.clock.now())
    desk.clock.advance(10 * DELAY)
    assert desk.wait() is None  # two are under way
    desk.answered(first)
    assert desk.wait() == pytest.approx(desk.clock.now() + DELAY, abs=LAG)
    desk.clock.advance(DELAY + LAG)
    assert desk.claim().url == f"{A}/2"


def test_a_claim_carries_how_it_was_found(desk: Desk) -> None:
    desk.add(f"{A}/")
    seed = desk.claim()
    desk.finish_page(seed, f"{B}/next")
    assert desk.claim() == Claim(2, f"{B}/next", 2, B, depth=1, hops=0, attempts=0, via=Via.ANCHOR, parent=seed.url_id)


# --- robots.txt


def test_robots_txt_comes_first(open_desk: OpenDesk) -> None:
    desk = open_desk(ROBOTS)
    desk.add(*pages(A, 2), f"{B}/0")
    asked = desk.claim()
    assert (asked.is_robots, asked.url) == (True, f"{A}/robots.txt")
    other = desk.claim()
    assert (other.is_robots, other.url) == (True, f"{B}/robots.txt")
    assert desk.wait() is None  # nothing of a host before its rules are known
    assert desk.counts[1] == 0  # it is no URL that runs
    desk.commit(desk.robots(asked))
    desk.clock.advance(DELAY)
    assert desk.claim().url == f"{A}/0"


def test_robots_txt_alone_while_it_is_asked_for(open_desk: OpenDesk) -> None:
    desk = open_desk(replace(ROBOTS, per_host=4, delay=0.0))
    desk.add(*pages(A, 4))
    assert desk.claim().is_robots
    assert desk.wait() is None


def test_robots_txt_again_when_it_is_old(open_desk: OpenDesk) -> None:
    desk = open_desk(ROBOTS)
    desk.add(*pages(A, 2))
    desk.commit(desk.robots(desk.claim(), lasts=100.0))
    desk.clock.advance(DELAY)
    desk.finish_page(desk.claim())
    desk.clock.advance(100.0)
    assert desk.claim().is_robots


def test_robots_txt_is_kept_over_a_restart(open_desk: OpenDesk) -> None:
    desk = open_desk(ROBOTS)
    desk.add(*pages(A, 2))
    claim = desk.claim()
    desk.commit(desk.robots(claim, b"User-agent: *\nDisallow: /x"))
    desk.reopen()
    desk.clock.advance(DELAY)
    assert desk.claim().url == f"{A}/0"
    kept = desk.run(desk.frontier.robots(claim.host_id))
    assert isinstance(kept, RobotsAnswer)
    assert (kept.body, kept.status) == (b"User-agent: *\nDisallow: /x", 200)


def test_no_robots_txt_where_nothing_waits(open_desk: OpenDesk) -> None:
    desk = open_desk(ROBOTS)
    desk.add(f"{A}/")
    desk.commit(desk.robots(desk.claim(), lasts=10.0))
    desk.clock.advance(DELAY)
    desk.finish_page(desk.claim())
    desk.clock.advance(100.0)
    assert desk.wait() is None


# --- commit


def test_commit_settles(desk: Desk) -> None:
    desk.add(f"{A}/", f"{B}/", f"{C}/")
    finished, failed, again = desk.claim(), desk.claim(), desk.claim()
    assert desk.counts == (0, 3, 0, 0, 0)
    desk.commit(desk.page(finished), desk.failed(failed), desk.retry(again))
    assert desk.counts == (1, 0, 1, 1, 0)
    assert [desk.state_of(f"{origin}/")[0] for origin in (A, B, C)] == [State.FINISHED, State.FAILED, State.WAITING]
    assert desk.frontier.errors() == {"http client error": 1, "http server error": 1}


def test_commit_is_idempotent_by_url_and_attempt(desk: Desk) -> None:
    desk.add(f"{A}/")
    claim = desk.claim()
    outcome = desk.page(claim, f"{A}/next")
    desk.answered(claim)
    desk.commit(outcome)
    before = desk.frontier.statistics()
    desk.commit(outcome)
    desk.commit(desk.page(claim, f"{A}/other"), desk.failed(claim))
    assert desk.frontier.statistics() == before
    assert desk.state_of(f"{A}/")[0] is State.FINISHED
    assert desk.visit_all() == [f"{A}/next"]


def test_a_retry_is_another_attempt(desk: Desk) -> None:
    desk.add(f"{A}/")
    first = desk.claim()
    desk.answered(first)
    desk.commit(desk.retry(first))
    desk.commit(desk.failed(first))  # the same try once more
    assert desk.counts == (1, 0, 0, 0, 0)
    desk.clock.advance(10.0)
    second = desk.claim()
    assert second == first._replace(attempts=1)
    desk.finish_page(second)
    assert desk.counts == (0, 0, 1, 0, 0)


def test_a_retry_waits_until_it_is_due(desk: Desk) -> None:
    desk.add(*pages(A, 2))
    claim = desk.claim()
    desk.answered(claim)
    desk.commit(desk.retry(claim, after=10.0))
    desk.clock.advance(DELAY)
    desk.finish_page(desk.claim())  # others of the host go on
    assert desk.wait() == desk.clock.now() - DELAY + 10.0
    desk.clock.advance(10.0)
    assert desk.claim().url == f"{A}/0"


def test_a_try_that_does_not_count(desk: Desk) -> None:
    desk.add(f"{A}/")
    claim = desk.claim()
    desk.answered(claim)
    desk.commit(Outcome(claim, replace(desk.retry(claim).settlement, counts_as_try=False)))
    desk.clock.advance(10.0)
    assert desk.claim().attempts == 0


def test_a_stale_epoch_is_refused(desk: Desk) -> None:
    desk.add(f"{A}/")
    claim = desk.claim()
    old = replace(desk.held_lease, epoch=desk.held_lease.epoch - 1)
    with pytest.raises(StaleLease, match="taken over"):
        desk.commit(desk.page(claim, f"{A}/next"), lease=old)
    assert desk.counts == (0, 1, 0, 0, 0)
    desk.commit(desk.page(claim))


def test_each_start_has_a_new_epoch(desk: Desk) -> None:
    desk.add(f"{A}/")
    before = desk.held_lease
    desk.reopen()
    assert desk.held_lease.epoch > before.epoch
    with pytest.raises(StaleLease):
        desk.commit(desk.page(desk.claim()), lease=before)
    desk.run(desk.frontier.renew())


def test_the_links_of_a_page_are_found(desk: Desk) -> None:
    desk.add(f"{A}/")
    desk.finish_page(desk.claim(), f"{A}/1", f"{B}/1", f"{A}/1", f"{A}/", Link("mailto:x@y", Via.ANCHOR, other=True))
    assert desk.counts == (2, 0, 1, 0, 1)
    assert desk.visit_all() == [f"{B}/1", f"{A}/1"]


def test_links_of_pages_committed_together_are_found_once(desk: Desk) -> None:
    desk.add(f"{A}/", f"{B}/")
    first, second = desk.claim(), desk.claim()
    desk.answered(first), desk.answered(second)
    desk.commit(desk.page(first, f"{C}/1", f"{C}/2"), desk.page(second, f"{C}/2", f"{C}/3"))
    assert desk.visit_all() == [f"{C}/1", f"{C}/2", f"{C}/3"]


# --- found in a better way


@pytest.mark.parametrize(
    ("link", "facts"),
    [
        (Link(f"{A}/late", Via.ANCHOR, nofollow=True), {}),
        (Link(f"{A}/late", Via.REQUISITE), {}),
        (Link(f"{A}/late", Via.ANCHOR), {"nofollow": True}),
    ],
    ids=["nofollow", "requisite", "page with nofollow"],
)
def test_a_url_held_as_it_was_found_is_admitted_when_found_better(
    desk: Desk, link: Link, facts: dict[str, object]
) -> None:
    desk.add(*pages(A, 4))
    desk.finish_page(desk.claim(), link, **facts)
    assert desk.state_of(f"{A}/late")[1]
    desk.clock.advance(DELAY)
    desk.finish_page(desk.claim(), link, **facts)  # as bad as before
    assert desk.state_of(f"{A}/late")[1]
    desk.clock.advance(DELAY)
    desk.finish_page(desk.claim(), f"{A}/late", f"{A}/later")
    assert not desk.state_of(f"{A}/late")[1]
    assert desk.visit_all() == [f"{A}/3", f"{A}/late", f"{A}/later"]
    assert desk.counts == (0, 0, 6, 0, 0)


def test_a_url_that_lay_too_deep_is_admitted_when_found_nearer(open_desk: OpenDesk) -> None:
    desk = open_desk(replace(SETTINGS, max_depth=1))
    desk.add(f"{A}/", f"{B}/")
    desk.finish_page(desk.claim(), f"{A}/1")
    other = desk.claim()
    desk.clock.advance(DELAY)
    desk.finish_page(desk.claim(), f"{A}/deep")
    assert desk.state_of(f"{A}/deep") == (State.WAITING, True, "deeper than 1")
    desk.finish_page(other, f"{A}/deep")
    assert desk.visit_all() == [f"{A}/deep"]


def test_found_better_while_there_is_more_on_disk_than_in_memory(desk: Desk) -> None:
    desk.add(f"{A}/start", f"{A}/second")
    desk.finish_page(desk.claim(), Link(f"{A}/late", Via.REQUISITE), *pages(A, 400))
    desk.clock.advance(DELAY)
    desk.finish_page(desk.claim(), f"{A}/late")
    visited = desk.visit_all()
    assert sorted(visited) == sorted([f"{A}/late", *pages(A, 400)])
    assert visited.index(f"{A}/late") < 5  # it was found early


def test_many_found_better_at_once(desk: Desk) -> None:
    """More than may lie in memory: read from disk again."""
    desk.add(f"{A}/start", f"{A}/second")
    desk.finish_page(desk.claim(), *(Link(url, Via.REQUISITE) for url in pages(A, 300)), f"{A}/last")
    desk.clock.advance(DELAY)
    desk.finish_page(desk.claim(), *pages(A, 300))
    assert desk.visit_all() == [*pages(A, 300), f"{A}/last"]


def test_a_person_who_names_a_held_url_gets_it(open_desk: OpenDesk) -> None:
    desk = open_desk(replace(SETTINGS, scope="host"), f"{A}/")
    desk.add(f"{A}/")
    desk.finish_page(desk.claim(), f"{B}/x")
    assert desk.state_of(f"{B}/x")[1]
    assert desk.add(f"{B}/x") == 0
    assert desk.visit_all() == [f"{B}/x"]


# --- redirects


def test_a_redirect_is_followed_once(desk: Desk) -> None:
    desk.add(f"{A}/")
    claim = desk.claim()
    desk.answered(claim)
    desk.commit(desk.redirect(claim, f"{B}/"))
    target = desk.claim()
    assert (target.url, target.hops, target.via, target.depth) == (f"{B}/", 1, Via.REDIRECT, 0)
    desk.finish_page(target)
    assert desk.wait() is None


@pytest.mark.parametrize("length", [2, 3, 7])
def test_redirects_that_go_round_in_a_circle(desk: Desk, length: int) -> None:
    """A finishes as a redirect, the last one fails: it leads back to A."""
    circle = [f"http://{number}.test/" for number in range(length)]
    desk.add(circle[0])
    for number in range(length):
        claim = desk.claim()
        desk.answered(claim)
        desk.commit(desk.redirect(claim, circle[(number + 1) % length]))
    assert desk.wait() is None
    assert [desk.state_of(url)[0] for url in circle] == [State.FINISHED] * (length - 1) + [State.FAILED]
    assert desk.state_of(circle[-1])[2].startswith("redirect loop")
    assert desk.counts == (0, 0, length - 1, 1, 0)
    assert desk.frontier.errors() == {"redirect loop": 1}


def test_a_circle_whose_urls_were_linked_before(desk: Desk) -> None:
    """Found by ordinary links, and settled together."""
    desk.add(f"{A}/", f"{B}/")
    first, second = desk.claim(), desk.claim()
    desk.answered(first), desk.answered(second)
    desk.commit(desk.redirect(first, f"{B}/"), desk.redirect(second, f"{A}/"))
    assert (desk.state_of(f"{A}/")[0], desk.state_of(f"{B}/")[0]) == (State.FINISHED, State.FAILED)


def test_a_redirect_to_a_page_that_was_fetched_is_no_circle(desk: Desk) -> None:
    desk.add(f"{A}/", f"{B}/")
    page, moved = desk.claim(), desk.claim()
    desk.answered(page), desk.answered(moved)
    desk.commit(desk.page(page), desk.redirect(moved, f"{A}/"))
    assert desk.counts == (0, 0, 2, 0, 0)


def test_a_circle_that_was_tried_again_fails_again(desk: Desk) -> None:
    desk.add(f"{A}/")
    for target in (f"{B}/", f"{A}/"):
        claim = desk.claim()
        desk.answered(claim)
        desk.commit(desk.redirect(claim, target))
    desk.clock.advance(DELAY)
    assert desk.run(desk.frontier.requeue(Selection())) == 1
    claim = desk.claim()
    assert claim.url == f"{B}/"
    desk.answered(claim)
    desk.commit(desk.redirect(claim, f"{A}/"))
    assert desk.state_of(f"{B}/")[0] is State.FAILED


# --- duplicates


def test_links_of_many_equal_pages_are_parked(desk: Desk) -> None:
    """The first and three more are followed: equal bytes in two folders lead elsewhere."""
    desk.add(*pages(A, 7))
    for number in range(7):
        desk.finish_page(desk.claim(), f"{A}/from{number}", body=b"the same")
        desk.clock.advance(DELAY)
    held = [desk.state_of(f"{A}/from{number}")[1] for number in range(7)]
    assert held == [False] * 4 + [True] * 3
    assert desk.state_of(f"{A}/from6")[2].startswith("found only on a duplicate page")


def test_a_parked_url_that_another_page_links_to_is_admitted(desk: Desk) -> None:
    desk.add(*pages(A, 7))
    for _ in range(6):
        desk.finish_page(desk.claim(), f"{A}/parked", body=b"the same")
        desk.clock.advance(DELAY)
    desk.finish_page(desk.claim(), *[f"{A}/parked"])
    assert desk.visit_all() == [f"{A}/parked"]


def test_equal_pages_of_other_hosts_do_not_count(desk: Desk) -> None:
    hosts = [f"http://{number}.test" for number in range(6)]
    desk.add(*(f"{host}/" for host in hosts))
    for host in hosts:
        desk.finish_page(desk.claim(), f"{host}/next", body=b"the same")
    assert desk.counts == (6, 0, 6, 0, 0)


# --- hold, park, release, requeue


def put_aside(desk: Desk, claim: Claim) -> None:
    update = desk.answered(claim, failures=8, put_aside="8 failures in a row: dead")
    desk.commit(replace(desk.failed(claim), host=update))


def test_a_host_put_aside_and_urls_found_for_it_later(desk: Desk) -> None:
    desk.add(*pages(A, 3), f"{B}/")
    put_aside(desk, desk.claim())
    assert desk.state_of(f"{A}/2") == (State.WAITING, True, "8 failures in a row: dead")
    desk.finish_page(desk.claim(), f"{A}/later")
    assert desk.state_of(f"{A}/later") == (State.WAITING, True, "8 failures in a row: dead")
    desk.clock.advance(1000.0)
    assert desk.wait() is None
    assert desk.counts == (0, 0, 1, 1, 3)
    desk.reopen()
    assert desk.wait() is None


def test_what_was_in_flight_when_its_host_was_put_aside(open_desk: OpenDesk) -> None:
    desk = open_desk(replace(SETTINGS, per_host=3, delay=0.0))
    desk.add(*pages(A, 4))
    first, second, third = desk.claim(), desk.claim(), desk.claim()
    put_aside(desk, first)
    desk.commit(replace(desk.retry(second), host=desk.answered(second, failures=9)))
    assert desk.state_of(second.url) == (State.WAITING, True, "8 failures in a row: dead")
    desk.commit(replace(desk.page(third), host=desk.answered(third, failures=0)))
    desk.clock.advance(1000.0)
    assert desk.wait() is None  # one answer that was late takes no host back
    assert desk.counts == (0, 0, 1, 1, 2)


def test_a_url_found_better_on_a_host_put_aside(desk: Desk) -> None:
    desk.add(f"{A}/", f"{B}/1", f"{B}/2")
    aside, first = desk.claim(), desk.claim()
    desk.finish_page(first, Link(f"{A}/x", Via.REQUISITE))
    put_aside(desk, aside)
    desk.clock.advance(DELAY)
    desk.finish_page(desk.claim(), f"{A}/x")
    assert desk.state_of(f"{A}/x") == (State.WAITING, True, "8 failures in a row: dead")
    assert desk.wait() is None


def test_requeue_takes_failed_urls_and_hosts_back(desk: Desk) -> None:
    desk.add(*pages(A, 3), f"{B}/")
    put_aside(desk, desk.claim())
    failing = desk.claim()
    desk.answered(failing)
    desk.commit(desk.failed(failing))
    desk.clock.advance(DELAY)
    assert desk.run(desk.frontier.requeue(named(f"{A}/*"))) == 3
    assert desk.counts == (3, 0, 0, 1, 0)
    assert desk.run(desk.frontier.requeue(Selection())) == 1
    claim = desk.claim()
    assert (claim.url, claim.attempts) == (f"{A}/0", 0)
    assert desk.frontier.host(claim.host_id).put_aside == ""
    assert desk.frontier.host(claim.host_id).failures == 0
    desk.finish_page(claim)
    assert desk.visit_all() == [f"{B}/", f"{A}/1", f"{A}/2"]


def test_urls_found_for_a_host_that_was_taken_back(desk: Desk) -> None:
    """Nothing of it waited when it was taken back."""
    desk.add(f"{A}/", f"{B}/")
    put_aside(desk, desk.claim())
    other = desk.claim()
    assert desk.run(desk.frontier.requeue(named(f"{A}/"))) == 1
    desk.clock.advance(DELAY)
    again = desk.claim()
    put_aside(desk, again)
    desk.commit(desk.page(other, f"{A}/x"))
    assert desk.run(desk.frontier.requeue(named(f"{A}/x"))) == 1
    desk.clock.advance(DELAY)
    assert desk.visit_all() == [f"{A}/x"]


def test_hold(desk: Desk) -> None:
    desk.add(*pages(A, 3), f"{B}/")
    claim = desk.claim()
    assert desk.run(desk.frontier.hold(claim.host_id, "enough of it")) == 3
    desk.answered(claim)
    desk.clock.advance(DELAY)
    assert desk.claim().url == f"{B}/"
    assert desk.wait() is None
    assert desk.state_of(f"{A}/2") == (State.WAITING, True, "enough of it")


def test_parked_urls_are_not_leased_until_they_are_released(desk: Desk) -> None:
    desk.add(*pages(A, 4), f"{B}/")
    assert desk.run(desk.frontier.park(named(f"{A}/*"), "a trap")) == 4
    assert desk.counts == (1, 0, 0, 0, 4)
    assert desk.visit_all() == [f"{B}/"]
    assert desk.run(desk.frontier.release(Selection(reason="trap", patterns=(f"{A}/2",)))) == 1
    assert desk.visit_all() == [f"{A}/2"]
    assert desk.run(desk.frontier.release(Selection(host="a.test"))) == 3
    assert desk.visit_all() == [f"{A}/0", f"{A}/1", f"{A}/3"]
    assert desk.counts == (0, 0, 5, 0, 0)


def test_parking_part_of_a_host(desk: Desk) -> None:
    desk.add(*pages(A, 4))
    assert desk.run(desk.frontier.park(named("*/1", "*/2"), "a trap")) == 2
    assert desk.visit_all() == [f"{A}/0", f"{A}/3"]


def test_a_command_leaves_the_hosts_their_distance(desk: Desk) -> None:
    """What the last answer said of the host's next time may not be committed yet."""
    desk.add(*pages(A, 3))
    desk.answered(desk.claim(), delay=30.0)
    desk.run(desk.frontier.release(Selection()))
    desk.run(desk.frontier.park(named(f"{A}/2"), "x"))
    assert desk.wait() == desk.clock.now() + 30.0


def test_a_command_does_not_hand_out_what_runs(desk: Desk) -> None:
    desk.add(*pages(A, 3))
    running = desk.claim()
    desk.run(desk.frontier.park(named(f"{A}/2"), "x"))
    desk.answered(running)
    desk.clock.advance(DELAY)
    assert desk.claim().url == f"{A}/1"
    desk.commit(desk.retry(running))
    assert desk.counts == (1, 1, 0, 0, 1)


def test_a_retry_that_waits_is_handed_out_once_after_a_command(desk: Desk) -> None:
    desk.add(f"{A}/0")
    claim = desk.claim()
    desk.answered(claim)
    desk.commit(desk.retry(claim))
    desk.run(desk.frontier.release(Selection()))
    assert desk.visit_all() == [f"{A}/0"]


# --- what an answer said that was not committed


@pytest.mark.parametrize("is_committed", [True, False])
def test_how_long_a_host_wants_to_be_left_alone_outlives_a_kill(desk: Desk, is_committed: bool) -> None:
    """Also where its answer, say a 503 with Retry-After, had come but was not committed."""
    desk.add(f"{A}/", f"{B}/")
    claim, asked_at = desk.claim(), desk.clock.now()
    update = desk.answered(claim, next_at=asked_at + 100.0)
    if is_committed:
        desk.commit(replace(desk.retry(claim, after=1.0), host=update))
    desk.crash()
    desk.open()
    desk.clock.advance(DELAY + LAG)
    assert desk.claim().url == f"{B}/"
    assert desk.wait() == asked_at + 100.0


def test_what_a_host_said_before_its_last_committed_answer_is_past(desk: Desk) -> None:
    desk.add(*pages(A, 2))
    claim = desk.claim()
    desk.commit(replace(desk.page(claim), host=desk.answered(claim, next_at=desk.clock.now() + 100.0)))
    desk.crash()
    desk.open()
    desk.clock.advance(200.0)
    assert desk.claim().url == f"{A}/1"


# --- forgive


def forgiven(desk: Desk, *tries: Claim) -> list[Claim]:
    return desk.run(desk.frontier.forgive(tries))


def test_a_try_that_is_forgiven_is_not_counted(desk: Desk) -> None:
    desk.add(*pages(A, 2))
    first = desk.claim()
    desk.commit(replace(desk.retry(first, after=5.0), host=desk.answered(first, failures=1)))
    desk.clock.advance(10.0)
    second = desk.claim()
    assert (second.url, second.attempts) == (first.url, 1)
    desk.commit(replace(desk.retry(second, after=5.0), host=desk.answered(second, failures=2)))
    assert forgiven(desk, first, second) == []
    assert desk.frontier.host(first.host_id).failures == 0
    desk.clock.advance(10.0)
    again = desk.claim()
    assert (again.url, again.attempts) == (first.url, 0)
    desk.finish_page(again)
    assert desk.visit_all() == [f"{A}/1"]
    assert desk.counts == (0, 0, 2, 0, 0)


def test_what_failed_for_good_waits_again_when_it_is_forgiven(desk: Desk) -> None:
    desk.add(f"{A}/")
    claim = desk.claim()
    desk.commit(replace(desk.failed(claim), host=desk.answered(claim, failures=1)))
    assert desk.counts == (0, 0, 0, 1, 0)
    forgiven(desk, claim)
    assert desk.counts == (1, 0, 0, 0, 0)
    desk.reopen()
    desk.clock.advance(10.0)
    assert desk.claim().attempts == 0


def test_a_host_that_was_put_aside_for_what_is_forgiven(desk: Desk) -> None:
    desk.add(*pages(A, 3))
    claim = desk.claim()
    put_aside(desk, claim)
    assert desk.counts == (0, 0, 0, 1, 2)
    forgiven(desk, claim)
    assert desk.counts == (3, 0, 0, 0, 0)
    desk.clock.advance(10.0)
    assert desk.visit_all() == pages(A, 3)


def test_a_robots_txt_that_is_forgiven(open_desk: OpenDesk) -> None:
    desk = open_desk(ROBOTS)
    desk.add(f"{A}/")
    claim = desk.claim()
    assert claim.is_robots
    desk.commit(Outcome(claim, Settlement(State.FINISHED), host=desk.answered(claim, failures=1, robots_tries=1)))
    forgiven(desk, claim)
    host = desk.frontier.host(claim.host_id)
    assert (host.failures, host.robots_tries) == (0, 0)


def test_what_was_answered_since_needs_no_mercy(desk: Desk) -> None:
    desk.add(f"{A}/")
    claim = desk.claim()
    desk.answered(claim)
    desk.commit(desk.retry(claim, after=1.0))
    desk.clock.advance(10.0)
    again = desk.claim()
    assert forgiven(desk, claim) == [claim], "it is under way: nothing can be said of it yet"
    desk.finish_page(again)
    assert forgiven(desk, claim) == []
    assert desk.counts == (0, 0, 1, 0, 0)


# --- another host's place


def test_borrowing_a_host(desk: Desk) -> None:
    desk.add(f"{A}/0", f"{A}/1")
    host = desk.run(desk.frontier.meet(urls.origin(f"{A}/")))
    other = desk.run(desk.frontier.meet(urls.origin(f"{B}/")))
    assert host != other
    now = desk.clock.now()
    assert desk.frontier.borrow(host, now) is None
    assert desk.wait() is None  # its place is taken
    again = desk.frontier.borrow(host, now)
    assert again is not None
    assert again > now
    desk.frontier.give_back(host, now + 5.0)
    assert desk.wait() == now + 5.0
    assert desk.frontier.borrow(host, now) == now + 5.0
    desk.clock.advance(5.0)
    assert desk.claim().url == f"{A}/0"


# --- restart


def test_a_restart_goes_on_where_it_was(desk: Desk) -> None:
    desk.add(*pages(A, 3))
    desk.finish_page(desk.claim(), f"{A}/found")
    desk.reopen()
    assert desk.counts == (3, 0, 1, 0, 0)
    assert desk.visit_all() == [f"{A}/1", f"{A}/2", f"{A}/found"]


def test_what_was_leased_and_not_committed_waits_again(desk: Desk) -> None:
    desk.add(f"{A}/", f"{B}/")
    desk.claim(), desk.claim()
    desk.reopen()
    assert desk.counts == (2, 0, 0, 0, 0)
    assert desk.visit_all() == [f"{A}/", f"{B}/"]


@pytest.mark.parametrize("count", [127, 128, 129, 300])
def test_hosts_with_more_urls_than_lie_in_memory(desk: Desk, count: int) -> None:
    desk.add(*pages(A, count), *pages(B, 3))
    assert sorted(desk.visit_all()) == sorted(pages(A, count) + pages(B, 3))
    assert desk.counts == (0, 0, count + 3, 0, 0)


def test_more_urls_than_lie_in_memory_after_a_restart(desk: Desk) -> None:
    desk.add(*pages(A, 300))
    first = desk.visit_all(limit=100)
    desk.reopen()
    assert first + desk.visit_all() == pages(A, 300)


def test_urls_found_while_more_lie_on_disk_keep_their_order(desk: Desk) -> None:
    desk.add(*pages(A, 300))
    desk.finish_page(desk.claim(), f"{A}/found")
    assert desk.visit_all() == [*pages(A, 300)[1:], f"{A}/found"]


def test_running_is_never_leased_twice(open_desk: OpenDesk) -> None:
    desk = open_desk(replace(SETTINGS, per_host=64, delay=0.0))
    desk.add(*pages(A, 200))
    claims: list[Claim] = []
    for number in range(64):
        claims.append(desk.claim())
        if number % 10 == 0:
            desk.run(desk.frontier.release(Selection()))
    assert len({claim.url for claim in claims}) == 64
    for claim in claims:
        desk.answered(claim)
    desk.commit(*(desk.page(claim) for claim in claims))
    assert desk.visit_all() == pages(A, 200)[64:]


def test_retries_are_due_after_a_restart_too(desk: Desk) -> None:
    desk.add(*pages(A, 2))
    claim = desk.claim()
    desk.answered(claim)
    desk.commit(desk.retry(claim, after=500.0))
    desk.reopen()
    desk.clock.advance(DELAY)
    again = desk.claim()
    assert again.url == f"{A}/1"
    desk.finish_page(again)
    assert desk.wait() == pytest.approx(desk.clock.now() + 500.0 - DELAY)
    desk.clock.advance(500.0)
    assert desk.claim() == claim._replace(attempts=1)


def test_host_times_outlive_a_clean_end(desk: Desk) -> None:
    """Also those that no commit has written, and of what was given up in the middle."""
    desk.add(f"{A}/0", f"{A}/1", f"{B}/0", f"{B}/1")
    desk.answered(desk.claim(), delay=50.0)
    assert desk.claim().url == f"{B}/0"
    started = desk.clock.now()
    desk.reopen()
    assert desk.wait() == started + DELAY
    desk.clock.advance(DELAY)
    assert desk.claim().url == f"{B}/0"
    assert desk.wait() == started + 50.0


# --- unclean ends


def crash(desk: Desk) -> None:
    desk.crash()
    desk.open()


def test_after_an_unclean_end_every_host_waits_one_full_delay(desk: Desk) -> None:
    desk.add(f"{A}/", f"{B}/")
    desk.claim()
    crash(desk)
    assert desk.wait() == desk.clock.now() + DELAY
    desk.clock.advance(DELAY)
    assert desk.visit_all() == [f"{A}/", f"{B}/"]


def test_after_a_clean_end_nobody_waits_for_nothing(desk: Desk) -> None:
    desk.add(f"{A}/", f"{B}/")
    desk.reopen()
    assert desk.claim().url == f"{A}/"


def test_the_full_delay_is_the_hosts_own(open_desk: OpenDesk) -> None:
    """What its robots.txt asks for, and what the setting makes of one that nobody was asked about."""
    desk = open_desk(replace(ROBOTS, delay=None))
    desk.add(f"{A}/", f"{B}/")
    slow, other = desk.claim(), desk.claim()
    desk.commit(desk.robots(slow, b"User-agent: *\nCrawl-delay: 20"), desk.robots(other))
    crash(desk)
    started = desk.clock.now()
    assert desk.wait() == started + 1.0
    desk.clock.advance(1.0)
    assert desk.claim().url == f"{B}/"
    assert desk.wait() == started + 20.0


def test_a_longer_wait_than_the_full_delay_stays(desk: Desk) -> None:
    desk.add(*pages(A, 2))
    claim = desk.claim()
    desk.commit(replace(desk.page(claim), host=desk.answered(claim, delay=300.0)))
    crash(desk)
    assert desk.wait() == desk.clock.now() + 300.0


def test_a_url_that_is_in_flight_at_every_unclean_end_is_held(desk: Desk) -> None:
    desk.add(f"{A}/", f"{B}/")
    for number in range(MAX_CRASHES):
        desk.clock.advance(DELAY)
        assert desk.claim().url == f"{A}/", number
        crash(desk)
    desk.clock.advance(DELAY)
    assert desk.state_of(f"{A}/") == (State.WAITING, True, f"in flight at {MAX_CRASHES} unclean ends")
    assert desk.counts == (1, 0, 0, 0, 1)
    assert desk.visit_all() == [f"{B}/"]
    assert desk.run(desk.frontier.release(named(f"{A}/*"))) == 1
    assert desk.visit_all() == [f"{A}/"]


def test_what_was_committed_is_not_suspected(desk: Desk) -> None:
    for number in range(MAX_CRASHES + 1):
        desk.clock.advance(DELAY)
        desk.add(f"{A}/{number}", f"{A}/waits")
        desk.clock.advance(DELAY)
        claim = desk.claim()
        if claim.url == f"{A}/waits":
            break
        desk.finish_page(claim)
        crash(desk)
    assert desk.counts[4] == 0


def test_a_clean_end_suspects_nobody(desk: Desk) -> None:
    desk.add(f"{A}/")
    for _ in range(MAX_CRASHES + 1):
        desk.clock.advance(DELAY)
        desk.claim()
        desk.reopen()
    assert desk.counts == (1, 0, 0, 0, 0)


# --- another scope


def test_a_wider_scope_admits_what_it_had_held(open_desk: OpenDesk) -> None:
    narrow = replace(SETTINGS, scope="host", max_depth=1)
    desk = open_desk(narrow, f"{A}/")
    desk.add(f"{A}/")
    desk.finish_page(desk.claim(), f"{A}/1", f"{B}/1", Link(f"{A}/no", Via.ANCHOR, nofollow=True))
    desk.clock.advance(DELAY)
    desk.finish_page(desk.claim(), f"{A}/2")
    assert desk.counts == (0, 0, 2, 0, 3)
    desk.reopen(replace(narrow, scope="any", max_depth=2))
    assert desk.counts == (2, 0, 2, 0, 1)
    assert desk.visit_all() == [f"{B}/1", f"{A}/2"]
    assert desk.state_of(f"{A}/no") == (State.WAITING, True, "nofollow")


def test_a_narrower_scope_holds_what_it_had_admitted(open_desk: OpenDesk) -> None:
    desk = open_desk(SETTINGS, f"{A}/")
    desk.add(f"{A}/")
    desk.finish_page(desk.claim(), f"{A}/1", f"{B}/1", f"{A}/x.pdf")
    desk.reopen(replace(SETTINGS, scope="host", exclude=("*.pdf",)))
    assert desk.counts == (1, 0, 1, 0, 2)
    assert desk.visit_all() == [f"{A}/1"]
    assert desk.state_of(f"{B}/1")[1:] == (True, "out of scope: another host")
    assert desk.state_of(f"{A}/x.pdf")[1:] == (True, "excluded by *.pdf")


def test_too_deep_by_a_new_limit_and_found_nearer_later(open_desk: OpenDesk) -> None:
    """The URL was known as admitted: it must be heard of again all the same, also after further restarts."""
    desk = open_desk(SETTINGS, f"{A}/")
    desk.add(f"{A}/")
    desk.finish_page(desk.claim(), f"{A}/1")
    desk.clock.advance(DELAY)
    desk.finish_page(desk.claim(), f"{A}/2")
    desk.add(f"{B}/")
    desk.reopen(replace(SETTINGS, max_depth=1))
    assert desk.state_of(f"{A}/2") == (State.WAITING, True, "deeper than 1")
    crash(desk)
    desk.clock.advance(DELAY)
    desk.finish_page(desk.claim(), f"{A}/2")
    assert desk.visit_all() == [f"{A}/2"]


def test_what_a_wider_scope_admits_of_a_host_put_aside_stays_held(open_desk: OpenDesk) -> None:
    desk = open_desk(replace(SETTINGS, exclude=("*/x*",)), f"{A}/")
    desk.add(f"{A}/", f"{B}/")
    aside = desk.claim()
    desk.finish_page(desk.claim(), f"{A}/x")
    put_aside(desk, aside)
    desk.reopen(SETTINGS)
    assert desk.state_of(f"{A}/x") == (State.WAITING, True, "8 failures in a row: dead")
    assert desk.wait() is None


# --- looking in


def test_heartbeat_commands_and_answers(desk: Desk) -> None:
    assert desk.run(desk.frontier.beat("running", {"pages_per_second": 1.5})) == []


def test_statistics(desk: Desk) -> None:
    desk.add(*pages(A, 2), f"{B}/")
    claim = desk.claim()
    desk.finish_page(claim, body=b"x" * 100)
    now = desk.frontier.statistics()
    assert (now.waiting, now.running, now.finished, now.pages, now.bytes) == (2, 0, 1, 1, 100)
    assert now.hosts == 2


def test_host_knows_what_answers_said(desk: Desk) -> None:
    desk.add(f"{A}/", f"{A}/2")
    claim = desk.claim()
    update = HostUpdate(claim.host_id, desk.clock.now() + 3.0, failures=2, exempt="loopback", delay=3.0)
    desk.frontier.answered(claim, update)
    assert desk.frontier.host(claim.host_id) == Host(
        claim.host_id, A, next_at=update.next_at, failures=2, exempt="loopback", delay=3.0
    )
    desk.commit(replace(desk.page(claim), host=update))
    desk.reopen()
    again = desk.frontier.host(claim.host_id)
    assert (again.next_at, again.failures, again.exempt) == (update.next_at, 2, "loopback")


def test_a_wait_ends_with_news(desk: Desk) -> None:
    assert desk.lease() == Wait(None)
    desk.add(f"{A}/")
    assert desk.claim().url == f"{A}/"


def test_settings_without_a_delay(open_desk: OpenDesk) -> None:
    desk = open_desk(Settings(delay=0.0, ignore_robots=True, scope="any"))
    desk.add(*pages(A, 3))
    for number in range(3):
        claim = desk.claim()
        assert claim.url == f"{A}/{number}"
        desk.finish_page(claim)


def test_candidates_of_guesses_and_other_links_are_no_claims(desk: Desk) -> None:
    other = Candidate("mailto:someone@a.test", Via.ANCHOR, 1, other=True)
    assert desk.run(desk.frontier.add([other])) == 1
    assert desk.wait() is None
    assert desk.counts == (0, 0, 0, 0, 1)
