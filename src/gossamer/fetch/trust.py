"""TLS: which authorities are trusted, and the certificates of ours that servers may see.

There is no way to do without verification: who trusts a server's own certificate names it as ``ca_file``.
"""

import ssl
from collections.abc import Iterable
from pathlib import Path

import pycurl

from gossamer.errors import UsageError
from gossamer.settings_secrets import Certificate


def trusted(ca_file: str | None) -> dict[int, str | bytes]:
    """libcurl's options for the certificates that are trusted: the system's, and those in ``ca_file`` beside them.

    libcurl's wheel looks where Red Hat keeps them; Python's ssl module knows this system's place (and SSL_CERT_FILE).
    Raises UsageError for a file without certificates: every single fetch would fail, as if all servers were bad.
    """
    system = ssl.get_default_verify_paths()
    options: dict[int, str | bytes] = {pycurl.CAPATH: system.capath} if system.capath else {}
    if ca_file is None:
        return options | ({pycurl.CAINFO: system.cafile} if system.cafile else {})
    _check_authorities(ca_file)
    if not system.cafile:
        return options | {pycurl.CAINFO: ca_file}
    return options | {pycurl.CAINFO_BLOB: Path(system.cafile).read_bytes() + b"\n" + Path(ca_file).read_bytes()}


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


def _check_authorities(ca_file: str) -> None:
    try:
        ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        reason = "has no certificates in it" if Path(ca_file).is_file() else "can't be read"
        raise UsageError(f"the file of certificates {ca_file!r} {reason}", hint="give a file in PEM format") from error
