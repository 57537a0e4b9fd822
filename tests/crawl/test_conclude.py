"""What becomes of a URL after an answer; pure."""

import pytest

from gossamer.crawl.conclude import conclude, redirect_target, wants_parsing
from gossamer.records import Candidate, Claim, Exchange, Facts, Failure, FailureKind, State, Via
from gossamer.settings import Settings

NOW = 1_800_000_000.0
CLAIM = Claim(7, "http://a.test/dir/page", 1, "http://a.test", depth=2)
SETTINGS = Settings(max_tries=3, retry_pause=10, max_redirects=5)


def exchange(status: int = 200, *headers: tuple[str, str], body: bytes = b"body", truncated: str = "") -> Exchange:
    return Exchange(
        url=CLAIM.url,
        request_head=b"GET /dir/page HTTP/1.1\r\n\r\n",
        response_head=b"HTTP/1.1 200 OK\r\n\r\n",
        body=body,
        status=status,
        headers=headers,
        address="192.0.2.1",
        protocol="http/1.1",
        started_at=NOW,
        answered_at=NOW,
        ended_at=NOW,
        truncated=truncated,
    )


def concluded(answer: Exchange | Failure, facts: Facts | None = None, claim: Claim = CLAIM, **more: object):  # type: ignore[no-untyped-def]
    return conclude(claim, answer, facts, SETTINGS, now=NOW, jitter=0.0, **more)  # type: ignore[arg-type]


def facts(failure: Failure | None = None) -> Facts:
    return Facts("text/html", 4, b"", failure=failure, is_page=True)


def test_a_success_is_finished() -> None:
    settlement = concluded(exchange(), facts()).settlement
    assert (settlement.state, settlement.reason, settlement.held, settlement.failure) == (
        State.FINISHED,
        "",
        False,
        None,
    )


@pytest.mark.parametrize("status", [201, 203, 204, 206])
def test_every_2xx_is_a_success(status: int) -> None:
    assert concluded(exchange(status)).settlement.state is State.FINISHED


@pytest.mark.parametrize(
    ("status", "kind", "state"),
    [
        (400, FailureKind.HTTP_CLIENT, State.FAILED),
        (404, FailureKind.HTTP_CLIENT, State.FAILED),
        (410, FailureKind.HTTP_CLIENT, State.FAILED),
        (408, FailureKind.HTTP_SERVER, State.WAITING),
        (429, FailureKind.HTTP_BUSY, State.WAITING),
        (500, FailureKind.HTTP_SERVER, State.WAITING),
        (503, FailureKind.HTTP_SERVER, State.WAITING),
        (304, FailureKind.HTTP_OTHER, State.FAILED),
        (300, FailureKind.HTTP_OTHER, State.FAILED),
        (999, FailureKind.HTTP_OTHER, State.FAILED),
    ],
)
def test_statuses(status: int, kind: FailureKind, state: State) -> None:
    settlement = concluded(exchange(status)).settlement
    assert settlement.failure is not None
    assert (settlement.failure.kind, settlement.state) == (kind, state)
    assert settlement.reason.startswith(str(kind))


def test_tries_end() -> None:
    pauses = []
    for attempts in range(3):
        settlement = concluded(exchange(500), claim=CLAIM._replace(attempts=attempts)).settlement
        pauses.append((settlement.state, settlement.due and settlement.due - NOW))
    assert pauses == [(State.WAITING, 10.0), (State.WAITING, 20.0), (State.FAILED, None)]


