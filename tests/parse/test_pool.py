"""The pool of parser workers: whatever a page does to one, every other page gets its facts."""

import asyncio
import gzip
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import GossamerError
from gossamer.parse.html import read
from gossamer.parse.job import ParseJob
from gossamer.parse.links import unpack
from gossamer.parse.pool import ParserPool
from gossamer.records import Facts, FailureKind
from processes import children

from .pages import HTML, SECRET, digest, job

CRASHES = b"<math><template><annotation-xml encoding=text/html><e></template><a><dd><a>"
"""turbohtml 1.15.4 dies of this (SIGSEGV)."""

CRASHES_THEN_HANGS = b"<div>" * 500 + CRASHES + b"<div>" * 100_000
"""And lexbor takes half a minute for this. Whether turbohtml dies depends on what lies in memory it has freed: it does so
with elements before the guilty ones, whatever ours is made of."""

GIGABYTE = 1 << 30


def pool(workers: int = 1, *, timeout: float = 20, memory: int = GIGABYTE, limit: int = GIGABYTE // 8) -> ParserPool:
    return ParserPool(workers, SECRET, timeout, memory, limit)


def run(use: Callable[[ParserPool], Awaitable[None]], **options: float) -> None:
    """Use a pool that is started and ended."""

    async def main() -> None:
        async with pool(**options) as started:  # type: ignore[arg-type]  # numbers of either kind
            await use(started)
        assert children() == []

    asyncio.run(main())


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


def simple(number: int) -> ParseJob:
    return job(f"<title>{number}</title><p>page {number} <a href=next{number}>next</a>")


async def titles(started: ParserPool, count: int) -> list[str]:
    return [facts.title for facts in await asyncio.gather(*(started.parse(simple(number)) for number in range(count)))]


def test_facts_are_the_same_as_without_a_pool() -> None:
    jobs = [
        job(b"\xff\xfe<p>", HTML),
        job("<p>ä <a href=x>\ud7ff</a>"),
        job(b"x", ("content-type", "text/plain")),
        job(b"x", HTML, ("content-encoding", "gzip")),
        job(b"", truncated="time"),
        *(simple(number) for number in range(50)),
    ]

    async def use(started: ParserPool) -> None:
        assert await asyncio.gather(*map(started.parse, jobs)) == [read(each, SECRET) for each in jobs]
        assert started.statistics().done == len(jobs)
        assert started.statistics().restarts == 0

    run(use, workers=2)


def test_a_page_that_crashes_the_parser_costs_no_other_its_facts() -> None:
    async def use(started: ParserPool) -> None:
        pages = [simple(0), *(simple(number) if number % 5 else job(CRASHES) for number in range(1, 30))]
        answers = await asyncio.gather(*map(started.parse, pages))
        for page, facts in zip(pages, answers, strict=True):
            assert facts.failure is None
            assert facts.digest == digest(page.body)
            assert len(unpack(facts.links)) == 1 if page.body != CRASHES else facts.is_page
        guilty = [facts for page, facts in zip(pages, answers, strict=True) if page.body == CRASHES]
        # What breaks the parser is a write to memory that is not its own: mostly that kills it, and the page is tried again.
        assert any(facts.notes == ("read by the fallback parser",) for facts in guilty)

    run(use)


def test_a_page_that_crashes_one_parser_and_hangs_the_other_is_given_up() -> None:
    async def use(started: ParserPool) -> None:
        hanging = asyncio.create_task(started.parse(job(CRASHES_THEN_HANGS)))
        assert await titles(started, 20) == [str(number) for number in range(20)]
        facts = await hanging
        assert facts.failure is not None
        assert facts.failure.kind is FailureKind.PARSER_HUNG
        assert (facts.size, facts.digest) == (len(CRASHES_THEN_HANGS), digest(CRASHES_THEN_HANGS))
        assert (facts.is_page, facts.content_type, facts.text) == (True, "text/html", "")
        assert started.statistics().guilty >= 1

    run(use, timeout=0.5)


def test_a_hang_that_is_compressed_is_counted_as_decoded() -> None:
    async def use(started: ParserPool) -> None:
        body = gzip.compress(CRASHES_THEN_HANGS)
        facts = await started.parse(job(body, HTML, ("content-encoding", "gzip")))
        assert facts.digest == digest(CRASHES_THEN_HANGS)

    run(use, timeout=0.5)


def test_a_page_that_takes_too_much_memory_is_given_up() -> None:
    async def use(started: ParserPool) -> None:
        large = asyncio.create_task(started.parse(job(b"<p><a href=x>" * 2_000_000)))
        assert await titles(started, 5) == [str(number) for number in range(5)]
        facts = await large
        assert facts.failure is not None
        assert facts.failure.kind is FailureKind.PARSER_CRASHED
        assert facts.size == 26_000_000

    run(use, memory=GIGABYTE // 2)


def test_bombs_are_stopped_in_the_worker() -> None:
    async def use(started: ParserPool) -> None:
        bomb = gzip.compress(bytes(200_000_000))
        facts = await started.parse(job(bomb, HTML, ("content-encoding", "gzip")))
        assert facts.failure is not None
        assert facts.failure.kind is FailureKind.BODY_BOMB
        assert started.statistics().restarts == 0

    run(use, memory=GIGABYTE // 2, limit=10_000_000)


def test_ten_megabytes_of_paragraphs_are_read() -> None:
    async def use(started: ParserPool) -> None:
        facts = await started.parse(job(b"<p>x" * 2_500_000))
        assert facts.failure is None
        assert started.statistics().restarts == 0

    run(use, timeout=60, memory=3 * GIGABYTE // 2)


def test_a_worker_killed_from_outside_is_nobodys_fault() -> None:
    async def use(started: ParserPool) -> None:
        pages = [job("<p>x" * 400_000 + f"<title>{number}") for number in range(4)]
        waiting = [asyncio.create_task(started.parse(page)) for page in pages]
        for _ in range(2):
            await until(lambda: started.statistics().working > 0 and len(children()) == 1)
            before = started.statistics().restarts
            os.kill(children()[0], signal.SIGKILL)
            await until(lambda restarts=before: started.statistics().restarts > restarts)  # type: ignore[misc]
        for facts in await asyncio.gather(*waiting):
            assert (facts.failure, facts.notes) == (None, ())
        assert started.statistics().guilty == 0

    run(use)


def test_a_worker_killed_while_it_waits_is_replaced() -> None:
    async def use(started: ParserPool) -> None:
        assert await titles(started, 3) == ["0", "1", "2"]
        os.kill(children()[0], signal.SIGKILL)
        assert await titles(started, 3) == ["0", "1", "2"]

    run(use)


def test_a_worker_that_only_waits_is_killed_and_its_page_tried_again() -> None:
    async def use(started: ParserPool) -> None:
        os.kill(children()[0], signal.SIGSTOP)
        assert (await started.parse(simple(7))).title == "7"
        assert started.statistics().restarts == 1

    run(use, timeout=0.1)


def test_interrupts_are_for_the_crawler_not_for_its_workers() -> None:
    async def use(started: ParserPool) -> None:
        for child in children():
            os.kill(child, signal.SIGINT)
        assert await titles(started, 3) == ["0", "1", "2"]
        assert started.statistics().restarts == 0
        assert all(os.getpgid(child) != os.getpgid(0) for child in children())

    run(use, workers=2)


def test_the_queue_is_bounded_and_whoever_comes_later_waits() -> None:
    async def use(started: ParserPool) -> None:
        waiting = [asyncio.create_task(started.parse(simple(number))) for number in range(500)]
        await until(lambda: started.statistics().working > 0)
        now = started.statistics()
        assert now.waiting + now.working <= 64
        assert [facts.title for facts in await asyncio.gather(*waiting)] == [str(number) for number in range(500)]

    run(use)


def test_who_stops_waiting_disturbs_nobody() -> None:
    async def use(started: ParserPool) -> None:
        waiting = [asyncio.create_task(started.parse(simple(number))) for number in range(40)]
        await asyncio.sleep(0)
        for task in waiting[::2]:
            task.cancel()
        assert [(await task).title for task in waiting[1::2]] == [str(number) for number in range(1, 40, 2)]
        assert await titles(started, 70) == [str(number) for number in range(70)]

    run(use)


def test_closing_tells_those_who_wait() -> None:
    async def main() -> None:
        started = pool()
        await started.start()
        waiting = [asyncio.create_task(started.parse(job("<p>x" * 400_000))) for _ in range(5)]
        await until(lambda: started.statistics().working > 0)
        await started.aclose()
        for answer in await asyncio.gather(*waiting, return_exceptions=True):
            assert isinstance(answer, GossamerError)
        with pytest.raises(GossamerError, match="closed"):
            await started.parse(simple(1))
        assert children() == []

    asyncio.run(main())


def test_a_pool_that_was_not_started_says_so() -> None:
    with pytest.raises(GossamerError, match="not started"):
        asyncio.run(pool().parse(simple(1)))


@pytest.mark.parametrize("program", ["/bin/false", "/nowhere/python"])
def test_a_worker_that_does_not_come_up_is_an_error(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", program)
    with pytest.raises(GossamerError, match="can't be started"):
        asyncio.run(pool(2).start())
    assert children() == []


def test_a_worker_that_is_killed_while_it_starts_is_started_again() -> None:
    """The system may have been short of memory for a moment."""

    async def main() -> None:
        started = pool()
        starting = asyncio.create_task(started.start())
        while not children():
            await asyncio.sleep(0.001)
        os.kill(children()[0], signal.SIGKILL)
        await starting
        assert await titles(started, 1) == ["0"]
        await started.aclose()

    asyncio.run(main())


def test_a_broken_installation_is_told_in_its_own_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "msgpack.py").write_text("raise ImportError('half installed')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(GossamerError, match="half installed"):
        asyncio.run(pool().start())


def test_workers_that_do_not_come_up_again_end_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    async def use(started: ParserPool) -> None:
        monkeypatch.setattr(sys, "executable", "/bin/false")
        os.kill(children()[0], signal.SIGKILL)
        for _ in range(2):
            with pytest.raises(GossamerError, match="can't be started"):
                await started.parse(simple(1))

    run(use)


def test_modules_are_not_taken_from_where_one_happens_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "turbohtml.py").write_text("raise ImportError('a stranger was here')")
    monkeypatch.chdir(tmp_path)

    async def use(started: ParserPool) -> None:
        assert await titles(started, 1) == ["0"]

    run(use)


SCRIPT = """
import asyncio, os, sys
from gossamer.parse.job import ParseJob
from gossamer.parse.pool import ParserPool

async def main():
    pool = ParserPool(1, b"s", 10, 1 << 30, 1 << 20)
    await pool.start()
    body = bytes.fromhex(sys.argv[1])
    facts = await pool.parse(ParseJob("http://h.example/", (("content-type", "text/html"),), body))
    print(facts.size, *(name for name in os.listdir("/proc") if name.isdigit() and is_child(name)), flush=True)
    if sys.argv[2] == "die":
        os.kill(os.getpid(), 9)
    await pool.aclose()

def is_child(name):
    try:
        return open(f"/proc/{name}/stat").read().rpartition(")")[2].split()[1] == str(os.getpid())
    except OSError:
        return False

asyncio.run(main())  # without a main guard
"""


def script(body: bytes, end: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", SCRIPT, body.hex(), end]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_no_main_guard_is_needed_and_nothing_is_said_of_a_crash() -> None:
    done = script(CRASHES, "close")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[0] == str(len(CRASHES))


def test_workers_end_when_the_crawler_is_gone() -> None:
    done = script(b"<p>x", "die")
    assert done.returncode == -signal.SIGKILL
    worker = int(done.stdout.split()[1])

    async def gone() -> None:
        await until(lambda: not running(worker))

    asyncio.run(gone())


def running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture(scope="module")
def parse() -> Iterator[Callable[[ParseJob], Facts]]:
    """A pool that many examples share."""
    with asyncio.Runner() as runner:
        started = pool(timeout=5)
        runner.run(started.start())
        yield lambda each: runner.run(started.parse(each))
        runner.run(started.aclose())


MARKUP = st.lists(
    st.one_of(
        st.binary(max_size=20),
        st.sampled_from(
            [
                b"<%s>" % tag
                for tag in b"a b p svg math template table td select option mi annotation-xml object /a".split()
            ]
        ),
        st.sampled_from(
            [b"</template>", b"</table>", b"</svg>", b"<a href='", b"'>", b"<!--", b"-->", b"&#x", b"&copy"]
        ),
    ),
    max_size=30,
).map(b"".join)


@given(
    body=st.one_of(st.binary(max_size=300), MARKUP),
    content_type=st.sampled_from(
        ["text/html", "text/html; charset=gbk", "text/plain", "", "application/xhtml+xml", "x"]
    ),
    coding=st.sampled_from(["", "gzip", "br", "deflate, zstd"]),
    truncated=st.sampled_from(["", "length"]),
)
@settings(max_examples=150)
def test_any_body_has_facts(
    parse: Callable[[ParseJob], Facts], body: bytes, content_type: str, coding: str, truncated: str
) -> None:
    facts = parse(job(body, ("content-type", content_type), ("content-encoding", coding), truncated=truncated))
    assert facts.failure is None or facts.failure.kind.name.startswith("BODY_")
    assert len(facts.digest) == 32
    assert len(facts.fingerprints) == 8 * len(unpack(facts.links))
    facts.text.encode()
