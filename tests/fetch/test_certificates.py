"""Certificates of many bad kinds, and TLS that does not come about: each is refused, with a reason of its own."""

import asyncio
import ssl
import subprocess
import time
from collections.abc import Callable
from contextlib import aclosing
from itertools import pairwise
from pathlib import Path

import pytest

from fetch.authority import CA, Authority, Explaining
from fetch.raw import RawServer, reply
from gossamer.clock import SystemClock
from gossamer.errors import UsageError
from gossamer.fetch.transport import Transport
from gossamer.fetch.trust import check_certificates
from gossamer.records import Address, Exchange, Failure, FailureKind, Request
from gossamer.settings_secrets import Certificate, certificate
from gossamer.url import origin

SMALL = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
NAME = "subjectAltName=DNS:bad.test"
Bad = Callable[[Authority], ssl.SSLContext]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


def fetch(
    authority: Authority, server: RawServer | Explaining, *, host: str = "bad.test", show: tuple[str, str] | None = None
) -> Exchange | Failure:
    async def main() -> Exchange | Failure:
        async with aclosing(Transport("test", SystemClock(), ca_file=str(authority.file("root")))) as transport:
            url, address = f"https://{host}:{server.port}/", Address("127.0.0.1", "loopback")
            return await transport.fetch(Request(url, address, certificate=show))

    return asyncio.run(main())


def expired(authority: Authority) -> ssl.SSLContext:
    authority.make("expired", NAME, by="root", dates=("20200101000000Z", "20210101000000Z"))
    return authority.serve("expired")


def not_yet(authority: Authority) -> ssl.SSLContext:
    authority.make("future", NAME, by="root", dates=("20480101000000Z", "20490101000000Z"))
    return authority.serve("future")


def other_name(authority: Authority) -> ssl.SSLContext:
    authority.make("other", "subjectAltName=DNS:other.test,DNS:*.bad.test,DNS:*.test", by="root")
    return authority.serve("other")


def name_only_as_subject(authority: Authority) -> ssl.SSLContext:
    """RFC 9525, section 6.3: the Common Name says nothing."""
    authority.make("bad.test", "subjectAltName=IP:10.0.0.1", by="root")
    return authority.serve("bad.test")


def self_signed(authority: Authority) -> ssl.SSLContext:
    authority.make("self", NAME)
    return authority.serve("self")


def strange_root(authority: Authority) -> ssl.SSLContext:
    authority.make("strange", CA)
    authority.make("of-strange", NAME, by="strange")
    return authority.serve("of-strange", "strange")


def no_intermediate(authority: Authority) -> ssl.SSLContext:
    authority.make("between", CA, by="root")
    authority.make("of-between", NAME, by="between")
    return authority.serve("of-between")


def weak_key(authority: Authority) -> ssl.SSLContext:
    authority.make("weak", NAME, by="root", key="RSA:1024")
    return authority.serve("weak")


def weak_digest(authority: Authority) -> ssl.SSLContext:
    authority.make("sha1", NAME, by="root", digest="sha1")
    return authority.serve("sha1")


def wrong_purpose(authority: Authority) -> ssl.SSLContext:
    authority.make("client", f"{NAME}\nextendedKeyUsage=clientAuth", by="root")
    return authority.serve("client")


def signed_by_none(authority: Authority) -> ssl.SSLContext:
    authority.make("none", "basicConstraints=critical,CA:FALSE", by="root")
    authority.make("of-none", NAME, by="none")
    return authority.serve("of-none", "none")


def outside_constraints(authority: Authority) -> ssl.SSLContext:
    authority.make("narrow", f"{CA}\nnameConstraints=critical,permitted;DNS:other.test", by="root")
    authority.make("of-narrow", NAME, by="narrow")
    return authority.serve("of-narrow", "narrow")


def too_deep(authority: Authority) -> ssl.SSLContext:
    authority.make("last", CA.replace("CA:TRUE", "CA:TRUE,pathlen:0"), by="root")
    authority.make("below", CA, by="last")
    authority.make("of-below", NAME, by="below")
    return authority.serve("of-below", "below", "last")


def critical_demand(authority: Authority) -> ssl.SSLContext:
    authority.make("critical", f"{NAME}\n1.2.3.4=critical,ASN1:UTF8String:x", by="root")
    return authority.serve("critical")


def forged(authority: Authority) -> ssl.SSLContext:
    authority.make("forged", NAME, by="root")
    content = bytearray(ssl.PEM_cert_to_DER_cert(authority.file("forged").read_text()))
    content[-1] ^= 1
    authority.file("forged").write_text(ssl.DER_cert_to_PEM_cert(bytes(content)))
    return authority.serve("forged")


