"""How hosts and name servers are written."""

import ipaddress
import re
from functools import lru_cache

from gossamer.errors import UsageError
from gossamer.settings_values import dns_server

_NAME = re.compile(r"(?!.{254})(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}")  # RFC 1035, section 2.3.4, and underscores
_HINT = "write ADDR, ADDR:PORT, [IPv6] or [IPv6]:PORT"


@lru_cache(maxsize=4096)
def literal(hostname: str) -> str | None:
    """The IP address a host is written as, without brackets; None for a name."""
    is_bracketed = hostname.startswith("[") and hostname.endswith("]")
    try:
        return str(ipaddress.ip_address(hostname[1:-1] if is_bracketed else hostname))
    except ValueError:
        return None


def bare_name(hostname: str) -> str | None:
    """The name as it is asked for: lower case, without the last dot. None for what can't be a name in DNS."""
    name = hostname.lower().removesuffix(".")
    return name if _NAME.fullmatch(name) else None


def server_address(text: str) -> str:
    """A name server as c-ares wants it, with its port. UsageError for what is none."""
    try:
        address, port = dns_server(text)
    except ValueError:
        raise UsageError(f"{text!r} is not the address of a DNS server", hint=_HINT) from None
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
