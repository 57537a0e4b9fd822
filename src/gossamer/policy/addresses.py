"""IP addresses: which are the public Internet, and which no stranger's link may lead us to.

After the special-purpose registries of IANA (RFC 6890 and what was added since).
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

PUBLIC = "public"
LOOPBACK = "loopback"
PRIVATE = "private"
LINK_LOCAL = "link-local"
METADATA = "metadata"
SHARED = "shared"
UNSPECIFIED = "unspecified"
MULTICAST = "multicast"
RESERVED = "reserved"

_OPENED_BY_ALLOW_PRIVATE = frozenset({LOOPBACK, PRIVATE, LINK_LOCAL, SHARED, UNSPECIFIED, RESERVED})

# Where clouds hand out the credentials of a machine to whoever asks from it.
_METADATA = frozenset(
    map(
        ip_address,
        (
            "169.254.169.254",  # Amazon, Azure, Google, Oracle, OpenStack, …
            "169.254.170.2",  # Amazon ECS
            "169.254.170.23",  # Amazon EKS
            "fd00:ec2::254",  # Amazon
            "fd00:ec2::23",  # Amazon EKS
            "fd20:ce::254",  # Google
            "100.100.100.200",  # Alibaba
            "168.63.129.16",  # Azure; looks public
            "192.0.0.192",  # Oracle
            "169.254.42.42",  # Scaleway
            "fd00:42::42",  # Scaleway
        ),
    )
)

_NETWORKS: tuple[tuple[str, IPv4Network | IPv6Network], ...] = tuple(
    (kind, ip_network(network))
    for kind, networks in (
        (LOOPBACK, ("127.0.0.0/8", "::1/128")),
        (UNSPECIFIED, ("0.0.0.0/8", "::/128")),
        (LINK_LOCAL, ("169.254.0.0/16", "fe80::/10")),
        # fec0::/10 was site-local (RFC 3879); 64:ff9b:1::/48 leads to IPv4 networks of one's own (RFC 8215)
        (PRIVATE, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10", "64:ff9b:1::/48")),
        (SHARED, ("100.64.0.0/10",)),
        (MULTICAST, ("224.0.0.0/4", "ff00::/8")),
        (RESERVED, ("192.88.99.0/24", "240.0.0.0/4", "2001:db8::/32", "3fff::/20")),
    )
    for network in networks
)

_UNICAST = IPv6Network("2000::/3")  # all that is given out of IPv6; the rest is of special use or none yet
_LAST_32_BITS = tuple(
    map(
        IPv6Network,
        (
            "::ffff:0:0/96",  # mapped (RFC 4291)
            "::ffff:0:0:0/96",  # translated (RFC 2765)
            "::/96",  # compatible (RFC 4291)
            "64:ff9b::/96",  # NAT64 (RFC 6052)
        ),
    )
)


@lru_cache(maxsize=4096)
def classify(ip: str) -> str:
    """The kind of an address: one of the words above.

    An IPv4 address within an IPv6 one (mapped, translated, compatible, NAT64, 6to4, Teredo) is what is reached, so its
    kind counts. Text that is no address in standard notation (octal, decimal, short forms) is "reserved": nothing
    can be connected to it, and it is not guessed at.
    """
    try:
        address = ip_address(ip)
    except ValueError:
        return RESERVED
    if isinstance(address, IPv4Address):
        return _classify(address)
    inner = [_classify(embedded) for embedded in _embedded(address)]
    return next((kind for kind in inner if kind != PUBLIC), inner[0]) if inner else _classify(address)


def permitted(kind: str, *, exempt: str, allow_private: bool) -> bool:
    """Whether an address of this kind may be connected to.

    ``exempt`` is the kind that the address of a seed's own origin first had ("" for other origins). A person who names
    an address means it; a name that answers with another kind of address later does not get there by that.

    ``allow_private`` opens what a network's owner may have machines on, 0.0.0.0 as well, which is the loopback of most
    systems. It does not open metadata addresses: no page to be crawled is there, and one link of a stranger would put the
    machine's credentials into the archive; who wants one names it as a seed. Multicast is never connected to.
    """
    if kind == PUBLIC:
        return True
    if kind == MULTICAST:
        return False
    return kind == exempt or (allow_private and kind in _OPENED_BY_ALLOW_PRIVATE)


def _classify(address: IPv4Address | IPv6Address) -> str:
    if isinstance(address, IPv6Address):
        address = IPv6Address(int(address))  # without a scope: fe80::1%eth0
    if address in _METADATA:
        return METADATA
    for kind, network in _NETWORKS:
        if address.version == network.version and address in network:
            return kind
    is_given_out = isinstance(address, IPv4Address) or address in _UNICAST
    return PUBLIC if is_given_out and address.is_global else RESERVED


def _embedded(address: IPv6Address) -> tuple[IPv4Address, ...]:
    """The IPv4 addresses that stand in an IPv6 one; of Teredo, server and client."""
    number = int(address)
    if number > 1 and any(address in network for network in _LAST_32_BITS):
        return (IPv4Address(number & 0xFFFFFFFF),)
    if address.sixtofour is not None:
        return (address.sixtofour,)
    return address.teredo or ()
