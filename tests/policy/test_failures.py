"""The table of failures: tries end, pauses grow, tries are not burnt for what is not the URL's fault."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.policy.failures import BUSY_PAUSE, MAX_PAUSE, RULES, host_put_aside, of_status, settle
from gossamer.records import Failure, FailureKind, Headers, State
from gossamer.settings import Settings

NOW = 1_800_000_000.0
SETTINGS = Settings()
FINAL = {
    FailureKind.DNS_NO_NAME,
    FailureKind.TLS_CERTIFICATE,
    FailureKind.NOT_HTTP,
    FailureKind.HEADERS_TOO_LARGE,
    FailureKind.ADDRESS_REFUSED,
    FailureKind.HTTP_CLIENT,
    FailureKind.HTTP_OTHER,
    FailureKind.BODY_UNDECODABLE,
    FailureKind.BODY_BOMB,
    FailureKind.REDIRECT_LOOP,
    FailureKind.REDIRECT_LIMIT,
    FailureKind.REDIRECT_NOWHERE,
}
KEPT = {FailureKind.BODY_TOO_LARGE, FailureKind.PARSER_CRASHED, FailureKind.PARSER_HUNG}


def test_the_table_is_complete() -> None:
    assert set(RULES) == set(FailureKind)


@pytest.mark.parametrize("kind", FailureKind)
def test_the_first_try(kind: FailureKind) -> None:
    settlement = settle(Failure(kind, "detail"), 0, SETTINGS, NOW, 0.0)
    if kind in KEPT:
        assert settlement.state is State.FINISHED
    else:
        assert settlement.state is (State.FAILED if kind in FINAL else State.WAITING)
    assert settlement.reason == f"{kind.value}: detail"
    assert settlement.failure == Failure(kind, "detail")
    assert settlement.counts_as_try


def test_only_silence_and_the_proxy_are_laid_to_the_link() -> None:
    assert {kind for kind, rule in RULES.items() if rule.link} == {
        FailureKind.DNS_FAILURE,
        FailureKind.CONNECT_TIMEOUT,
        FailureKind.FIRST_BYTE_TIMEOUT,
        FailureKind.UNREACHABLE,
        FailureKind.PROXY,  # it is on the way to every host
    }


def test_pauses_double_with_jitter() -> None:
    failure = Failure(FailureKind.RESET)
    settings = Settings(max_tries=100)
    pauses = [(settle(failure, attempts, settings, NOW, 0.0).due or 0) - NOW for attempts in range(99)]
    assert pauses[:4] == [10, 20, 40, 80]
    assert pauses[-1] == MAX_PAUSE
    assert (settle(failure, 0, settings, NOW, 0.5).due or 0) - NOW == 12.5


def test_the_last_try() -> None:
    failure = Failure(FailureKind.HTTP_SERVER, "500")
    assert settle(failure, 2, SETTINGS, NOW, 0.0).state is State.WAITING
    last = settle(failure, 3, SETTINGS, NOW, 0.0)
    assert (last.state, last.due, last.reason) == (State.FAILED, None, "http server error: 500")
    assert settle(failure, 0, Settings(max_tries=0), NOW, 0.0).state is State.FAILED


def test_no_try_is_burnt_while_the_link_is_down() -> None:
    spoilt = settle(Failure(FailureKind.CONNECT_TIMEOUT), 3, SETTINGS, NOW, 0.0, link_is_down=True)
    assert (spoilt.state, spoilt.counts_as_try) == (State.WAITING, False)
    assert settle(Failure(FailureKind.HTTP_SERVER), 3, SETTINGS, NOW, 0.0, link_is_down=True).state is State.FAILED
    assert settle(Failure(FailureKind.TLS_CERTIFICATE), 0, SETTINGS, NOW, 0.0, link_is_down=True).state is State.FAILED


@given(
    st.lists(st.sampled_from(FailureKind), min_size=60, max_size=60),
    st.integers(0, 50),
    st.floats(0, 1, exclude_max=True),
    st.floats(0, 1e9),
)
def test_tries_end(kinds: list[FailureKind], max_tries: int, jitter: float, retry_pause: float) -> None:
    settings = Settings(max_tries=max_tries, retry_pause=retry_pause)
    now = NOW
    for attempts, kind in enumerate(kinds):
        settlement = settle(Failure(kind), attempts, settings, now, jitter)
        if settlement.state is not State.WAITING:
            break
        assert settlement.due is not None
        assert now <= settlement.due <= now + MAX_PAUSE * 1.5
        now = settlement.due
    assert settlement.state in (State.FAILED, State.FINISHED)
    assert attempts < max(max_tries, 1)


@pytest.mark.parametrize("status", [200, 204, 206, 300, 301, 304, 308])
def test_no_failure(status: int) -> None:
    assert of_status(status, (), NOW) is None


@pytest.mark.parametrize(
    ("status", "kind", "detail"),
    [
        (400, FailureKind.HTTP_CLIENT, "400 Bad Request"),
        (404, FailureKind.HTTP_CLIENT, "404 Not Found"),
        (410, FailureKind.HTTP_CLIENT, "410 Gone"),
        (408, FailureKind.HTTP_SERVER, "408 Request Timeout"),
        (429, FailureKind.HTTP_BUSY, "429 Too Many Requests"),
        (500, FailureKind.HTTP_SERVER, "500 Internal Server Error"),
        (503, FailureKind.HTTP_SERVER, "503 Service Unavailable"),
        (599, FailureKind.HTTP_SERVER, "599"),
        (199, FailureKind.HTTP_OTHER, "199"),
        (999, FailureKind.HTTP_OTHER, "999"),
    ],
)
def test_statuses(status: int, kind: FailureKind, detail: str) -> None:
    failure = of_status(status, (), NOW)
    assert failure is not None
    assert (failure.kind, failure.detail, failure.at) == (kind, detail, NOW)


# NOW is Fri, 15 Jan 2027 08:00:00 GMT
@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("1.5", 1.5),
        ("Fri, 15 Jan 2027 08:01:00 GMT", 60.0),
        ("Friday, 15-Jan-27 08:01:00 GMT", 60.0),
        ("Fri Jan 15 08:01:00 2027", 60.0),
        ("Fri, 15 Jan 2027 07:00:00 GMT", 0.0),
        ("-5", None),
        ("inf", None),
        ("9" * 5000, None),
        ("Fri, 99 Jan 2027 08:01:00 GMT", None),
        ("Fri, 15 Jan 99999999 08:01:00 +9999", None),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after(value: str, seconds: float | None) -> None:
    headers: Headers = (("server", "x"), ("retry-after", value))
    busy, unavailable, broken = (of_status(status, headers, NOW) for status in (429, 503, 500))
    assert busy is not None
    assert unavailable is not None
    assert broken is not None
    assert (busy.kind, busy.retry_after) == (FailureKind.HTTP_BUSY, BUSY_PAUSE if seconds is None else seconds)
    assert unavailable.retry_after == seconds
    assert unavailable.kind is (FailureKind.HTTP_SERVER if seconds is None else FailureKind.HTTP_BUSY)
    assert (broken.kind, broken.retry_after) == (FailureKind.HTTP_SERVER, None)


@given(st.integers(0, 1000), st.text(max_size=40))
def test_every_answer_is_read(status: int, value: str) -> None:
    failure = of_status(status, (("retry-after", value),), NOW)
    assert (failure is None) is (200 <= status < 400)
    assert failure is None or failure.retry_after is None or 0 <= failure.retry_after < 1e12


def test_a_host_is_put_aside() -> None:
    assert host_put_aside(7, SETTINGS) == ""
    assert host_put_aside(8, SETTINGS) == "8 failures in a row"
