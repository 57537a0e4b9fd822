"""In which order the addresses of a host are tried (RFC 6724, RFC 8305)."""

import ipaddress
import itertools
import socket

_SOMEWHERE = ("2001:4860:4860::8888", 53)  # any global address; nothing is sent to it


def in_order(ipv4: tuple[str, ...], ipv6: tuple[str, ...]) -> tuple[str, ...]:
    """The two families in turns, each in the order of its answer, so that one that does not work costs one try.

    IPv6 goes first (RFC 8305, section 4) where this machine has a global address to use it with. A private one does
    not count: with it as the source, IPv4 is preferred (RFC 6724, section 6, rule 5).
    """
    first, second = (ipv6, ipv4) if _has_global_ipv6() else (ipv4, ipv6)
    turns = itertools.chain.from_iterable(itertools.zip_longest(first, second))
    return tuple(ip for ip in turns if ip is not None)


def _has_global_ipv6() -> bool:
    """Whether the system would use a global address of ours to reach the IPv6 internet. Asked anew: networks change."""
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
            probe.connect(_SOMEWHERE)
            return ipaddress.ip_address(probe.getsockname()[0]).is_global
    except OSError:
        return False