def test_no_try_is_burnt_while_the_link_is_down() -> None:
    failure = Failure(FailureKind.UNREACHABLE, "", NOW)
    settlement = concluded(failure, claim=CLAIM._replace(attempts=2), link_is_down=True).settlement
    assert (settlement.state, settlement.counts_as_try) == (State.WAITING, False)
    assert concluded(failure, claim=CLAIM._replace(attempts=2)).settlement.state is State.FAILED


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308, 300])
def test_a_redirect_leads_to_a_candidate(status: int) -> None:
    conclusion = concluded(exchange(status, ("location", "../x?q#part")))
    assert conclusion.settlement.state is State.FINISHED
    assert conclusion.settlement.reason == "redirects to http://a.test/x?q"
    assert conclusion.candidates == (Candidate("http://a.test/x?q", Via.REDIRECT, depth=2, parent=7, hops=1),)


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/x", "http://a.test/x"),
        ("x", "http://a.test/dir/x"),
        ("?q", "http://a.test/dir/page?q"),
        ("//b.test/x", "http://b.test/x"),
        ("https://b.test", "https://b.test/"),
        ("HTTP://B.TEST:80/x", "http://b.test/x"),
        ("/caf\xc3\xa9".encode("latin-1").decode("latin-1"), "http://a.test/caf%C3%A9"),  # UTF-8, read as Latin-1
        ("/caf\xe9", "http://a.test/caf%C3%A9"),  # Latin-1
        ("  /x  ", "http://a.test/x"),
        ("http://user:secret@b.test/x", "http://b.test/x"),
        ("/a b", "http://a.test/a%20b"),
        ("\\\\b.test\\x", "http://b.test/x"),
    ],
)
def test_locations(location: str, target: str) -> None:
    assert redirect_target(exchange(302, ("location", location))) == target


@pytest.mark.parametrize(
    "location",
    [
        "",
        "mailto:a@b.test",
        "ftp://b.test/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "http://",
        "http://b.test:80@evil.test/",
        "http://[::",
        "/" + "x" * 9000,
    ],
)
def test_locations_that_lead_nowhere(location: str) -> None:
    answer = exchange(302, ("location", location)) if location else exchange(302)
    settlement = concluded(answer).settlement
    assert settlement.state is State.FAILED
    assert settlement.failure is not None
    assert settlement.failure.kind is FailureKind.REDIRECT_NOWHERE
    assert len(settlement.reason) < 300


def test_a_redirect_to_itself_is_a_loop() -> None:
    settlement = concluded(exchange(302, ("location", "page#again"))).settlement
    assert settlement.reason == "redirect loop: it redirects to itself"


def test_redirects_in_a_row_are_counted() -> None:
    answer = exchange(302, ("location", "/next"))
    assert concluded(answer, claim=CLAIM._replace(hops=4)).settlement.state is State.FINISHED
    settlement = concluded(answer, claim=CLAIM._replace(hops=5)).settlement
    assert (settlement.state, settlement.reason) == (State.FAILED, "too many redirects: more than 5 in a row")


def test_bodies_cut_short() -> None:
    kept = concluded(exchange(truncated="length"), facts()).settlement
    assert (kept.state, kept.reason) == (State.FINISHED, "body too large: the first 4 bytes were kept")
    broken = concluded(exchange(truncated="disconnect")).settlement
    assert (broken.state, broken.reason) == (State.WAITING, "body truncated: 4 bytes came")
    slow = concluded(exchange(truncated="time")).settlement
    assert (slow.state, slow.reason) == (State.WAITING, "time-out of the whole: 4 bytes came")


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        (FailureKind.BODY_UNDECODABLE, State.FAILED),
        (FailureKind.BODY_BOMB, State.FAILED),
        (FailureKind.BODY_TRUNCATED, State.WAITING),
        (FailureKind.PARSER_CRASHED, State.FINISHED),
        (FailureKind.PARSER_HUNG, State.FINISHED),
    ],
)
def test_what_the_parser_says(kind: FailureKind, state: State) -> None:
    settlement = concluded(exchange(), facts(Failure(kind, "why"))).settlement
    assert (settlement.state, settlement.reason) == (state, f"{kind}: why")


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (exchange(), True),
        (exchange(truncated="length"), True),
        (exchange(truncated="time"), False),
        (exchange(truncated="disconnect"), False),
        (exchange(404), False),
        (exchange(302), False),
        (Failure(FailureKind.RESET), False),
        (None, False),
    ],
)
def test_what_is_parsed(answer: Exchange | Failure | None, wanted: bool) -> None:
    assert wants_parsing(answer) is wanted
