"""TLS: which authorities are trusted, and the certificates of ours that servers may see.

There is no way to do without verification: who trusts a server's own certificate names it as ``ca_file``.
"""

import os
import ssl
from collections.abc import Iterable, Mapping
from io import FileIO
from pathlib import Path

import pycurl

from gossamer.errors import UsageError
from gossamer.settings_secrets import Certificate


class Authorities:
    """Who is trusted: the system's authorities, and those in ``ca_file`` beside them.

    libcurl keeps what it has read of a file for the next connection (CURLOPT_CA_CACHE_TIMEOUT), but parses a blob in
    memory each time, which costs more than the handshake. So where two files make one, it is a file in memory: without
    a name that another crawl could take, and gone with the process.
    """

    def __init__(self, ca_file: str | None) -> None:
        """UsageError for a file without certificates: every single fetch would fail, as if all servers were bad."""
        # libcurl's wheel looks where Red Hat keeps them; Python's ssl module knows this system's place (and SSL_CERT_FILE).
        system = ssl.get_default_verify_paths()
        if ca_file is not None:
            _check_authorities(ca_file)
        files = [file for file in (system.cafile, ca_file) if file]
        self._joined = _joined(files) if len(files) > 1 else None
        if self._joined is not None:
            files = [f"/proc/self/fd/{self._joined.fileno()}"]
        self.options: Mapping[int, str] = {  # libcurl's; good until `close`
            **({pycurl.CAPATH: system.capath} if system.capath else {}),
            **({pycurl.CAINFO: files[0]} if files else {}),
        }

    def close(self) -> None:
        """Closing twice does nothing."""
        if self._joined is not None:
            self._joined.close()


def check_certificates(certificates: Iterable[Certificate]) -> None:
    """Raises UsageError for a certificate of ours that can't be used."""
    for certificate in certificates:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(certificate.file, certificate.key, _no_password)
        except (OSError, ssl.SSLError) as error:
            name = certificate.file if not Path(certificate.file).is_file() else certificate.key
            reason = (isinstance(error, ssl.SSLError) and error.reason) or error.strerror or "it is damaged"
            raise UsageError(
                f"our certificate for {certificate.origin} can't be used: {name!r}, {str(reason).replace('_', ' ').lower()}",
                hint="give certificate and key in PEM format, the key not encrypted",
            ) from error


def _no_password() -> str:
    """Without this, OpenSSL would ask on the terminal."""
    return ""


def _joined(files: Iterable[str]) -> FileIO:
    joined = FileIO(os.memfd_create("authorities"), "wb")
    joined.write(b"\n".join(Path(file).read_bytes() for file in files))
    return joined


def _check_authorities(ca_file: str) -> None:
    try:
        ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        reason = "has no certificates in it" if Path(ca_file).is_file() else "can't be read"
        raise UsageError(f"the file of certificates {ca_file!r} {reason}", hint="give a file in PEM format") from error
