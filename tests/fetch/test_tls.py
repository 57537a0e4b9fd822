"""TLS: whom the transport trusts, and what it says of the others. Certificates are made on the spot by openssl."""

import asyncio
import ssl
import subprocess
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

import pytest

from fetch.raw import RawServer, reply
from gossamer.clock import ManualClock
from gossamer.fetch.transport import Transport
from gossamer.records import Address, Exchange, Failure, FailureKind, Request

OK = b"HTTP/1.1 200 OK\r\n"
SMALL = OK + b"Content-Length: 2\r\n\r\nhi"


@dataclass(frozen=True)
class Authority:
    """A certificate authority of our own."""

    folder: Path

    def make(self, name: str, *, days: int = 2, signed: bool = True) -> ssl.SSLContext:
        """A server's context with a certificate for ``name``."""
        key, request, certificate = (self.folder / f"{name}.{kind}" for kind in ("key", "csr", "pem"))
        _openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key)
        _openssl("req", "-new", "-key", key, "-subj", f"/CN={name}", "-out", request)
        (self.folder / f"{name}.ext").write_text(f"subjectAltName=DNS:{name}\n")
        signer = ("-CA", self.folder / "ca.pem", "-CAkey", self.folder / "ca.key") if signed else ("-key", key)
        files = ("-extfile", self.folder / f"{name}.ext", "-out", certificate)
        _openssl("x509", "-req", "-in", request, *signer, "-days", str(days), *files)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        return context


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    folder = tmp_path_factory.mktemp("authority")
    _openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", folder / "ca.key")
    _openssl("req", "-x509", "-key", folder / "ca.key", "-subj", "/CN=Test CA", "-days", "2", "-out", folder / "ca.pem")
    return Authority(folder)


def fetch(authority: Authority | None, server: RawServer, host: str) -> Exchange | Failure:
    async def main() -> Exchange | Failure:
        ca_file = str(authority.folder / "ca.pem") if authority else None
        async with aclosing(Transport("test", ManualClock(), ca_file=ca_file)) as transport:
            return await transport.fetch(Request(f"https://{host}:{server.port}/", Address("127.0.0.1", "loopback")))

    return asyncio.run(main())


def test_a_good_certificate(authority: Authority) -> None:
    with RawServer(reply(SMALL), tls=authority.make("good.test")) as server:
        result = fetch(authority, server, "good.test")
        assert isinstance(result, Exchange), result
        assert (result.body, result.request_head, result.protocol) == (b"hi", server.heads[0], "http/1.1")


def test_a_dot_at_the_end_of_the_name_is_the_same_name(authority: Authority) -> None:
    with RawServer(reply(SMALL), tls=authority.make("good.test")) as server:
        assert isinstance(fetch(authority, server, "good.test."), Exchange)


Bad = Callable[[Authority], ssl.SSLContext]


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda authority: authority.make("other.test"), "other.test|match"),
        (lambda authority: authority.make("bad.test", signed=False), "self-signed"),
        (lambda authority: authority.make("bad.test", days=-1), "expired"),
    ],
)
def test_bad_certificates(authority: Authority, make: Bad, word: str) -> None:
    with RawServer(reply(SMALL), tls=make(authority)) as server:
        result = fetch(authority, server, "bad.test")
        assert isinstance(result, Failure)
        assert result.kind == FailureKind.TLS_CERTIFICATE
        assert any(part in result.detail for part in word.split("|")), result.detail
        assert server.heads == []


def test_the_system_does_not_trust_our_authority(authority: Authority) -> None:
    with RawServer(reply(SMALL), tls=authority.make("good.test")) as server:
        result = fetch(None, server, "good.test")
    assert isinstance(result, Failure)
    assert result.kind == FailureKind.TLS_CERTIFICATE


def test_a_server_that_speaks_no_tls(authority: Authority) -> None:
    with RawServer(reply(b"HTTP/1.1 400 Bad\r\n\r\n"), at_once=True) as server:
        result = fetch(authority, server, "good.test")
    assert isinstance(result, Failure)
    assert result.kind == FailureKind.TLS_PROTOCOL
    assert result.detail


def test_a_server_that_speaks_only_an_old_tls(authority: Authority) -> None:
    context = authority.make("good.test")
    context.set_ciphers("AES128-SHA256")
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    with RawServer(reply(SMALL), tls=context) as server:
        result = fetch(authority, server, "good.test")
    assert isinstance(result, Failure)
    assert result.kind == FailureKind.TLS_PROTOCOL


def test_a_body_cut_by_a_close_without_goodbye(authority: Authority) -> None:
    """RFC 9112, section 9.8: such a close may be an attack; a body without a length may be incomplete."""
    with RawServer(reply(OK + b"Content-Length: 100\r\n\r\nhi"), tls=authority.make("good.test")) as server:
        result = fetch(authority, server, "good.test")
    assert isinstance(result, Exchange)
    assert (result.truncated, result.body) == ("disconnect", b"hi")
