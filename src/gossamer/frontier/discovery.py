"""The URL-seen test and what follows it: an unknown URL is judged and becomes a row of the URL table.

Two levels: the set of fingerprints in memory, asked for whole groups of pages at once; behind it the fingerprint index
of the database, asked only for what the set does not know. A URL that was held only because of how it was found (too
deep, nofollow, a requisite, on a duplicate page) is not put into the set by its strong key: when it is found again in a
better way, the database is asked, and the URL is judged anew.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import NamedTuple

import apsw
import numpy as np

from gossamer import url as urls
from gossamer.archive.database import select
from gossamer.archive.requests import RELEASED
from gossamer.frontier.counters import Counters
from gossamer.frontier.gate import ADMITTED, TRUSTED, Admission, Gate
from gossamer.frontier.hosts import HostTable
from gossamer.frontier.portions import keys_of
from gossamer.frontier.rows import NewRows, signed
from gossamer.frontier.seen import AS_FOUND, Fingerprints, SeenSet
from gossamer.parse.links import unpack, unpack_some
from gossamer.policy.robots import REFUSED_BY_ROBOTS
from gossamer.policy.scope import REASONS, Scope
from gossamer.policy.traps import TrapRules
from gossamer.records import Candidate, Claim, Decision, Facts, Hold, State, Verdict, Via
from gossamer.settings import Settings

_DEEPEST_NEED = 8

_FEW = 16
"""URLs below which asking the set takes longer than asking the database."""

_DEFAULT_RULES = TrapRules.of(Settings())


class Born(NamedTuple):
    """A URL that the scope admits, as it was first found on a page. A tuple: nearly every new URL makes one."""

    url_id: int
    url: str
    host_id: int
    template: int | None
    held: bool


class LetIn(NamedTuple):
    """A new URL that can be leased. Few become claims at once: of most hosts enough is in memory already."""

    url_id: int
    host_id: int
    candidate: Candidate
    template: int | None

    @property
    def claim(self) -> Claim:
        """What it is leased as."""
        return _claim(self.url_id, self.host_id, self.candidate, self.template)


@dataclass(slots=True)
class Found:
    """What a transaction discovered."""

    claims: list[Claim] = field(default_factory=list)  # can be leased now
    let_in: list[LetIn] = field(default_factory=list)  # the same, but of new URLs: in the order of their ids
    new: int = 0
    pictured: set[int] = field(default_factory=set)  # pages that brought pictures
    plain: set[int] = field(default_factory=set)  # pages that brought URLs that are no part of a template
    born: dict[int, list[Born]] = field(default_factory=dict)  # by the page that they were found on
    parked: list[Claim] = field(default_factory=list)  # can't be leased any more
    touched: set[int] = field(default_factory=set)  # URLs that were let in, parked or let go on after they were found

    def learn(self, url_id: int, earlier: "Found") -> None:
        """Take over what an earlier transaction found on a page: one URL of each template, for they are let in already."""
        self.pictured |= earlier.pictured & {url_id}
        self.plain |= earlier.plain & {url_id}
        kinds = {born.template: born._replace(held=True) for born in earlier.born.get(url_id, ())}
        self.born.setdefault(url_id, []).extend(kinds.values())


class Discovery:
    """Takes candidates, keeps the unknown ones; runs in the writer thread, inside the caller's transaction."""

    def __init__(
        self,
        connection: apsw.Connection,
        seen: SeenSet,
        hosts: HostTable,
        counters: Counters,
        secret: bytes,
        scope: Scope,
        rules: TrapRules = _DEFAULT_RULES,
    ) -> None:
        self._connection = connection
        self.seen = seen
        self._hosts = hosts
        self._counters = counters
        self._secret = secret
        self._rows = NewRows(connection)
        self._fresh: set[int] = set()  # keys of this transaction, put into the set together at its end
        self.scope = scope
        self.gate = Gate(connection, rules, self.id_of, secret)

    def from_pages(self, pages: Sequence[tuple[Claim, Facts]]) -> list[list[Candidate]]:
        """The candidates among the links of some pages: those whose key the set does not hold, page by page."""
        keys = [keys_of(facts) for _, facts in pages]
        if not keys:
            return []
        unknown = ~self.seen.contains(np.concatenate(keys))
        candidates = []
        start = 0
        for (claim, facts), part in zip(pages, keys, strict=True):
            wanted = np.flatnonzero(unknown[start : start + len(part)])
            start += len(part)
            candidates.append(_candidates(claim, facts, part, wanted.tolist()) if len(wanted) else [])
        return candidates

    def add(self, candidates: Sequence[Candidate], found: Found, now: float, *, parked: str = "") -> None:
        """Judge and insert what is unknown. ``parked``: why new ones are held, whatever the scope says."""
        keys = [candidate.fingerprint or self.fingerprint(candidate.url) for candidate in candidates]
        are_known = self._may_have_rows(keys)
        for candidate, key, is_known in zip(candidates, keys, are_known, strict=True):
            self._add_one(candidate, key, is_known, found, now, parked)
        self._rows.write()

    def _may_have_rows(self, keys: Sequence[int]) -> Iterable[bool]:
        """For each strong key whether a URL may have a row: not where the set knows it in neither way. Of a few the
        database is asked in less time."""
        if len(keys) < _FEW:
            return repeat(True, len(keys))
        wanted: Fingerprints = np.array(keys, dtype=np.uint64)
        are_known: list[bool] = (self.seen.contains(wanted) | self.seen.contains(wanted ^ np.uint64(AS_FOUND))).tolist()
        return are_known

    def _add_one(
        self, candidate: Candidate, strong_key: int, is_known: bool, found: Found, now: float, parked: str
    ) -> None:
        weak = candidate.nofollow or candidate.via is Via.REQUISITE
        key = _weaken(strong_key) if weak else strong_key
        if key in self._fresh:
            return
        if candidate.other and candidate.url[:11].lower().startswith(_NO_ADDRESSES):
            self._fresh.add(key)
            return
        is_known = is_known or strong_key in self._fresh or strong_key ^ AS_FOUND in self._fresh
        row = self._rows.find(strong_key) if is_known else None
        if candidate.guessed and (row is not None or not self.scope.may_guess(candidate.url)):
            return
        verdict = self._judge(candidate, parked)
        final = verdict.decision is Decision.ADMIT or not self._depends_on_how_found(candidate)
        if row is None:
            self._insert(candidate, strong_key, verdict, final, found, now)
        elif _is_better_found(candidate, row[1], row[2]) and verdict.decision is Decision.ADMIT:
            self._admit(row[0], candidate, verdict, found)
        else:
            final = row[1] != Hold.AS_FOUND
            if candidate.via is Via.SEED:
                self._note_seed(row[0])
                self._name(row[0])
        self._fresh.add(strong_key if final else strong_key ^ AS_FOUND)
        if weak:
            self._fresh.add(key)

    def _judge(self, candidate: Candidate, parked: str) -> Verdict:
        verdict = self.scope.judge(candidate)
        if parked and verdict.decision is Decision.ADMIT:
            return replace(verdict, decision=Decision.HOLD, reason=parked)
        return verdict

    def _depends_on_how_found(self, candidate: Candidate) -> bool:
        """Whether the same URL would be admitted as an ordinary link next to the seeds."""
        plain = replace(candidate, via=Via.ANCHOR, depth=1, nofollow=False)
        return self.scope.judge(plain).decision is Decision.ADMIT

    def _insert(self, candidate: Candidate, key: int, verdict: Verdict, final: bool, found: Found, now: float) -> None:
        host_id, shard = (None, 0) if candidate.other else self._hosts.place_of(candidate.url)
        reason, held = verdict.reason, _hold(verdict, final=final)
        admission, admitted_to = ADMITTED, None
        if host_id is not None and not held:
            admission, admitted_to = self._ask(candidate, host_id), host_id
            reason, held = admission.reason, admission.held
        if host_id is not None and not held and candidate.via is Via.SITEMAP:
            reason, held = self._hosts.count_sitemap(host_id)
        url_id = self._rows.add(key, candidate, (host_id, shard), held, reason, verdict, admission.template, now)
        found.new += 1
        self._counters.change("held" if held else "waiting", 1)
        self._note(candidate, url_id, admitted_to, admission, found)
        if host_id is not None and not held:
            self.gate.let_in(host_id)
            found.let_in.append(LetIn(url_id, host_id, candidate, admission.template))
            if candidate.depth == 0:  # what a seed redirects to is as good as a seed
                self.scope = self.scope.with_seeds((candidate.url,))

    def _admit(self, url_id: int, candidate: Candidate, verdict: Verdict, found: Found) -> None:
        """A URL that was held because of how it was found was found in a better way."""
        host_id, _ = self._hosts.place_of(candidate.url)
        admission = self._ask(candidate, host_id)
        held = admission.held
        self._connection.execute(
            "UPDATE url SET held = ?, reason = ?, kind = ?, via = ?, parent = ?, depth = ?, hops = ?, nofollow = 0,"
            " template = ? WHERE id = ?",
            (
                held,
                admission.reason,
                verdict.kind,
                candidate.via,
                candidate.parent,
                candidate.depth,
                candidate.hops,
                admission.template,
                url_id,
            ),
        )
        self._note(candidate, url_id, host_id, admission, found)
        if not held:
            self.gate.let_in(host_id)
            self._counters.change("held", -1)
            self._counters.change("waiting", 1)
            found.claims.append(_claim(url_id, host_id, candidate, admission.template))

    def _ask(self, candidate: Candidate, host_id: int) -> Admission:
        """Whether a URL that the scope admits may be fetched: it may be part of a trap, or its host put aside."""
        admission = self.gate.ask(candidate, host_id, self.scope)
        aside = self._hosts.put_aside(host_id)
        return admission._replace(held=Hold.PARKED, reason=aside) if aside and not admission.held else admission

    def _note(self, candidate: Candidate, url_id: int, host_id: int | None, admission: Admission, found: Found) -> None:
        """Keep what a new URL says of the page it was found on, and of URLs like it. ``host_id``: where it is in scope."""
        parent = candidate.parent
        if parent is not None and candidate.via is Via.REQUISITE and "?" not in candidate.url:
            found.pictured.add(parent)
        elif parent is not None and host_id is not None and candidate.via not in TRUSTED:
            if admission.is_plain and not admission.held:
                found.plain.add(parent)
            born = Born(url_id, candidate.url, host_id, admission.template, bool(admission.held))
            found.born.setdefault(parent, []).append(born)
        if admission.stands_for:
            self.gate.remember(admission.stands_for, url_id)

    def _name(self, url_id: int) -> None:
        """A URL that waits was named by a person: what it leads to is one link away from the start."""
        self._connection.execute(
            "UPDATE url SET via = ?, parent = NULL, depth = 0, hops = 0, nofollow = 0 WHERE id = ? AND state = ?",
            (Via.SEED, url_id, State.WAITING),
        )

    def _note_seed(self, url_id: int) -> None:
        """A person names a URL that is known and needs no visit: it still is where later crawls start from."""
        self._connection.execute(
            "UPDATE url SET depth = 0 WHERE id = ? AND held = 0 AND state != ?", (url_id, State.FAILED)
        )

    def rejudge(self, *, ignore_robots: bool) -> None:
        """Judge anew what the scope has held or admitted, after it changed; and what robots.txt refused, where that is
        ignored now. What a person released stays so, unless there is another reason against it than there was.

        The set of seen URLs must be built anew then: what is held from now on because of how it was found has a strong
        key there, and would not be heard of when it is found in a better way.
        """
        liftable = (*REASONS, REFUSED_BY_ROBOTS) if ignore_robots else REASONS
        query = (
            "SELECT id, url, via, depth, hops, parent, nofollow, held, reason, host FROM url"
            " WHERE state = 0 AND host IS NOT NULL"
        )
        for url_id, url, via, depth, hops, parent, nofollow, held, reason, host_id in select(self._connection, query):
            if held and not reason.startswith(liftable):
                continue
            candidate = Candidate(url, Via(via), depth, parent, hops, nofollow=bool(nofollow))
            verdict = self.scope.judge(candidate)
            if not held and (verdict.decision is Decision.ADMIT or reason == f"{RELEASED}{verdict.reason}"):
                continue
            if verdict.decision is Decision.ADMIT:
                admission = self._ask(candidate, host_id)
            else:
                how = _hold(verdict, final=not self._depends_on_how_found(candidate))
                admission = Admission(how, verdict.reason)
            why, how = admission.reason, admission.held
            if (why, how) == (reason, held):
                continue
            self._connection.execute(
                "UPDATE url SET held = ?, reason = ?, kind = ?, template = ? WHERE id = ?",
                (how, why, verdict.kind, admission.template, url_id),
            )
            self._counters.change("held", bool(how) - bool(held))
            self._counters.change("waiting", bool(held) - bool(how))

    def note_lastmod(self, facts: Facts) -> None:
        """Keep when URLs last changed, as the sitemap or feed that names them says: of known ones and of new ones."""
        keys = np.frombuffer(facts.fingerprints, dtype="<u8").tolist()
        self._connection.executemany(
            "UPDATE url SET lastmod = ? WHERE url.id >> 17 IN block AND fingerprint = ?",
            [
                (link.lastmod, signed(key))
                for link, key in zip(unpack(facts.links), keys, strict=True)
                if link.lastmod is not None
            ],
        )

    def id_of(self, url: str) -> int | None:
        """The row of a known URL."""
        key = self.fingerprint(url)
        is_known = self.seen.holds(key) or self.seen.holds(key ^ AS_FOUND)
        return self._rows.id_of(key) if is_known or key in self._fresh or key ^ AS_FOUND in self._fresh else None

    def fingerprint(self, url: str) -> int:
        """The strong key of a URL."""
        return int.from_bytes(urls.fingerprint(url, self._secret), "little")

    def flush(self) -> None:
        """Let the set know what the transaction found, as its last step."""
        if self._fresh:
            self.seen.add(np.fromiter(self._fresh, dtype=np.uint64, count=len(self._fresh)))
            self._fresh.clear()


