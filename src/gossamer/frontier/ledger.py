"""The unit of work: everything a group of fetches brought becomes durable together.

The order is the promise (proved by killing the process at every step): the WARC bytes are synced first, then one
transaction writes pages, links, text, new URLs, settlements, host times, totals and segments. A crash may lose what was
not committed, and it is fetched again; it never leaves a row that points at bytes which are not there.

Runs in the writer thread only.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import inf
from operator import attrgetter
from pathlib import Path
from typing import TypeAlias

import apsw

from gossamer.archive import store, warc
from gossamer.archive.database import database_error
from gossamer.archive.segment_writer import SegmentWriter
from gossamer.archive.transaction import transaction
from gossamer.clock import Clock, timestamp
from gossamer.errors import StaleLease
from gossamer.frontier.again import reopen
from gossamer.frontier.counters import Counters
from gossamer.frontier.discovery import Discovery, Found
from gossamer.frontier.following import Following
from gossamer.frontier.forgive import forgive
from gossamer.frontier.hosts import HostTable
from gossamer.frontier.novelty import Novelty
from gossamer.frontier.seen_file import SeenFile
from gossamer.frontier.settling import Settling
from gossamer.records import (
    Batch,
    Candidate,
    Claim,
    Exchange,
    Facts,
    Failure,
    FailureKind,
    Hold,
    Host,
    Lease,
    Outcome,
    Settlement,
    State,
    Via,
)

Room: TypeAlias = Callable[[int], int | None]
"""How many more URLs of a host the schedule keeps in memory; None: it does not know the host."""

_CIRCLE = 100
"""Redirects after which nobody looks whether they go round in a circle; the setting allows no more in a row."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a commit changed for the schedule."""

    claims: tuple[Claim, ...] = ()  # can be leased now
    on_disk: tuple[tuple[int, int], ...] = ()  # hosts with new URLs that stay there, and the first of them
    hosts: tuple[Host, ...] = ()  # of these, where they are news, and of seeds
    retries: tuple[tuple[Claim, float], ...] = ()
    held_hosts: tuple[int, ...] = ()
    parked: tuple[Claim, ...] = ()  # can't be leased any more
    limits: tuple[tuple[int, int | None], ...] = ()  # templates, and how many of each may be under way
    new: int = 0


@dataclass(slots=True)
class _Work:
    """What one transaction gathers."""

    found: Found = field(default_factory=Found)
    retries: list[tuple[Claim, float]] = field(default_factory=list)
    held_hosts: list[int] = field(default_factory=list)


