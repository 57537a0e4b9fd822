"""From a seed to a plan. Equal seeds give equal plans; only the moments at which things coincide are the machine's."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from fakeweb import GeneratedSite, generate


class Blow(StrEnum):
    """What happens to one run of the crawler."""

    KILL = "kill -9"
    KILL_AT_CALL = "kill -9 at a system call"
    DISK = "a system call that fails"
    INTERRUPT = "Ctrl-C"
    INTERRUPT_TWICE = "Ctrl-C twice"
    TERMINATE = "SIGTERM"
    FREEZE = "a stop for a moment"
    PARSER = "kill -9 of a parser"
    NO_ROOM = "no room on the disk"
    RIVAL = "the same command beside it"
    LOOK = "commands that look in"
    BACKUP = "a backup while it runs"
    RETRY = "a retry while it runs"


@dataclass(frozen=True, slots=True)
class Disturbance:
    """One run and what ends or shakes it, ``visits`` requests after its start and then ``seconds``."""

    blow: Blow
    visits: int = 0
    seconds: float = 0.0
    call: str = ""  # the system call that fails, or at which it is killed
    error: str = ""
    number: int = 0  # the how manieth of it, in its thread
    for_good: bool = False  # all that follow fail, too


@dataclass(frozen=True, slots=True)
class Fault:
    """A page that is ill ``times`` times before it is well; the names of kinds are those of `web.ILL`."""

    host: int
    path: str
    kind: str
    times: int


@dataclass(frozen=True, slots=True)
class Outage:
    """A host is down for ``seconds``, ``visits`` requests (of all runs) after the beginning."""

    host: int
    visits: int
    seconds: float


@dataclass(frozen=True, slots=True)
class HostPlan:
    """One site."""

    seed: int
    pages: int
    max_delay: float
    crawl_delay: float | None
    name: str
    address: str
    trap: str  # a recipe of an endless site that the first page leads to
    has_sitemap: bool
    answer: str  # how its name is answered, of `web.ANSWERS`


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is drawn."""

    seed: int
    hosts: tuple[HostPlan, ...]
    faults: tuple[Fault, ...]
    outages: tuple[Outage, ...]
    disturbances: tuple[Disturbance, ...]
    delay: float  # seconds
    per_host: int
    limit: int  # -u; 0: none
    tries: int
    is_patient: bool  # so many tries that every fault passes: nothing may be given up
    options: tuple[str, ...]

    @property
    def has_names(self) -> bool:
        return any(host.name for host in self.hosts)


PASSING = ("reset", "closed", "reset midway", "truncated", "cut chunks", "cut gzip", "500", "503", "408", "slow")
RARE = ("silent", "busy", "busy until", "429")  # each takes its time
FINAL = ("garbage", "huge head", "no gzip", "404")  # of which another try is not expected to change anything
ROBOTS = ("503", "500", "reset", "truncated", "closed", "slow")

STORM = 300
"""Seeds from here on are harder: more hosts, faults and blows, and commands that look in meanwhile."""

_BLOWS = (
    *(Blow.KILL, Blow.KILL_AT_CALL, Blow.DISK, Blow.INTERRUPT, Blow.INTERRUPT_TWICE),
    *(Blow.TERMINATE, Blow.FREEZE, Blow.PARSER, Blow.NO_ROOM, Blow.RIVAL),
)

_CALLS = {"pwrite64": 250, "fdatasync": 30, "write": 25, "fsync": 4, "rename": 2, "ftruncate": 4, "unlink": 3}
"""About so many of each does a run make."""


def draw(seed: int) -> Plan:
    """The plan of a seed."""
    rng = Random(f"chaos {seed}")
    is_storm = seed >= STORM
    hosts = _hosts(rng, [2, 3, 4, 5, 6] if is_storm else [1, 1, 2, 2, 3])
    is_patient = rng.random() < 0.7
    delay = rng.choice([0.0, 0.0, 0.02, 0.05])
    per_host = rng.choice([1, 1, 2])
    tries = 12 if is_patient else rng.choice([2, 3, 4])
    limit = rng.randrange(3, 40) if rng.random() < 0.15 else 0
    return Plan(
        seed=seed,
        hosts=hosts,
        faults=_faults(rng, hosts, [4, 8, 16] if is_storm else [0, 0, 2, 4, 8], is_patient=is_patient),
        outages=tuple(outage for _ in range(3 if is_storm else 1) for outage in _outages(rng, len(hosts))),
        disturbances=tuple(
            _disturbance(rng, [*_BLOWS, Blow.LOOK, Blow.BACKUP, Blow.RETRY] if is_storm else _BLOWS)
            for _ in range(rng.choice([4, 6, 8] if is_storm else [0, 1, 1, 2, 2, 3, 4]))
        ),
        delay=delay,
        per_host=per_host,
        limit=limit,
        tries=tries,
        is_patient=is_patient,
        options=_options(rng, delay, per_host, limit, tries, is_patient=is_patient),
    )


