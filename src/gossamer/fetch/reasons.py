"""libcurl's error codes in our words: the seam at which they are mapped."""

import errno

import pycurl

from gossamer.records import FailureKind

NO_FIRST_BYTE = -1
"""Our own code beside libcurl's: it has no time limit for the first byte of an answer."""

_KINDS = {
    NO_FIRST_BYTE: FailureKind.FIRST_BYTE_TIMEOUT,
    pycurl.E_UNSUPPORTED_PROTOCOL: FailureKind.NOT_HTTP,  # also what looks like HTTP/0.9: an SSH banner
    pycurl.E_FTP_WEIRD_SERVER_REPLY: FailureKind.NOT_HTTP,  # its old name: malformed status line or header
    pycurl.E_URL_MALFORMAT: FailureKind.DNS_NO_NAME,  # a host no DNS name can be called, as http://a*b/
    pycurl.E_SSL_CONNECT_ERROR: FailureKind.TLS_PROTOCOL,
    pycurl.E_SSL_CIPHER: FailureKind.TLS_PROTOCOL,
    pycurl.E_SSL_CERTPROBLEM: FailureKind.TLS_PROTOCOL,  # the server wants a certificate of ours
    pycurl.E_PEER_FAILED_VERIFICATION: FailureKind.TLS_CERTIFICATE,
    pycurl.E_SSL_ISSUER_ERROR: FailureKind.TLS_CERTIFICATE,
    pycurl.E_SSL_INVALIDCERTSTATUS: FailureKind.TLS_CERTIFICATE,
    100: FailureKind.HEADERS_TOO_LARGE,  # CURLE_TOO_LARGE, for which pycurl has no name
}

_ALERT = "alert certificate required"
_CONNECT_ERRORS = {
    errno.ECONNREFUSED: FailureKind.CONNECT_REFUSED,
    errno.ECONNRESET: FailureKind.RESET,
    errno.ETIMEDOUT: FailureKind.CONNECT_TIMEOUT,
}


def kind_of(code: int, text: str, *, system_error: int, is_sent: bool) -> FailureKind:
    """Why a transfer that brought no answer failed.

    ``text`` are libcurl's words, ``system_error`` the errno of the last failed connect, ``is_sent`` whether the request
    could be sent. What is not in the table (nothing received, errors of sending and receiving, HTTP/2 streams) is a
    connection that broke.
    """
    if _ALERT in text:  # TLS 1.3: it looked at what we showed, or did not, after the handshake
        return FailureKind.TLS_PROTOCOL
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return FailureKind.TIMEOUT if is_sent else FailureKind.CONNECT_TIMEOUT
    if code == pycurl.E_COULDNT_CONNECT:
        return _CONNECT_ERRORS.get(system_error, FailureKind.UNREACHABLE)
    if code == pycurl.E_SSL_CONNECT_ERROR and system_error == errno.ECONNRESET:
        return FailureKind.RESET
    if code == pycurl.E_RECV_ERROR and text.startswith("Too large response headers"):  # this has no code of its own
        return FailureKind.HEADERS_TOO_LARGE
    return _KINDS.get(code, FailureKind.RESET)
