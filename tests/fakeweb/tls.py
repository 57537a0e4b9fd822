"""Certificates that no client should trust, made on the spot."""

import ssl
import subprocess
from pathlib import Path


def self_signed(folder: Path, name: str = "127.0.0.1") -> ssl.SSLContext:
    """A server's context with a fresh certificate for ``name``; the certificate is ``folder/cert.pem``."""
    kind = "IP" if name.replace(".", "").isdigit() else "DNS"
    key, certificate = folder / "key.pem", folder / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
    command += ["-addext", f"subjectAltName={kind}:{name}", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context
