"""A small collection for tests: what a crawl would commit, without a network."""

from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import apsw

from gossamer import url as urls
from gossamer.archive import database, store
from gossamer.archive.disk import Disk
from gossamer.archive.segment_writer import SegmentRules, SegmentWriter
from gossamer.archive.warc import CrawlInfo
from gossamer.clock import ManualClock
from gossamer.frontier.counters import Counters
from gossamer.frontier.discovery import Discovery
from gossamer.frontier.hosts import HostTable
from gossamer.frontier.ledger import Ledger
from gossamer.frontier.seen import SeenSet
from gossamer.parse.links import pack
from gossamer.policy.scope import Scope
from gossamer.records import (
    Batch,
    Candidate,
    Claim,
    Exchange,
    Facts,
    Failure,
    HostUpdate,
    Lease,
    Link,
    Outcome,
    Settlement,
    State,
    Via,
)

LEASE = Lease(0, urls.SHARDS - 1, "tests", 1, 4e9)


SCOPE = Scope(("http://a.test/",), "domain", exclude=("*private*",))


def _link(url: str) -> Link:
    return Link(url, Via.ANCHOR, "link text", other=not url.startswith("http"))


class Careless(Disk):
    """These tests are not about power cuts."""

    def sync(self, descriptor: int) -> None:
        pass

    def sync_folder(self, folder: Path) -> None:
        pass


@dataclass
class Small:
    """A collection in a folder, and the ledger that writes to it."""

    folder: Path
    connection: apsw.Connection
    ledger: Ledger
    clock: ManualClock
    secret: bytes
    segments: SegmentWriter
    bodies: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def create(cls, folder: Path) -> "Small":
        """An empty collection."""
        folder.mkdir(exist_ok=True)
        path, clock = folder / "crawl.db", ManualClock()
        connection = database.create(path, clock.now())
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("INSERT INTO lease VALUES (0, 4095, 'tests', 1, 4e9)")
        connection.execute("INSERT INTO heartbeat VALUES (1, ?, 1, 'stopped', 1, ?, '{}')", (clock.now(), clock.now()))
        secret = bytes(connection.execute("SELECT value FROM meta WHERE name = 'secret'").get)
        hosts, counters = HostTable(connection, lambda _, crawl_delay: crawl_delay), Counters(connection)
        rules = SegmentRules(prefix="small", owner="tests", epoch=1, max_bytes=1 << 30, max_age=1e9)
        numbers = iter(range(1, 1000))
        segments = SegmentWriter(
            folder,
            rules=rules,
            info=CrawlInfo("Gossamer/0", "Gossamer", "obey"),
            clock=clock,
            next_id=numbers.__next__,
            disk=Careless(),
        )
        discovery = Discovery(connection, SeenSet(), hosts, counters, secret, SCOPE)
        ledger = Ledger(connection, path, segments, discovery, hosts, counters, clock)
        return cls(folder, connection, ledger, clock, secret, segments)

    def seed(self, *addresses: str) -> None:
        """Add URLs as a person would."""
        self.ledger.add([Candidate(address, Via.SEED, 0) for address in addresses], LEASE)

    def page(self, url: str, title: str = "", text: str = "", *links: Link | str, **facts: object) -> None:
        """Commit a fetched page; the URL is made known when it is not."""
        linked = [link if isinstance(link, Link) else _link(link) for link in links]
        body = f"<title>{title}</title><p>{text}</p>{[link.url for link in linked]}".encode("utf-8", "replace")
        found = Facts(
            content_type="text/html",
            size=len(body),
            digest=sha256(body).digest(),
            charset="utf-8",
            title=title,
            text=text,
            text_digest=sha256(text.encode("utf-8", "replace")).digest() if text else b"",
            links=pack(linked) if linked else b"",
            fingerprints=b"".join(self._key(link) for link in linked),
            is_page=True,
            **facts,  # type: ignore[arg-type]  # a test knows which
        )
        self.answer(url, body, facts=found)

    def _key(self, link: Link) -> bytes:
        strong = urls.fingerprint(link.url, self.secret)
        return urls.weaken(strong) if link.nofollow or link.via is Via.REQUISITE else strong

    def answer(
        self,
        url: str,
        body: bytes = b"",
        *,
        status: int = 200,
        facts: Facts | None = None,
        settlement: Settlement | None = None,
        redirect: str = "",
        headers: tuple[tuple[str, str], ...] = (("content-type", "text/html"),),
        truncated: str = "",
    ) -> None:
        """Commit an HTTP answer."""
        head = f"HTTP/1.1 {status} X\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers) + "\r\n"
        now = self.clock.now()
        exchange = Exchange(
            url,
            b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            head.encode(),
            body,
            status,
            headers,
            "127.0.0.1",
            "http/1.1",
            now,
            now,
            now + 0.25,
            truncated,
        )
        claim = self.claim(url)
        found = (Candidate(redirect, Via.REDIRECT, claim.depth, claim.url_id, 1),) if redirect else ()
        outcome = settlement or Settlement(State.FINISHED, "redirect" if redirect else "")
        self.commit(Outcome(claim, outcome, exchange=exchange, facts=facts, candidates=found))

    def fail(self, url: str, failure: Failure, *, state: State = State.FAILED, put_aside: str = "") -> None:
        """Commit a try that brought no answer."""
        claim = self.claim(url)
        host = HostUpdate(claim.host_id, self.clock.now(), 1, put_aside) if put_aside else None
        self.commit(Outcome(claim, Settlement(state, str(failure), failure=failure), host=host))

    def commit(self, *outcomes: Outcome) -> None:
        """Commit outcomes together."""
        self.clock.advance(1)
        self.ledger.commit(Batch(outcomes, LEASE))

    def claim(self, url: str) -> Claim:
        """The lease of a URL, whatever its state."""
        if self.ledger.discovery.id_of(url) is None:
            self.seed(url)
        row = self.connection.execute(
            "SELECT url.id, host, origin, depth, attempts FROM url JOIN host ON host.id = url.host WHERE url = ?",
            (url,),
        ).fetchone()
        assert row is not None
        return Claim(row[0], url, row[1], row[2], row[3], attempts=row[4])

    def counters(self) -> dict[str, int]:
        """The totals, those at zero left out."""
        rows = self.connection.execute("SELECT name, value FROM counter WHERE value != 0")
        return {str(name): int(value or 0) for name, value in rows}

    def seal(self) -> None:
        """Close the files, as the end of a crawl does."""
        for segment in self.segments.sync():
            store.save_segment(self.connection, segment)
        self.segments.close()
        self.connection.close()