class Ledger:
    """The writing half of the frontier and the archive: one connection, one WARC writer, one thread."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: Path,
        segments: SegmentWriter,
        discovery: Discovery,
        hosts: HostTable,
        counters: Counters,
        clock: Clock,
    ) -> None:
        self._connection = connection
        self._path = path
        self._segments = segments
        self.discovery = discovery
        self._hosts = hosts
        self._counters = counters
        self._clock = clock
        self._following = Following(connection, discovery, clock)
        self._settling = Settling(connection, counters)
        self._novelty = Novelty(connection, discovery, counters)
        self.room: Room = _no_limit
        self.seen_file: SeenFile | None = None
        self.is_sound = True  # False: a write failed, and memory may know of URLs that the disk does not
        self._next_page = 1 + int(connection.execute("SELECT ifnull(max(id), 0) FROM page").get)

    @property
    def totals(self) -> dict[str, int]:
        """The totals as of the last transaction."""
        return self._counters.totals

    def commit(self, batch: Batch) -> Receipt:
        """Archive, sync, then one transaction; outcomes that are known already are left out."""
        self._settling.read(batch.outcomes)
        outcomes = [outcome for outcome in batch.outcomes if self._settling.is_new(outcome)]
        stored = self._archive(outcomes)
        segments = self._segments.sync()
        work = _Work()
        with self.transaction(batch.lease):
            for segment in segments:
                store.save_segment(self._connection, segment)
            for outcome, place in zip(outcomes, stored, strict=True):
                self._record(outcome, place, work)
            store.insert_contents(self._connection, _pages(outcomes, stored))
            self._settling.write()
            self._hosts.write()
            self._following.follow(outcomes, stored, work.found)
            self._novelty.judge(outcomes, stored, work.found)
        return self._receipt(work)

    def portions(self, outcome: Outcome) -> list[Facts]:
        """Where a page has too many links for its commit: the portions in which `follow` takes them ahead of it."""
        return self._following.portions(outcome)

    def follow(self, outcome: Outcome, portion: Facts, lease: Lease) -> Receipt:
        """Make links of a page known that is not committed yet."""
        work = _Work()
        with self.transaction(lease):
            self._following.follow_ahead(outcome, portion, self._next_page, work.found)
        return self._receipt(work)

    def forgive(self, tries: Sequence[Claim], lease: Lease) -> list[Host]:
        """Tries that do not count after all; their hosts, as they are now."""
        with self.transaction(lease):
            hosts = forgive(self._connection, self._counters, tries)
        self._hosts.take_back()
        return self._hosts.load_all(sorted(hosts))

    def add(self, candidates: Sequence[Candidate], lease: Lease) -> Receipt:
        """Record URLs that come from outside a page: seeds and what a person adds."""
        work = _Work()
        with self.transaction(lease):
            self.discovery.add(candidates, work.found, self._clock.now())
            seeds = [self._own_seed(candidate) for candidate in candidates if candidate.via is Via.SEED]
        return self._receipt(work, seeds)

    @contextmanager
    def transaction(self, lease: Lease) -> Iterator[None]:
        """One transaction under a lease that still counts; SQLite's errors become ours, and end the work."""
        try:
            with transaction(self._connection):
                self._check_epoch(lease)
                yield
                self.discovery.gate.templates.flush()
                self._counters.flush()
        except apsw.Error as error:
            self.is_sound = False
            raise database_error(self._path, error) from error
        self.discovery.flush()
        self._counters.refresh()
        if self.seen_file is not None:
            self.seen_file.save_grown(self.discovery.seen)

    def _check_epoch(self, lease: Lease) -> None:
        epoch = self._connection.execute("SELECT epoch FROM lease WHERE first_shard = ?", (lease.first_shard,)).get
        if epoch != lease.epoch:
            raise StaleLease(
                f"the collection {self._path.parent} was taken over by another process", hint="let that one work"
            )

    # --- the archive

    def _archive(self, outcomes: Sequence[Outcome]) -> list[store.Stored | None]:
        digests = [_content_digest(each) for each in outcomes]
        # Looked up one after the other, they cost a sixth of what they would between the bodies.
        originals = [
            store.original_of(self._connection, digest, outcome.claim.url_id) if digest is not None else None
            for outcome, digest in zip(outcomes, digests, strict=True)
        ]
        firsts: dict[bytes, store.Original] = {}  # of this group: they have no rows yet
        page_id = self._next_page
        stored: list[store.Stored | None] = []
        for outcome, digest, original in zip(outcomes, digests, originals, strict=True):
            exchange = outcome.exchange
            if exchange is None:
                stored.append(None)
                continue
            first = firsts.get(digest or b"")
            if first is not None and first.url != exchange.url:  # a URL is no duplicate of itself
                original = first
            place = self._append(outcome, exchange, page_id, digest, original)
            if digest is not None and original is None:
                firsts.setdefault(
                    digest, store.Original(page_id, exchange.url, exchange.started_at, place.payload_digest)
                )
            stored.append(place)
            page_id += not outcome.claim.is_robots
        return stored

    def _append(
        self,
        outcome: Outcome,
        exchange: Exchange,
        page_id: int,
        digest: bytes | None,
        original: store.Original | None,
    ) -> store.Stored:
        payload = sha256(exchange.body).digest()
        place = self._segments.append(
            exchange,
            content_type=outcome.facts.content_type if outcome.facts else "",
            payload_digest=payload,
            original=_reference(original) if original else None,
        )
        page_id *= not outcome.claim.is_robots
        return store.Stored(place, page_id, payload, digest, original.page_id if original else None)

    # --- rows

    def _record(self, outcome: Outcome, stored: store.Stored | None, work: _Work) -> None:
        claim, exchange = outcome.claim, outcome.exchange
        if outcome.candidates:
            self._settling.write()
            self.discovery.add(outcome.candidates, work.found, self._clock.now())
        if claim.is_robots:
            if stored is not None and exchange is not None:
                store.insert_record(self._connection, stored.place, exchange.url, "robots")
        else:
            if stored is not None and exchange is not None:
                self._insert_page(outcome, exchange, stored)
            settlement = self._settlement(outcome, work)
            if settlement is not outcome.settlement:
                outcome = replace(outcome, settlement=settlement)
            retry = self._settling.settle(outcome, self._clock.now(), has_page=stored is not None)
            if retry is not None:
                work.retries.append(retry)
        if outcome.host is not None:
            self._hosts.update(outcome.host, self._clock.now())
            if outcome.host.robots is not None:
                store.save_robots(self._connection, outcome.host.host_id, outcome.host.robots)
            if outcome.host.put_aside:
                self.hold(outcome.host.host_id, outcome.host.put_aside)
                work.held_hosts.append(outcome.host.host_id)

    def _settlement(self, outcome: Outcome, work: _Work) -> Settlement:
        """What becomes of a URL, with what only the tables know: where a redirect leads, and a host put aside while
        the answer was on its way here."""
        claim, settlement = outcome.claim, outcome.settlement
        aside = self._hosts.put_aside(claim.host_id)
        if aside and settlement.state is State.WAITING and not settlement.held:
            return replace(settlement, held=Hold.PARKED, reason=aside)
        target = self._redirect_of(outcome)
        if target is not None and self._ask_again(outcome, target, work):
            return settlement
        if target is not None and store.leads_back(self._connection, target, claim.url_id, _CIRCLE):
            failure = Failure(FailureKind.REDIRECT_LOOP, "it leads back to itself", self._clock.now())
            return Settlement(State.FAILED, str(failure), failure=failure)
        return settlement

    def _ask_again(self, outcome: Outcome, target: int, work: _Work) -> bool:
        """Whether a redirect leads back to where it came from by way of a cookie: then that is asked once more."""
        claim = outcome.claim
        is_again = any(candidate.again for candidate in outcome.candidates)
        if not is_again or not store.leads_back(self._connection, target, claim.url_id, _CIRCLE):
            return False
        self._settling.write()
        reopened = reopen(self._connection, self._counters, target, claim.hops + 1)
        if reopened is not None:
            work.found.claims.append(reopened)
        return reopened is not None

    def _redirect_of(self, outcome: Outcome) -> int | None:
        """The URL that a redirect leads to."""
        url = next((each.url for each in outcome.candidates if each.hops > outcome.claim.hops), None)
        return self.discovery.id_of(url) if url else None

    def _insert_page(self, outcome: Outcome, exchange: Exchange, stored: store.Stored) -> None:
        store.insert_page(self._connection, outcome, stored, self._redirect_of(outcome))
        self._next_page = stored.page_id + 1
        self._counters.change("bytes", len(exchange.body))
        self._counters.change("pages", store.is_kept(outcome))
        self._counters.change("empty", store.is_empty(outcome))

    def hold(self, host_id: int, reason: str) -> int:
        """Hold every waiting URL of a host."""
        return self._settling.hold(host_id, reason)

    def _own_seed(self, candidate: Candidate) -> int:
        """A seed's own origin may have a private address, of the class it first has; its id."""
        host_id, _ = self._hosts.place_of(candidate.url)
        self._hosts.exempt(host_id)
        return host_id

    def _receipt(self, work: _Work, seeds: Iterable[int] = ()) -> Receipt:
        hosts = set(seeds)
        claims, on_disk = self._with_room(work.found, hosts)
        return Receipt(
            claims=claims,
            on_disk=on_disk,
            hosts=tuple(self._hosts.load_all(sorted(hosts))),
            retries=tuple(work.retries),
            held_hosts=tuple(work.held_hosts),
            parked=tuple(work.found.parked),
            limits=self.discovery.gate.templates.take_limits(),
            new=work.found.new,
        )

    def _with_room(self, found: Found, news: set[int]) -> tuple[tuple[Claim, ...], tuple[tuple[int, int], ...]]:
        """What the schedule can keep in memory, and the hosts, with the first URL of each, of which it can't keep all.

        ``news``: takes the hosts that the schedule does not know.
        """
        claims = list(found.claims)
        news.update(claim.host_id for claim in claims if self.room(claim.host_id) is None)
        room: dict[int, float] = {}
        on_disk: dict[int, int] = {}
        for new in found.let_in:
            left = room.get(new.host_id)
            if left is None:
                known = self.room(new.host_id)
                if known is None:
                    news.add(new.host_id)
                left = inf if known is None else known
            if left > 0:
                claims.append(new.claim)
            else:
                on_disk.setdefault(new.host_id, new.url_id)
            room[new.host_id] = left - 1
        return tuple(sorted(claims, key=_by_id)), tuple(on_disk.items())


_by_id = attrgetter("url_id")


def _no_limit(_: int) -> int | None:
    return None


def _pages(outcomes: Iterable[Outcome], stored: Iterable[store.Stored | None]) -> Iterator[tuple[int, Outcome]]:
    """The outcomes that have a row of a page, each after its id."""
    for outcome, place in zip(outcomes, stored, strict=True):
        if place is not None and place.page_id:
            yield place.page_id, outcome


def _content_digest(outcome: Outcome) -> bytes | None:
    """By which duplicates are known; None for what is no content."""
    if outcome.exchange is None or outcome.claim.is_robots or not store.is_kept(outcome):
        return None
    return outcome.facts.digest if outcome.facts else sha256(outcome.exchange.body).digest()


def _reference(original: store.Original) -> warc.Original:
    return warc.Original(
        target_uri=original.url,
        date=timestamp(original.fetched),
        payload_digest=warc.digest_label(original.payload_digest),
    )