def _candidates(
    claim: Claim, facts: Facts, keys: "np.ndarray[tuple[int], np.dtype[np.uint64]]", wanted: list[int]
) -> list[Candidate]:
    found = []
    for at, link in zip(wanted, unpack_some(facts.links, wanted), strict=True):
        weak = link.nofollow or facts.nofollow or link.via is Via.REQUISITE
        key = int(keys[at])
        found.append(
            Candidate(
                url=link.url,
                via=_as_needed(claim, link.via),
                # a page of a sitemap is one link away from the start, however deep in indexes the sitemap lies
                depth=1 if claim.via is Via.SITEMAP and link.via is Via.LISTED else claim.depth + 1,
                parent=claim.url_id,
                fingerprint=_weaken(key) if weak else key,
                nofollow=link.nofollow or facts.nofollow,
                other=link.other,
            )
        )
    return found


def _as_needed(claim: Claim, via: Via) -> Via:
    """What is needed for reading offline needs other files in its turn, as style sheets do; not without end."""
    is_needed = claim.via is Via.NEEDED and via is Via.REQUISITE and claim.depth <= _DEEPEST_NEED
    return Via.NEEDED if is_needed else via


_NAMED = (Via.SEED, Via.NEEDED)


def _is_better_found(candidate: Candidate, held: int, state: int) -> bool:
    """A held URL is judged anew when a person names it, or when only the way it was found had held it."""
    return state == State.WAITING and (held == Hold.AS_FOUND or (held != Hold.NO and candidate.via in _NAMED))


def _hold(verdict: Verdict, *, final: bool) -> Hold:
    """How a URL is kept that got a verdict. ``final``: however it is found, the scope says the same."""
    if verdict.decision is Decision.ADMIT:
        return Hold.NO
    if not final:
        return Hold.AS_FOUND
    return Hold.REFUSED if verdict.decision is Decision.REFUSE else Hold.PARKED


def _claim(url_id: int, host_id: int, candidate: Candidate, template: int | None) -> Claim:
    return Claim(
        url_id=url_id,
        url=candidate.url,
        host_id=host_id,
        origin=sys.intern(str(urls.origin(candidate.url))),  # all claims of a host share it, with the host
        depth=candidate.depth,
        hops=candidate.hops,
        via=candidate.via,
        parent=candidate.parent,
        template=template or 0,
    )


_NO_ADDRESSES = ("javascript:", "data:", "blob:", "about:")
"""Code and content that stand where a link could: they stay with the links of their page, and get no row as a URL."""


def _weaken(key: int) -> int:
    return int.from_bytes(urls.weaken(key.to_bytes(8, "little")), "little")