def site_of(host: HostPlan) -> GeneratedSite:
    """The site of a host, without its faults."""
    few = {"copies": 2, "missing": 2, "files": 3, "forbidden": 2, "unfollowed": 1, "requisites": 2}
    return generate(
        host.seed,
        host.pages,
        **few,
        max_delay=host.max_delay,
        crawl_delay=host.crawl_delay,
        name=host.name,
        address=host.address,
    )


def _hosts(rng: Random, counts: Sequence[int]) -> tuple[HostPlan, ...]:
    count = rng.choice(counts)
    has_names = rng.random() < 0.3
    return tuple(
        HostPlan(
            seed=rng.randrange(1_000_000),
            pages=rng.randrange(6, max(60 // count, 14)),
            max_delay=rng.choice([0.0, 0.005, 0.03]),
            crawl_delay=0.06 if rng.random() < 0.1 else None,
            name=f"host{number}.test" if has_names else "",
            address="127.0.0.1" if has_names else f"127.0.0.{number + 1}",
            trap=rng.choice(["calendar", "counter", "deepening"]) if rng.random() < 0.1 else "",
            has_sitemap=rng.random() < 0.2,
            answer=rng.choice(["plain", "plain", "alias", "slow", "tcp", "many", "dead first", "ill first"]),
        )
        for number in range(count)
    )


def _faults(rng: Random, hosts: tuple[HostPlan, ...], counts: Sequence[int], *, is_patient: bool) -> tuple[Fault, ...]:
    faults = []
    for number, host in enumerate(hosts):
        paths = sorted(site_of(host).asked)
        for path in rng.sample(paths, min(len(paths), rng.choice(counts))):
            kinds = PASSING if is_patient or rng.random() < 0.7 else FINAL
            faults.append(Fault(number, path, rng.choice(kinds), rng.randrange(1, 4)))
        if rng.random() < 0.25:
            faults.append(Fault(number, "/robots.txt", rng.choice(ROBOTS), rng.randrange(1, 3)))
        if rng.random() < 0.15:
            faults.append(Fault(number, rng.choice(paths), rng.choice(RARE), 1))
    return tuple({(fault.host, fault.path): fault for fault in faults}.values())


def _outages(rng: Random, count: int) -> tuple[Outage, ...]:
    if rng.random() < 0.75:
        return ()
    return (Outage(rng.randrange(count), rng.randrange(1, 30), rng.choice([0.05, 0.3, 1.0])),)


def _disturbance(rng: Random, blows: Sequence[Blow]) -> Disturbance:
    blow = rng.choice([Blow.KILL, Blow.KILL, Blow.KILL, Blow.KILL_AT_CALL, Blow.DISK, Blow.DISK, *blows])
    if blow in (Blow.DISK, Blow.KILL_AT_CALL):
        call = rng.choice(list(_CALLS))
        error = rng.choice(["ENOSPC", "EIO"]) if blow is Blow.DISK else ""
        return Disturbance(
            blow,
            call=call,
            error=error,
            number=rng.randrange(1, _CALLS[call] + 1),
            # parsers and stderr are written to as well: for good, nothing could be said and nothing parsed
            for_good=rng.random() < 0.5 and call != "write",
        )
    if rng.random() < 0.25:  # also before there is a first request
        return Disturbance(blow, seconds=rng.uniform(0.2, 1.5))
    return Disturbance(blow, visits=rng.randrange(1, 40), seconds=rng.choice([0.0, rng.uniform(0, 0.2)]))


def _options(rng: Random, delay: float, per_host: int, limit: int, tries: int, *, is_patient: bool) -> tuple[str, ...]:
    values: dict[str, object] = {
        "max-urls": limit,
        "delay": delay,
        "per-host": per_host,
        "max-tries": tries,
        "retry-pause": rng.choice([0.01, 0.05]),
        "host-failures": 100 if is_patient else 8,
        "first-byte-timeout": 1,
        "downloaders": rng.choice([1, 4, 16]),
        "segment-size": rng.choice(["2k", "20k", "1G"]),
        "parsers": rng.choice([1, 1, 2]),
    }
    options = [f"--{name}={value}" for name, value in values.items()]
    switches = [name for name in ("--requisites", "--no-sitemaps", "--no-accept-cookies") if rng.random() < 0.15]
    return (*options, *switches)