REASONS: dict[Bad, str] = {
    expired: "its certificate has expired",
    not_yet: "its certificate is not valid yet, or the clock of this machine is wrong",
    other_name: "its certificate does not match the name 'bad.test'",
    name_only_as_subject: "its certificate does not match the name 'bad.test'",
    self_signed: "its certificate is self-signed: nobody vouches for it",
    strange_root: "the authority that signed its certificate is not trusted",
    no_intermediate: (
        "who signed its certificate is not known: it sends no intermediate certificate, or its authority is not trusted"
    ),
    weak_key: "the key of its certificate is too weak",
    weak_digest: "its certificate is signed with a digest that is too weak, such as SHA-1",
    wrong_purpose: "its certificate is not one for servers",
    signed_by_none: "its certificate is signed by one that may not sign",
    outside_constraints: "its authority may not vouch for this name",
    too_deep: "its chain of authorities is longer than they allow",
    critical_demand: "its certificate makes a critical demand that is not understood",
    forged: "the signature on its certificate is wrong",
}


@pytest.mark.parametrize("make", REASONS, ids=lambda make: make.__name__)
def test_bad_certificates_each_with_its_reason(authority: Authority, make: Bad) -> None:
    with RawServer(reply(SMALL), tls=make(authority)) as server:
        failure = fetch(authority, server)
        assert isinstance(failure, Failure), failure
        assert (failure.kind, failure.detail) == (FailureKind.TLS_CERTIFICATE, REASONS[make])
        assert server.heads == [], "nothing was said to it"


def test_the_kinds_are_told_apart() -> None:
    assert len(set(REASONS.values())) >= 12


def test_a_certificate_for_another_address(authority: Authority) -> None:
    authority.make("address", "subjectAltName=IP:10.0.0.1,DNS:127.0.0.1", by="root")
    with RawServer(reply(SMALL), tls=authority.serve("address")) as server:
        failure = fetch(authority, server, host="127.0.0.1")
    assert isinstance(failure, Failure)
    assert failure.detail == "its certificate does not match the name '127.0.0.1'"


# --- TLS that does not come about


def good(authority: Authority) -> ssl.SSLContext:
    if not authority.file("good").exists():
        authority.make("good", NAME, by="root")
    return authority.serve("good")


def old_tls(authority: Authority) -> ssl.SSLContext:
    context = good(authority)
    context.minimum_version, context.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    return context


def weak_cipher(authority: Authority) -> ssl.SSLContext:
    context = good(authority)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("AES128-SHA")
    return context


def unknown_name(authority: Authority) -> ssl.SSLContext:
    context = good(authority)
    context.set_servername_callback(lambda *_: ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME)
    return context


def wants_ours(authority: Authority, version: ssl.TLSVersion) -> ssl.SSLContext:
    context = good(authority)
    context.maximum_version = version
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(authority.file("root"))
    return context


PROTOCOLS: dict[Bad, str] = {
    old_tls: "it speaks no version of TLS that is safe (1.2 or 1.3)",
    weak_cipher: "it has no cipher that is safe, or wants a certificate of ours",
    unknown_name: "it does not know this name",
}


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1:DeprecationWarning")  # that they are old is the point
@pytest.mark.parametrize("make", PROTOCOLS, ids=lambda make: make.__name__)
def test_no_common_language(authority: Authority, make: Bad) -> None:
    with Explaining(make(authority)) as server:
        failure = fetch(authority, server)
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.detail) == (FailureKind.TLS_PROTOCOL, PROTOCOLS[make])


def test_a_server_that_hangs_up(authority: Authority) -> None:
    with RawServer(reply(), at_once=True) as server:
        failure = fetch(authority, server)
    assert isinstance(failure, Failure)
    assert failure.kind in (FailureKind.TLS_PROTOCOL, FailureKind.RESET)
    assert failure.detail


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-OpenSSH_9.2p1\r\n"])
def test_no_tls_at_all(authority: Authority, answer: bytes) -> None:
    with RawServer(reply(answer), at_once=True) as server:
        failure = fetch(authority, server)
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.detail) == (FailureKind.TLS_PROTOCOL, "what answers there is not TLS")


# --- certificates of ours


