"""A certificate authority that makes what a test wants, also what no real one would; openssl does the work."""

import contextlib
import socket
import ssl
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

CA = "basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign"
_DATED = """\
[ca]
default_ca=dated
[dated]
database={folder}/index.txt
serial={folder}/serial
new_certs_dir={folder}
default_md=sha256
policy=any
[any]
commonName=supplied
"""


class Authority:
    """Certificates in ``folder``, each with its key, by name; ``root`` is the authority that is trusted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.make("root", CA)

    def file(self, name: str, kind: str = "pem") -> Path:
        return self._folder / f"{name}.{kind}"

    def make(
        self,
        name: str,
        extensions: str,
        *,
        by: str = "",
        key: str = "EC:P-256",
        dates: Sequence[str] = (),
        digest: str = "sha256",
    ) -> None:
        """A certificate with X.509 v3 ``extensions``, signed ``by`` another; by itself without one.

        ``key``: ``EC:CURVE`` or ``RSA:BITS``. ``dates``: its first and last time, else from now on.
        """
        algorithm, _, size = key.partition(":")
        option = "ec_paramgen_curve" if algorithm == "EC" else "rsa_keygen_bits"
        _openssl("genpkey", "-algorithm", algorithm, "-pkeyopt", f"{option}:{size}", "-out", self.file(name, "key"))
        request = ("-key", self.file(name, "key"), "-subj", f"/CN={name}", "-out", self.file(name, "csr"))
        _openssl("req", "-new", *request)
        self.file(name, "ext").write_text(extensions + "\n")
        files = ("-in", self.file(name, "csr"), "-extfile", self.file(name, "ext"), "-out", self.file(name))
        if dates:
            self._sign_dated(by, dates, files)
            return
        signer = ("-CA", self.file(by), "-CAkey", self.file(by, "key"), "-CAcreateserial") if by else ()
        own = () if by else ("-key", self.file(name, "key"))
        _openssl("x509", "-req", *files, *signer, *own, "-days", "2", f"-{digest}")

    def _sign_dated(self, by: str, dates: Sequence[str], files: Sequence[str | Path]) -> None:
        """Only ``openssl ca`` can date a certificate, in the releases that are about."""
        self.file("index", "txt").write_text("")
        (self._folder / "serial").write_text("1234\n")
        self.file("dated", "cnf").write_text(_DATED.format(folder=self._folder))
        signer = ("-cert", self.file(by), "-keyfile", self.file(by, "key"))
        span = ("-startdate", dates[0], "-enddate", dates[1])
        _openssl("ca", "-batch", "-notext", "-config", self.file("dated", "cnf"), *signer, *span, *files)

    def serve(self, name: str, *chain: str) -> ssl.SSLContext:
        """A server's context that shows a certificate and those of its signers, whatever they are worth."""
        shown = self.file(name, "chain")
        shown.write_bytes(b"".join(self.file(each).read_bytes() for each in (name, *chain)))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.load_cert_chain(shown, self.file(name, "key"))
        return context


def _openssl(*arguments: str | Path) -> None:
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr


class Explaining:
    """A server that says by an alert why it wants no TLS with us; asyncio's hang up without a word."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                connection.settimeout(5)
                with connection, contextlib.suppress(OSError):
                    self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        secure = self._context.wrap_socket(connection.dup(), server_side=True, do_handshake_on_connect=False)
        with secure:
            try:
                secure.do_handshake()
                secure.recv(4096)
                secure.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
            except ssl.SSLError:  # the alert is out; unread bytes would make its end a reset that overtakes it
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass
