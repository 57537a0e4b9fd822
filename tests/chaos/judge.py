"""What the server's log and the files say of a ride: every violation, each as one line."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

from chaos.draw import Blow
from chaos.ride import MAX_DESCRIPTORS, MAX_MEMORY, Ride, Run
from chaos.web import trap_of
from durability.crawling import run
from fakeweb import GeneratedSite, Visit
from oracle import check_archive, check_politeness, check_visits

MAX_TRAPPED = 60
"""Requests that one endless site may get: the budget of a template, and what was under way when it was found out."""

SMALL = 25
"""Pages of a host that, with some of them forbidden or failing, may have too little to say for its trap to be told from
what else it has (docs/traps.md):"""

MAX_TRAPPED_ON_SMALL = MAX_TRAPPED + 2 * 200
"""It gets two lines of pages more, one in each direction."""

ROBOTS = "/robots.txt"
BROKEN_BODIES = frozenset({"cut gzip", "no gzip", "huge head"})

_SUMMARY = re.compile(r"^(\d+) pages, .* Waiting (\d+), held (\d+), failed (\d+)\.", re.MULTILINE)
_DONE = (0, 3)  # the latter: no seed could be fetched
_BY_INTERRUPT = -2  # which a shell shows as 130, too
_KILLED = 137
_NOT_SAID = 120  # Python's own, where it can't write what it has still to write
_CODES: dict[Blow, tuple[int, ...]] = {
    Blow.KILL: (*_DONE, -9),
    Blow.KILL_AT_CALL: (*_DONE, -9, _KILLED),
    Blow.DISK: (*_DONE, 4),
    Blow.INTERRUPT: (*_DONE, 130),
    Blow.INTERRUPT_TWICE: (*_DONE, 130, -2),  # the second may come when all is said: Python ends by the signal then
    Blow.TERMINATE: (*_DONE, 130),
    Blow.NO_ROOM: (*_DONE, 130),
}
_BEFORE_IT_LISTENS = {_BY_INTERRUPT, -15}
"""Signals that came while Python itself was still starting: nobody could handle them."""


def judge(ride: Ride) -> list[str]:
    """The violations."""
    found = [*ride.found, *_check_runs(ride), *_check_limits(ride)]
    found += _check_visits(ride)
    found += check_politeness(ride.visits, ride.plan.delay, per_host=ride.plan.per_host, kills=ride.ends)
    found += _check_crawl_delays(ride)
    found += _check_files(ride)
    return found


# --- the runs


def _check_runs(ride: Ride) -> Iterator[str]:
    for number, each in enumerate(ride.runs, 1):
        where = f"run {number} ({each.disturbance.blow if each.disturbance else 'undisturbed'})"
        codes = _codes(ride, each)
        if each.code not in codes:
            yield f"exit code: {where} ended with {each.code}, not {' or '.join(map(str, codes))}: {each.err[-1500:]}"
        if "Traceback" in each.err and not _was_importing(each):
            yield f"traceback: {where}: {each.err[-1500:]}"
        complaints = [line for line in each.err.splitlines() if line.startswith("Error: ")]
        is_mute = each.code in (_BY_INTERRUPT, _KILLED, _NOT_SAID)
        if not is_mute and len(complaints) != (each.code > 0):
            yield f"message: {where} ended with {each.code} and said: {complaints}"
        if each.left_behind:
            yield f"left behind: {where}: {each.left_behind}"


def _codes(ride: Ride, each: Run) -> tuple[int, ...]:
    if each.disturbance is None:
        return (0,) if each is ride.runs[-1] or ride.plan.is_patient else _DONE
    codes = _CODES.get(each.disturbance.blow, _DONE)
    if each.disturbance.blow is Blow.RIVAL:  # either of the two may have had the folder first
        codes = (*codes, 4)
    if each.disturbance.call == "write" and not each.err:  # it was the one that was to say what happened
        return (*codes, _NOT_SAID)
    was_starting = not any(each.began <= visit.at <= each.ended for visit in ride.visits)
    return (*codes, *_BEFORE_IT_LISTENS) if 130 in codes and was_starting else codes


def _was_importing(each: Run) -> bool:
    """Ctrl-C in the first tenth of a second: nothing of ours runs yet, and Python says so in its own way."""
    return each.code == _BY_INTERRUPT and "importlib" in each.err and each.err.rstrip().endswith("KeyboardInterrupt")


def _check_limits(ride: Ride) -> Iterator[str]:
    if ride.memory > MAX_MEMORY:
        yield f"memory: {ride.memory} bytes"
    if ride.descriptors > MAX_DESCRIPTORS:
        yield f"descriptors: {ride.descriptors}"


# --- the server's log


def _check_visits(ride: Ride) -> list[str]:
    web, plan = ride.world.web, ride.plan
    rules = {web.origin(site).partition("://")[2]: site.rules for site in ride.world.sites}
    trapped = [visit for visit in ride.visits if _is_trapped(ride, visit.url)]
    tries = plan.tries * (1 + len(ride.retries))
    found = check_visits(
        [
            _as_answered(ride, visit)
            for visit in ride.visits
            if visit.at > ride.forgotten and not _is_trapped(ride, visit.url)
        ],
        asked={web.url(path, site) for site in ride.world.sites for path in _may_be_asked(ride, site)},
        robots=rules,
        tries=tries,
        robots_tries=tries,
        kills=ride.ends,
    )
    whole = {visit.url for visit in ride.visits if (visit.status, visit.outcome) == (200, "whole")}
    found += [f"missing: {url} was never fetched" for url in sorted(_pages(ride) - whole) if not plan.limit]
    most = sum(MAX_TRAPPED if host.pages > SMALL else MAX_TRAPPED_ON_SMALL for host in plan.hosts if host.trap)
    return found + ([f"trap: {len(trapped)} requests"] if len(trapped) > most else [])


def _as_answered(ride: Ride, visit: Visit) -> Visit:
    """The server's log does not know that a body was broken, nor that an answer was still on its way when its host went
    down; and what had failed for good is taken up again."""
    site = next(site for site in ride.world.sites if visit.url.startswith(ride.world.web.origin(site) + "/"))
    kind = next((f.kind for f in ride.plan.faults if ride.world.sites[f.host] is site and f.path == visit.path), "")
    times = sum(other.url == visit.url and other.number < visit.number for other in ride.visits)
    is_ill = kind in BROKEN_BODIES and times < _times(ride, site, visit.path) and visit.at < ride.healed
    is_taken_up = 400 <= visit.status < 500 and any(visit.at < again for again in ride.retries)
    is_lost = any(
        fallen is site and visit.at <= at + 0.1 <= (visit.ended or at) + 0.3 for fallen, at in ride.world.falls
    )
    return replace(visit, outcome="broken") if is_ill or is_taken_up or is_lost else visit


def _times(ride: Ride, site: GeneratedSite, path: str) -> int:
    return next((f.times for f in ride.plan.faults if ride.world.sites[f.host] is site and f.path == path), 0)


def _may_be_asked(ride: Ride, site: GeneratedSite) -> frozenset[str]:
    return site.asked | site.requisites if "--requisites" in ride.plan.options else site.asked


def _pages(ride: Ride) -> set[str]:
    return {ride.world.web.url(path, site) for site in ride.world.sites for path in site.reachable}


def _is_trapped(ride: Ride, url: str) -> bool:
    return any(
        host.trap and url.startswith(ride.world.web.origin(site) + trap_of(host))
        for host, site in zip(ride.plan.hosts, ride.world.sites, strict=True)
    )


def _check_crawl_delays(ride: Ride) -> Iterator[str]:
    """It holds from the first robots.txt that came whole."""
    for host, site in zip(ride.plan.hosts, ride.world.sites, strict=True):
        if not host.crawl_delay:
            continue
        own = [visit for visit in ride.visits if visit.url.startswith(ride.world.web.origin(site) + "/")]
        known = [visit.at for visit in own if (visit.path, visit.status, visit.outcome) == (ROBOTS, 200, "whole")]
        later = [visit for visit in own if known and visit.at >= known[-1]]
        pause = max(host.crawl_delay, ride.plan.delay)
        yield from check_politeness(later, pause, per_host=ride.plan.per_host, kills=ride.ends)


# --- the files


def _check_files(ride: Ride) -> Iterator[str]:
    if not (ride.folder / "crawl.db").exists():
        yield "files: there is no collection"
        return
    plan = ride.plan
    is_exact = not plan.limit and not any(host.trap for host in plan.hosts)
    yield from check_archive(ride.folder, pages=_pages(ride) if is_exact else None, is_finished=not plan.limit)
    with closing(sqlite3.connect(ride.folder / "crawl.db")) as database:
        yield from _check_kept(ride, database)
        yield from _check_summary(ride.runs[-1], database)
    verified = run("verify", ride.folder)
    if (verified.code, verified.err) != (0, ""):
        yield f"verify: {verified.code}: {verified.out[-1500:]}{verified.err[-1500:]}"


def _check_kept(ride: Ride, database: sqlite3.Connection) -> Iterator[str]:
    kept = {
        url for (url,) in database.execute("SELECT u.url FROM page p JOIN url u ON u.id = p.url WHERE p.is_kept = 1")
    }
    done = {url for (url,) in database.execute("SELECT url FROM url WHERE state = 2")}
    pages = _pages(ride)
    if ride.plan.limit:
        whole = {visit.url for visit in ride.visits if visit.status == 200 and visit.outcome == "whole"}
        if len(kept) > ride.plan.limit:
            yield f"limit: {len(kept)} pages were kept, not {ride.plan.limit}"
        if len(kept) < ride.plan.limit and not pages <= kept:
            yield f"limit: {len(kept)} pages were kept, neither {ride.plan.limit} nor all {len(pages)}"
        yield from (f"pages: {url} was kept but never fetched" for url in sorted(kept - whole))
        return
    yield from (f"lost: {url} is not kept" for url in sorted(pages - kept))
    yield from (f"lost: {url} is not finished" for url in sorted(pages - done))


def _check_summary(last: Run, database: sqlite3.Connection) -> Iterator[str]:
    """What a person is told is what there is."""
    match = _SUMMARY.search(last.err)
    if match is None:
        yield f"summary: there is none: {last.err[-500:]}"
        return
    queries = (
        "SELECT count(*) FROM page WHERE is_kept = 1",
        "SELECT count(*) FROM url WHERE state = 0 AND held = 0",
        "SELECT count(*) FROM url WHERE state = 0 AND held != 0",
        "SELECT count(*) FROM url WHERE state = 3",
    )
    counts = tuple(database.execute(query).fetchone()[0] for query in queries)
    if tuple(map(int, match.groups())) != counts:
        yield f"summary: {match[0]!r}, but there are {counts}"


def requests(visits: list[Visit]) -> Iterator[str]:
    """The log, for a person to read."""
    start = visits[0].at if visits else 0.0
    for visit in visits:
        took = "…" if visit.ended is None else f"{visit.ended - visit.at:.3f}"
        yield f"{visit.at - start:9.4f} {took:>7} {visit.connection:4} {visit.status:3} {visit.outcome:6} {visit.url}"
