"""Going through a proxy: it looks the names up and makes the connections, so nothing can be checked that depends on them.

A name may lead the proxy to any address. What is written as an address is judged as ever, and so is ``localhost``.
"""

import re
from collections.abc import Mapping
from typing import Any

import pycurl

from gossamer.fetch.names import bare_name, literal
from gossamer.policy.addresses import LOOPBACK, PUBLIC, classify
from gossamer.records import Address, FailureKind
from gossamer.settings_secrets import Proxy

NOTICE = "a proxy is used: it looks up names itself, so it can't be checked whether they lead into a private network"

_TYPES = {
    "http": pycurl.PROXYTYPE_HTTP,
    "https": 2,  # CURLPROXY_HTTPS, for which pycurl has no name
    "socks5": pycurl.PROXYTYPE_SOCKS5_HOSTNAME,
    "socks5h": pycurl.PROXYTYPE_SOCKS5_HOSTNAME,
}
_SUPPRESS_CONNECT_HEADERS = 265  # the same: else the proxy's own answer would stand before the server's
_TUNNEL = re.compile(r"CONNECT tunnel failed, response (\d{3})")
_GATEWAY = frozenset({"502", "503", "504"})
PROXY_AUTHENTICATION_REQUIRED = 407

# Of libcurl, CURLPX_REPLY_…: what a SOCKS5 proxy answers (RFC 1928, section 6)
_SOCKS_REPLIES = {
    19: (FailureKind.CONNECT_REFUSED, "the proxy says: connection refused"),
    20: (FailureKind.UNREACHABLE, "the proxy says: general failure"),
    21: (FailureKind.UNREACHABLE, "the proxy says: host unreachable"),
    22: (FailureKind.UNREACHABLE, "the proxy says: network unreachable"),
    23: (FailureKind.PROXY, "the proxy does not allow it"),
    24: (FailureKind.CONNECT_TIMEOUT, "the proxy says: it took too many hops"),
}


class ByProxy:
    """In the place of a resolver: every name has an address that only the proxy knows."""

    async def resolve(self, hostname: str) -> tuple[Address, ...]:
        """One address; without an IP where the proxy is to find it."""
        ip = literal(hostname)
        if ip is not None:
            return (Address(ip, classify(ip)),)
        name = bare_name(hostname) or ""
        is_here = name == "localhost" or name.endswith(".localhost")  # RFC 6761, section 6.3
        return (Address("", LOOPBACK if is_here else PUBLIC),)

    async def aclose(self) -> None:
        """There is nothing to close."""


def options(proxy: Proxy, user_agent: str, trusted: Mapping[int, str]) -> dict[int, Any]:
    """libcurl's options for all transfers; ``trusted``: where the certificates are that a proxy over TLS is held to."""
    ours = {pycurl.CAINFO: pycurl.PROXY_CAINFO, pycurl.CAPATH: pycurl.PROXY_CAPATH}
    chosen: dict[int, Any] = {
        pycurl.PROXY: proxy.host,
        pycurl.PROXYPORT: proxy.port,
        pycurl.PROXYTYPE: _TYPES[proxy.scheme],
        pycurl.NOPROXY: "",
        pycurl.USERAGENT: user_agent,  # for the proxy itself; servers get it among our own headers
        pycurl.HEADEROPT: 1,  # CURLHEADER_SEPARATE: what is meant for the server is not told to the proxy
        _SUPPRESS_CONNECT_HEADERS: 1,
        **{ours[option]: where for option, where in trusted.items()},
    }
    if proxy.user or proxy.password:
        chosen |= {pycurl.PROXYUSERNAME: proxy.user, pycurl.PROXYPASSWORD: proxy.password}
        chosen[pycurl.PROXYAUTH] = pycurl.HTTPAUTH_BASIC
    return chosen


def failure_of(code: int, text: str, proxy_error: int) -> tuple[FailureKind, str] | None:
    """What a transfer failed of at the proxy, in words; None where the proxy did its part."""
    if proxy_error in _SOCKS_REPLIES:
        return _SOCKS_REPLIES[proxy_error]
    tunnel = _TUNNEL.search(text)
    if tunnel:
        kind = FailureKind.UNREACHABLE if tunnel[1] in _GATEWAY else FailureKind.PROXY
        return kind, f"the proxy answered {tunnel[1]}"
    if proxy_error or code in (pycurl.E_COULDNT_RESOLVE_PROXY, pycurl.E_COULDNT_CONNECT):
        return FailureKind.PROXY, text
    return None