@pytest.fixture(scope="module")
def ours(authority: Authority) -> tuple[str, str]:
    authority.make("ours", "extendedKeyUsage=clientAuth", by="root")
    return str(authority.file("ours")), str(authority.file("ours", "key"))


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_server_that_wants_to_know_us(authority: Authority, ours: tuple[str, str], version: ssl.TLSVersion) -> None:
    with Explaining(wants_ours(authority, version)) as server:
        assert isinstance(fetch(authority, server, show=ours), Exchange)
        failure = fetch(authority, server)
    assert isinstance(failure, Failure)
    assert failure.kind == FailureKind.TLS_PROTOCOL
    assert "certificate of ours" in failure.detail


def test_a_handle_that_showed_it_shows_it_to_no_one_else(authority: Authority, ours: tuple[str, str]) -> None:
    async def main(port: int) -> list[Exchange | Failure]:
        answers = []
        async with aclosing(Transport("test", SystemClock(), ca_file=str(authority.file("root")))) as transport:
            for show in (ours, None, ours, None):
                url, address = f"https://bad.test:{port}/", Address("127.0.0.1", "loopback")
                answers.append(await transport.fetch(Request(url, address, certificate=show)))
        return answers

    with RawServer(reply(SMALL), tls=wants_ours(authority, ssl.TLSVersion.TLSv1_2)) as server:
        answers = asyncio.run(main(server.port))
    assert [isinstance(answer, Exchange) for answer in answers] == [True, False, True, False]


def test_a_certificate_that_can_not_be_used_is_said_at_once(
    authority: Authority, ours: tuple[str, str], tmp_path: Path
) -> None:
    file, key = ours
    check_certificates([certificate(f"https://example.org '{file}' '{key}'")])
    garbage = tmp_path / "garbage.pem"
    garbage.write_text("nothing")
    where = origin("https://example.org/")
    for bad in ((str(garbage), key), (file, str(garbage)), (file, str(authority.file("root", "key"))), ("/no", key)):
        with pytest.raises(UsageError, match=r"our certificate for https://example.org can't be used"):
            check_certificates([Certificate(where, *bad)])


def test_an_encrypted_key_does_not_ask_on_the_terminal(
    authority: Authority, ours: tuple[str, str], tmp_path: Path
) -> None:
    locked = tmp_path / "locked.key"
    command = ["openssl", "pkey", "-in", ours[1], "-aes256", "-passout", "pass:hunter2", "-out", str(locked)]
    subprocess.run(command, check=True, capture_output=True)
    with pytest.raises(UsageError, match="the key not encrypted"):
        check_certificates([Certificate(origin("https://example.org/"), ours[0], str(locked))])


# --- whom we trust


def test_a_file_is_trusted_beside_the_systems(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    authority.make("second", CA)
    authority.make("of-second", NAME, by="second")
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file("second")))
    for context in (good(authority), authority.serve("of-second")):
        with RawServer(reply(SMALL), tls=context) as server:
            assert isinstance(fetch(authority, server), Exchange)


def test_a_servers_own_certificate_can_be_trusted(authority: Authority, tmp_path: Path) -> None:
    other = Authority(tmp_path)
    other.make("root", NAME)  # no authority at all: a server's own certificate takes its place
    with RawServer(reply(SMALL), tls=other.serve("root")) as server:
        assert isinstance(fetch(other, server), Exchange)
        assert isinstance(fetch(authority, server), Failure)


def test_what_is_trusted_is_read_once_not_for_each_connection(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By processor time: a blob in memory would be parsed each time."""
    many = tmp_path / "many.pem"
    many.write_bytes(authority.file("root").read_bytes() * 2000)
    monkeypatch.setenv("SSL_CERT_FILE", str(many))

    async def spent(server: RawServer) -> list[float]:
        async with aclosing(Transport("test", SystemClock(), ca_file=str(authority.file("root")))) as transport:
            request = Request(f"https://bad.test:{server.port}/", Address("127.0.0.1", "loopback"))
            times = [time.thread_time()]
            for _ in range(6):
                assert isinstance(await transport.fetch(request), Exchange)
                times.append(time.thread_time())
            assert transport.statistics().connections == 6
            return [after - before for before, after in pairwise(times)]

    closing = SMALL.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with RawServer(reply(closing), tls=good(authority)) as server:
        first, *others = asyncio.run(spent(server))
        assert sum(others) < first


def test_nothing_is_left_of_what_is_trusted(authority: Authority) -> None:
    async def main() -> None:
        transport = Transport("test", SystemClock(), ca_file=str(authority.file("root")))
        await transport.aclose()

    asyncio.run(main())
    before = set(Path("/proc/self/fd").iterdir())
    asyncio.run(main())
    assert set(Path("/proc/self/fd").iterdir()) == before
